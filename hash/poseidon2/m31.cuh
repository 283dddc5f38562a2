// Poseidon2 over Mersenne-31, one thread a state: the twin of Permute16 and
// Permute24. States are arrays of words in registers, canonical before and
// after a permutation.
//
// Within, words are only as small as what comes next needs. Writing M for 2^30:
//
//	into an S-box            signed, -M - 4 to M + 2^24; the round constant is in
//	out of an S-box          unsigned, below 2^32
//	through a linear layer   64 bits
//	in partial rounds        unsigned, below 2^31 + 2^29, but word 0 as into an S-box
//
// Integer work goes to two pipes. One takes multiplications and, with a carry
// or not, sums of two numbers; the other takes everything else, sums of three
// numbers among them. A product of 64 bits takes two turns of the first and, as
// measured, one of the second. Where a step can be done by either, it is written
// such that both are busy all the time, as seen in the machine code.
#pragma once
#include "field/m31/m31.cuh"
#include "hash/poseidon2/m31_constants.cuh"

// POSEIDON2_CENTRE is a multiple of P that takes a sum below 2^55 to where
// poseidon2_fold gives a word around 0, that is fit for an S-box.
#define POSEIDON2_CENTRE ((1ull << 30) - (1ull << 61))

// poseidon2_fold takes v = 2^31 q + r, with r in 0..P and q in 32 bits, signed or
// not, to q + r = v - q P modulo 2^32.
DEVICE_INLINE u32 poseidon2_fold(u64 v) { return (u32)v + (u32)(v >> 31) * (0u - M31_P); }

// poseidon2_sbox is the fifth power, plus what added is more than
// POSEIDON2_ABOVE. Multiples of P keep the words between, which would have 33
// bits, within 32 with a sign: at most 1.26 M away from 0 after the square, 1.56 M
// after the fourth power; and the result, which is 0.77 M away from POSEIDON2_ABOVE
// / 2^31 or up to 2 M more, within 32 without one.
DEVICE_INLINE u32 poseidon2_sbox(i32 x, i64 added) {
  const i64 down = 0x50000000ll * M31_P;
  i32 x2 = (i32)poseidon2_fold((u64)(mul_wide(x, x) - down));
  i32 x4 = (i32)poseidon2_fold((u64)(mul_wide(x2, x2) - down));
  return poseidon2_fold((u64)(mul_wide(x4, x) + added));
}

// poseidon2_twice is 2 a, put together from words: the compiler's own way takes
// more instructions.
DEVICE_INLINE u64 poseidon2_twice(u32 a) { return (u64)(a >> 31) << 32 | (a << 1); }

// poseidon2_external multiplies any words by circ(2 M4, M4, ..., M4), where row i
// of M4 is the sum of all four words, plus word i, plus twice the word after it;
// then it adds centre.
template <int T> DEVICE_INLINE void poseidon2_external(u32 *s, u64 centre) {
  u64 v[T];
#pragma unroll
  for (int i = 0; i < T; i += 4) {
    u32 a = s[i], b = s[i + 1], c = s[i + 2], d = s[i + 3];
    u64 ab = (u64)a + b, cd = (u64)c + d, all = ab + cd;
    v[i] = all + ab + b;
    v[i + 1] = all + b + poseidon2_twice(c);
    v[i + 2] = all + cd + d;
    v[i + 3] = all + d + poseidon2_twice(a);
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    u64 column = centre;
#pragma unroll
    for (int b = 0; b < T; b += 4) column += v[b + i];
#pragma unroll
    for (int b = 0; b < T; b += 4) s[b + i] = poseidon2_fold(v[b + i] + column);
  }
}

// poseidon2_half is four full rounds. The words that it leaves are not negative.
template <int T> DEVICE_INLINE void poseidon2_half(u32 *s, const i64 (*added)[T]) {
#pragma unroll 1
  for (int r = 0; r < 4; r++) {
#pragma unroll
    for (int i = 0; i < T; i++) s[i] = poseidon2_sbox((i32)s[i], added[r][i]);
    poseidon2_external<T>(s, r < 3 ? POSEIDON2_CENTRE : 0);
  }
}

