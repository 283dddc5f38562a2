// Mersenne-31 and its extensions CM31 (i^2 = -1) and QM31 (u^2 = 2 + i), the
// twin of package m31. All words are canonical, below M31_P, unless a comment
// says otherwise.
#pragma once
#include "device/ptx.cuh"

#define M31_P 0x7fffffffu

// ---- M31 ------------------------------------------------------------------

// m31_once takes a word below 2P to its residue: the subtraction wraps to a
// large number exactly when it is not due.
DEVICE_INLINE u32 m31_once(u32 s) {
  u32 d = s - M31_P;
  return s < d ? s : d;
}

DEVICE_INLINE u32 m31_add(u32 a, u32 b) { return m31_once(a + b); }

DEVICE_INLINE u32 m31_sub(u32 a, u32 b) {
  u32 d = a - b, e = d + M31_P;
  return d < e ? d : e;
}

DEVICE_INLINE u32 m31_neg(u32 a) { return m31_sub(0, a); }

DEVICE_INLINE u32 m31_dbl(u32 a) { return m31_once(a + a); }

// m31_mul doubles one operand, so that the product's high word is the quotient
// by 2^31 and its low word twice the remainder.
DEVICE_INLINE u32 m31_mul(u32 a, u32 b) {
  u64 p = mul_wide(a, b << 1);
  return m31_once((u32)(p >> 32) + ((u32)p >> 1));
}

DEVICE_INLINE u32 m31_sqr(u32 a) { return m31_mul(a, a); }

// m31_rotate is a * 2^k for k in 0..30: multiplication by 2 rotates the 31 bits.
DEVICE_INLINE u32 m31_rotate(u32 a, u32 k) { return funnel_left(a << 1, a, k) & M31_P; }

// m31_partial takes any 64-bit sum to one below 2^34 in the same class.
DEVICE_INLINE u64 m31_partial(u64 x) { return (x & M31_P) + (x >> 31); }

// m31_reduce takes any 64-bit sum to its residue.
DEVICE_INLINE u32 m31_reduce(u64 x) {
  u32 s = m31_once(((u32)x & M31_P) + ((u32)(x >> 31) & M31_P)); // <= P
  return m31_once(s + (u32)(x >> 62));
}

// m31_from_i32 takes a signed integer to its residue.
DEVICE_INLINE u32 m31_from_i32(i32 v) {
  return v < 0 ? m31_neg(m31_once(0u - (u32)v)) : m31_once((u32)v);
}

DEVICE_INLINE u32 m31_squares(u32 a, int n) {
  for (int i = 0; i < n; i++) a = m31_sqr(a);
  return a;
}

// m31_inv is a^(P-2), where P-2 is in binary 29 ones and 01; 0 gives 0.
DEVICE_INLINE u32 m31_inv(u32 a) {
  u32 x2 = m31_mul(m31_sqr(a), a);
  u32 x3 = m31_mul(m31_sqr(x2), a);
  u32 x6 = m31_mul(m31_squares(x3, 3), x3);
  u32 x12 = m31_mul(m31_squares(x6, 6), x6);
  u32 x24 = m31_mul(m31_squares(x12, 12), x12);
  u32 x27 = m31_mul(m31_squares(x24, 3), x3);
  u32 x29 = m31_mul(m31_squares(x27, 2), x2);
  return m31_mul(m31_squares(x29, 2), a);
}

// ---- CM31 -----------------------------------------------------------------

struct alignas(8) cm31 {
  u32 re, im;
};

DEVICE_INLINE cm31 cm31_make(u32 re, u32 im) {
  cm31 r;
  r.re = re;
  r.im = im;
  return r;
}

DEVICE_INLINE cm31 cm31_add(cm31 a, cm31 b) { return cm31_make(m31_add(a.re, b.re), m31_add(a.im, b.im)); }

DEVICE_INLINE cm31 cm31_sub(cm31 a, cm31 b) { return cm31_make(m31_sub(a.re, b.re), m31_sub(a.im, b.im)); }

DEVICE_INLINE cm31 cm31_neg(cm31 a) { return cm31_make(m31_neg(a.re), m31_neg(a.im)); }

DEVICE_INLINE cm31 cm31_conj(cm31 a) { return cm31_make(a.re, m31_neg(a.im)); }

DEVICE_INLINE cm31 cm31_mul_i(cm31 a) { return cm31_make(m31_neg(a.im), a.re); }

DEVICE_INLINE cm31 cm31_mul_base(cm31 a, u32 s) { return cm31_make(m31_mul(a.re, s), m31_mul(a.im, s)); }

