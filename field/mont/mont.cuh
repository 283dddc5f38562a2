// Prime fields of many words in Montgomery form: x stands for x 2^(32N) mod p. The
// constants come as a struct P (params.cuh). Every element that these functions take or
// give is below 2p where P::LAZY, else below p; canonical() is below p.
//
// A product of all words of a by one word has its low and high halves overlap. Those
// of every other word do not: they are one chain of carries over a row of words, and
// two rows one word apart hold the whole product (P. L. Montgomery, Math. Comp. 44
// (1985), with the words interleaved as in CIOS: Koç, Acar, Kaliski, IEEE Micro 16
// (1996)).
#pragma once
#include "device/ptx.cuh"
#include "field/mont/wide.cuh"

template <class P> struct Mont {
  u32 x[P::N];
};

// A unit may say MONT_INLINE_WORDS before it includes this: products of elements with
// more words are functions that are called. Every copy takes the compiler a while, and
// many copies more than the instruction cache: with 12 words, calls are as fast.
#if !defined(MONT_INLINE_WORDS)
#define MONT_INLINE_WORDS 8
#endif

// It may also say MONT_KARATSUBA 1: then products of 12 words are by Karatsuba's method,
// fewer multiplications, but twice the additions and more registers.
#if !defined(MONT_KARATSUBA)
#define MONT_KARATSUBA 0
#endif

// MontChoice is which way of multiplying is used.
template <class P> struct MontChoice {
  enum : u32 { levels = P::N >= 8 ? 1 : 0 }; // of Karatsuba's method in products that are not reduced at once
  static constexpr bool interleaved = P::N != 12 || !MONT_KARATSUBA, call = P::N > MONT_INLINE_WORDS;
};

// Wide is a number below p 2^(32N), such as a product of two elements: what one
// reduction takes.
template <class P> struct Wide {
  u32 x[2 * P::N];
};

// add_masked adds p, or 2p if twice, where mask is all ones.
template <class P, bool twice> DEVICE_INLINE void add_masked(u32 *x, u32 mask) {
  x[0] = add_cc(x[0], (twice ? P::p2(0) : P::p(0)) & mask);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) x[j] = addc_cc(x[j], (twice ? P::p2(j) : P::p(j)) & mask);
  x[P::N - 1] = addc(x[P::N - 1], (twice ? P::p2(P::N - 1) : P::p(P::N - 1)) & mask);
}

