// Bit-sliced arithmetic in GF(2^128), for the algorithms that sum and fold whole tables
// of elements (BDT-1 and what builds on it).
//
// A table is a row of groups of 1024 elements, 32 batches of 32. Word [s][b] of a group
// is slice s of batch b: bit k of it is coefficient s of element 32 k + b of the group.
// So a warp reads slices of 32 batches, or elements in their natural layout, in one line.
// Packed bits come to the same order when every 32 words are transposed.
//
// A product of two batches is nine products in GF(2^32) by Karatsuba's method twice, its
// parts, and each of them three in GF(2^16): 128 slices of each operand do not fit a
// thread's registers, 16 do. Each of a block's eight warps has a part, and three have one
// of the last part's products besides, so that all four schedulers of a multiprocessor
// have nearly the same to do: 7, 7, 7 and 6 of the 27. Operands are in shared memory as the
// nine sums of limbs that are multiplied, each 32 slices of 32 batches, where a thread
// reads its lane's words only.
#pragma once
#include "device/ptx.cuh"

#define BDT_PARTS 9u
#define BDT_THREADS 256u
#define BDT_GROUP 4096u // words
#define BDT_OPERAND (BDT_PARTS * 1024u)
// Words of shared memory: an operand, and either another one or a product's parts with
// six multiples of them and four of the last one's products.
#define BDT_SHARED (BDT_OPERAND + 16u * 1024u)

DEVICE_INLINE uint4 operator^(uint4 a, uint4 b) {
  a.x ^= b.x, a.y ^= b.y, a.z ^= b.z, a.w ^= b.w;
  return a;
}

// sliced_mulx multiplies 2^K slices, of GF(2^(2^K)), by the last generator X_(K-1).
template <u32 K> DEVICE_INLINE void sliced_mulx(u32 *a) {
  if constexpr (K > 0) {
    const u32 h = 1u << (K - 1);
    u32 t[h];
#pragma unroll
    for (u32 s = 0; s < h; s++) t[s] = a[h + s];
    sliced_mulx<K - 1>(t);
#pragma unroll
    for (u32 s = 0; s < h; s++) {
      u32 lo = a[s];
      a[s] = a[h + s];
      a[h + s] = lo ^ t[s];
    }
  }
}

// sliced_mul is c = a b in GF(2^(2^K)).
template <u32 K> DEVICE_INLINE void sliced_mul(u32 *c, const u32 *a, const u32 *b) {
  if constexpr (K == 1) {
    u32 t = a[1] & b[1];
    c[0] = (a[0] & b[0]) ^ t;
    c[1] = (a[0] & b[1]) ^ (a[1] & b[0]) ^ t;
  } else {
    const u32 h = 1u << (K - 1);
    u32 z[h], sa[h], sb[h];
    sliced_mul<K - 1>(c, a, b);
    sliced_mul<K - 1>(z, a + h, b + h);
#pragma unroll
    for (u32 s = 0; s < h; s++) sa[s] = a[s] ^ a[h + s], sb[s] = b[s] ^ b[h + s];
    sliced_mul<K - 1>(c + h, sa, sb);
#pragma unroll
    for (u32 s = 0; s < h; s++) {
      c[s] ^= z[s];
      c[h + s] ^= c[s];
    }
    sliced_mulx<K - 1>(z);
#pragma unroll
    for (u32 s = 0; s < h; s++) c[h + s] ^= z[s];
  }
}

// sliced_mul16 is the product in GF(2^16).
DEVICE_LARGE void sliced_mul16(u32 *c, const u32 *a, const u32 *b) { sliced_mul<4>(c, a, b); }

// word_mulx multiplies a word, of GF(2^(2^K)), by its last generator X_(K-1).
template <u32 K> DEVICE_INLINE u32 word_mulx(u32 a) {
  if constexpr (K == 0) {
    return a;
  } else {
    const u32 h = 1u << (K - 1), m = (1u << h) - 1;
    return a >> h | ((a ^ word_mulx<K - 1>(a >> h)) & m) << h;
  }
}

