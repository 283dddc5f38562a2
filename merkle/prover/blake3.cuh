// Rows and nodes by BLAKE3: the twin of blake3Engine in merkle/bytes.go.
#pragma once
#include "hash/blake3/blake3.cuh"
#include "merkle/prover/row.cuh"

#define HASH_BY_WARP 0

// hash_key is the key of a domain, the text "zkwarp hash tree, blake3" before it.
DEVICE_INLINE void hash_key(u32 *cv, u32 domain) {
  const u32 key[8] = {0x61776b7au, 0x68207072u, 0x20687361u, 0x65657274u, 0x6c62202cu, 0x33656b61u, domain, 0};
#pragma unroll
  for (int k = 0; k < 8; k++) cv[k] = key[k];
}

// hash_row hashes a row. Beyond 256 words, which is a chunk, it keeps at stack the
// chaining values of whole subtrees whose right neighbours are not hashed yet: eight
// words each, every word as many words apart as the block has threads. As many of
// them are merged after a chunk as its number ends in ones, and all after the last.
DEVICE_INLINE void hash_row(u32 *d, merkle_row &row, u32 *stack) {
  u32 domain = merkle_leaf_domain(row.n), chunks = (row.n + 255) / 256, depth = 0;
#pragma unroll 1
  for (u32 chunk = 0; chunk < chunks; chunk++) {
    bool last = chunk + 1 == chunks;
    u32 end = last ? row.n : 256 * chunk + 256;
    hash_key(d, domain);
#pragma unroll 1
    for (u32 w = 256 * chunk; w < end; w += 16) {
      u32 m[16];
#pragma unroll
      for (int k = 0; k < 16; k++) m[k] = 0;
      merkle_words(m, row);
      merkle_words(m + 8, row);
#pragma unroll
      for (int k = 0; k < 16; k++) m[k] = merkle_canonical(row, m[k]);
      u32 flags = BLAKE3_KEYED_HASH, words = end - w;
      if (w % 256 == 0) flags |= BLAKE3_CHUNK_START;
      if (words <= 16) flags |= chunks == 1 ? BLAKE3_CHUNK_END | BLAKE3_ROOT : BLAKE3_CHUNK_END;
      blake3_compress(d, m, chunk, words < 16 ? 4 * words : 64, flags);
    }
#pragma unroll 1
    for (u32 ones = chunk; depth > 0 && (last || ones & 1); ones >>= 1) {
      depth--;
      u32 m[16];
#pragma unroll
      for (int k = 0; k < 8; k++) {
        m[k] = stack[(8 * depth + k) * blockDim.x];
        m[8 + k] = d[k];
      }
      hash_key(d, domain);
      blake3_compress(d, m, 0, 64, depth == 0 && last ? BLAKE3_KEYED_HASH | BLAKE3_PARENT | BLAKE3_ROOT : BLAKE3_KEYED_HASH | BLAKE3_PARENT);
    }
    if (!last) {
#pragma unroll
      for (int k = 0; k < 8; k++) stack[(8 * depth + k) * blockDim.x] = d[k];
      depth++;
    }
  }
}

// hash_node hashes the children first and on of in, an even number of them.
DEVICE_INLINE void hash_node(u32 *d, const u32 *in, u64 first, u32 arity) {
  hash_key(d, merkle_node_domain(arity));
#pragma unroll 1
  for (u32 c = 0; c < arity; c += 2) {
    u32 m[16], flags = BLAKE3_KEYED_HASH;
    merkle_load(m, in, first + c);
    merkle_load(m + 8, in, first + c + 1);
    if (c == 0) flags |= BLAKE3_CHUNK_START;
    if (c + 2 == arity) flags |= BLAKE3_CHUNK_END | BLAKE3_ROOT;
    blake3_compress(d, m, 0, 64, flags);
  }
}

DEVICE_INLINE void hash_pair(u32 *d, const u32 *in, u64 first) { hash_node(d, in, first, 2); }
