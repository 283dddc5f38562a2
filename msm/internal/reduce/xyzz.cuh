// Sums over buckets in XYZZ coordinates. The running sum R and the sum T of its values
// have common ZZ and ZZZ, as in the co-Z addition of N. Meloni (New point addition formulae
// for ECC applications, WAIFI 2007): T + R takes six products and two squares in place of
// add-2008-s's twelve and two, and leaves R with the new ZZ and ZZZ as well. An addition of
// a bucket to R costs two products more, by which T follows.
//
// R and T are (0, 0) at infinity; ZZ and ZZZ are never 0.
#pragma once
#include "curve/xyzz.cuh"
#include "msm/internal/reduce/numbers.cuh"

enum : u32 { RX, RY, TX, TY, ZZ, ZZZ, D, E, K, NUMBERS };

// CommonZ is two points with the same ZZ and ZZZ.
template <class C> struct CommonZ {
  typename C::F ax, ay, bx, by, zz, zzz;
};

// twice_first doubles the first of the two: dbl-2008-s-1, whose V and W take the second
// along. A point with y = 0 has order two.
template <class C> DEVICE_CALL CommonZ<C> twice_first(CommonZ<C> p) {
  typedef typename C::F F;
  if (is_zero(p.ay)) {
    set_zero(p.ax);
    set_zero(p.ay);
    return p;
  }
  const F u = dbl(p.ay), v = sqr(u), w = mul(u, v), s = mul(p.ax, v), xx = sqr(p.ax);
  F m = add(dbl(xx), xx);
  if (!C::a_is_zero) m = add(m, mul(C::a(), sqr(p.zz)));
  p.ax = sub(sqr(m), dbl(s));
  p.ay = mul_sub(m, sub(s, p.ax), w, p.ay);
  p.bx = mul(p.bx, v);
  p.by = mul(p.by, w);
  p.zz = mul(p.zz, v);
  p.zzz = mul(p.zzz, w);
  return p;
}

