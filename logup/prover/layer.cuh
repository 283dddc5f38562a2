// What the kernels of package logup/prover share: fractions, and what a round of
// a layer's sum-check does once its sums are known.
//
// Layer k is proved by a sum-check over k variables of eq(z, x) S(x), where
// S = p0 q1 + q0 (p1 + lambda q1) and p0, p1, q0, q1 are the numerators and
// denominators of the nodes (x, 0) and (x, 1) of layer k + 1. Its round i sums
// the inner polynomial t(X) = sum over y of eq(z_(i+1..), y) S(r_(0..i-1), X, y)
// at 0 (or at 1 where z_i = 0) and at 2; t(1) follows from the claim.
#pragma once
#include "sumcheck/prover/round.cuh"

// State is what one launch leaves to the next.
struct State {
  qm31 claim;    // on the layer, for its first round
  qm31 inner[3]; // t at 0, 1, 2 in the last round
  qm31 scale;    // eq of what was bound before the last round
  qm31 lambda;
  u32 counter; // blocks that are done
  u32 unused[3];
};

// Kinds of numerators: elements, or words of the prime field, all 1 if null.
#define KIND_EXT 0
#define KIND_BASE 1

// ---- products of two elements in sums that are reduced once -----------------

DEVICE_INLINE void sum_products(u64 s[4], qm31 v, qm31 w) {
  cm31 a = qm31_a(v), b = qm31_b(v), c = qm31_a(w), d = qm31_b(w), e = cm31_mul_r(b);
  u32 na = M31_P - a.im, nb = M31_P - b.im, ne = M31_P - e.im;
  s[0] = mad_wide(a.re, c.re, mad_wide(na, c.im, mad_wide(e.re, d.re, mad_wide(ne, d.im, s[0]))));
  s[1] = mad_wide(a.re, c.im, mad_wide(a.im, c.re, mad_wide(e.re, d.im, mad_wide(e.im, d.re, s[1]))));
  s[2] = mad_wide(a.re, d.re, mad_wide(na, d.im, mad_wide(b.re, c.re, mad_wide(nb, c.im, s[2]))));
  s[3] = mad_wide(a.re, d.im, mad_wide(a.im, d.re, mad_wide(b.re, c.im, mad_wide(b.im, c.re, s[3]))));
}

DEVICE_INLINE qm31 qm31_select(bool first, qm31 v, qm31 w) {
  return qm31_make(first ? v.x[0] : w.x[0], first ? v.x[1] : w.x[1], first ? v.x[2] : w.x[2], first ? v.x[3] : w.x[3]);
}

// qm31_sum_mad adds v w. Four products of words add up to at most 2^64 - 2^34,
// which leaves room for a partly reduced sum.
DEVICE_INLINE void qm31_sum_mad(qm31_sum &s, qm31 v, qm31 w) {
  for (int k = 0; k < 4; k++) s.w[k] = m31_partial(s.w[k]);
  sum_products(s.w, v, w);
}

// What warps do on their own, once in a while, calls these, since the code that a
// warp runs through for the first time takes longer to fetch than to run.
static __device__ __noinline__ qm31 mul_call(qm31 v, qm31 w) { return qm31_mul(v, w); }
static __device__ __noinline__ qm31 fold_call(qm31 lo, qm31 hi, qm31 r) { return qm31_fold(lo, hi, r); }

// ---- fractions ----------------------------------------------------------------

// Nodes are the two neighbours (x, 0) and (x, 1); N is u32 or qm31.
template <class N> struct Nodes {
  N p0, p1;
  qm31 q0, q1;
};

// Kind<K>::load reads the nodes at x.
template <int KIND> struct Kind;
template <> struct Kind<KIND_EXT> {
  DEVICE_INLINE Nodes<qm31> load(const u32 *num, const qm31 *den, u64 x) {
    Nodes<qm31> v;
    v.p0 = qm31_load(num, 2 * x), v.p1 = qm31_load(num, 2 * x + 1), v.q0 = den[2 * x], v.q1 = den[2 * x + 1];
    return v;
  }
};
template <> struct Kind<KIND_BASE> {
  DEVICE_INLINE Nodes<u32> load(const u32 *num, const qm31 *den, u64 x) {
    Nodes<u32> v;
    v.p0 = v.p1 = 1;
    if (num) {
      uint2 p = ((const uint2 *)num)[x];
      v.p0 = p.x, v.p1 = p.y;
    }
    v.q0 = den[2 * x], v.q1 = den[2 * x + 1];
    return v;
  }
};

