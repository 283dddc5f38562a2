// Rounds after the window in which the last factor, p_d, is never an element. With A the
// product of p_1 .. p_(d-1) as a polynomial of the round's variable c,
//
//     S(c) = sum over x of A(c, x) p_d(c, x),   p_d(v, x) = sum over u of w(u) bit(u, v, x)
//
// where w are the weights of the challenges so far. So S follows from sums of values of A
// at d points under the masks that the bits are: the step of the window's pass.
// The points are 0, 1, infinity and X, the generator of the POLYVAL basis: A has degree d - 1.
#include "sumcheck/binary/prover/patterns.cuh"
#include "sumcheck/binary/prover/planes.cuh"

#define MASK_WARPS 4u

// Columns are the patterns of the factors in the middle.
struct Columns {
  const u8 *p2, *p3;
};

// values leaves A's at the D points for a position x, each a stage's element `to`.
template <u32 D> DEVICE_INLINE void values(uint4 *to, const uint4 *__restrict__ p1, Columns c, const uint4 *tables, u32 k, u32 level, u64 x, u64 half) {
  uint4 a0 = p1[x], a1 = p1[x + half];
  if constexpr (D == 2) {
    to[0] = a0;
    to[UNIT] = a1;
  } else {
    uint4 b0 = looked_up(tables, c.p2, k, level, x, 2 * half), b1 = looked_up(tables, c.p2, k, level, x + half, 2 * half);
    if constexpr (D == 3) {
      to[0] = pv_mul(a0, b0);
      to[UNIT] = pv_mul(a1, b1);
      to[2 * UNIT] = pv_mul(pv_add(a0, a1), pv_add(b0, b1));
    } else {
      uint4 c0 = looked_up(tables, c.p3, k, level, x, 2 * half), c1 = looked_up(tables, c.p3, k, level, x + half, 2 * half);
      // B = p_2 p_3 is B0 + (B0 + B1 + B2) c + B2 c^2.
      uint4 B0 = pv_mul(b0, c0), B1 = pv_mul(b1, c1), B2 = pv_mul(pv_add(b0, b1), pv_add(c0, c1));
      to[0] = pv_mul(a0, B0);
      to[UNIT] = pv_mul(a1, B1);
      a1 = pv_add(a0, a1);
      to[2 * UNIT] = pv_mul(a1, B2);
      to[3 * UNIT] = pv_mul(pv_add(a0, times_x(a1)), pv_add(B0, times_x(pv_add(pv_add(B0, B1, B2), times_x(B2)))));
    }
  }
}

// mask_round adds to sums[D][2^(k + level + 1)] the sums of A's values under the bits of
// p_d, of which `words` words belong to each prefix; half = 32 words, a multiple of 256, is the
// number of positions.
template <u32 D> DEVICE_INLINE void mask_round(const State *s, u32 *sums, const uint4 *__restrict__ p1, Columns c, const u32 *__restrict__ bits, u32 k, u32 level, u32 words) {
  SHARED_DYNAMIC(uint4, shared);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const u32 groups = 1u << (k + level - 2), units = words / 8;
  const u64 half = 32 * (u64)words;
  uint4 *stage = shared + warp * D * UNIT, *tables = shared + MASK_WARPS * D * UNIT;
  u32 *parity = (u32 *)(tables + (D == 2 ? 0 : (k == 4 ? 512u : 256u) << level));
  if (D > 2) lookup_tables(tables, s, k, level);
  for (u32 i = threadIdx.x; i < D * groups * 32; i += 32 * MASK_WARPS) parity[i] = 0;
  __syncthreads();
#pragma unroll 1
  for (u32 unit = blockIdx.x * MASK_WARPS + warp; unit < units; unit += gridDim.x * MASK_WARPS) {
#pragma unroll 1
    for (u32 i = 0; i < UNIT; i += 32) values<D>(stage + place(i + lane), p1, c, tables, k, level, unit * (u64)UNIT + i + lane, half);
    __syncwarp();
    const u32 *mask = bits + (u64)g * words + 8 * unit + t;
#pragma unroll 1
    for (u32 e = 0; e < D; e++) {
      u32 lower[16], upper[16];
      planes<0>(lower, (const u32 *)(stage + e * UNIT), lane);
      planes<1>(upper, (const u32 *)(stage + e * UNIT), lane);
#pragma unroll 1
      for (u32 i = 0; i < groups; i++) {
        const u32 b[2] = {ldg(mask + 8 * i * (u64)words), ldg(mask + 8 * i * (u64)words + 4)};
        atomicXor(parity + (e * groups + i) * 32 + lane, count(0, lower, upper, b));
      }
    }
    __syncwarp();
  }
  __syncthreads();
#pragma unroll 1
  for (u32 i = warp; i < D * groups; i += MASK_WARPS) atomicXor(sums + 32 * i + sum_word(lane), whole_limb(parity[32 * i + lane], lane));
}

extern "C" __global__ void __launch_bounds__(128) binary_mask_round2(const u32 *s, u32 *sums, const uint4 *__restrict__ p1, const u32 *__restrict__ bits, u32 k, u32 level,
                                                                   u32 words) {
  mask_round<2>((const State *)s, sums, p1, Columns{nullptr, nullptr}, bits, k, level, words);
}

extern "C" __global__ void __launch_bounds__(128) binary_mask_round3(const u32 *s, u32 *sums, const uint4 *__restrict__ p1, const u32 *__restrict__ bits, u32 k, u32 level,
                                                                   u32 words, const u8 *p2) {
  mask_round<3>((const State *)s, sums, p1, Columns{p2, nullptr}, bits, k, level, words);
}

extern "C" __global__ void __launch_bounds__(128) binary_mask_round4(const u32 *s, u32 *sums, const uint4 *__restrict__ p1, const u32 *__restrict__ bits, u32 k, u32 level,
                                                                   u32 words, const u8 *p2, const u8 *p3) {
  mask_round<4>((const State *)s, sums, p1, Columns{p2, p3}, bits, k, level, words);
}

// binary_mask_elements writes, from a column's patterns, its values after the window's k and
// `level` more challenges: entries elements, POLYVAL.
extern "C" __global__ void __launch_bounds__(256) binary_mask_elements(const u32 *s, uint4 *out, const u8 *patterns, u32 k, u32 level, u64 entries) {
  SHARED_DYNAMIC(uint4, tables);
  lookup_tables(tables, (const State *)s, k, level);
  __syncthreads();
  for (u64 x = (u64)blockIdx.x * 256 + threadIdx.x; x < entries; x += (u64)gridDim.x * 256) out[x] = looked_up(tables, patterns, k, level, x, entries);
}
