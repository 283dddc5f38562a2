// The names that kernels for several fields use, for Mersenne-31: challenges in
// QM31, symbols in CM31.
#pragma once
#include "field/m31/m31.cuh"

#define FP_P M31_P
#define EXT_WORDS 4
#define SYM_WORDS 2

DEVICE_INLINE u32 fp_one() { return 1; }
DEVICE_INLINE u32 fp_from(u32 v) { return v; }
DEVICE_INLINE u32 fp_canonical(u32 a) { return a; }
DEVICE_INLINE u32 fp_add(u32 a, u32 b) { return m31_add(a, b); }
DEVICE_INLINE u32 fp_sub(u32 a, u32 b) { return m31_sub(a, b); }
DEVICE_INLINE u32 fp_neg(u32 a) { return m31_neg(a); }
DEVICE_INLINE u32 fp_dbl(u32 a) { return m31_dbl(a); }
DEVICE_INLINE u32 fp_mul(u32 a, u32 b) { return m31_mul(a, b); }
DEVICE_INLINE u32 fp_sqr(u32 a) { return m31_sqr(a); }
DEVICE_INLINE u32 fp_inv(u32 a) { return m31_inv(a); }

// fp_mad is a b + c, as a carry chain, of which the assembler makes one instruction
// where it would take sums of mad_wide apart to add in pairs.
DEVICE_INLINE u64 fp_mad(u32 a, u32 b, u64 c) {
  u32 lo = mad_lo_cc(a, b, (u32)c);
  return (u64)madc_hi(a, b, (u32)(c >> 32)) << 32 | lo;
}

// fp_pow is a^e, and 1 for e = 0.
DEVICE_INLINE u32 fp_pow(u32 a, u32 e) {
  u32 r = fp_one();
  for (; e; e >>= 1) {
    if (e & 1) r = fp_mul(r, a);
    a = fp_sqr(a);
  }
  return r;
}

// ---- challenges -------------------------------------------------------------

typedef qm31 ext;

DEVICE_INLINE ext ext_zero() { return qm31_zero(); }
DEVICE_INLINE ext ext_one() { return qm31_one(); }
DEVICE_INLINE ext ext_lift(u32 a) { return qm31_lift(a); }
DEVICE_INLINE ext ext_load(const u32 *p, u64 i) { return qm31_load(p, i); }
DEVICE_INLINE void ext_store(u32 *p, u64 i, ext v) { qm31_store(p, i, v); }
DEVICE_INLINE ext ext_add(ext a, ext b) { return qm31_add(a, b); }
DEVICE_INLINE ext ext_sub(ext a, ext b) { return qm31_sub(a, b); }
DEVICE_INLINE ext ext_neg(ext a) { return qm31_neg(a); }
DEVICE_INLINE ext ext_mul(ext a, ext b) { return qm31_mul(a, b); }
DEVICE_INLINE ext ext_sqr(ext a) { return qm31_sqr(a); }
DEVICE_INLINE ext ext_mul_base(ext a, u32 s) { return qm31_mul_base(a, s); }

// ---- symbols ----------------------------------------------------------------

struct alignas(8) sym {
  u32 x[SYM_WORDS];
};

DEVICE_INLINE cm31 sym_pair(sym a) { return cm31_make(a.x[0], a.x[1]); }

DEVICE_INLINE sym sym_make(cm31 a) {
  sym r;
  r.x[0] = a.re;
  r.x[1] = a.im;
  return r;
}

DEVICE_INLINE sym sym_load(const u32 *p, u64 i) { return reinterpret_cast<const sym *>(p)[i]; }
DEVICE_INLINE void sym_store(u32 *p, u64 i, sym v) { reinterpret_cast<sym *>(p)[i] = v; }
DEVICE_INLINE sym sym_add(sym a, sym b) { return sym_make(cm31_add(sym_pair(a), sym_pair(b))); }
DEVICE_INLINE sym sym_sub(sym a, sym b) { return sym_make(cm31_sub(sym_pair(a), sym_pair(b))); }
DEVICE_INLINE sym sym_mul(sym a, sym b) { return sym_make(cm31_mul(sym_pair(a), sym_pair(b))); }
DEVICE_INLINE ext ext_mul_sym(ext a, sym s) { return qm31_mul_cm31(a, sym_pair(s)); }
DEVICE_INLINE ext ext_from_sym(sym s) { return qm31_make(s.x[0], s.x[1], 0, 0); }

// ---- lazy sums of products --------------------------------------------------

// ext_acc keeps (a + ub)(c + ud) as the CM31 sums of ac, bd and ad + bc. Each of
// the six is below 2^34; two products besides stay below 2^63 + 2^34.
struct ext_acc {
  u64 w[6];
};

DEVICE_INLINE ext_acc acc_zero() {
  ext_acc s;
  for (int k = 0; k < 6; k++) s.w[k] = 0;
  return s;
}

DEVICE_INLINE u64 acc_two(u64 s, u32 a, u32 b, u32 c, u32 d) { return m31_partial(fp_mad(a, b, fp_mad(c, d, s))); }

// acc_mul adds v w.
DEVICE_INLINE void acc_mul(ext_acc &s, ext v, ext w) {
  cm31 a = qm31_a(v), b = qm31_b(v), c = qm31_a(w), d = qm31_b(w);
  u32 na = M31_P - a.im, nb = M31_P - b.im;
  s.w[0] = acc_two(s.w[0], a.re, c.re, na, c.im);
  s.w[1] = acc_two(s.w[1], a.re, c.im, a.im, c.re);
  s.w[2] = acc_two(s.w[2], b.re, d.re, nb, d.im);
  s.w[3] = acc_two(s.w[3], b.re, d.im, b.im, d.re);
  s.w[4] = acc_two(acc_two(s.w[4], a.re, d.re, na, d.im), b.re, c.re, nb, c.im);
  s.w[5] = acc_two(acc_two(s.w[5], a.re, d.im, a.im, d.re), b.re, c.im, b.im, c.re);
}

// acc_mul_sym adds v t.
DEVICE_INLINE void acc_mul_sym(ext_acc &s, ext v, sym t) {
  u32 n = M31_P - t.x[1];
  s.w[0] = acc_two(s.w[0], v.x[0], t.x[0], v.x[1], n);
  s.w[1] = acc_two(s.w[1], v.x[0], t.x[1], v.x[1], t.x[0]);
  s.w[4] = acc_two(s.w[4], v.x[2], t.x[0], v.x[3], n);
  s.w[5] = acc_two(s.w[5], v.x[2], t.x[1], v.x[3], t.x[0]);
}

DEVICE_INLINE ext acc_value(ext_acc s) {
  cm31 ac = cm31_make(m31_reduce(s.w[0]), m31_reduce(s.w[1])), bd = cm31_make(m31_reduce(s.w[2]), m31_reduce(s.w[3]));
  return qm31_pair(cm31_add(ac, cm31_mul_r(bd)), cm31_make(m31_reduce(s.w[4]), m31_reduce(s.w[5])));
}
