// Permutes n states, one a thread. States are transposed: word k of state i is
// at k*n + i.
#include "POSEIDON2_HEADER"

extern "C" __global__ void __launch_bounds__(128)
poseidon2_many16_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = in[(u64)k * n + i];
  poseidon2_permute16(s);
#pragma unroll
  for (int k = 0; k < 16; k++) out[(u64)k * n + i] = s[k];
}

extern "C" __global__ void __launch_bounds__(128)
poseidon2_many24_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 s[24];
#pragma unroll
  for (int k = 0; k < 24; k++) s[k] = in[(u64)k * n + i];
  poseidon2_permute24(s);
#pragma unroll
  for (int k = 0; k < 24; k++) out[(u64)k * n + i] = s[k];
}
