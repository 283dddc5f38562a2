// Kernels of package mle/prover. Tables have their first variable in the top
// bit of the index; sums are exact, so their order does not matter.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "mle/prover/weights.cuh"

DEVICE_INLINE qm31 times(u32 a, qm31 w) { return qm31_mul_base(w, a); }
DEVICE_INLINE qm31 times(qm31 a, qm31 w) { return qm31_mul(w, a); }

// ---- eq -----------------------------------------------------------------------

// eq_tile writes scale * eq(point, x), or adds it, for a tile of `each` entries a
// thread, at most 32. A thread makes eq of the last 8 variables once, the first
// warp eq of the others for all.
DEVICE_INLINE void eq_tile(qm31 *out, const qm31 *__restrict__ point, const qm31 *__restrict__ scale, u32 n, u32 add, u32 each, u64 tile) {
  __shared__ qm31 high[32];
  u32 low = n < 8 ? n : 8;
  u64 size = (u64)1 << n, first = tile * each;
  if (threadIdx.x < each && (first + threadIdx.x) << low < size)
    high[threadIdx.x] = eq_prefix(scale != 0 ? scale[0] : qm31_one(), point, n - low, first + threadIdx.x);
  qm31 own = eq_prefix(qm31_one(), point + (n - low), low, threadIdx.x);
  __syncthreads();
  for (u32 j = 0; j < each; j++) {
    u64 x = ((first + j) << low) + threadIdx.x;
    if (threadIdx.x >> low != 0 || x >= size) break;
    qm31 v = qm31_mul(high[j], own);
    out[x] = add ? qm31_add(out[x], v) : v;
  }
}

extern "C" __global__ void __launch_bounds__(256) mle_eq(qm31 *out, const qm31 *point, const qm31 *scale, u32 n, u32 add, u32 each) {
  eq_tile(out, point, scale, n, add, each, blockIdx.x);
}

// mle_eq_job is one table of many; package prover fills it in.
struct mle_eq_job {
  qm31 *out;
  const qm31 *point, *scale;
  u64 vars, add, each, first; // first: the table's first tile
};

extern "C" __global__ void __launch_bounds__(256) mle_eq_tables(const mle_eq_job *jobs, u32 count) {
  __shared__ u32 found;
  for (u32 j = threadIdx.x; j < count; j += blockDim.x)
    if (jobs[j].first <= blockIdx.x && (j + 1 == count || blockIdx.x < jobs[j + 1].first)) found = j;
  __syncthreads();
  const mle_eq_job *job = jobs + found;
  eq_tile(job->out, job->point, job->scale, (u32)job->vars, (u32)job->add, (u32)job->each, blockIdx.x - job->first);
}

// ---- folds --------------------------------------------------------------------

// mle_fold_words binds a table of M31 words to a challenge of M31. out may be t:
// a thread alone reads and writes its four entries.
extern "C" __global__ void __launch_bounds__(256) mle_fold_words(u32 *out, const u32 *t, const u32 *__restrict__ r, u64 half, u32 aligned) {
  u64 i = 4 * ((u64)blockIdx.x * blockDim.x + threadIdx.x);
  u32 c = r[0];
  if (aligned && i < half) {
    uint4 lo = *reinterpret_cast<const uint4 *>(t + i), hi = *reinterpret_cast<const uint4 *>(t + half + i);
    lo.x = m31_add(lo.x, m31_mul(c, m31_sub(hi.x, lo.x)));
    lo.y = m31_add(lo.y, m31_mul(c, m31_sub(hi.y, lo.y)));
    lo.z = m31_add(lo.z, m31_mul(c, m31_sub(hi.z, lo.z)));
    lo.w = m31_add(lo.w, m31_mul(c, m31_sub(hi.w, lo.w)));
    *reinterpret_cast<uint4 *>(out + i) = lo;
    return;
  }
  for (u32 k = 0; k < 4 && i + k < half; k++) {
    u32 lo = t[i + k];
    out[i + k] = m31_add(lo, m31_mul(c, m31_sub(t[half + i + k], lo)));
  }
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

// mle_rows_ext: a thread a column, blockIdx.y a share of the rows;
// out[share][k] = sum_i w[i] a[i][k].
extern "C" __global__ void __launch_bounds__(256) mle_rows_ext(qm31 *out, const qm31 *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols) {
  u32 k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= cols) return;
  qm31 s = qm31_zero();
  for (u32 i = blockIdx.y; i < rows; i += gridDim.y) s = qm31_add(s, qm31_mul(a[(u64)i * cols + k], w[i]));
  out[(u64)blockIdx.y * cols + k] = s;
}

// mle_cols_ext: a warp a row; out[i] = sum_k w[k] a[i][k]. The last row ends with a.
extern "C" __global__ void __launch_bounds__(256) mle_cols_ext(qm31 *out, const qm31 *__restrict__ a, const qm31 *__restrict__ w, u32 rows, u32 cols, u64 size) {
  u32 i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  u64 at = (u64)i * cols;
  u64 left = i < rows ? size - at : 0;
  u32 n = left < cols ? (u32)left : cols;
  qm31 s = qm31_zero();
  for (u32 k = threadIdx.x & 31; k < n; k += 32) s = qm31_add(s, qm31_mul(a[at + k], w[k]));
  s = qm31_warp_sum(s);
  if (i < rows && (threadIdx.x & 31) == 0) out[i] = s;
}

// mle_dot_eq: out[block] = sum over i below the block's length of its vector of
// eq(point, i) times entry i.
struct mle_dot_job {
  const qm31 *vector, *point;
  u64 vars, length;
};

extern "C" __global__ void __launch_bounds__(256) mle_dot_eq(qm31 *out, const mle_dot_job *jobs) {
  __shared__ qm31 shared[8];
  const mle_dot_job *job = jobs + blockIdx.x;
  qm31 s = qm31_zero();
  for (u64 i = 8 * threadIdx.x; i < job->length; i += 8 * blockDim.x) {
    qm31 w[8];
    weights_eight(w, 0, job->point, (u32)job->vars, (u32)i, (u32)job->length);
    for (u32 k = 0; k < 8 && i + k < job->length; k++) s = qm31_add(s, qm31_mul(w[k], job->vector[i + k]));
  }
  s = qm31_block_sum(s, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
