// The transcript over GF(2^128) as device functions, for kernels that absorb and draw
// challenges in passing: the twin of package tower.
//
// A thread calls these for itself and holds the whole state. Where a warp needs what
// comes out, all its lanes go through the same calls: that takes no longer than one of
// them, and nothing needs to be handed around. (Four lanes with a column each would
// issue a quarter of the instructions, but what a step takes is the latency of its 14
// additions in a row, to which they add 14 shuffles.) One thread stores the state.
#pragma once
#include "hash/blake3/blake3.cuh"

// Words of tower.State.
#define TOWER_WORDS 20u
// The longest list of tower_absorb_list: a chunk of BLAKE3.
#define TOWER_CHUNK 256u
// The challenges of a step.
#define TOWER_PER_STEP 2u

struct tower {
  u32 key[8];
  u32 out[8]; // the last step's challenges
  u32 left;   // of them not handed out
};

DEVICE_INLINE tower tower_load(const u32 *state) {
  tower t;
#pragma unroll
  for (u32 i = 0; i < 8; i++) t.key[i] = state[i];
#pragma unroll
  for (u32 i = 0; i < 8; i++) t.out[i] = state[8 + i];
  t.left = state[16];
  return t;
}

DEVICE_INLINE void tower_store(u32 *state, const tower &t) {
#pragma unroll
  for (u32 i = 0; i < 8; i++) state[i] = t.key[i];
#pragma unroll
  for (u32 i = 0; i < 8; i++) state[8 + i] = t.out[i];
  state[16] = t.left;
#pragma unroll
  for (u32 i = 17; i < TOWER_WORDS; i++) state[i] = 0;
}

// tower_block is the step of an input of one block, of which bytes count; the words of m
// above them are 0.
DEVICE_INLINE void tower_block(tower &t, const u32 (&m)[16], u32 bytes) {
  u32 block[16];
#pragma unroll
  for (int i = 0; i < 16; i++) block[i] = m[i];
  blake3_output(t.key, t.out, block, bytes, BLAKE3_CHUNK_START | BLAKE3_CHUNK_END | BLAKE3_KEYED_HASH);
  t.left = TOWER_PER_STEP;
}

// tower_absorb absorbs a list of 1 to 16 words. Those of m above them are 0.
DEVICE_INLINE void tower_absorb(tower &t, const u32 (&m)[16], u32 words) { tower_block(t, m, 4 * words); }

// tower_absorb_list absorbs a list of 0 to TOWER_CHUNK words.
DEVICE_INLINE void tower_absorb_list(tower &t, const u32 *list, u32 words) {
  u32 flags = BLAKE3_KEYED_HASH | BLAKE3_CHUNK_START;
#pragma unroll 1
  for (;;) {
    u32 m[16], n = words < 16 ? words : 16;
    bool last = words <= 16;
#pragma unroll
    for (u32 i = 0; i < 16; i++) m[i] = i < n ? list[i] : 0;
    // Only the last block is a root; its chaining value is the next key.
    u32 v[16] = {t.key[0], t.key[1], t.key[2], t.key[3], t.key[4], t.key[5], t.key[6], t.key[7], 0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                 0, 0, n == 0 ? 1 : 4 * n, flags | (last ? BLAKE3_CHUNK_END | BLAKE3_ROOT : 0)};
    blake3_rounds(v, m);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      t.out[i] = v[8 + i] ^ t.key[i];
      t.key[i] = v[i] ^ v[8 + i];
    }
    if (last) break;
    list += 16;
    words -= 16;
    flags = BLAKE3_KEYED_HASH;
  }
  t.left = TOWER_PER_STEP;
}

// tower_challenge draws a challenge, its lowest word first.
DEVICE_INLINE void tower_challenge(tower &t, u32 (&c)[4]) {
  if (t.left == 0) {
    const u32 empty[16] = {};
    tower_block(t, empty, 0);
  }
#pragma unroll
  for (u32 i = 0; i < 4; i++) c[i] = t.left == TOWER_PER_STEP ? t.out[i] : t.out[4 + i];
  t.left--;
}