template <class P> struct MontSteps {
  enum : u32 { N = P::N };

  // multiple is m such that m p and row add up to a lowest word of 0. If the modulus's
  // lowest word is 1, m is the negative, written so that the assembler does not make
  // subtractions of the products below, which take it two instructions each.
  static __device__ __forceinline__ u32 multiple(const u32 *row) {
    return P::inverse == 0xffffffffu ? lop3<0x0f>(row[0] - 1, 0u, 0u) : mul_lo(row[0], P::inverse);
  }

  // clear adds m p's even words to the row, whose lowest word becomes 0, and the carry to
  // high, the row one word up.
  static __device__ __forceinline__ void clear(u32 *row, u32 *high, const u32 *p, u32 m) {
    if (P::inverse == 0xffffffffu) {
      row[0] = add_cc(row[0], m); // a carry, unless both are 0
      row[1] = addc_cc(row[1], 0u);
#pragma unroll
      for (u32 j = 2; j < N; j += 2) {
        row[j] = madc_lo_cc(p[j], m, row[j]);
        row[j + 1] = madc_hi_cc(p[j], m, row[j + 1]);
      }
    } else {
      row_add<N>(row, p, m);
    }
    high[N - 1] = addc(high[N - 1], 0u);
  }

  // down moves the row, one word above low, two words down and adds the carry and b times
  // every other one of a's words; low's lowest word takes over what is below that.
  static __device__ __forceinline__ void down(u32 *row, const u32 *a, u32 b) {
#pragma unroll
    for (u32 j = 0; j < N - 2; j += 2) {
      row[j] = madc_lo_cc(a[j], b, row[j + 2]);
      row[j + 1] = madc_hi_cc(a[j], b, row[j + 3]);
    }
    row[N - 2] = madc_lo_cc(a[N - 2], b, 0u);
    row[N - 1] = madc_hi(a[N - 2], b, 0u);
  }

  // step takes the sum one word down, adds a b, and clears the lowest word: even was one
  // word above odd.
  static __device__ __forceinline__ void step(u32 *even, u32 *odd, const u32 *a, u32 b, const u32 *p) {
    even[0] = add_cc(even[0], odd[1]);
    down(odd, a + 1, b);
    add_row(even, odd, a, b);
    const u32 m = multiple(even);
    row_add<N>(odd, p + 1, m);
    clear(even, odd, p, m);
  }

  // add_row adds a's even words times b to the row, and the carry to high.
  static __device__ __forceinline__ void add_row(u32 *row, u32 *high, const u32 *a, u32 b) {
    row_add<N>(row, a, b);
    high[N - 1] = addc(high[N - 1], 0u);
  }

  // step2 is step for a b + c d.
  static __device__ __forceinline__ void step2(u32 *even, u32 *odd, const u32 *a, u32 b, const u32 *c, u32 d, const u32 *p) {
    even[0] = add_cc(even[0], odd[1]);
    down(odd, a + 1, b);
    row_add<N>(odd, c + 1, d);
    add_row(even, odd, a, b);
    add_row(even, odd, c, d);
    const u32 m = multiple(even);
    row_add<N>(odd, p + 1, m);
    clear(even, odd, p, m);
  }

  // sum is even, one word up, and odd without its lowest word, which is 0.
  static __device__ __forceinline__ void sum(u32 *r, const u32 *even, const u32 *odd) {
    r[0] = add_cc(even[0], odd[1]);
#pragma unroll
    for (u32 j = 1; j < N - 1; j++) r[j] = addc_cc(even[j], odd[j + 1]);
    r[N - 1] = addc(even[N - 1], 0u);
  }
};

// mul_interleaved is a b / 2^(32N), below 2p, by a word of b and a step of the reduction
// in turn.
template <class P> DEVICE_INLINE Mont<P> mul_interleaved(const Mont<P> &a, const Mont<P> &b) {
  typedef MontSteps<P> S;
  enum : u32 { N = P::N };
  u32 p[N + 1], even[N], odd[N];
#pragma unroll
  for (u32 j = 0; j < N; j++) p[j] = P::p(j);
  row_start<N>(even, a.x, b.x[0]);
  row_start<N>(odd, a.x + 1, b.x[0]);
  const u32 m = S::multiple(even);
  row_add<N>(odd, p + 1, m);
  S::clear(even, odd, p, m);
#pragma unroll
  for (u32 i = 1; i < N; i += 2) {
    S::step(odd, even, a.x, b.x[i], p);
    if (i + 1 < N) S::step(even, odd, a.x, b.x[i + 1], p);
  }
  Mont<P> r;
  S::sum(r.x, even, odd);
  return r;
}

// mul_sum_interleaved is (a b + c d) / 2^(32N) with one reduction. The sum stays below
// 2^32 (a + c + p), for which there is room if P::SUMS.
template <class P> DEVICE_INLINE Mont<P> mul_sum_interleaved(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  typedef MontSteps<P> S;
  enum : u32 { N = P::N };
  u32 p[N + 1], even[N], odd[N];
#pragma unroll
  for (u32 j = 0; j < N; j++) p[j] = P::p(j);
  row_start<N>(even, a.x, b.x[0]);
  row_start<N>(odd, a.x + 1, b.x[0]);
  row_add<N>(odd, c.x + 1, d.x[0]);
  S::add_row(even, odd, c.x, d.x[0]);
  const u32 m = S::multiple(even);
  row_add<N>(odd, p + 1, m);
  S::clear(even, odd, p, m);
#pragma unroll
  for (u32 i = 1; i < N; i += 2) {
    S::step2(odd, even, a.x, b.x[i], c.x, d.x[i], p);
    if (i + 1 < N) S::step2(even, odd, a.x, b.x[i + 1], c.x, d.x[i + 1], p);
  }
  Mont<P> r;
  S::sum(r.x, even, odd);
  return r;
}

