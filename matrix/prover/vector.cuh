// Products of a row by a matrix, and operations on entries one by one.
#pragma once
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "matrix/prover/entries.cuh"
#include "matrix/prover/plain.cuh"

// Many is 16 bytes of entries as they are stored: COUNT entries.
template <class T> struct Many;

template <> struct Many<u32> {
  static const u32 COUNT = 4;
  uint4 w;
};

template <> struct Many<i8> {
  static const u32 COUNT = 16;
  uint4 w;
};

DEVICE_INLINE u32 word(const uint4 &w, u32 k) { return k == 0 ? w.x : k == 1 ? w.y : k == 2 ? w.z : w.w; }

DEVICE_INLINE i32 entry(const Many<u32> &v, u32 k) { return integer(word(v.w, k)); }

DEVICE_INLINE i32 entry(const Many<i8> &v, u32 k) { return signed_byte(word(v.w, k / 4), k % 4); }

// load_many loads entries of which the first n exist; the others are 0.
DEVICE_INLINE Many<u32> load_many(const u32 *p, u32 n) {
  Many<u32> v;
  if (n >= 4 && aligned(p, 16))
    v.w = *(const uint4 *)p;
  else
    v.w = make_uint4(n > 0 ? p[0] : 0, n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0);
  return v;
}

DEVICE_INLINE Many<i8> load_many(const i8 *p, u32 n) {
  Many<i8> v;
  if (n >= 16 && aligned(p, 16)) {
    v.w = *(const uint4 *)p;
  } else {
    u32 w[4] = {0, 0, 0, 0};
#pragma unroll
    for (u32 k = 0; k < 16; k++)
      if (k < n) w[k / 4] |= (u32)(u8)p[k] << (8 * (k % 4));
    v.w = make_uint4(w[0], w[1], w[2], w[3]);
  }
  return v;
}

// row_times is a block's part of a row times a matrix: a thread's columns are those of
// 16 bytes, its rows every gridDim.y-th group of ROWS, so that all blocks together read
// one window of the matrix after the other.
template <u32 ROWS, class T> DEVICE_INLINE void row_times(u32 *out, const u32 *x, const T *b, u32 k, u32 n) {
  const u32 W = Many<T>::COUNT;
  const u64 wide = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * W;
  if (wide >= n) return;
  const u32 column = (u32)wide, left = n - column;
  i64 s[W];
#pragma unroll
  for (u32 j = 0; j < W; j++) s[j] = 0;
  for (u32 i = blockIdx.y * ROWS; i < k; i += gridDim.y * ROWS) {
    Many<T> v[ROWS];
    i32 f[ROWS];
#pragma unroll
    for (u32 e = 0; e < ROWS; e++) {
      v[e] = load_many(b + (u64)(i + e) * n + column, i + e < k ? left : 0);
      f[e] = i + e < k ? integer(ldg(&x[i + e])) : 0;
    }
#pragma unroll
    for (u32 j = 0; j < W; j++) {
#pragma unroll
      for (u32 e = 0; e < ROWS; e++) s[j] = mad_wide(f[e], entry(v[e], j), s[j]);
      if (sizeof(T) > 1) s[j] = fold(s[j]); // of a word and a byte, 2^25 products fit
    }
  }
  out += (u64)blockIdx.y * n + column;
#pragma unroll
  for (u32 j = 0; j < W; j += 4) {
    const u32 w[4] = {residue_of(s[j]), residue_of(s[j + 1]), residue_of(s[j + 2]), residue_of(s[j + 3])};
    if (j < left) store4(out + j, w, left - j, false);
  }
}

// row_dot is R entries of a row times a transposed matrix, computed by team threads of
// a block: a warp, or all of it.
template <u32 R, class T> DEVICE_INLINE void row_dot(u32 *out, const u32 *x, const T *b, u32 k, u32 n, u32 team) {
  __shared__ u64 sums[8][R];
  const u32 W = Many<T>::COUNT, lane = threadIdx.x % team;
  const u64 j = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / team * R;
  i64 s[R];
#pragma unroll
  for (u32 r = 0; r < R; r++) s[r] = 0;
#pragma unroll 2
  for (u32 i = W * lane; i < k; i += team * W) {
    Many<T> v[R];
#pragma unroll
    for (u32 r = 0; r < R; r++) v[r] = load_many(b + (j + r) * k + i, j + r < n ? k - i : 0);
#pragma unroll
    for (u32 e = 0; e < W; e += 4) {
      i32 f[4];
      load4(f, x + i + e, e < k - i ? k - i - e : 0);
#pragma unroll
      for (u32 r = 0; r < R; r++)
#pragma unroll
        for (u32 d = 0; d < 4; d++) s[r] = mad_wide(f[d], entry(v[r], e + d), s[r]);
    }
#pragma unroll
    for (u32 r = 0; r < R; r++) s[r] = fold(s[r]);
  }
#pragma unroll
  for (u32 r = 0; r < R; r++) {
    u64 total = residue_of(s[r]);
    for (u32 d = 16; d > 0; d >>= 1) total += shfl_xor(total, d);
    if (team == 32 && lane == 0 && j + r < n) out[j + r] = m31_reduce(total);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32][r] = total;
  }
  if (team == 32) return;
  __syncthreads();
  const u32 r = threadIdx.x;
  if (r >= R || j + r >= n) return;
  u64 total = 0;
  for (u32 w = 0; w < 8; w++) total += sums[w][r];
  out[j + r] = m31_reduce(total);
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
