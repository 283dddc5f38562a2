// Prime fields of many words on the pipe for doubles, which does a multiply-add of 53
// bits in the time in which the integer pipe does one of 32: an element is L doubles,
// whole numbers with a sign, worth 2^(B j) each, in Montgomery form with the radix
// 2^(B L). The constants come as a struct P (params.cuh).
//
// A product of two limbs is exact in two doubles: h = fma(a, b, C), where C is so large
// that the sum is rounded to a multiple of 2^B, and l = fma(a, b, C - h), what the
// rounding left. Both are added up as integers: all h have the same exponent, and so
// have all l once 3·2^51 is added to them, so that sums of their bits are sums of their
// mantissas and a constant (N. Emmart, F. Zheng, C. Weems, "Faster modular
// exponentiation using double precision floating point arithmetic on the GPU", ARITH
// 2018; there with truncation and limbs without signs).
//
// Limbs of results are at most 2^(B-1) + 2^13 in size, what one pass of carries leaves.
// Sums and differences of two are taken limb by limb, without carries, and may be
// factors: a product of limbs may be 2^(B+51) in size. Numbers may be some multiples of
// p, and negative; functions say how large their results are.
#pragma once
#include "field/mont/mont.cuh"

template <class P> struct Doubles {
  double x[P::L];
};

// DoubleSteps adds up products in columns, lowest first, and reduces: acc is the columns
// from the one that is reduced next. PAIRS products of two elements are added, and
// SQUARES squares.
template <class P, u32 PAIRS, u32 SQUARES> struct DoubleSteps {
  enum : u32 { L = P::L, B = P::B, TOP = B - 32 };

  // magic brings whole numbers up to 2^51 in size to one exponent, where the last bit of
  // the mantissa is worth 1; large is the same for multiples of 2^B.
  static constexpr double magic = 6755399441055744.0; // 3·2^51
  static constexpr double large = magic * (double)(1ull << B);
  static constexpr double both = large + magic;
  static constexpr u64 magic_bits = 0x4338000000000000ull;
  static constexpr u64 large_bits = magic_bits + ((u64)B << 52);
  static constexpr u64 half = 1ull << (B - 1);

  u64 acc[L + 1];

  // How many low halves column c gets, of a product and of a square of elements, and of
  // the steps of the reduction but the last; and high halves column c + 1.
  static __device__ constexpr u32 products(i32 c) {
    return c < 0 || c > 2 * (i32)L - 2 ? 0 : c < (i32)L ? (u32)c + 1 : 2 * L - 1 - (u32)c;
  }
  static __device__ constexpr u32 squares(i32 c) { return (products(c) + 1) / 2; }
  static __device__ constexpr u32 reductions(i32 c) {
    const i32 first = c > (i32)L ? c - (i32)L : 0, last = c - 1 < (i32)L - 2 ? c - 1 : (i32)L - 2;
    return last < first ? 0 : (u32)(last - first) + 1;
  }
  static __device__ constexpr u32 halves(i32 c) { return PAIRS * products(c) + SQUARES * squares(c) + reductions(c); }

  // begin makes up for the constants in all that column c gets. A column is rounded to a
  // multiple of 2^B in the end, but for the highest.
  static __device__ constexpr u64 begin(i32 c) {
    u32 low = halves(c), high = halves(c - 1);
    if (c >= (i32)L) { // the last step's
      high++;
      if (c <= 2 * (i32)L - 2) low++;
    }
    return (c < 2 * (i32)L - 1 ? half : 0ull) - low * magic_bits - high * large_bits;
  }

  __device__ __forceinline__ DoubleSteps() {
#pragma unroll
    for (u32 j = 0; j <= L; j++) acc[j] = begin((i32)j);
  }

  // row adds b times the limbs of a from the first one on, to the columns from the same
  // one on.
  __device__ __forceinline__ void row(const double (&a)[L], u32 first, double b) {
    u64 high = 0;
#pragma unroll
    for (u32 j = first; j < L; j++) {
      const double h = fma_rn(a[j], b, large), l = fma_rn(a[j], b, add_rn(both, -h));
      acc[j] += bits_of(l) + high;
      high = bits_of(h);
    }
    acc[L] += high;
  }

  // square_row is limb i of a times those from it on, the others twice.
  __device__ __forceinline__ void square_row(const double (&a)[L], const double (&twice)[L], u32 i) {
    double f[L];
#pragma unroll
    for (u32 j = i; j < L; j++) f[j] = j == i ? a[j] : twice[j];
    row(f, i, a[i]);
  }

  // A column is a multiple of 2^B, the carry, and a remainder between -2^(B-1) and
  // 2^(B-1), since half of 2^B was added to begin with.
  static __device__ __forceinline__ i32 carry(u64 v) { return (i32)(v >> 32) >> TOP; }
  static __device__ __forceinline__ u64 remainder_bits(u64 v) {
    return (u64)(((u32)(v >> 32) & ((1u << TOP) - 1)) | (u32)(magic_bits >> 32)) << 32 | (u32)v;
  }
  static __device__ __forceinline__ double remainder(u64 bits) { return add_rn(double_of(bits), -(magic + (double)half)); }
  static __device__ __forceinline__ u64 add_carry(u64 v, i32 k) { return (u64)mad_wide(k, 1, (i64)v); }

  __device__ __forceinline__ void shift(u32 i) {
#pragma unroll
    for (u32 j = 0; j < L; j++) acc[j] = acc[j + 1];
    acc[L] = begin((i32)(i + L + 1));
  }

  // reduce makes column i a multiple of 2^B and drops it. The multiple of p that is added
  // is one whose lowest limb is -1, so that its factor needs no product; the last step
  // takes p itself, and leaves a number of about its size.
  __device__ __forceinline__ void reduce(u32 i) {
    const u64 v = acc[0];
    const double t = remainder(remainder_bits(v));
    double f[L];
    if (i < L - 1) {
#pragma unroll
      for (u32 j = 0; j < L; j++) f[j] = P::friendly(j);
      acc[1] = add_carry(acc[1], carry(v));
      shift(i);
      row(f, 0, t);
    } else {
#pragma unroll
      for (u32 j = 0; j < L; j++) f[j] = P::p(j);
      const double q = fma_rn(t, P::inverse(), large), m = fma_rn(t, P::inverse(), add_rn(large, -q));
      const double h = fma_rn(m, f[0], large), l = fma_rn(m, f[0], add_rn(both, -h));
      acc[1] = add_carry(acc[1] + bits_of(h), carry(v + bits_of(l) - (magic_bits + half)));
      row(f, 1, m);
      shift(i);
    }
  }

  // take_limbs takes c from the result; limbs are up to 2^51 in size.
  __device__ __forceinline__ void take_limbs(const Doubles<P> &c) {
#pragma unroll
    for (u32 j = 0; j < L; j++) acc[j] += bits_of(add_rn(magic, -c.x[j])) - magic_bits;
  }

  // nearest takes away the multiple of p that is nearest to the result, to within a
  // hundredth of p: the highest column says which.
  __device__ __forceinline__ void nearest() {
    const i32 x = (i32)((i64)acc[L - 1] >> P::SHIFT);
    const i32 q = -((x * (i32)P::RATIO + (1 << 27)) >> 28);
#pragma unroll
    for (u32 j = 0; j < L; j++) {
      const u64 v = (u64)mad_wide(q, P::p_low(j), (i64)acc[j]);
      acc[j] = (u64)((u32)(v >> 32) + (u32)(q * P::p_high(j))) << 32 | (u32)v;
    }
  }

  __device__ __forceinline__ Doubles<P> result() {
    Doubles<P> r;
#pragma unroll
    for (u32 j = 0; j < L - 1; j++) {
      const u64 bits = remainder_bits(acc[j]);
      r.x[j] = remainder(j == 0 ? bits : add_carry(bits, carry(acc[j - 1])));
    }
    r.x[L - 1] = add_rn(double_of(add_carry(acc[L - 1] + magic_bits, carry(acc[L - 2]))), -magic);
    return r;
  }
};

