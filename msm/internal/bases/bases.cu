// What is done once with a set of bases: checks, multiples for tables, and points that
// are multiples of others (msm/known).
#define MONT_INLINE_WORDS 0
#include "GROUP_HEADER"

// Products are calls, one copy for all: nothing here is done often, and the compiler
// takes long over inlined ones.
struct F {
  Group::F v;
};
DEVICE_CALL F mul(F a, F b) { return {mul(a.v, b.v)}; }
DEVICE_INLINE F sqr(const F &a) { return mul(a, a); }
DEVICE_INLINE F add(const F &a, const F &b) { return {add(a.v, b.v)}; }
DEVICE_INLINE F sub(const F &a, const F &b) { return {sub(a.v, b.v)}; }
DEVICE_INLINE F dbl(const F &a) { return {dbl(a.v)}; }
DEVICE_INLINE F neg(const F &a) { return {neg(a.v)}; }
DEVICE_INLINE F mul_sub(const F &a, const F &b, const F &c, const F &d) { return sub(mul(a, b), mul(c, d)); }
DEVICE_INLINE u32 is_zero(const F &a) { return is_zero(a.v); }
DEVICE_INLINE u32 equal(const F &a, const F &b) { return equal(a.v, b.v); }
DEVICE_INLINE void set_zero(F &a) { set_zero(a.v); }
DEVICE_INLINE void set_one(F &a) { set_one(a.v); }

struct Curve {
  typedef ::F F;
  static constexpr bool a_is_zero = Group::a_is_zero;
  static __device__ __forceinline__ F a() { return {Group::a()}; }
};
typedef XYZZ<Curve> Sum;
typedef Affine<Curve> Point;
enum : u32 { N = sizeof(F) / 4 };

DEVICE_INLINE Sum twice(Sum s) { return dbl(s); }
DEVICE_INLINE Sum plus(Sum s, Point p) { return accumulate(s, p); }

// Coordinates are whole 8-byte words, and 16 bytes where it matters.
DEVICE_INLINE Point load_point(const u32 *__restrict__ points, u64 i) {
  Point p;
  const u64 *const from = reinterpret_cast<const u64 *>(points + i * (2 * N));
  u64 *const to = reinterpret_cast<u64 *>(&p);
#pragma unroll
  for (u32 k = 0; k < N; k++) to[k] = from[k];
  return p;
}

DEVICE_INLINE void store_coordinate(u32 *to, const F &a) {
  const Group::F c = canonical(a.v);
#pragma unroll
  for (u32 k = 0; k < N; k += 2) reinterpret_cast<u64 *>(to)[k / 2] = reinterpret_cast<const u64 *>(&c)[k / 2];
}

DEVICE_INLINE void store_sum(u32 *sums, u64 i, const Sum &s) {
  u32 *const to = sums + i * (4 * N);
  store_coordinate(to, s.x);
  store_coordinate(to + N, s.y);
  store_coordinate(to + 2 * N, s.zz);
  store_coordinate(to + 3 * N, s.zzz);
}

template <class P> DEVICE_INLINE u32 reduced(const Mont<P> &a) {
  u32 t = sub_cc(a.x[0], P::p(0));
#pragma unroll
  for (u32 j = 1; j < P::N; j++) t = subc_cc(a.x[j], P::p(j));
  t = subc(0u, 0u);
  return t != 0;
}

template <class P, u32 M> DEVICE_INLINE u32 reduced(const Fp2<P, M> &a) { return reduced(a.c0) & reduced(a.c1); }

// The least index of a point that is not on the curve, or whose coordinates are not
// below the modulus, goes to first.
extern "C" __global__ void __launch_bounds__(128) bases_check_VARIANT(const u32 *__restrict__ points, u32 n, u32 *first) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Point p = load_point(points, i);
  u32 good = reduced(p.x.v) & reduced(p.y.v);
  if (good && !is_infinity(p)) {
    F t = sqr(p.x);
    if (!Group::a_is_zero) t = add(t, Curve::a());
    good = equal(sqr(p.y), add(mul(t, p.x), F{Group::b()}));
  }
  if (!good) atomicMin(first, i);
}

// Multiples by numbers of so many bits in so many words: of each point if stride is 1
// and of one if 0, by numbers of their own if each is 1 and by one if 0. They go to
// sums, or, where first points somewhere, the least index of one that is not infinity
// goes there.
extern "C" __global__ void __launch_bounds__(128)
bases_multiply_VARIANT(u32 *sums, u32 *first, const u32 *__restrict__ points, u32 stride, const u32 *__restrict__ numbers, u32 each, u32 words, u32 bits, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Point p = load_point(points, (u64)i * stride);
  const u32 *const number = numbers + (u64)i * each * words;
  Sum s;
  set_infinity(s);
  u32 word = 0;
  for (u32 b = bits; b-- > 0;) {
    if (b + 1 == bits || b % 32 == 31) word = number[b / 32];
    s = twice(s);
    if (word >> (b % 32) & 1) s = plus(s, p);
  }
  if (!first) {
    store_sum(sums, i, s);
  } else if (!is_infinity(s)) {
    atomicMin(first, i);
  }
}

// Sum i of n is low[j mod 2^log] + high[j / 2^log] for j = from + i.
extern "C" __global__ void __launch_bounds__(128)
bases_pairs_VARIANT(u32 *sums, const u32 *__restrict__ low, const u32 *__restrict__ high, u32 log, u32 from, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const u32 j = from + i;
  Sum s;
  set_point(s, load_point(low, j & ((1u << log) - 1)));
  store_sum(sums, i, plus(s, load_point(high, j >> log)));
}
