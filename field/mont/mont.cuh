// Prime fields of many words in Montgomery form: x stands for x 2^(32N) mod p. The
// constants come as a struct P (params.cuh). Every element that these functions take or
// give is below p.
//
// A product of all words of a by one word has its low and high halves overlap. Those
// of every other word do not: they are one chain of carries over a row of words, and
// two rows one word apart hold the whole product (P. L. Montgomery, Math. Comp. 44
// (1985), with the words interleaved as in CIOS: Koç, Acar, Kaliski, IEEE Micro 16
// (1996)).
#pragma once
#include "device/ptx.cuh"

template <class P> struct Mont {
  u32 x[P::N];
};

template <class P> struct MontSteps {
  enum : u32 { N = P::N };

  // chain adds b times every other word of a, from the first one on, to row, and leaves
  // the carry.
  static __device__ __forceinline__ void chain(u32 (&row)[N], const u32 (&a)[N], u32 first, u32 b) {
    row[0] = mad_lo_cc(a[first], b, row[0]);
    row[1] = madc_hi_cc(a[first], b, row[1]);
#pragma unroll
    for (u32 j = 2; j < N; j += 2) {
      row[j] = madc_lo_cc(a[first + j], b, row[j]);
      row[j + 1] = madc_hi_cc(a[first + j], b, row[j + 1]);
    }
  }

  // chain_down is the same for a row whose two lowest words are dropped, and with a
  // carry that comes in.
  static __device__ __forceinline__ void chain_down(u32 (&row)[N], const u32 (&a)[N], u32 first, u32 b) {
#pragma unroll
    for (u32 j = 0; j < N - 2; j += 2) {
      row[j] = madc_lo_cc(a[first + j], b, row[j + 2]);
      row[j + 1] = madc_hi_cc(a[first + j], b, row[j + 3]);
    }
    row[N - 2] = madc_lo_cc(a[first + N - 2], b, 0u);
    row[N - 1] = madc_hi(a[first + N - 2], b, 0u);
  }

  // reduce adds the multiple of p that makes even's lowest word 0; odd is the row one
  // word up.
  static __device__ __forceinline__ void reduce(u32 (&even)[N], u32 (&odd)[N], const u32 (&p)[N]) {
    const u32 m = even[0] * P::inverse;
    chain(odd, p, 1, m);
    chain(even, p, 0, m);
    odd[N - 1] = addc(odd[N - 1], 0u);
  }

  // step takes the sum one word down, adds a b, and reduces: even was one word above odd.
  static __device__ __forceinline__ void step(u32 (&even)[N], u32 (&odd)[N], const u32 (&a)[N], u32 b, const u32 (&p)[N]) {
    even[0] = add_cc(even[0], odd[1]);
    chain_down(odd, a, 1, b);
    chain(even, a, 0, b);
    odd[N - 1] = addc(odd[N - 1], 0u);
    reduce(even, odd, p);
  }
};

// below_p takes p away if x is not below it; x is below 2p.
template <class P> DEVICE_INLINE Mont<P> below_p(const Mont<P> &x) {
  Mont<P> r;
  r.x[0] = sub_cc(x.x[0], P::p(0));
#pragma unroll
  for (u32 j = 1; j < P::N; j++) r.x[j] = subc_cc(x.x[j], P::p(j));
  const u32 borrow = subc(0u, 0u);
#pragma unroll
  for (u32 j = 0; j < P::N; j++) r.x[j] = borrow ? x.x[j] : r.x[j];
  return r;
}

// mul is a b.
template <class P> DEVICE_LARGE Mont<P> mul(const Mont<P> &a, const Mont<P> &b) {
  typedef MontSteps<P> S;
  u32 p[P::N], even[P::N], odd[P::N];
#pragma unroll
  for (u32 j = 0; j < P::N; j++) p[j] = P::p(j);
#pragma unroll
  for (u32 j = 0; j < P::N; j += 2) {
    const u64 low = mul_wide(a.x[j], b.x[0]), high = mul_wide(a.x[j + 1], b.x[0]);
    even[j] = (u32)low;
    even[j + 1] = (u32)(low >> 32);
    odd[j] = (u32)high;
    odd[j + 1] = (u32)(high >> 32);
  }
  S::reduce(even, odd, p);
#pragma unroll
  for (u32 i = 1; i < P::N; i += 2) {
    S::step(odd, even, a.x, b.x[i], p);
    if (i + 1 < P::N) S::step(even, odd, a.x, b.x[i + 1], p);
  }
  // The last step was odd's: its lowest word is 0, and even is one word above it.
  Mont<P> r;
  r.x[0] = add_cc(even[0], odd[1]);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) r.x[j] = addc_cc(even[j], odd[j + 1]);
  r.x[P::N - 1] = addc(even[P::N - 1], 0u);
  return below_p(r);
}

