// Kernels of package matrix/prover that multiply by way of residues: factors
// are packed into planes of residues, planes multiplied, and results recovered.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "matrix/prover/entries.cuh"
#include "matrix/prover/residues.cuh"

// put_planes writes a thread's part of a unit: of four lines, v[j], eight steps.
// With raw there is one plane, of the entries themselves.
DEVICE_INLINE void put_planes(uint4 *out, u64 stride, const i32 (&v)[4][8], const Modulus *moduli, u32 planes, bool right, bool raw) {
  for (u32 p = 0; p < planes; p++, out += stride) {
    Modulus x = moduli[p];
    const i32 one = right ? 1 : x.left0, high = right ? x.right1 : x.left1;
    u32 w[4][2];
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      i32 r[8];
#pragma unroll
      for (u32 k = 0; k < 8; k++) r[k] = raw ? v[j][k] : small_residue(v[j][k], one, high, x.m, x.magic32);
      w[j][0] = bytes(r[0], r[1], r[2], r[3]);
      w[j][1] = bytes(r[4], r[5], r[6], r[7]);
    }
#pragma unroll
    for (u32 u = 0; u < 2; u++)
      out[32 * u] = right ? make_uint4(w[2 * u][0], w[2 * u][1], w[2 * u + 1][0], w[2 * u + 1][1])
                          : make_uint4(w[2 * u][0], w[2 * u + 1][0], w[2 * u][1], w[2 * u + 1][1]);
  }
}

// pack_lines packs a matrix of rows that are lines, pack_steps one of rows that
// are steps; rows are n entries apart. A warp packs a unit. Entries beyond lines
// and depth are 0.
template <class T>
DEVICE_INLINE void pack_lines(uint4 *out, const T *in, const Modulus *moduli, u32 planes, u32 lines, u32 depth, u32 n, u32 units, u32 deep, u32 right, u32 raw) {
  const u64 unit = (u64)blockIdx.x * 8 + threadIdx.x / 32, all = (u64)units * deep;
  if (unit >= all) return;
  const u32 lane = threadIdx.x % 32, line = (u32)(unit / deep) * 32 + lane / 4 * 4, step = (u32)(unit % deep) * 32 + lane % 4 * 8;
  i32 v[4][8];
#pragma unroll
  for (u32 j = 0; j < 4; j++) {
    const u32 here = line + j < lines && step < depth ? depth - step : 0;
    const T *from = in + (u64)(line + j) * n + step;
    load4(v[j], from, here);
    load4(v[j] + 4, from + 4, here > 4 ? here - 4 : 0);
  }
  put_planes(out + unit * 64 + lane, all * 64, v, moduli, planes, right != 0, raw != 0);
}

template <class T>
DEVICE_INLINE void pack_steps(uint4 *out, const T *in, const Modulus *moduli, u32 planes, u32 lines, u32 depth, u32 n, u32 units, u32 deep, u32 raw) {
  const u64 unit = (u64)blockIdx.x * 8 + threadIdx.x / 32, all = (u64)units * deep;
  if (unit >= all) return;
  // Neighbouring warps read neighbouring lines.
  const u32 lane = threadIdx.x % 32, group = (u32)(unit % units), at = (u32)(unit / units);
  const u32 line = group * 32 + lane / 4 * 4, step = at * 32 + lane % 4 * 8;
  i32 v[4][8];
#pragma unroll
  for (u32 k = 0; k < 8; k++) {
    i32 x[4];
    load4(x, in + (u64)(step + k) * n + line, step + k < depth && line < lines ? lines - line : 0);
#pragma unroll
    for (u32 j = 0; j < 4; j++) v[j][k] = x[j];
  }
  put_planes(out + ((u64)group * deep + at) * 64 + lane, all * 64, v, moduli, planes, true, raw != 0);
}

extern "C" __global__ void __launch_bounds__(256, 3) matrix_pack_lines(uint4 *__restrict__ out, const u32 *__restrict__ in, const Modulus *__restrict__ moduli,
                                                                    u32 planes, u32 lines, u32 depth, u32 n, u32 units, u32 deep, u32 right, u32 raw) {
  pack_lines(out, in, moduli, planes, lines, depth, n, units, deep, right, raw);
}

extern "C" __global__ void __launch_bounds__(256, 3) matrix_pack_lines_i8(uint4 *__restrict__ out, const i8 *__restrict__ in, const Modulus *__restrict__ moduli,
                                                                       u32 planes, u32 lines, u32 depth, u32 n, u32 units, u32 deep, u32 right, u32 raw) {
  pack_lines(out, in, moduli, planes, lines, depth, n, units, deep, right, raw);
}