// Sums of two products stay below 2^63.
DEVICE_INLINE cm31 cm31_mul(cm31 a, cm31 b) {
  return cm31_make(m31_reduce(mad_wide(a.re, b.re, mul_wide(M31_P - a.im, b.im))),
                   m31_reduce(mad_wide(a.re, b.im, mul_wide(a.im, b.re))));
}

DEVICE_INLINE cm31 cm31_sqr(cm31 a) {
  return cm31_make(m31_mul(m31_add(a.re, a.im), m31_sub(a.re, a.im)), m31_mul(m31_dbl(a.re), a.im));
}

// cm31_mul_r is (2 + i) a, where 2 + i is the square of QM31's u.
DEVICE_INLINE cm31 cm31_mul_r(cm31 a) {
  return cm31_make(m31_sub(m31_dbl(a.re), a.im), m31_add(m31_dbl(a.im), a.re));
}

// cm31_inv is the conjugate over the norm; 0 gives 0.
DEVICE_INLINE cm31 cm31_inv(cm31 a) {
  return cm31_mul_base(cm31_conj(a), m31_inv(m31_reduce(mad_wide(a.re, a.re, mul_wide(a.im, a.im)))));
}

// ---- QM31 -----------------------------------------------------------------

// qm31 is x[0] + i x[1] + u (x[2] + i x[3]); it loads and stores as one vector.
struct alignas(16) qm31 {
  u32 x[4];
};

DEVICE_INLINE qm31 qm31_make(u32 a, u32 b, u32 c, u32 d) {
  qm31 r;
  r.x[0] = a;
  r.x[1] = b;
  r.x[2] = c;
  r.x[3] = d;
  return r;
}

DEVICE_INLINE qm31 qm31_pair(cm31 a, cm31 b) { return qm31_make(a.re, a.im, b.re, b.im); }

DEVICE_INLINE cm31 qm31_a(qm31 v) { return cm31_make(v.x[0], v.x[1]); }

DEVICE_INLINE cm31 qm31_b(qm31 v) { return cm31_make(v.x[2], v.x[3]); }

DEVICE_INLINE qm31 qm31_zero() { return qm31_make(0, 0, 0, 0); }

DEVICE_INLINE qm31 qm31_one() { return qm31_make(1, 0, 0, 0); }

DEVICE_INLINE qm31 qm31_lift(u32 a) { return qm31_make(a, 0, 0, 0); }

// qm31_load reads element i of an array of words that is aligned to 16 bytes.
DEVICE_INLINE qm31 qm31_load(const u32 *p, u64 i) { return reinterpret_cast<const qm31 *>(p)[i]; }

DEVICE_INLINE void qm31_store(u32 *p, u64 i, qm31 v) { reinterpret_cast<qm31 *>(p)[i] = v; }

DEVICE_INLINE qm31 qm31_add(qm31 a, qm31 b) {
  return qm31_make(m31_add(a.x[0], b.x[0]), m31_add(a.x[1], b.x[1]), m31_add(a.x[2], b.x[2]), m31_add(a.x[3], b.x[3]));
}

DEVICE_INLINE qm31 qm31_sub(qm31 a, qm31 b) {
  return qm31_make(m31_sub(a.x[0], b.x[0]), m31_sub(a.x[1], b.x[1]), m31_sub(a.x[2], b.x[2]), m31_sub(a.x[3], b.x[3]));
}

DEVICE_INLINE qm31 qm31_neg(qm31 a) { return qm31_make(m31_neg(a.x[0]), m31_neg(a.x[1]), m31_neg(a.x[2]), m31_neg(a.x[3])); }

DEVICE_INLINE qm31 qm31_dbl(qm31 a) { return qm31_make(m31_dbl(a.x[0]), m31_dbl(a.x[1]), m31_dbl(a.x[2]), m31_dbl(a.x[3])); }

// qm31_add_base and qm31_sub_base are a + s and a - s for s in M31.
DEVICE_INLINE qm31 qm31_add_base(qm31 a, u32 s) {
  a.x[0] = m31_add(a.x[0], s);
  return a;
}

DEVICE_INLINE qm31 qm31_sub_base(qm31 a, u32 s) {
  a.x[0] = m31_sub(a.x[0], s);
  return a;
}

DEVICE_INLINE qm31 qm31_mul_base(qm31 a, u32 s) {
  return qm31_make(m31_mul(a.x[0], s), m31_mul(a.x[1], s), m31_mul(a.x[2], s), m31_mul(a.x[3], s));
}

DEVICE_INLINE qm31 qm31_mul_cm31(qm31 a, cm31 s) { return qm31_pair(cm31_mul(qm31_a(a), s), cm31_mul(qm31_b(a), s)); }

