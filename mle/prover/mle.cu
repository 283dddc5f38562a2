// Kernels of package mle/prover. Tables have their first variable in the top
// bit of the index; sums are exact, so their order does not matter.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"

DEVICE_INLINE qm31 times(u32 a, qm31 w) { return qm31_mul_base(w, a); }
DEVICE_INLINE qm31 times(qm31 a, qm31 w) { return qm31_mul(w, a); }

// mle_eq_parts tabulates eq over the last `low` variables (block 0, into
// inner) and scale times eq over the first n-low (block 1, into outer).
extern "C" __global__ void __launch_bounds__(256) mle_eq_parts(qm31 *inner, qm31 *outer, const qm31 *__restrict__ point,
                                                               const qm31 *__restrict__ scale, u32 n, u32 low) {
  bool first = blockIdx.x == 0;
  qm31 *t = first ? inner : outer;
  const qm31 *z = first ? point + (n - low) : point;
  u32 vars = first ? low : n - low;
  if (threadIdx.x == 0) t[0] = !first && scale != 0 ? scale[0] : qm31_one();
  for (u32 i = 0; i < vars; i++) {
    // Entries of the step before become pairs, the new variable on top.
    __syncthreads();
    qm31 r = z[vars - 1 - i];
    u32 half = 1u << i;
    for (u32 x = threadIdx.x; x < half; x += blockDim.x) {
      qm31 v = t[x], hi = qm31_mul(v, r);
      t[x] = qm31_sub(v, hi);
      t[half + x] = hi;
    }
  }
}

// mle_outer: out[i * 2^low + j] = outer[i] * inner[j], added to what is there if
// `add` is not 0.
extern "C" __global__ void __launch_bounds__(256) mle_outer(qm31 *__restrict__ out, const qm31 *__restrict__ inner,
                                                            const qm31 *__restrict__ outer, u32 low, u64 n, u32 add) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  qm31 v = qm31_mul(outer[i >> low], inner[i & ((1u << low) - 1)]);
  out[i] = add ? qm31_add(out[i], v) : v;
}

extern "C" __global__ void __launch_bounds__(256) mle_fold_base(qm31 *__restrict__ out, const u32 *__restrict__ t,
                                                                const qm31 *__restrict__ r, u64 half) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= half) return;
  out[i] = qm31_fold_base(t[i], t[i + half], r[0]);
}

// out may be t: thread i alone reads and writes entry i.
extern "C" __global__ void __launch_bounds__(256) mle_fold_ext(qm31 *out, const qm31 *t, const qm31 *__restrict__ r, u64 half) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= half) return;
  out[i] = qm31_fold(t[i], t[i + half], r[0]);
}

template <typename T>
DEVICE_INLINE void dot_block(qm31 *parts, const T *__restrict__ a, const qm31 *__restrict__ w, u64 n) {
  __shared__ qm31 shared[8];
  qm31 s = qm31_zero();
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) s = qm31_add(s, times(a[i], w[i]));
  s = qm31_block_sum(s, shared);
  if (threadIdx.x == 0) parts[blockIdx.x] = s;
}

// mle_dot: parts[block] = the block's share of sum_i a[i] w[i].
extern "C" __global__ void __launch_bounds__(256) mle_dot_base(qm31 *parts, const u32 *__restrict__ a, const qm31 *__restrict__ w, u64 n) {
  dot_block(parts, a, w, n);
}

extern "C" __global__ void __launch_bounds__(256) mle_dot_ext(qm31 *parts, const qm31 *__restrict__ a, const qm31 *__restrict__ w, u64 n) {
  dot_block(parts, a, w, n);
}

// mle_sum: out[k] = sum over `splits` vectors of length n, a warp an entry.
extern "C" __global__ void __launch_bounds__(256) mle_sum(qm31 *out, const qm31 *parts, u32 splits, u32 n) {
  u32 k = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  qm31 s = qm31_zero();
  if (k < n)
    for (u32 i = threadIdx.x & 31; i < splits; i += 32) s = qm31_add(s, parts[(u64)i * n + k]);
  s = qm31_warp_sum(s);
  if (k < n && (threadIdx.x & 31) == 0) out[k] = s;
}

template <typename T>
DEVICE_INLINE void rows_column(qm31 *out, const T *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols) {
  u32 k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= cols) return;
  qm31 s = qm31_zero();
  for (u32 i = blockIdx.y; i < rows; i += gridDim.y) s = qm31_add(s, times(a[(u64)i * cols + k], w[i]));
  out[(u64)blockIdx.y * cols + k] = s;
}

// mle_rows: a thread a column, blockIdx.y a share of the rows;
// out[share][k] = sum_i w[i] a[i][k].
extern "C" __global__ void __launch_bounds__(256) mle_rows_base(qm31 *out, const u32 *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols) {
  rows_column(out, a, w, rows, cols);
}

extern "C" __global__ void __launch_bounds__(256) mle_rows_ext(qm31 *out, const qm31 *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols) {
  rows_column(out, a, w, rows, cols);
}

template <typename T>
DEVICE_INLINE void cols_row(qm31 *out, const T *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols, u64 size) {
  u32 i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  u64 at = (u64)i * cols;
  u64 left = i < rows ? size - at : 0;
  u32 n = left < cols ? (u32)left : cols;
  qm31 s = qm31_zero();
  for (u32 k = threadIdx.x & 31; k < n; k += 32) s = qm31_add(s, times(a[at + k], w[k]));
  s = qm31_warp_sum(s);
  if (i < rows && (threadIdx.x & 31) == 0) out[i] = s;
}

// mle_cols: a warp a row; out[i] = sum_k w[k] a[i][k]. The last row ends with a.
extern "C" __global__ void __launch_bounds__(256) mle_cols_base(qm31 *out, const u32 *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols, u64 size) {
  cols_row(out, a, w, rows, cols, size);
}

extern "C" __global__ void __launch_bounds__(256) mle_cols_ext(qm31 *out, const qm31 *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols, u64 size) {
  cols_row(out, a, w, rows, cols, size);
}
