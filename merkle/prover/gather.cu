// What an opening of a hash tree consists of.
#include "merkle/prover/row.cuh"

// Word t of the rows at the first `opened` positions, one after the other, and then of
// the digests of tree at the others.
extern "C" __global__ void __launch_bounds__(128)
merkle_gather(u32 *__restrict__ out, const u32 *__restrict__ words, const u32 *__restrict__ tree, const u64 *__restrict__ positions, u64 opened, u64 digests, u64 rows, u32 row_words, u32 symbol) {
  u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x, first = opened * row_words;
  if (t < first) {
    u64 i = t / row_words;
    u32 w = (u32)(t - i * row_words);
    u64 before = symbol ? w / symbol * (rows - 1) * symbol : 0; // words of other rows
    out[t] = words[merkle_start(positions[i], row_words, symbol) + before + w];
  } else if (t - first < 8 * digests) {
    u64 i = (t - first) / 8;
    out[t] = tree[8 * positions[opened + i] + (t - first) % 8];
  }
}
