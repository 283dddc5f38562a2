// Sums of points from memory, by each technique: what is left of a product's rate in the
// loop that a multi-scalar multiplication spends its time in. A thread adds up count
// points, in XYZZ coordinates; entries are a point's index, and a sign in the highest bit.
#include "FP64_HEADER"
#include "GROUP_HEADER"
#include "field/fp64/fp64.cuh"

typedef FP64_FIELD P;
typedef P::Words W;
typedef Doubles<P> D;
typedef Affine<Group> Point;
typedef XYZZ<Group> Sum;

DEVICE_INLINE Point fetch(const u32 *points, u32 i) {
  Point r;
  const uint4 *const from = reinterpret_cast<const uint4 *>(points) + (u64)i * (sizeof(Point) / 16);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(Point) / 16; j++) {
    const uint4 v = ldg(from + j);
    to[4 * j] = v.x;
    to[4 * j + 1] = v.y;
    to[4 * j + 2] = v.z;
    to[4 * j + 3] = v.w;
  }
  return r;
}

DEVICE_INLINE void put(u32 *out, u32 t, const Sum &s) {
  const u32 *const from = reinterpret_cast<const u32 *>(&s);
  out += (u64)t * (sizeof(Sum) / 4);
#pragma unroll
  for (u32 j = 0; j < sizeof(Sum) / 4; j++) out[j] = from[j];
}

extern "C" __global__ void __launch_bounds__(128, WORDS_BLOCKS)
    bench_accumulate_words_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  entries += (u64)t * count;
  Sum sum;
  set_infinity(sum);
  for (u32 k = 0; k < count; k++) {
    const u32 e = ldg(entries + k);
    Point p = fetch(points, e & 0x7fffffffu);
    if (e >> 31) p = neg(p);
    sum = accumulate(sum, p);
  }
  put(out, t, canonical(sum));
}

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

extern "C" __global__ void __launch_bounds__(128, DOUBLES_BLOCKS)
    bench_accumulate_doubles_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  entries += (u64)t * count;
  DoubleSum s;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) s.x.x[j] = s.y.x[j] = s.zz.x[j] = s.zzz.x[j] = 0;
  for (u32 k = 0; k < count; k++) {
    const u32 e = ldg(entries + k);
    const Point p = fetch(points, e & 0x7fffffffu);
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
