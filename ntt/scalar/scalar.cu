// Number-theoretic transforms over the scalar field of a curve, in place, in passes of
// several layers each: by decimation in frequency (scalar_down: natural order in,
// bit-reversed order out) or in time (scalar_up: the reverse, the same steps transposed
// and in reverse order).
//
// A pass transforms the 2^bits rows of a block of 2^remaining elements, which are
// 2^(remaining-bits) apart; each of these columns is independent of the others but for
// twiddles. A tile is 2^width columns of all rows; a thread holds 4 of its elements. A
// step takes a window of two bits of the row's index into registers, does the two layers
// that belong to it and passes the values on through shared memory. Where the bits are
// odd in number, the top window does its upper layer only.
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"

typedef SCALAR_FIELD P;
typedef Mont<P> F;

enum : u32 {
  N = P::N,
  QUADS = N / 4,       // 16-byte pieces of an element
  VALUES = 4,          // elements of a thread
  LOG_ROOTS = 10,      // of the table of roots of unity for windows
  ROOTS = 1 << LOG_ROOTS
};

// ---- memory -------------------------------------------------------------------------

DEVICE_INLINE F load(const u32 *from, u32 i) {
  const uint4 *const p = reinterpret_cast<const uint4 *>(from) + (u64)i * QUADS;
  F x;
#pragma unroll
  for (u32 j = 0; j < QUADS; j++) {
    const uint4 v = p[j];
    x.x[4 * j] = v.x, x.x[4 * j + 1] = v.y, x.x[4 * j + 2] = v.z, x.x[4 * j + 3] = v.w;
  }
  return x;
}

// table is load from a table, which no kernel writes that uses it; what it holds is below
// the modulus.
DEVICE_INLINE F table(const u32 *from, u32 i) {
  const uint4 *const p = reinterpret_cast<const uint4 *>(from) + (u64)i * QUADS;
  F x;
#pragma unroll
  for (u32 j = 0; j < QUADS; j++) {
    const uint4 v = ldg(p + j);
    x.x[4 * j] = v.x, x.x[4 * j + 1] = v.y, x.x[4 * j + 2] = v.z, x.x[4 * j + 3] = v.w;
  }
  return x;
}

DEVICE_INLINE void store(u32 *to, u32 i, const F &x) {
  uint4 *const p = reinterpret_cast<uint4 *>(to) + (u64)i * QUADS;
#pragma unroll
  for (u32 j = 0; j < QUADS; j++) {
    uint4 v;
    v.x = x.x[4 * j], v.y = x.x[4 * j + 1], v.z = x.x[4 * j + 2], v.w = x.x[4 * j + 3];
    p[j] = v;
  }
}

// A tile in shared memory is QUADS planes of 16-byte pieces. Eight neighbours of a warp
// access 128 bytes at a time; slot changes the lowest three bits of an index so that they
// meet in no bank: where tiles are one column wide, three bits of the index are different in
// them, 0 to 2, or 2 to 4 in the window at 0, or 4 to 6 in that at 2.
DEVICE_INLINE u32 slot(u32 i) { return i ^ (i >> 3 & 3) ^ (i >> 5 & 1) ^ (i >> 4 & 4); }

DEVICE_INLINE void put(uint4 *tile, u32 size, u32 i, const F &x) {
  const u32 s = slot(i);
#pragma unroll
  for (u32 j = 0; j < QUADS; j++) {
    uint4 v;
    v.x = x.x[4 * j], v.y = x.x[4 * j + 1], v.z = x.x[4 * j + 2], v.w = x.x[4 * j + 3];
    tile[j * size + s] = v;
  }
}

DEVICE_INLINE F take(const uint4 *tile, u32 size, u32 i) {
  const u32 s = slot(i);
  F x;
#pragma unroll
  for (u32 j = 0; j < QUADS; j++) {
    const uint4 v = tile[j * size + s];
    x.x[4 * j] = v.x, x.x[4 * j + 1] = v.y, x.x[4 * j + 2] = v.z, x.x[4 * j + 3] = v.w;
  }
  return x;
}

