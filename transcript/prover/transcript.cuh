// The transcript as device functions, for kernels that absorb and draw
// challenges in passing: the twin of package transcript.
//
// All 32 lanes of one warp call every function together with the same
// arguments. Lane i holds word i mod 16 of the sponge; what functions return is
// the same in all lanes. Lists that the warp itself has just written need a
// __syncwarp first. Words are as the field keeps them in memory. For each field
// there is one such header, which FIELD_... stands for.
#pragma once
#include "FIELD_HEADER"
#include "PERMUTATION_HEADER"

#define TRANSCRIPT_RATE 8u
#define TRANSCRIPT_WORDS 18u

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

DEVICE_INLINE void transcript_permute(transcript &t) {
  t.word = poseidon2_warp_permute(t.word);
  t.at = 0;
}

DEVICE_INLINE void transcript_put(transcript &t, u32 w) {
  t.left = 0;
  if ((threadIdx.x & 15) == t.at) t.word = w;
  if (++t.at == TRANSCRIPT_RATE) transcript_permute(t);
}

// transcript_absorb_from absorbs a list of n words, w(j) the j-th, n below the
// modulus. A block's words are fetched before the permutation of the block before.
template <class Words> DEVICE_INLINE void transcript_absorb_from(transcript &t, u32 n, Words w) {
  u32 i = threadIdx.x & 15, k = i - t.at, end = t.at + n + 1; // of the sequence n, w(0), ...
  if (i < TRANSCRIPT_RATE && k <= n) t.word = k == 0 ? FIELD_WORD(n) : w(k - 1);
#pragma unroll 1
  while (end >= TRANSCRIPT_RATE) {
    k += TRANSCRIPT_RATE;
    end -= TRANSCRIPT_RATE;
    bool due = i < TRANSCRIPT_RATE && k <= n;
    u32 next = due ? w(k - 1) : 0;
    transcript_permute(t);
    if (due) t.word = next;
  }
  t.at = end;
  t.left = 0;
}

struct transcript_list {
  const u32 *words;
  __device__ __forceinline__ u32 operator()(u32 i) const { return words[i]; }
};

// transcript_absorb absorbs a list of n words.
DEVICE_INLINE void transcript_absorb(transcript &t, const u32 *list, u32 n) { transcript_absorb_from(t, n, transcript_list{list}); }

// The list that stands for n bytes: their number, then three of them a word. They
// lie four a word, the first one lowest.
struct transcript_bytes {
  const u32 *words;
  u32 n;
  __device__ __forceinline__ u32 operator()(u32 i) const {
    if (i == 0) return FIELD_WORD(n);
    u32 at = 3 * (i - 1), w = 0;
    for (u32 j = 0; j < 3; j++)
      if (at + j < n) w |= (words[(at + j) >> 2] >> (8 * ((at + j) & 3)) & 255u) << (8 * j);
    return FIELD_WORD(w);
  }
};

// transcript_absorb_bytes absorbs a string of n bytes.
DEVICE_INLINE void transcript_absorb_bytes(transcript &t, const u32 *words, u32 n) {
  transcript_absorb_from(t, 1 + (n + 2) / 3, transcript_bytes{words, n});
}

DEVICE_INLINE u32 transcript_squeeze(transcript &t) {
  if (t.left == 0) {
    transcript_permute(t);
    t.left = TRANSCRIPT_RATE;
  }
  return shfl_idx(t.word, TRANSCRIPT_RATE - t.left--);
}

// transcript_squeeze_to writes the next n words of output.
DEVICE_INLINE void transcript_squeeze_to(transcript &t, u32 *out, u32 n) {
  u32 lane = threadIdx.x & 31;
#pragma unroll 1
  for (u32 i = 0; i < n;) {
    if (t.left == 0) {
      transcript_permute(t);
      t.left = TRANSCRIPT_RATE;
    }
    u32 from = TRANSCRIPT_RATE - t.left, take = t.left < n - i ? t.left : n - i;
    if (lane >= from && lane < from + take) out[i + lane - from] = t.word;
    i += take;
    t.left -= take;
  }
}

// transcript_challenge_words is the next D words of output, from two blocks where
// the first has not enough left: a challenge, its lowest coefficient first.
template <u32 D> DEVICE_INLINE void transcript_challenge_words(transcript &t, u32 (&out)[D]) {
  u32 had = t.left;
#pragma unroll
  for (u32 k = 0; k < D; k++) out[k] = shfl_idx(t.word, TRANSCRIPT_RATE - had + k);
  if (had < D) {
    transcript_permute(t);
#pragma unroll
    for (u32 k = 0; k < D; k++) {
      u32 w = shfl_idx(t.word, k - had);
      if (k >= had) out[k] = w;
    }
  }
  t.left = (had + TRANSCRIPT_RATE - D) & (TRANSCRIPT_RATE - 1);
}

// transcript_index is uniform below 2^bits, for bits up to 30.
DEVICE_INLINE u32 transcript_index(transcript &t, u32 bits) {
  u32 limit = FIELD_P >> bits << bits, w;
  do w = FIELD_NUMBER(transcript_squeeze(t));
  while (w >= limit);
  return w & ((1u << bits) - 1);
}
