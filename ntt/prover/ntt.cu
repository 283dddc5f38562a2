// Passes of number-theoretic transforms by decimation in frequency: natural order
// in, bit-reversed order out. A pass does several layers of butterflies on a tile
// that a block of threads holds in registers.
//
// A tile is rows of units; a unit is what FIELD_HEADER calls one: a word of the
// base field, or a pair. The units of an element (coordinates of an extension) lie
// side by side and share their twiddles. Each step of a pass takes a window of
// LOG_VALUES bits of the row's index into a thread's registers, transforms along
// the low ones of these bits, multiplies by twiddles and passes the values on
// through shared memory, where the next step takes another window. In shared
// memory a row is left free after every 2^LOG_VALUES rows, so that the lanes of a
// warp meet in no bank whichever window they read.
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
template <u32 L, u32 V = 0> DEVICE_INLINE void layer(unit (&x)[VALUES]) {
#pragma unroll
  for (u32 b = V; b < VALUES; b += 2u << L) {
    unit lo = x[b], hi = x[b + (1u << L)];
    x[b] = unit_add(lo, hi);
    x[b + (1u << L)] = unit_sub_times<L, V>(lo, hi);
  }
  if constexpr (V + 1 < 1u << L) layer<L, V + 1>(x);
}

// expand is layer where the upper value of every pair is zero.
template <u32 L, u32 V = 0> DEVICE_INLINE void expand(unit (&x)[VALUES]) {
#pragma unroll
  for (u32 b = V; b < VALUES; b += 2u << L) x[b + (1u << L)] = unit_times<L, V>(x[b]);
  if constexpr (V + 1 < 1u << L) expand<L, V + 1>(x);
}

// layers does the last `bits` layers, of which the first `zeros` expand.
template <u32 L> DEVICE_INLINE void layers(unit (&x)[VALUES], u32 bits, u32 zeros) {
  if (bits > L) {
    if (zeros + L >= LOG_VALUES)
      expand<L>(x);
    else
      layer<L>(x);
  }
  if constexpr (L > 0) layers<L - 1>(x, bits, zeros);
}

// ---- windows ----------------------------------------------------------------

// Step is one step of a pass: a window of the row's bits from bit `at` on, of which
// the low `bits` are transformed; its twiddles are at `table` in the tables.
struct Step {
  u32 at, bits, table;
};

DEVICE_INLINE Step step_of(u64 packed) {
  Step s;
  s.at = (u32)packed & 255;
  s.bits = (u32)packed >> 8;
  s.table = (u32)(packed >> 32);
  return s;
}

// Place is what a thread holds for a window: the rows first, first + 2^at, ...,
// at one offset within the row.
struct Place {
  u32 first, low, high, offset;
};

// place_of shares out the windows of a tile: rest numbers those of one offset.
DEVICE_INLINE Place place_of(u32 at, u32 rest, u32 offset) {
  Place p;
  p.low = rest & ((1u << at) - 1);
  p.high = rest >> at;
  p.first = p.high << (at + LOG_VALUES) | p.low;
  p.offset = offset;
  return p;
}

// slot is where a window's first value lies in shared memory, and stride how far
// apart its values are; at is 0 or at least LOG_VALUES.
DEVICE_INLINE u32 slot(Place p, u32 width) { return (p.first + (p.first >> LOG_VALUES)) * width + p.offset; }

DEVICE_INLINE u32 stride(u32 at, u32 width) { return (at == 0 ? 1u : (1u << at) + (1u << (at - LOG_VALUES))) * width; }

DEVICE_INLINE void put(unit *to, u32 step, const unit (&x)[VALUES]) {
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) to[v * step] = x[v];
}

DEVICE_INLINE void take(unit (&x)[VALUES], const unit *from, u32 step) {
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) x[v] = from[v * step];
}

// twist multiplies by a step's twiddles, between layers of the same tile.
DEVICE_INLINE void twist(unit (&x)[VALUES], const unit *table, u32 at) {
#pragma unroll
  for (u32 v = 1; v < VALUES; v++) x[v] = unit_twist(x[v], unit_ldg(table + (v << at)));
}

// power is the root of order 2^LOG_ORDER to the power e.
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

// leave multiplies the values of frequencies k, from the one that first stands for on
// in steps of 1, by first * ratio^k.
template <u32 K = 0> DEVICE_INLINE void leave(unit (&x)[VALUES], unit first, unit ratio) {
  constexpr u32 V = Reversed<K, LOG_VALUES>::value;
  x[V] = unit_twist(x[V], first);
  if constexpr (K + 1 < VALUES) leave<K + 1>(x, unit_next(first, ratio), ratio);
}

// ---- passes -----------------------------------------------------------------

// steps_between runs all steps but the last: values go in and come out in registers.
template <class Split> DEVICE_INLINE void steps(unit (&x)[VALUES], unit *shared, const unit *tables, u32 count, u64 step0,
                                                u64 step1, u64 step2, u64 step3, u32 zeros, u32 width, Split split) {
  Step s = step_of(step0);
  layers<LOG_VALUES - 1>(x, s.bits, zeros);
#pragma unroll 1
  for (u32 i = 1; i < count; i++) {
    Place p = split(s.at);
    twist(x, tables + s.table + p.low, s.at);
    put(shared + slot(p, width), stride(s.at, width), x);
    u32 before = s.at;
    s = step_of(i == 1 ? step1 : i == 2 ? step2 : step3);
    // Windows at LOG_VALUES and at 0 of 2^(2 LOG_VALUES) rows are the same warp's
    // if rows are units.
    if (width == 1 && before == LOG_VALUES && s.at == 0)
      __syncwarp();
    else
      __syncthreads();
    p = split(s.at);
    take(x, shared + slot(p, width), stride(s.at, width));
    layers<LOG_VALUES - 1>(x, s.bits, 0);
  }
}

