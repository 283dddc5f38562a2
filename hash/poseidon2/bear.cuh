// Poseidon2 over VARIANT, one thread a state: the twin of Permute16 and Permute24.
// States are arrays of words in registers, in Montgomery form and canonical.
//
// S-boxes work on words with a sign, linear layers on words without one. As a
// product takes two turns of the multiplying pipe and one of the other, what
// else there is goes to the other one: a sum is an addition and a minimum, which
// the machine also does in one instruction with an addition before it.
#pragma once
#include "FIELD_HEADER"
#include "CONSTANTS_HEADER"

// poseidon2_product is a b / 2^32 modulo P for words of at most P in size. It is at
// most P / 2 + |a b| / 2^32, which is less than P.
DEVICE_INLINE i32 poseidon2_product(i32 a, i32 b) {
  i64 t = mul_wide(a, b);
  i32 m = (i32)((u32)t * FP_INVERSE);
  return (i32)(t >> 32) - mul_hi(m, (i32)FP_P);
}

// poseidon2_fused is poseidon2_product in one instruction less. The product less the
// multiple of P that has the same low word has 0 for its low word, which is
// left in zero. As long as someone uses that, the two are a multiplication and an
// addition in one; the next such product can use it at no cost.
DEVICE_INLINE i32 poseidon2_fused(i32 a, i32 b, u32 &zero) {
  i64 t = mul_wide(a, b);
  i32 m = (i32)((u32)t * FP_INVERSE + zero);
  u64 d = (u64)mad_wide(m, -(i32)FP_P, t);
  zero = (u32)d;
  return (i32)(d >> 32);
}

// poseidon2_lift is the residue of a word of at most P in size.
DEVICE_INLINE u32 poseidon2_lift(u32 d) {
  u32 e = d + FP_P;
  return d < e ? d : e;
}

// poseidon2_zero is 0, which compilers cannot know: it could be written.
static __constant__ u32 poseidon2_zero = 0;

