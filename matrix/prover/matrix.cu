// Kernels of package matrix/prover that multiply entries as they are: products
// of matrices by integer multiply-adds, of a row by a matrix, and of entries.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "matrix/prover/entries.cuh"
#include "matrix/prover/plain.cuh"
#include "matrix/prover/vector.cuh"

extern "C" __global__ void __launch_bounds__(128, 2) matrix_gemm(u32 *__restrict__ c, const u32 *__restrict__ a, const u32 *__restrict__ b, u32 m, u32 k, u32 n,
                                                              u32 transposed) {
  plain_gemm<64>(c, a, b, m, k, n, transposed != 0);
}

extern "C" __global__ void __launch_bounds__(128, 2) matrix_gemm_i8(u32 *__restrict__ c, const u32 *__restrict__ a, const i8 *__restrict__ b, u32 m, u32 k, u32 n,
                                                                 u32 transposed) {
  plain_gemm<64>(c, a, b, m, k, n, transposed != 0);
}

// matrix_row: out[y][j] = sum of x[i] b[i][j] over the rows i that blocks with y take.
extern "C" __global__ void __launch_bounds__(256, 4) matrix_row(u32 *__restrict__ out, const u32 *__restrict__ x, const u32 *__restrict__ b, u32 k, u32 n) {
  row_times<8>(out, x, b, k, n);
}

extern "C" __global__ void __launch_bounds__(256, 3) matrix_row_i8(u32 *__restrict__ out, const u32 *__restrict__ x, const i8 *__restrict__ b, u32 k, u32 n) {
  row_times<4>(out, x, b, k, n);
}

// matrix_sum adds up splits rows of n residues: 32 columns a block, a warp takes every
// eighth row.
extern "C" __global__ void __launch_bounds__(256) matrix_sum(u32 *__restrict__ out, const u32 *__restrict__ in, u32 splits, u32 n) {
  __shared__ u64 sums[8][32];
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
  u64 s = 0;
  if (i < n) {
#pragma unroll 4
    for (u32 p = warp; p < splits; p += 8) s += ldg(&in[(u64)p * n + i]);
  }
  sums[warp][lane] = s;
  __syncthreads();
  if (warp > 0 || i >= n) return;
  for (u32 w = 1; w < 8; w++) s += sums[w][lane];
  out[i] = m31_reduce(s);
}

// matrix_row_transposed: out[j] = sum of x[i] b[j][i], by team threads (32, or the
// block's 256) an entry, or of bytes four.
extern "C" __global__ void __launch_bounds__(256) matrix_row_transposed(u32 *__restrict__ out, const u32 *__restrict__ x, const u32 *__restrict__ b, u32 k, u32 n,
                                                                        u32 team) {
  row_dot<1>(out, x, b, k, n, team);
}

extern "C" __global__ void __launch_bounds__(256) matrix_row_transposed_i8(u32 *__restrict__ out, const u32 *__restrict__ x, const i8 *__restrict__ b, u32 k, u32 n,
                                                                           u32 team) {
  row_dot<4>(out, x, b, k, n, team);
}

extern "C" __global__ void __launch_bounds__(256) matrix_add(u32 *out, const u32 *a, const u32 *b, u64 n) {
  each(out, a, b, n, [](u32 x, u32 y) { return m31_add(x, y); });
}

extern "C" __global__ void __launch_bounds__(256) matrix_multiply(u32 *out, const u32 *a, const u32 *b, u64 n) {
  each(out, a, b, n, [](u32 x, u32 y) { return m31_mul(x, y); });
}

// matrix_relu keeps the residues of integers from 0 to (p-1)/2; the others give 0.
extern "C" __global__ void __launch_bounds__(256) matrix_relu(u32 *out, const u32 *a, u64 n) {
  each(out, a, a, n, [](u32 x, u32) { return x > M31_P / 2 ? 0u : x; });
}
