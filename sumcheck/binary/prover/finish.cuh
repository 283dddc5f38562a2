// What the ends of windows share: from sums to coefficients, and the layout of the fold's
// matrices.
#pragma once
#include "sumcheck/binary/prover/polyval.cuh"

#define FINISH_THREADS 512u

// place_in_tiles is where the column of an output bit begins in the matrices (fold.cu).
DEVICE_INLINE u32 place_in_tiles(u32 bit) { return (bit & 15) * 32 + 4 * (2 * (bit >> 5) + (bit >> 4 & 1)); }

// fragment_place is where word w of the column of an output bit is, of the matrix of
// prefix u.
DEVICE_INLINE u32 fragment_place(u32 u, u32 bit, u32 w) { return ((u >> 1) * 512 + place_in_tiles(bit) + w) * 2 + (u & 1); }

// expand makes one variable of a tensor of sums a variable of the product: its 2D entries
// u D + e, for the value u of p_1's bit and the exponent e of the other factors', become
// the D + 1 coefficients. The sum with u stands for (1 + c) c^e if u = 0, else for c c^e.
DEVICE_INLINE void expand(uint4 *to, const uint4 *from, u32 D, u32 outer, u32 inner) {
  const u32 count = outer * (D + 1) * inner;
  for (u32 i = threadIdx.x; i < count; i += FINISH_THREADS) {
    const u32 in = i % inner, m = i / inner % (D + 1), out = i / inner / (D + 1);
    const uint4 *at = from + out * 2 * D * inner + in;
    uint4 s = pv_zero();
    if (m < D) s = at[m * inner];
    if (m > 0) s = pv_add(s, pv_add(at[(m - 1) * inner], at[(D + m - 1) * inner]));
    to[i] = s;
  }
}

// inside says whether all of the n digits of i are at least 1: sums over {0,1} of those
// monomials are 1, of all others 0.
DEVICE_INLINE bool inside(u32 i, u32 D, u32 n) {
  bool yes = true;
#pragma unroll 1
  for (u32 v = 0; v < n; v++) {
    yes = yes && i % (D + 1) != 0;
    i /= D + 1;
  }
  return yes;
}
