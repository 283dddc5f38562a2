// The kernels of a batch that do not depend on its summands: the beginning, eq
// tables, and the end; and the tail for the summands that are built in.
#include "sumcheck/prover/tail.cuh"

// sumcheck_begin: one block absorbs the claims and draws gamma.
extern "C" __global__ void __launch_bounds__(384) sumcheck_begin(u32 *sponge, const Batch *batch, const qm31 *values) {
  __shared__ qm31 gamma;
  begin_batch(sponge, batch, values, &gamma);
}

// sumcheck_eq: block (a, 0) makes the lower eq pyramid of instance a, (a, 1) the
// upper one.
extern "C" __global__ void __launch_bounds__(256) sumcheck_eq(const Batch *__restrict__ batch) {
  const Instance &in = ((const Instance *)batch->instances)[blockIdx.x];
  if (in.point == 0 || in.vars == 0) return;
  bool upper = blockIdx.y == 1;
  qm31 *t = (qm31 *)(upper ? in.high : in.low);
  u32 vars = upper ? (u32)(in.vars - 1 - in.lows) : (u32)in.lows;
  if (t == 0) return;
  const qm31 *z = (const qm31 *)in.point + (in.vars - 1 - (upper ? in.lows : 0)); // the last variable's
  if (threadIdx.x == 0) t[1] = qm31_one();
#pragma unroll 1
  for (u32 k = 0; k < vars; k++) {
    __syncthreads();
    qm31 r = *(z - k);
    u32 size = 1u << k;
    for (u32 x = threadIdx.x; x < size; x += blockDim.x) {
      qm31 v = t[size + x], one = qm31_mul(v, r);
      t[2 * size + x] = qm31_sub(v, one);
      t[3 * size + x] = one;
    }
  }
}

// BuiltIn is the K of a batch without summands of other sources.
struct BuiltIn {
  MEMBER_INLINE static void sums(const Batch *b, const Instance &in, const qm31 *memory, u64 half, u64 x, u64 step, qm31 *out) {
    if (in.kind == 1)
      line_sums<Product<1>>(b, in, memory, half, x, step, out);
    else if (in.kind == 2)
      line_sums<Product<2>>(b, in, memory, half, x, step, out);
    else if (in.kind == 3)
      line_sums<Product<3>>(b, in, memory, half, x, step, out);
    else
      term_sums(b, in, memory, false, half, x, half, step, out);
  }
};

// sumcheck_tail: one block does all rounds from `first` on, and the evaluations.
// The tables are in `memory`, or in shared memory if that is null; values are
// the claims if the batch begins here, or null.
extern "C" __global__ void __launch_bounds__(384) sumcheck_tail(u32 *sponge, const Batch *__restrict__ batch, const qm31 *__restrict__ values,
                                                                qm31 *memory, u32 first, u32 pending) {
  SHARED_DYNAMIC(qm31, own);
  tail_block<BuiltIn>(sponge, batch, values, memory ? memory : own, first, pending);
}

// sumcheck_evals: one block ends a run without a tail.
extern "C" __global__ void __launch_bounds__(384) sumcheck_evals(u32 *sponge, const Batch *__restrict__ batch, u32 pending) {
  __shared__ Bound bound;
  if (threadIdx.x < 32) bind_weights(bound, (const qm31 *)batch->point, (u32)batch->n, threadIdx.x);
  __syncthreads();
  write_evals(batch, 0, pending, bound);
  __syncthreads();
  if (threadIdx.x < 32) {
    transcript t = transcript_load(sponge);
    absorb_evals(t, batch);
    transcript_store(sponge, t);
  }
}
