// Where things lie, for the kernels of package zkml/prover.
#pragma once
#include "device/ptx.cuh"

// No place at all.
#define NOWHERE 0xffffffffffffffffull

// place is a pointer to words of the key's memory (top bit set) or of a proof's.
DEVICE_INLINE const u32 *place(const u32 *fixed, const u32 *live, u64 at) {
  return at >> 63 ? fixed + (at & 0x7fffffffffffffffull) : live + at;
}

// The padded index of element e of a tensor whose axes, last first, are given
// as pairs (variables, extent).
DEVICE_INLINE u32 padded_index(u32 e, const u64 *__restrict__ axes, u32 naxes) {
  u32 index = 0, at = 0;
  for (u32 a = 0; a < naxes; a++) {
    u32 extent = (u32)axes[2 * a + 1];
    index |= e % extent << at;
    e /= extent;
    at += (u32)axes[2 * a];
  }
  return index;
}

// Whether index i of the padded layout is a real element.
DEVICE_INLINE bool real_element(u32 i, const u64 *__restrict__ axes, u32 naxes) {
  for (u32 a = 0; a < naxes; a++) {
    if ((i & ((1u << axes[2 * a]) - 1)) >= (u32)axes[2 * a + 1]) return false;
    i >>= axes[2 * a];
  }
  return true;
}