// Sizes, in units of p: of a b / 2^(BL) add 3/4 for the reduction.

// mul is a b.
template <class P> DEVICE_LARGE Doubles<P> mul(const Doubles<P> &a, const Doubles<P> &b) {
  DoubleSteps<P, 1, 0> s;
#pragma unroll
  for (u32 i = 0; i < P::L; i++) {
    s.row(a.x, 0, b.x[i]);
    s.reduce(i);
  }
  return s.result();
}

// mul_less is a b - c, at most 0.51 p in size, so that zero is zero in all limbs.
template <class P> DEVICE_LARGE Doubles<P> mul_less(const Doubles<P> &a, const Doubles<P> &b, const Doubles<P> &c) {
  DoubleSteps<P, 1, 0> s;
#pragma unroll
  for (u32 i = 0; i < P::L; i++) {
    s.row(a.x, 0, b.x[i]);
    s.reduce(i);
  }
  s.take_limbs(c);
  s.nearest();
  return s.result();
}

// sqr is a² for limbs of results, not of from_words.
template <class P> DEVICE_LARGE Doubles<P> sqr(const Doubles<P> &a) {
  DoubleSteps<P, 0, 1> s;
  double twice[P::L];
#pragma unroll
  for (u32 i = 0; i < P::L; i++) twice[i] = add_rn(a.x[i], a.x[i]);
#pragma unroll
  for (u32 i = 0; i < P::L; i++) {
    s.square_row(a.x, twice, i);
    s.reduce(i);
  }
  return s.result();
}