// m31_dot4 is the residue of four products, whose sum stays below 2^64 when one
// factor of each is at most P and the other below it.
DEVICE_INLINE u32 m31_dot4(u32 a0, u32 b0, u32 a1, u32 b1, u32 a2, u32 b2, u32 a3, u32 b3) {
  return m31_reduce(mad_wide(a0, b0, mad_wide(a1, b1, mad_wide(a2, b2, mul_wide(a3, b3)))));
}

// qm31_mul: with e = (2 + i) b, the product (a + ub)(c + ud) is
// (ac + ed) + u (ad + bc), sixteen word products under four reductions.
DEVICE_INLINE qm31 qm31_mul(qm31 v, qm31 w) {
  cm31 a = qm31_a(v), b = qm31_b(v), c = qm31_a(w), d = qm31_b(w), e = cm31_mul_r(b);
  u32 na = M31_P - a.im, nb = M31_P - b.im, ne = M31_P - e.im;
  return qm31_make(m31_dot4(a.re, c.re, na, c.im, e.re, d.re, ne, d.im),
                   m31_dot4(a.re, c.im, a.im, c.re, e.re, d.im, e.im, d.re),
                   m31_dot4(a.re, d.re, na, d.im, b.re, c.re, nb, c.im),
                   m31_dot4(a.re, d.im, a.im, d.re, b.re, c.im, b.im, c.re));
}

DEVICE_INLINE qm31 qm31_sqr(qm31 v) {
  cm31 a = qm31_a(v), b = qm31_b(v), m = cm31_mul(a, b);
  return qm31_pair(cm31_add(cm31_sqr(a), cm31_mul_r(cm31_sqr(b))), cm31_add(m, m));
}

// qm31_inv is (a - ub) / (a^2 - (2 + i) b^2); 0 gives 0.
DEVICE_INLINE qm31 qm31_inv(qm31 v) {
  cm31 a = qm31_a(v), b = qm31_b(v);
  cm31 n = cm31_inv(cm31_sub(cm31_sqr(a), cm31_mul_r(cm31_sqr(b))));
  return qm31_pair(cm31_mul(a, n), cm31_mul(cm31_neg(b), n));
}

// qm31_fold is lo + r (hi - lo), a table's value with its first variable at r.
DEVICE_INLINE qm31 qm31_fold(qm31 lo, qm31 hi, qm31 r) { return qm31_add(lo, qm31_mul(r, qm31_sub(hi, lo))); }

// qm31_fold_base is the same for a table of M31 words.
DEVICE_INLINE qm31 qm31_fold_base(u32 lo, u32 hi, qm31 r) {
  return qm31_add_base(qm31_mul_base(r, m31_sub(hi, lo)), lo);
}

// ---- sums of many products, reduced at the end ------------------------------

// qm31_sum is four 64-bit sums; start with qm31_sum_zero.
struct qm31_sum {
  u64 w[4];
};

DEVICE_INLINE qm31_sum qm31_sum_zero() {
  qm31_sum s;
  s.w[0] = s.w[1] = s.w[2] = s.w[3] = 0;
  return s;
}

// qm31_sum_add adds an element; 2^33 of them fit.
DEVICE_INLINE void qm31_sum_add(qm31_sum &s, qm31 v) {
  for (int k = 0; k < 4; k++) s.w[k] += v.x[k];
}

// qm31_sum_mad_base adds the product of an M31 and a QM31 element.
DEVICE_INLINE void qm31_sum_mad_base(qm31_sum &s, u32 a, qm31 v) {
  for (int k = 0; k < 4; k++) s.w[k] = mad_wide(a, v.x[k], m31_partial(s.w[k]));
}

DEVICE_INLINE qm31 qm31_sum_value(const qm31_sum &s) {
  return qm31_make(m31_reduce(s.w[0]), m31_reduce(s.w[1]), m31_reduce(s.w[2]), m31_reduce(s.w[3]));
}

// ---- sums over threads --------------------------------------------------------

// qm31_warp_sum is the sum over all 32 lanes, in every lane.
DEVICE_INLINE qm31 qm31_warp_sum(qm31 v) {
  for (u32 o = 16; o > 0; o >>= 1)
    v = qm31_add(v, qm31_make(shfl_xor(v.x[0], o), shfl_xor(v.x[1], o), shfl_xor(v.x[2], o), shfl_xor(v.x[3], o)));
  return v;
}

// qm31_block_sum is the sum over a block of whole warps along x, in every thread
// of its first warp. scratch is shared memory for a qm31 a warp, which may be
// used again after the next barrier.
DEVICE_INLINE qm31 qm31_block_sum(qm31 v, qm31 *scratch) {
  v = qm31_warp_sum(v);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  if (warp == 0) v = qm31_warp_sum(lane < warps ? scratch[lane] : qm31_zero());
  return v;
}
