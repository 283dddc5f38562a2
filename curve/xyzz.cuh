// Points of a short Weierstrass curve y² = x³ + a x + b over a field F: affine ones, as
// they lie in memory (infinity is (0, 0), which is on no curve with b ≠ 0), and sums in
// XYZZ coordinates, x = X/ZZ and y = Y/ZZZ with ZZ³ = ZZZ² (infinity is ZZ = 0). The
// formulas are madd-2008-s, add-2008-s and dbl-2008-s-1 of the Explicit-Formulas
// Database. Every function takes and gives any points: infinity, equal and opposite
// ones included.
//
// C is the curve: typedef F, and static functions F a(), F b() and constexpr a_is_zero.
#pragma once
#include "field/mont/mont.cuh"

template <class C> struct Affine {
  typename C::F x, y;
};

template <class C> struct XYZZ {
  typename C::F x, y, zz, zzz;
};

template <class C> DEVICE_INLINE u32 is_infinity(const Affine<C> &p) { return is_zero(p.x) & is_zero(p.y); }

template <class C> DEVICE_INLINE u32 is_infinity(const XYZZ<C> &p) { return is_zero(p.zz); }

template <class C> DEVICE_INLINE void set_infinity(XYZZ<C> &p) {
  set_zero(p.x);
  set_zero(p.y);
  set_zero(p.zz);
  set_zero(p.zzz);
}

template <class C> DEVICE_INLINE void set_point(XYZZ<C> &r, const Affine<C> &p) {
  r.x = p.x;
  r.y = p.y;
  if (is_infinity(p)) {
    set_zero(r.zz);
    set_zero(r.zzz);
  } else {
    set_one(r.zz);
    set_one(r.zzz);
  }
}

template <class C> DEVICE_INLINE XYZZ<C> canonical(const XYZZ<C> &p) {
  return {canonical(p.x), canonical(p.y), canonical(p.zz), canonical(p.zzz)};
}

template <class C> DEVICE_INLINE Affine<C> neg(const Affine<C> &p) {
  Affine<C> r;
  r.x = p.x;
  r.y = neg(p.y);
  return r;
}

template <class C> DEVICE_LARGE XYZZ<C> dbl(const XYZZ<C> &p) {
  typedef typename C::F F;
  // A point with y = 0 has order two: then U, and with it ZZ, is 0. So has infinity.
  const F u = dbl(p.y), v = sqr(u), w = mul(u, v), s = mul(p.x, v), xx = sqr(p.x);
  F m = add(dbl(xx), xx);
  if (!C::a_is_zero) m = add(m, mul(C::a(), sqr(p.zz)));
  XYZZ<C> r;
  r.x = sub(sqr(m), dbl(s));
  r.y = mul_sub(m, sub(s, r.x), w, p.y);
  r.zz = mul(v, p.zz);
  r.zzz = mul(w, p.zzz);
  return r;
}

// twice is 2 p. It is a call, as sums hardly ever need it.
template <class C> DEVICE_CALL XYZZ<C> twice(XYZZ<C> p) { return dbl(p); }

template <class C> DEVICE_LARGE XYZZ<C> add(const XYZZ<C> &p, const XYZZ<C> &q) {
  typedef typename C::F F;
  if (is_infinity(p)) return q;
  if (is_infinity(q)) return p;
  const F u1 = mul(p.x, q.zz), s1 = mul(p.y, q.zzz);
  const F d = sub(mul(q.x, p.zz), u1), e = sub(mul(q.y, p.zzz), s1);
  if (is_zero(d) && is_zero(e)) return twice(p);
  // Opposite points leave d = 0 and with it ZZ = 0: infinity.
  const F dd = sqr(d), ddd = mul(d, dd), v = mul(u1, dd);
  XYZZ<C> r;
  r.x = sub(sub(sqr(e), ddd), dbl(v));
  r.y = mul_sub(e, sub(v, r.x), s1, ddd);
  r.zz = mul(mul(p.zz, q.zz), dd);
  r.zzz = mul(mul(p.zzz, q.zzz), ddd);
  return r;
}

// twice is 2 q: mdbl-2008-s-1.
template <class C> DEVICE_CALL XYZZ<C> twice(Affine<C> q) {
  typedef typename C::F F;
  const F u = dbl(q.y), v = sqr(u), w = mul(u, v), s = mul(q.x, v), xx = sqr(q.x);
  F m = add(dbl(xx), xx);
  if (!C::a_is_zero) m = add(m, C::a());
  XYZZ<C> r;
  r.x = sub(sqr(m), dbl(s));
  r.y = mul_sub(m, sub(s, r.x), w, q.y);
  r.zz = v;
  r.zzz = w;
  return r;
}

// accumulate is p + q, the PACC of the multi-scalar multiplications, in the order that
// needs the fewest long integers at a time (msm/internal/schedule); the two products of Y
// are one sum, however, which is reduced once.
template <class C> DEVICE_LARGE XYZZ<C> accumulate(const XYZZ<C> &p, const Affine<C> &q) {
  typedef typename C::F F;
  XYZZ<C> r;
  if (is_infinity(q)) return p;
  if (is_infinity(p)) {
    set_point(r, q);
    return r;
  }
  const F d = sub(mul(q.x, p.zz), p.x);
  if (is_zero(d) && is_zero(sub(mul(q.y, p.zzz), p.y))) return twice(q);
  const F dd = sqr(d), ddd = mul(dd, d), v = mul(p.x, dd);
  r.zz = mul(p.zz, dd);
  const F e = sub(mul(q.y, p.zzz), p.y);
  r.zzz = mul(p.zzz, ddd);
  r.x = sub(sub(sqr(e), ddd), dbl(v));
  r.y = mul_sub(e, sub(v, r.x), p.y, ddd);
  return r;
}

// second is p + q for a p which set_point made: mmadd-2008-s.
template <class C> DEVICE_LARGE XYZZ<C> second(const XYZZ<C> &p, const Affine<C> &q) {
  typedef typename C::F F;
  XYZZ<C> r;
  if (is_infinity(q)) return p;
  if (is_infinity(p)) {
    set_point(r, q);
    return r;
  }
  const F d = sub(q.x, p.x), e = sub(q.y, p.y);
  if (is_zero(d) && is_zero(e)) return twice(q);
  // Opposite points leave d = 0 and with it ZZ = 0: infinity.
  r.zz = sqr(d);
  r.zzz = mul(r.zz, d);
  const F v = mul(p.x, r.zz);
  r.x = sub(sub(sqr(e), r.zzz), dbl(v));
  r.y = mul_sub(e, sub(v, r.x), p.y, r.zzz);
  return r;
}
