// Montgomery products whose reductions are made by the tensor cores (tensor.cuh), as the
// kernels of products.cu.
#include "MONT_HEADER"
#include "bench/tensor.cuh"

typedef MONT_FIELD W;
typedef Tensor<W> T;

// start is number k of thread t, below p.
DEVICE_INLINE Mont<W> start(u32 seed, u32 t, u32 k) {
  Mont<W> r;
#pragma unroll
  for (u32 j = 0; j < W::N; j++) r.x[j] = (seed + t * 2 * W::N + k * W::N + j) * 0x9e3779b9u;
  r.x[W::N - 1] &= (1u << (31 - W::SPARE)) - 1;
  return r;
}

extern "C" __global__ void __launch_bounds__(128, TENSOR_BLOCKS)
    bench_product_tensor_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds, const u32 *__restrict__ factor, const u32 *__restrict__ modulus) {
  __shared__ T::Stage stages[4];
  T::Stage &stage = stages[threadIdx.x / 32];
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  const T::Tables tables = {(const uint2 *)factor, (const uint2 *)modulus};
  const Mont<W> y = start(seed, t, 1);
  Mont<W> x = start(seed, t, 0);
  for (u32 r = 0; r < rounds; r++) x = T::reduce(stage, wide_mul(x, y), tables);
  x = canonical(x);
#pragma unroll
  for (u32 j = 0; j < W::N; j++) out[(u64)t * W::N + j] = x.x[j];
}