// The same with the kind known at run time only.
DEVICE_INLINE Nodes<qm31> nodes_lifted(u32 kind, const u32 *num, const qm31 *den, u64 x) {
  if (kind == KIND_EXT) return Kind<KIND_EXT>::load(num, den, x);
  Nodes<u32> v = Kind<KIND_BASE>::load(num, den, x);
  Nodes<qm31> w;
  w.p0 = qm31_lift(v.p0), w.p1 = qm31_lift(v.p1), w.q0 = v.q0, w.q1 = v.q1;
  return w;
}

struct Fraction {
  qm31 p, q;
};

// fraction_sum is p0/q0 + p1/q1.
DEVICE_INLINE Fraction fraction_sum(const Nodes<qm31> &v) {
  Fraction f;
  qm31_sum s = qm31_sum_zero();
  sum_products(s.w, v.p0, v.q1);
  qm31_sum_mad(s, v.p1, v.q0);
  f.p = qm31_sum_value(s);
  f.q = qm31_mul(v.q0, v.q1);
  return f;
}

DEVICE_INLINE Fraction fraction_sum(const Nodes<u32> &v) {
  Fraction f;
  qm31_sum s;
  for (int k = 0; k < 4; k++) s.w[k] = mad_wide(v.p0, v.q1.x[k], mul_wide(v.p1, v.q0.x[k]));
  f.p = qm31_sum_value(s);
  f.q = qm31_mul(v.q0, v.q1);
  return f;
}

// fraction_store writes node x of layer k of a tree: the layer's 2^k numerators
// and then its denominators begin at element 2^(k+1).
DEVICE_INLINE void fraction_store(qm31 *tree, u32 k, u64 x, const Fraction &f) {
  u64 size = 1ull << k;
  tree[2 * size + x] = f.p;
  tree[3 * size + x] = f.q;
}

// ---- a layer's summand ---------------------------------------------------------

// summand is S = p0 q1 + q0 (p1 + lambda q1).
DEVICE_INLINE qm31 summand(const Nodes<qm31> &v, qm31 lambda) {
  qm31_sum s = qm31_sum_zero();
  sum_products(s.w, v.p0, v.q1);
  qm31_sum_mad(s, v.q0, qm31_add(v.p1, qm31_mul(lambda, v.q1)));
  return qm31_sum_value(s);
}

DEVICE_INLINE qm31 summand(const Nodes<u32> &v, qm31 lambda) {
  qm31_sum s = qm31_sum_zero();
  sum_products(s.w, v.q0, qm31_add_base(qm31_mul(lambda, v.q1), v.p1));
  qm31_sum_mad_base(s, v.p0, v.q1);
  return qm31_sum_value(s);
}

DEVICE_INLINE u32 at_two(u32 lo, u32 hi) { return m31_add(hi, m31_sub(hi, lo)); }
DEVICE_INLINE qm31 at_two(qm31 lo, qm31 hi) { return qm31_add(hi, qm31_sub(hi, lo)); }

DEVICE_INLINE u32 select(bool first, u32 v, u32 w) { return first ? v : w; }
DEVICE_INLINE qm31 select(bool first, qm31 v, qm31 w) { return qm31_select(first, v, w); }

// ---- a round's message --------------------------------------------------------

// Ahead is what of a message does not depend on the round's sums: t(1) is
// a - b t(0), or where z = 0 t(0) is a; and what t's values at 0, 2, 3 are
// multiplied by.
struct Ahead {
  qm31 a, b, factor[3];
};

// inverse_pair is what a layer has for each coordinate of its point: 1/z and
// (1 - z)/z, or zeros.
DEVICE_INLINE void inverse_pair(qm31 *pair, qm31 z) {
  qm31 v = qm31_inv(z);
  pair[0] = v;
  pair[1] = mul_call(v, qm31_sub(qm31_one(), z));
}

// ahead_claim is for one warp: the claim is t of the round before at r, that is
// t(0) + r ((t(1) - t(0)) + (r - 1) (t(2) - 2 t(1) + t(0)) / 2).
DEVICE_INLINE void ahead_claim(Ahead *ahead, const State *s, u32 round, const qm31 *point, const qm31 *z, const qm31 *inverse) {
  qm31 claim = s->claim;
  if (round > 0) {
    qm31 r = point[round - 1], t0 = s->inner[0], d = qm31_sub(s->inner[1], t0), e = qm31_sub(qm31_sub(s->inner[2], s->inner[1]), d);
    for (u32 k = 0; k < 4; k++) e.x[k] = m31_rotate(e.x[k], 30); // by 1/2
    claim = qm31_add(t0, mul_call(r, qm31_add(d, mul_call(qm31_sub_base(r, 1), e))));
  }
  qm31 a = qm31_is_zero(z[round]) ? claim : mul_call(claim, inverse[2 * round]);
  if ((threadIdx.x & 31) == 0) ahead->a = a, ahead->b = inverse[2 * round + 1];
}

