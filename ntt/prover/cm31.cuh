// Complex numbers over Mersenne-31 for ntt.cu. All words are below P between
// operations.
#pragma once
#include "field/m31/m31.cuh"

#define LOG_VALUES 4
#define LOG_ORDER 30u // of the root that power is about
#define LOG_LOW 15u

typedef cm31 unit;

DEVICE_INLINE unit unit_zero() { return cm31_make(0, 0); }

DEVICE_INLINE unit unit_ldg(const unit *p) {
  u64 v = ldg(reinterpret_cast<const u64 *>(p));
  return cm31_make((u32)v, (u32)(v >> 32));
}

DEVICE_INLINE unit unit_add(unit a, unit b) { return cm31_add(a, b); }

// unit_times<L, V> is a times the V-th power of the root of order 2^(L+1); that of
// order 4 is i.
template <u32 L, u32 V> DEVICE_INLINE unit unit_times(unit a) {
  constexpr u32 e = V << (LOG_VALUES - 1 - L); // of the root of order 16
  if constexpr (e == 0) return a;
  if constexpr (e >= 4) return cm31_mul_i(unit_times<LOG_VALUES - 1, (e & 3)>(a));
  constexpr u32 re = e == 1 ? NTT_ROOT1_RE : e == 2 ? NTT_ROOT2_RE : NTT_ROOT3_RE;
  constexpr u32 im = e == 1 ? NTT_ROOT1_IM : e == 2 ? NTT_ROOT2_IM : NTT_ROOT3_IM;
  return cm31_mul(a, cm31_make(re, im));
}

template <u32 L, u32 V> DEVICE_INLINE unit unit_sub_times(unit a, unit b) { return unit_times<L, V>(cm31_sub(a, b)); }

DEVICE_INLINE unit unit_twist(unit a, unit w) { return cm31_mul(a, w); }

DEVICE_INLINE unit unit_next(unit a, unit w) { return cm31_mul(a, w); }
