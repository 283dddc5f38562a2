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

#define PLAIN_TILE 128
#define PLAIN_STEPS 16

// plain_gemm multiplies a tile of 128 x 128 by 256 threads of 8 x 8 entries: rows
// 4y.. and 64 + 4y.., columns 4x.. and 64 + 4x... b is stored by columns if
// transposed. The next 16 steps are loaded while the present ones are multiplied.
template <class T>
DEVICE_INLINE void plain_gemm(u32 *c, const u32 *a, const T *b, u32 m, u32 k, u32 n, bool transposed) {
  __shared__ int4 left[2][PLAIN_STEPS][PLAIN_TILE / 4 + 1], right[2][PLAIN_STEPS][PLAIN_TILE / 4 + 1];
  const u32 t = threadIdx.x, x = t % 16, y = t / 16;
  const u32 row = blockIdx.y * PLAIN_TILE, column = blockIdx.x * PLAIN_TILE;
  i32 u[2][4], v[2][4];
  i64 s[8][8];
#pragma unroll
  for (u32 i = 0; i < 8; i++)
#pragma unroll
    for (u32 j = 0; j < 8; j++) s[i][j] = 0;
  // Along rows, a thread loads four steps of lines t / 4 and 64 more; along columns,
  // four lines of steps t / 32 and 8 more. Away from the matrices' ends it needs no
  // tests.
  const bool inside = row + PLAIN_TILE <= m && column + PLAIN_TILE <= n && k % 4 == 0 && n % 4 == 0 && aligned(a, 16) && aligned(b, 4 * sizeof(T));
  const u32 line = t / 4, ahead = t % 4 * 4, across = column + t % 32 * 4, down = t / 32;
  auto load = [&](u32 at) {
    if (inside && at + PLAIN_STEPS <= k) {
      const u32 *p = a + (u64)(row + line) * k + at + ahead;
      const T *q = transposed ? b + (u64)(column + line) * k + at + ahead : b + (u64)(at + down) * n + across;
      const u64 skip = transposed ? (u64)64 * k : (u64)8 * n;
#pragma unroll
      for (u32 h = 0; h < 2; h++) {
        load4_all(u[h], p + (u64)64 * h * k);
        load4_all(v[h], q + h * skip);
      }
      return;
    }
#pragma unroll 1
    for (u32 h = 0; h < 2; h++) {
      i32 x[4], y[4];
      const u32 here = line + 64 * h, step = at + ahead, i = at + down + 8 * h;
      load4(x, a + (u64)(row + here) * k + step, row + here < m && step < k ? k - step : 0);
      if (transposed)
        load4(y, b + (u64)(column + here) * k + step, column + here < n && step < k ? k - step : 0);
      else
        load4(y, b + (u64)i * n + across, i < k && across < n ? n - across : 0);
#pragma unroll
      for (u32 e = 0; e < 4; e++) { // without indexing by h
        u[0][e] = h ? u[0][e] : x[e];
        v[0][e] = h ? v[0][e] : y[e];
        u[1][e] = x[e];
        v[1][e] = y[e];
      }
    }
  };
  auto put = [&](u32 buffer) {
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
#pragma unroll
      for (u32 e = 0; e < 4; e++) {
        ((i32 *)left[buffer][ahead + e])[line + 64 * h] = u[h][e];
        if (transposed) ((i32 *)right[buffer][ahead + e])[line + 64 * h] = v[h][e];
      }
      if (!transposed) right[buffer][down + 8 * h][t % 32] = make_int4(v[h][0], v[h][1], v[h][2], v[h][3]);
    }
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
        const int4 a0 = left[now][e][y], a1 = left[now][e][16 + y], b0 = right[now][e][x], b1 = right[now][e][16 + x];
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
      const u32 r = row + i / 4 * 64 + 4 * y + i % 4, at = column + 64 * h + 4 * x;
      const u32 w[4] = {residue_of(s[i][4 * h]), residue_of(s[i][4 * h + 1]), residue_of(s[i][4 * h + 2]), residue_of(s[i][4 * h + 3])};
      if (r < m && at < n) store4(c + (u64)r * n + at, w, n - at, false);
    }
}
