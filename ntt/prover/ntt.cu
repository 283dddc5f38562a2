// Passes of number-theoretic transforms by decimation in frequency: natural order
// in, bit-reversed order out. A pass does several layers of butterflies on a tile
// that a block of threads holds in registers.
//
// A tile is rows of units; a unit is what FIELD_HEADER calls one: a word of the
// base field, or a pair. The units of an element (coordinates of an extension) lie
// side by side and share their twiddles. Each step of a pass takes a window of
// LOG_VALUES bits of the row's index into a thread's registers, transforms along
// these bits, multiplies by twiddles and passes the values on through shared
// memory, where the next step takes the window below. The last window is at bit 0,
// the one before at bit LOG_VALUES, and a third may lie above.
#include "FIELD_HEADER"

#define VALUES (1u << LOG_VALUES)

// Elements have 2^log units, or five.
#if NTT_FIVE
#define WIDTH(log) 5u
#define ELEMENT(unit, log) ((unit) / 5u)
#else
#define WIDTH(log) (1u << (log))
#define ELEMENT(unit, log) ((unit) >> (log))
#endif

// ---- butterflies ------------------------------------------------------------

// layer does the butterflies of all pairs at distance 2^L.
template <u32 L, u32 V = 0> DEVICE_INLINE void layer(unit (&x)[VALUES], u32 prime) {
#pragma unroll
  for (u32 b = V; b < VALUES; b += 2u << L) {
    unit lo = x[b], hi = x[b + (1u << L)];
    x[b] = unit_add(lo, hi);
    x[b + (1u << L)] = unit_sub_times<L, V>(lo, hi, prime);
  }
  if constexpr (V + 1 < 1u << L) layer<L, V + 1>(x, prime);
}

// expand is layer where the upper value of every pair is zero.
template <u32 L, u32 V = 0> DEVICE_INLINE void expand(unit (&x)[VALUES]) {
#pragma unroll
  for (u32 b = V; b < VALUES; b += 2u << L) x[b + (1u << L)] = unit_times<L, V>(x[b]);
  if constexpr (V + 1 < 1u << L) expand<L, V + 1>(x);
}

// layers does all layers from L down.
template <u32 L = LOG_VALUES - 1> DEVICE_INLINE void layers(unit (&x)[VALUES], u32 prime) {
  layer<L>(x, prime);
  if constexpr (L > 0) layers<L - 1>(x, prime);
}

// some does the layers below `to` that are not below `from`; what the `zeros` highest
// bits of the window pick is zero but for the first.
template <u32 L = LOG_VALUES - 1> DEVICE_INLINE void some(unit (&x)[VALUES], u32 from, u32 to, u32 zeros, u32 prime) {
  if (from <= L && L < to) {
    if (zeros + L >= LOG_VALUES)
      expand<L>(x);
    else
      layer<L>(x, prime);
  }
  if constexpr (L > 0) some<L - 1>(x, from, to, zeros, prime);
}

// ---- windows ----------------------------------------------------------------

// Place is what a thread holds of a window: the rows first, first + 2^at, ..., at one
// offset within the row. low is the part of the row's index below the window and
// high the part above.
struct Place {
  u32 first, low, high, offset;
};

// place_of shares out a tile: rest numbers the threads of one offset.
DEVICE_INLINE Place place_of(u32 at, u32 rest, u32 offset) {
  Place p;
  p.low = rest & ((1u << at) - 1);
  p.high = rest >> at;
  p.first = p.high << (at + LOG_VALUES) | p.low;
  p.offset = offset;
  return p;
}

// In shared memory all rows of one offset lie together, one left free after every
// VALUES of them, and pitch units from one offset to the next, so that the lanes of a
// warp meet in no bank whichever window they read. slot is where a thread's first
// value lies, and spread how far apart its values are, for windows at 0 or at
// LOG_VALUES and up.
DEVICE_INLINE u32 slot(Place p, u32 pitch) { return p.first + (p.first >> LOG_VALUES) + p.offset * pitch; }

DEVICE_INLINE u32 spread(u32 at) { return at == 0 ? 1u : (1u << at) + (1u << (at - LOG_VALUES)); }

DEVICE_INLINE void put(unit *to, u32 step, const unit (&x)[VALUES]) {
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) to[v * step] = x[v];
}

DEVICE_INLINE void take(unit (&x)[VALUES], const unit *from, u32 step) {
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) x[v] = from[v * step];
}

// some_of loads the values behind the first that `zeros` leaves.
template <u32 L> DEVICE_INLINE void some_of(unit (&x)[VALUES], const unit *from, u32 step, u32 zeros) {
  if (zeros + L <= LOG_VALUES) {
#pragma unroll
    for (u32 v = 1u << L >> 1; v < 1u << L; v++) x[v] = from[(u64)v * step];
  }
  if constexpr (L > 1) some_of<L - 1>(x, from, step, zeros);
}

