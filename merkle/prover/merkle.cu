// Hash trees: leaves and levels of nodes. Digests are 8 words. The header defines
//
//	hash_row(d, row, stack)          the digest d of a row
//	hash_pair(d, in, first)          of two children, those of in from first on
//	hash_node(d, in, first, arity)   of 4 or 8 children
//
// and, if HASH_BY_WARP is 1, hash_pair_by_warp.
#include "HASH_HEADER"

// One row a thread, read in the order in which they lie: if reverse, which is 32 less
// log2(rows), is not 0, a row's number is its index with the bits in reverse. Then the
// warps of a block read four parts of the matrix, so that digests that lie side by side,
// a line of memory, are written at about the same time. symbol, vectors, modulus and
// inverse are those of merkle_row. arrived, unless it is null, is set to 0. There is
// dynamic shared memory for the stacks of hash_row.
extern "C" __global__ void __launch_bounds__(LEAVES_BOUNDS)
merkle_leaves_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ words, u32 *arrived, u64 rows, u32 row_words, u32 symbol, u32 reverse, u32 vectors, u32 modulus, u32 inverse) {
  SHARED_DYNAMIC(u32, stacks);
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  if (arrived && i == 0) *arrived = 0;
  if (reverse && rows >= 128) i = (u64)(threadIdx.x / 32) * (rows / 4) + blockIdx.x * 32 + threadIdx.x % 32;
  merkle_row row = merkle_row_at(words, rows, i, row_words, symbol, vectors, modulus, inverse);
  u32 d[8];
  hash_row(d, row, stacks + threadIdx.x);
  merkle_store(out, reverse ? bit_reverse((u32)i) >> reverse : i, d);
}

// One node of two children a thread.
extern "C" __global__ void __launch_bounds__(128)
merkle_level2_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, u64 nodes) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  u32 d[8];
  hash_pair(d, in, 2 * i);
  merkle_store(out, i, d);
}

// One node of 4 or 8 children a thread.
extern "C" __global__ void __launch_bounds__(128)
merkle_level_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ in, u64 nodes, u32 arity) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  u32 d[8];
  hash_node(d, in, i * arity, arity);
  merkle_store(out, i, d);
}

// merkle_climb hashes count digests, from first on, of the level of n that lies
// at in, and on to the one node above them all. Levels come one behind the other
// at tree. It moves in, tree and n to the level of that node.
DEVICE_INLINE void merkle_climb(u32 *&tree, const u32 *&in, u32 &n, u64 first, u32 count, u32 arity) {
  while (count > 1) {
    u32 a = arity < n ? arity : n;
    n /= a;
    count /= a;
    first /= a;
    bool by_warp = false;
#if HASH_BY_WARP
    // Few nodes: what counts is how long one takes.
    u32 warps = blockDim.x / 32;
    by_warp = a == 2 && count <= 2 * warps;
    if (by_warp)
      for (u32 i = threadIdx.x / 32; i < count; i += warps) hash_pair_by_warp(tree, first + i, in, 2 * (first + i));
#endif
    for (u32 i = threadIdx.x; i < count && !by_warp; i += blockDim.x) {
      u32 d[8];
      if (a == 2)
        hash_pair(d, in, 2 * (u64)(first + i));
      else
        hash_node(d, in, (first + i) * a, a);
      merkle_store(tree, first + i, d);
    }
    __syncthreads();
    in = tree;
    tree += (u64)n * 8;
  }
}

// All levels above the n digests of in, one behind the other. A block takes part
// digests, a power of arity, to the one above them all; the block that comes last
// takes those to the root. arrived is 0 at the start; with one block, which part
// covers n for, it is not used.
extern "C" __global__ void __launch_bounds__(512)
merkle_top_VARIANT(u32 *tree, const u32 *in, u32 n, u32 arity, u32 part, u32 *arrived) {
  __shared__ u32 last;
  merkle_climb(tree, in, n, (u64)blockIdx.x * part, part < n ? part : n, arity);
  if (gridDim.x == 1) return;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  merkle_climb(tree, in, n, 0, n, arity);
}
