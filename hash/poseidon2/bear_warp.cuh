// Poseidon2 over VARIANT of width 16 by one warp, for sponges whose latency counts:
// lane i holds word i mod 16, in Montgomery form and canonical. All 32 lanes call
// every function together.
#pragma once
#include "FIELD_HEADER"
#include "CONSTANTS_HEADER"

DEVICE_INLINE u32 poseidon2_warp_sbox(u32 x) {
  u32 x2 = fp_sqr(x), x3 = fp_mul(x2, x);
  return POSEIDON2_WARP_DEGREE == 3 ? x3 : fp_mul(x3, fp_sqr(x2));
}

// poseidon2_warp_external multiplies by circ(2 M4, M4, M4, M4). Row i of M4 is
// word i twice, the word after it three times, and the other two once.
DEVICE_INLINE u32 poseidon2_warp_external(u32 x) {
  u32 lane = threadIdx.x & 31, next = (lane & ~3u) | ((lane + 1) & 3u);
  u32 a = shfl_idx(x, next), b = shfl_xor(x, 2), c = shfl_idx(x, next ^ 2);
  u32 v = fp_add(fp_add(fp_dbl(fp_add(x, a)), a), fp_add(b, c));
  a = shfl_xor(v, 4), b = shfl_xor(v, 8), c = shfl_xor(v, 12);
  return fp_add(fp_add(fp_dbl(v), a), fp_add(b, c));
}

// poseidon2_warp_permute is the width-16 permutation.
static __device__ __noinline__ u32 poseidon2_warp_permute(u32 x) {
  u32 lane = threadIdx.x & 15, diagonal = ldg(poseidon2_warp_diagonal[0] + lane);
  const u32 *rc = poseidon2_warp_rounds[0] + lane;
  x = poseidon2_warp_external(x);
#pragma unroll 1
  for (u32 half = 0;; half++) {
#pragma unroll 1
    for (u32 r = 0; r < 4; r++, rc += 16) x = poseidon2_warp_external(poseidon2_warp_sbox(fp_add(x, ldg(rc))));
    if (half == 1) return x;
#pragma unroll 1
    for (u32 r = 0; r < POSEIDON2_WARP_PARTIAL; r++) {
      u32 y = poseidon2_warp_sbox(fp_add(x, ldg(poseidon2_warp_partial[0] + r)));
      if (lane == 0) x = y;
      u32 sum = x;
      for (u32 o = 8; o > 0; o >>= 1) sum = fp_add(sum, shfl_xor(sum, o));
      x = fp_add(fp_mul(x, diagonal), sum);
    }
  }
}
