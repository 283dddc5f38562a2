// Kernels of package matrix/prover that multiply entries as they are: products
// of matrices by integer multiply-adds, of a row by a matrix, and of entries.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "matrix/prover/entries.cuh"
#include "matrix/prover/plain.cuh"
#include "matrix/prover/vector.cuh"

extern "C" __global__ void __launch_bounds__(256) matrix_gemm(u32 *__restrict__ c, const u32 *__restrict__ a, const u32 *__restrict__ b, u32 m, u32 k, u32 n,
                                                              u32 transposed) {
  plain_gemm(c, a, b, m, k, n, transposed != 0);
}

extern "C" __global__ void __launch_bounds__(256) matrix_gemm_i8(u32 *__restrict__ c, const u32 *__restrict__ a, const i8 *__restrict__ b, u32 m, u32 k, u32 n,
                                                                 u32 transposed) {
  plain_gemm(c, a, b, m, k, n, transposed != 0);
}

// matrix_row: out[y][j] = sum of x[i] b[i][j] over the rows i of split y. A thread
// has 4 columns, or 16 of bytes.
extern "C" __global__ void __launch_bounds__(256) matrix_row(u32 *__restrict__ out, const u32 *__restrict__ x, const u32 *__restrict__ b, u32 k, u32 n, u32 split) {
  row_times<4>(out, x, b, k, n, split);
}

extern "C" __global__ void __launch_bounds__(256) matrix_row_i8(u32 *__restrict__ out, const u32 *__restrict__ x, const i8 *__restrict__ b, u32 k, u32 n, u32 split) {
  row_times<16>(out, x, b, k, n, split);
}

// matrix_sum adds up splits rows of n residues.
extern "C" __global__ void __launch_bounds__(256) matrix_sum(u32 *__restrict__ out, const u32 *__restrict__ in, u32 splits, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 s = 0;
  for (u32 p = 0; p < splits; p++) s += in[(u64)p * n + i];
  out[i] = m31_reduce(s);
}

// matrix_row_transposed: out[j] = sum of x[i] b[j][i], a warp an entry.
extern "C" __global__ void __launch_bounds__(256) matrix_row_transposed(u32 *__restrict__ out, const u32 *__restrict__ x, const u32 *__restrict__ b, u32 k, u32 n) {
  row_dot<4>(out, x, b, k, n);
}

extern "C" __global__ void __launch_bounds__(256) matrix_row_transposed_i8(u32 *__restrict__ out, const u32 *__restrict__ x, const i8 *__restrict__ b, u32 k, u32 n) {
  row_dot<16>(out, x, b, k, n);
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