// Across is how a pass over columns shares out a tile: 2^log_width units of each row.
struct Across {
  u32 log_width;
  __device__ __forceinline__ Place operator()(u32 at) const {
    return place_of(at, threadIdx.x >> log_width, threadIdx.x & ((1u << log_width) - 1));
  }
};

// Along is the same for a pass over whole rows of one element.
struct Along {
  u32 log_units;
  __device__ __forceinline__ Place operator()(u32 at) const {
    u32 rest = ELEMENT(threadIdx.x, log_units);
    return place_of(at, rest, threadIdx.x - rest * WIDTH(log_units));
  }
};

// ntt_columns does the first layers of columns of 2^remaining elements: the
// transforms of size 2^bits of elements 2^(remaining-bits) apart, and the twiddles
// that leave 2^bits independent columns behind. row is the units from one of these
// to the next, at most 2^32 of them a column. A column starts dst_column and
// src_column units after the one before; of a column of src only the first `live`
// units are there, where zeros says how many of the first layers meet zeros only
// (LOG_VALUES if that many or more). A tile has 2^log_width units of all rows.
extern "C" __global__ void __launch_bounds__(1024) ntt_columns_VARIANT(u32 *dst, const u32 *src, const u32 *tables,
    u32 bits, u32 remaining, u32 log_width, u32 log_units, u32 row, u64 dst_column, u64 src_column, u32 live, u32 zeros,
    u32 count, u64 step0, u64 step1, u64 step2, u64 step3) {
  SHARED_DYNAMIC(unit, shared);
  const unit *powers = reinterpret_cast<const unit *>(tables);
  u32 tiles = row >> log_width, column = blockIdx.x / tiles, tile = blockIdx.x - column * tiles;
  Across split = {log_width};
  unit x[VALUES];
  {
    Step s = step_of(step0);
    Place p = split(s.at);
    u32 at = p.first * row + (tile << log_width) + p.offset, step = row << s.at;
    const unit *from = reinterpret_cast<const unit *>(src) + column * src_column;
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) x[v] = unit_zero();
    if (zeros >= LOG_VALUES) {
      if (at < live) x[0] = from[at];
    } else {
      from += at;
#pragma unroll
      for (u32 v = 0; v < VALUES; v++)
        if (v < VALUES >> zeros) x[v] = from[(u64)v * step];
    }
  }
  steps(x, shared, powers, count, step0, step1, step2, step3, zeros, 1u << log_width, split);
  Place p = split(0);
  u32 at = (tile << log_width) + p.offset, e = ELEMENT(at, log_units);
  u32 shift = LOG_ORDER - remaining;
  leave(x, power(powers, (e * reversed(p.high, bits - LOG_VALUES)) << shift), power(powers, e << (bits - LOG_VALUES + shift)));
  unit *to = reinterpret_cast<unit *>(dst) + column * dst_column + (u64)p.first * row + at;
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) to[(u64)v * row] = x[v];
}

// ntt_rows does all layers of columns of 2^bits elements that lie one after the
// other, `total` elements in all; a block takes 2^tile_bits of them. A column of
// src has only its first 2^live elements.
extern "C" __global__ void __launch_bounds__(1024) ntt_rows_VARIANT(u32 *dst, const u32 *src, const u32 *tables, u32 bits,
    u32 live, u32 log_units, u32 tile_bits, u64 total, u32 count, u64 step0, u64 step1, u64 step2, u64 step3) {
  SHARED_DYNAMIC(unit, shared);
  const unit *from = reinterpret_cast<const unit *>(src);
  Along split = {log_units};
  u32 width = WIDTH(log_units);
  u64 start = (u64)blockIdx.x << tile_bits;
  bool full = start + (1u << tile_bits) <= total;
  unit x[VALUES];
  {
    Step s = step_of(step0);
    Place p = split(s.at);
    if (full && live == bits) {
      from += (start + p.first) * width + p.offset;
      u32 step = width << s.at;
#pragma unroll
      for (u32 v = 0; v < VALUES; v++) x[v] = from[v * step];
    } else {
#pragma unroll
      for (u32 v = 0; v < VALUES; v++) {
        u64 i = start + p.first + (v << s.at), e = i & ((1u << bits) - 1);
        x[v] = i < total && e < 1u << live ? from[(((i >> bits) << live) + e) * width + p.offset] : unit_zero();
      }
    }
  }
  steps(x, shared, reinterpret_cast<const unit *>(tables), count, step0, step1, step2, step3, 0, width, split);
  // Once more through shared memory, so that neighbours store together.
  Place p = split(0);
  put(shared + slot(p, width), stride(0, width), x);
  u32 last = tile_bits - LOG_VALUES;
  if (width == 1) {
    last = LOG_VALUES;
    __syncwarp();
  } else {
    __syncthreads();
  }
  p = split(last);
  take(x, shared + slot(p, width), stride(last, width));
  unit *to = reinterpret_cast<unit *>(dst) + (start + p.first) * width + p.offset;
  u32 step = width << last;
  if (full) {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++) to[v * step] = x[v];
  } else {
#pragma unroll
    for (u32 v = 0; v < VALUES; v++)
      if (start + p.first + (v << last) < total) to[v * step] = x[v];
  }
}
