// Hash trees: leaves, levels of nodes, and the gathering of openings. Digests are
// 8 words; the hashes are those of merkle/hash.go.
#include "hash/poseidon2/m31.cuh"

// element_at is the place of word w of the row at index r (merkle.Layout): symbol is
// a symbol's words if the matrix is column-major, and 0 if it is not.
DEVICE_INLINE u64 element_at(u64 r, u32 w, u64 rows, u32 row_words, u32 symbol) {
  if (symbol == 0) return r * row_words + w;
  u32 c = w / symbol;
  return (c * rows + r) * symbol + (w - c * symbol);
}

// load8 and store8 move digest i as two vectors.
DEVICE_INLINE void load8(u32 *s, const u32 *p, u64 i) {
  qm31 a = qm31_load(p, 2 * i), b = qm31_load(p, 2 * i + 1);
#pragma unroll
  for (int k = 0; k < 4; k++) {
    s[k] = a.x[k];
    s[4 + k] = b.x[k];
  }
}

DEVICE_INLINE void store8(u32 *p, u64 i, const u32 *s) {
  qm31_store(p, 2 * i, qm31_make(s[0], s[1], s[2], s[3]));
  qm31_store(p, 2 * i + 1, qm31_make(s[4], s[5], s[6], s[7]));
}

// hash_node2 hashes children 2i and 2i+1 of in.
DEVICE_INLINE void hash_node2(u32 *out, u64 at, const u32 *in, u64 i) {
  u32 s[16];
  load8(s, in, 2 * i);
  load8(s + 8, in, 2 * i + 1);
  poseidon2_permute16(s);
  store8(out, at, s);
}

// hash_node hashes the children arity*i and on of in, arity being 4 or 8.
DEVICE_INLINE void hash_node(u32 *out, u64 at, const u32 *in, u64 i, u32 arity) {
  u32 s[24];
#pragma unroll
  for (int k = 16; k < 24; k++) s[k] = 0;
  s[16] = 0x20000u + arity;
#pragma unroll 1
  for (u32 c = 0; c < arity; c += 2) {
    load8(s, in, i * arity + c);
    load8(s + 8, in, i * arity + c + 1);
    poseidon2_permute24(s);
  }
  store8(out, at, s);
}

// One row a thread, read in the order in which they lie: if reverse, which is 32 less
// log2(rows), is not 0, a row's number is its index with the bits in reverse. vectors says that each block of four words of a row is
// aligned and in one piece.
extern "C" __global__ void __launch_bounds__(128)
merkle_leaves(u32 *__restrict__ out, const u32 *__restrict__ words, u64 rows, u32 row_words, u32 symbol, u32 reverse, u32 vectors) {
  u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = 0;
  s[8] = 0x10000u + row_words;
#pragma unroll 1
  for (u32 w = 0; w < row_words; w += 8) {
    if (vectors) {
#pragma unroll
      for (u32 k = 0; k < 8; k += 4)
        if (w + k < row_words) {
          qm31 v = qm31_load(words, element_at(r, w + k, rows, row_words, symbol) / 4);
#pragma unroll
          for (u32 i = 0; i < 4; i++) s[k + i] = v.x[i];
        }
    } else {
#pragma unroll
      for (u32 k = 0; k < 8; k++)
        if (w + k < row_words) s[k] = words[element_at(r, w + k, rows, row_words, symbol)];
    }
    poseidon2_permute16(s);
  }
  store8(out, reverse ? bit_reverse((u32)r) >> reverse : r, s);
}

// One node of two children a thread.
extern "C" __global__ void __launch_bounds__(128)
merkle_level2(u32 *__restrict__ out, const u32 *__restrict__ in, u64 nodes) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) hash_node2(out, i, in, i);
}

// One node of 4 or 8 children a thread.
extern "C" __global__ void __launch_bounds__(128)
merkle_level(u32 *__restrict__ out, const u32 *__restrict__ in, u64 nodes, u32 arity) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) hash_node(out, i, in, i, arity);
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
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
      if (a == 2)
        hash_node2(tree, first + i, in, first + i);
      else
        hash_node(tree, first + i, in, first + i, a);
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
extern "C" __global__ void __launch_bounds__(128)
merkle_top(u32 *tree, const u32 *in, u32 n, u32 arity, u32 part, u32 *arrived) {
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

// Word t of the opened rows: rows[positions[t / row_words]].
extern "C" __global__ void __launch_bounds__(128)
merkle_gather_rows(u32 *__restrict__ out, const u32 *__restrict__ words, const u64 *__restrict__ positions, u64 count, u64 rows, u32 row_words, u32 symbol) {
  u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count * row_words) return;
  u32 w = (u32)(t % row_words);
  out[t] = words[element_at(positions[t / row_words], w, rows, row_words, symbol)];
}

// Digest t of an opening.
extern "C" __global__ void __launch_bounds__(128)
merkle_gather_digests(u32 *__restrict__ out, const u32 *__restrict__ tree, const u64 *__restrict__ positions, u64 count) {
  u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  u32 d[8];
  load8(d, tree, positions[t]);
  store8(out, t, d);
}