// poseidon2_sbox takes a word of at most P in size to the residue of its power.
DEVICE_INLINE u32 poseidon2_sbox(u32 x) {
  u32 zero = poseidon2_zero;
  i32 y = poseidon2_fused((i32)x, (i32)x, zero), z = y, w = (i32)x;
  if (POSEIDON2_DEGREE == 7) {
    z = poseidon2_fused(y, (i32)x, zero);
    w = poseidon2_fused(y, y, zero);
  }
  i64 t = mul_wide(z, w);
  i32 m = (i32)((u32)t * FP_INVERSE + zero);
  return poseidon2_lift((u32)((i32)(t >> 32) - mul_hi(m, (i32)FP_P)));
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

// poseidon2_half is four full rounds. Constants are less P.
template <int T> DEVICE_INLINE void poseidon2_half(u32 *s, const u32 (*rc)[T]) {
#pragma unroll 1
  for (int r = 0; r < 4; r++) {
#pragma unroll
    for (int i = 0; i < T; i++) s[i] = poseidon2_sbox(s[i] + rc[r][i]);
    poseidon2_external<T>(s);
  }
}

// poseidon2_small is the residue of a sum below 16 P. The quotient by 2^31 leaves
// less than 2^32, and less than 2 P but near the end.
DEVICE_INLINE u32 poseidon2_small(u64 v) { return fp_once(fp_once((u32)v - (u32)(v >> 31) * FP_P)); }

// poseidon2_times is TIMES 2^SHIFT x + s for a canonical s. Negative powers of 2
// take and give words below 4/3 P, all else canonical ones: with x = 2^k q + r, as P
// is 1 modulo 2^k, x - r P is a multiple of 2^k.
template <int TIMES, int SHIFT> DEVICE_INLINE u32 poseidon2_times(u32 x, u32 s) {
  if constexpr (SHIFT < -POSEIDON2_TWOS) {
    return poseidon2_times<TIMES, SHIFT + POSEIDON2_TWOS>(poseidon2_times<1, -POSEIDON2_TWOS>(x, 0), s);
  } else if constexpr (SHIFT < 0 && TIMES < 0) {
    return poseidon2_times<-TIMES, SHIFT>(2 * FP_P - x, s);
  } else if constexpr (SHIFT < 0 && TIMES > 1) {
    return poseidon2_times<1, SHIFT>(poseidon2_times<TIMES, 0>(x, 0), s);
  } else if constexpr (SHIFT < 0) {
    return poseidon2_lift(s - (x & ((1u << -SHIFT) - 1)) * (FP_P >> -SHIFT)) + (x >> -SHIFT);
  } else if constexpr (TIMES << SHIFT == 1) {
    return fp_add(x, s);
  } else if constexpr (TIMES << SHIFT == 2) {
    return fp_add(fp_dbl(x), s);
  } else {
    return poseidon2_small(mad_wide(x, (u32)TIMES << SHIFT, (u64)s));
  }
}

// In partial rounds a word x becomes V x + all, V being on the diagonal and all the
// sum of all words. Of two words a at V and b at -V, u = a + b and d = a - b are kept
// instead. They become V d + 2 all and V u: so d is V times the u of the round
// before, u becomes V^2 times that plus 2 all, and only u is part of the sum. So a
// round has one new word for such a pair. In rounds of even number, from 0 on, u is
// in a's place, in others in b's. The last one gives u/2 and d/2, whose sum and
// difference are a and b.
enum class poseidon2_step { split, first, even, odd, last_even, last_odd };

// poseidon2_pairs does a step for each pair of the plan.
template <int T, poseidon2_step STEP, int K = 0> DEVICE_INLINE void poseidon2_pairs(u32 *s, u32 all, u32 twice) {
  if constexpr (K < poseidon2_plan<T>::pairs) {
    constexpr int I = poseidon2_plan<T>::pair[K][0], J = poseidon2_plan<T>::pair[K][1];
    constexpr int TIMES = poseidon2_plan<T>::pair[K][2], SHIFT = poseidon2_plan<T>::pair[K][3];
    u32 &a = s[I], &b = s[J];
    if constexpr (STEP == poseidon2_step::split) {
      u32 u = fp_add(a, b);
      b = fp_sub(a, b);
      a = u;
    } else if constexpr (STEP == poseidon2_step::first) {
      b = poseidon2_times<TIMES, SHIFT>(b, twice);
    } else if constexpr (STEP == poseidon2_step::even) {
      b = poseidon2_times<TIMES * TIMES, 2 * SHIFT>(b, twice);
    } else if constexpr (STEP == poseidon2_step::odd) {
      a = poseidon2_times<TIMES * TIMES, 2 * SHIFT>(a, twice);
    } else {
      u32 now = STEP == poseidon2_step::last_even ? a : b, before = STEP == poseidon2_step::last_even ? b : a;
      u32 u = fp_once(poseidon2_times<TIMES * TIMES, 2 * SHIFT - 1>(before, all));
      u32 d = fp_once(poseidon2_times<TIMES, SHIFT - 1>(now, 0));
      a = fp_add(u, d);
      b = fp_sub(u, d);
    }
    poseidon2_pairs<T, STEP, K + 1>(s, all, twice);
  }
}

// poseidon2_singles is the round of all other words but the first.
template <int T, int K = 0> DEVICE_INLINE void poseidon2_singles(u32 *s, u32 all) {
  if constexpr (K < poseidon2_plan<T>::singles) {
    constexpr int I = poseidon2_plan<T>::single[K][0];
    s[I] = poseidon2_times<poseidon2_plan<T>::single[K][1], poseidon2_plan<T>::single[K][2]>(s[I], all);
    poseidon2_singles<T, K + 1>(s, all);
  }
}

// poseidon2_rest is the sum of all words but the first, as such.
template <int T, bool EVEN, int K = 0> DEVICE_INLINE u64 poseidon2_rest(const u32 *s) {
  constexpr int PAIRS = poseidon2_plan<T>::pairs;
  if constexpr (K < PAIRS) {
    return poseidon2_rest<T, EVEN, K + 1>(s) + s[poseidon2_plan<T>::pair[K][EVEN ? 0 : 1]];
  } else if constexpr (K < PAIRS + poseidon2_plan<T>::singles) {
    return poseidon2_rest<T, EVEN, K + 1>(s) + s[poseidon2_plan<T>::single[K - PAIRS][0]];
  } else {
    return 0;
  }
}

// poseidon2_partial is a partial round; rc is its constant less P.
template <int T, poseidon2_step STEP> DEVICE_INLINE void poseidon2_partial(u32 *s, u32 rc) {
  u32 rest = poseidon2_small(poseidon2_rest<T, STEP == poseidon2_step::first || STEP == poseidon2_step::even || STEP == poseidon2_step::last_even>(s));
  u32 y = poseidon2_sbox(s[0] + rc), all = fp_add(rest, y);
  s[0] = fp_sub(rest, y);
  poseidon2_pairs<T, STEP>(s, all, fp_dbl(all));
  poseidon2_singles<T>(s, all);
}

template <int T>
DEVICE_INLINE void poseidon2_permute(u32 *s, const u32 (*first)[T], const u32 *partial, const u32 (*last)[T]) {
  constexpr int R = poseidon2_plan<T>::rounds;
  poseidon2_external<T>(s);
  poseidon2_half<T>(s, first);
  poseidon2_pairs<T, poseidon2_step::split>(s, 0, 0);
  poseidon2_partial<T, poseidon2_step::first>(s, partial[0]);
#pragma unroll 1
  for (int r = 1; r + 1 < R - 1; r += 2) {
    poseidon2_partial<T, poseidon2_step::odd>(s, partial[r]);
    poseidon2_partial<T, poseidon2_step::even>(s, partial[r + 1]);
  }
  if constexpr (R % 2 == 1) {
    poseidon2_partial<T, poseidon2_step::odd>(s, partial[R - 2]);
    poseidon2_partial<T, poseidon2_step::last_even>(s, partial[R - 1]);
  } else {
    poseidon2_partial<T, poseidon2_step::last_odd>(s, partial[R - 1]);
  }
#pragma unroll
  for (int i = 0; i < T; i++) s[i] = fp_once(s[i]);
  poseidon2_half<T>(s, last);
}

DEVICE_INLINE void poseidon2_permute16(u32 *s) {
  poseidon2_permute<16>(s, poseidon2_first16, poseidon2_partial16, poseidon2_last16);
}

DEVICE_INLINE void poseidon2_permute24(u32 *s) {
  poseidon2_permute<24>(s, poseidon2_first24, poseidon2_partial24, poseidon2_last24);
}
