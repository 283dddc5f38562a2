// Products in a prime field of many words without memory traffic, by each technique:
// words on the integer pipe (mont.cuh), doubles (fp64.cuh), and both at once, a warp
// each. A thread multiplies one number by another again and again, as a chain.
#include "FP64_HEADER"
#include "field/fp64/fp64.cuh"

typedef FP64_FIELD P;
typedef P::Words W;

// start is number k of thread t, below p.
DEVICE_INLINE Mont<W> start(u32 seed, u32 t, u32 k) {
  Mont<W> r;
#pragma unroll
  for (u32 j = 0; j < W::N; j++) r.x[j] = (seed + t * 2 * W::N + k * W::N + j) * 0x9e3779b9u;
  r.x[W::N - 1] &= (1u << (31 - W::SPARE)) - 1;
  return r;
}

DEVICE_INLINE void put(u32 *out, u32 t, const Mont<W> &a) {
#pragma unroll
  for (u32 j = 0; j < W::N; j++) out[(u64)t * W::N + j] = a.x[j];
}

DEVICE_INLINE Mont<W> words(u32 seed, u32 t, u32 rounds) {
  const Mont<W> y = start(seed, t, 1);
  Mont<W> x = start(seed, t, 0);
  for (u32 r = 0; r < rounds; r++) x = mul(x, y);
  return canonical(x);
}

DEVICE_INLINE Mont<W> doubles(u32 seed, u32 t, u32 rounds) {
  const Doubles<P> y = from_words<P>(start(seed, t, 1));
  Doubles<P> x = from_words<P>(start(seed, t, 0));
  for (u32 r = 0; r < rounds; r++) x = mul(x, y);
  return to_words(x);
}

extern "C" __global__ void __launch_bounds__(128, BLOCKS) bench_product_words_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  put(out, t, words(seed, t, rounds));
}

extern "C" __global__ void __launch_bounds__(128, BLOCKS) bench_product_doubles_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  put(out, t, doubles(seed, t, rounds));
}

// Of each four warps, which a multiprocessor's quarters take in turn, one after the
// other; so whole blocks of four warps alternate: even ones in words, odd ones in doubles.
extern "C" __global__ void __launch_bounds__(128, BLOCKS) bench_product_both_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds, u32 double_rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  put(out, t, threadIdx.x / 32 + blockIdx.x & 1 ? doubles(seed, t, double_rounds) : words(seed, t, rounds));
}
