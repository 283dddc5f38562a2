// Products in a large prime field without memory traffic: what they cost when nothing
// else happens.
#define MONT_INLINE_WORDS 12 // as many as are worth it in a small loop
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"

typedef SCALAR_FIELD P;
typedef Mont<P> F;

// start is the thread's first number: any words, with so many bits of the highest taken
// away that it is below p.
DEVICE_INLINE F start(u32 seed, u32 first) {
  F r;
#pragma unroll
  for (u32 j = 0; j < P::N; j++) r.x[j] = (seed + first + j) * 0x9e3779b9u;
  r.x[P::N - 1] &= P::p(P::N - 1) >> 1;
  return r;
}

DEVICE_INLINE void store(u32 *out, u32 t, const F &x) {
  const F r = canonical(x);
#pragma unroll
  for (u32 j = 0; j < P::N; j++) out[(u64)t * P::N + j] = r.x[j];
}

// Each kernel does two operations in each of the rounds, on x and then on y, and out gets
// every thread's x: a product by the other number, a square, and x y - y².
extern "C" __global__ void __launch_bounds__(128) bench_mul_VARIANT(u32 *out, u32 seed, u32 rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  F x = start(seed, t * 2 * P::N), y = start(seed, t * 2 * P::N + P::N);
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    x = mul(x, y);
    y = mul(y, x);
  }
  store(out, t, x);
}

extern "C" __global__ void __launch_bounds__(128) bench_sqr_VARIANT(u32 *out, u32 seed, u32 rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  F x = start(seed, t * 2 * P::N), y = start(seed, t * 2 * P::N + P::N);
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    x = sqr(x);
    y = sqr(y);
  }
  store(out, t, add(x, y));
}

extern "C" __global__ void __launch_bounds__(128) bench_mul_sub_VARIANT(u32 *out, u32 seed, u32 rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  F x = start(seed, t * 2 * P::N), y = start(seed, t * 2 * P::N + P::N);
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    x = mul_sub(x, y, y, y);
    y = mul_sub(y, x, x, x);
  }
  store(out, t, x);
}
