// Every function of field/mont/mont.cuh over one field, an operation a launch. Numbers
// come below p; in the fields whose functions take any number below 2p, those whose
// bit of the index is set go in with p added.
#define MONT_INLINE_WORDS 0 // each product once: the same code as inlined ones, compiled faster
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"

typedef SCALAR_FIELD P;
typedef Mont<P> F;

DEVICE_INLINE F load(const u32 *from, u32 i, u32 raise) {
  F r;
#pragma unroll
  for (u32 j = 0; j < P::N; j++) r.x[j] = from[(u64)i * P::N + j];
  if (raise & 1) raise_by_p(r);
  return r;
}

DEVICE_INLINE void store(u32 *to, u32 i, const F &v) {
#pragma unroll
  for (u32 j = 0; j < P::N; j++) to[(u64)i * P::N + j] = v.x[j];
}

extern "C" __global__ void __launch_bounds__(64) conformance_field_VARIANT(u32 *out, const u32 *a, const u32 *b, const u32 *c, const u32 *d, u32 op, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const F x = load(a, i, i), y = load(b, i, i >> 1);
  F r;
  set_zero(r);
  switch (op) {
  case 0: r = mul(x, y); break;
  case 1: r = sqr(x); break;
  case 2: r = mul_sub(x, y, load(c, i, i >> 2), load(d, i, i >> 3)); break;
  case 3: r = mul_add(x, y, load(c, i, i >> 2), load(d, i, i >> 3)); break;
  case 4: r = add(x, y); break;
  case 5: r = sub(x, y); break;
  case 6: r = neg(x); break;
  case 7: r = dbl(x); break;
  case 8: r.x[0] = is_zero(x) | equal(x, y) << 1 | is_zero(sub(x, y)) << 2 | is_zero(add(x, neg(y))) << 3; break;
  case 9: r = x; break;
  case 10: r = from_montgomery(x); break;
  case 11: r = to_montgomery(load(a, i, 0)); break;
  case 12: r = reduce(add(wide_mul(x, y), wide_sqr(x))); break;
  case 13: r = reduce(sub(wide_mul(x, y), wide_sqr(x))); break;
  // both ways, whichever mul and mul_add take
  case 14: r = less_p(mul_interleaved(x, y)); break;
  case 15: r = less_p(reduce_lazy(wide_mul(x, y))); break;
  case 16: {
    const F z = load(c, i, i >> 2), w = load(d, i, i >> 3);
    r = P::SUMS ? less_p(less<P, true>(mul_sum_interleaved(x, y, z, w))) : mul_add(x, y, z, w);
    break;
  }
  case 17: r = reduce(add_products(wide_mul(x, y), wide_mul(load(c, i, i >> 2), load(d, i, i >> 3)))); break;
  case 18: set_one(r); break;
  // what functions give goes into others, as in the formulas of points
  case 19: {
    const F s = sub(mul(add(x, y), sub(x, y)), dbl(sqr(neg(x))));
    r = mul_sub(s, sub(y, s), add(s, s), dbl(y));
    break;
  }
  }
  store(out, i, op == 8 ? r : canonical(r));
}

extern "C" __global__ void __launch_bounds__(64) conformance_inverse_VARIANT(u32 *out, const u32 *a, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(out, i, canonical(inverse(load(a, i, i))));
}
