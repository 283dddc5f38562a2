// The compression function of BLAKE3, one thread a block: the twin of
// blake3.Sum's. Words are the little-endian words of the input.
#pragma once
#include "device/ptx.cuh"

#define BLAKE3_CHUNK_START 1u
#define BLAKE3_CHUNK_END 2u
#define BLAKE3_PARENT 4u
#define BLAKE3_ROOT 8u
#define BLAKE3_KEYED_HASH 16u

DEVICE_INLINE u32 blake3_rotate(u32 x, u32 n) { return funnel_right(x, x, n); }

DEVICE_INLINE void blake3_g(u32 &a, u32 &b, u32 &c, u32 &d, u32 x, u32 y) {
  a += b + x;
  d = blake3_rotate(d ^ a, 16);
  c += d;
  b = blake3_rotate(b ^ c, 12);
  a += b + y;
  d = blake3_rotate(d ^ a, 8);
  c += d;
  b = blake3_rotate(b ^ c, 7);
}

// blake3_rounds is the seven rounds over the 16 words of v with a block of 16 words,
// which are not kept.
DEVICE_INLINE void blake3_rounds(u32 *v, u32 *m) {
#pragma unroll
  for (int r = 0; r < 7; r++) {
#pragma unroll
    for (int i = 0; i < 4; i++) blake3_g(v[i], v[4 + i], v[8 + i], v[12 + i], m[2 * i], m[2 * i + 1]);
#pragma unroll
    for (int i = 0; i < 4; i++) blake3_g(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4], m[8 + 2 * i], m[9 + 2 * i]);
    const u32 w[16] = {m[2], m[6], m[3], m[10], m[7], m[0], m[4], m[13], m[1], m[11], m[12], m[5], m[9], m[14], m[15], m[8]};
#pragma unroll
    for (int i = 0; i < 16; i++) m[i] = w[i];
  }
}

// blake3_compress takes the chaining value to the next one by a block of 16 words, of
// which bytes count. m is not kept. Chunks have numbers below 2^32.
DEVICE_INLINE void blake3_compress(u32 *cv, u32 *m, u32 chunk, u32 bytes, u32 flags) {
  u32 v[16] = {cv[0], cv[1], cv[2], cv[3], cv[4], cv[5], cv[6], cv[7], 0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, chunk, 0, bytes, flags};
  blake3_rounds(v, m);
#pragma unroll
  for (int i = 0; i < 8; i++) cv[i] = v[i] ^ v[8 + i];
}

// blake3_output is the first 64 bytes of the output of a root, whose block has the
// number 0: cv becomes the first half, the hash, and more the second. m is not kept.
DEVICE_INLINE void blake3_output(u32 *cv, u32 *more, u32 *m, u32 bytes, u32 flags) {
  u32 v[16] = {cv[0], cv[1], cv[2], cv[3], cv[4], cv[5], cv[6], cv[7], 0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0, 0, bytes, flags | BLAKE3_ROOT};
  blake3_rounds(v, m);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    more[i] = v[8 + i] ^ cv[i];
    cv[i] = v[i] ^ v[8 + i];
  }
}