extern "C" __global__ void __launch_bounds__(256, 3) matrix_pack_steps(uint4 *__restrict__ out, const u32 *__restrict__ in, const Modulus *__restrict__ moduli,
                                                                    u32 planes, u32 lines, u32 depth, u32 n, u32 units, u32 deep, u32 raw) {
  pack_steps(out, in, moduli, planes, lines, depth, n, units, deep, raw);
}

extern "C" __global__ void __launch_bounds__(256, 3) matrix_pack_steps_i8(uint4 *__restrict__ out, const i8 *__restrict__ in, const Modulus *__restrict__ moduli,
                                                                       u32 planes, u32 lines, u32 depth, u32 n, u32 units, u32 deep, u32 raw) {
  pack_steps(out, in, moduli, planes, lines, depth, n, units, deep, raw);
}

// matrix_gemm_wide and matrix_gemm_slim multiply planes, in tiles of 128 x 256 and
// of 64 x 128 entries; rows, columns and depth count units.
extern "C" __global__ void __launch_bounds__(256, 1) matrix_gemm_wide(uint4 *__restrict__ c, const uint4 *__restrict__ a, const uint4 *__restrict__ b,
                                                                      const Modulus *__restrict__ moduli, u32 rows, u32 columns, u32 depth, u32 shared_b) {
  tile_gemm<2, 2, 4, 2, 4>(c, a, b, moduli, rows, columns, depth, shared_b);
}

extern "C" __global__ void __launch_bounds__(128, 2) matrix_gemm_slim(uint4 *__restrict__ c, const uint4 *__restrict__ a, const uint4 *__restrict__ b,
                                                                      const Modulus *__restrict__ moduli, u32 rows, u32 columns, u32 depth, u32 shared_b) {
  tile_gemm<1, 2, 2, 2, 4>(c, a, b, moduli, rows, columns, depth, shared_b);
}

// matrix_bytes_wide and matrix_bytes_slim multiply planes of entries themselves,
// which writes the result to c or adds it.
extern "C" __global__ void __launch_bounds__(256, 1) matrix_bytes_wide(u32 *__restrict__ c, const uint4 *__restrict__ a, const uint4 *__restrict__ b, u32 rows,
                                                                       u32 columns, u32 depth, u32 m, u32 width, u32 n, u32 add) {
  tile_bytes<2, 2, 4, 2, 4>(c, a, b, rows, columns, depth, m, width, n, add != 0);
}

extern "C" __global__ void __launch_bounds__(128, 2) matrix_bytes_slim(u32 *__restrict__ c, const uint4 *__restrict__ a, const uint4 *__restrict__ b, u32 rows,
                                                                       u32 columns, u32 depth, u32 m, u32 width, u32 n, u32 add) {
  tile_bytes<1, 2, 2, 2, 4>(c, a, b, rows, columns, depth, m, width, n, add != 0);
}

// matrix_recover finds the integers of which planes hold residues, modulo 2^31 - 1,
// and writes them to c or adds them to it, of rows by columns, n entries a row.
extern "C" __global__ void __launch_bounds__(256) matrix_recover(u32 *__restrict__ c, const uint4 *__restrict__ in, const Modulus *__restrict__ moduli,
                                                                 u32 planes, i32 product, u32 rows, u32 columns, u32 n, u32 high, u32 wide, u32 add) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, all = (u64)high * wide * 64;
  if (i >= all) return;
  i64 sum[16];
  i32 share[16];
#pragma unroll
  for (u32 k = 0; k < 16; k++) {
    sum[k] = 0;
    share[k] = 1 << 23;
  }
  const u32 ahead = 5; // planes whose loads are under way together
  for (u32 from = 0; from < planes; from += ahead) {
    uint4 v[ahead];
#pragma unroll
    for (u32 p = 0; p < ahead; p++) v[p] = from + p < planes ? in[(from + p) * all + i] : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (u32 p = 0; p < ahead; p++) {
      if (from + p >= planes) break;
      const u32 w[4] = {v[p].x, v[p].y, v[p].z, v[p].w};
      const i32 weight = ldg(&moduli[from + p].weight), part = ldg(&moduli[from + p].share);
#pragma unroll
      for (u32 k = 0; k < 16; k++) {
        const i32 y = signed_byte(w[k / 4], k % 4);
        sum[k] = mad_wide(y, weight, sum[k]);
        share[k] += y * part;
      }
    }
  }
  u32 r[16];
#pragma unroll
  for (u32 k = 0; k < 16; k++) // the sum is within 2^41
    r[k] = m31_reduce((u64)mad_wide(-(share[k] >> 24), product, sum[k] + ((i64)M31_P << 10)));
  put_block(c, r, i, wide, rows, columns, n, add != 0);
}