// ahead_scale is for another warp; it takes the state's scale to this round.
DEVICE_INLINE void ahead_scale(Ahead *ahead, State *s, u32 round, const qm31 *point, const qm31 *z) {
  u32 lane = threadIdx.x & 31, at = lane == 0 ? 0 : lane == 1 ? 2 : 3;
  qm31 scale = qm31_one();
  if (round > 0) { // eq(z, r) = 1 - z - r + 2 z r
    qm31 r = point[round - 1], v = z[round - 1];
    scale = mul_call(s->scale, qm31_add(qm31_sub(qm31_sub(qm31_one(), v), r), qm31_dbl(mul_call(v, r))));
  }
  // eq(z, X) = (1 - z) + X (2z - 1)
  qm31 constant = qm31_sub(qm31_one(), z[round]), linear = qm31_sub(z[round], constant), x = qm31_zero();
  for (u32 i = 0; i < 3; i++)
    if (i < at) x = qm31_add(x, linear);
  qm31 f = mul_call(scale, qm31_add(constant, x));
  __syncwarp();
  if (lane < 3) ahead->factor[lane] = f;
  if (lane == 0) s->scale = scale;
}

// message is for one warp, all of whose lanes have the round's two sums. It
// writes the round's values at 0, 2, 3 to `out`, takes them through the
// transcript and returns the challenge. list is shared memory.
DEVICE_INLINE qm31 message(transcript &t, State *s, const Ahead *ahead, qm31 first, qm31 at2, bool at_one, qm31 *list, qm31 *out) {
  u32 lane = threadIdx.x & 31;
  qm31 at0 = first, at1 = first;
  if (at_one)
    at0 = ahead->a;
  else
    at1 = qm31_sub(ahead->a, mul_call(ahead->b, first));
  qm31 d = qm31_sub(at2, at1); // t(3) = t(0) + 3 (t(2) - t(1))
  qm31 v = lane == 0 ? at0 : lane == 1 ? at2 : qm31_add(at0, qm31_add(d, qm31_dbl(d)));
  v = mul_call(v, ahead->factor[lane < 3 ? lane : 0]);
  if (lane < 3) {
    list[lane] = v;
    out[lane] = v;
  }
  if (lane == 3) s->inner[0] = at0, s->inner[1] = at1, s->inner[2] = at2;
  __syncwarp();
  transcript_absorb(t, (const u32 *)list, 12);
  return transcript_challenge(t);
}

// ---- sums over threads, two at a time -------------------------------------------

DEVICE_INLINE qm31 qm31_shfl_xor(qm31 v, u32 x) {
  return qm31_make(shfl_xor(v.x[0], x), shfl_xor(v.x[1], x), shfl_xor(v.x[2], x), shfl_xor(v.x[3], x));
}

// pair_warp_sum: lanes with the same last bit get the sum of what they pass.
static __device__ __noinline__ qm31 pair_warp_sum(qm31 v) {
#pragma unroll
  for (u32 o = 2; o < 32; o *= 2) v = qm31_add(v, qm31_shfl_xor(v, o));
  return v;
}

// pair_of spreads two sums over a warp's even and odd lanes, half added up.
DEVICE_INLINE qm31 pair_of(qm31 even, qm31 odd) {
  bool is_odd = threadIdx.x & 1;
  qm31 keep = is_odd ? odd : even, send = is_odd ? even : odd;
  return qm31_add(keep, qm31_shfl_xor(send, 1));
}

// ---- eq ---------------------------------------------------------------------------

// eq_bits is eq(z, x) for the n bits of x, the first variable the top bit.
DEVICE_INLINE qm31 eq_bits(const qm31 *z, u32 n, u64 x) {
  qm31 v = qm31_one();
#pragma unroll 1
  for (u32 j = 0; j < n; j++) {
    qm31 f = x >> (n - 1 - j) & 1 ? z[j] : qm31_sub(qm31_one(), z[j]);
    v = j == 0 ? f : mul_call(v, f);
  }
  return v;
}
