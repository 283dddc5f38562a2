// BDT-1 over sliced tables (see bdt.cuh): slicing, folding, and composing with sums.
#include "sumcheck/binary/prover/bdt.cuh"

// slice: elements in their natural layout, 1024 a group, to slices. A thread has one limb
// of a batch.
extern "C" __global__ void __launch_bounds__(128) binary_slice(u32 *out, const u32 *__restrict__ in, u32 groups) {
  const u32 batch = threadIdx.x >> 2, limb = threadIdx.x & 3;
#pragma unroll 1
  for (u64 g = blockIdx.x; g < groups; g += gridDim.x) {
    const u32 *from = in + g * BDT_GROUP + threadIdx.x;
    u32 a[32];
#pragma unroll
    for (u32 k = 0; k < 32; k++) a[k] = ldg(from + 128 * k);
    transpose32(a);
    u32 *to = out + g * BDT_GROUP + limb * 1024 + batch;
#pragma unroll
    for (u32 s = 0; s < 32; s++) to[32 * s] = a[s];
  }
}

// unslice is slice's inverse.
extern "C" __global__ void __launch_bounds__(128) binary_unslice(u32 *out, const u32 *__restrict__ in, u32 groups) {
  const u32 batch = threadIdx.x >> 2, limb = threadIdx.x & 3;
#pragma unroll 1
  for (u64 g = blockIdx.x; g < groups; g += gridDim.x) {
    const u32 *from = in + g * BDT_GROUP + limb * 1024 + batch;
    u32 a[32];
#pragma unroll
    for (u32 s = 0; s < 32; s++) a[s] = ldg(from + 32 * s);
    transpose32(a);
    u32 *to = out + g * BDT_GROUP + threadIdx.x;
#pragma unroll
    for (u32 k = 0; k < 32; k++) to[128 * k] = a[k];
  }
}

// transpose_bits: packed bits to the order of batches, a warp a group.
extern "C" __global__ void __launch_bounds__(256) binary_transpose_bits(u32 *out, const u32 *__restrict__ in, u32 groups) {
  const u64 g = (u64)blockIdx.x * 8 + (threadIdx.x >> 5);
  const u32 lane = threadIdx.x & 31;
  if (g >= groups) return;
  u32 v = ldg(in + g * 32 + lane);
#pragma unroll
  for (u32 j = 16; j > 0; j /= 2) {
    const u32 m = j == 16 ? 0xffffu : j == 8 ? 0xff00ffu : j == 4 ? 0xf0f0f0fu : j == 2 ? 0x33333333u : 0x55555555u;
    const u32 other = shfl_xor(v, j);
    v = lane & j ? (v & ~m) | (other >> j & m) : (v & m) | (other & m) << j;
  }
  out[g * 32 + lane] = v;
}

// get_batches: a bit polynomial of `groups` groups with its first variables bound, as a
// sliced table; count is the number of their values.
extern "C" __global__ void __launch_bounds__(256) binary_get_batches(u32 *out, const u32 *__restrict__ bits, const u32 *__restrict__ masks, u32 count,
                                                                     u32 groups) {
#pragma unroll 1
  for (u64 g = blockIdx.x; g < groups; g += gridDim.x) {
    u32 a[16];
    get_batch(a, bits + g * 32, (const uint4 *)masks, count, 1, groups);
    u32 *to = out + g * BDT_GROUP + (threadIdx.x >> 5) * 128 + (threadIdx.x & 31);
#pragma unroll
    for (u32 i = 0; i < 16; i++) to[(i >> 2) * 1024 + (i & 3) * 32] = a[i];
  }
}

// sum_product adds to c and e, of lane i, the sums over all lanes of slice i of the part
// and, for i < 16, of the last part's product.
DEVICE_INLINE void sum_product(u32 &c, u32 &e, Product &r) {
  c ^= sum_lanes(r.c);
  if (threadIdx.x >= 96) return;
  u32 all[32];
#pragma unroll
  for (u32 s = 0; s < 32; s++) all[s] = s < 16 ? r.e[s] : 0;
  e ^= sum_lanes(all);
}

// add_sums adds what a warp has of the parts' sums to those in memory: of the last part
// z (1 + X_4), z_1 (1 + X_4 (1 + X_3)) or z_2 X_4 for its three products.
DEVICE_INLINE void add_sums(u32 *sums, u32 c, u32 e) {
  const u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const u32 word = ballot(popcount(c) & 1), last = ballot(popcount(e) & 1);
  if (lane == 0 && word) atomicXor(sums + warp_part(warp), word);
  if (lane == 0 && last) atomicXor(sums + 8, warp == 0 ? last | last << 16 : warp == 1 ? last | (last ^ word_mulx<4>(last)) << 16 : last << 16);
}