// poseidon2_shift is the exponent of the internal diagonal at word i >= 1.
template <int T> DEVICE_INLINE constexpr u32 poseidon2_shift(int i) {
  return T == 24 || i < 10 ? i - 1 : i == 10 ? 10 : i + 1;
}

// poseidon2_mad is a * b + c as a step of a carry chain, which the assembler does
// not take apart into a product and a sum of three numbers.
DEVICE_INLINE u64 poseidon2_mad(u32 a, u32 b, u64 c) {
  u32 lo = mad_lo_cc(a, b, (u32)c), hi = madc_hi(a, b, (u32)(c >> 32));
  return (u64)hi << 32 | lo;
}

// poseidon2_partial is two partial rounds, whose constants for the next S-boxes
// are rc1 and rc2. With k the shift of a word s other than word 0, all1 and all2
// the sums of all words after the two S-boxes, it becomes
//
//	2^k (2^k s + all1) + all2 = 2^2k s + 2^k all1 + all2
//
// so the words between the rounds are needed in sum only.
template <int T> DEVICE_INLINE void poseidon2_partial(u32 *s, u32 rc1, u32 rc2) {
  u64 rest = 0;
#pragma unroll
  for (int i = 1; i < T; i++) rest += s[i];
  u32 x = poseidon2_sbox((i32)s[0], POSEIDON2_ABOVE);
  u32 all1 = poseidon2_fold(rest + x);
  x = poseidon2_sbox((i32)poseidon2_fold(rest + POSEIDON2_CENTRE + rc1 - x), POSEIDON2_ABOVE);

  // The sum of 2^k s: the lower shifts, which are consecutive, by Horner's rule.
  const int consecutive = T * 9 / 16;
  rest = s[consecutive];
#pragma unroll
  for (int i = consecutive - 1; i > 0; i--) rest = rest + rest + s[i];
#pragma unroll
  for (int i = consecutive + 1; i < T; i++) rest += (u64)s[i] << poseidon2_shift<T>(i);
  rest = poseidon2_mad(all1, T - 1, rest);
  u64 all2 = rest + x;
  s[0] = poseidon2_fold(rest + POSEIDON2_CENTRE + rc2 - x);
#pragma unroll
  for (int i = 1; i < T; i++) {
    const u32 k = poseidon2_shift<T>(i), twice = 2 * k < 31 ? 2 * k : 2 * k - 31;
    if (twice == 0)
      s[i] = poseidon2_fold(all2 + all1 + s[i]);
    else if (twice == 30) // the product would have too many bits
      s[i] = poseidon2_fold(poseidon2_mad(poseidon2_fold(poseidon2_mad(s[i], 1u << k, all1)), 1u << k, all2));
    else
      s[i] = poseidon2_fold(poseidon2_mad(s[i], 1u << twice, ((u64)all1 << k) + all2));
  }
}

// poseidon2_permute is the permutation; header.go says what the constants are.
template <int T>
DEVICE_INLINE void poseidon2_permute(u32 *s, const u32 *before, const i64 (*full)[T], const u32 *partial, int rounds, const u32 *between) {
#pragma unroll
  for (int i = 0; i < T; i++) s[i] += before[i];
  poseidon2_external<T>(s, POSEIDON2_CENTRE);
  poseidon2_half<T>(s, full);
  s[0] -= s[0] >= 1u << 30 ? M31_P : 0;
#pragma unroll(T == 16 ? 7 : 1)
  for (int r = 0; r < rounds; r += 2) poseidon2_partial<T>(s, partial[r], partial[r + 1]);
#pragma unroll
  for (int i = 1; i < T; i++) s[i] = poseidon2_fold((u64)s[i] + between[i] + POSEIDON2_CENTRE);
  poseidon2_half<T>(s, full + 4);
#pragma unroll
  for (int i = 0; i < T; i++) s[i] = m31_once(s[i]);
}

DEVICE_INLINE void poseidon2_permute16(u32 *s) {
  poseidon2_permute<16>(s, poseidon2_before16, poseidon2_added16, poseidon2_added_partial16, 14, poseidon2_between16);
}

DEVICE_INLINE void poseidon2_permute24(u32 *s) {
  poseidon2_permute<24>(s, poseidon2_before24, poseidon2_added24, poseidon2_added_partial24, 22, poseidon2_between24);
}
