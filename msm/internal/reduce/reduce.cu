// Sums over windows of i times the bucket sum S_i (docs/msm.md). Every bit h of i has a
// sum W_h = Σ S_i over the i in which the bit is set, so that Σ i S_i = Σ 2^h W_h.
// One array serves for all of them: step s adds v[i + 2^s] to v[i] for the i below
// 2^(s+1) periods that are 0 or a power of two below 2^s. Before it v[j 2^s] is the sum
// of 2^s buckets and v[j 2^s + 2^h] of those among them with bit h, and v[i + 2^s]
// itself stays where it is as the first sum of bit s. Each bucket costs two additions
// on the whole, and the longest chain is as long as i has bits.
#include "GROUP_HEADER"
#include "SUMS_HEADER"

typedef Group::Sum Sum;

// pieces is two words for each window, or share of one, that has buckets in the array
// of sums: the first of them and their number.

// words_at and sum_at are where sum i lies.
DEVICE_INLINE u32 *words_at(u32 *sums, u64 i) { return sums + i * (sizeof(Sum) / 4); }
DEVICE_INLINE uint4 *sum_at(u32 *sums, u64 i) { return reinterpret_cast<uint4 *>(words_at(sums, i)); }

DEVICE_INLINE void load_sum(Sum &s, u32 *sums, u64 i) {
  const uint4 *from = sum_at(sums, i);
  uint4 *to = reinterpret_cast<uint4 *>(&s);
#pragma unroll
  for (u32 k = 0; k < sizeof(Sum) / 16; k++) to[k] = from[k];
}

DEVICE_INLINE void store_sum(u32 *sums, u64 i, const Sum &s) {
  uint4 *to = sum_at(sums, i);
  const uint4 *from = reinterpret_cast<const uint4 *>(&s);
#pragma unroll
  for (u32 k = 0; k < sizeof(Sum) / 16; k++) to[k] = from[k];
}


// Addition is which two sums an addition is of.
struct Addition {
  u64 a, b;
  bool some; // there is one
};

// step_at is the t-th addition of step s for a piece whose segments of 2^log buckets are
// the elements of v, n of them. The last list is that of the segments' weighted sums, if
// log is not 0.
DEVICE_INLINE Addition step_at(u64 first, u32 count, u32 n, u32 log, u32 s, u32 t) {
  const u32 per = (n + (2u << s) - 1) >> (s + 1);
  const u32 list = t / per, j = t % per;
  if (list >= s + 1 + (log != 0)) return {first, first, false};
  // Lists: 0 of the sums, h + 1 of bit h's, s + 1 of the weighted ones.
  const u32 residue = list == 0 || list == s + 1 ? 0 : 1u << (list - 1);
  const u64 i = ((u64)j << (s + 1)) + residue, k = i + (1u << s);
  if (k >= n) return {first, first, false};
  u64 a = i << log, b = k << log;
  if (list == s + 1) {
    // The last segment may be one bucket, which has no weighted sum.
    a++;
    b++;
    if (b >= count) return {first, first, false};
  }
  return {first + a, first + b, true};
}

// Step s, for all pieces: a thread an addition.
extern "C" __global__ void __launch_bounds__(128, STEP_BLOCKS)
reduce_step_VARIANT(u32 *sums, const u32 *__restrict__ pieces, u32 log, u32 s) {
  const u32 first = pieces[2 * blockIdx.y], count = pieces[2 * blockIdx.y + 1];
  const u32 n = (count + (1u << log) - 1) >> log;
  const Addition w = step_at(first, count, n, log, s, blockIdx.x * blockDim.x + threadIdx.x);
  if (!w.some) return;
  Sum x, y;
  load_sum(x, sums, w.a);
  load_sum(y, sums, w.b);
  store_sum(sums, w.a, add(x, y));
}

// The same with four threads an addition, which is sooner done where there are few.
extern "C" __global__ void __launch_bounds__(128)
reduce_quads_VARIANT(u32 *sums, const u32 *__restrict__ pieces, u32 log, u32 s) {
  const u32 first = pieces[2 * blockIdx.y], count = pieces[2 * blockIdx.y + 1];
  const u32 n = (count + (1u << log) - 1) >> log;
  const Addition w = step_at(first, count, n, log, s, (blockIdx.x * blockDim.x + threadIdx.x) / 4);
  quad_add<Group>(words_at(sums, w.a), words_at(sums, w.b), w.some);
}

// The steps from s up to, not including, end, one block a piece. Then four bits' sums each
// become one, W_h + 2 W_h+1 + 4 W_h+2 + 8 W_h+3, which takes a quad a pair. What is left is
// the piece's row of out: the sum of all, the weighted sum within segments, and those of the
// bits.
extern "C" __global__ void __launch_bounds__(FINISH_THREADS)
reduce_finish_VARIANT(u32 *out, u32 *sums, const u32 *__restrict__ pieces, u32 log, u32 s, u32 end) {
  const u32 first = pieces[2 * blockIdx.x], count = pieces[2 * blockIdx.x + 1];
  const u32 n = (count + (1u << log) - 1) >> log;
  const u32 warp = threadIdx.x / 32 * 8, quad = threadIdx.x / 4;
#pragma unroll 1
  for (; s < end; s++) {
    const u32 most = ((n + (2u << s) - 1) >> (s + 1)) * (s + 1 + (log != 0));
    // Warps without an addition would take their share of the time.
#pragma unroll 1
    for (u32 t = 0; t + warp < most; t += blockDim.x / 4) {
      const Addition w = step_at(first, count, n, log, s, t + quad);
      quad_add<Group>(words_at(sums, w.a), words_at(sums, w.b), w.some);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (u32 apart = 1; apart < FOLDED; apart *= 2) {
    // Only the bits of indices below n have sums.
    const u32 h = 2 * apart * quad;
    const bool some = h + apart < end && 1u << (h + apart) < n;
    u32 *const low = words_at(sums, first + ((u64)(some ? 1u << h : 0u) << log));
    u32 *const high = words_at(sums, first + ((u64)(some ? 1u << (h + apart) : 0u) << log));
    const bool busy = 2 * apart * warp + apart < end;
#pragma unroll 1
    for (u32 i = 0; i < apart; i++) {
      if (busy) quad_dbl<Group>(high, some);
      __syncthreads();
    }
    if (busy) quad_add<Group>(low, high, some);
    __syncthreads();
  }
  const u32 row = 2 + (end + FOLDED - 1) / FOLDED;
  for (u32 i = threadIdx.x; i < row; i += blockDim.x) {
    u64 from = 0;
    if (i == 1) from = log ? 1 : count;
    if (i > 1) from = (u64)1 << ((i - 2) * FOLDED + log);
    Sum x;
    if (from < count) {
      load_sum(x, sums, first + from);
      x = canonical(x);
    } else {
      set_infinity(x);
    }
    store_sum(out, (u64)blockIdx.x * row + i, x);
  }
}
