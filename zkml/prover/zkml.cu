// Kernels of package zkml/prover for the forward pass. Tensors are in the padded
// layout: row-major, every axis a power of two. Values are residues modulo 2^31-1
// of integers below 2^29 in absolute value.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "zkml/prover/places.cuh"

// The integer of least absolute value with residue v.
DEVICE_INLINE i32 integer(u32 v) { return v > M31_P / 2 ? (i32)(v - M31_P) : (i32)v; }

// ---- matrix products: out[r][j] = sum_k x[r][k] w[k][j] ------------------------
// Partial sums obey the bounds of the result, so 32-bit integers do.

// zkml_matmul_rows is for few rows: a block does 32 columns of one, 32 parts of
// the sum side by side.
extern "C" __global__ void __launch_bounds__(1024) zkml_matmul_rows(u32 *__restrict__ out, const u32 *__restrict__ x,
                                                                    const u32 *__restrict__ w, u32 k, u32 n) {
  __shared__ u32 parts[32][33];
  u32 lane = threadIdx.x & 31, part = threadIdx.x >> 5;
  u64 r = blockIdx.y, j = (u64)blockIdx.x * 32 + lane;
  u32 sum = 0;
  if (j < n)
    for (u32 c = part; c < k; c += 32) sum += (u32)(integer(x[r * k + c]) * integer(w[(u64)c * n + j]));
  parts[part][lane] = sum;
  __syncthreads();
  sum = 0;
  for (u32 d = 0; d < 32; d++) sum += part == 0 ? parts[d][lane] : 0;
  if (part == 0 && j < n) out[r * n + j] = m31_from_i32((i32)sum);
}

// zkml_matmul_trans is zkml_matmul_rows for w[j][k], a warp an entry.
extern "C" __global__ void __launch_bounds__(256) zkml_matmul_trans(u32 *__restrict__ out, const u32 *__restrict__ x,
                                                                    const u32 *__restrict__ w, u32 rows, u32 k, u32 n) {
  u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  bool in = i < (u64)rows * n;
  u64 r = i / n, j = i % n;
  u32 sum = 0;
  if (in)
    for (u32 c = threadIdx.x & 31; c < k; c += 32) sum += (u32)(integer(x[r * k + c]) * integer(w[j * k + c]));
  for (u32 d = 16; d > 0; d >>= 1) sum += shfl_xor(sum, d);
  if (in && (threadIdx.x & 31) == 0) out[i] = m31_from_i32((i32)sum);
}

// Tiles of zkml_matmul: a block does 32 x 64 entries, 32 steps of the sum at a
// time from shared memory; a thread does 2 x 4 of them, and fetches its part of
// the next steps meanwhile.
#define TILE_ROWS 32
#define TILE_COLUMNS 64
#define TILE_STEPS 32

struct alignas(16) quad {
  i32 v[4];
};