// twist multiplies by the twiddles between a window and what is below, and puts the
// values; twiddles are in rows of TABLE_ROW, one for each value.
DEVICE_INLINE void twist(unit *to, u32 step, const unit (&x)[VALUES], const unit *table) {
  to[0] = x[0];
#pragma unroll
  for (u32 v = 1; v < VALUES; v++) to[v * step] = unit_twist(x[v], unit_ldg(table + v * TABLE_ROW));
}

// power is the root of order 2^LOG_ORDER to the power e; of the tables' two parts the
// second holds factors.
DEVICE_INLINE unit power(const unit *tables, u32 e) {
  return unit_twist(unit_ldg(tables + (e & ((1u << LOG_LOW) - 1))), unit_ldg(tables + (1u << LOG_LOW) + (e >> LOG_LOW)));
}

// reversed is i with its `bits` lowest bits, which are all there is, in reverse order.
DEVICE_INLINE u32 reversed(u32 i, u32 bits) { return bit_reverse(i) >> 1 >> (31 - bits); }

template <u32 V, u32 BITS> struct Reversed {
  static constexpr u32 value = (V & 1) << (BITS - 1) | Reversed<(V >> 1), BITS - 1>::value;
};
template <u32 V> struct Reversed<V, 0> {
  static constexpr u32 value = 0;
};

// leave multiplies the value of frequency k by first * ratio^k, given the factor for the ratio.
template <u32 K = 0> DEVICE_INLINE void leave(unit (&x)[VALUES], unit first, unit ratio) {
  constexpr u32 V = Reversed<K, LOG_VALUES>::value;
  x[V] = unit_twist(x[V], unit_factor(first));
  if constexpr (K + 1 < VALUES) leave<K + 1>(x, unit_next(first, ratio), ratio);
}

// ---- passes -----------------------------------------------------------------

// Across is how a pass over columns shares out a tile: 2^log_width units of each row.
struct Across {
  u32 log_width;
  __device__ __forceinline__ Place operator()(u32 at) const {
    return place_of(at, threadIdx.x >> log_width, threadIdx.x & ((1u << log_width) - 1));
  }
  // warp says whether the windows at LOG_VALUES and at 0 of a warp are the same units.
  __device__ __forceinline__ bool warp() const { return false; }
};

// Along is the same for a pass over whole rows of one element.
struct Along {
  u32 log_units;
  __device__ __forceinline__ Place operator()(u32 at) const {
    u32 rest = ELEMENT(threadIdx.x, log_units);
    return place_of(at, rest, threadIdx.x - rest * WIDTH(log_units));
  }
  __device__ __forceinline__ bool warp() const { return WIDTH(log_units) == 1; }
};

// descend does the steps after that of the window at `at`: values come and go in
// registers. upper and middle are where the twiddles of that window, if it is above
// LOG_VALUES, and of the one at LOG_VALUES begin.
template <bool UPPER, class Split>
DEVICE_INLINE void descend(unit (&x)[VALUES], unit *shared, u32 pitch, u32 at, const unit *upper, const unit *middle, u32 prime,
                           Split split) {
  if (UPPER && at > LOG_VALUES) {
    Place p = split(at);
    twist(shared + slot(p, pitch), spread(at), x, upper + p.low);
    __syncthreads();
    take(x, shared + slot(split(LOG_VALUES), pitch), spread(LOG_VALUES));
    layers(x, prime);
  }
  if (at >= LOG_VALUES) {
    Place p = split(LOG_VALUES);
    twist(shared + slot(p, pitch), spread(LOG_VALUES), x, middle + p.low);
    if (split.warp())
      __syncwarp();
    else
      __syncthreads();
    take(x, shared + slot(split(0), pitch), spread(0));
    layers(x, prime);
  }
}

