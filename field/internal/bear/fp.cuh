// The prime field of P = FIELD_P elements, the twin of package FIELD_PACKAGE. Words
// are in Montgomery form, v standing for the word 2^32 v mod P, and below P unless
// a comment says otherwise.
#pragma once
#include "device/ptx.cuh"

#define FP_P FIELD_Pu
#define FP_INVERSE FIELD_INVERSEu // 1/P modulo 2^32
#define FP_SQUARE FIELD_SQUAREu   // 2^64 mod P, which stands for 2^32

// fp_once takes a word below 2P to its residue: the subtraction wraps to a large
// number exactly when it is not due.
DEVICE_INLINE u32 fp_once(u32 s) {
  u32 d = s - FP_P;
  return s < d ? s : d;
}

// fp_fold takes a sum below 2^33 P to one below 2^32 P in the same class. Four
// products of words are below 2^33 P, as P is below 2^31; two are below 2^32 P.
DEVICE_INLINE u64 fp_fold(u64 x) { return (u64)fp_once((u32)(x >> 32)) << 32 | (u32)x; }

// fp_reduce is x / 2^32 modulo P for x below 2^32 P: a multiple of P is added so
// that the low word vanishes, which leaves less than 2P above it. As a carry chain the
// sum is one instruction; mad_wide the assembler takes apart.
DEVICE_INLINE u32 fp_reduce(u64 x) {
  u32 q = (u32)x * (0u - FP_INVERSE);
  mad_lo_cc(q, FP_P, (u32)x);
  return fp_once(madc_hi(q, FP_P, (u32)(x >> 32)));
}

// fp_mad is a b + c, as a carry chain, of which the assembler makes one instruction
// where it would take sums of mad_wide apart to add in pairs.
DEVICE_INLINE u64 fp_mad(u32 a, u32 b, u64 c) {
  u32 lo = mad_lo_cc(a, b, (u32)c);
  return (u64)madc_hi(a, b, (u32)(c >> 32)) << 32 | lo;
}

DEVICE_INLINE u32 fp_one() { return FIELD_ONEu; }

// fp_from is the element of a number below P, and fp_canonical its inverse.
DEVICE_INLINE u32 fp_from(u32 v) { return fp_reduce(mul_wide(v, FP_SQUARE)); }

DEVICE_INLINE u32 fp_canonical(u32 a) { return fp_reduce((u64)a); }

DEVICE_INLINE u32 fp_add(u32 a, u32 b) { return fp_once(a + b); }

DEVICE_INLINE u32 fp_sub(u32 a, u32 b) {
  u32 d = a - b, e = d + FP_P;
  return d < e ? d : e;
}

DEVICE_INLINE u32 fp_neg(u32 a) { return fp_sub(0, a); }

DEVICE_INLINE u32 fp_dbl(u32 a) { return fp_once(a + a); }

DEVICE_INLINE u32 fp_mul(u32 a, u32 b) { return fp_reduce(mul_wide(a, b)); }

DEVICE_INLINE u32 fp_sqr(u32 a) { return fp_mul(a, a); }

// fp_times_w is FIELD_W a; the quotient by P is right or one too small.
DEVICE_INLINE u32 fp_times_w(u32 a) { return fp_once(FIELD_W * a - mul_hi(a, FIELD_QUOTIENTu) * FP_P); }

// fp_pow is a^e, and 1 for e = 0.
DEVICE_INLINE u32 fp_pow(u32 a, u32 e) {
  u32 r = fp_one();
  for (; e; e >>= 1) {
    if (e & 1) r = fp_mul(r, a);
    a = fp_sqr(a);
  }
  return r;
}

// fp_inv is a^(P-2), which is 0 for 0.
DEVICE_INLINE u32 fp_inv(u32 a) { return fp_pow(a, FP_P - 2); }
