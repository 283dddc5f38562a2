// Kernels that make, sum and evaluate the tables of binary sum-checks, outside of proofs:
// packing, the value of a claim, and multilinear extensions at a point.
#include "device/ptx.cuh"
#include "field/gf2/gf2.cuh"

// masked adds to s the element e under a mask of ones or zeros.
DEVICE_INLINE gf2 masked(gf2 s, gf2 e, u32 mask) { return gf2_add(s, gf2_and(e, mask)); }

// warp_sum is the sum over the lanes of a warp, in all of them.
DEVICE_INLINE gf2 warp_sum(gf2 s) {
#pragma unroll
  for (u32 x = 16; x > 0; x /= 2) {
#pragma unroll
    for (u32 k = 0; k < 4; k++) s.w[k] ^= shfl_xor(s.w[k], x);
  }
  return s;
}

// binary_pack makes words of the elements 0 and 1, and *bad the least index of another.
extern "C" __global__ void __launch_bounds__(256) binary_pack(u32 *words, u64 *bad, const u32 *__restrict__ elements, u64 n) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  gf2 e = gf2_zero();
  if (i < n) e = gf2_ldg(elements + 4 * i);
  const u32 word = ballot(e.w[0] & 1);
  if (((e.w[0] & ~1u) | e.w[1] | e.w[2] | e.w[3]) != 0) atomicMin(bad, i);
  if (i % 32 == 0 && i < n) words[i / 32] = word;
}

// binary_evaluate_bits: out[j * high + h] is the sum of low[l] over the set bits l of part h
// of column j, for parts of 32 * steps bits of columns of so many words. A warp sums a part
// of eight columns, lane b the bits b of its words.
extern "C" __global__ void __launch_bounds__(256)
binary_evaluate_bits(u32 *out, const u32 *__restrict__ table, const u32 *__restrict__ low, u64 words, u32 columns, u32 high, u32 steps) {
  const u32 lane = threadIdx.x % 32, h = blockIdx.x * 8 + threadIdx.x / 32;
  if (h >= high) return;
  const u32 from = blockIdx.y * 8;
  gf2 sum[8];
#pragma unroll
  for (u32 c = 0; c < 8; c++) sum[c] = gf2_zero();
  for (u32 s = 0; s < steps; s++) {
    const gf2 e = gf2_ldg(low + 4 * (u64)(s * 32 + lane));
#pragma unroll
    for (u32 c = 0; c < 8; c++) {
      if (from + c >= columns) continue;
      sum[c] = masked(sum[c], e, 0 - (ldg(&table[(from + c) * words + (u64)h * steps + s]) >> lane & 1));
    }
  }
#pragma unroll
  for (u32 c = 0; c < 8; c++) {
    const gf2 s = warp_sum(sum[c]);
    if (lane == 0 && from + c < columns) gf2_store(out + 4 * ((u64)(from + c) * high + h), s);
  }
}

// binary_evaluate: out[h] is the sum of low[l] table[h * lows + l]. A warp sums a part.
extern "C" __global__ void __launch_bounds__(256)
binary_evaluate(u32 *out, const u32 *__restrict__ table, const u32 *__restrict__ low, u32 high, u32 lows) {
  const u32 lane = threadIdx.x % 32, h = blockIdx.x * 8 + threadIdx.x / 32;
  if (h >= high) return;
  gf2 s = gf2_zero();
  for (u32 l = lane; l < lows; l += 32) s = gf2_add(s, gf2_mul(gf2_ldg(low + 4 * (u64)l), gf2_ldg(table + 4 * ((u64)h * lows + l))));
  s = warp_sum(s);
  if (lane == 0) gf2_store(out + 4 * (u64)h, s);
}

// binary_value: out[w] is warp w's part of the sum of table[x] over the x below n whose bits
// are set in all columns; the columns are one table, each of so many words.
extern "C" __global__ void __launch_bounds__(256)
binary_value(u32 *out, const u32 *__restrict__ table, const u32 *__restrict__ bits0, const u32 *__restrict__ bits1, const u32 *__restrict__ bits2,
             const u32 *__restrict__ bits3, u32 columns, u64 n) {
  const u32 lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
  gf2 s = gf2_zero();
  for (u64 i = warp; i < (n + 31) / 32; i += warps) {
    u32 w = ldg(&bits0[i]);
    if (columns > 1) w &= ldg(&bits1[i]);
    if (columns > 2) w &= ldg(&bits2[i]);
    if (columns > 3) w &= ldg(&bits3[i]);
    const u64 x = i * 32 + lane;
    if (x < n) s = masked(s, gf2_ldg(table + 4 * x), 0 - (w >> lane & 1));
  }
  s = warp_sum(s);
  if (lane == 0) gf2_store(out + 4 * (u64)warp, s);
}
