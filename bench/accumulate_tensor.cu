// Sums of points from memory as in accumulate.cu, the products' reductions made by the
// tensor cores.
#include "GROUP_HEADER"
#include "bench/accumulate.cuh"
#include "bench/tensor.cuh"

typedef MONT_FIELD W;
typedef Tensor<W> T;
typedef Mont<W> F;
typedef Affine<Group> Point;
typedef XYZZ<Group> Sum;
enum : u32 { WARPS = THREADS / 32 };

// A reduction is a function that stays one, as its copies would fill the cache of
// instructions; so are products of more than 12 words.
DEVICE_CALL F reduced(Wide<W> t, T::Tables tables) {
  __shared__ T::Stage stages[WARPS];
  return T::reduce(stages[threadIdx.x / 32], t, tables);
}

DEVICE_CALL Wide<W> product_called(F a, F b) { return wide_mul(a, b); }

DEVICE_CALL Wide<W> square_called(F a) { return wide_sqr(a); }

DEVICE_INLINE Wide<W> product(const F &a, const F &b) { return W::N > 12 ? product_called(a, b) : wide_mul(a, b); }

DEVICE_INLINE Wide<W> square(const F &a) { return W::N > 12 ? square_called(a) : wide_sqr(a); }

// exception is s + p where one of them is infinity, or their x are equal.
DEVICE_CALL Sum exception(Sum s, Point p) { return accumulate(s, p); }

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    bench_accumulate_tensor_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count,
                                    const u32 *__restrict__ factor, const u32 *__restrict__ modulus) {
  const T::Tables tables = {(const uint2 *)factor, (const uint2 *)modulus};
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  entries += (u64)t * count;
  Sum s;
  set_infinity(s);
  // All lanes of a warp make all products, those with an exception for nothing.
  for (u32 k = 0; k < count; k++) {
    const u32 entry = ldg(entries + k);
    Point p = fetch<Point>(point<Point>(points, entry));
    if (entry >> 31) p = neg(p);
    const F d = sub(reduced(product(p.x, s.zz), tables), s.x), dd = reduced(square(d), tables), ddd = reduced(product(dd, d), tables),
            v = reduced(product(s.x, dd), tables);
    Sum r;
    r.zz = reduced(product(s.zz, dd), tables);
    const F e = sub(reduced(product(p.y, s.zzz), tables), s.y);
    r.zzz = reduced(product(s.zzz, ddd), tables);
    r.x = sub(sub(reduced(square(e), tables), ddd), dbl(v));
    r.y = reduced(sub(product(e, sub(v, r.x)), product(s.y, ddd)), tables);
    if (is_infinity(p) || is_infinity(s) || is_zero(d)) r = exception(s, p);
    s = r;
  }
  put(out, t, canonical(s));
}
