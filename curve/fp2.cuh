// The quadratic extension F[u]/(u² + MINUS) of a prime field, with the names of mont.cuh:
// MINUS is 1 for BN254 and BLS12-381, 5 for BLS12-377.
#pragma once
#include "field/mont/mont.cuh"

template <class P, u32 MINUS> struct Fp2 {
  Mont<P> c0, c1;
};

// times is MINUS a, by additions.
template <u32 MINUS, class P> DEVICE_INLINE Mont<P> times(const Mont<P> &a) {
  if (MINUS == 1) return a;
  const Mont<P> four = dbl(dbl(a));
  return add(four, a);
}

template <class P, u32 M> DEVICE_INLINE Fp2<P, M> add(const Fp2<P, M> &a, const Fp2<P, M> &b) { return {add(a.c0, b.c0), add(a.c1, b.c1)}; }

template <class P, u32 M> DEVICE_INLINE Fp2<P, M> sub(const Fp2<P, M> &a, const Fp2<P, M> &b) { return {sub(a.c0, b.c0), sub(a.c1, b.c1)}; }

template <class P, u32 M> DEVICE_INLINE Fp2<P, M> dbl(const Fp2<P, M> &a) { return {dbl(a.c0), dbl(a.c1)}; }

template <class P, u32 M> DEVICE_INLINE Fp2<P, M> neg(const Fp2<P, M> &a) { return {neg(a.c0), neg(a.c1)}; }

template <class P, u32 M> DEVICE_LARGE Fp2<P, M> mul(const Fp2<P, M> &a, const Fp2<P, M> &b) {
  return {mul_sub(a.c0, b.c0, times<M>(a.c1), b.c1), mul_add(a.c0, b.c1, a.c1, b.c0)};
}

template <class P, u32 M> DEVICE_LARGE Fp2<P, M> sqr(const Fp2<P, M> &a) { return mul(a, a); }

template <class P, u32 M>
DEVICE_LARGE Fp2<P, M> mul_sub(const Fp2<P, M> &a, const Fp2<P, M> &b, const Fp2<P, M> &c, const Fp2<P, M> &d) {
  return sub(mul(a, b), mul(c, d));
}

template <class P, u32 M>
DEVICE_LARGE Fp2<P, M> mul_add(const Fp2<P, M> &a, const Fp2<P, M> &b, const Fp2<P, M> &c, const Fp2<P, M> &d) {
  return add(mul(a, b), mul(c, d));
}

template <class P, u32 M> DEVICE_INLINE u32 is_zero(const Fp2<P, M> &a) { return is_zero(a.c0) & is_zero(a.c1); }

template <class P, u32 M> DEVICE_INLINE u32 equal(const Fp2<P, M> &a, const Fp2<P, M> &b) { return equal(a.c0, b.c0) & equal(a.c1, b.c1); }

template <class P, u32 M> DEVICE_INLINE void set_zero(Fp2<P, M> &a) {
  set_zero(a.c0);
  set_zero(a.c1);
}

template <class P, u32 M> DEVICE_INLINE void set_one(Fp2<P, M> &a) {
  set_one(a.c0);
  set_zero(a.c1);
}

template <class P, u32 M> DEVICE_INLINE Fp2<P, M> canonical(const Fp2<P, M> &a) { return {canonical(a.c0), canonical(a.c1)}; }

// inverse is 1/a, 0 for 0: the conjugate over the norm.
template <class P, u32 M> DEVICE_LARGE Fp2<P, M> inverse(const Fp2<P, M> &a) {
  const Mont<P> n = inverse(mul_add(a.c0, a.c0, times<M>(a.c1), a.c1));
  return {mul(a.c0, n), neg(mul(a.c1, n))};
}