template <class C, class N> struct Running {
  typedef typename C::F F;
  enum : u32 { words = sizeof(F) / 4 };
  N n;

  // Running begins with R a bucket's sum, or infinity if there is none, and T infinity.
  __device__ __forceinline__ Running(u64 *shared, const u32 *s, bool some) : n(shared) {
    F zero;
    set_zero(zero);
    n.set(TX, zero);
    n.set(TY, zero);
    const F zz = load_if<F>(some, s + 2 * words);
    if (is_zero(zz)) {
      F one;
      set_one(one);
      n.set(RX, zero);
      n.set(RY, zero);
      n.set(ZZ, one);
      n.set(ZZZ, one);
      return;
    }
    n.set(RX, load_number<F>(s));
    n.set(RY, load_number<F>(s + words));
    n.set(ZZ, zz);
    n.set(ZZZ, load_number<F>(s + 3 * words));
  }

  // take adds the sum s to R.
  template <class S> __device__ __forceinline__ void take(const S &s) {
    {
      const F zz = s.at(2);
      if (is_zero(zz)) return;
      n.set(RX, mul(n.at(RX), zz));
    }
    n.set(D, sub(mul(s.at(0), n.at(ZZ)), n.at(RX)));
    n.set(RY, mul(n.at(RY), s.at(3)));
    n.set(E, sub(mul(s.at(1), n.at(ZZZ)), n.at(RY)));
    if (is_zero(n.at(D)) || (is_zero(n.at(RX)) && is_zero(n.at(RY)))) {
      take_special(s);
      return;
    }
    n.set(K, sqr(n.at(D)));
    n.set(RX, mul(n.at(RX), n.at(K)));
    n.set(D, mul(n.at(D), n.at(K)));
    n.set(K, mul(n.at(K), s.at(2)));
    n.set(TX, mul(n.at(TX), n.at(K)));
    n.set(ZZ, mul(n.at(ZZ), n.at(K)));
    n.set(K, mul(n.at(D), s.at(3)));
    n.set(TY, mul(n.at(TY), n.at(K)));
    n.set(ZZZ, mul(n.at(ZZZ), n.at(K)));
    const F x = sub(sub(sqr(n.at(E)), n.at(D)), dbl(n.at(RX)));
    n.set(K, sub(n.at(RX), x));
    n.set(RX, x);
    n.set(RY, mul_sub(n.at(E), n.at(K), n.at(RY), n.at(D)));
  }

  // take_special goes on where R is infinity or plus or minus the sum s.
  template <class S> __device__ __forceinline__ void take_special(const S &s) {
    const bool none = is_zero(n.at(RX)) && is_zero(n.at(RY));
    // R was multiplied already.
    const F zz = s.at(2), zzz = s.at(3);
    n.set(TX, mul(n.at(TX), zz));
    n.set(ZZ, mul(n.at(ZZ), zz));
    n.set(TY, mul(n.at(TY), zzz));
    n.set(ZZZ, mul(n.at(ZZZ), zzz));
    if (none) {
      n.set(RX, n.at(D));
      n.set(RY, n.at(E));
    } else if (is_zero(n.at(E))) {
      twice_one(RX, RY, TX, TY);
    } else {
      set_none(RX, RY);
    }
  }

  // weigh adds R to T.
  __device__ __forceinline__ void weigh() {
    if (is_zero(n.at(TX)) && is_zero(n.at(TY))) {
      n.set(TX, n.at(RX));
      n.set(TY, n.at(RY));
      return;
    }
    if (is_zero(n.at(RX)) && is_zero(n.at(RY))) return;
    n.set(D, sub(n.at(TX), n.at(RX)));
    n.set(E, sub(n.at(TY), n.at(RY)));
    if (is_zero(n.at(D))) {
      if (is_zero(n.at(E)))
        twice_one(TX, TY, RX, RY);
      else
        set_none(TX, TY);
      return;
    }
    n.set(K, sqr(n.at(D)));
    n.set(ZZ, mul(n.at(ZZ), n.at(K)));
    n.set(RX, mul(n.at(RX), n.at(K)));
    n.set(D, mul(n.at(D), n.at(K)));
    n.set(ZZZ, mul(n.at(ZZZ), n.at(D)));
    n.set(RY, mul(n.at(RY), n.at(D)));
    const F x = sub(sub(sqr(n.at(E)), n.at(D)), dbl(n.at(RX)));
    n.set(TX, x);
    n.set(TY, sub(mul(n.at(E), sub(n.at(RX), x)), n.at(RY)));
  }

  __device__ __forceinline__ void set_none(u32 x, u32 y) {
    F zero;
    set_zero(zero);
    n.set(x, zero);
    n.set(y, zero);
  }

  __device__ __forceinline__ void twice_one(u32 ax, u32 ay, u32 bx, u32 by) {
    const CommonZ<C> p = twice_first<C>({n.at(ax), n.at(ay), n.at(bx), n.at(by), n.at(ZZ), n.at(ZZZ)});
    n.set(ax, p.ax);
    n.set(ay, p.ay);
    n.set(bx, p.bx);
    n.set(by, p.by);
    n.set(ZZ, p.zz);
    n.set(ZZZ, p.zzz);
  }

  // write stores R and T as sums of their own.
  __device__ __forceinline__ void write(u32 *r, u32 *t) const {
    write_one(r, RX, RY);
    write_one(t, TX, TY);
  }
  __device__ __forceinline__ void write_one(u32 *to, u32 x, u32 y) const {
    F zero;
    set_zero(zero);
    const bool none = is_zero(n.at(x)) && is_zero(n.at(y));
    store_number(to, n.at(x));
    store_number(to + words, n.at(y));
    store_number(to + 2 * words, choose(none, zero, n.at(ZZ)));
    store_number(to + 3 * words, choose(none, zero, n.at(ZZZ)));
  }
};

