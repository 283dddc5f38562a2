// Random scalars, and the sum of products of scalars with logarithms, for one field.
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"

typedef SCALAR_FIELD P;
typedef Mont<P> F;
enum : u32 { N = P::N, BITS = 32 * P::N - P::SPARE };

// The kinds of scalars, as in scalars.go.
enum : u32 { UNIFORM, ZERO_ONE, EQUAL, BITS64, HOT_WINDOW, HALF };

// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).
DEVICE_INLINE void philox(u32 (&c)[4], u64 seed) {
  u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
  for (u32 r = 0; r < 10; r++) {
    const u64 a = mul_wide(c[0], 0xd2511f53u), b = mul_wide(c[2], 0xcd9e8d57u);
    c[0] = (u32)(b >> 32) ^ c[1] ^ k0;
    c[1] = (u32)b;
    c[2] = (u32)(a >> 32) ^ c[3] ^ k1;
    c[3] = (u32)a;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
}

// Words 4 b to 4 b + 3 of a number are the generator's output at (index, b, attempt).
DEVICE_INLINE F draw(u64 index, u32 attempt, u64 seed) {
  F x;
#pragma unroll
  for (u32 b = 0; b * 4 < N; b++) {
    u32 c[4] = {(u32)index, (u32)(index >> 32), b, attempt};
    philox(c, seed);
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      const u32 j = 4 * b + k;
      if (j < N) x.x[j] = 32 * j + 32 <= BITS ? c[k] : 32 * j < BITS ? c[k] & ((1u << (BITS % 32)) - 1) : 0;
    }
  }
  return x;
}

DEVICE_INLINE u32 below(const F &a) {
  u32 t = sub_cc(a.x[0], P::p(0));
#pragma unroll
  for (u32 j = 1; j < N; j++) t = subc_cc(a.x[j], P::p(j));
  t = subc(0u, 0u);
  return t != 0;
}

// Scalars from + i in Montgomery form; same is a number below the modulus, plain. A coin
// is the lowest bit at (index, 2^32 - 1, 0).
extern "C" __global__ void __launch_bounds__(128)
scalars_random_VARIANT(u32 *out, const u32 *__restrict__ same, u32 kind, u64 seed, u64 from, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 coin[4] = {(u32)(from + i), (u32)((from + i) >> 32), 0xffffffffu, 0};
  philox(coin, seed);
  F x;
  if (kind == ZERO_ONE) {
    set_zero(x);
    if (coin[0] & 1) set_one(x);
  } else if (kind == EQUAL || (kind == HALF && (coin[0] & 1))) {
#pragma unroll
    for (u32 j = 0; j < N; j++) x.x[j] = same[j];
    x = canonical(to_montgomery(x));
  } else {
    for (u32 attempt = 0;; attempt++) {
      x = draw(from + i, attempt, seed);
      if (kind == BITS64) {
#pragma unroll
        for (u32 j = 2; j < N; j++) x.x[j] = 0;
      }
      if (kind == HOT_WINDOW && N > 4) {
        // bits 64 to 114
        x.x[2] = same[2];
        x.x[3 < N ? 3 : 0] = (x.x[3 < N ? 3 : 0] & ~0x7ffffu) | (same[3] & 0x7ffffu);
      }
      if (below(x)) break;
    }
    if (kind == BITS64 || kind == HOT_WINDOW) x = canonical(to_montgomery(x));
  }
  u32 *const to = out + (u64)i * N;
#pragma unroll
  for (u32 j = 0; j < N; j++) to[j] = x.x[j];
}

DEVICE_INLINE F load(const u32 *__restrict__ from, u64 i) {
  F x;
#pragma unroll
  for (u32 j = 0; j < N; j++) x.x[j] = from[i * N + j];
  return x;
}

// Thread t's sum of scalars[i] (low[j mod 2^log] + high[j / 2^log]), j = from + i, goes
// to sums[t]; it takes every i that is t modulo the number of threads.
extern "C" __global__ void __launch_bounds__(128)
scalars_dot_VARIANT(u32 *sums, const u32 *__restrict__ scalars, const u32 *__restrict__ low, const u32 *__restrict__ high, u32 log, u32 from, u32 n) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  F sum;
  set_zero(sum);
  for (u64 i = t; i < n; i += all) {
    const u32 j = from + (u32)i;
    sum = add(sum, mul(load(scalars, i), add(load(low, j & ((1u << log) - 1)), load(high, j >> log))));
  }
  sum = canonical(sum);
#pragma unroll
  for (u32 j = 0; j < N; j++) sums[(u64)t * N + j] = sum.x[j];
}
