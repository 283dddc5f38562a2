// Weights of restrictions and evaluations: a table that the caller has, or eq of
// a point, which is made where it is used. The first variable is the top bit of
// the index.
#pragma once
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"

// eq_factor is what coordinate z contributes to eq(z, x) for a bit of x.
DEVICE_INLINE qm31 eq_factor(qm31 z, u32 bit) { return bit ? z : qm31_sub(qm31_one(), z); }

// eq_prefix is v times eq of the n coordinates at z and the low n bits of x.
DEVICE_INLINE qm31 eq_prefix(qm31 v, const qm31 *z, u32 n, u64 x) {
  for (u32 i = 0; i < n; i++) v = qm31_mul(v, eq_factor(z[i], (u32)(x >> (n - 1 - i)) & 1));
  return v;
}

// eq_eight is eq(z, x + i) for i in 0..7, where x is a multiple of 8 and indices
// of more than n bits weigh nothing.
DEVICE_INLINE void eq_eight(qm31 (&w)[8], const qm31 *z, u32 n, u32 x) {
  u32 top = n > 3 ? n - 3 : 0;
  w[0] = eq_prefix(qm31_one(), z, top, x >> 3);
#pragma unroll
  for (u32 s = 0; s < 3; s++) {
    // The variables before the first one are all 0.
    qm31 r = n + s >= 3 ? z[n + s - 3] : qm31_zero();
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      if (k >= 1u << s) continue;
      u32 at = (1u << s) - 1 - k; // from the last down: entry k becomes 2k and 2k + 1
      qm31 hi = qm31_mul(w[at], r);
      w[2 * at] = qm31_sub(w[at], hi);
      w[2 * at + 1] = hi;
    }
  }
}

// weights_eight is eight of `count` weights, from a multiple of 8 on: those of
// the table, or eq's if there is none. Beyond count they are 0.
DEVICE_INLINE void weights_eight(qm31 (&w)[8], const qm31 *table, const qm31 *z, u32 n, u32 x, u32 count) {
  if (table == 0 && x < count) eq_eight(w, z, n, x);
#pragma unroll
  for (u32 i = 0; i < 8; i++) {
    if (x + i >= count)
      w[i] = qm31_zero();
    else if (table != 0)
      w[i] = table[x + i];
  }
}