// reduce is t / 2^(32N), below 2p.
template <class P> DEVICE_INLINE Mont<P> reduce_lazy(const Wide<P> &t) {
  typedef MontSteps<P> S;
  enum : u32 { N = P::N };
  u32 p[N + 1], even[N], odd[N];
#pragma unroll
  for (u32 j = 0; j < N; j++) p[j] = P::p(j), even[j] = t.x[j];
  u32 m = S::multiple(even);
  row_start<N>(odd, p + 1, m);
  S::clear(even, odd, p, m);
#pragma unroll
  for (u32 i = 1; i < N; i += 2) {
    odd[0] = add_cc(odd[0], even[1]);
    m = S::multiple(odd); // the carry stays
    S::down(even, p + 1, m);
    S::clear(odd, even, p, m);
    if (i + 1 < N) {
      even[0] = add_cc(even[0], odd[1]);
      m = S::multiple(even);
      S::down(odd, p + 1, m);
      S::clear(even, odd, p, m);
    }
  }
  // The sum is at most p, and the upper half of t is below p.
  Mont<P> r;
  S::sum(r.x, even, odd);
  r.x[0] = add_cc(r.x[0], t.x[N]);
#pragma unroll
  for (u32 j = 1; j < N - 1; j++) r.x[j] = addc_cc(r.x[j], t.x[N + j]);
  r.x[N - 1] = addc(r.x[N - 1], t.x[2 * N - 1]);
  return r;
}

// less takes p, or 2p if twice, away where that leaves no negative number.
template <class P, bool twice> DEVICE_INLINE Mont<P> less(const Mont<P> &x) {
  Mont<P> r;
  r.x[0] = sub_cc(x.x[0], twice ? P::p2(0) : P::p(0));
#pragma unroll
  for (u32 j = 1; j < P::N; j++) r.x[j] = subc_cc(x.x[j], twice ? P::p2(j) : P::p(j));
  const u32 borrow = subc(0u, 0u);
#pragma unroll
  for (u32 j = 0; j < P::N; j++) r.x[j] = borrow ? x.x[j] : r.x[j];
  return r;
}

template <class P> DEVICE_INLINE Mont<P> less_p(const Mont<P> &x) { return less<P, false>(x); }

// wide_mul and wide_sqr are the products alone.
template <class P> DEVICE_INLINE Wide<P> wide_mul(const Mont<P> &a, const Mont<P> &b) {
  Wide<P> r;
  WideLevels<P::N, MontChoice<P>::levels>::mul(r.x, a.x, b.x);
  return r;
}

template <class P> DEVICE_INLINE Wide<P> wide_sqr(const Mont<P> &a) {
  Wide<P> r;
  sqr_rows<P::N>(r.x, a.x);
  return r;
}

template <class P> DEVICE_INLINE Wide<P> sub(const Wide<P> &a, const Wide<P> &b) {
  Wide<P> r;
  r.x[0] = sub_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < 2 * P::N; j++) r.x[j] = subc_cc(a.x[j], b.x[j]);
  const u32 mask = subc(0u, 0u);
  add_masked<P, false>(r.x + P::N, mask);
  return r;
}

// less_wide takes p 2^(32N) away where that leaves no negative number.
template <class P> DEVICE_INLINE Wide<P> less_wide(const Wide<P> &t) {
  Mont<P> high;
  Wide<P> r = t;
#pragma unroll
  for (u32 j = 0; j < P::N; j++) high.x[j] = t.x[P::N + j];
  high = less_p(high);
#pragma unroll
  for (u32 j = 0; j < P::N; j++) r.x[P::N + j] = high.x[j];
  return r;
}

