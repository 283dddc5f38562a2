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

// WideFp2 is a product that was not reduced, its components below p 2^(32N).
template <class P, u32 MINUS> struct WideFp2 {
  Wide<P> c0, c1;
};

template <class P, u32 M> DEVICE_INLINE WideFp2<P, M> sub(const WideFp2<P, M> &a, const WideFp2<P, M> &b) {
  return {sub(a.c0, b.c0), sub(a.c1, b.c1)};
}

template <class P, u32 M> DEVICE_INLINE WideFp2<P, M> add(const WideFp2<P, M> &a, const WideFp2<P, M> &b) {
  return {add(a.c0, b.c0), add(a.c1, b.c1)};
}

template <class P, u32 M> DEVICE_INLINE Fp2<P, M> reduce(const WideFp2<P, M> &a) { return {reduce(a.c0), reduce(a.c1)}; }

// wide_mul takes three products: a0 b0, a1 b1 and (a0 + a1)(b0 + b1). The sums of two
// numbers below 2p fit into N words; 5 times a product of two is below p 2^(32N) with
// five spare bits.
template <class P, u32 M> DEVICE_INLINE WideFp2<P, M> wide_mul(const Fp2<P, M> &a, const Fp2<P, M> &b) {
  static_assert(P::LAZY && (M == 1 || (M == 5 && P::SPARE >= 5)), "bounds of sums");
  const Wide<P> v0 = wide_mul(a.c0, b.c0), v1 = wide_mul(a.c1, b.c1);
  WideFp2<P, M> r;
  r.c1 = sub_words(sub_words(wide_mul(add_words(a.c0, a.c1), add_words(b.c0, b.c1)), v0), v1);
  if (P::SPARE == 2) r.c1 = less_wide(r.c1); // 8p² may be above p 2^(32N)
  r.c0 = sub(v0, M == 5 ? five_times(v1) : v1);
  return r;
}

// All products are functions that are called, their words passed in registers.
template <class P, u32 M> DEVICE_CALL Fp2<P, M> mul_called(Fp2<P, M> a, Fp2<P, M> b) { return reduce(wide_mul(a, b)); }

template <class P, u32 M> DEVICE_CALL Fp2<P, M> sqr_called(Fp2<P, M> a) {
  const Mont<P> c1 = mul_here(a.c0, a.c1);
  // a0² - a1², or a0² - 5 a1²
  if (M == 1) return {mul_here(add(a.c0, a.c1), sub(a.c0, a.c1)), dbl(c1)};
  return {reduce(sub(wide_sqr(a.c0), five_times(wide_sqr(a.c1)))), dbl(c1)};
}

template <class P, u32 M> DEVICE_CALL Fp2<P, M> mul_sub_called(Fp2<P, M> a, Fp2<P, M> b, Fp2<P, M> c, Fp2<P, M> d) {
  return reduce(sub(wide_mul(a, b), wide_mul(c, d)));
}

template <class P, u32 M> DEVICE_CALL Fp2<P, M> mul_add_called(Fp2<P, M> a, Fp2<P, M> b, Fp2<P, M> c, Fp2<P, M> d) {
  return reduce(add(wide_mul(a, b), wide_mul(c, d)));
}

template <class P, u32 M> DEVICE_LARGE Fp2<P, M> mul(const Fp2<P, M> &a, const Fp2<P, M> &b) { return mul_called(a, b); }

template <class P, u32 M> DEVICE_LARGE Fp2<P, M> sqr(const Fp2<P, M> &a) { return sqr_called(a); }

template <class P, u32 M>
DEVICE_LARGE Fp2<P, M> mul_sub(const Fp2<P, M> &a, const Fp2<P, M> &b, const Fp2<P, M> &c, const Fp2<P, M> &d) {
  return mul_sub_called(a, b, c, d);
}

template <class P, u32 M>
DEVICE_LARGE Fp2<P, M> mul_add(const Fp2<P, M> &a, const Fp2<P, M> &b, const Fp2<P, M> &c, const Fp2<P, M> &d) {
  return mul_add_called(a, b, c, d);
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
