// The width-16 permutation by one warp, for sponges that go word by word: what
// counts is how long one permutation takes. Lane i holds word i mod 16.
#pragma once
#include "hash/poseidon2/m31.cuh"
#include "hash/poseidon2/m31_warp_tables.cuh"

// poseidon2_warp_fold takes s = q 2^31 + r to q + r, which is s less q P. It is a
// word in the class of s, for s below 2^62 + 2^32.
DEVICE_INLINE u32 poseidon2_warp_fold(u64 s) { return (u32)s + (u32)(s >> 31) * (0u - M31_P); }

// poseidon2_warp_sbox is the fifth power of t, a signed word of at least -P and
// at most P. A square folds to at most 2P, which less P is such a word again.
DEVICE_INLINE u32 poseidon2_warp_sbox(u32 t) {
  u32 x = t + M31_P; // canonical where t is negative, else above t
  x = t < x ? t : x;
  u64 p = (u64)mad_wide((i32)t, (i32)t, (i64)0);
  u32 x2 = (u32)(p >> 31) + ((u32)p & M31_P) - M31_P;
  return m31_mul(m31_once(poseidon2_warp_fold((u64)mad_wide((i32)x2, (i32)x2, (i64)0))), x);
}

// poseidon2_warp_external multiplies by circ(2 M4, M4, M4, M4). Row i of M4 is
// word i twice, the word after it three times, and the other two once.
DEVICE_INLINE u32 poseidon2_warp_external(u32 x) {
  u32 lane = threadIdx.x & 31, next = (lane & ~3u) | ((lane + 1) & 3u);
  u32 a = shfl_idx(x, next), b = shfl_xor(x, 2), c = shfl_idx(x, next ^ 2);
  u32 v = poseidon2_warp_fold(mad_wide(a, 3u, 2 * (u64)x) + b + c);
  a = shfl_xor(v, 4), b = shfl_xor(v, 8), c = shfl_xor(v, 12);
  return m31_once(poseidon2_warp_fold(2 * (u64)v + a + b + c));
}

// poseidon2_warp_partial is the partial rounds. What one of them waits for is
// word 0's S-box alone, which every lane computes. With y its result and `rest`
// the sum of the other words, round r takes word 0 to rest - y and word i to
// 2^(e_i) x_i + rest + y, so that rest is a fixed linear function of the words
// that the rounds began with and of the y so far. Lane r keeps round r's rest
// but for the y that it has not seen; feedback weighs them. Two rounds ahead the
// lane tells the others, who then add 15 times the last y. All of that goes on
// beside the next S-box. The constant that the
// next round adds to word 0 is in lane r's sum as well, and taken from the other
// words at the end.
DEVICE_INLINE u32 poseidon2_warp_partial(u32 x) {
  u32 lane = threadIdx.x & 15, power = lane == 0 ? 0 : 1u << poseidon2_shift<16>((int)lane);
  const uint4 *weights = (const uint4 *)poseidon2_warp_weights[lane];
  u64 total = ldg(poseidon2_warp_partials[0] + lane);
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    uint4 w = ldg(weights + i);
    total = mad_wide(shfl_idx(x, 4 * i), w.x, m31_partial(total));
    total = mad_wide(shfl_idx(x, 4 * i + 1), w.y, total);
    total = mad_wide(shfl_idx(x, 4 * i + 2), w.z, total);
    total = mad_wide(shfl_idx(x, 4 * i + 3), w.w, total);
  }
  u32 t = shfl_idx(x, 0) + poseidon2_partial16[0] - M31_P, y = poseidon2_warp_sbox(t);
  u32 sum = poseidon2_warp_fold(m31_partial(total)), feedback = ldg(poseidon2_warp_partials[1] + lane);
  u32 rest = m31_once(shfl_idx(sum, 0)), known = shfl_idx(sum, 1);
  t = rest - y;
#pragma unroll 1
  for (u32 r = 1; r < 14; r++) {
    x = poseidon2_warp_fold(mad_wide(x, power, rest + y));
    rest = m31_once(poseidon2_warp_fold(mad_wide(y, 15u, known)));
    sum = poseidon2_warp_fold(mad_wide(feedback, y, sum));
    feedback = shfl_up(feedback, 1);
    known = shfl_idx(sum, r + 1);
    y = poseidon2_warp_sbox(t);
    t = rest - y;
  }
  x = poseidon2_warp_fold(mad_wide(x, power, rest + y));
  u32 word = t + M31_P; // canonical where t is negative, else above t
  x = m31_once(poseidon2_warp_fold((u64)x + ldg(poseidon2_warp_partials[2] + lane)));
  return lane != 0 ? x : t < word ? t : word;
}

// poseidon2_warp_permute is the width-16 permutation, one word a lane, lanes 16
// to 31 mirroring 0 to 15. A kernel has its code once and in loops: a warp on its
// own fetches code about as slowly as it runs it.
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
