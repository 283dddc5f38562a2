// Folding by K challenges at once: entry x of the result is the sum over u of
// eq(r, u) p(u, x), for the 2^K prefixes u. A product by a constant is a 128x128 matrix
// over GF(2), so the fold is one product of matrices of bits, K = 2^K * 128 deep, for
// which there is an instruction (mma_b1): its counts' parities are the result's bits.
// Elements go in as they lie in memory, and come out so: a lane 4g + t of a warp has
// limb t of element g, in and out.
#include "device/ptx.cuh"

#define WARPS 8u

// COLUMN: output bit 32t + 16c + j is column 2t + c of tile j, which lanes 4g + t hold.
// A fragment is [pair of prefixes][tile 0..15][lane] two words: of the pair's first and of
// its second prefix.

// fold_units does 16 R entries after another: P pairs of prefixes, R times 16 rows.
template <u32 P, u32 R> DEVICE_INLINE void fold_units(u32 *__restrict__ out, const uint4 *__restrict__ in, const uint2 *__restrict__ fragments, u64 entries) {
  SHARED_DYNAMIC(uint4, shared);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const u32 rows = 16 * R;
  uint2 *matrix = (uint2 *)shared;
  uint4 *stage = shared + P * 16 * 32 / 2 + warp * 2 * P * rows;
  for (u32 i = threadIdx.x; i < P * 16 * 32; i += 32 * WARPS) matrix[i] = ldg(fragments + i);
  __syncthreads();
  const u64 step = (u64)gridDim.x * WARPS * rows;
  u64 x = ((u64)blockIdx.x * WARPS + warp) * rows;
  // fetch starts to copy the entries of all prefixes: prefix u's are stage[rows u ..].
  auto fetch = [&](u64 from) {
#pragma unroll
    for (u32 c = 0; c < 2 * P * rows / 32; c++) {
      const u32 i = 32 * c + lane;
      copy_async(stage + i, in + (i / rows) * entries + from + i % rows);
    }
  };
  if (x < entries) fetch(x);
  copy_async_commit();
#pragma unroll 1
  for (; x < entries; x += step) {
    copy_async_wait<0>();
    __syncwarp();
    u32 a[R][P][4];
#pragma unroll
    for (u32 r = 0; r < R; r++)
#pragma unroll
      for (u32 p = 0; p < P; p++)
#pragma unroll
        for (u32 i = 0; i < 4; i++) a[r][p][i] = ((const u32 *)stage)[4 * (rows * (2 * p + i / 2) + 16 * r + 8 * (i % 2)) + lane];
    __syncwarp();
    if (x + step < entries) fetch(x + step);
    copy_async_commit();
    u32 y[R][2];
#pragma unroll
    for (u32 r = 0; r < R; r++) y[r][0] = y[r][1] = 0;
    const uint2 *m = matrix + lane;
#pragma unroll
    for (u32 j = 0; j < 16; j++) {
      i32 d[R][4];
#pragma unroll
      for (u32 r = 0; r < R; r++) d[r][0] = d[r][1] = d[r][2] = d[r][3] = 0;
#pragma unroll
      for (u32 p = 0; p < P; p++) {
        const uint2 v = m[32 * (16 * p + j)];
        const u32 b[2] = {v.x, v.y};
#pragma unroll
        for (u32 r = 0; r < R; r++) mma_b1(d[r], a[r][p], b);
      }
      // Counts are at most 2^11, so the lower one's stay below bit 16 + j.
#pragma unroll
      for (u32 r = 0; r < R; r++)
#pragma unroll
        for (u32 h = 0; h < 2; h++)
          y[r][h] = lop3<0x78>(y[r][h], ((u32)d[r][2 * h] << j) + ((u32)d[r][2 * h + 1] << (16 + j)), 0x00010001u << j);
    }
#pragma unroll
    for (u32 r = 0; r < R; r++)
#pragma unroll
      for (u32 h = 0; h < 2; h++) out[4 * (x + 16 * r + 8 * h) + lane] = y[r][h];
  }
  copy_async_wait<0>();
}

// binary_foldK: 2^K prefixes of `entries` elements each, which is a multiple of 64 (of 32
// for K = 4).
extern "C" __global__ void __launch_bounds__(256, 2) binary_fold1(u32 *__restrict__ out, const uint4 *__restrict__ in, const uint2 *__restrict__ fragments, u64 entries) {
  fold_units<1, 4>(out, in, fragments, entries);
}

extern "C" __global__ void __launch_bounds__(256, 2) binary_fold3(u32 *__restrict__ out, const uint4 *__restrict__ in, const uint2 *__restrict__ fragments, u64 entries) {
  fold_units<4, 4>(out, in, fragments, entries);
}

extern "C" __global__ void __launch_bounds__(256, 2) binary_fold4(u32 *__restrict__ out, const uint4 *__restrict__ in, const uint2 *__restrict__ fragments, u64 entries) {
  fold_units<8, 2>(out, in, fragments, entries);
}
