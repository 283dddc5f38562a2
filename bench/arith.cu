// The arithmetic that proving over Mersenne-31 is made of, without memory
// traffic: what a card's ALUs do at best.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "hash/poseidon2/m31.cuh"

// bench_m31_mul multiplies rounds times in each of 8 chains a thread: x = x *
// the neighbouring x. out gets the sum of a thread's chains.
extern "C" __global__ void __launch_bounds__(256) bench_m31_mul(u32* __restrict__ out, u32 seed, u32 rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 x[8];
#pragma unroll
  for (u32 i = 0; i < 8; i++) x[i] = m31_reduce((u64)seed + t * 8 + i + 2);
  for (u32 r = 0; r < rounds; r++) {
#pragma unroll
    for (u32 i = 0; i < 8; i++) x[i] = m31_mul(x[i], x[(i + 1) & 7]);
  }
  u32 sum = 0;
#pragma unroll
  for (u32 i = 0; i < 8; i++) sum = m31_add(sum, x[i]);
  out[t] = sum;
}

// bench_poseidon2_w16 applies the permutation of width 16 rounds times to a
// state a thread. out gets the first word of every state.
extern "C" __global__ void __launch_bounds__(256, 5) bench_poseidon2_w16(u32* __restrict__ out, u32 seed, u32 rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 s[16];
#pragma unroll
  for (u32 i = 0; i < 16; i++) s[i] = m31_reduce((u64)seed + t * 16 + i);
  for (u32 r = 0; r < rounds; r++) poseidon2_permute16(s);
  out[t] = s[0];
}
