// Rows and digests as the kernels of hash trees read and write them.
#pragma once
#include "device/ptx.cuh"

// merkle_row is a row of a matrix (merkle.Layout).
struct merkle_row {
  const u32 *words;   // of the matrix
  u64 rows, index;    // of the matrix; where this one lies
  u32 n;              // words of the row
  u32 symbol;         // words of a symbol if the matrix is column-major, else 0
  u32 vectors;        // whether each block of four words is aligned and in one piece
  u32 modulus, inverse; // of words in Montgomery form: the modulus p and -1/p modulo 2^32; else 0
};

// merkle_place is where word w of the row is.
DEVICE_INLINE u64 merkle_place(const merkle_row &row, u32 w) {
  if (row.symbol == 0) return row.index * row.n + w;
  if (row.symbol == 1) return w * row.rows + row.index;
  u32 c = w / row.symbol;
  return (c * row.rows + row.index) * row.symbol + (w - c * row.symbol);
}

struct alignas(16) merkle_four {
  u32 x[4];
};

// merkle_words sets s[k] to word w + k of the row, for k below 8, as far as the row
// goes.
DEVICE_INLINE void merkle_words(u32 *s, const merkle_row &row, u32 w) {
  if (row.vectors) {
#pragma unroll
    for (u32 k = 0; k < 8; k += 4)
      if (w + k < row.n) {
        merkle_four v = reinterpret_cast<const merkle_four *>(row.words)[merkle_place(row, w + k) / 4];
#pragma unroll
        for (u32 i = 0; i < 4; i++) s[k + i] = v.x[i];
      }
  } else if (row.symbol <= 1) {
    const u32 *p = row.words + merkle_place(row, w);
    u64 step = row.symbol ? row.rows : 1;
#pragma unroll
    for (u32 k = 0; k < 8; k++)
      if (w + k < row.n) s[k] = p[k * step];
  } else {
    const u32 *p = row.words + merkle_place(row, w);
    u32 at = w % row.symbol; // within the symbol
    u64 jump = (row.rows - 1) * row.symbol + 1;
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
      if (w + k < row.n) s[k] = *p;
      at++;
      p += at == row.symbol ? jump : 1;
      at = at == row.symbol ? 0 : at;
    }
  }
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
