// The extension of degree EXT_DEGREE from which challenges of VARIANT are drawn, its
// symbols, which are the prime field, and lazy sums. Coefficients are words of
// the prime field, the lowest first.
#pragma once
#include "FIELD_HEADER"

#define EXT_WORDS EXT_DEGREE
#define SYM_WORDS 1

struct EXT_ALIGN ext {
  u32 x[EXT_WORDS];
};

DEVICE_INLINE ext ext_zero() {
  ext r;
  for (int k = 0; k < EXT_WORDS; k++) r.x[k] = 0;
  return r;
}

DEVICE_INLINE ext ext_lift(u32 a) {
  ext r = ext_zero();
  r.x[0] = a;
  return r;
}

DEVICE_INLINE ext ext_one() { return ext_lift(fp_one()); }

// ext_load reads element i of an array that is aligned as a whole.
DEVICE_INLINE ext ext_load(const u32 *p, u64 i) { return reinterpret_cast<const ext *>(p)[i]; }

DEVICE_INLINE void ext_store(u32 *p, u64 i, ext v) { reinterpret_cast<ext *>(p)[i] = v; }

DEVICE_INLINE ext ext_add(ext a, ext b) {
  for (int k = 0; k < EXT_WORDS; k++) a.x[k] = fp_add(a.x[k], b.x[k]);
  return a;
}

DEVICE_INLINE ext ext_sub(ext a, ext b) {
  for (int k = 0; k < EXT_WORDS; k++) a.x[k] = fp_sub(a.x[k], b.x[k]);
  return a;
}

DEVICE_INLINE ext ext_neg(ext a) { return ext_sub(ext_zero(), a); }

DEVICE_INLINE ext ext_mul_base(ext a, u32 s) {
  for (int k = 0; k < EXT_WORDS; k++) a.x[k] = fp_mul(a.x[k], s);
  return a;
}

// ext_times_x is X a.
DEVICE_INLINE ext ext_times_x(ext a) {
  ext r = {{EXT_TIMES_X}};
  return r;
}

// ext_mul is the sum of a.x[i] X^i b, every coefficient a sum of as many products
// as the degree under one reduction. Four products fit 64 bits.
DEVICE_INLINE ext ext_mul(ext a, ext b) {
  u64 w[EXT_WORDS];
  for (int k = 0; k < EXT_WORDS; k++) w[k] = mul_wide(a.x[0], b.x[k]);
  for (int i = 1; i < EXT_WORDS; i++) {
    b = ext_times_x(b);
    for (int k = 0; k < EXT_WORDS; k++) w[k] = fp_mad(a.x[i], b.x[k], i < 4 ? w[k] : fp_fold(w[k]));
  }
  for (int k = 0; k < EXT_WORDS; k++) a.x[k] = fp_reduce(fp_fold(w[k]));
  return a;
}

DEVICE_INLINE ext ext_sqr(ext a) { return ext_mul(a, a); }

// ---- symbols ----------------------------------------------------------------

struct sym {
  u32 x[SYM_WORDS];
};

DEVICE_INLINE sym sym_make(u32 a) {
  sym r;
  r.x[0] = a;
  return r;
}

DEVICE_INLINE sym sym_load(const u32 *p, u64 i) { return sym_make(p[i]); }

DEVICE_INLINE void sym_store(u32 *p, u64 i, sym v) { p[i] = v.x[0]; }

DEVICE_INLINE sym sym_add(sym a, sym b) { return sym_make(fp_add(a.x[0], b.x[0])); }

DEVICE_INLINE sym sym_sub(sym a, sym b) { return sym_make(fp_sub(a.x[0], b.x[0])); }

DEVICE_INLINE sym sym_mul(sym a, sym b) { return sym_make(fp_mul(a.x[0], b.x[0])); }

DEVICE_INLINE ext ext_mul_sym(ext a, sym s) { return ext_mul_base(a, s.x[0]); }

DEVICE_INLINE ext ext_from_sym(sym s) { return ext_lift(s.x[0]); }

// ---- lazy sums of products --------------------------------------------------

// ext_acc is a sum of products as a polynomial of degree 2 EXT_DEGREE - 2, every
// coefficient below 2^32 P: two more products keep it below 2^33 P, from where
// fp_fold takes it back.
struct ext_acc {
  u64 w[2 * EXT_WORDS - 1];
};

DEVICE_INLINE ext_acc acc_zero() {
  ext_acc s;
  for (int k = 0; k < 2 * EXT_WORDS - 1; k++) s.w[k] = 0;
  return s;
}

// acc_mul adds a b.
DEVICE_INLINE void acc_mul(ext_acc &s, ext a, ext b) {
  for (int k = 0; k < 2 * EXT_WORDS - 1; k++) {
    int from = k < EXT_WORDS ? 0 : k - EXT_WORDS + 1, to = k < EXT_WORDS ? k : EXT_WORDS - 1;
    for (int i = from; i <= to; i++) {
      s.w[k] = fp_mad(a.x[i], b.x[k - i], s.w[k]);
      if ((i - from) % 2 == 1 || i == to) s.w[k] = fp_fold(s.w[k]);
    }
  }
}

// acc_mul_sym adds a s.
DEVICE_INLINE void acc_mul_sym(ext_acc &s, ext a, sym b) {
  for (int k = 0; k < EXT_WORDS; k++) s.w[k] = fp_fold(fp_mad(a.x[k], b.x[0], s.w[k]));
}

DEVICE_INLINE ext acc_value(ext_acc s) {
  ext r;
  for (int k = 0; k < EXT_WORDS; k++) r.x[k] = fp_reduce(s.w[k + EXT_WORDS - 1]);
  for (int k = EXT_WORDS - 2; k >= 0; k--) {
    r = ext_times_x(r);
    r.x[0] = fp_add(r.x[0], fp_reduce(s.w[k]));
  }
  return r;
}
