// Complex numbers over Mersenne-31 for ntt.cu. All words are below P between
// operations.
#pragma once
#include "field/m31/m31.cuh"

#define LOG_VALUES NTT_VALUES
#define LOG_ORDER 30u // of the root that power is about
#define LOG_LOW 15u
#define TABLE_ROW NTT_TABLE_ROW
#define COLUMNS_UPPER true // whether columns passes may have three windows

typedef cm31 unit;

DEVICE_INLINE unit unit_zero() { return cm31_make(0, 0); }

DEVICE_INLINE unit unit_ldg(const unit *p) {
  u64 v = ldg(reinterpret_cast<const u64 *>(p));
  return cm31_make((u32)v, (u32)(v >> 32));
}

DEVICE_INLINE unit unit_add(unit a, unit b) { return cm31_add(a, b); }

// half_product takes 2s, for s the sum of two products of words below P, to its
// residue: the high word is s / 2^31 rounded down, at most 2P - 2.
DEVICE_INLINE u32 half_product(u64 twice) { return m31_once(m31_once((u32)(twice >> 32)) + ((u32)twice >> 1)); }

// times_doubled is a w for the words of 2w and 2(P - im w).
DEVICE_INLINE unit times_doubled(unit a, u32 re, u32 im, u32 minus) {
  return cm31_make(half_product(mad_wide(a.re, re, mul_wide(a.im, minus))), half_product(mad_wide(a.re, im, mul_wide(a.im, re))));
}

// Complex is a constant.
struct Complex {
  u64 re, im;
};

// root is the power e of a root of order 2^LOG_VALUES.
static constexpr __device__ Complex root(u32 e) {
  Complex r = {1, 0};
  for (u32 i = 0; i < e; i++)
    r = Complex{(r.re * NTT_ROOT_RE + r.im * (M31_P - NTT_ROOT_IM)) % M31_P, (r.re * NTT_ROOT_IM + r.im * NTT_ROOT_RE) % M31_P};
  return r;
}

// unit_times<L, V> is a times the V-th power of the root of order 2^(L+1). That of
// order 4 is i, that of order 8 is 2^15 (1 + i), since 2^16 is a square root of 2.
template <u32 L, u32 V> DEVICE_INLINE unit unit_times(unit a) {
  constexpr u32 e = V << (LOG_VALUES - 1 - L), quarter = 1u << (LOG_VALUES - 2); // of the root of order 2^LOG_VALUES
  if constexpr (e == 0) {
    return a;
  } else if constexpr (e >= quarter) {
    return cm31_mul_i(unit_times<LOG_VALUES - 1, e % quarter>(a));
  } else if constexpr (2 * e == quarter) {
    return cm31_make(m31_rotate(m31_sub(a.re, a.im), 15), m31_rotate(m31_add(a.re, a.im), 15));
  } else {
    constexpr Complex w = root(e);
    constexpr u32 re = (u32)(2 * w.re), im = (u32)(2 * w.im), minus = (u32)(2 * (M31_P - w.im));
    return times_doubled(a, re, im, minus);
  }
}

template <u32 L, u32 V> DEVICE_INLINE unit unit_sub_times(unit a, unit b, u32) {
  constexpr u32 e = V << (LOG_VALUES - 1 - L), quarter = 1u << (LOG_VALUES - 2);
  if constexpr (e >= quarter) // i (a - b) for less than the difference and a sign
    return unit_times<LOG_VALUES - 1, e % quarter>(cm31_make(m31_sub(b.im, a.im), m31_sub(a.re, b.re)));
  else
    return unit_times<L, V>(cm31_sub(a, b));
}

// unit_factor is the form in which factors are in tables: doubled words.
DEVICE_INLINE unit unit_factor(unit w) { return cm31_make(w.re + w.re, w.im + w.im); }

// unit_twist is a w, given unit_factor(w), and so is unit_next.
DEVICE_INLINE unit unit_twist(unit a, unit w) { return times_doubled(a, w.re, w.im, 2 * M31_P - w.im); }

DEVICE_INLINE unit unit_next(unit a, unit w) { return unit_twist(a, w); }
