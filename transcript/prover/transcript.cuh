// The transcript as device functions, for kernels that absorb and draw
// challenges in passing: the twin of package transcript.
//
// All 32 lanes of one warp call every function together with the same
// arguments. Lane i holds word i mod 16 of the sponge; what functions return is
// the same in all lanes. Lists that the warp itself has just written need a
// __syncwarp first.
#pragma once
#include "hash/poseidon2/m31.cuh"

#define TRANSCRIPT_RATE 8u

struct transcript {
  u32 word; // of this lane
  u32 at;   // rate word that is absorbed to next
  u32 left; // output words not yet handed out
};

DEVICE_INLINE transcript transcript_load(const u32 *state) {
  transcript t;
  t.word = state[threadIdx.x & 15];
  t.at = state[16];
  t.left = state[17];
  return t;
}

DEVICE_INLINE void transcript_store(u32 *state, const transcript &t) {
  u32 lane = threadIdx.x & 31;
  __syncwarp();
  if (lane < 16) state[lane] = t.word;
  if (lane == 16) state[16] = t.at;
  if (lane == 17) state[17] = t.left;
  __syncwarp();
}

// poseidon2_warp_sbox is the fifth power of t, a signed word of at least -P and
// at most P. A square's remainder and quotient by 2^31 add up to at most 2P, so
// that less P it is such a word again.
DEVICE_INLINE u32 poseidon2_warp_sbox(u32 t) {
  u32 x = t + M31_P; // canonical where t is negative, else above t
  x = t < x ? t : x;
  u64 p = (u64)mad_wide((i32)t, (i32)t, (i64)0);
  u32 x2 = (u32)(p >> 31) + ((u32)p & M31_P) - M31_P;
  p = (u64)mad_wide((i32)x2, (i32)x2, (i64)0);
  return m31_mul(m31_once((u32)(p >> 31) + ((u32)p & M31_P)), x);
}

// poseidon2_warp_external multiplies by circ(2 M4, M4, M4, M4). Row i of M4 is
// word i twice, the word after it three times, and the other two once. All
// words are fetched at once, and the sum of 35 is reduced at the end.
DEVICE_INLINE u32 poseidon2_warp_external(u32 x) {
  u32 lane = threadIdx.x & 31, next = (lane & ~3u) | ((lane + 1) & 3u);
  u64 sum = 4 * (u64)x, twice = 0, thrice = 6 * (u64)shfl_idx(x, next);
  sum = mad_wide(shfl_xor(x, 2), 2u, sum);
  sum = mad_wide(shfl_idx(x, next ^ 2), 2u, sum);
#pragma unroll
  for (u32 g = 4; g < 16; g += 4) {
    twice += shfl_xor(x, g);
    thrice = mad_wide(shfl_idx(x, next ^ g), 3u, thrice);
    sum += shfl_xor(x, g ^ 2);
    sum += shfl_idx(x, next ^ g ^ 2);
  }
  sum += thrice + 2 * twice;
  return m31_once(((u32)sum & M31_P) + (u32)(sum >> 31));
}

// poseidon2_warp_wide_sum is the sum of the words that lanes pass, before
// reduction; mask is 0xffff where the lane's word counts and else 0.
DEVICE_INLINE u64 poseidon2_warp_wide_sum(u32 x, u32 mask) {
  u32 lo = warp_sum(x & mask), hi = warp_sum(x >> 16 & mask);
  return ((u64)hi << 16) + lo;
}

