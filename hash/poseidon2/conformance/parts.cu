#include "hash/poseidon2/m31.cuh"

// The parts of a permutation of width 16, for states of words that are not
// canonical, transposed as well: the S-box (part 0), the external layer (1) and
// two partial rounds without constants (2). Results are canonical.
extern "C" __global__ void __launch_bounds__(128)
poseidon2_parts(u32 *__restrict__ out, const u32 *__restrict__ in, u32 n, u32 part) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = in[(u64)k * n + i];
  if (part == 0) {
#pragma unroll
    for (int k = 0; k < 16; k++) s[k] = poseidon2_sbox((i32)s[k], POSEIDON2_ABOVE);
  } else if (part == 1) {
    poseidon2_external<16>(s, 0);
  } else {
    poseidon2_partial<16>(s, 0, 0);
    s[0] += (i32)s[0] < 0 ? M31_P : 0;
  }
#pragma unroll
  for (int k = 0; k < 16; k++) out[(u64)k * n + i] = m31_reduce(s[k]);
}
