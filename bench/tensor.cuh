// The reduction of Montgomery products whose multiplications by constants are matrix
// products of bytes: of t, the factor m = t (-1/p) mod 2^(32N) and the upper half of m p
// are made by the tensor cores, for the 32 numbers of a warp at a time. A row of the left
// matrix is a number; the right one has the constant's bytes, one lower in each column, so
// that column j of the product is worth 2^(8j). (The design is section 4.3's of DistMSM,
// ASPLOS 2024: columns ordered so that a lane holds four neighbouring ones, and makes
// one number of 45 bits of them while they are in registers.)
#pragma once
#include "field/mont/mont.cuh"

template <class W> struct Tensor {
  enum : u32 {
    N = W::N,
    STEPS = (N + 7) / 8,                 // of 32 bytes, in the length of a number
    STRIDE = 8 * STEPS + 4,              // words of a row in shared memory, without conflicts of banks
    LOW = N / 4,                         // groups of 16 columns, a word a lane of four: of m
    HIGH = N / 4 + 1,                    // of m p: the upper half, and the highest of the lower half
    SUMS = 4 * HIGH + (N == 12 ? 4 : 0), // numbers of 45 bits of a row
  };

  // Stage is a warp's, in shared memory.
  struct alignas(16) Stage {
    union {
      u32 words[32][STRIDE];
      u64 sums[32][SUMS];
    };
  };

  // Tables have the constants' matrices as fragments.
  struct Tables {
    const uint2 *factor, *modulus;
  };

  // multiply_constant leaves in stage.sums the columns of the numbers x, one a lane, times
  // a constant: groups times four words.
  template <u32 GROUPS> static __device__ __forceinline__ void multiply_constant(Stage &stage, const u32 (&x)[N], const uint2 *__restrict__ table) {
    const u32 lane = lane_id(), g = lane / 4, t = lane % 4;
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < 8 * STEPS; j++) stage.words[lane][j] = j < N ? x[j] : 0;
    __syncwarp();
    u32 a[2][STEPS][4];
#pragma unroll
    for (u32 s = 0; s < STEPS; s++)
#pragma unroll
      for (u32 h = 0; h < 2; h++)
#pragma unroll
        for (u32 k = 0; k < 4; k++) a[h][s][k] = stage.words[16 * h + 8 * (k & 1) + g][8 * s + 4 * (k >> 1) + t];
    __syncwarp();
#pragma unroll
    for (u32 p = 0; p < GROUPS; p++) {
#pragma unroll
      for (u32 h = 0; h < 2; h++) {
        i32 d[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
        for (u32 q = 0; q < 2; q++)
#pragma unroll
          for (u32 s = 0; s < STEPS; s++) {
            const uint2 w = ldg(table + ((2 * p + q) * STEPS + s) * 32 + lane);
            const u32 b[2] = {w.x, w.y};
            mma_u8(d[q], a[h][s], b);
          }
#pragma unroll
        for (u32 r = 0; r < 2; r++) {
          const u32 low = (u32)d[0][2 * r] + ((u32)d[0][2 * r + 1] << 8), high = (u32)d[1][2 * r] + ((u32)d[1][2 * r + 1] << 8);
          stage.sums[16 * h + 8 * r + g][4 * p + t] = mad_wide(high, 1u << 16, (u64)low);
        }
      }
    }
    __syncwarp();
  }

  // reduce is t / 2^(32N), below 2p for t below p 2^(32N). All lanes of the warp take part.
  static __device__ __forceinline__ Mont<W> reduce(Stage &stage, const Wide<W> &t, const Tables &tables) {
    const u32 lane = lane_id();
    u32 x[N];
#pragma unroll
    for (u32 j = 0; j < N; j++) x[j] = t.x[j];
    multiply_constant<LOW>(stage, x, tables.factor);
    u64 carry = 0;
#pragma unroll
    for (u32 j = 0; j < N; j++) {
      carry += stage.sums[lane][j];
      x[j] = (u32)carry;
      carry >>= 32;
    }
    multiply_constant<HIGH>(stage, x, tables.modulus);
    // The lower half of m p makes that of t 2^(32N), or both are 0. What its columns
    // carry out is what their highest ones are more than the words that come of it.
    u32 some = 0;
#pragma unroll
    for (u32 j = 0; j < N; j++) some |= t.x[j];
    u32 less = 0;
#pragma unroll
    for (u32 j = 0; j + 1 < N; j++) less |= t.x[j];
    const u32 top = 0u - t.x[N - 1] - (less != 0); // of the lower half of m p
    const u64 around = stage.sums[lane][3] + (stage.sums[lane][2] >> 32) + 0x80000000u;
    carry = (around - top) >> 32;
    Mont<W> r;
    carry += some != 0;
#pragma unroll
    for (u32 j = 0; j < N; j++) {
      carry += stage.sums[lane][4 + j];
      carry += t.x[N + j];
      r.x[j] = (u32)carry;
      carry >>= 32;
    }
    return r; // below 2p
  }
};