// poseidon2_warp_partial is the partial rounds. What one of them waits for is
// word 0's S-box alone: every lane computes it, and the sum of the other words,
// `rest`, is known two rounds ahead but for the S-boxes between. With s = rest + y
// the round takes x_i to 2^(e_i) x_i + s, so that the sum after it is that of the
// 2^(e_i) x_i, plus 15 s, and two rounds on it is that of the 2^(2 e_i) x_i plus
// (sum of 2^(e_i)) s + 15 s'.
DEVICE_INLINE u32 poseidon2_warp_partial(u32 x) {
  u32 i = threadIdx.x & 15;
  u32 mask = (threadIdx.x & 31) - 1 < 15 ? 0xffffu : 0; // words 1..15, once
  u32 shift = i == 0 ? 0 : poseidon2_shift<16>((int)i), twice = 2 * shift > 30 ? 2 * shift - 31 : 2 * shift;
  u32 weights = 0; // 2^(e_i), summed
#pragma unroll
  for (int k = 1; k < 16; k++) weights += 1u << poseidon2_shift<16>(k);
  u32 t = shfl_idx(x, 0) + poseidon2_partial16[0] - M31_P;
  u32 rest = m31_reduce(poseidon2_warp_wide_sum(x, mask)), word = 0;
  u64 next = poseidon2_warp_wide_sum(m31_rotate(x, shift), mask);
#pragma unroll 2
  for (u32 r = 0; r < 14; r++) {
    u32 y = poseidon2_warp_sbox(t), s = rest + y;
    u64 later = poseidon2_warp_wide_sum(m31_rotate(x, twice), mask);
    word = m31_sub(rest, y);
    t = m31_add(rest, r < 13 ? poseidon2_partial16[r + 1] : 0) - y;
    rest = m31_reduce(mad_wide(s, 15u, next));
    next = mad_wide(s, weights, later);
    x = m31_add(m31_rotate(x, shift), m31_once(s));
  }
  return i == 0 ? word : x;
}

// poseidon2_warp_permute is the width-16 permutation, one word a lane, lanes 16
// to 31 mirroring 0 to 15.
DEVICE_INLINE u32 poseidon2_warp_permute(u32 x) {
  u32 i = threadIdx.x & 15, c = poseidon2_first16[0][i];
#pragma unroll 1
  for (u32 r = 0;; r++) {
    x = poseidon2_warp_external(x);
    if (r == 8) return x;
    if (r == 4) x = poseidon2_warp_partial(x);
    x = poseidon2_warp_sbox(x + c - M31_P);
    c = r < 3 ? poseidon2_first16[(r + 1) & 3][i] : poseidon2_last16[(r + 1) & 3][i];
  }
}

DEVICE_INLINE void transcript_permute(transcript &t) {
  t.word = poseidon2_warp_permute(t.word);
  t.at = 0;
}

DEVICE_INLINE void transcript_put(transcript &t, u32 w) {
  t.left = 0;
  if ((threadIdx.x & 15) == t.at) t.word = w;
  if (++t.at == TRANSCRIPT_RATE) transcript_permute(t);
}

// transcript_absorb absorbs a list of n words, n below M31_P. A block's words
// are fetched before the permutation of the block before.
DEVICE_INLINE void transcript_absorb(transcript &t, const u32 *list, u32 n) {
  u32 i = threadIdx.x & 15, k = i - t.at, end = t.at + n + 1; // of the sequence n, list[0], ...
  if (i < TRANSCRIPT_RATE && k <= n) t.word = k == 0 ? n : list[k - 1];
#pragma unroll 1
  while (end >= TRANSCRIPT_RATE) {
    k += TRANSCRIPT_RATE;
    end -= TRANSCRIPT_RATE;
    bool due = i < TRANSCRIPT_RATE && k <= n;
    u32 w = due ? list[k - 1] : 0;
    transcript_permute(t);
    if (due) t.word = w;
  }
  t.at = end;
  t.left = 0;
}

DEVICE_INLINE u32 transcript_squeeze(transcript &t) {
  if (t.left == 0) {
    transcript_permute(t);
    t.left = TRANSCRIPT_RATE;
  }
  return shfl_idx(t.word, TRANSCRIPT_RATE - t.left--);
}

// transcript_challenge is the next four words of output, from two blocks where
// the first has not enough left.
DEVICE_INLINE qm31 transcript_challenge(transcript &t) {
  u32 had = t.left;
  qm31 c;
#pragma unroll
  for (u32 k = 0; k < 4; k++) c.x[k] = shfl_idx(t.word, TRANSCRIPT_RATE - had + k);
  if (had < 4) {
    transcript_permute(t);
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      u32 w = shfl_idx(t.word, k - had);
      if (k >= had) c.x[k] = w;
    }
  }
  t.left = (had + 4) & (TRANSCRIPT_RATE - 1);
  return c;
}

// transcript_index is uniform below 2^bits, for bits up to 30.
DEVICE_INLINE u32 transcript_index(transcript &t, u32 bits) {
  u32 limit = M31_P >> bits << bits, w;
  do w = transcript_squeeze(t);
  while (w >= limit);
  return w & ((1u << bits) - 1);
}