// reversed is i with its `bits` lowest bits, which are all there is, in reverse order.
DEVICE_INLINE u32 reversed(u32 i, u32 bits) { return bit_reverse(i) >> 1 >> (31 - bits); }

// ---- what a pass works on -----------------------------------------------------------------

// Pass is the shape of a pass, and which part of it this thread has.
struct Pass {
  u32 bits, width; // of the tile
  u32 apart;       // log2 of the distance of rows: remaining - bits
  u32 first;       // index of the column's first element
  u32 own, rest;   // the column within the tile, and which of the threads of a column

  __device__ __forceinline__ Pass(u32 remaining, u32 bits, u32 width) : bits(bits), width(width), apart(remaining - bits) {
    const u32 tile = blockIdx.x, tiles = apart - width;
    own = threadIdx.x & ((1u << width) - 1);
    rest = threadIdx.x >> width;
    first = (tile >> tiles << remaining) + ((tile & ((1u << tiles) - 1)) << width) + own;
  }

  // low is the part of the row's index below a window, high the part above. Threads take rows
  // in order, but for the window at 2 so that all lanes of a warp have the same low part: those
  // with 0 have no products there.
  __device__ __forceinline__ u32 low(u32 at) const { return at == 2 ? rest >> (bits - 4) : rest & ((1u << at) - 1); }
  __device__ __forceinline__ u32 high(u32 at) const { return at == 2 ? rest & ((1u << (bits - 4)) - 1) : rest >> at; }

  // row of a value in a window. Two rows stand at the window's upper bit, and the other two
  // values are nothing.
  __device__ __forceinline__ u32 row(u32 at, u32 v) const { return (high(at) << (at + 2) | v << at | low(at)) >> (bits == 1); }
  __device__ __forceinline__ bool there(u32 v) const { return bits > 1 || (v & 1) == 0; }

  // place of a row in the tile, and in memory.
  __device__ __forceinline__ u32 in_tile(u32 row) const { return row << width | own; }
  __device__ __forceinline__ u32 in_memory(u32 row) const { return first + (row << apart); }

  // column is the index within the block.
  __device__ __forceinline__ u32 column() const { return first & ((1u << apart) - 1); }

  // top is the window with the highest bits, single whether it does one layer only.
  __device__ __forceinline__ u32 top() const { return bits > 1 ? bits - 2 : 0; }
  __device__ __forceinline__ bool single(u32 at) const { return (bits & 1) != 0 && at == top(); }
};

// Scale is factors for elements, by place: first[i & mask] times second[i >> shift], if
// there is a second.
struct Scale {
  const u32 *first, *second;
  u32 mask, shift;

  __device__ __forceinline__ F times(F x, u32 i) const {
    x = mul_called<P>(x, table(first, i & mask));
    return second ? mul_called<P>(x, table(second, i >> shift)) : x;
  }
};

// Twiddles are the powers of the domain's root of order 2^log: high[i] is its power
// i 2^split, low[i] its power i, times a factor of the whole transform in one of the passes.
// own, if not null, is a table of the pass, whose twiddles have factors for each frequency
// besides: it has all of them by frequency and column where high alone would do, else
// what takes low's place, for each frequency.
struct Twiddles {
  const u32 *roots, *high, *low, *own;
  u32 log, split, inverse;

  // between is x times the twiddle of a frequency in a column: the root of order 2^(log - above)
  // to the power of their product. The frequency's bits are 2^above and up of the whole
  // transform's, columns are below 2^apart.
  __device__ __forceinline__ F between(F x, u32 frequency, u32 column, u32 above, u32 apart) const {
    if (own && above >= split) return mul_called<P>(x, table(own, frequency << apart | column));
    u32 e = frequency * column << above;
    if (inverse) e = (0u - e) & ((1u << log) - 1);
    x = mul_called<P>(x, table(high, e >> split));
    if (above >= split) return x;
    e &= (1u << split) - 1;
    return mul_called<P>(x, own ? table(own, frequency << (split - above) | e >> above) : table(low, e));
  }

  // root is the root of order 2^order, at most ROOTS, to the power e.
  __device__ __forceinline__ F root(u32 e, u32 order) const {
    e <<= LOG_ROOTS - order;
    return table(roots, (inverse ? 0u - e : e) & (ROOTS - 1));
  }
};

