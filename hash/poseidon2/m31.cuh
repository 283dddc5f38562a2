// Poseidon2 over Mersenne-31, one thread a state: the twin of Permute16 and
// Permute24. States are arrays of canonical words in registers.
#pragma once
#include "field/m31/m31.cuh"
#include "hash/poseidon2/m31_constants.cuh"

DEVICE_INLINE u32 poseidon2_sbox(u32 x) {
  u32 x2 = m31_sqr(x);
  return m31_mul(m31_sqr(x2), x);
}

// poseidon2_m4 multiplies four words by circ(2, 3, 1, 1).
DEVICE_INLINE void poseidon2_m4(u32 *s) {
  u32 ab = m31_add(s[0], s[1]), cd = m31_add(s[2], s[3]), all = m31_add(ab, cd);
  u32 allb = m31_add(all, s[1]), alld = m31_add(all, s[3]);
  u32 a2 = m31_dbl(s[0]), c2 = m31_dbl(s[2]);
  s[0] = m31_add(allb, ab);
  s[1] = m31_add(allb, c2);
  s[2] = m31_add(alld, cd);
  s[3] = m31_add(alld, a2);
}

// poseidon2_external multiplies by circ(2 M4, M4, ..., M4).
template <int T> DEVICE_INLINE void poseidon2_external(u32 *s) {
#pragma unroll
  for (int b = 0; b < T; b += 4) poseidon2_m4(s + b);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    u32 c = s[i];
#pragma unroll
    for (int b = 4; b < T; b += 4) c = m31_add(c, s[b + i]);
#pragma unroll
    for (int b = 0; b < T; b += 4) s[b + i] = m31_add(s[b + i], c);
  }
}

template <int T> DEVICE_INLINE void poseidon2_full(u32 *s, const u32 *rc) {
#pragma unroll
  for (int i = 0; i < T; i++) s[i] = poseidon2_sbox(m31_add(s[i], rc[i]));
  poseidon2_external<T>(s);
}

// poseidon2_shift is the exponent of the internal diagonal at word i >= 1.
template <int T> DEVICE_INLINE constexpr u32 poseidon2_shift(int i) {
  return T == 24 || i < 10 ? i - 1 : i == 10 ? 10 : i + 1;
}

template <int T> DEVICE_INLINE void poseidon2_partial(u32 *s, u32 rc) {
  u32 x = poseidon2_sbox(m31_add(s[0], rc));
  u64 sum = 0;
#pragma unroll
  for (int i = 1; i < T; i++) sum += s[i];
  u32 rest = m31_reduce(sum), all = m31_add(rest, x);
  s[0] = m31_sub(rest, x);
#pragma unroll
  for (int i = 1; i < T; i++) s[i] = m31_add(m31_rotate(s[i], poseidon2_shift<T>(i)), all);
}

DEVICE_INLINE void poseidon2_permute16(u32 *s) {
  poseidon2_external<16>(s);
#pragma unroll 1
  for (int r = 0; r < 4; r++) poseidon2_full<16>(s, poseidon2_first16[r]);
#pragma unroll 1
  for (int r = 0; r < 14; r++) poseidon2_partial<16>(s, poseidon2_partial16[r]);
#pragma unroll 1
  for (int r = 0; r < 4; r++) poseidon2_full<16>(s, poseidon2_last16[r]);
}

DEVICE_INLINE void poseidon2_permute24(u32 *s) {
  poseidon2_external<24>(s);
#pragma unroll 1
  for (int r = 0; r < 4; r++) poseidon2_full<24>(s, poseidon2_first24[r]);
#pragma unroll 1
  for (int r = 0; r < 22; r++) poseidon2_partial<24>(s, poseidon2_partial24[r]);
#pragma unroll 1
  for (int r = 0; r < 4; r++) poseidon2_full<24>(s, poseidon2_last24[r]);
}
