// Rows and nodes by SHA-256: the twin of sha256Engine in merkle/bytes.go.
#pragma once
#include "hash/sha256/sha256.cuh"
#include "merkle/prover/row.cuh"

#define HASH_BY_WARP 0

// hash_end turns a state's words into those of a digest, which are little-endian.
DEVICE_INLINE void hash_end(u32 *d) {
#pragma unroll
  for (int k = 0; k < 8; k++) d[k] = sha256_swap(d[k]);
}

// hash_row hashes the domain, the row's words, a one bit, zeros, and the length of
// what is before the one, in bits, to fill the last block.
DEVICE_INLINE void hash_row(u32 *d, merkle_row &row, u32 *) {
  u32 blocks = (row.n + 19) / 16;
  sha256_start(d);
#pragma unroll 1
  for (u32 b = 0; b < blocks; b++) {
    u32 w[16];
#pragma unroll
    for (u32 i = 0; i < 16; i++) {
      u32 p = 16 * b + i;
      if (p == 0)
        w[i] = sha256_swap(merkle_leaf_domain(row.n));
      else if (p <= row.n)
        w[i] = sha256_swap(merkle_canonical(row, merkle_word(row)));
      else
        w[i] = p == row.n + 1 ? 0x80000000u : p == 16 * blocks - 1 ? 32 * (row.n + 1) : 0;
    }
    sha256_compress(d, w);
  }
  hash_end(d);
}

// hash_node hashes the domain and the children first and on of in, an even number
// of them; the last word of two children is the first of the next block.
DEVICE_INLINE void hash_node(u32 *d, const u32 *in, u64 first, u32 arity) {
  u32 carried = sha256_swap(merkle_node_domain(arity));
  sha256_start(d);
#pragma unroll 1
  for (u32 c = 0; c <= arity; c += 2) {
    u32 m[16], w[16];
    if (c < arity) {
      merkle_load(m, in, first + c);
      merkle_load(m + 8, in, first + c + 1);
    } else {
#pragma unroll
      for (int k = 0; k < 16; k++) m[k] = 0;
      m[0] = 0x80; // swapped below, as all others
      m[14] = sha256_swap(32 * (8 * arity + 1));
    }
    w[0] = carried;
#pragma unroll
    for (int k = 1; k < 16; k++) w[k] = sha256_swap(m[k - 1]);
    carried = sha256_swap(m[15]);
    sha256_compress(d, w);
  }
  hash_end(d);
}

DEVICE_INLINE void hash_pair(u32 *d, const u32 *in, u64 first) { hash_node(d, in, first, 2); }
