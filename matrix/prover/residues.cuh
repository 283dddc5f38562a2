// Products of integer matrices by way of their residues modulo several small
// numbers, so that signed bytes and the matrix instructions for them do.
//
// A plane holds one residue of every entry, in units of 32 lines by 32 steps of
// the inner dimension: a line is a row of the left factor or a column of the
// right one. A unit is two fragments u of 32 lanes, 16 bytes a lane. Lane 4g + t
// has of lines 4g + 2u and 4g + 2u + 1 the steps 8t..8t+3 and 8t+4..8t+7, a word
// each: for a left factor by steps, then lines, as one matrix instruction takes
// them; for a right one by lines, then steps, as two do. Units follow each other
// along the inner dimension, then by line.
//
// The planes of the result are in units of 32 rows by 32 columns, likewise: lane
// 4g + t of fragment u has, for each of the rows 4g + 2u and 4g + 2u + 1, the 8
// columns from 8t on.
#pragma once
#include "device/ptx.cuh"
#include "matrix/prover/entries.cuh"

// Modulus is what the kernels need to know of a modulus m <= 256 of a system.
// All residues are of least absolute value. M is the product of the moduli.
struct alignas(16) Modulus {
  i32 m;
  i32 magic32; // 2^32 / m, rounded
  i32 magic38; // 2^38 / m, rounded
  i32 left0;   // (M/m)^-1 mod m, which the left factor is multiplied by
  i32 left1;   // 2^15 times that
  i32 right1;  // 2^15 mod m
  i32 weight;  // M/m mod 2^31 - 1
  i32 share;   // 2^24 / m, rounded
};

// The fragments of a thread's part of a product: MU units of rows by two of columns.
template <u32 MU> struct Tile {
  i32 d[2 * MU][8][4];
};

template <u32 MU> DEVICE_INLINE void tile_zero(Tile<MU> &c) {
#pragma unroll
  for (u32 i = 0; i < 2 * MU; i++)
#pragma unroll
    for (u32 j = 0; j < 8; j++)
#pragma unroll
      for (u32 e = 0; e < 4; e++) c.d[i][j][e] = 0;
}

// residue is v modulo m of least absolute value, for |v| <= 2^30: the quotient is
// off by less than 2^-9 before it is rounded, too little to leave a signed byte.
DEVICE_INLINE i32 residue(i32 v, i32 m, i32 magic38) {
  return v - ((mul_hi(v, magic38) + 32) >> 6) * m;
}

// small_residue is v * one modulo m, of least absolute value, where high is 2^15 *
// one: for |v| <= 2^30 and |one|, |high| <= 128 the sum is below 2^23, and the
// quotient off by less than 2^-9 before it is rounded.
DEVICE_INLINE i32 small_residue(i32 v, i32 one, i32 high, i32 m, i32 magic32) {
  const i32 top = (v + (1 << 14)) >> 15, s = top * high + (v - (i32)((u32)top << 15)) * one;
  return s - (i32)(mad_wide(s, magic32, (i64)1 << 31) >> 32) * m;
}

// bytes packs the low bytes of four words.
DEVICE_INLINE u32 bytes(i32 a, i32 b, i32 c, i32 d) {
  return byte_permute(byte_permute((u32)a, (u32)b, 0x0040), byte_permute((u32)c, (u32)d, 0x0040), 0x5410);
}

// tile_store writes the residues of the tile; c is the lane's place in the first
// fragment, rows of units lie stride vectors apart.
template <u32 MU> DEVICE_INLINE void tile_store(uint4 *c, u64 stride, const Tile<MU> &t, i32 m, i32 magic38) {
#pragma unroll
  for (u32 i = 0; i < 2 * MU; i++)
#pragma unroll
    for (u32 j = 0; j < 2; j++) {
      u32 w[4];
#pragma unroll
      for (u32 e = 0; e < 4; e++)
        w[e] = bytes(residue(t.d[i][4 * j][e], m, magic38), residue(t.d[i][4 * j + 1][e], m, magic38),
                     residue(t.d[i][4 * j + 2][e], m, magic38), residue(t.d[i][4 * j + 3][e], m, magic38));
      c[i / 2 * stride + j * 64 + i % 2 * 32] = make_uint4(w[0], w[1], w[2], w[3]);
    }
}

