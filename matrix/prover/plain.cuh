// Products of matrices by integer multiply-adds.
#pragma once
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "matrix/prover/entries.cuh"

// fold brings a sum of products within 2^33 + 2^32, to which eight products of
// integers below 2^30 may be added again: 2^32 is 2.
DEVICE_INLINE i64 fold(i64 s) { return mad_wide((i32)(s >> 32), 2, (i64)((u64)s & 0xffffffffu)); }

// residue_of is the residue of any signed sum.
DEVICE_INLINE u32 residue_of(i64 s) { return m31_reduce((u64)(fold(s) + ((i64)M31_P << 3))); }

#define PLAIN_ROWS 128
#define PLAIN_STEPS 16

// plain_gemm multiplies a tile of 128 rows and COLUMNS columns by twice as many threads of
// 8 x 8 entries: rows 4y.. and 64 + 4y.., columns 4x.. of either half. b is stored by
// columns if transposed. The next 16 steps are loaded while the present ones are
// multiplied.
template <u32 COLUMNS, class T>
DEVICE_INLINE void plain_gemm(u32 *c, const u32 *a, const T *b, u32 m, u32 k, u32 n, bool transposed) {
  const u32 threads = 2 * COLUMNS, high = 4 * PLAIN_ROWS / threads; // loads of the left factor a thread; two of the right one
  __shared__ int4 left[2][PLAIN_STEPS][PLAIN_ROWS / 4 + 1], right[2][PLAIN_STEPS][COLUMNS / 4 + 1];
  const u32 t = threadIdx.x, x = t % (COLUMNS / 8), y = t / (COLUMNS / 8);
  const u32 row = blockIdx.y * PLAIN_ROWS, column = blockIdx.x * COLUMNS;
  i32 u[high][4], v[2][4];
  i64 s[8][8];
#pragma unroll
  for (u32 i = 0; i < 8; i++)
#pragma unroll
    for (u32 j = 0; j < 8; j++) s[i][j] = 0;
  // Along rows, a thread loads four steps of lines t / 4 and further ones; along
  // columns, four lines of steps t / (COLUMNS / 4) and 8 more. Away from the
  // matrices' ends it needs no tests.
  const bool inside = row + PLAIN_ROWS <= m && column + COLUMNS <= n && k % 4 == 0 && n % 4 == 0 && aligned(a, 16) && aligned(b, 4 * sizeof(T));
  const u32 line = t / 4, ahead = t % 4 * 4, across = t % (COLUMNS / 4) * 4, down = t / (COLUMNS / 4);
  auto load = [&](u32 at) {
    const bool free = inside && at + PLAIN_STEPS <= k;
    const u32 step = at + ahead, at_column = column + across;
#pragma unroll
    for (u32 h = 0; h < high; h++) {
      const u32 i = row + line + h * threads / 4;
      const u32 *p = a + (u64)i * k + step;
      if (free)
        load4_all(u[h], p);
      else
        load4(u[h], p, i < m && step < k ? k - step : 0);
    }
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      const u32 i = transposed ? column + line + h * threads / 4 : at + down + 8 * h;
      const T *p = transposed ? b + (u64)i * k + step : b + (u64)i * n + at_column;
      const u32 there = transposed ? (i < n && step < k ? k - step : 0) : (i < k && at_column < n ? n - at_column : 0);
      if (free)
        load4_all(v[h], p);
      else
        load4(v[h], p, there);
    }
  };
  auto put = [&](u32 buffer) {
#pragma unroll
    for (u32 e = 0; e < 4; e++) {
#pragma unroll
      for (u32 h = 0; h < high; h++) ((i32 *)left[buffer][ahead + e])[line + h * threads / 4] = u[h][e];
#pragma unroll
      for (u32 h = 0; h < 2; h++)
        if (transposed) ((i32 *)right[buffer][ahead + e])[line + h * threads / 4] = v[h][e];
    }
#pragma unroll
    for (u32 h = 0; h < 2; h++)
      if (!transposed) right[buffer][down + 8 * h][across / 4] = make_int4(v[h][0], v[h][1], v[h][2], v[h][3]);
  };
  load(0);
  put(0);
  __syncthreads();
#pragma unroll 1
  for (u32 at = 0, now = 0; at < k; at += PLAIN_STEPS, now ^= 1) {
    const bool more = at + PLAIN_STEPS < k;
    if (more) load(at + PLAIN_STEPS);
#pragma unroll
    for (u32 half = 0; half < PLAIN_STEPS; half += 8) {
#pragma unroll
      for (u32 e = half; e < half + 8; e++) {
        const int4 a0 = left[now][e][y], a1 = left[now][e][16 + y], b0 = right[now][e][x], b1 = right[now][e][COLUMNS / 8 + x];
        const i32 f[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, g[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
        for (u32 i = 0; i < 8; i++)
#pragma unroll
          for (u32 j = 0; j < 8; j++) s[i][j] = mad_wide(f[i], g[j], s[i][j]);
      }
#pragma unroll
      for (u32 i = 0; i < 8; i++)
#pragma unroll
        for (u32 j = 0; j < 8; j++) s[i][j] = fold(s[i][j]);
    }
    if (more) put(now ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (u32 i = 0; i < 8; i++)
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      const u32 r = row + i / 4 * 64 + 4 * y + i % 4, at = column + COLUMNS / 2 * h + 4 * x;
      const u32 w[4] = {residue_of(s[i][4 * h]), residue_of(s[i][4 * h + 1]), residue_of(s[i][4 * h + 2]), residue_of(s[i][4 * h + 3])};
      if (r < m && at < n) store4(c + (u64)r * n + at, w, n - at, false);
    }
}
