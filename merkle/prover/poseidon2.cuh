// Rows and nodes by Poseidon2: the twin of merkle/sponge.go.
#pragma once
#include "FIELD_HEADER"
#include "POSEIDON2_HEADER"
#include "POSEIDON2_WARP_HEADER"
#include "merkle/prover/row.cuh"

#define HASH_BY_WARP 1

// hash_row hashes a row.
DEVICE_INLINE void hash_row(u32 *d, merkle_row &row, u32 *) {
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = 0;
  s[8] = fp_from(merkle_leaf_domain(row.n));
#pragma unroll 1
  while (row.read < row.n) {
    merkle_words(s, row);
    poseidon2_permute16(s);
  }
#pragma unroll
  for (int k = 0; k < 8; k++) d[k] = s[k];
}

// hash_pair hashes the children first and first + 1 of in.
DEVICE_INLINE void hash_pair(u32 *d, const u32 *in, u64 first) {
  u32 s[16];
  merkle_load(s, in, first);
  merkle_load(s + 8, in, first + 1);
  poseidon2_permute16(s);
#pragma unroll
  for (int k = 0; k < 8; k++) d[k] = s[k];
}

// hash_pair_by_warp is the same by a whole warp, which takes less time, but more of the
// card's, and writes it to out as digest `at`.
DEVICE_INLINE void hash_pair_by_warp(u32 *out, u64 at, const u32 *in, u64 first) {
  u32 lane = threadIdx.x & 31, x = poseidon2_warp_permute(in[8 * first + (lane & 15)]);
  if (lane < 8) out[8 * at + lane] = x;
}

// hash_node hashes the children first and on of in, arity being 4 or 8.
DEVICE_INLINE void hash_node(u32 *d, const u32 *in, u64 first, u32 arity) {
  u32 s[24];
#pragma unroll
  for (int k = 16; k < 24; k++) s[k] = 0;
  s[16] = fp_from(merkle_node_domain(arity));
#pragma unroll 1
  for (u32 c = 0; c < arity; c += 2) {
    merkle_load(s, in, first + c);
    merkle_load(s + 8, in, first + c + 1);
    poseidon2_permute24(s);
  }
#pragma unroll
  for (int k = 0; k < 8; k++) d[k] = s[k];
}
