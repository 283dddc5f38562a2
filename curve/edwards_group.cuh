// One group of points of a curve y² = x³ + 1 in twisted Edwards form, for kernels that are
// written once for all groups. The curve has the point (-1, 0) of order 2; with s = 1/√3
// it is in Montgomery form, B v² = u³ + A u² + u, for
//
//	u = s (x + 1), v = s y, A = -3s, B = s
//
// and, with c² = -(A + 2)/B, -X² + Y² = 1 + d X² Y² for
//
//	X = c u/v, Y = (u - 1)/(u + 1), d = -(A - 2)/(A + 2)
//
// (D. Bernstein, P. Birkner, M. Joye, T. Lange, C. Peters, Twisted Edwards curves,
// AFRICACRYPT 2008, section 3).
#include "PARAMS_HEADER"
#include "curve/edwards.cuh"
#include "curve/xyzz.cuh"

struct Group {
  typedef COORDINATE F;
  // points as kernels take them, and sums of them
  typedef Niels<Group> Point;
  typedef Extended<Group> Sum;
  enum : u32 { words = sizeof(F) / 4 };
  static constexpr bool a_is_zero = true;
  static __device__ __forceinline__ F load(const u32 *t) {
    F r;
    u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
    for (u32 i = 0; i < words; i++) to[i] = t[i];
    return r;
  }
  static __device__ __forceinline__ F a() {
    F r;
    set_zero(r);
    return r;
  }
  static __device__ __forceinline__ F d2() {
    constexpr u32 t[words] = {D2_WORDS};
    return load(t);
  }
  static __device__ __forceinline__ F c() {
    constexpr u32 t[words] = {C_WORDS};
    return load(t);
  }
  // 1/s
  static __device__ __forceinline__ F root3() {
    constexpr u32 t[words] = {ROOT3_WORDS};
    return load(t);
  }
};

// from_extended is the sum on the Weierstrass curve, by 9 products: with w = X (Z - Y),
// x = (u - s)/s and y = c (Z + Y) Z / (s w), ZZ is w² and ZZZ is w³. Infinity has w = 0.
DEVICE_INLINE XYZZ<Group> from_extended(const Extended<Group> &p) {
  typedef Group::F F;
  const F up = add(p.z, p.y), down = sub(p.z, p.y), w = mul(p.x, down);
  XYZZ<Group> r;
  r.zz = sqr(w);
  r.zzz = mul(r.zz, w);
  r.x = mul(mul(sub(mul(up, Group::root3()), down), w), p.x);
  r.y = mul(mul(mul(mul(Group::c(), Group::root3()), up), p.z), r.zz);
  return r;
}

// fractions are the numerator and the denominator of X and of Y for a point of the
// Weierstrass curve that is not infinity. Points of odd order have no denominator 0.
struct Fractions {
  Group::F x, under_x, y, under_y;
};

DEVICE_INLINE Fractions fractions(const Affine<Group> &p) {
  typedef Group::F F;
  F one;
  set_one(one);
  // u over 1, times 1/s both
  const F t = add(p.x, one);
  return {mul(Group::c(), t), p.y, sub(t, Group::root3()), add(t, Group::root3())};
}

// precomputed is the point for affine X and Y.
DEVICE_INLINE Niels<Group> precomputed(const Group::F &x, const Group::F &y) { return {sub(y, x), add(y, x), mul(mul(x, y), Group::d2())}; }
