// Levels of the additive NTT over GF(2^128): see package additive. An element is four
// words, each an element of GF(2^32), in which all twiddle factors are: a product by a
// twiddle is four products of words by a word.
//
// But for the last levels, the butterflies of a warp share their twiddle, so that a product is a
// linear map known in advance: tables of its values at the nibbles of a word, 8 of 16
// words. A table's 16 words are in 16 banks, so look-ups never collide.
#include "field/gf2/gf2.cuh"

// The levels below this one are the last kernel's: there the twiddles of neighbours
// differ.
#define LOW_LEVELS 5u
#define TABLE_WORDS 128u

// table_build writes the tables of the product with the twiddle of a block, by one warp.
// products[32 b + j] is gamma_b 2^j.
DEVICE_INLINE void table_build(u32 *table, const u32 *__restrict__ products, u32 block) {
  u32 lane = lane_id(), column = 0; // the twiddle times bit `lane`
  for (u32 b = 1; block != 0; b++, block >>= 1)
    if (block & 1) column ^= products[32 * b + lane];
  // Four lanes share a nibble; each has the entries with its own upper two bits.
  u32 first = lane & ~3u;
  u32 c0 = shfl_idx(column, first), c1 = shfl_idx(column, first + 1), c2 = shfl_idx(column, first + 2), c3 = shfl_idx(column, first + 3);
  u32 base = (lane & 1 ? c2 : 0) ^ (lane & 2 ? c3 : 0);
  *reinterpret_cast<uint4 *>(table + 4 * lane) = make_uint4(base, base ^ c0, base ^ c1, base ^ c0 ^ c1);
}

DEVICE_INLINE u32 table_word(const u32 *table, u32 x) {
  u32 r = 0;
#pragma unroll
  for (u32 n = 0; n < 8; n += 2) r ^= table[16 * n + (x >> (4 * n) & 15)] ^ table[16 * n + 16 + (x >> (4 * n + 4) & 15)];
  return r;
}

// table_butterfly takes u, v to u + w v and that plus v.
DEVICE_INLINE void table_butterfly(gf2 &u, gf2 &v, const u32 *table) {
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u.w[k] ^= table_word(table, v.w[k]);
    v.w[k] ^= u.w[k];
  }
}

// The first pass reads the message, over and over: mask has the low bits of an index that
// say which element of in it is.

// pass does K levels from lo + K - 1 down to lo >= LOW_LEVELS, in which a thread's
// elements are 2^lo apart. A warp does reps times 32 neighbours, all with the same
// twiddles: 2^K - 1 of them, the level's own in order, from the lowest level on.
template <u32 K> DEVICE_INLINE void pass(u32 *out, const u32 *in, const u32 *__restrict__ products, u64 warps, u32 lo, u32 reps, u64 mask) {
  constexpr u32 N = 1u << K;
  __shared__ uint4 tables[4][N - 1][TABLE_WORDS / 4];
  u64 warp = (u64)blockIdx.x * 4 + threadIdx.x / 32;
  if (warp >= warps) return;
  u32 *table = reinterpret_cast<u32 *>(tables[threadIdx.x / 32]);
  u32 groups = (1u << (lo - 5)) / reps; // of a stride's warps
  u64 top = warp / groups;
  u64 at = top << (lo + K) | (warp % groups) * (32 * reps) | lane_id();
  // Level lo + q has N >> (q + 1) blocks here, whose tables start at N - (N >> q).
#pragma unroll 1
  for (u32 q = 0; q < K; q++)
#pragma unroll 1
    for (u32 t = 0; t < N >> (q + 1); t++) table_build(table + TABLE_WORDS * (N - (N >> q) + t), products, (u32)(top << (K - 1 - q)) | t);
  __syncwarp();
#pragma unroll 1
  for (u32 rep = 0; rep < reps; rep++, at += 32) {
    gf2 x[N];
#pragma unroll
    for (u32 s = 0; s < N; s++) x[s] = gf2_load(in + 4 * ((at | (u64)s << lo) & mask));
#pragma unroll
    for (u32 p = 0; p < K; p++) {
      u32 q = K - 1 - p;
#pragma unroll
      for (u32 s = 0; s < N; s++)
        if (!(s >> q & 1)) table_butterfly(x[s], x[s | 1u << q], table + TABLE_WORDS * (N - (N >> q) + (s >> (q + 1))));
    }
#pragma unroll
    for (u32 s = 0; s < N; s++) gf2_store(out + 4 * (at | (u64)s << lo), x[s]);
  }
}

