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

// scale is x w, by Karatsuba from GF(2^32) to 108 products in GF(16), eight a word: like
// gf2_half_mul, but all factors of one side are w's.
DEVICE_INLINE gf2 scale(gf2 x, u32 w) {
  u32 v[4] = {x.w[0], x.w[1], x.w[2], x.w[3]};
  u32 ws = gf2_sums<16>(w, w), wt = gf2_sums<8>(w, w), wts = gf2_sums<8>(ws, ws);
  u32 s[2] = {gf2_sums<16>(v[0], v[1]), gf2_sums<16>(v[2], v[3])};
  u32 t[3] = {gf2_sums<8>(v[0], v[1]), gf2_sums<8>(v[2], v[3]), gf2_sums<8>(s[0], s[1])};
  u32 u[5] = {gf2_sums<4>(v[0], v[1]), gf2_sums<4>(v[2], v[3]), gf2_sums<4>(s[0], s[1]), gf2_sums<4>(t[0], t[1]), gf2_sums<4>(t[2], t[2])};
  u32 wu = gf2_sums<4>(w, w), wus = gf2_sums<4>(ws, ws), wut = gf2_sums<4>(wt, wt), wuts = gf2_sums<4>(wts, wts);
#pragma unroll
  for (u32 i = 0; i < 4; i++) v[i] = gf2_word_mul4(v[i], w);
#pragma unroll
  for (u32 i = 0; i < 2; i++) s[i] = gf2_word_mul4(s[i], ws);
#pragma unroll
  for (u32 i = 0; i < 3; i++) t[i] = gf2_word_mul4(t[i], i < 2 ? wt : wts);
#pragma unroll
  for (u32 i = 0; i < 5; i++) u[i] = gf2_word_mul4(u[i], i < 2 ? wu : i == 2 ? wus : i == 3 ? wut : wuts);
  // Sums of pairs: the first one's are where low halves are.
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    v[2 * i] = gf2_join<4>(v[2 * i], u[i] << 4);
    v[2 * i + 1] = gf2_join<4>(v[2 * i + 1], u[i]);
  }
  s[0] = gf2_join<4>(s[0], u[2] << 4);
  s[1] = gf2_join<4>(s[1], u[2]);
  t[0] = gf2_join<4>(t[0], u[3] << 4);
  t[1] = gf2_join<4>(t[1], u[3]);
  t[2] = gf2_join<4>(t[2], u[4] << 4);
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    v[2 * i] = gf2_join<8>(v[2 * i], t[i] << 8);
    v[2 * i + 1] = gf2_join<8>(v[2 * i + 1], t[i]);
  }
  s[0] = gf2_join<8>(s[0], t[2] << 8);
  s[1] = gf2_join<8>(s[1], t[2]);
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    v[2 * i] = gf2_join<16>(v[2 * i], s[i] << 16);
    v[2 * i + 1] = gf2_join<16>(v[2 * i + 1], s[i]);
  }
  return gf2_make(v[0], v[1], v[2], v[3]);
}

// The levels below `levels` <= LOW_LEVELS. A block takes 512 elements. out may be in.
extern "C" __global__ void __launch_bounds__(256)
additive_low(u32 *out, const u32 *in, const u32 *__restrict__ products, u64 n, u32 levels, u64 mask) {
  __shared__ uint4 elements[512];
  __shared__ u32 gamma[16], high[LOW_LEVELS];
  u32 *x = reinterpret_cast<u32 *>(elements);
  u64 first = (u64)blockIdx.x * 512;
#pragma unroll
  for (u32 k = 0; k < 2; k++) {
    u32 i = threadIdx.x + 256 * k;
    if (first + i < n) gf2_store(x + 4 * i, gf2_load(in + 4 * ((first + i) & mask)));
  }
  // A twiddle is one that the block's number gives, and one of the number within it.
  if (threadIdx.x < 16) gamma[threadIdx.x] = products[32 * threadIdx.x];
  if (threadIdx.x >= 32 && threadIdx.x < 32 + LOW_LEVELS) {
    u32 i = threadIdx.x - 32, w = 0;
    for (u32 b = 9 - i, bits = blockIdx.x; bits != 0; b++, bits >>= 1)
      if (bits & 1) w ^= products[32 * b];
    high[i] = w;
  }
  __syncthreads();
#pragma unroll 1
  for (u32 i = levels; i-- > 0;) {
    u32 block = threadIdx.x >> i, at = block << (i + 1) | (threadIdx.x & ((1u << i) - 1));
    u32 w = high[i];
#pragma unroll
    for (u32 b = 0; b < 8; b++) w ^= block >> b & 1 ? gamma[b + 1] : 0;
    if (first + at < n) {
      gf2 u = gf2_load(x + 4 * at), v = gf2_load(x + 4 * (at | 1u << i));
      u = gf2_add(u, scale(v, w));
      gf2_store(x + 4 * at, u);
      gf2_store(x + 4 * (at | 1u << i), gf2_add(u, v));
    }
    __syncthreads();
  }
#pragma unroll
  for (u32 k = 0; k < 2; k++) {
    u32 i = threadIdx.x + 256 * k;
    if (first + i < n) gf2_store(out + 4 * (first + i), gf2_load(x + 4 * i));
  }
}
