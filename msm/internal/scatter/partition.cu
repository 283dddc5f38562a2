// From scalars to lists of entries, one bin after the other. A scalar above half of the
// group's order stands for its negative. What is added to it, 2^(Bits-1) at the place of
// every window but the top one, makes digits independent of each other: a window's digit
// is its bits, less what was added, and carries are in the sum already.
//
// A table describes windows, in uint4: the sum's words; then of every window
//   {word, shift, mask, half}, {delta, size, bin, bin_shift}, {offset, 0, 0, 0}
// (its digit is (bits >> shift of word & mask) - half; digit ±(i+1) is in the bucket
// i + delta of a region of size buckets, which is cut from its bin on into bins of
// 2^bin_shift; its entries are from offset on); then of every group of windows
//   {window, windows, bin, bins}, {scalars, reciprocal, 0, 0}
// (its windows, in order of word, its bins, and how many scalars are a tile, with
// 2^32 / scalars rounded up).
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"
#include "msm/internal/scatter/tile.cuh"

typedef SCALAR_FIELD Field;
enum : u32 { WORDS = Field::N, SUM = (WORDS + 3) / 4, MONTGOMERY = 0 };

struct Recoded {
  u32 x[WORDS]; // the number, with what makes digits of it
  u32 sign;     // 1 if it is the scalar's negative
  bool live;
};

// recode makes a scalar ready for its digits. It is not live if its words are not below
// the group's order.
DEVICE_INLINE Recoded recode(const u32 *scalar, u32 form, const uint4 *sum) {
  Mont<Field> s;
  if constexpr (WORDS % 4 == 0) {
#pragma unroll
    for (u32 j = 0; 4 * j < WORDS; j++) {
      const uint4 v = ldg(reinterpret_cast<const uint4 *>(scalar) + j);
      s.x[4 * j] = v.x, s.x[4 * j + 1] = v.y, s.x[4 * j + 2] = v.z, s.x[4 * j + 3] = v.w;
    }
  } else {
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) s.x[j] = ldg(scalar + j);
  }
  Recoded r;
  sub_cc(s.x[0], Field::p(0));
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) subc_cc(s.x[j], Field::p(j));
  r.live = subc(0u, 0u) != 0;
  if (form == MONTGOMERY) s = canonical(from_montgomery(s));
  sub_cc(Field::half(0), s.x[0]);
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) subc_cc(Field::half(j), s.x[j]);
  const u32 above = subc(0u, 0u);
  u32 opposite[WORDS];
  opposite[0] = sub_cc(Field::p(0), s.x[0]);
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) opposite[j] = subc_cc(Field::p(j), s.x[j]);
  u32 add[4 * SUM];
#pragma unroll
  for (u32 j = 0; j < SUM; j++) {
    const uint4 v = sum[j];
    add[4 * j] = v.x, add[4 * j + 1] = v.y, add[4 * j + 2] = v.z, add[4 * j + 3] = v.w;
  }
#pragma unroll
  for (u32 j = 0; j < WORDS; j++) r.x[j] = above ? opposite[j] : s.x[j];
  r.x[0] = add_cc(r.x[0], add[0]);
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) r.x[j] = addc_cc(r.x[j], add[j]);
  r.sign = above & 1;
  return r;
}

struct Digit {
  u32 bin; // NONE if the digit is 0, or its bucket not wanted
  u32 fine, sign;
};

// each_digit calls f(w, digit) for the windows of a group, in shared memory.
template <class F> DEVICE_INLINE void each_digit(const Recoded &r, const uint4 *windows, u32 count, F f) {
  u32 w = 0;
#pragma unroll
  for (u32 j = 0; j < WORDS; j++) {
    const u32 low = r.x[j], high = j + 1 < WORDS ? r.x[j + 1] : 0;
    while (w < count) {
      const uint4 a = windows[3 * w], b = windows[3 * w + 1];
      if (a.x != j) break;
      const u32 value = (funnel_right(low, high, a.y) & a.z) - a.w, down = value >> 31;
      const u32 size = down ? 0 - value : value, at = size - 1 + b.x;
      const bool some = r.live && size != 0 && at < b.y;
      Digit d;
      d.bin = some ? b.z + (at >> b.w) : NONE;
      d.fine = at & ((1u << b.w) - 1);
      d.sign = down ^ r.sign;
      f(w, d);
      w++;
    }
  }
}