// ---- layers --------------------------------------------------------------------------
//
// A factor of a product may be any number of N words if the other, the first, is below the
// modulus: with that the sum of mul_interleaved stays below 2^32 times twice the modulus.
// So sums and differences that go into products are not reduced. They are below 4p, or
// below 2p where elements are below p, which fits N words.

// rough_add and rough_sub are add and sub without reduction.
DEVICE_INLINE F rough_add(const F &a, const F &b) { return add_words(a, b); }

DEVICE_INLINE F rough_sub(const F &a, const F &b) { return add_words(a, negative(b)); }

// fine is an element from what those give.
DEVICE_INLINE F fine(const F &a) { return less<P, P::LAZY>(a); }

DEVICE_INLINE void butterfly(F &a, F &b) {
  const F t = sub(a, b);
  a = add(a, b);
  b = t;
}

DEVICE_INLINE void rough_butterfly(F &a, F &b) {
  const F t = rough_sub(a, b);
  a = rough_add(a, b);
  b = t;
}

// Tile is the block's tile in shared memory: exchange takes the values of a thread's
// window there and brings those of another.
struct Tile {
  uint4 *memory;
  u32 size;

  __device__ __forceinline__ void exchange(F (&x)[VALUES], const Pass &pass, u32 from, u32 to) const {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) put(memory, size, pass.in_tile(pass.row(from, v)), x[v]);
    __syncthreads();
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) x[v] = take(memory, size, pass.in_tile(pass.row(to, v)));
  }
};

// twist multiplies what a window's layers gave, or take, by the twiddles between it and the
// bits below. The first value, and the second where the window is single, have none; those of
// low part 0, which are all in the window at 0, are one.
DEVICE_INLINE void twist(F (&x)[VALUES], const Twiddles &twiddles, u32 low, u32 at, bool single) {
  if (!single && low == 0) {
#pragma unroll
    for (u32 v = 1; v < VALUES; v++) x[v] = fine(x[v]);
    return;
  }
  x[1] = single ? fine(x[1]) : mul(twiddles.root(2 * low, at + 2), x[1]);
  x[2] = mul(twiddles.root(low, at + 2), x[2]);
  x[3] = mul(twiddles.root(single ? low + (1u << at) : 3 * low, at + 2), x[3]);
}

// down does all layers of the tile from the highest; values come in the top window and go
// in the one at 0. A thread puts values where it took them, so that an exchange needs one
// barrier.
DEVICE_INLINE void down(F (&x)[VALUES], const Pass &pass, const Tile &tile, const Twiddles &twiddles) {
  u32 at = pass.top();
#pragma unroll 1
  for (;;) {
    const bool single = pass.single(at);
    const F odd = rough_sub(x[1], x[3]);
    x[1] = add(x[1], x[3]);
    if (single) {
      x[3] = odd;
      rough_butterfly(x[0], x[2]);
    } else {
      butterfly(x[0], x[2]);
      x[3] = mul(twiddles.root(1, 2), odd);
      rough_butterfly(x[0], x[1]);
      rough_butterfly(x[2], x[3]);
    }
    x[0] = fine(x[0]);
    twist(x, twiddles, pass.low(at), at, single);
    if (at == 0) break;
    const u32 next = at - (single ? 1 : 2);
    tile.exchange(x, pass, at, next);
    at = next;
  }
}

// up is down transposed, backwards.
DEVICE_INLINE void up(F (&x)[VALUES], const Pass &pass, const Tile &tile, const Twiddles &twiddles) {
  u32 at = 0;
#pragma unroll 1
  for (;;) {
    const bool single = pass.single(at);
    if (at > 0) { // what comes first is elements already
      x[0] = fine(x[0]);
      twist(x, twiddles, pass.low(at), at, single);
    }
    if (!single) {
      const F odd = rough_sub(x[2], x[3]);
      x[2] = add(x[2], x[3]);
      x[3] = mul(twiddles.root(1, 2), odd);
      butterfly(x[0], x[1]);
    }
    rough_butterfly(x[0], x[2]);
    rough_butterfly(x[1], x[3]);
    if (at == pass.top()) break;
    const u32 next = at + (at + 2 > pass.top() ? 1 : 2);
    tile.exchange(x, pass, at, next);
    at = next;
  }
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) x[v] = fine(x[v]);
}