// put_block writes what lane-fragment i of a result stands for: of two rows, eight
// columns each. wide is the number of units in a row of them.
DEVICE_INLINE void put_block(u32 *c, const u32 (&r)[16], u64 i, u32 wide, u32 rows, u32 columns, u32 n, bool add) {
  const u32 lane = i % 32, u = i / 32 % 2;
  const u64 unit = i / 64;
  const u32 row = (u32)(unit / wide) * 32 + lane / 4 * 4 + 2 * u, column = (u32)(unit % wide) * 32 + lane % 4 * 8;
#pragma unroll
  for (u32 h = 0; h < 4; h++) {
    const u32 y = row + h / 2, x = column + h % 2 * 4;
    if (y < rows && x < columns) store4(c + (u64)y * n + x, r + 4 * h, columns - x, add);
  }
}

// tile_loop multiplies the lines of a by those of b, of depth units each, a multiple
// of KS. The block has MW by NW warps; STAGES pieces of KS units of all of its lines
// are in shared memory or on their way there.
//
// A step's fragments are loaded while the step before is multiplied, each into the
// registers that it no longer needs, so that matrix instructions need not wait
// at a piece's beginning; the barrier between pieces has half a step on either side.
template <u32 MU, u32 MW, u32 NW, u32 KS, u32 STAGES>
DEVICE_INLINE void tile_loop(Tile<MU> &t, uint4 *ring, const uint4 *a, const uint4 *b, u32 depth) {
  const u32 threads = 32 * MW * NW, piece = KS * 64, left = MU * MW * piece, right = 2 * NW * piece;
  static_assert(left % threads == 0 && right % threads == 0 && threads % piece == 0, "every thread copies as much");
  const u32 stage = left + right, rounds = depth / KS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint4 *from_a = a + (u64)(threadIdx.x / piece) * depth * 64 + threadIdx.x % piece;
  const uint4 *from_b = b + (u64)(threadIdx.x / piece) * depth * 64 + threadIdx.x % piece;
  const u64 skip = (u64)(threads / piece) * depth * 64;
  uint4 *to = ring + threadIdx.x;
  auto load = [&](bool more) { // a piece to slot to
    if (more) {
#pragma unroll
      for (u32 i = 0; i < left / threads; i++) copy_async(to + i * threads, from_a + i * skip);
#pragma unroll
      for (u32 i = 0; i < right / threads; i++) copy_async(to + left + i * threads, from_b + i * skip);
      from_a += piece;
      from_b += piece;
    }
    copy_async_commit();
  };
#pragma unroll 1
  for (u32 s = 0; s < STAGES; s++) {
    load(s < rounds);
    to += stage;
  }
  copy_async_wait<STAGES - 1>();
  __syncthreads();
  tile_zero(t);
  const u32 first = warp / NW * MU * piece + lane, second = left + warp % NW * 2 * piece + lane;
  uint4 x[2 * MU], y[4];
#pragma unroll
  for (u32 i = 0; i < 2 * MU; i++) x[i] = ring[first + i / 2 * piece + i % 2 * 32];
#pragma unroll
  for (u32 j = 0; j < 4; j++) y[j] = ring[second + j / 2 * piece + j % 2 * 32];
  u32 slot = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
#pragma unroll
    for (u32 s = 0; s < KS; s++) {
      const uint4 *next = ring + slot * stage + (s + 1) * 64;
#pragma unroll
      for (u32 h = 0; h < 2; h++) {
#pragma unroll
        for (u32 i = 0; i < 2 * MU; i++) {
          const u32 v[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
          for (u32 j = 2 * h; j < 2 * h + 2; j++) {
            const u32 w0[2] = {y[j].x, y[j].y}, w1[2] = {y[j].z, y[j].w};
            mma_s8(t.d[i][2 * j], v, w0);
            mma_s8(t.d[i][2 * j + 1], v, w1);
          }
          if (h == 1) x[i] = next[first + i / 2 * piece + i % 2 * 32];
        }
        if (h == 0 && s + 1 == KS) {
          copy_async_wait<STAGES - 2>();
          __syncthreads();
          to = ring + slot * stage + threadIdx.x;
          load(r + STAGES < rounds);
          slot = slot + 1 == STAGES ? 0 : slot + 1;
          next = ring + slot * stage;
        }
#pragma unroll
        for (u32 j = 2 * h; j < 2 * h + 2; j++) y[j] = next[second + j / 2 * piece + j % 2 * 32];
      }
    }
  }
  copy_async_wait<0>();
}

