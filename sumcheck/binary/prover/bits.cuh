// Turning bits around in registers: blocks of bits are transposed by exchanging, for
// each power of two s, the columns with bit s of the rows without it and the columns
// without it of the rows with it.
#pragma once
#include "device/ptx.cuh"

// select is x where m has ones and y elsewhere.
DEVICE_INLINE u32 select(u32 x, u32 y, u32 m) { return lop3<0xe4>(x, y, m); }

// exchange does one step for a pair of rows, s of 1, 2 and 4.
template <u32 S> DEVICE_INLINE void exchange(u32 &a, u32 &b) {
  const u32 m = S == 4 ? 0x0f0f0f0fu : S == 2 ? 0x33333333u : 0x55555555u;
  u32 x = select(a, b << S, m);
  b = select(a >> S, b, m);
  a = x;
}

// transpose16 transposes the lower and the upper 16x16 bits of 16 words: bit i of half
// h of word p becomes what was bit p of half h of word i.
DEVICE_INLINE void transpose16(u32 (&z)[16]) {
#pragma unroll
  for (int i = 0; i < 8; i++) {
    u32 a = z[i], b = z[i + 8];
    z[i] = byte_permute(a, b, 0x6240);
    z[i + 8] = byte_permute(a, b, 0x7351);
  }
#pragma unroll
  for (int i = 0; i < 16; i++)
    if (!(i & 4)) exchange<4>(z[i], z[i + 4]);
#pragma unroll
  for (int i = 0; i < 16; i++)
    if (!(i & 2)) exchange<2>(z[i], z[i + 2]);
#pragma unroll
  for (int i = 0; i < 16; i++)
    if (!(i & 1)) exchange<1>(z[i], z[i + 1]);
}

// transpose8 transposes the four 8x8 bits of 8 words.
DEVICE_INLINE void transpose8(u32 (&z)[8]) {
#pragma unroll
  for (int i = 0; i < 4; i++) exchange<4>(z[i], z[i + 4]);
#pragma unroll
  for (int i = 0; i < 8; i++)
    if (!(i & 2)) exchange<2>(z[i], z[i + 2]);
#pragma unroll
  for (int i = 0; i < 8; i += 2) exchange<1>(z[i], z[i + 1]);
}