// ntt_columns does the first layers of columns of 2^remaining elements: the
// transforms of size 2^bits of elements 2^(remaining-bits) apart, and the twiddles
// that leave 2^bits independent columns behind. row is the units from one of these
// to the next, of which a column has less than 2^32. A column starts dst_column and
// src_column units after the one before; of a column of src only the first `live`
// units are there, where zeros says how many of the first layers meet zeros only
// (LOG_VALUES if that many or more). Blocks have their tiles along x, their columns
// along y and z. A tile has 2^log_width units of all rows. The
// first window is at `at`, and of its layers those below `from` are left to the next.
// prime is the modulus.
extern "C" __global__ void __launch_bounds__(NTT_THREADS) ntt_columns_VARIANT(u32 *dst, const u32 *src, const u32 *tables,
    u32 bits, u32 remaining, u32 log_width, u32 log_units, u32 row, u32 columns, u64 dst_column, u64 src_column, u32 live, u32 zeros,
    u32 at, u32 from, u32 to, u32 upper, u32 middle, u32 pitch, u32 prime) {
  SHARED_DYNAMIC(unit, shared);
  const unit *powers = reinterpret_cast<const unit *>(tables);
  u32 column = blockIdx.y + blockIdx.z * gridDim.y, tile = blockIdx.x;
  if (column >= columns) return;
  Across split = {log_width};
  unit x[VALUES];
  {
    Place p = split(at);
    u32 i = p.first * row + (tile << log_width) + p.offset, step = row << at;
    const unit *at_src = reinterpret_cast<const unit *>(src) + column * src_column + i;
    if (zeros == 0) {
#pragma unroll
      for (u32 v = 0; v < VALUES; v++) x[v] = at_src[(u64)v * step];
    } else {
#pragma unroll
      for (u32 v = 0; v < VALUES; v++) x[v] = unit_zero();
      if (zeros < LOG_VALUES || i < live) x[0] = *at_src;
      some_of<LOG_VALUES - 1>(x, at_src, step, zeros);
    }
    if (zeros == 0 && !COLUMNS_UPPER) // to is LOG_VALUES
      layers(x, prime);
    else
      some(x, from, to, zeros, prime);
  }
  descend<COLUMNS_UPPER>(x, shared, pitch, at, powers + upper, powers + middle, prime, split);
  Place p = split(0);
  u32 i = (tile << log_width) + p.offset, e = ELEMENT(i, log_units);
  u32 shift = LOG_ORDER - remaining;
  leave(x, power(powers, (e * reversed(p.high, bits - LOG_VALUES)) << shift),
        unit_factor(power(powers, e << (bits - LOG_VALUES + shift))));
  unit *out = reinterpret_cast<unit *>(dst) + column * dst_column + (u64)p.first * row + i;
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) out[(u64)v * row] = x[v];
}

// give stores values that are step units apart, and 2^at rows from the one called first
// on; where a tile is not full it has `here` rows.
DEVICE_INLINE void give(unit *out, u32 step, const unit (&x)[VALUES], bool full, u32 here, u32 first, u32 at) {
  if (full) {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) out[(u64)v * step] = x[v];
  } else {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (first + (v << at) < here) out[(u64)v * step] = x[v];
  }
}

// ntt_rows does all layers of columns of 2^bits elements that lie one after the
// other, `total` elements in all; a block takes 2^tile_bits of them. A column of
// src has only its first 2^live elements. The first window is at `at`, and of its
// layers those from `from` up to `to` belong to the transform.
extern "C" __global__ void __launch_bounds__(NTT_THREADS) ntt_rows_VARIANT(u32 *dst, const u32 *src, const u32 *tables, u32 bits,
    u32 live, u32 log_units, u32 tile_bits, u64 total, u32 at, u32 from, u32 to, u32 upper, u32 middle, u32 pitch, u32 prime) {
  SHARED_DYNAMIC(unit, shared);
  const unit *powers = reinterpret_cast<const unit *>(tables);
  Along split = {log_units};
  u32 width = WIDTH(log_units);
  u64 start = (u64)blockIdx.x << tile_bits;
  u32 here = start + (1u << tile_bits) <= total ? 1u << tile_bits : (u32)(total - start);
  unit x[VALUES];
  {
    Place p = split(at);
    const unit *tile = reinterpret_cast<const unit *>(src) + (start >> bits << live) * width + p.offset;
    if (here == 1u << tile_bits && live == bits) {
      tile += p.first * width;
      u32 step = width << at;
#pragma unroll
      for (u32 v = 0; v < VALUES; v++) x[v] = tile[(u64)v * step];
    } else {
      // Columns are whole in a tile, since tiles are not smaller.
#pragma unroll
      for (u32 v = 0; v < VALUES; v++) {
        u32 i = p.first + (v << at), e = i & ((1u << bits) - 1);
        x[v] = i < here && e < 1u << live ? tile[((i >> bits << live) + e) * width] : unit_zero();
      }
    }
    some(x, from, to, 0, prime);
  }
  descend<true>(x, shared, pitch, at, powers + upper, powers + middle, prime, split);
  // Once more through shared memory, so that neighbours store together.
  put(shared + slot(split(0), pitch), spread(0), x);
  unit *out = reinterpret_cast<unit *>(dst) + start * width;
  if (split.warp()) {
    __syncwarp();
    Place p = split(LOG_VALUES);
    take(x, shared + slot(p, pitch), spread(LOG_VALUES));
    give(out + p.first, 1u << LOG_VALUES, x, here == 1u << tile_bits, here, p.first, LOG_VALUES);
  } else {
    __syncthreads();
    u32 last = tile_bits - LOG_VALUES;
    Place p = split(last);
    take(x, shared + slot(p, pitch), spread(last));
    give(out + p.first * width + p.offset, width << last, x, here == 1u << tile_bits, here, p.first, last);
  }
}