// Place is where a block's tile is, in units, and of which modulus.
struct Place {
  u32 row, column, plane;
};

// place orders the blocks along x so that those that run together share lines;
// blocks along y take the moduli.
template <u32 HIGH, u32 WIDE> DEVICE_INLINE Place place(u32 rows, u32 columns) {
  const u32 band = 8, width = columns / WIDE, height = rows / HIGH;
  const u32 first = blockIdx.x / (band * width) * band, high = min(band, height - first), within = blockIdx.x % (band * width);
  Place p;
  p.row = (first + within % high) * HIGH;
  p.column = within / high * WIDE;
  p.plane = blockIdx.y;
  return p;
}

// tile_gemm is one block's part of the residues of a product.
template <u32 MU, u32 MW, u32 NW, u32 KS, u32 STAGES>
DEVICE_INLINE void tile_gemm(uint4 *c, const uint4 *a, const uint4 *b, const Modulus *moduli, u32 rows, u32 columns, u32 depth, u32 shared_b) {
  SHARED_DYNAMIC(uint4, ring);
  const Place p = place<MU * MW, 2 * NW>(rows, columns);
  a += ((u64)p.plane * rows + p.row) * depth * 64;
  b += ((u64)(shared_b ? 0 : p.plane) * columns + p.column) * depth * 64;
  Tile<MU> t;
  tile_loop<MU, MW, NW, KS, STAGES>(t, ring, a, b, depth);
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  c += (((u64)p.plane * rows + p.row + warp / NW * MU) * columns + p.column + warp % NW * 2) * 64 + lane;
  tile_store(c, (u64)columns * 64, t, ldg(&moduli[p.plane].m), ldg(&moduli[p.plane].magic38));
}

// tile_bytes is one block's part of a product of signed bytes themselves: c is m by
// n entries.
template <u32 MU, u32 MW, u32 NW, u32 KS, u32 STAGES>
DEVICE_INLINE void tile_bytes(u32 *c, const uint4 *a, const uint4 *b, u32 rows, u32 columns, u32 depth, u32 m, u32 width, u32 n, bool add) {
  SHARED_DYNAMIC(uint4, ring);
  const Place p = place<MU * MW, 2 * NW>(rows, columns);
  Tile<MU> t;
  tile_loop<MU, MW, NW, KS, STAGES>(t, ring, a + (u64)p.row * depth * 64, b + (u64)p.column * depth * 64, depth);
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u32 row = (p.row + warp / NW * MU) * 32 + lane / 4 * 4, column = (p.column + warp % NW * 2) * 32 + lane % 4 * 8;
#pragma unroll
  for (u32 i = 0; i < 2 * MU; i++)
#pragma unroll
    for (u32 j = 0; j < 2; j++)
#pragma unroll
      for (u32 e = 0; e < 4; e++) {
        const u32 y = row + i / 2 * 32 + i % 2 * 2 + e / 2, x = column + j * 32 + e % 2 * 4;
        const u32 r[4] = {m31_from_i32(t.d[i][4 * j][e]), m31_from_i32(t.d[i][4 * j + 1][e]), m31_from_i32(t.d[i][4 * j + 2][e]),
                          m31_from_i32(t.d[i][4 * j + 3][e])};
        if (y < m && x < width) store4(c + (u64)y * n + x, r, width - x, add);
      }
}
