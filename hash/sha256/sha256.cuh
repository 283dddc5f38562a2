// The compression function of SHA-256 (FIPS 180-4), one thread a block: the twin of
// sha256.Sum's. Words of blocks and of the state are big-endian numbers.
#pragma once
#include "device/ptx.cuh"

// sha256_constants are the fractions of the cube roots of the first 64 primes.
static __constant__ const u32 sha256_constants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

DEVICE_INLINE u32 sha256_rotate(u32 x, u32 n) { return funnel_right(x, x, n); }

// sha256_swap turns the bytes of a word around.
DEVICE_INLINE u32 sha256_swap(u32 x) { return byte_permute(x, 0, 0x0123); }

// sha256_start is the state before the first block: the fractions of the square roots
// of the first eight primes.
DEVICE_INLINE void sha256_start(u32 *s) {
  const u32 h[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
#pragma unroll
  for (int i = 0; i < 8; i++) s[i] = h[i];
}

// sha256_compress takes the state past a block of 16 words. w is not kept.
DEVICE_INLINE void sha256_compress(u32 *s, u32 *w) {
  u32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll 1
  for (int r = 0; r < 64; r += 16) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      if (r > 0) {
        u32 x = w[(i + 1) % 16], y = w[(i + 14) % 16];
        w[i] += (sha256_rotate(x, 7) ^ sha256_rotate(x, 18) ^ x >> 3) + w[(i + 9) % 16] + (sha256_rotate(y, 17) ^ sha256_rotate(y, 19) ^ y >> 10);
      }
      u32 t = h + (sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25)) + ((e & f) ^ (~e & g)) + sha256_constants[r + i] + w[i];
      u32 u = (sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t;
      d = c;
      c = b;
      b = a;
      a = t + u;
    }
  }
  s[0] += a;
  s[1] += b;
  s[2] += c;
  s[3] += d;
  s[4] += e;
  s[5] += f;
  s[6] += g;
  s[7] += h;
}
