// Additions of two sums by four lanes of a warp, for chains of additions in which few go on
// at a time: lane k of a group of four holds the k-th coordinate of both summands and gets
// that of the sum. A warp's products take the same time whether one lane has one or all
// have, so that three or four in turn are a third of the time of an addition by one lane.
//
// All lanes of a warp call these, eight additions at a time; a group that has nothing to
// add passes anything that add would take. The formulas, and what is complete about them,
// are those of xyzz.cuh and edwards.cuh.
#pragma once
#include "curve/edwards.cuh"
#include "curve/xyzz.cuh"

// from_lane is what a lane of the warp passes as a.
template <class F> DEVICE_INLINE F from_lane(const F &a, u32 lane) {
  F r;
  const u32 *const from = reinterpret_cast<const u32 *>(&a);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = shfl_idx(from[j], lane);
  return r;
}

// choose is a or b.
template <class F> DEVICE_INLINE F choose(u32 first, const F &a, const F &b) {
  F r;
  const u32 *const from_a = reinterpret_cast<const u32 *>(&a), *const from_b = reinterpret_cast<const u32 *>(&b);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = first ? from_a[j] : from_b[j];
  return r;
}

// double_lanes is a lane's coordinate of 2 p, the work of one lane by all four.
template <class C> DEVICE_LARGE typename C::F double_lanes(const typename C::F &p) {
  typedef typename C::F F;
  const u32 lane = lane_id(), k = lane & 3, first = lane & 28;
  const XYZZ<C> s = dbl(XYZZ<C>{from_lane(p, first), from_lane(p, first + 1), from_lane(p, first + 2), from_lane(p, first + 3)});
  const F low = choose(k == 0, s.x, s.y), high = choose(k == 2, s.zz, s.zzz);
  return choose(k < 2, low, high);
}

// doubled_lanes is a call, as sums hardly ever need it.
template <class C> DEVICE_CALL typename C::F doubled_lanes(typename C::F p) { return double_lanes<C>(p); }

// add_lanes is a lane's coordinate of p + q. The last argument is a null pointer which says
// what form sums have.
template <class C> DEVICE_LARGE typename C::F add_lanes(const typename C::F &p, const typename C::F &q, const XYZZ<C> *) {
  typedef typename C::F F;
  const u32 lane = lane_id(), k = lane & 3, first = lane & 28;
  const u32 zero_p = shfl_idx(is_zero(p), first + 2), zero_q = shfl_idx(is_zero(q), first + 2);
  // U1 = X1 ZZ2, S1 = Y1 ZZZ2, U2, S2
  const F u = mul(p, from_lane(q, lane ^ 2)), other = from_lane(u, lane ^ 2);
  // D = U2 - U1 in lanes 0 and 2, E = S2 - S1 in 1 and 3
  const F d = sub(choose(k < 2, other, u), choose(k < 2, u, other));
  const u32 zero_d = is_zero(d), zero_e = shfl_idx(zero_d, lane ^ 1), same = zero_d && zero_e && !zero_p && !zero_q;
  // D^2, E^2, ZZ1 ZZ2, ZZZ1 ZZZ2
  const F v = mul(choose(k < 2, d, p), choose(k < 2, d, q));
  const F dd = from_lane(v, first), d0 = from_lane(d, first);
  // V = U1 D^2, D^3, ZZ, D^3
  const F w = mul(choose(k == 0, u, choose(k == 2, v, d0)), dd);
  const F v0 = from_lane(w, first), ddd = from_lane(w, first + 1), s1 = from_lane(u, first + 1);
  // X in lane 1, then S1 D^3, E (V - X), nothing, ZZZ
  const F x = sub(sub(v, w), dbl(v0));
  const F t = mul(choose(k == 1, d, choose(k == 0, s1, v)), choose(k == 1, sub(v0, x), ddd));
  const F y = sub(t, from_lane(t, first)), x1 = from_lane(x, first + 1);
  F r = choose(k < 2, choose(k == 0, x1, y), choose(k == 2, w, t));
  if (warp_any(same)) r = choose(same, doubled_lanes<C>(p), r);
  return choose(zero_p, q, choose(zero_q, p, r));
}

template <class C> DEVICE_LARGE typename C::F add_lanes(const typename C::F &p, const typename C::F &q, const Extended<C> *) {
  typedef typename C::F F;
  const u32 lane = lane_id(), k = lane & 3, first = lane & 28;
  const u32 zero_p = shfl_idx(is_zero(p), first + 3), zero_q = shfl_idx(is_zero(q), first + 3);
  // Y - X, Y + X, T, Z
  const F other_p = from_lane(p, lane ^ 1), other_q = from_lane(q, lane ^ 1);
  const F a = choose(k < 2, choose(k == 0, sub(other_p, p), add(p, other_p)), p);
  const F b = choose(k < 2, choose(k == 0, sub(other_q, q), add(q, other_q)), q);
  F u = mul(a, b);
  // 2d T1 T2 in lane 2, 2 Z1 Z2 in lane 3
  const F c = mul(u, C::d2());
  u = choose(k < 2, u, choose(k == 2, c, dbl(u)));
  const F other = from_lane(u, lane ^ 1);
  // E, H, F, G
  const F v = choose(k & 1, add(u, other), sub(other, u));
  // E F, H G, E H, F G
  const F r = mul(from_lane(v, first + (0x2010u >> 4 * k & 3)), from_lane(v, first + (0x3132u >> 4 * k & 3)));
  return choose(zero_p, q, choose(zero_q, p, r));
}