// load_windows copies a group's windows to shared memory; a barrier is needed after it.
DEVICE_INLINE void load_windows(uint4 *windows, const uint4 *table, u32 first, u32 count) {
  for (u32 i = threadIdx.x; i < 3 * count; i += blockDim.x) windows[i] = table[SUM + 3 * first + i];
}

// count_bins adds the number of entries in each bin of some groups to counts, through
// counters in shared memory or not, and finds the first scalar that is too large.
template <bool SHARED>
DEVICE_INLINE void count_bins(u32 *counts, u32 *bad, const u32 *scalars, const uint4 *table, u32 groups_at, u32 n, u32 form, u32 group,
                              u32 groups, u32 bins) {
  SHARED_DYNAMIC(uint4, windows);
  const uint4 *list = table + groups_at + 2 * group;
  const u32 first = list[0].x, bin = list[0].z, count = list[2 * groups - 2].x + list[2 * groups - 2].y - first;
  u32 *const local = SHARED ? reinterpret_cast<u32 *>(windows + 3 * count) : counts + bin;
  load_windows(windows, table, first, count);
  if (SHARED)
    for (u32 i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  u32 guesses = NONE, turn = 0; // lane i has the guesses for windows i, i + 32, ...
  for (u64 base = (u64)blockIdx.x * blockDim.x; base < n; base += (u64)gridDim.x * blockDim.x, turn++) {
    const u64 i = base + threadIdx.x;
    Recoded r;
    if (i < n) {
      r = recode(scalars + i * WORDS, form, table);
      if (!r.live) atomicMin(bad, (u32)i);
    } else {
#pragma unroll
      for (u32 j = 0; j < WORDS; j++) r.x[j] = 0;
      r.sign = 0, r.live = false;
    }
    for (u32 g = 0; g < groups; g++) {
      const u32 start = list[2 * g].x - first;
      each_digit(r, windows + 3 * start, list[2 * g].y, [&](u32 w, const Digit &d) {
        u32 guess = shfl_idx(guesses, start + w);
        take(local, d.bin - bin, d.bin != NONE, guess, turn);
        if (lane_id() == ((start + w) & 31)) guesses = guess;
      });
    }
  }
  if (!SHARED) return;
  __syncthreads();
  for (u32 i = threadIdx.x; i < bins; i += blockDim.x)
    if (local[i] != 0) atomicAdd(&counts[bin + i], local[i]);
}

extern "C" __global__ void __launch_bounds__(512) scatter_count_VARIANT(u32 *counts, u32 *bad, const u32 *scalars, const uint4 *table, u32 groups_at,
                                                                        u32 n, u32 form, u32 group, u32 groups, u32 bins) {
  count_bins<true>(counts, bad, scalars, table, groups_at, n, form, group, groups, bins);
}

extern "C" __global__ void __launch_bounds__(512) scatter_count_each_VARIANT(u32 *counts, u32 *bad, const u32 *scalars, const uint4 *table,
                                                                             u32 groups_at, u32 n, u32 form, u32 group, u32 groups, u32 bins) {
  count_bins<false>(counts, bad, scalars, table, groups_at, n, form, group, groups, bins);
}

// scatter_tile writes the entries of a tile, of some scalars in one group of windows, to
// where their bins have room, which cursors say; and the buckets within the bin to fine,
// if there are any.
extern "C" __global__ void __launch_bounds__(TILE_BOUNDS) scatter_tile_VARIANT(u32 *entries, u16 *fine, u32 *cursors, const u32 *scalars,
                                                                               const uint4 *table, u32 groups_at, u32 n, u32 form, u32 group) {
  SHARED_DYNAMIC(uint4, windows);
  __shared__ u32 sums[32];
  const uint4 *list = table + groups_at + 2 * (group + blockIdx.y);
  const uint4 what = list[0], shape = list[1];
  const u32 count = what.y, bin = what.z, bins = what.w, scalars_each = shape.x, reciprocal = shape.y;
  const u64 base = (u64)blockIdx.x * scalars_each;
  if (base >= n) return; // the whole block
  const u32 tile = scalars_each * count;
  u32 *const start = reinterpret_cast<u32 *>(windows + 3 * count), *const delta = start + bins, *const digits = delta + bins;
  u16 *const order = reinterpret_cast<u16 *>(digits + tile);
  load_windows(windows, table, what.x, count);
  for (u32 i = threadIdx.x; i < bins; i += blockDim.x) start[i] = 0;
  __syncthreads();
  for (u32 s = threadIdx.x; s < scalars_each; s += blockDim.x) {
    Recoded r;
    if (base + s < n) {
      r = recode(scalars + (base + s) * WORDS, form, table);
    } else {
#pragma unroll
      for (u32 j = 0; j < WORDS; j++) r.x[j] = 0;
      r.sign = 0, r.live = false;
    }
    each_digit(r, windows, count, [&](u32 w, const Digit &d) {
      digits[w * scalars_each + s] = d.bin == NONE ? NONE : (d.bin - bin) << 16 | d.fine << 1 | d.sign;
    });
  }
  __syncthreads();
  // A tile is whole warps.
  u32 guess = NONE;
  for (u32 i = threadIdx.x; i < tile; i += blockDim.x) take(start, digits[i] >> 16, digits[i] != NONE, guess, i / 32);
  __syncthreads();
  for (u32 i = threadIdx.x; i < bins; i += blockDim.x) delta[i] = start[i] == 0 ? 0 : atomicAdd(&cursors[bin + i], start[i]);
  const u32 total = array_scan(start, bins, sums);
  __syncthreads();
  for (u32 i = threadIdx.x; i < bins; i += blockDim.x) delta[i] -= start[i];
  __syncthreads();
  for (u32 i = threadIdx.x; i < tile; i += blockDim.x) {
    const u32 at = take(start, digits[i] >> 16, digits[i] != NONE, guess, i / 32);
    if (digits[i] != NONE) order[at] = (u16)i;
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < total; i += blockDim.x) {
    const u32 e = order[i], d = digits[e], w = mul_hi(e, reciprocal), to = delta[d >> 16] + i;
    const u32 index = windows[3 * w + 2].x + (u32)base + (e - w * scalars_each);
    entries[to] = index | d << 31;
    if (fine) fine[to] = (u16)((d & 0xffff) >> 1);
  }
}

// scatter_each is the same without tiles, for so many bins that a tile has hardly two
// entries for one: an atomic addition an entry.
extern "C" __global__ void __launch_bounds__(512) scatter_each_VARIANT(u32 *entries, u16 *fine, u32 *cursors, const u32 *scalars, const uint4 *table,
                                                                       u32 groups_at, u32 n, u32 form, u32 group) {
  SHARED_DYNAMIC(uint4, windows);
  const uint4 *list = table + groups_at + 2 * (group + blockIdx.y);
  const u32 count = list[0].y;
  load_windows(windows, table, list[0].x, count);
  __syncthreads();
  u32 guesses = NONE, turn = 0;
  for (u64 base = (u64)blockIdx.x * blockDim.x; base < n; base += (u64)gridDim.x * blockDim.x, turn++) {
    const u64 i = base + threadIdx.x;
    Recoded r;
    if (i < n) {
      r = recode(scalars + i * WORDS, form, table);
    } else {
#pragma unroll
      for (u32 j = 0; j < WORDS; j++) r.x[j] = 0;
      r.sign = 0, r.live = false;
    }
    each_digit(r, windows, count, [&](u32 w, const Digit &d) {
      u32 guess = shfl_idx(guesses, w);
      const u32 to = take(cursors, d.bin, d.bin != NONE, guess, turn);
      if (lane_id() == (w & 31)) guesses = guess;
      if (d.bin == NONE) return;
      entries[to] = (windows[3 * w + 2].x + (u32)i) | d.sign << 31;
      if (fine) fine[to] = (u16)d.fine;
    });
  }
}
