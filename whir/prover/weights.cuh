// Weights of the carried claim: tables that are added to.
#pragma once

#define WEIGHT_CLAIMS 4u // claims in a pass
#define WEIGHT_ROWS 32u  // rows of a block, whose weights are in shared memory

// add_weights: w[b] = (set ? 0 : w[b]) + sum_c coeffs[c] weight_c(b), for count <=
// WEIGHT_CLAIMS claims. Thread x of a block has column x of its `rows` <= WEIGHT_ROWS
// rows of 2^low entries, low <= 8; the variables of the rows are the first n - low.
DEVICE_INLINE void add_weights(u32 *__restrict__ w, const u32 *__restrict__ factors, u32 apart, const u32 *__restrict__ coeffs, u32 count, u32 n, u32 low,
                               u32 rows, bool set) {
  __shared__ Nibbles first[WEIGHT_CLAIMS], last[WEIGHT_CLAIMS];
  __shared__ ext high[WEIGHT_CLAIMS][WEIGHT_ROWS];
  u64 begin = (u64)blockIdx.x * rows;
#pragma unroll 1
  for (u32 c = 0; c < count; c++) {
    const u32 *mine = factors + (u64)c * apart * EXT_WORDS;
    if (threadIdx.x < 128)
      whir_nibbles(&first[c], mine, n - low, threadIdx.x, 128);
    else
      whir_nibbles(&last[c], mine + 2 * (n - low) * EXT_WORDS, low, threadIdx.x - 128, 128);
  }
  __syncthreads();
  if (threadIdx.x < WEIGHT_CLAIMS * WEIGHT_ROWS) {
    u32 c = threadIdx.x / WEIGHT_ROWS, h = threadIdx.x % WEIGHT_ROWS;
    if (c < count && h < rows) high[c][h] = ext_mul(ext_load(coeffs, c), whir_nibbles_weight(&first[c], 0, n - low, begin + h));
  }
  ext own[WEIGHT_CLAIMS];
#pragma unroll
  for (u32 c = 0; c < WEIGHT_CLAIMS; c++)
    if (c < count && threadIdx.x >> low == 0) own[c] = whir_nibbles_weight(&last[c], 0, low, threadIdx.x);
  __syncthreads();
  if (threadIdx.x >> low != 0) return;
#pragma unroll 2
  for (u32 h = 0; h < rows; h++) {
    u64 b = ((begin + h) << low) + threadIdx.x;
    ext v;
    if (count == 1)
      v = ext_mul(own[0], high[0][h]);
    else {
      ext_acc a = acc_zero();
#pragma unroll
      for (u32 c = 0; c < WEIGHT_CLAIMS; c++)
        if (c < count) acc_mul(a, own[c], high[c][h]);
      v = acc_value(a);
    }
    ext_store(w, b, set ? v : ext_add(v, ext_load(w, b)));
  }
}
