// Permutes n states of width 16, one a warp: word k of state i is at 16*i + k.
#include "POSEIDON2_WARP_HEADER"

extern "C" __global__ void __launch_bounds__(64)
poseidon2_warps_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, u32 n) {
  u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (i >= n) return;
  u32 x = poseidon2_warp_permute(in[16 * i + (lane & 15)]);
  if (lane < 16) out[16 * i + lane] = x;
}
