// Random data too large to come from the host: a counter, hashed.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"

// bench_random writes word i of the sequence that randomWord in random.go gives.
// With `words`, both halves of it are made residues.
extern "C" __global__ void __launch_bounds__(256) bench_random(u64 *out, u64 n, u64 seed, u32 words) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  if (words) z = (u64)m31_once((u32)(z >> 32) & M31_P) << 32 | m31_once((u32)z & M31_P);
  out[i] = z;
}
