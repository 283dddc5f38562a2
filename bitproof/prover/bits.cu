// Kernels of package bitproof/prover: what gates do to columns of packed bits, and the
// two tables of the last sum-check. The columns are
// one table, each of so many words.
#include "device/ptx.cuh"
#include "field/gf2/gf2.cuh"

// combination is the XOR of the columns that mask names, for the 32 rows of word i.
DEVICE_INLINE u32 combination(const u32 *table, u64 words, u64 i, u64 mask) {
  u32 w = 0;
  while (mask != 0) {
    const u32 j = 63 - leading_zeros(mask);
    mask ^= (u64)1 << j;
    w ^= ldg(&table[j * words + i]);
  }
  return w;
}

// bits_gates writes both factors of the first ands gates, a table of words each, and
// makes *broken the least of row << 12 | gate over what does not hold. A gate is four
// words: columns of the left and right factor and of the result, and in bits 0 to 2 the
// constants; one without AND has no factors.
extern "C" __global__ void __launch_bounds__(256)
bits_gates(u32 *left, u32 *right, u64 *broken, const u32 *__restrict__ table, const u64 *__restrict__ gates, u64 words, u32 ands, u32 count) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  u64 first = ~(u64)0;
  for (u32 g = 0; g < count; g++) {
    const u64 *const gate = gates + 4 * (u64)g;
    const u32 ones = (u32)ldg(&gate[3]);
    const u32 a = combination(table, words, i, ldg(&gate[0])) ^ (0 - (ones & 1));
    const u32 b = combination(table, words, i, ldg(&gate[1])) ^ (0 - (ones >> 1 & 1));
    const u32 c = combination(table, words, i, ldg(&gate[2])) ^ (0 - (ones >> 2 & 1));
    if (g < ands) {
      left[g * words + i] = a;
      right[g * words + i] = b;
    }
    const u32 wrong = (a & b) ^ c;
    if (wrong != 0) {
      const u64 at = (i * 32 + 31 - leading_zeros(wrong & (0 - wrong))) << 12 | g;
      first = at < first ? at : first;
    }
  }
  if (first != ~(u64)0) atomicMin(broken, first);
}

// bits_join makes the tables of the sum-check that brings two points together: at row
// x = h << low_log | l the weight high_0[h] low_0[l] + high_1[h] low_1[l], and the sum of
// rho[j] over the columns j with a bit there.
extern "C" __global__ void __launch_bounds__(256)
bits_join(u32 *weight, u32 *joined, const u32 *__restrict__ table, const u32 *__restrict__ rho, const u32 *__restrict__ high, const u32 *__restrict__ low, u64 rows,
          u32 columns, u32 low_log) {
  const u64 x = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= rows) return;
  gf2 s = gf2_zero();
  for (u32 j = 0; j < columns; j++) {
    const u32 mask = 0 - (ldg(&table[(j * rows + x) / 32]) >> (x % 32) & 1);
    s = gf2_add(s, gf2_and(gf2_ldg(rho + 4 * j), mask));
  }
  gf2_store(joined + 4 * x, s);
  const u64 lows = (u64)1 << low_log, highs = rows >> low_log, h = x >> low_log, l = x & (lows - 1);
  gf2 w = gf2_mul(gf2_ldg(high + 4 * h), gf2_ldg(low + 4 * l));
  w = gf2_add(w, gf2_mul(gf2_ldg(high + 4 * (highs + h)), gf2_ldg(low + 4 * (lows + l))));
  gf2_store(weight + 4 * x, w);
}