// sqr_less is a² - b - 2c for limbs of results, at most 0.51 p in size.
template <class P> DEVICE_LARGE Doubles<P> sqr_less(const Doubles<P> &a, const Doubles<P> &b, const Doubles<P> &c) {
  DoubleSteps<P, 0, 1> s;
  double twice[P::L];
#pragma unroll
  for (u32 i = 0; i < P::L; i++) twice[i] = add_rn(a.x[i], a.x[i]);
#pragma unroll
  for (u32 i = 0; i < P::L; i++) {
    s.square_row(a.x, twice, i);
    s.reduce(i);
  }
  s.take_limbs(b);
  s.take_limbs(c);
  s.take_limbs(c);
  s.nearest();
  return s.result();
}

// mul_sub is a b - c d.
template <class P> DEVICE_LARGE Doubles<P> mul_sub(const Doubles<P> &a, const Doubles<P> &b, const Doubles<P> &c, const Doubles<P> &d) {
  DoubleSteps<P, 2, 0> s;
#pragma unroll
  for (u32 i = 0; i < P::L; i++) {
    s.row(a.x, 0, b.x[i]);
    s.row(c.x, 0, -d.x[i]);
    s.reduce(i);
  }
  return s.result();
}

// sub is a - b limb by limb.
template <class P> DEVICE_INLINE Doubles<P> sub(const Doubles<P> &a, const Doubles<P> &b) {
  Doubles<P> r;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) r.x[j] = add_rn(a.x[j], -b.x[j]);
  return r;
}

// is_zero asks whether a number less than p in size is zero.
template <class P> DEVICE_INLINE u32 is_zero(const Doubles<P> &a) {
  if (a.x[0] != 0) return 0; // nearly always
  u32 zero = 1;
#pragma unroll
  for (u32 j = 1; j < P::L; j++) zero &= a.x[j] == 0;
  return zero;
}

// ---- words ---------------------------------------------------------------------------

// from_words takes the limbs of an element in the form of mont.cuh; it stands for the
// number times 2^(32N) / 2^(BL). Limbs are between 0 and 2^B.
template <class P> DEVICE_INLINE Doubles<P> from_words(const Mont<typename P::Words> &a) {
  enum : u32 { N = P::Words::N };
  Doubles<P> r;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) {
    const u32 k = P::B * j / 32, n = P::B * j % 32;
    const u32 w0 = k < N ? a.x[k] : 0, w1 = k + 1 < N ? a.x[k + 1] : 0, w2 = k + 2 < N ? a.x[k + 2] : 0;
    const u32 low = funnel_right(w0, w1, n), high = funnel_right(w1, w2, n) & ((1u << (P::B - 32)) - 1);
    r.x[j] = add_rn(double_of((u64)(high | 0x43300000u) << 32 | low), -4503599627370496.0); // 2^52
  }
  return r;
}

// to_words is the number itself, below p, of one less than 2p in size.
template <class P> DEVICE_INLINE Mont<typename P::Words> to_words(const Doubles<P> &a) {
  enum : u32 { N = P::Words::N };
  u64 limbs[P::L + 1], carry = 0;
#pragma unroll
  for (u32 j = 0; j < P::L; j++) {
    // 2p makes it positive.
    const i64 two = 2 * (i64)(((u64)(u32)P::p_high(j) << 32) + (u64)(i64)P::p_low(j));
    const u64 v = bits_of(add_rn(a.x[j], 6755399441055744.0)) - 0x4338000000000000ull + (u64)two + carry;
    limbs[j] = j + 1 < P::L ? v & ((1ull << P::B) - 1) : v;
    carry = (u64)((i64)v >> P::B);
  }
  limbs[P::L] = 0;
  Mont<typename P::Words> r;
#pragma unroll
  for (u32 k = 0; k < N; k++) {
    const u32 j = 32 * k / P::B, n = 32 * k % P::B;
    u64 v = j < P::L ? limbs[j] >> n : 0;
    if (P::B - n < 32 && j + 1 < P::L) v |= limbs[j + 1] << (P::B - n);
    r.x[k] = (u32)v;
  }
  Mont<typename P::Words> d;
  d.x[0] = sub_cc(r.x[0], P::Words::p2(0));
#pragma unroll
  for (u32 j = 1; j < N; j++) d.x[j] = subc_cc(r.x[j], P::Words::p2(j));
  const u32 borrow = subc(0u, 0u);
#pragma unroll
  for (u32 j = 0; j < N; j++) d.x[j] = borrow ? r.x[j] : d.x[j];
  r.x[0] = sub_cc(d.x[0], P::Words::p(0));
#pragma unroll
  for (u32 j = 1; j < N; j++) r.x[j] = subc_cc(d.x[j], P::Words::p(j));
  const u32 below = subc(0u, 0u);
#pragma unroll
  for (u32 j = 0; j < N; j++) r.x[j] = below ? d.x[j] : r.x[j];
  return r;
}
