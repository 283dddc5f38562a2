// Values of a bit column after challenges, looked up by its patterns: for each point of the
// window's end, the 2^k bits of a column there, in one byte (k <= 3) or two (k = 4).
#pragma once
#include "sumcheck/binary/prover/round.cuh"

// times_x is a X.
DEVICE_INLINE uint4 times_x(uint4 a) {
  const u32 top = a.w >> 31;
  return make_uint4(a.x << 1 ^ top, funnel_left(a.x, a.y, 1), funnel_left(a.y, a.z, 1), funnel_left(a.z, a.w, 1) ^ (0u - top & 0xc2000000u));
}

// lookup_tables fills, for `level` challenges after the window's k, 2^level tables after each
// other, of 256 sums of weights for every byte of a pattern: entry b of table (v, i) is the
// sum over the set bits j of b of the weight of prefix (8 i + j, v).
DEVICE_INLINE void lookup_tables(uint4 *tables, const State *s, u32 k, u32 level) {
  const u32 bytes = k == 4 ? 2 : 1, bits = 1u << k;
  for (u32 e = threadIdx.x; e < bytes << level + 8; e += blockDim.x) {
    const u32 v = e / (256 * bytes), i = e / 256 % bytes;
    uint4 sum = pv_zero();
#pragma unroll 1
    for (u32 j = 0; j < 8; j++)
      if ((e >> j & 1) && 8 * i + j < bits) sum = pv_add(sum, s->weights[((8 * i + j) << level) + v]);
    tables[e] = sum;
  }
}

// looked_up is the value at x of `size` points, where the 2^level stretches of that size
// follow `step` points after each other.
DEVICE_INLINE uint4 looked_up(const uint4 *tables, const u8 *__restrict__ patterns, u32 k, u32 level, u64 x, u64 step) {
  uint4 sum = pv_zero();
#pragma unroll 1
  for (u32 v = 0; v < 1u << level; v++) {
    const u64 at = x + v * step;
    if (k == 4) {
      const u32 w = ldg((const u16 *)patterns + at);
      sum = pv_add(sum, tables[512 * v + (w & 255)], tables[512 * v + 256 + (w >> 8)]);
    } else {
      sum = pv_add(sum, tables[256 * v + ldg(patterns + at)]);
    }
  }
  return sum;
}
