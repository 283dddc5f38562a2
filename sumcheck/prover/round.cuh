// What the kernels of sum-checks do between two rounds: the round's message is
// completed, absorbed, and the claim and eq taken past the challenge.
#pragma once
#include "field/m31/m31.cuh"
#include "transcript/prover/transcript.m31.cuh"

DEVICE_INLINE bool qm31_is_zero(qm31 v) { return (v.x[0] | v.x[1] | v.x[2] | v.x[3]) == 0; }

DEVICE_INLINE qm31 transcript_challenge(transcript &t) {
  qm31 c;
  transcript_challenge_words(t, c.x);
  return c;
}

// draw: the first warp absorbs a list and then draws a challenge.
DEVICE_INLINE void draw(u32 *sponge, const qm31 *list, u32 n, qm31 *challenge) {
  transcript t = transcript_load(sponge);
  transcript_absorb(t, (const u32 *)list, 4 * n);
  qm31 c = transcript_challenge(t);
  transcript_store(sponge, t);
  if (threadIdx.x == 0) challenge[0] = c;
}

// interpolate is p(r) for the polynomial of that degree with p(i) = at[i].
DEVICE_INLINE qm31 interpolate(const qm31 *at, u32 degree, qm31 r) {
  const u32 inverse[4] = {0, 1, 1u << 30, 1431655765u};
  qm31 d[4];
  for (u32 i = 0; i < 4; i++)
    if (i <= degree) d[i] = at[i];
  // Newton's forward differences.
  qm31 sum = d[0], binomial = qm31_one();
  for (u32 k = 1; k < 4; k++)
    if (k <= degree) {
      for (u32 i = 0; i < 3; i++)
        if (i + k <= degree) d[i] = qm31_sub(d[i + 1], d[i]);
      binomial = qm31_mul_base(qm31_mul(binomial, qm31_sub_base(r, k - 1)), inverse[k]);
      sum = qm31_add(sum, qm31_mul(d[0], binomial));
    }
  return sum;
}

// eq1 is eq(z, r) in one variable: 1 - z - r + 2 z r.
DEVICE_INLINE qm31 eq1(qm31 z, qm31 r) {
  qm31 zr = qm31_mul(z, r);
  return qm31_add(qm31_sub(qm31_sub(qm31_one(), z), r), qm31_add(zr, zr));
}

// complete fills in an inner polynomial's values at 0 and 1 from `first`, which
// is the one at 1 if at_one and else that at 0, and from the claim: without an
// eq (z null) their sum, else (1 - z) p(0) + z p(1). z is 0 if and only if at_one.
DEVICE_INLINE void complete(qm31 *inner, qm31 claim, const qm31 *z, qm31 first, bool at_one) {
  if (!z) {
    inner[0] = first;
    inner[1] = qm31_sub(claim, first);
  } else if (at_one) {
    inner[1] = first;
    inner[0] = claim;
  } else {
    inner[0] = first;
    inner[1] = qm31_mul(qm31_sub(claim, qm31_mul(qm31_sub(qm31_one(), *z), first)), qm31_inv(*z));
  }
}