// zkml_matmul: w is [k][n], or [n][k] if trans is not 0.
extern "C" __global__ void __launch_bounds__(256) zkml_matmul(u32 *__restrict__ out, const u32 *__restrict__ x, const u32 *__restrict__ w,
                                                              u32 rows, u32 k, u32 n, u32 trans) {
  __shared__ i32 a[TILE_STEPS][TILE_ROWS + 1];
  __shared__ quad b[TILE_STEPS][TILE_COLUMNS / 4 + 1];
  u32 t = threadIdx.x, tx = t & 15, ty = t >> 4, c = t & 31;
  u64 r0 = (u64)blockIdx.y * TILE_ROWS, j0 = (u64)blockIdx.x * TILE_COLUMNS;
  u32 sum[2][4] = {}, xs[4], ws[8];
  // Iteration 0 only fetches. Threads read along rows of x and w.
  for (u32 c0 = 0; c0 < k + TILE_STEPS; c0 += TILE_STEPS) {
    if (c0 > 0) {
#pragma unroll
      for (u32 i = 0; i < 4; i++) a[c][(t >> 5) + 8 * i] = integer(xs[i]);
#pragma unroll
      for (u32 i = 0; i < 8; i++) {
        u32 step = trans ? c : (t >> 6) + 4 * i, j = trans ? (t >> 5) + 8 * i : t & 63;
        b[step][j >> 2].v[j & 3] = integer(ws[i]);
      }
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      u64 r = r0 + (t >> 5) + 8 * i;
      xs[i] = r < rows && c0 + c < k ? x[r * k + c0 + c] : 0;
    }
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
      u32 step = c0 + (trans ? c : (t >> 6) + 4 * i);
      u64 j = j0 + (trans ? (t >> 5) + 8 * i : t & 63);
      ws[i] = j < n && step < k ? w[trans ? j * k + step : step * (u64)n + j] : 0;
    }
    if (c0 > 0) {
#pragma unroll
      for (u32 d = 0; d < TILE_STEPS; d++) {
        i32 p = a[d][2 * ty], q = a[d][2 * ty + 1];
        quad v = b[d][tx];
        for (u32 l = 0; l < 4; l++) {
          sum[0][l] += (u32)(p * v.v[l]);
          sum[1][l] += (u32)(q * v.v[l]);
        }
      }
      __syncthreads();
    }
  }
  for (u32 h = 0; h < 2; h++)
    for (u32 l = 0; l < 4; l++) {
      u64 r = r0 + 2 * ty + h, j = j0 + 4 * tx + l;
      if (r < rows && j < n) out[r * n + j] = m31_from_i32((i32)sum[h][l]);
    }
}

// ---- other operations -----------------------------------------------------------

// zkml_linear: out[i] = c + the sum of coef * in[j] over terms (place, coef,
// place of its segments, their number). j is made of the bits of i that the
// segments (from, mask, to) select.
extern "C" __global__ void __launch_bounds__(256) zkml_linear(u32 *__restrict__ out, const u32 *__restrict__ fixed, const u32 *__restrict__ live,
                                                              const u64 *__restrict__ desc, u32 terms, u32 nterms, u32 c, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 v = c;
  for (u32 k = 0; k < nterms; k++) {
    const u64 *t = desc + terms + 4 * k, *seg = desc + t[2];
    u32 j = 0;
    for (u32 s = 0; s < (u32)t[3]; s++, seg += 3) j |= (i >> seg[0] & (u32)seg[1]) << seg[2];
    v = m31_add(v, m31_mul((u32)t[1], place(fixed, live, t[0])[j]));
  }
  out[i] = v;
}

// zkml_lookup: x + half = 2^shift q + r with 0 <= r < 2^shift; y is entry
// q + first of the table. rem is null if there is no remainder.
extern "C" __global__ void __launch_bounds__(256) zkml_lookup(u32 *__restrict__ y, u32 *__restrict__ rem, const u32 *__restrict__ x,
                                                              const u32 *__restrict__ table, i32 half, u32 shift, i32 first, i32 size, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i32 acc = integer(x[i]) + half;
  i32 q = acc >> shift;
  i32 row = q + first;
  row = row < 0 ? 0 : row >= size ? size - 1 : row;
  y[i] = table[row];
  if (rem != 0) rem[i] = (u32)acc & ((1u << shift) - 1);
}

// zkml_move gives n elements another shape.
extern "C" __global__ void __launch_bounds__(256) zkml_move(u32 *__restrict__ out, const u32 *__restrict__ in, const u64 *__restrict__ from,
                                                            u32 nfrom, const u64 *__restrict__ to, u32 nto, u32 n) {
  u32 e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  out[padded_index(e, to, nto)] = in[padded_index(e, from, nfrom)];
}

// zkml_limb: w bits of v - lo from bit `shift` up.
extern "C" __global__ void __launch_bounds__(256) zkml_limb(u32 *__restrict__ out, const u32 *__restrict__ v, u32 lo, u32 shift, u32 w, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = m31_sub(v[i], lo) >> shift & ((1u << w) - 1);
}