// ---- kernels --------------------------------------------------------------------------------

// scalar_down is a pass by decimation in frequency over data; blocks have a tile each.
// times, if not null, are factors of the elements. The scale of what the pass reads
// (by its place) and of what it writes may be null as well; minus is what to take from
// that. last says that elements be written below the modulus.
extern "C" __global__ void __launch_bounds__(256, NTT_BLOCKS) scalar_down_VARIANT(u32 *data, const u32 *times, const u32 *minus, const u32 *roots,
    const u32 *high, const u32 *low, const u32 *own, u32 log, u32 split, u32 inverse, u32 remaining, u32 bits, u32 width, const u32 *in_first, const u32 *in_second,
    const u32 *out_first, const u32 *out_second, u32 mask, u32 shift, u32 last) {
  SHARED_DYNAMIC(uint4, memory);
  const Pass pass(remaining, bits, width);
  const Twiddles twiddles = {roots, high, low, own, log, split, inverse};
  const Tile tile = {memory, 1u << (bits + width)};
  const u32 top = pass.top();
  F x[VALUES];
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) {
    set_zero(x[v]);
    if (pass.there(v)) x[v] = load(data, pass.in_memory(pass.row(top, v)));
  }
  if (times) {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (pass.there(v)) x[v] = mul_called<P>(x[v], load(times, pass.in_memory(pass.row(top, v))));
  }
  if (in_first) {
    const Scale scale = {in_first, in_second, mask, shift};
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (pass.there(v)) x[v] = scale.times(x[v], pass.in_memory(pass.row(top, v)));
  }
  down(x, pass, tile, twiddles);
  if (pass.apart > 0) {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) x[v] = twiddles.between(x[v], reversed(pass.row(0, v), bits), pass.column(), log - remaining, pass.apart);
  }
  if (out_first) {
    const Scale scale = {out_first, out_second, mask, shift};
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (pass.there(v)) x[v] = scale.times(x[v], pass.in_memory(pass.row(0, v)));
  }
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) {
    if (!pass.there(v)) continue;
    const u32 i = pass.in_memory(pass.row(0, v));
    if (minus) x[v] = sub(x[v], load(minus, i));
    store(data, i, last ? canonical(x[v]) : x[v]);
  }
}

// scalar_up is a pass by decimation in time, with scalar_down's parameters.
extern "C" __global__ void __launch_bounds__(256, NTT_BLOCKS) scalar_up_VARIANT(u32 *data, const u32 *roots, const u32 *high, const u32 *low,
    const u32 *own, u32 log, u32 split, u32 inverse, u32 remaining, u32 bits, u32 width, const u32 *in_first, const u32 *in_second, const u32 *out_first,
    const u32 *out_second, u32 mask, u32 shift, u32 last) {
  SHARED_DYNAMIC(uint4, memory);
  const Pass pass(remaining, bits, width);
  const Twiddles twiddles = {roots, high, low, own, log, split, inverse};
  const Tile tile = {memory, 1u << (bits + width)};
  const u32 top = pass.top();
  F x[VALUES];
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) {
    set_zero(x[v]);
    if (pass.there(v)) x[v] = load(data, pass.in_memory(pass.row(0, v)));
  }
  if (in_first) {
    const Scale scale = {in_first, in_second, mask, shift};
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (pass.there(v)) x[v] = scale.times(x[v], pass.in_memory(pass.row(0, v)));
  }
  if (pass.apart > 0) {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) x[v] = twiddles.between(x[v], reversed(pass.row(0, v), bits), pass.column(), log - remaining, pass.apart);
  }
  up(x, pass, tile, twiddles);
  if (out_first) {
    const Scale scale = {out_first, out_second, mask, shift};
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (pass.there(v)) x[v] = scale.times(x[v], pass.in_memory(pass.row(top, v)));
  }
