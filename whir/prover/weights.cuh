// Weights of the carried claim: tables that are added to.
#pragma once

#define WEIGHT_CLAIMS 4u // claims in a pass
#define WEIGHT_ROWS 32u  // rows of a block, whose weights are in shared memory

// add_weights: w[b] = (set ? 0 : w[b]) + sum_c coeffs[c] weight_c(b), for count <=
// WEIGHT_CLAIMS claims. Thread x of a block has column x of its rows of 2^low
// entries, low <= 8.
DEVICE_INLINE void add_weights(u32 *__restrict__ w, const u32 *__restrict__ factors, u32 apart, const u32 *__restrict__ coeffs, u32 count, u32 n, u32 low,
                               bool set) {
  __shared__ ext high[WEIGHT_CLAIMS][WEIGHT_ROWS];
  u64 first = (u64)blockIdx.x * WEIGHT_ROWS, rows = (1ull << (n - low)) - first;
  if (rows > WEIGHT_ROWS) rows = WEIGHT_ROWS;
  if (threadIdx.x < WEIGHT_CLAIMS * WEIGHT_ROWS) {
    u32 c = threadIdx.x / WEIGHT_ROWS, h = threadIdx.x % WEIGHT_ROWS;
    if (c < count && h < rows) high[c][h] = whir_weight(ext_load(coeffs, c), factors + (u64)c * apart * EXT_WORDS, n - low, first + h);
  }
  ext own[WEIGHT_CLAIMS];
#pragma unroll
  for (u32 c = 0; c < WEIGHT_CLAIMS; c++)
    if (c < count && threadIdx.x >> low == 0)
      own[c] = whir_weight(ext_one(), factors + ((u64)c * apart + 2 * (n - low)) * EXT_WORDS, low, threadIdx.x);
  __syncthreads();
  if (threadIdx.x >> low != 0) return;
#pragma unroll 2
  for (u32 h = 0; h < rows; h++) {
    u64 b = ((first + h) << low) + threadIdx.x;
    ext_acc a = acc_zero();
#pragma unroll
    for (u32 c = 0; c < WEIGHT_CLAIMS; c++)
      if (c < count) acc_mul(a, own[c], high[c][h]);
    ext v = acc_value(a);
    ext_store(w, b, set ? v : ext_add(v, ext_load(w, b)));
  }
}
