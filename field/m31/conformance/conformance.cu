// One call of every function of m31.cuh, for the comparison with Go. Operands
// and results are four words an item; a case uses as many as it needs. The name
// in each comment is the function's.
#include "field/m31/m31.cuh"

DEVICE_INLINE qm31 lift_cm31(cm31 v) { return qm31_make(v.re, v.im, 0, 0); }

extern "C" __global__ void __launch_bounds__(128)
m31_conformance(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, const u32 *__restrict__ c, u32 op, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  qm31 x = qm31_load(a, i), y = qm31_load(b, i), z = qm31_load(c, i), r = qm31_zero();
  cm31 p = qm31_a(x), q = qm31_a(y);
  u32 s = x.x[0], t = y.x[0];
  u64 wide = (u64)x.x[1] << 32 | x.x[0];
  switch (op) {
  case 0: r = qm31_lift(m31_add(s, t)); break;
  case 1: r = qm31_lift(m31_sub(s, t)); break;
  case 2: r = qm31_lift(m31_mul(s, t)); break;
  case 3: r = qm31_make(m31_neg(s), m31_dbl(s), m31_sqr(s), m31_inv(s)); break;
  case 4: r = qm31_make(m31_rotate(s, t % 31), m31_squares(s, (int)(t % 40)), 0, 0); break;
  case 5: r = qm31_make(m31_reduce(wide), m31_reduce(m31_partial(wide)), m31_from_i32((i32)s), 0); break;
  case 6: r = lift_cm31(cm31_add(p, q)); break;
  case 7: r = lift_cm31(cm31_sub(p, q)); break;
  case 8: r = lift_cm31(cm31_mul(p, q)); break;
  case 9: r = qm31_pair(cm31_neg(p), cm31_conj(p)); break;
  case 10: r = qm31_pair(cm31_sqr(p), cm31_mul_i(p)); break;
  case 11: r = qm31_pair(cm31_inv(p), cm31_mul_r(p)); break;
  case 12: r = lift_cm31(cm31_mul_base(p, t)); break;
  case 13: r = qm31_add(x, y); break;
  case 14: r = qm31_sub(x, y); break;
  case 15: r = qm31_mul(x, y); break;
  case 16: r = qm31_neg(x); break;
  case 17: r = qm31_dbl(x); break;
  case 18: r = qm31_sqr(x); break;
  case 19: r = qm31_inv(x); break;
  case 20: r = qm31_mul_base(x, t); break;
  case 21: r = qm31_mul_cm31(x, q); break;
  case 22: r = qm31_add_base(x, t); break;
  case 23: r = qm31_sub_base(x, t); break;
  case 24: r = qm31_fold(x, y, z); break;
  case 25: r = qm31_fold_base(s, t, z); break;
  case 26: r = qm31_add(qm31_one(), qm31_make(m31_dot4(s, t, x.x[1], y.x[1], x.x[2], y.x[2], x.x[3], y.x[3]), 0, 0, 0)); break;
  case 27: {
    qm31_sum sum = qm31_sum_zero();
    for (int k = 0; k < 100; k++) {
      qm31_sum_mad_base(sum, s, y);
      qm31_sum_add(sum, z);
    }
    r = qm31_sum_value(sum);
    break;
  }
  case 28: r = qm31_pair(cm31_make(s, t), qm31_b(x)); break;
  case 29: r = qm31_lift(m31_once(x.x[0])); break;
  }
  qm31_store(out, i, r);
}

// Sums of n elements by one block of at most 256 threads: out[0] by warps, each
// adding its warp's sum of one strided slice, out[1] by the block.
extern "C" __global__ void __launch_bounds__(256)
m31_conformance_sums(u32 *__restrict__ out, const u32 *__restrict__ a, u32 n) {
  __shared__ qm31 scratch[8], warps[8];
  qm31 v = qm31_zero();
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) v = qm31_add(v, qm31_load(a, i));
  qm31 w = qm31_warp_sum(v);
  if ((threadIdx.x & 31) == 31) warps[threadIdx.x >> 5] = w;
  qm31 all = qm31_block_sum(v, scratch);
  __syncthreads();
  if (threadIdx.x == 0) {
    w = qm31_zero();
    for (u32 k = 0; k < blockDim.x >> 5; k++) w = qm31_add(w, warps[k]);
    qm31_store(out, 0, w);
    qm31_store(out, 1, all);
  }
}