// Product is what a thread has of a product: 32 slices of its warp's part, and 16 of the
// last part's product in GF(2^16) whose number is the warp's, below 3.
struct Product {
  u32 c[32], e[16];
};

DEVICE_INLINE void product_clear(Product &r) {
#pragma unroll
  for (u32 s = 0; s < 32; s++) r.c[s] = 0;
#pragma unroll
  for (u32 s = 0; s < 16; s++) r.e[s] = 0;
}

// warp_part is the part of the warp. Those without multiples (see product_store) go to
// the warps with more to multiply.
DEVICE_INLINE u32 warp_part(u32 warp) { return 0x75431620u >> (4 * warp) & 15; }

// operand_put leaves slice `at` of a batch's four limbs in an operand, of words or of
// quadruples of them: part 3 u + v is for the lower half, the upper half or their sum (u),
// and within that v.
template <class T> DEVICE_INLINE void operand_put(T *operand, u32 at, T f0, T f1, T f2, T f3) {
  const u32 part = 4096 / sizeof(T);
  const T s01 = f0 ^ f1, s23 = f2 ^ f3;
  T *to = operand + at;
  to[0] = f0;
  to[part] = f1;
  to[2 * part] = s01;
  to[3 * part] = f2;
  to[4 * part] = f3;
  to[5 * part] = s23;
  to[6 * part] = f0 ^ f2;
  to[7 * part] = f1 ^ f3;
  to[8 * part] = s01 ^ s23;
}

// product_add adds to r the products of the warp. A slice of q is STRIDE words: 32, or 1
// if all lanes have the same q.
template <u32 STRIDE> DEVICE_INLINE void product_add(Product &r, const u32 *p, const u32 *q) {
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, part = warp_part(warp);
  p += lane;
  if (STRIDE > 1) q += lane;
  // The lower halves, the upper ones, and their sums; then one of the last part.
#pragma unroll 1
  for (u32 i = 0; i < (warp < 3 ? 4u : 3u); i++) {
    const u32 v = i < 3 ? i : warp, t = i < 3 ? part : 8, first = 32 * t + (v == 1 ? 16 : 0);
    const u32 *pv = p + 32 * first, *qv = q + STRIDE * first;
    u32 a[16], b[16], z[16];
#pragma unroll
    for (u32 s = 0; s < 16; s++) a[s] = pv[32 * s], b[s] = qv[STRIDE * s];
    if (v == 2) {
#pragma unroll
      for (u32 s = 0; s < 16; s++) a[s] ^= pv[32 * (16 + s)], b[s] ^= qv[STRIDE * (16 + s)];
    }
    sliced_mul16(z, a, b);
    if (i == 3) {
#pragma unroll
      for (u32 s = 0; s < 16; s++) r.e[s] ^= z[s];
      break;
    }
    if (v < 2) {
#pragma unroll
      for (u32 s = 0; s < 16; s++) r.c[s] ^= z[s];
    }
#pragma unroll
    for (u32 s = 0; s < 16; s++) r.c[16 + s] ^= z[s];
    if (v == 1) {
      sliced_mulx<4>(z);
#pragma unroll
      for (u32 s = 0; s < 16; s++) r.c[16 + s] ^= z[s];
    }
  }
}

