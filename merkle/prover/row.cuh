// Rows and digests as the kernels of hash trees read and write them.
#pragma once
#include "device/ptx.cuh"

struct alignas(16) merkle_four {
  u32 x[4];
};

// merkle_row reads a row of a matrix (merkle.Layout) from its first word on. Kernels
// that hash by Poseidon2 fill the instruction cache but for a little, so it is one
// walk for all layouts, without a division.
struct merkle_row {
  const u32 *next;      // word
  u64 jump;             // from the last word of a symbol to the first of the next one
  u32 n, read;          // words of the row; how many are read
  u32 symbol, at;       // words of a symbol, 0 if row-major; how many of this one are read
  u32 vectors;          // whether each block of four words is aligned and in one piece
  u32 modulus, inverse; // of words in Montgomery form: the modulus p and -1/p modulo 2^32; else 0
};

// merkle_start is where words of the row at an index start, symbol being 0 or a
// column-major matrix's.
DEVICE_INLINE u64 merkle_start(u64 index, u32 row_words, u32 symbol) { return index * (symbol ? symbol : row_words); }

DEVICE_INLINE merkle_row merkle_row_at(const u32 *words, u64 rows, u64 index, u32 row_words, u32 symbol, u32 vectors, u32 modulus, u32 inverse) {
  merkle_row row = {words + merkle_start(index, row_words, symbol), (rows - 1) * symbol + 1, row_words, 0, symbol, 0, vectors, modulus, inverse};
  return row;
}

// merkle_words sets s to the next eight words, as far as the row goes; the others stay.
DEVICE_INLINE void merkle_words(u32 *s, merkle_row &row) {
  if (row.vectors) {
#pragma unroll
    for (u32 k = 0; k < 8; k += 4) {
      if (row.read + k < row.n) {
        merkle_four v = *reinterpret_cast<const merkle_four *>(row.next);
#pragma unroll
        for (u32 i = 0; i < 4; i++) s[k + i] = v.x[i];
      }
      row.next += 3 + row.jump;
    }
  } else {
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
      if (row.read + k < row.n) s[k] = *row.next;
      bool end = ++row.at == row.symbol;
      row.next += end ? row.jump : 1;
      if (end) row.at = 0;
    }
  }
  row.read += 8;
}

// merkle_word is the next word, of which there must be one.
DEVICE_INLINE u32 merkle_word(merkle_row &row) {
  u32 x = *row.next;
  bool end = ++row.at == row.symbol;
  row.next += end ? row.jump : 1;
  if (end) row.at = 0;
  return x;
}

// merkle_canonical is a word as a number below the modulus: x / 2^32 of one in
// Montgomery form, as it is made a multiple of 2^32 by adding a multiple of p.
DEVICE_INLINE u32 merkle_canonical(const merkle_row &row, u32 x) {
  return row.modulus ? mul_hi(x * row.inverse, row.modulus) + (x != 0) : x;
}

// merkle_load and merkle_store move digest i.
DEVICE_INLINE void merkle_load(u32 *d, const u32 *p, u64 i) {
  const merkle_four *v = reinterpret_cast<const merkle_four *>(p) + 2 * i;
  merkle_four a = v[0], b = v[1];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    d[k] = a.x[k];
    d[4 + k] = b.x[k];
  }
}

DEVICE_INLINE void merkle_store(u32 *p, u64 i, const u32 *d) {
  merkle_four a, b;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    a.x[k] = d[k];
    b.x[k] = d[4 + k];
  }
  merkle_four *v = reinterpret_cast<merkle_four *>(p) + 2 * i;
  v[0] = a;
  v[1] = b;
}

// What comes first into every hash (merkle/hash.go).
DEVICE_INLINE u32 merkle_leaf_domain(u32 words) { return 0x10000u + words; }
DEVICE_INLINE u32 merkle_node_domain(u32 arity) { return 0x20000u + arity; }