// out may be in: what a thread writes it has read.
extern "C" __global__ void __launch_bounds__(128)
additive_pass1(u32 *out, const u32 *in, const u32 *products, u64 warps, u32 lo, u32 reps, u64 mask) {
  pass<1>(out, in, products, warps, lo, reps, mask);
}

extern "C" __global__ void __launch_bounds__(128)
additive_pass2(u32 *out, const u32 *in, const u32 *products, u64 warps, u32 lo, u32 reps, u64 mask) {
  pass<2>(out, in, products, warps, lo, reps, mask);
}

extern "C" __global__ void __launch_bounds__(128)
additive_pass3(u32 *out, const u32 *in, const u32 *products, u64 warps, u32 lo, u32 reps, u64 mask) {
  pass<3>(out, in, products, warps, lo, reps, mask);
}

// What the twiddles of a level have in common in a block of 256 elements is a table's; the
// rest is in GF(2^8), the span of gamma_0 .. gamma_7, or for level 4 in GF(16).
#define LOW_SIZE 256u

// mul_bytes is x times an element of GF(2^8), four times in a word.
DEVICE_INLINE gf2 mul_bytes(gf2 x, u32 w) {
  return gf2_make(gf2_word_mul8(x.w[0], w), gf2_word_mul8(x.w[1], w), gf2_word_mul8(x.w[2], w), gf2_word_mul8(x.w[3], w));
}

// mul_nibbles is x times an element of GF(16), eight times in a word.
DEVICE_INLINE gf2 mul_nibbles(gf2 x, u32 w) {
  return gf2_make(gf2_word_mul4(x.w[0], w), gf2_word_mul4(x.w[1], w), gf2_word_mul4(x.w[2], w), gf2_word_mul4(x.w[3], w));
}

// The levels below `levels` <= LOW_LEVELS. out may be in.
extern "C" __global__ void __launch_bounds__(128)
additive_low(u32 *out, const u32 *in, const u32 *__restrict__ products, u64 n, u32 levels, u64 mask) {
  __shared__ uint4 elements[LOW_SIZE], tables[LOW_LEVELS][TABLE_WORDS / 4];
  u32 *x = reinterpret_cast<u32 *>(elements);
  u64 first = (u64)blockIdx.x * LOW_SIZE;
#pragma unroll
  for (u32 k = 0; k < LOW_SIZE; k += 128) {
    u32 i = threadIdx.x + k;
    if (first + i < n) gf2_store(x + 4 * i, gf2_load(in + 4 * ((first + i) & mask)));
  }
  for (u32 i = threadIdx.x / 32; i < levels; i += 4) table_build(reinterpret_cast<u32 *>(tables[i]), products, blockIdx.x << (7 - i));
  // gamma_1 .. gamma_7, a byte each.
  u32 gamma[8];
#pragma unroll
  for (u32 b = 1; b < 8; b++) gamma[b] = ldg(products + 32 * b);
  __syncthreads();
#pragma unroll 1
  for (u32 i = levels; i-- > 0;) {
    u32 block = threadIdx.x >> i, at = block << (i + 1) | (threadIdx.x & ((1u << i) - 1)), w = 0;
#pragma unroll
    for (u32 b = 1; b < 8; b++) w ^= block >> (b - 1) & 1 ? gamma[b] : 0;
    if (first + at < n) {
      gf2 u = gf2_load(x + 4 * at), v = gf2_load(x + 4 * (at | 1u << i));
      u = gf2_add(u, i == 4 ? mul_nibbles(v, w * 0x11111111u) : mul_bytes(v, w * 0x01010101u));
      table_butterfly(u, v, reinterpret_cast<const u32 *>(tables[i]));
      gf2_store(x + 4 * at, u);
      gf2_store(x + 4 * (at | 1u << i), v);
    }
    __syncthreads();
  }
#pragma unroll
  for (u32 k = 0; k < LOW_SIZE; k += 128) {
    u32 i = threadIdx.x + k;
    if (first + i < n) gf2_store(out + 4 * (first + i), gf2_load(x + 4 * i));
  }
}
