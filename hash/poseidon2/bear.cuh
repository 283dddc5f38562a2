// Poseidon2 over VARIANT, one thread a state: the twin of Permute16 and Permute24.
// States are arrays of words in registers, in Montgomery form and canonical.
#pragma once
#include "FIELD_HEADER"
#include "CONSTANTS_HEADER"

DEVICE_INLINE u32 poseidon2_sbox(u32 x) {
  u32 x2 = fp_sqr(x), x3 = fp_mul(x2, x);
  return POSEIDON2_DEGREE == 3 ? x3 : fp_mul(x3, fp_sqr(x2));
}

// poseidon2_external multiplies by circ(2 M4, M4, ..., M4), where row i of M4 is
// the sum of all four words, plus word i, plus twice the word after it.
template <int T> DEVICE_INLINE void poseidon2_external(u32 *s) {
#pragma unroll
  for (int i = 0; i < T; i += 4) {
    u32 a = s[i], b = s[i + 1], c = s[i + 2], d = s[i + 3];
    u32 ab = fp_add(a, b), cd = fp_add(c, d), all = fp_add(ab, cd), allb = fp_add(all, b), alld = fp_add(all, d);
    s[i] = fp_add(allb, ab);
    s[i + 1] = fp_add(allb, fp_dbl(c));
    s[i + 2] = fp_add(alld, cd);
    s[i + 3] = fp_add(alld, fp_dbl(a));
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    u32 column = s[i];
#pragma unroll
    for (int b = 4; b < T; b += 4) column = fp_add(column, s[b + i]);
#pragma unroll
    for (int b = 0; b < T; b += 4) s[b + i] = fp_add(s[b + i], column);
  }
}

template <int T> DEVICE_INLINE void poseidon2_half(u32 *s, const u32 (*rc)[T]) {
#pragma unroll 1
  for (int r = 0; r < 4; r++) {
#pragma unroll
    for (int i = 0; i < T; i++) s[i] = poseidon2_sbox(fp_add(s[i], rc[r][i]));
    poseidon2_external<T>(s);
  }
}

template <int T>
DEVICE_INLINE void poseidon2_permute(u32 *s, const u32 (*first)[T], const u32 *partial, int rounds, const u32 *diagonal, const u32 (*last)[T]) {
  poseidon2_external<T>(s);
  poseidon2_half<T>(s, first);
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    s[0] = poseidon2_sbox(fp_add(s[0], partial[r]));
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < T; i++) sum += s[i];
    u32 all = fp_mul(fp_reduce(sum), FP_SQUARE);
#pragma unroll
    for (int i = 0; i < T; i++) s[i] = fp_add(fp_mul(s[i], diagonal[i]), all);
  }
  poseidon2_half<T>(s, last);
}

DEVICE_INLINE void poseidon2_permute16(u32 *s) {
  poseidon2_permute<16>(s, poseidon2_first16, poseidon2_partial16, POSEIDON2_PARTIAL16, poseidon2_diagonal16, poseidon2_last16);
}

DEVICE_INLINE void poseidon2_permute24(u32 *s) {
  poseidon2_permute<24>(s, poseidon2_first24, poseidon2_partial24, POSEIDON2_PARTIAL24, poseidon2_diagonal24, poseidon2_last24);
}
