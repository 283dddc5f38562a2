// Poseidon2 over VARIANT of width 16 by one warp, for sponges that go word by word:
// what counts is how long one permutation takes. Lane i holds word i mod 16, in
// Montgomery form and canonical. All 32 lanes call every function together.
#pragma once
#include "POSEIDON2_HEADER"
#include "TABLES_HEADER"

// poseidon2_warp_sbox is poseidon2_sbox with less latency: where a product's second
// factor b is known before the first, so is b * FP_INVERSE.
DEVICE_INLINE u32 poseidon2_warp_sbox(u32 x) {
  u32 zero = poseidon2_zero, inverse = x * FP_INVERSE;
  i32 y = poseidon2_fused((i32)x, (i32)x, zero), z = y, w = (i32)x;
  i64 t = mul_wide(y, (i32)x);
  i32 m = (i32)((u32)y * inverse + zero);
  if (POSEIDON2_DEGREE == 7) {
    w = poseidon2_fused(y, y, zero);
    z = (i32)(t >> 32) - mul_hi(m, (i32)FP_P);
    t = mul_wide(w, z);
    m = (i32)((u32)w * ((u32)z * FP_INVERSE) + zero);
  }
  return poseidon2_lift((u32)((i32)(t >> 32) - mul_hi(m, (i32)FP_P)));
}

// poseidon2_warp_external multiplies by circ(2 M4, M4, M4, M4). Row i of M4 is
// word i twice, the word after it three times, and the other two once.
DEVICE_INLINE u32 poseidon2_warp_external(u32 x) {
  u32 lane = threadIdx.x & 31, next = (lane & ~3u) | ((lane + 1) & 3u);
  u32 a = shfl_idx(x, next), b = shfl_xor(x, 2), c = shfl_idx(x, next ^ 2);
  u32 v = fp_add(fp_dbl(fp_add(x, a)), fp_add(a, fp_add(b, c)));
  a = shfl_xor(v, 4), b = shfl_xor(v, 8), c = shfl_xor(v, 12);
  return fp_add(fp_add(fp_dbl(v), a), fp_add(b, c));
}

// poseidon2_warp_partial is the partial rounds. What one of them waits for is
// word 0's S-box alone, which every lane computes. With y its result and `rest`
// the sum of the other words, round r takes word 0 to rest - y and word i to
// V_i x_i + rest + y, so that rest is a fixed linear function of the words that the
// rounds began with and of the y so far. Lane r keeps round r's rest but for the y
// that it has not seen; feedback weighs them. Two rounds ahead the lane tells the
// others, who then add 15 times the last y. All of that goes on beside the next
// S-box. The constant that the next round adds to word 0 is in lane r's sum as
// well, and taken from the other words at the end.
DEVICE_INLINE u32 poseidon2_warp_partial(u32 x) {
  u32 lane = threadIdx.x & 31, diagonal = ldg(poseidon2_warp_diagonal[0] + (lane & 15));
  const uint4 *weights = (const uint4 *)poseidon2_warp_weights[lane];
  u64 total[4];
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    uint4 w = ldg(weights + i);
    total[i] = mad_wide(shfl_idx(x, 4 * i), w.x, mul_wide(shfl_idx(x, 4 * i + 1), w.y));
    total[i] = fp_fold(mad_wide(shfl_idx(x, 4 * i + 2), w.z, mad_wide(shfl_idx(x, 4 * i + 3), w.w, total[i])));
  }
  u32 t = shfl_idx(x, 0) + POSEIDON2_WARP_FIRST, y = poseidon2_warp_sbox(t);
  u32 sum = fp_add(fp_reduce(fp_fold(fp_fold(total[0] + total[1]) + fp_fold(total[2] + total[3]))), ldg(poseidon2_warp_constants[0] + lane)), feedback = ldg(poseidon2_warp_feedback[0] + lane);
  u32 rest = shfl_idx(sum, 0), known = shfl_idx(sum, 1);
  t = rest - y;
#pragma unroll 1
  for (u32 r = 1; r < POSEIDON2_WARP_PARTIAL; r++) {
    x = fp_add(fp_mul(x, diagonal), fp_add(rest, y));
    rest = poseidon2_small(mad_wide(y, 15u, (u64)known));
    sum = fp_add(fp_mul(feedback, y), sum);
    feedback = shfl_up(feedback, 1);
    known = shfl_idx(sum, r + 1);
    y = poseidon2_warp_sbox(t);
    t = rest - y;
  }
  x = fp_add(fp_mul(x, diagonal), fp_add(rest, y));
  return (lane & 15) == 0 ? poseidon2_lift(t) : fp_sub(x, ldg(poseidon2_warp_extra[0] + (lane & 15)));
}

// poseidon2_warp_permute is the permutation. A kernel has its code once and in
// loops: a warp on its own fetches code about as slowly as it runs it.
static __device__ __noinline__ u32 poseidon2_warp_permute(u32 x) {
  const u32 *constants = poseidon2_warp_rounds[0] + (threadIdx.x & 15);
  u32 c = ldg(constants);
  x = poseidon2_warp_external(x);
#pragma unroll 1
  for (u32 half = 0;; half++) {
#pragma unroll 1
    for (u32 r = 0; r < 4; r++) {
      x = poseidon2_warp_external(poseidon2_warp_sbox(x + c));
      c = ldg(constants += 16);
    }
    if (half == 1) return x;
    x = poseidon2_warp_partial(x);
  }
}
