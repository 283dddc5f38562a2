// Points and sums from one form of a curve to the other.
#define MONT_INLINE_WORDS 0
#include "GROUP_HEADER"

template <class T> DEVICE_INLINE T load(const u32 *base, u64 i) {
  T r;
  const uint4 *const from = reinterpret_cast<const uint4 *>(base) + i * (sizeof(T) / 16);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(T) / 16; j++) {
    const uint4 v = from[j];
    to[4 * j] = v.x;
    to[4 * j + 1] = v.y;
    to[4 * j + 2] = v.z;
    to[4 * j + 3] = v.w;
  }
  return r;
}

template <class T> DEVICE_INLINE void store(u32 *base, u64 i, const T &r) {
  uint4 *const to = reinterpret_cast<uint4 *>(base) + i * (sizeof(T) / 16);
  const u32 *const from = reinterpret_cast<const u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(T) / 16; j++) {
    uint4 v;
    v.x = from[4 * j];
    v.y = from[4 * j + 1];
    v.z = from[4 * j + 2];
    v.w = from[4 * j + 3];
    to[j] = v;
  }
}

// Each of so many threads takes every threads-th point, with one inversion for all
// (P. L. Montgomery, Speeding the Pollard and elliptic curve methods, Math. Comp. 48
// (1987), 10.3.1). Until its point is known, a place of out holds the product of the
// denominators before it.
struct Denominator {
  Group::F both;
  u32 infinity;
};

DEVICE_INLINE Denominator denominator(const Affine<Group> &p, const Fractions &f) {
  Denominator d;
  d.both = mul(f.under_x, f.under_y);
  // A point of even order has no image; it must not spoil the others.
  d.infinity = is_infinity(p) || is_zero(d.both);
  if (d.infinity) set_one(d.both);
  return d;
}

extern "C" __global__ void __launch_bounds__(128) edwards_from_affine_VARIANT(const u32 *points, u32 *out, u32 n, u32 threads) {
  typedef Group::F F;
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return; // which are no more than n
  const u32 places = sizeof(Niels<Group>) / sizeof(F);
  F product;
  set_one(product);
  u64 i = t;
  for (; i < n; i += threads) {
    const Affine<Group> p = load<Affine<Group>>(points, i);
    store(out, i * places, product);
    product = mul(product, denominator(p, fractions(p)).both);
  }
  F rest = inverse(product);
  while (i > t) {
    i -= threads;
    const Affine<Group> p = load<Affine<Group>>(points, i);
    const Fractions f = fractions(p);
    const Denominator d = denominator(p, f);
    const F inverse = mul(rest, load<F>(out, i * places));
    rest = mul(rest, d.both);
    Niels<Group> q;
    if (d.infinity)
      set_infinity(q);
    else
      q = precomputed(mul(f.x, mul(inverse, f.under_y)), mul(f.y, mul(inverse, f.under_x)));
    store(out, i, canonical(q));
  }
}

extern "C" __global__ void __launch_bounds__(128) edwards_to_xyzz_VARIANT(const u32 *sums, u32 *out, u32 n) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  store(out, t, canonical(from_extended(load<Extended<Group>>(sums, t))));
}
