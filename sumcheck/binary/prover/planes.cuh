// Sums of elements that masks select, as products of matrices of bits: a warp's steps for
// 256 elements.
#pragma once
#include "sumcheck/binary/prover/bits.cuh"

// UNIT is how many elements one matrix instruction takes.
#define UNIT 256u

// place is where a stage keeps element x of a unit: four lanes that read elements 32
// apart then read from different banks.
DEVICE_INLINE u32 place(u32 x) { return x ^ (x >> 5 & 7); }

// fetch starts to copy a unit's elements.
DEVICE_INLINE void fetch(uint4 *stage, const uint4 *__restrict__ from, u32 lane) {
#pragma unroll
  for (u32 c = 0; c < UNIT / 32; c++) copy_async(stage + place(32 * c + lane), from + 32 * c + lane);
}

// planes leaves, for lane 4g + t, bit i of word p as bit 16g + p of element 32(4h + t) + i.
template <u32 H> DEVICE_INLINE void planes(u32 (&z)[16], const u32 *stage, u32 lane) {
  const u32 t = lane & 3, g = lane >> 2, pick = g & 1 ? 0x7632 : 0x5410;
  const u32 *at = stage + 128 * (4 * H + t) + (g >> 1);
#pragma unroll
  for (u32 i = 0; i < 16; i++)
    z[i] = byte_permute(at[4 * (i ^ t ^ 4 * H)], at[4 * ((i + 16) ^ t ^ 4 * H)], pick);
  transpose16(z);
}

// count adds a group of eight masks to a word of parities, where `mask` is, for lane
// 4g + t, words t and 4 + t of mask g. Column 2t + c of row g (8h + g) counts for bit 16g + j
// (16g + 8 + j) of mask 2t + c, and goes to bit 16c + 8h + j of p. Counts are at most 2^8:
// those that are not masked out stay below the next bit that counts.
DEVICE_INLINE u32 count(u32 p, const u32 (&lower)[16], const u32 (&upper)[16], const u32 (&mask)[2]) {
#pragma unroll
  for (u32 j = 0; j < 8; j++) {
    const u32 a[4] = {lower[j], lower[8 + j], upper[j], upper[8 + j]};
    i32 d[4] = {0, 0, 0, 0};
    mma_b1(d, a, mask);
    p = lop3<0x78>(p, ((u32)d[0] << j) + ((u32)d[1] << (16 + j)), 0x00010001u << j);
    p = lop3<0x78>(p, ((u32)d[2] << (8 + j)) + ((u32)d[3] << (24 + j)), 0x01000100u << j);
  }
  return p;
}

// whole_limb makes limbs of the parities of a group: lanes 4g + t and 4(g + 1) + t have the
// halves of limb g / 2 of two masks' sums. The lane's is word sum_word of the group's.
DEVICE_INLINE u32 whole_limb(u32 p, u32 lane) {
  u32 other = shfl_xor(p, 4);
  return lane & 4 ? byte_permute(other, p, 0x7632) : byte_permute(p, other, 0x5410);
}

DEVICE_INLINE u32 sum_word(u32 lane) { return (2 * (lane & 3) + (lane >> 2 & 1)) * 4 + (lane >> 3); }