// product_store leaves the warp's part t in shared memory, in place t, and the multiples
// of it by x = X_4 that the product needs: (1 + x) c for parts 1, 5 and 7 in places 9, 13
// and 14, x c for 3 in 10, and x c and x^2 c for 4 in 11 and 12. Of the last part the
// products in GF(2^16) are in place 8, the second and the third one behind the first at
// 16 and 32 slices, in place 15 then, where (1 + X_3) times the second one is at 48.
DEVICE_INLINE void product_store(u32 *parts, Product &r) {
  const u32 warp = threadIdx.x >> 5, t = warp_part(warp);
  parts += threadIdx.x & 31;
  u32 *to = parts + t * 1024;
#pragma unroll
  for (u32 s = 0; s < 32; s++) to[32 * s] = r.c[s];
  if (warp < 3) {
    u32 *last = parts + (warp == 2 ? 15 * 1024 : 8 * 1024 + 512 * warp);
#pragma unroll
    for (u32 s = 0; s < 16; s++) last[32 * s] = r.e[s];
    if (warp == 1) {
      u32 x[16];
#pragma unroll
      for (u32 s = 0; s < 16; s++) x[s] = r.e[s];
      sliced_mulx<4>(x);
#pragma unroll
      for (u32 s = 0; s < 16; s++) (parts + 15 * 1024 + 512)[32 * s] = r.e[s] ^ x[s];
    }
    return;
  }
  const u32 place = t == 1 ? 9 : t == 3 ? 10 : t == 4 ? 11 : t == 5 ? 13 : 14;
  const u32 plus = t == 1 || t == 5 || t == 7 ? ~0u : 0; // read back: there is no room for c and x c
  u32 *multiple = parts + place * 1024;
#pragma unroll 1
  for (u32 pass = 0; pass < 1 + (t == 4); pass++) {
    sliced_mulx<5>(r.c);
#pragma unroll
    for (u32 s = 0; s < 32; s++) multiple[32 * s] = r.c[s] ^ (to[32 * s] & plus);
    multiple += 1024;
  }
}

// part_combine is the product of the parts, as the four words of limbs 0..3 at quadruple w
// of the 256 of each.
DEVICE_INLINE void part_combine(uint4 (&o)[4], const u32 *parts, u32 w) {
  const uint4 *p = (const uint4 *)parts + w;
  const uint4 low = p[0] ^ p[256], up = p[3 * 256] ^ p[4 * 256];
  const uint4 low1 = p[0] ^ p[9 * 256] ^ p[2 * 256], x11 = p[11 * 256], p12 = p[5 * 256];
  const uint4 p20 = p[6 * 256];
  // Of slices below 16 the last part's first two products are the sum, of others all three.
  const uint4 p22 = w < 128 ? p[8 * 256] ^ p[8 * 256 + 128] : p[8 * 256 - 128] ^ p[15 * 256 - 128] ^ p[15 * 256];
  o[0] = low ^ up;
  o[1] = low1 ^ up ^ x11 ^ p12;
  o[2] = low ^ x11 ^ p12 ^ p20 ^ p[7 * 256];
  o[3] = low1 ^ p[10 * 256] ^ p[12 * 256] ^ p[13 * 256] ^ p20 ^ p[14 * 256] ^ p22;
}

// small_multiple adds y b to a, for four slices, of GF(16), and an integer y < 8.
DEVICE_INLINE void small_multiple(u32 *a, const u32 *b, u32 y) {
  if (y & 1) a[0] ^= b[0], a[1] ^= b[1], a[2] ^= b[2], a[3] ^= b[3];
  if (y & 2) a[0] ^= b[1], a[1] ^= b[0] ^ b[1], a[2] ^= b[3], a[3] ^= b[2] ^ b[3];
  if (y & 4) a[0] ^= b[2], a[1] ^= b[3], a[2] ^= b[0] ^ b[3], a[3] ^= b[1] ^ b[2] ^ b[3];
}