// quad_add adds the sum at b to that at a, for four lanes: each does one of the products
// that can be done at a time, of which there are four in a row in place of fourteen. All
// lanes of a warp take part; those with active unset read and write nothing.
template <class C> DEVICE_INLINE void quad_add(u32 *a, const u32 *b, bool active) {
  typedef typename C::F F;
  enum : u32 { words = sizeof(F) / 4 };
  const u32 lane = threadIdx.x & 31, q = lane & 3, first = lane - q;
  const bool odd = q & 1;
  // X of a times ZZ of b, X of b times ZZ of a; the same for Y and ZZZ.
  const F z = load_if<F>(active, (odd ? a : b) + (2 + q / 2) * words), z_beside = beside(z);
  F m = mul(load_if<F>(active, (odd ? b : a) + q / 2 * words), z);
  const F m_beside = beside(m);
  // d in the first two lanes, e in the others
  const F diff = sub(choose(odd, m, m_beside), choose(odd, m_beside, m));
  const u32 none = ballot(is_zero(z)) >> first, same = ballot(is_zero(diff)) >> first;
  // d², ZZ ZZ, e², ZZZ ZZZ
  const F n = mul(choose(odd, z, diff), choose(odd, z_beside, diff));
  const F dd = from_lane(n, first), u = from_lane(m, first);
  // d³, ZZ, u d², -
  const F o = mul(choose(q == 0, diff, choose(q == 1, n, u)), dd);
  const F ddd = from_lane(o, first), zzz = from_lane(n, first + 3);
  const F x = sub(sub(n, ddd), dbl(o));
  // ZZZ, -, the two products of Y
  const F p = mul(choose(q == 2, diff, choose(q == 3, m_beside, zzz)), choose(q == 2, sub(o, x), ddd));
  const F y = sub(beside(p), p);
  if (!active || (none & 1)) return;
  if (none & 2) {
    store_number(a + q * words, load_number<F>(b + q * words));
    return;
  }
  if ((same & 5) == 5) {
    if (q != 0) return;
    XYZZ<C> sum = {load_number<F>(a), load_number<F>(a + words), load_number<F>(a + 2 * words), load_number<F>(a + 3 * words)};
    sum = twice(sum);
    store_number(a, sum.x);
    store_number(a + words, sum.y);
    store_number(a + 2 * words, sum.zz);
    store_number(a + 3 * words, sum.zzz);
    return;
  }
  const u32 place = q == 0 ? 3 : q == 1 ? 2 : q - 2;
  store_number(a + place * words, choose(q == 0, p, choose(q == 1, o, choose(q == 2, x, y))));
}

// quad_dbl doubles the sum at a in three rounds of products, four with A.
template <class C> DEVICE_INLINE void quad_dbl(u32 *a, bool active) {
  typedef typename C::F F;
  enum : u32 { words = sizeof(F) / 4 };
  const u32 lane = threadIdx.x & 31, q = lane & 3, first = lane - q;
  const F n = load_if<F>(active, a + q * words);
  // X², (2Y)², ZZ², -
  F m = choose(q == 1, dbl(n), n);
  m = sqr(m);
  const F xx = from_lane(m, first), v = from_lane(m, first + 1);
  F slope = add(dbl(xx), xx);
  if (!C::a_is_zero) slope = add(slope, from_lane(mul(C::a(), m), first + 2));
  // S = X V, W = 2Y V, ZZ V, M²
  const F o = mul(choose(q == 3, slope, choose(q == 1, dbl(n), n)), choose(q == 3, slope, v));
  const F s = from_lane(o, first), w = from_lane(o, first + 1), x = sub(from_lane(o, first + 3), dbl(s));
  // M (S - X), W Y, -, W ZZZ
  const F p = mul(choose(q == 0, slope, n), choose(q == 0, sub(s, x), w));
  const F y = sub(beside(p), p);
  if (active) store_number(a + q * words, choose(q == 0, x, choose(q == 1, y, choose(q == 2, o, p))));
}
