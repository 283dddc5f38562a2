// The sum of one table, which is linear in every variable: the messages of the
// first K rounds follow from the 2^K sums over all other variables, and these are
// bound all at once. So a large table is read twice, whatever the rounds.
#include "sumcheck/prover/batch.cuh"

DEVICE_INLINE qm31 sum_value(u64 v) { return qm31_lift(m31_reduce(v)); }
DEVICE_INLINE qm31 sum_value(qm31 v) { return v; }
DEVICE_INLINE void sum_add(u64 &s, u32 v) { s += v; }
DEVICE_INLINE void sum_add(qm31 &s, qm31 v) { s = qm31_add(s, v); }

// row_sums: block u leaves the sum of row u, of 2^columns entries, in sums[u], and
// zeros in its share of `clear`.
template <class S, class T> DEVICE_INLINE void row_sums(qm31 *sums, const T *__restrict__ table, u64 *clear, u64 words, u32 columns) {
  __shared__ qm31 shared[8];
  const T *row = table + ((u64)blockIdx.x << columns);
  S sum = {};
#pragma unroll 4
  for (u32 x = threadIdx.x; x < 1u << columns; x += 256) sum_add(sum, row[x]);
  qm31 total = qm31_block_sum(sum_value(sum), shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
  for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < words; i += (u64)gridDim.x * 256) clear[i] = 0;
}

extern "C" __global__ void __launch_bounds__(256) sumcheck_row_sums_base(qm31 *sums, const u32 *__restrict__ table, u64 *clear, u64 words, u32 columns) {
  row_sums<u64>(sums, table, clear, words, columns);
}

extern "C" __global__ void __launch_bounds__(256) sumcheck_row_sums_ext(qm31 *sums, const qm31 *__restrict__ table, u64 *clear, u64 words, u32 columns) {
  row_sums<qm31>(sums, table, clear, words, columns);
}

// weigh adds a weighted entry; `settle` must come before every fourth.
DEVICE_INLINE void weigh(qm31_sum &s, u32 v, qm31 w) {
#pragma unroll
  for (u32 k = 0; k < 4; k++) s.w[k] = mad_wide(v, w.x[k], s.w[k]);
}
DEVICE_INLINE void weigh(qm31_sum &s, qm31 v, qm31 w) { qm31_sum_add(s, qm31_mul(v, w)); }

DEVICE_INLINE void settle(qm31_sum &s) {
#pragma unroll
  for (u32 k = 0; k < 4; k++) s.w[k] = m31_partial(s.w[k]);
}

// bind_rows: block (x, y) adds rows [y * 2^share, (y+1) * 2^share) of its columns,
// weighted by eq(point, row), to out: four u64 an entry, to be reduced. There are
// 2^(vars + columns) entries in all; share is at most 8.
template <class T> DEVICE_INLINE void bind_rows(u64 *out, const T *__restrict__ table, const qm31 *__restrict__ point, u32 vars, u32 columns, u32 share) {
  __shared__ qm31 weights[256];
  u32 rows = 1u << share, first = blockIdx.y << share;
  if (threadIdx.x < rows) {
    qm31 w = qm31_one();
#pragma unroll 1
    for (u32 k = 0; k < vars; k++) w = qm31_mul(w, (first + threadIdx.x) >> (vars - 1 - k) & 1 ? point[k] : qm31_sub(qm31_one(), point[k]));
    weights[threadIdx.x] = w;
  }
  __syncthreads();
  u32 x = blockIdx.x * 256 + threadIdx.x;
  if (x >= 1u << columns) return;
  const T *at = table + ((u64)first << columns) + x;
  qm31_sum sum = qm31_sum_zero();
#pragma unroll 8
  for (u32 i = 0; i < rows; i++) {
    if ((i & 3) == 0) settle(sum);
    weigh(sum, at[(u64)i << columns], weights[i]);
  }
#pragma unroll
  for (u32 k = 0; k < 4; k++) atomicAdd(out + 4 * (u64)x + k, (u64)m31_reduce(sum.w[k]));
}

extern "C" __global__ void __launch_bounds__(256) sumcheck_bind_rows_base(u64 *out, const u32 *__restrict__ table, const qm31 *__restrict__ point, u32 vars,
                                                                          u32 columns, u32 share) {
  bind_rows(out, table, point, vars, columns, share);
}

extern "C" __global__ void __launch_bounds__(256) sumcheck_bind_rows_ext(u64 *out, const qm31 *__restrict__ table, const qm31 *__restrict__ point, u32 vars,
                                                                         u32 columns, u32 share) {
  bind_rows(out, table, point, vars, columns, share);
}