// sqr is a a.
template <class P> DEVICE_LARGE Mont<P> sqr(const Mont<P> &a) { return mul(a, a); }

template <class P> DEVICE_INLINE Mont<P> add(const Mont<P> &a, const Mont<P> &b) {
  Mont<P> r;
  r.x[0] = add_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) r.x[j] = addc_cc(a.x[j], b.x[j]);
  r.x[P::N - 1] = addc(a.x[P::N - 1], b.x[P::N - 1]);
  return below_p(r);
}

template <class P> DEVICE_INLINE Mont<P> dbl(const Mont<P> &a) { return add(a, a); }

template <class P> DEVICE_INLINE Mont<P> sub(const Mont<P> &a, const Mont<P> &b) {
  Mont<P> r;
  r.x[0] = sub_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < P::N; j++) r.x[j] = subc_cc(a.x[j], b.x[j]);
  const u32 mask = subc(0u, 0u);
  r.x[0] = add_cc(r.x[0], P::p(0) & mask);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) r.x[j] = addc_cc(r.x[j], P::p(j) & mask);
  r.x[P::N - 1] = addc(r.x[P::N - 1], P::p(P::N - 1) & mask);
  return r;
}

template <class P> DEVICE_INLINE u32 is_zero(const Mont<P> &a) {
  u32 any = a.x[0];
#pragma unroll
  for (u32 j = 1; j < P::N; j++) any |= a.x[j];
  return any == 0;
}

template <class P> DEVICE_INLINE u32 equal(const Mont<P> &a, const Mont<P> &b) {
  u32 any = a.x[0] ^ b.x[0];
#pragma unroll
  for (u32 j = 1; j < P::N; j++) any |= a.x[j] ^ b.x[j];
  return any == 0;
}

template <class P> DEVICE_INLINE void set_zero(Mont<P> &a) {
#pragma unroll
  for (u32 j = 0; j < P::N; j++) a.x[j] = 0;
}

template <class P> DEVICE_INLINE void set_one(Mont<P> &a) {
#pragma unroll
  for (u32 j = 0; j < P::N; j++) a.x[j] = P::one(j);
}

template <class P> DEVICE_INLINE Mont<P> neg(const Mont<P> &a) {
  Mont<P> z;
  set_zero(z);
  return sub(z, a);
}

// mul_sub is a b - c d.
template <class P> DEVICE_LARGE Mont<P> mul_sub(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  return sub(mul(a, b), mul(c, d));
}

// mul_add is a b + c d.
template <class P> DEVICE_LARGE Mont<P> mul_add(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  return add(mul(a, b), mul(c, d));
}

// canonical is the element itself, its words below p whatever the functions above allow.
template <class P> DEVICE_INLINE Mont<P> canonical(const Mont<P> &a) { return a; }

// raise_by_p makes the larger of a's two representations from the smaller, where the
// functions take both; it is for tests.
template <class P> DEVICE_INLINE void raise_by_p(Mont<P> &a) {
  if (!P::LAZY) return;
  a.x[0] = add_cc(a.x[0], P::p(0));
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) a.x[j] = addc_cc(a.x[j], P::p(j));
  a.x[P::N - 1] = addc(a.x[P::N - 1], P::p(P::N - 1));
}

// from_montgomery is the number that a stands for, as plain words.
template <class P> DEVICE_INLINE Mont<P> from_montgomery(const Mont<P> &a) {
  Mont<P> one;
  set_zero(one);
  one.x[0] = 1;
  return mul(a, one);
}

// to_montgomery is the element of a number below p.
template <class P> DEVICE_INLINE Mont<P> to_montgomery(const Mont<P> &a) {
  Mont<P> r2;
#pragma unroll
  for (u32 j = 0; j < P::N; j++) r2.x[j] = P::r2(j);
  return mul(a, r2);
}

// inverse is 1/a by Fermat, 0 for 0.
template <class P> DEVICE_LARGE Mont<P> inverse(const Mont<P> &a) {
  Mont<P> r;
  set_one(r);
  // The exponent p - 2, from the top; the lowest word may be 1.
  u32 exponent[P::N];
  exponent[0] = sub_cc(P::p(0), 2u);
#pragma unroll
  for (u32 j = 1; j < P::N; j++) exponent[j] = subc_cc(P::p(j), 0u);
  for (i32 i = 32 * (i32)P::N - 1; i >= 0; i--) {
    const u32 e = exponent[(u32)i / 32];
    r = mul(r, r);
    if (e >> (i & 31) & 1) r = mul(r, a);
  }
  return r;
}
