// From scalars to digits, one for each window.
#include "SCALAR_HEADER"
#include "msm/internal/scatter/recode.cuh"
#include "msm/internal/scatter/windows.cuh"

typedef SCALAR_FIELD Field;
enum : u32 { WORDS = Field::N };

// scatter_digits writes, for every window, the n scalars' digits as a row of keys, stride
// words from the one before, and the index of the first scalar that is too large to bad,
// if that is less than what is there. Windows are in order of word. It adds the keys of
// every bin to counts, if bins, the number of all windows' bins, is not 0. A bin has
// 2^copies counters, of which a lane uses one: keys that are all of one bin, as of equal
// scalars, are not added one by one.
extern "C" __global__ void __launch_bounds__(256) scatter_digits_VARIANT(u32 *keys, u32 *bad, u32 *counts, const u32 *scalars, const uint4 *sum,
                                                                         const uint4 *windows, u32 count, u32 n, u32 stride, u32 form, u32 bins, u32 copies) {
  SHARED_DYNAMIC(u32, local);
  for (u32 b = threadIdx.x; b < bins << copies; b += blockDim.x) local[b] = 0;
  __syncthreads();
  const u32 copy = threadIdx.x & ((1u << copies) - 1);
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
    const Recoded<Field> r = recode<Field>(scalars + (u64)i * WORDS, form, sum);
    if (!r.live) atomicMin(bad, (u32)i);
    u32 w = 0;
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) {
      const u32 low = r.x[j], high = j + 1 < WORDS ? r.x[j + 1] : 0;
      for (; w < count; w++) {
        const Window v = window_at(windows, w);
        if (v.word != j) break;
        const u32 key = r.live ? key_of(v, funnel_right(low, high, v.shift), r.sign) : NONE;
        keys[(u64)w * stride + i] = key;
        if (bins != 0 && key != NONE) atomicAdd(&local[(v.bin + (key >> 1 >> v.bin_shift)) << copies | copy], 1u);
      }
    }
  }
  __syncthreads();
  for (u32 b = threadIdx.x; b < bins; b += blockDim.x) {
    u32 c = 0;
    for (u32 j = 0; j < 1u << copies; j++) c += local[b << copies | ((b + j) & ((1u << copies) - 1))];
    if (c != 0) atomicAdd(&counts[b], c);
  }
}
