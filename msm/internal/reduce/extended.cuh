// Sums over buckets in extended coordinates of a twisted Edwards curve (curve/edwards.cuh).
// The running sum R is added twice, to the sum T of its values and to the next bucket, and
// both take 2d times its T coordinate: 17 products a bucket in place of 18.
#pragma once
#include "curve/edwards.cuh"
#include "msm/internal/reduce/numbers.cuh"

enum : u32 { RX, RY, RT, RZ, TX, TY, TT, TZ, NUMBERS };

template <class C, class N> struct Running {
  typedef typename C::F F;
  enum : u32 { words = sizeof(F) / 4 };
  N n;
  bool begun;  // T is not infinity
  bool scaled; // RT is 2d times R's coordinate

  // Running begins with R a bucket's sum, or infinity if there is none, and T infinity.
  __device__ __forceinline__ Running(u64 *shared, const u32 *s, bool some) : n(shared), begun(false), scaled(false) {
    Extended<C> p;
    set_infinity(p);
    const F z = load_if<F>(some, s + 3 * words);
    const bool none = is_zero(z);
    n.set(RX, load_if<F>(some, s));
    n.set(RY, choose(none, p.y, load_if<F>(some, s + words)));
    n.set(RT, load_if<F>(some, s + 2 * words));
    n.set(RZ, choose(none, p.z, z));
    n.set(TX, p.x);
    n.set(TY, p.y);
    n.set(TT, p.t);
    n.set(TZ, p.z);
  }

  __device__ __forceinline__ void scale() {
    if (scaled) return;
    n.set(RT, mul(n.at(RT), C::d2()));
    scaled = true;
  }

  // finish is what both additions end with.
  __device__ __forceinline__ void finish(u32 x, const F &a, const F &b, const F &c, const F &d) {
    const F e = sub(b, a), f = sub(d, c), g = add(d, c), h = add(b, a);
    n.set(x, mul(e, f));
    n.set(x + 1, mul(g, h));
    n.set(x + 2, mul(e, h));
    n.set(x + 3, mul(f, g));
  }

  // take adds the sum s to R.
  template <class S> __device__ __forceinline__ void take(const S &s) {
    const F z = s.at(3);
    if (is_zero(z)) return;
    scale();
    const F d = dbl(mul(n.at(RZ), z)), c = mul(n.at(RT), s.at(2));
    const F x = s.at(0), y = s.at(1);
    const F a = mul(sub(n.at(RY), n.at(RX)), sub(y, x)), b = mul(add(n.at(RY), n.at(RX)), add(y, x));
    finish(RX, a, b, c, d);
    scaled = false;
  }

  // weigh adds R to T.
  __device__ __forceinline__ void weigh() {
    if (!begun) {
      begun = true;
#pragma unroll
      for (u32 i = 0; i < 4; i++) n.set(TX + i, n.at(RX + i));
      return;
    }
    scale();
    const F d = dbl(mul(n.at(RZ), n.at(TZ))), c = mul(n.at(RT), n.at(TT));
    const F a = mul(sub(n.at(RY), n.at(RX)), sub(n.at(TY), n.at(TX))), b = mul(add(n.at(RY), n.at(RX)), add(n.at(TY), n.at(TX)));
    finish(TX, a, b, c, d);
  }

  // write stores R and T as sums of their own.
  __device__ __forceinline__ void write(u32 *r, u32 *t) {
    if (scaled) {
      // The last buckets were empty: x = XZ/Z², y = YZ/Z², and XY for the third.
      const F z = n.at(RZ);
      n.set(RT, mul(n.at(RX), n.at(RY)));
      n.set(RX, mul(n.at(RX), z));
      n.set(RY, mul(n.at(RY), z));
      n.set(RZ, sqr(z));
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      store_number(r + i * words, n.at(RX + i));
      store_number(t + i * words, n.at(TX + i));
    }
  }
};

// quad_add adds the sum at b to that at a, for four lanes: each does one of the products
// that can be done at a time, of which there are three in a row in place of nine. All
// lanes of a warp take part; those with active unset read and write nothing.
template <class C> DEVICE_INLINE void quad_add(u32 *a, const u32 *b, bool active) {
  typedef typename C::F F;
  enum : u32 { words = sizeof(F) / 4 };
  const u32 lane = threadIdx.x & 31, q = lane & 3, first = lane - q;
  const u32 place = q == 0 ? 1 : q;
  // Y and X in the first two lanes; T, and Z, in the others
  const F ka = load_if<F>(active, a + place * words), kb = load_if<F>(active, b + place * words);
  const F xa = load_if<F>(active, a), xb = load_if<F>(active, b);
  const F na = choose(q == 0, sub(ka, xa), choose(q == 1, add(ka, xa), ka));
  const F nb = choose(q == 0, sub(kb, xb), choose(q == 1, add(kb, xb), kb));
  const u32 none_a = ballot(is_zero(ka)) >> first, none_b = ballot(is_zero(kb)) >> first;
  F m = mul(na, nb);
  m = choose(q == 2, mul(m, C::d2()), choose(q == 3, dbl(m), m));
  const F pa = from_lane(m, first), pb = from_lane(m, first + 1), pc = from_lane(m, first + 2), pd = from_lane(m, first + 3);
  const F e = sub(pb, pa), f = sub(pd, pc), g = add(pd, pc), h = add(pb, pa);
  const F p = mul(choose(q == 1, g, choose(q == 3, f, e)), choose(q == 0, f, choose(q == 3, g, h)));
  if (!active || (none_b & 8)) return;
  store_number(a + q * words, (none_a & 8) ? load_number<F>(b + q * words) : p);
}

// quad_dbl doubles the sum at a, which may be all 0, in two rounds of products.
template <class C> DEVICE_INLINE void quad_dbl(u32 *a, bool active) {
  typedef typename C::F F;
  enum : u32 { words = sizeof(F) / 4 };
  const u32 lane = threadIdx.x & 31, q = lane & 3, first = lane - q;
  // X², Y², (X + Y)², Z²
  const F n = load_if<F>(active, a + (q == 2 ? 0 : q) * words), k = load_if<F>(active && q == 2, a + words);
  const F m = sqr(add(n, k));
  const F xx = from_lane(m, first), yy = from_lane(m, first + 1);
  const F g = sub(yy, xx), h = neg(add(xx, yy)), e = add(from_lane(m, first + 2), h), f = sub(g, dbl(from_lane(m, first + 3)));
  const F p = mul(choose(q == 1, g, choose(q == 3, f, e)), choose(q == 0, f, choose(q == 3, g, h)));
  if (active) store_number(a + q * words, p);
}
