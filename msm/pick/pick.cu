// Elements of lists, moved by lists of their indices.
#include "device/ptx.cuh"

// A thread moves 16 bytes of an element, threadIdx.x of them; threadIdx.y is the element.

// Element i of out is element index[i] of from.
extern "C" __global__ void __launch_bounds__(256)
pick_from(uint4 *__restrict__ out, const uint4 *__restrict__ from, const u32 *__restrict__ index, u32 n) {
  const u64 i = (u64)blockIdx.x * blockDim.y + threadIdx.y;
  if (i < n) out[i * blockDim.x + threadIdx.x] = from[(u64)ldg(index + i) * blockDim.x + threadIdx.x];
}

// Element index[i] of out is element i of from.
extern "C" __global__ void __launch_bounds__(256)
pick_to(uint4 *__restrict__ out, const uint4 *__restrict__ from, const u32 *__restrict__ index, u32 n) {
  const u64 i = (u64)blockIdx.x * blockDim.y + threadIdx.y;
  if (i < n) out[(u64)ldg(index + i) * blockDim.x + threadIdx.x] = from[i * blockDim.x + threadIdx.x];
}