template <class P> DEVICE_INLINE Wide<P> add_words(const Wide<P> &a, const Wide<P> &b) {
  Wide<P> r;
  r.x[0] = add_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < 2 * P::N - 1; j++) r.x[j] = addc_cc(a.x[j], b.x[j]);
  r.x[2 * P::N - 1] = addc(a.x[2 * P::N - 1], b.x[2 * P::N - 1]);
  return r;
}

template <class P> DEVICE_INLINE Wide<P> add(const Wide<P> &a, const Wide<P> &b) { return less_wide(add_words(a, b)); }

// add_products is the sum of two products of elements, which is below p 2^(32N) by itself
// with three spare bits, 8p² being so, or where elements are below p, 2p² being so.
template <class P> DEVICE_INLINE Wide<P> add_products(const Wide<P> &a, const Wide<P> &b) {
  return P::SPARE > 2 || !P::LAZY ? add_words(a, b) : add(a, b);
}

// The same for words, with no regard to p: sums and differences that are known to fit.
template <class P> DEVICE_INLINE Wide<P> sub_words(const Wide<P> &a, const Wide<P> &b) {
  Wide<P> r;
  r.x[0] = sub_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < 2 * P::N - 1; j++) r.x[j] = subc_cc(a.x[j], b.x[j]);
  r.x[2 * P::N - 1] = subc(a.x[2 * P::N - 1], b.x[2 * P::N - 1]);
  return r;
}

template <class P> DEVICE_INLINE Mont<P> add_words(const Mont<P> &a, const Mont<P> &b) {
  Mont<P> r;
  r.x[0] = add_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) r.x[j] = addc_cc(a.x[j], b.x[j]);
  r.x[P::N - 1] = addc(a.x[P::N - 1], b.x[P::N - 1]);
  return r;
}

template <class P> DEVICE_INLINE Wide<P> five_times(const Wide<P> &a) {
  Wide<P> four;
  four.x[0] = a.x[0] << 2;
#pragma unroll
  for (u32 j = 1; j < 2 * P::N; j++) four.x[j] = funnel_left(a.x[j - 1], a.x[j], 2);
  return add_words(four, a);
}

// reduce is t / 2^(32N).
template <class P> DEVICE_INLINE Mont<P> reduce(const Wide<P> &t) {
  const Mont<P> r = reduce_lazy(t);
  return P::LAZY ? r : less_p(r);
}

template <class P> DEVICE_INLINE Mont<P> mul_here(const Mont<P> &a, const Mont<P> &b) {
  if (!MontChoice<P>::interleaved) return reduce(wide_mul(a, b));
  const Mont<P> r = mul_interleaved(a, b);
  return P::LAZY ? r : less_p(r);
}

// negative is a number congruent to -a, from 1 to 2p, or to p where elements are below p.
template <class P> DEVICE_INLINE Mont<P> negative(const Mont<P> &a) {
  Mont<P> r;
  r.x[0] = sub_cc(P::LAZY ? P::p2(0) : P::p(0), a.x[0]);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) r.x[j] = subc_cc(P::LAZY ? P::p2(j) : P::p(j), a.x[j]);
  r.x[P::N - 1] = subc(P::LAZY ? P::p2(P::N - 1) : P::p(P::N - 1), a.x[P::N - 1]);
  return r;
}

template <class P> DEVICE_INLINE Mont<P> mul_add_here(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  if (!MontChoice<P>::interleaved || !P::SUMS) return reduce(add_products(wide_mul(a, b), wide_mul(c, d)));
  const Mont<P> r = mul_sum_interleaved(a, b, c, d);
  // Below p + 8p² / 2^(32N), or p + 2p² / 2^(32N).
  if (P::LAZY) return P::SPARE > 2 ? r : less<P, true>(r);
  return less_p(r);
}

template <class P> DEVICE_INLINE Mont<P> mul_sub_here(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  if (!MontChoice<P>::interleaved || !P::SUMS) return reduce(sub(wide_mul(a, b), wide_mul(c, d)));
  return mul_add_here(a, b, negative(c), d);
}

