// The parts of a permutation over VARIANT, on words that whole permutations hardly
// ever come near.
#include "POSEIDON2_HEADER"

// S-boxes of the n words of in, which have a sign and are at most P in size.
extern "C" __global__ void __launch_bounds__(128)
poseidon2_sboxes_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = poseidon2_sbox(in[i]);
}

// Multiplies by factors of the diagonals and adds s[i], canonical: row k of out is the
// k-th factor's.
extern "C" __global__ void __launch_bounds__(128)
poseidon2_factors_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, const u32 *__restrict__ s, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = fp_once(poseidon2_times<1, -1>(in[i], s[i]));
  out[n + i] = fp_once(poseidon2_times<1, -2>(in[i], s[i]));
  out[2 * n + i] = fp_once(poseidon2_times<1, -16>(in[i], s[i]));
  out[3 * n + i] = fp_once(poseidon2_times<1, -POSEIDON2_TWOS>(in[i], s[i]));
  out[4 * n + i] = fp_once(poseidon2_times<1, -2 * POSEIDON2_TWOS>(in[i], s[i]));
  out[5 * n + i] = fp_once(poseidon2_times<-1, -4>(in[i], s[i]));
  u32 x = fp_once(in[i]);
  out[6 * n + i] = poseidon2_times<1, 0>(x, s[i]);
  out[7 * n + i] = poseidon2_times<1, 1>(x, s[i]);
  out[8 * n + i] = poseidon2_times<9, 0>(x, s[i]);
  out[9 * n + i] = poseidon2_times<1, 4>(x, s[i]);
  out[10 * n + i] = fp_once(poseidon2_times<9, -1>(x, s[i]));
}
