// Sums of points from memory as in accumulate.cu, with coordinates as doubles.
#include "FP64_HEADER"
#include "GROUP_HEADER"
#include "bench/accumulate.cuh"
#include "field/fp64/fp64.cuh"

typedef FP64_FIELD P;
typedef Doubles<P> D;
typedef Affine<Group> Point;
typedef XYZZ<Group> Sum;

// A sum in doubles. Coordinates of points are elements for the radix 2^(32N), which the
// kernel takes as they are: zz and zzz carry the factor that makes up for it, and keep it.
struct DoubleSum {
  D x, y, zz, zzz;
};

DEVICE_INLINE D constant_enter() {
  D r;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) r.x[j] = P::enter(j);
  return r;
}

DEVICE_INLINE D constant_leave() {
  D r;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) r.x[j] = P::leave(j);
  return r;
}

DEVICE_CALL DoubleSum to_doubles(Sum s) {
  DoubleSum r;
  const D enter = constant_enter();
  r.x = mul(from_words<P>(s.x), enter);
  r.y = mul(from_words<P>(s.y), enter);
  r.zz = mul(mul(from_words<P>(s.zz), enter), enter);
  r.zzz = mul(mul(from_words<P>(s.zzz), enter), enter);
  return r;
}

DEVICE_CALL Sum from_doubles(DoubleSum s) {
  Sum r;
  const D leave = constant_leave();
  r.x = to_words(mul(s.x, leave));
  r.y = to_words(mul(s.y, leave));
  r.zz = to_words(mul(mul(s.zz, leave), leave));
  r.zzz = to_words(mul(mul(s.zzz, leave), leave));
  return r;
}

// exception is s + p where one of them is infinity, or their x are equal.
DEVICE_CALL DoubleSum exception(DoubleSum s, Point p) { return to_doubles(canonical(accumulate(from_doubles(s), p))); }

extern "C" __global__ void __launch_bounds__(128, RESIDENT)
    bench_accumulate_doubles_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  entries += (u64)t * count;
  DoubleSum s;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) s.x.x[j] = s.y.x[j] = s.zz.x[j] = s.zzz.x[j] = 0;
  for (u32 k = 0; k < count; k++) {
    const u32 e = ldg(entries + k);
    const Point p = fetch<Point>(point<Point>(points, e));
    const D px = from_words<P>(p.x);
    D py = from_words<P>(p.y);
    const u64 sign = (u64)(e >> 31) << 63;
#pragma unroll
    for (u32 j = 0; j < P::L; j++) py.x[j] = double_of(bits_of(py.x[j]) ^ sign);
    const D d = mul_less(px, s.zz, s.x), r = mul_less(py, s.zzz, s.y);
    // All sums but infinity have zz != 0; all points but infinity have some other word.
    if (is_zero(d) || is_zero(s.zz) || is_infinity(p)) {
      Point q = p;
      if (e >> 31) q = neg(q);
      s = exception(s, q);
      continue;
    }
    const D dd = sqr(d), ddd = mul(d, dd), v = mul(s.x, dd);
    s.x = sqr_less(r, ddd, v);
    s.y = mul_sub(r, sub(v, s.x), s.y, ddd);
    s.zz = mul(s.zz, dd);
    s.zzz = mul(s.zzz, ddd);
  }
  put(out, t, from_doubles(s));
}
