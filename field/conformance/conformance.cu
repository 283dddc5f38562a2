// One call of every function that kernels for several fields use, for the comparison
// with Go. Operands and results are extension elements, of which a case uses as many
// words as it needs; case numbers are the test's.
#include "FIELD_HEADER"

DEVICE_INLINE sym VARIANT_symbol(ext v) {
  sym r;
  for (int k = 0; k < SYM_WORDS; k++) r.x[k] = v.x[k];
  return r;
}

DEVICE_INLINE ext VARIANT_words(u32 a, u32 b, u32 c, u32 d) {
  ext r = ext_zero();
  r.x[0] = a;
  r.x[1] = b;
  r.x[2] = c;
  r.x[3] = d;
  return r;
}

extern "C" __global__ void __launch_bounds__(128)
conformance_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, const u32 *__restrict__ c, u32 op, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ext x = ext_load(a, i), y = ext_load(b, i), z = ext_load(c, i), r = ext_zero();
  u32 s = x.x[0], t = y.x[0];
  sym p = VARIANT_symbol(x), q = VARIANT_symbol(y);
  switch (op) {
  case 0: r = VARIANT_words(fp_add(s, t), fp_sub(s, t), fp_mul(s, t), FP_P - 1); break;
  case 1: r = VARIANT_words(fp_neg(s), fp_dbl(s), fp_sqr(s), fp_inv(s)); break;
  case 2: r = VARIANT_words(fp_from(s), fp_canonical(s), fp_one(), fp_pow(s, t)); break;
  case 3: r = ext_add(x, y); break;
  case 4: r = ext_sub(x, y); break;
  case 5: r = ext_neg(x); break;
  case 6: r = ext_mul(x, y); break;
  case 7: r = ext_sqr(x); break;
  case 8: r = ext_mul_base(x, t); break;
  case 9: r = ext_add(ext_one(), ext_lift(t)); break;
  case 10: r = ext_from_sym(sym_add(p, q)); break;
  case 11: r = ext_from_sym(sym_sub(p, q)); break;
  case 12: r = ext_from_sym(sym_mul(p, q)); break;
  case 13: r = ext_mul_sym(x, q); break;
  case 14: {
    // Loads and stores of symbols: the first of operand a at item i, through out.
    sym_store(out, (u64)i * EXT_WORDS / SYM_WORDS, sym_load(a, (u64)i * EXT_WORDS / SYM_WORDS));
    return;
  }
  case 15: {
    ext_acc sum = acc_zero();
#pragma unroll 1
    for (int k = 0; k < 50; k++) {
      acc_mul(sum, x, y);
      acc_mul_sym(sum, z, q);
      acc_mul(sum, y, z);
    }
    r = acc_value(sum);
    break;
  }
  case 17: { // any words
    u64 w = fp_mad(s, t, (u64)x.x[2] << 32 | x.x[1]);
    r = VARIANT_words((u32)w, (u32)(w >> 32), 0, 0);
    break;
  }
  case 16: {
    ext_acc sum = acc_zero();
    acc_mul(sum, x, y);
    r = acc_value(sum);
    break;
  }
  }
  ext_store(out, i, r);
}
