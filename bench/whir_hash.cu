// Permutations over VARIANT without memory traffic: what hashing costs at best.
#include "POSEIDON2_HEADER"

// Permutes a state a thread, rounds times. out gets the first word of every state.
extern "C" __global__ void __launch_bounds__(256, 5) bench_permute16_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 s[16];
#pragma unroll
  for (u32 i = 0; i < 16; i++) s[i] = fp_reduce((u64)seed + t * 16 + i);
  for (u32 r = 0; r < rounds; r++) poseidon2_permute16(s);
  out[t] = s[0];
}

// Hashes two digests of 8 words to one, rounds times: the digest so far and one that
// stays. out gets the first word of every digest.
extern "C" __global__ void __launch_bounds__(256, 5) bench_compress16_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 d[8];
#pragma unroll
  for (u32 i = 0; i < 8; i++) d[i] = fp_reduce((u64)seed + t * 16 + i);
  for (u32 r = 0; r < rounds; r++) {
    u32 s[16];
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
      s[i] = d[i];
      s[8 + i] = fp_reduce((u64)seed + t * 16 + 8 + i);
    }
    poseidon2_permute16(s);
#pragma unroll
    for (u32 i = 0; i < 8; i++) d[i] = s[i];
  }
  out[t] = d[0];
}