#pragma unroll
  for (u32 v = 0; v < VALUES; v++)
    if (pass.there(v)) store(data, pass.in_memory(pass.row(top, v)), last ? canonical(x[v]) : x[v]);
}

// scalar_down_up is the last pass of an inverse transform and the first of a forward one of
// what that gives times a scale: the same tiles, of 2^bits elements that lie one after the
// other.
extern "C" __global__ void __launch_bounds__(256, NTT_BLOCKS) scalar_down_up_VARIANT(u32 *data, const u32 *roots, u32 bits, const u32 *first,
    const u32 *second, u32 mask, u32 shift, u32 last) {
  SHARED_DYNAMIC(uint4, memory);
  const Pass pass(bits, bits, 0);
  const Tile tile = {memory, 1u << bits};
  const u32 top = pass.top();
  Twiddles twiddles = {roots, nullptr, nullptr, nullptr, 0, 0, 1};
  F x[VALUES];
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) {
    set_zero(x[v]);
    if (pass.there(v)) x[v] = load(data, pass.in_memory(pass.row(top, v)));
  }
  down(x, pass, tile, twiddles);
  const Scale scale = {first, second, mask, shift};
#pragma unroll
  for (u32 v = 0; v < VALUES; v++)
    if (pass.there(v)) x[v] = scale.times(x[v], pass.in_memory(pass.row(0, v)));
  twiddles.inverse = 0;
  up(x, pass, tile, twiddles);
#pragma unroll
  for (u32 v = 0; v < VALUES; v++)
    if (pass.there(v)) store(data, pass.in_memory(pass.row(top, v)), last ? canonical(x[v]) : x[v]);
}

// scalar_powers makes a table of count elements: factors[0] times a power of a number of
// which factors[1 + j] is the power 2^j. The power is the index, or that with its lowest
// `reverse` bits in reverse order, if that is not 0.
extern "C" __global__ void __launch_bounds__(128) scalar_powers_VARIANT(u32 *to, const u32 *factors, u32 count, u32 reverse) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  F x = table(factors, 0);
  u32 j = 1;
#pragma unroll 1
  for (u32 e = reverse ? reversed(i, reverse) : i; e != 0; e >>= 1, j++)
    if (e & 1) x = mul_called<P>(x, table(factors, j));
  store(to, i, canonical(x));
}

// scalar_frequencies makes a table of count elements, 2^columns for each frequency: ratios is
// as factors of scalar_powers and raised to the frequency; roots, without a first factor, to
// the column, or if product is set, to the product of both.
extern "C" __global__ void __launch_bounds__(128) scalar_frequencies_VARIANT(u32 *to, const u32 *ratios, const u32 *roots, u32 count,
    u32 columns, u32 product) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const u32 frequency = i >> columns, column = i & ((1u << columns) - 1);
  F x = table(ratios, 0);
  u32 j = 1;
#pragma unroll 1
  for (u32 e = frequency; e != 0; e >>= 1, j++)
    if (e & 1) x = mul_called<P>(x, table(ratios, j));
  j = 0;
#pragma unroll 1
  for (u32 e = product ? frequency * column : column; e != 0; e >>= 1, j++)
    if (e & 1) x = mul_called<P>(x, table(roots, j));
  store(to, i, canonical(x));
}

// scalar_reverse puts elements of 2^log, in or out of bit-reversed order, into the other.
extern "C" __global__ void __launch_bounds__(256) scalar_reverse_VARIANT(u32 *data, u32 log) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >> log) return;
  const u32 j = reversed(i, log);
  if (i >= j) return;
  const F a = load(data, i), b = load(data, j);
  store(data, i, b);
  store(data, j, a);
}

// scalar_single is a transform of one element, which changes nothing, with what else a
// pass does: factors, and what to take away.
extern "C" __global__ void __launch_bounds__(32) scalar_single_VARIANT(u32 *data, const u32 *times, const u32 *scale, const u32 *minus) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  F x = load(data, 0);
  if (times) x = mul_called<P>(x, load(times, 0));
  if (scale) x = mul_called<P>(x, table(scale, 0));
  if (minus) x = sub(x, load(minus, 0));
  store(data, 0, canonical(x));
}
