// From scalars to the entries of a table of multiples, one for each window.
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"

typedef SCALAR_FIELD Field;
enum : u32 { WORDS = Field::N };

// fixedbase_digits writes, for each of n scalars in Montgomery form, one entry a window, and
// offsets as bucket sums want them: scalar i's entries are from i windows on. The index of
// the first scalar that is not below the group's order, plus first, goes to bad, if that is
// less than what is there.
//
// Windows have so many bits. sum, which is added to a scalar, is 2^(bits-1) at the place of
// every window but the top one, so that a window's digit is its bits less that, and carries
// are in the sum. Digit ±(e+1) of window w is entry 1 + w 2^(bits-1) + e with the sign in the
// top bit, digit 0 entry 0.
extern "C" __global__ void __launch_bounds__(128) fixedbase_digits_VARIANT(u32 *entries, u32 *offsets, u32 *bad, const u32 *scalars, const u32 *sum, u32 bits, u32 windows,
                                                                          u32 n, u32 first) {
  // A block's entries, so that it writes them in order.
  SHARED_DYNAMIC(u32, local);
  const u32 from = blockIdx.x * blockDim.x, i = from + threadIdx.x;
  if (i < n) {
    Mont<Field> s;
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) s.x[j] = ldg(scalars + (u64)i * WORDS + j);
    sub_cc(s.x[0], Field::p(0));
#pragma unroll
    for (u32 j = 1; j < WORDS; j++) subc_cc(s.x[j], Field::p(j));
    const u32 live = subc(0u, 0u);
    if (!live) atomicMin(bad, first + i);
    s = canonical(from_montgomery(s));
    u32 x[WORDS];
    x[0] = add_cc(s.x[0], ldg(sum));
#pragma unroll
    for (u32 j = 1; j < WORDS; j++) x[j] = addc_cc(s.x[j], ldg(sum + j));
    const u32 half = 1u << (bits - 1), mask = 2 * half - 1;
    u32 w = 0, at = 0;
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) {
      const u32 low = x[j], high = j + 1 < WORDS ? x[j + 1] : 0;
      for (; w < windows && at < 32 * (j + 1); w++, at += bits) {
        const u32 digit = (funnel_right(low, high, at % 32) & mask) - (w + 1 < windows ? half : 0), down = digit >> 31, size = down ? 0 - digit : digit;
        // What is no scalar has no entry that is not there.
        local[threadIdx.x * windows + w] = size == 0 || !live ? 0 : (w * half + size) | down << 31;
      }
    }
    offsets[i] = i * windows;
    if (i == n - 1) offsets[n] = n * windows;
  }
  __syncthreads();
  const u32 all = (n - from < blockDim.x ? n - from : blockDim.x) * windows;
  for (u32 k = threadIdx.x; k < all; k += blockDim.x) entries[(u64)from * windows + k] = local[k];
}
