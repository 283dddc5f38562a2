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

// poseidon2_warp_external multiplies by circ(2 M4, M4, M4, M4); row i of M4 is
// the sum of all four words, plus word i, plus twice the word after it.
DEVICE_INLINE u32 poseidon2_warp_external(u32 x) {
  u32 lane = threadIdx.x & 31;
  u32 next = shfl_idx(x, (lane & ~3u) | ((lane + 1) & 3u));
  u32 sum = m31_add(x, shfl_xor(x, 1));
  sum = m31_add(sum, shfl_xor(sum, 2));
  u32 v = m31_add(m31_add(sum, x), m31_dbl(next));
  u32 c = m31_add(v, shfl_xor(v, 4));
  c = m31_add(c, shfl_xor(c, 8));
  return m31_add(v, c);
}

// poseidon2_warp_permute is the width-16 permutation, one word a lane, lanes 16
// to 31 mirroring 0 to 15.
DEVICE_INLINE u32 poseidon2_warp_permute(u32 x) {
  u32 i = threadIdx.x & 15;
  bool counted = (threadIdx.x & 31) - 1 < 15; // words 1..15, once
  u32 shift = i == 0 ? 0 : poseidon2_shift<16>((int)i);
  x = poseidon2_warp_external(x);
#pragma unroll 1
  for (u32 r = 0; r < 4; r++) x = poseidon2_warp_external(poseidon2_sbox(m31_add(x, poseidon2_first16[r][i])));
#pragma unroll 1
  for (u32 r = 0; r < 14; r++) {
    u32 y = poseidon2_sbox(m31_add(x, poseidon2_partial16[r]));
    // The sum of words 1..15 in halves that do not overflow.
    u32 lo = warp_sum(counted ? x & 0xffffu : 0), hi = warp_sum(counted ? x >> 16 : 0);
    u32 rest = m31_reduce(((u64)hi << 16) + lo);
    y = shfl_idx(y, 0);
    x = i == 0 ? m31_sub(rest, y) : m31_add(m31_rotate(x, shift), m31_add(rest, y));
  }
#pragma unroll 1
  for (u32 r = 0; r < 4; r++) x = poseidon2_warp_external(poseidon2_sbox(m31_add(x, poseidon2_last16[r][i])));
  return x;
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

// transcript_put_list puts n words without their number.
DEVICE_INLINE void transcript_put_list(transcript &t, const u32 *list, u32 n) {
  u32 i = threadIdx.x & 15;
  if (n > 0) t.left = 0;
  for (u32 done = 0; done < n;) {
    u32 take = n - done, room = TRANSCRIPT_RATE - t.at;
    if (take > room) take = room;
    if (i >= t.at && i < t.at + take) t.word = list[done + i - t.at];
    done += take;
    t.at += take;
    if (t.at == TRANSCRIPT_RATE) transcript_permute(t);
  }
}

// transcript_absorb absorbs a list of n words, n below M31_P.
DEVICE_INLINE void transcript_absorb(transcript &t, const u32 *list, u32 n) {
  transcript_put(t, n);
  transcript_put_list(t, list, n);
}

DEVICE_INLINE u32 transcript_squeeze(transcript &t) {
  if (t.left == 0) {
    transcript_permute(t);
    t.left = TRANSCRIPT_RATE;
  }
  return shfl_idx(t.word, TRANSCRIPT_RATE - t.left--);
}

DEVICE_INLINE qm31 transcript_challenge(transcript &t) {
  qm31 c;
#pragma unroll 1
  for (u32 k = 0; k < 4; k++) {
    u32 w = transcript_squeeze(t);
    if (k == 0) c.x[0] = w;
    if (k == 1) c.x[1] = w;
    if (k == 2) c.x[2] = w;
    if (k == 3) c.x[3] = w;
  }
  return c;
}

// transcript_index is uniform below 2^bits, for bits up to 30.
DEVICE_INLINE u32 transcript_index(transcript &t, u32 bits) {
  u32 limit = M31_P >> bits << bits, w;
  do w = transcript_squeeze(t);
  while (w >= limit);
  return w & ((1u << bits) - 1);
}
