// Points of a twisted Edwards curve -x² + y² = 1 + d x² y²: sums in extended coordinates,
// x = X/Z, y = Y/Z and XY = ZT, and given points as (y - x, y + x, 2 d x y), which leaves
// 7 products for an addition (H. Hisil, K. Wong, G. Carter, E. Dawson, Twisted Edwards
// curves revisited, ASIACRYPT 2008: add-2008-hwcd-3, madd-2008-hwcd-3 and dbl-2008-hwcd of
// the Explicit-Formulas Database).
//
// Where d is a square, as it is for BLS12-377, the formulas fail for some pairs of points.
// Two points of odd order are never such a pair: their denominators vanish only if
// P - Q or P + Q is of even order (D. Bernstein, T. Lange, A complete set of addition laws
// for incomplete Edwards curves, J. Number Theory 131 (2011)). So all points must be of
// the subgroup of odd prime order; among those nothing is an exception, not even equal
// points or infinity. A sum whose coordinates are all 0 stands for infinity, too.
//
// C is the curve: typedef F, and a static function F d2(), 2d.
#pragma once
#include "field/mont/mont.cuh"

template <class C> struct Niels {
  typename C::F minus, plus, t2d;
};

template <class C> struct Extended {
  typename C::F x, y, t, z;
};

template <class C> DEVICE_INLINE void set_infinity(Niels<C> &p) {
  set_one(p.minus);
  set_one(p.plus);
  set_zero(p.t2d);
}

template <class C> DEVICE_INLINE void set_infinity(Extended<C> &p) {
  set_zero(p.x);
  set_one(p.y);
  set_zero(p.t);
  set_one(p.z);
}

// set_point is the point with Z = 4.
template <class C> DEVICE_INLINE void set_point(Extended<C> &r, const Niels<C> &p) {
  const typename C::F x = sub(p.plus, p.minus), y = add(p.plus, p.minus);
  r.x = dbl(x);
  r.y = dbl(y);
  r.t = mul(x, y);
  set_one(r.z);
  r.z = dbl(dbl(r.z));
}

template <class C> DEVICE_INLINE u32 is_infinity(const Extended<C> &p) { return is_zero(p.x); }

template <class C> DEVICE_INLINE Niels<C> canonical(const Niels<C> &p) { return {canonical(p.minus), canonical(p.plus), canonical(p.t2d)}; }

template <class C> DEVICE_INLINE Extended<C> canonical(const Extended<C> &p) {
  return {canonical(p.x), canonical(p.y), canonical(p.t), canonical(p.z)};
}

// resume is a sum from memory as accumulate takes it: not all 0, of which it makes 0 again.
template <class C> DEVICE_INLINE Extended<C> resume(const Extended<C> &p) {
  Extended<C> r = p;
  if (is_zero(p.z)) set_infinity(r);
  return r;
}

template <class C> DEVICE_INLINE Niels<C> neg(const Niels<C> &p) { return {p.plus, p.minus, neg(p.t2d)}; }

template <class C> DEVICE_INLINE Extended<C> neg(const Extended<C> &p) { return {neg(p.x), p.y, neg(p.t), p.z}; }

// finish is what both additions end with, a and b being the products of the differences
// and of the sums of x and y, c the one with T, and d the one with 2Z.
template <class C> DEVICE_INLINE Extended<C> finish(const typename C::F &a, const typename C::F &b, const typename C::F &c, const typename C::F &d) {
  typedef typename C::F F;
  const F e = sub(b, a), f = sub(d, c), g = add(d, c), h = add(b, a);
  return {mul(e, f), mul(g, h), mul(e, h), mul(f, g)};
}

// accumulate is p + q.
template <class C> DEVICE_LARGE Extended<C> accumulate(const Extended<C> &p, const Niels<C> &q) {
  typedef typename C::F F;
  const F a = mul(sub(p.y, p.x), q.minus), b = mul(add(p.y, p.x), q.plus), c = mul(p.t, q.t2d);
  return finish<C>(a, b, c, dbl(p.z));
}

// second is p + q for a p which set_point made.
template <class C> DEVICE_LARGE Extended<C> second(const Extended<C> &p, const Niels<C> &q) { return accumulate(p, q); }

template <class C> DEVICE_LARGE Extended<C> add(const Extended<C> &p, const Extended<C> &q) {
  typedef typename C::F F;
  if (is_zero(p.z)) return q;
  if (is_zero(q.z)) return p;
  const F a = mul(sub(p.y, p.x), sub(q.y, q.x)), b = mul(add(p.y, p.x), add(q.y, q.x)), c = mul(mul(p.t, C::d2()), q.t);
  return finish<C>(a, b, c, dbl(mul(p.z, q.z)));
}

// dbl gives zeros for zeros.
template <class C> DEVICE_LARGE Extended<C> dbl(const Extended<C> &p) {
  typedef typename C::F F;
  const F xx = sqr(p.x), yy = sqr(p.y), zz = sqr(p.z);
  const F g = sub(yy, xx), h = neg(add(xx, yy)), e = add(sqr(add(p.x, p.y)), h), f = sub(g, dbl(zz));
  return {mul(e, f), mul(g, h), mul(e, h), mul(f, g)};
}