// The products of long elements are functions that are called, their words passed in
// registers: copies of some thousand instructions each would cost more, and take the
// compiler minutes.
template <class P> DEVICE_CALL Mont<P> mul_called(Mont<P> a, Mont<P> b) { return mul_here(a, b); }

template <class P> DEVICE_CALL Mont<P> sqr_called(Mont<P> a) { return reduce(wide_sqr(a)); }

template <class P> DEVICE_CALL Mont<P> mul_sub_called(Mont<P> a, Mont<P> b, Mont<P> c, Mont<P> d) {
  return mul_sub_here(a, b, c, d);
}

template <class P> DEVICE_CALL Mont<P> mul_add_called(Mont<P> a, Mont<P> b, Mont<P> c, Mont<P> d) {
  return mul_add_here(a, b, c, d);
}

// mul is a b.
template <class P> DEVICE_LARGE Mont<P> mul(const Mont<P> &a, const Mont<P> &b) {
  return MontChoice<P>::call ? mul_called(a, b) : mul_here(a, b);
}

// sqr is a a.
template <class P> DEVICE_LARGE Mont<P> sqr(const Mont<P> &a) {
  return MontChoice<P>::call ? sqr_called(a) : reduce(wide_sqr(a));
}

// mul_sub is a b - c d.
template <class P> DEVICE_LARGE Mont<P> mul_sub(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  return MontChoice<P>::call ? mul_sub_called(a, b, c, d) : mul_sub_here(a, b, c, d);
}

// mul_add is a b + c d.
template <class P> DEVICE_LARGE Mont<P> mul_add(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  return MontChoice<P>::call ? mul_add_called(a, b, c, d) : mul_add_here(a, b, c, d);
}

template <class P> DEVICE_INLINE Mont<P> add(const Mont<P> &a, const Mont<P> &b) {
  Mont<P> r;
  r.x[0] = add_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < P::N - 1; j++) r.x[j] = addc_cc(a.x[j], b.x[j]);
  r.x[P::N - 1] = addc(a.x[P::N - 1], b.x[P::N - 1]);
  return less<P, P::LAZY>(r);
}

template <class P> DEVICE_INLINE Mont<P> dbl(const Mont<P> &a) { return add(a, a); }

template <class P> DEVICE_INLINE Mont<P> sub(const Mont<P> &a, const Mont<P> &b) {
  Mont<P> r;
  r.x[0] = sub_cc(a.x[0], b.x[0]);
#pragma unroll
  for (u32 j = 1; j < P::N; j++) r.x[j] = subc_cc(a.x[j], b.x[j]);
  const u32 mask = subc(0u, 0u);
  add_masked<P, P::LAZY>(r.x, mask);
  return r;
}

// is_zero says whether a is 0, which has two representations where the functions take
// numbers up to 2p. Hardly ever is more than a word looked at.
template <class P> DEVICE_INLINE u32 is_zero(const Mont<P> &a) {
  if (a.x[0] != 0 && (!P::LAZY || a.x[0] != P::p(0))) return 0;
  u32 zero = a.x[0], p = a.x[0] ^ P::p(0);
#pragma unroll
  for (u32 j = 1; j < P::N; j++) {
    zero |= a.x[j];
    p |= a.x[j] ^ P::p(j);
  }
  return zero == 0 || (P::LAZY && p == 0);
}

template <class P> DEVICE_INLINE u32 equal(const Mont<P> &a, const Mont<P> &b) {
  if (P::LAZY) return is_zero(sub(a, b));
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

// canonical is the element itself, its words below p whatever the functions above allow.
template <class P> DEVICE_INLINE Mont<P> canonical(const Mont<P> &a) { return P::LAZY ? less_p(a) : a; }

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
  Wide<P> t;
#pragma unroll
  for (u32 j = 0; j < P::N; j++) {
    t.x[j] = a.x[j];
    t.x[P::N + j] = 0;
  }
  return less_p(reduce_lazy(t));
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