// stage_point leaves the batches of a group, with the first variable bound to y, in
// an operand: lower + y (lower + upper). A warp has four slices of each limb.
DEVICE_INLINE void stage_point(u32 *operand, const u32 *lower, const u32 *upper, u32 y) {
  const u32 at = (threadIdx.x >> 5) * 128 + (threadIdx.x & 31);
  lower += at, upper += at;
  u32 a[16], b[16];
#pragma unroll
  for (u32 i = 0; i < 16; i++) a[i] = lower[(i >> 2) * 1024 + (i & 3) * 32];
  if (y) {
#pragma unroll
    for (u32 i = 0; i < 16; i++) b[i] = a[i] ^ upper[(i >> 2) * 1024 + (i & 3) * 32];
#pragma unroll
    for (u32 i = 0; i < 16; i += 4) small_multiple(a + i, b + i, y);
  }
#pragma unroll
  for (u32 s = 0; s < 4; s++) operand_put(operand, at + 32 * s, a[s], a[4 + s], a[8 + s], a[12 + s]);
}

// get_batch (SumCATS, Algorithm 2) is the warp's four slices of each limb of a group's
// batches: the sum of R[m] times the bit polynomial's batch m, for m < count in
// steps. Those are `stride` groups apart in the transposed bits; masks holds R in slices,
// 128 words of zeros or ones each.
DEVICE_INLINE void get_batch(u32 (&a)[16], const u32 *bits, const uint4 *masks, u32 count, u32 step, u64 stride) {
  const u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll
  for (u32 i = 0; i < 16; i++) a[i] = 0;
#pragma unroll 2
  for (u32 m = 0; m < count; m += step) {
    const u32 w = ldg(bits + m * stride * 32 + lane);
    const uint4 *mask = masks + m * 32 + warp;
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      const uint4 v = mask[8 * i];
      a[4 * i] ^= w & v.x, a[4 * i + 1] ^= w & v.y, a[4 * i + 2] ^= w & v.z, a[4 * i + 3] ^= w & v.w;
    }
  }
}

// stage_batch is stage_point for batches that get_batch makes.
DEVICE_INLINE void stage_batch(u32 *operand, const u32 *bits, const uint4 *masks, u32 count, u32 step, u64 stride) {
  const u32 at = (threadIdx.x >> 5) * 128 + (threadIdx.x & 31);
  u32 a[16];
  get_batch(a, bits, masks, count, step, stride);
#pragma unroll
  for (u32 s = 0; s < 4; s++) operand_put(operand, at + 32 * s, a[s], a[4 + s], a[8 + s], a[12 + s]);
}

// sum_lanes leaves the sum over all lanes of c[i] in lane i.
template <u32 H> DEVICE_INLINE void sum_lanes_step(u32 *c) {
  const u32 up = threadIdx.x & H ? ~0u : 0; // not a choice of c's index, which would put c in memory
#pragma unroll
  for (u32 i = 0; i < H; i++) {
    const u32 give = (c[i] & up) | (c[i + H] & ~up), keep = (c[i] & ~up) | (c[i + H] & up);
    c[i] = keep ^ shfl_xor(give, H);
  }
}

DEVICE_INLINE u32 sum_lanes(u32 *c) {
  sum_lanes_step<16>(c);
  sum_lanes_step<8>(c);
  sum_lanes_step<4>(c);
  sum_lanes_step<2>(c);
  sum_lanes_step<1>(c);
  return c[0];
}

// transpose_step swaps columns J apart of each row pair that is J apart.
template <u32 J> DEVICE_INLINE void transpose_step(u32 *a) {
  const u32 m = J == 16 ? 0xffffu : J == 8 ? 0xff00ffu : J == 4 ? 0xf0f0f0fu : J == 2 ? 0x33333333u : 0x55555555u;
#pragma unroll
  for (u32 i = 0; i < 16; i++) {
    const u32 k = (i & (0u - J)) + i; // without bit J
    const u32 t = (a[k] >> J ^ a[k + J]) & m;
    a[k + J] ^= t;
    a[k] ^= t << J;
  }
}

// transpose32 transposes 32 words of 32 bits.
DEVICE_INLINE void transpose32(u32 (&a)[32]) {
  transpose_step<16>(a);
  transpose_step<8>(a);
  transpose_step<4>(a);
  transpose_step<2>(a);
  transpose_step<1>(a);
}
