// Every function of curve/fp2.cuh over one group's field, an operation a launch. Numbers
// come below p; in the fields whose functions take any number below 2p, those whose
// bit of the index is set go in with p added.
#define MONT_INLINE_WORDS 0 // each product once: the same code as inlined ones, compiled faster
#include "GROUP_HEADER"

typedef Group::F F;

DEVICE_INLINE F load(const u32 *from, u32 i, u32 raise) {
  F r = Group::load(from + (u64)i * Group::words);
  if (raise & 1) raise_by_p(r.c0);
  if (raise & 2) raise_by_p(r.c1);
  return r;
}

DEVICE_INLINE void store(u32 *to, u32 i, const F &v) {
  const u32 *const from = reinterpret_cast<const u32 *>(&v);
#pragma unroll
  for (u32 j = 0; j < Group::words; j++) to[(u64)i * Group::words + j] = from[j];
}

extern "C" __global__ void __launch_bounds__(64) conformance_fp2_VARIANT(u32 *out, const u32 *a, const u32 *b, const u32 *c, const u32 *d, u32 op, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const F x = load(a, i, i), y = load(b, i, i >> 2);
  F r;
  set_zero(r);
  switch (op) {
  case 0: r = mul(x, y); break;
  case 1: r = sqr(x); break;
  case 2: r = mul_sub(x, y, load(c, i, i >> 4), load(d, i, i >> 1)); break;
  case 3: r = mul_add(x, y, load(c, i, i >> 4), load(d, i, i >> 1)); break;
  case 4: r = add(x, y); break;
  case 5: r = sub(x, y); break;
  case 6: r = neg(x); break;
  case 7: r = dbl(x); break;
  case 8: r.c0.x[0] = is_zero(x) | equal(x, y) << 1 | is_zero(sub(x, y)) << 2 | is_zero(add(x, neg(y))) << 3; break;
  case 9: r = x; break;
  case 10: r = reduce(add(wide_mul(x, y), wide_mul(x, x))); break;
  case 11: r = reduce(sub(wide_mul(x, y), wide_mul(x, x))); break;
  case 12: set_one(r); break;
  case 13: {
    const F s = sub(mul(add(x, y), sub(x, y)), dbl(sqr(neg(x))));
    r = mul_sub(s, sub(y, s), add(s, s), dbl(y));
    break;
  }
  }
  store(out, i, op == 8 ? r : canonical(r));
}

extern "C" __global__ void __launch_bounds__(64) conformance_fp2_inverse_VARIANT(u32 *out, const u32 *a, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(out, i, canonical(inverse(load(a, i, i))));
}
