// Kernels of package logup/prover.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"

// logup_add_*: the sums of pairs of fractions, a thread a pair:
// p[x] = p0 q1 + p1 q0, d[x] = q0 q1.
extern "C" __global__ void __launch_bounds__(256) logup_add_ext(qm31 *__restrict__ p, qm31 *__restrict__ d, const qm31 *__restrict__ num,
                                                                const qm31 *__restrict__ den, u64 n) {
  u64 x = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  qm31 q0 = den[2 * x], q1 = den[2 * x + 1];
  p[x] = qm31_add(qm31_mul(num[2 * x], q1), qm31_mul(num[2 * x + 1], q0));
  d[x] = qm31_mul(q0, q1);
}

extern "C" __global__ void __launch_bounds__(256) logup_add_base(qm31 *__restrict__ p, qm31 *__restrict__ d, const u32 *__restrict__ num,
                                                                 const qm31 *__restrict__ den, u64 n) {
  u64 x = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  qm31 q0 = den[2 * x], q1 = den[2 * x + 1];
  p[x] = qm31_add(qm31_mul_base(q1, num[2 * x]), qm31_mul_base(q0, num[2 * x + 1]));
  d[x] = qm31_mul(q0, q1);
}

// All numerators are 1.
extern "C" __global__ void __launch_bounds__(256) logup_add_ones(qm31 *__restrict__ p, qm31 *__restrict__ d, const qm31 *__restrict__ den, u64 n) {
  u64 x = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  qm31 q0 = den[2 * x], q1 = den[2 * x + 1];
  p[x] = qm31_add(q0, q1);
  d[x] = qm31_mul(q0, q1);
}

// logup_claim: value = p + lambda q, where (p, q) is evals or, where there is a
// tau, the four evals merged at it. drawn is tau, lambda or lambda alone; they
// are copied to their places.
extern "C" __global__ void __launch_bounds__(32) logup_claim(qm31 *value, const qm31 *evals, const qm31 *drawn, qm31 *tau, qm31 *lambda) {
  if (threadIdx.x != 0) return;
  qm31 p = evals[0], q = evals[1], l = drawn[tau ? 1 : 0];
  if (tau) {
    qm31 t = drawn[0];
    p = qm31_fold(evals[0], evals[1], t);
    q = qm31_fold(evals[2], evals[3], t);
    tau[0] = t;
  }
  lambda[0] = l;
  value[0] = qm31_add(p, qm31_mul(l, q));
}
