// Products of a row by a matrix, and operations on entries one by one.
#pragma once
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "matrix/prover/entries.cuh"
#include "matrix/prover/plain.cuh"

// load_many loads W entries of which the first n exist, 16 bytes at once if it can.
template <u32 W> DEVICE_INLINE void load_many(i32 (&v)[W], const u32 *p, u32 n) { load4(v, p, n); }

template <u32 W> DEVICE_INLINE void load_many(i32 (&v)[W], const i8 *p, u32 n) {
  if (n >= W && aligned(p, 16)) {
    const uint4 q = *(const uint4 *)p;
    const u32 w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (u32 k = 0; k < W; k++) v[k] = (i8)(w[k / 4] >> (8 * (k % 4)));
  } else {
#pragma unroll
    for (u32 k = 0; k < W; k++) v[k] = k < n ? p[k] : 0;
  }
}

// row_times is a block's part of a row times a matrix: W columns a thread, rows
// from blockIdx.y * split on, eight under way at a time.
template <u32 W, class T> DEVICE_INLINE void row_times(u32 *out, const u32 *x, const T *b, u32 k, u32 n, u32 split) {
  const u64 wide = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * W;
  if (wide >= n) return;
  const u32 column = (u32)wide, left = n - column, first = blockIdx.y * split, end = min(k, first + split);
  i64 s[W];
#pragma unroll
  for (u32 j = 0; j < W; j++) s[j] = 0;
  for (u32 i = first; i < end; i += 8) {
    i32 v[8][W], f[8];
#pragma unroll
    for (u32 e = 0; e < 8; e++) {
      load_many<W>(v[e], b + (u64)(i + e) * n + column, i + e < end ? left : 0);
      f[e] = i + e < end ? integer(ldg(&x[i + e])) : 0;
    }
#pragma unroll
    for (u32 j = 0; j < W; j++) {
#pragma unroll
      for (u32 e = 0; e < 8; e++) s[j] = mad_wide(f[e], v[e][j], s[j]);
      s[j] = fold(s[j]);
    }
  }
  out += (u64)blockIdx.y * n + column;
#pragma unroll
  for (u32 j = 0; j < W; j += 4) {
    const u32 w[4] = {residue_of(s[j]), residue_of(s[j + 1]), residue_of(s[j + 2]), residue_of(s[j + 3])};
    if (j < left) store4(out + j, w, left - j, false);
  }
}

// row_dot is a warp's entry of a row times a transposed matrix: W steps a lane.
template <u32 W, class T> DEVICE_INLINE void row_dot(u32 *out, const u32 *x, const T *b, u32 k, u32 n) {
  const u32 lane = threadIdx.x % 32;
  const u64 j = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  u64 total = 0;
  if (j < n) {
    b += j * k;
    i64 s = 0;
    for (u32 i = W * lane; i < k; i += 32 * W) {
      i32 v[W], f[W];
      load_many<W>(v, b + i, k - i);
#pragma unroll
      for (u32 e = 0; e < W; e += 4) load4(f + e, x + i + e, e < k - i ? k - i - e : 0);
#pragma unroll
      for (u32 e = 0; e < W; e++) {
        s = mad_wide(f[e], v[e], s);
        if (e % 8 == 7) s = fold(s);
      }
      s = fold(s);
    }
    total = residue_of(s);
  }
  for (u32 d = 16; d > 0; d >>= 1) total += shfl_xor(total, d);
  if (j < n && lane == 0) out[j] = m31_reduce(total);
}

// each computes n entries from those of a and b at the same places; out may be a
// or b. Vectors of four where all are aligned.
template <class F> DEVICE_INLINE void each(u32 *out, const u32 *a, const u32 *b, u64 n, F f) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x, stride = (u64)gridDim.x * blockDim.x;
  u64 done = 0;
  if (aligned(out, 16) && aligned(a, 16) && aligned(b, 16)) {
    done = n / 4 * 4;
    for (u64 i = t; i < n / 4; i += stride) {
      const uint4 x = ((const uint4 *)a)[i], y = ((const uint4 *)b)[i];
      ((uint4 *)out)[i] = make_uint4(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z), f(x.w, y.w));
    }
  }
  for (u64 i = done + t; i < n; i += stride) out[i] = f(a[i], b[i]);
}