// compose adds to sums[9 y..] what the parts of the product of all tables sum to over
// `half` groups, with the first variable bound to 0 (blockIdx.y = 0) or blockIdx.y + 1.
// Tables 1 and up are rebuilt from bits where count is not 0: it is then the number of
// values of the variables so far, this round's included, and masks has their R for one
// point after another. With `each`, every batch's sum goes to memory at once.
extern "C" __global__ void __launch_bounds__(256, 2)
    binary_compose(u32 *sums, const u32 *__restrict__ a0, const u32 *__restrict__ a1, const u32 *__restrict__ a2, const u32 *__restrict__ a3,
                   const u32 *__restrict__ a4, const u32 *__restrict__ masks, u32 degree, u32 half, u32 count, u32 each) {
  SHARED_DYNAMIC(u32, shared);
  u32 *p = shared, *q = shared + BDT_OPERAND, *parts = q;
  const u32 y = blockIdx.y ? blockIdx.y + 1 : 0, step = y ? 1 : 2;
  const uint4 *weights = (const uint4 *)(masks + (u64)blockIdx.y * count * 128);
  // The sum of two tables' products stays in slices until the end; with more tables
  // slices are needed in between, and lane i has that of slice i.
  const bool keep = degree == 2 && !each;
  Product r;
  product_clear(r);
  u32 c = 0, e = 0;
#pragma unroll 1
  for (u64 g = blockIdx.x; g < half; g += gridDim.x) {
    stage_point(p, a0 + g * BDT_GROUP, a0 + (g + half) * BDT_GROUP, y);
#pragma unroll 1
    for (u32 k = 1; k < degree; k++) {
      const u32 *a = k == 1 ? a1 : k == 2 ? a2 : k == 3 ? a3 : a4;
      if (count)
        stage_batch(q, a + g * 32, weights, count, step, half);
      else
        stage_point(q, a + g * BDT_GROUP, a + (g + half) * BDT_GROUP, y);
      __syncthreads();
      if (!keep) product_clear(r);
      product_add<32>(r, p, q);
      if (k + 1 == degree) break;
      __syncthreads(); // parts take the place of q
      product_store(parts, r);
      __syncthreads();
      uint4 o[4];
      part_combine(o, parts, threadIdx.x);
      operand_put((uint4 *)p, threadIdx.x, o[0], o[1], o[2], o[3]);
      __syncthreads();
    }
    if (!keep) sum_product(c, e, r);
    if (each) {
      add_sums(sums + BDT_PARTS * blockIdx.y, c, e);
      c = e = 0;
    }
    __syncthreads();
  }
  if (keep) sum_product(c, e, r);
  add_sums(sums + BDT_PARTS * blockIdx.y, c, e);
}

// scale has one table of `half` groups for each blockIdx.y, and one factor r. With
// `grow` 0 it binds the first variable of twice as many groups to r: group g becomes
// lower + r (lower + upper). With `grow` 1 it takes in a first variable by eq: group g
// becomes (1 + r) times what it was, and group g + half r times that.
extern "C" __global__ void __launch_bounds__(256, 2)
    binary_scale(u32 *a0, u32 *a1, u32 *a2, u32 *a3, u32 *a4, const u32 *__restrict__ factor, u32 half, u32 grow) {
  SHARED_DYNAMIC(u32, shared);
  __shared__ u32 factor_parts[BDT_PARTS * 32];
  u32 *p = shared, *parts = shared + BDT_OPERAND;
  const u32 k = blockIdx.y;
  u32 *a = k == 0 ? a0 : k == 1 ? a1 : k == 2 ? a2 : k == 3 ? a3 : a4;
  // The same in all lanes: slice i % 32 of part i / 32 as zeros or ones.
#pragma unroll 1
  for (u32 i = threadIdx.x; i < BDT_PARTS * 32; i += BDT_THREADS) {
    const u32 u = i / 96, v = i / 32 % 3;
    u32 w[2] = {0, 0}; // even and odd limbs of the halves that u stands for
#pragma unroll
    for (u32 j = 0; j < 4; j++)
      if (u == 2 || j >> 1 == u) w[j & 1] ^= ldg(factor + j);
    factor_parts[i] = 0u - ((v == 0 ? w[0] : v == 1 ? w[1] : w[0] ^ w[1]) >> (i & 31) & 1);
  }
#pragma unroll 1
  for (u64 g = blockIdx.x; g < half; g += gridDim.x) {
    uint4 *lower = (uint4 *)(a + g * BDT_GROUP) + threadIdx.x, *upper = (uint4 *)(a + (g + half) * BDT_GROUP) + threadIdx.x;
    uint4 f[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) f[i] = grow ? lower[256 * i] : lower[256 * i] ^ upper[256 * i];
    operand_put((uint4 *)p, threadIdx.x, f[0], f[1], f[2], f[3]);
    __syncthreads();
    Product r;
    product_clear(r);
    product_add<1>(r, p, factor_parts);
    product_store(parts, r);
    __syncthreads();
    part_combine(f, parts, threadIdx.x);
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      lower[256 * i] = lower[256 * i] ^ f[i]; // read again: there is no room to keep it
      if (grow) upper[256 * i] = f[i];
    }
  }
}
