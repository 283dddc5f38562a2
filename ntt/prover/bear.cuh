// Words of a prime field of 31 bits in Montgomery form, for ntt.cu. All values are
// below P between operations.
#pragma once
#include "device/ptx.cuh"

#define P NTT_PRIME
#define LOG_VALUES NTT_VALUES
#define LOG_ORDER NTT_ADICITY // of the root that power is about
#define LOG_LOW 14u
#define TABLE_ROW NTT_TABLE_ROW
#define COLUMNS_UPPER false // whether columns passes may have three windows

typedef u32 unit;

DEVICE_INLINE unit unit_zero() { return 0; }

DEVICE_INLINE unit unit_ldg(const unit *p) { return ldg(p); }

// once takes a number below 2P to its residue: the subtraction wraps to a large
// number exactly when it is not due.
DEVICE_INLINE u32 once(u32 s) { return min(s, s - P); }

DEVICE_INLINE unit unit_add(unit a, unit b) { return once(a + b); }

// root is the power e of a root of order 2^LOG_VALUES.
static constexpr __device__ u32 root(u32 e) {
  u64 r = 1;
  for (u32 i = 0; i < e; i++) r = r * NTT_ROOT % P;
  return (u32)r;
}

// times_constant is w a for any a: the quotient by P is right or one too small, as w's
// own quotient is rounded down.
template <u32 W> DEVICE_INLINE u32 times_constant(u32 a) {
  constexpr u32 quotient = (u32)(((u64)W << 32) / P);
  return once(a * W - mul_hi(a, quotient) * P);
}

// unit_times<L, V> is a times the V-th power of the root of order 2^(L+1), and
// unit_sub_times the same for a - b; prime is P as a number that the compiler does not
// know, which it would multiply by the constant apart from the difference.
template <u32 L, u32 V> DEVICE_INLINE unit unit_times(unit a) {
  if constexpr (V == 0) return a;
  return times_constant<root(V << (LOG_VALUES - 1 - L))>(a);
}

template <u32 L, u32 V> DEVICE_INLINE unit unit_sub_times(unit a, unit b, u32 prime) {
  if constexpr (V == 0) {
    u32 d = a - b;
    return min(d, d + P);
  }
  return times_constant<root(V << (LOG_VALUES - 1 - L))>(a - b + prime);
}

// difference is x / 2^32 for x = a b, as the difference of two words: the multiple of P
// that has x's low word is taken off.
DEVICE_INLINE u32 difference(u32 a, u32 b) {
  u64 x = mul_wide(a, b);
  return (u32)(x >> 32) - mul_hi((u32)x * NTT_INVERSE, P);
}

// unit_factor is the form in which factors are in tables.
DEVICE_INLINE unit unit_factor(unit w) { return w; }

// unit_twist is a times w, either of which may be below 2P.
DEVICE_INLINE unit unit_twist(unit a, unit w) {
  u32 d = difference(a, w);
  return min(d, d + P);
}

// unit_next is the same, but left below 2P.
DEVICE_INLINE unit unit_next(unit a, unit w) { return difference(a, w) + P; }
