// GF(2^128) in POLYVAL's basis, as Polyval of package gf2: polynomials modulo x^128 +
// x^127 + x^126 + x^121 + 1, times x^128, so that a product is that of the polynomials
// times x^-128. It costs a fifth of one in the tower's basis, and converting takes 32
// look-ups: for work of many products on the same elements.
#pragma once
#include "field/gf2/gf2.cuh"

struct polyval {
  u32 w[4];
};

DEVICE_INLINE polyval polyval_make(u32 a, u32 b, u32 c, u32 d) {
  polyval r;
  r.w[0] = a, r.w[1] = b, r.w[2] = c, r.w[3] = d;
  return r;
}
DEVICE_INLINE polyval polyval_zero() { return polyval_make(0, 0, 0, 0); }
// polyval_one is x^128.
DEVICE_INLINE polyval polyval_one() { return polyval_make(1, 0, 0, 0xc2000000u); }

// Memory at multiples of 16 bytes; polyval_ldg is of what nothing writes meanwhile.
DEVICE_INLINE polyval polyval_load(const u32 *p) {
  uint4 v = *reinterpret_cast<const uint4 *>(p);
  return polyval_make(v.x, v.y, v.z, v.w);
}
DEVICE_INLINE polyval polyval_ldg(const u32 *p) {
  uint4 v = ldg(reinterpret_cast<const uint4 *>(p));
  return polyval_make(v.x, v.y, v.z, v.w);
}
DEVICE_INLINE void polyval_store(u32 *p, polyval a) { *reinterpret_cast<uint4 *>(p) = make_uint4(a.w[0], a.w[1], a.w[2], a.w[3]); }

DEVICE_INLINE polyval polyval_add(polyval a, polyval b) {
  return polyval_make(a.w[0] ^ b.w[0], a.w[1] ^ b.w[1], a.w[2] ^ b.w[2], a.w[3] ^ b.w[3]);
}
DEVICE_INLINE polyval polyval_and(polyval a, u32 mask) { return polyval_make(a.w[0] & mask, a.w[1] & mask, a.w[2] & mask, a.w[3] & mask); }

// polyval_xor3 is a ^ b ^ c.
DEVICE_INLINE u32 polyval_xor3(u32 a, u32 b, u32 c) { return lop3<0x96>(a, b, c); }

// polyval_word_mul is the carry-less product of two words. Bits are taken apart by their
// places modulo 4, in x_i and y_j: of the product x_i y_j, at most min(t + 1, 15 - t) bits
// meet in the t-th place of class i + j modulo 4, and their number has four bits until the
// next. The lowest of them is their sum. Where i + j > 3 places are one higher, and one
// such product may be added to one of the others: their numbers make 15 at most.
DEVICE_INLINE void polyval_word_mul(u32 &lo, u32 &hi, u32 a, u32 b) {
  u32 x[4], y[4], l[4], h[4];
#pragma unroll
  for (u32 i = 0; i < 4; i++) x[i] = a & 0x11111111u << i, y[i] = b & 0x11111111u << i;
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    // Pairs (i, k - i) below k + 1 and (3 - i, k + 1 + i) above: as many sums as there can be.
    u64 p[4];
    u32 low = k + 1, high = 3 - k, terms = low > high ? low : high;
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      if (i >= terms) p[i] = 0;
      else if (i >= low) p[i] = mul_wide(x[3 - i], y[k + 1 + i]);
      else if (i >= high) p[i] = mul_wide(x[i], y[k - i]);
      else p[i] = mad_wide(x[3 - i], y[k + 1 + i], mul_wide(x[i], y[k - i]));
    }
    l[k] = (u32)p[0] ^ (u32)p[1] ^ (u32)p[2] ^ (u32)p[3];
    h[k] = (u32)(p[0] >> 32) ^ (u32)(p[1] >> 32) ^ (u32)(p[2] >> 32) ^ (u32)(p[3] >> 32);
  }
  lo = gf2_select<2>(gf2_select<1>(l[0], l[1]), gf2_select<1>(l[2], l[3]));
  hi = gf2_select<2>(gf2_select<1>(h[0], h[1]), gf2_select<1>(h[2], h[3]));
}

// polyval_half_mul is the carry-less product of two pairs of words, by Karatsuba.
DEVICE_INLINE void polyval_half_mul(u32 (&c)[4], u32 a0, u32 a1, u32 b0, u32 b1) {
  u32 l0, l1, h0, h1, m0, m1;
  polyval_word_mul(l0, l1, a0, b0);
  polyval_word_mul(h0, h1, a1, b1);
  polyval_word_mul(m0, m1, a0 ^ a1, b0 ^ b1);
  u32 t = l1 ^ h0;
  c[0] = l0;
  c[1] = polyval_xor3(t, m0, l0);
  c[2] = polyval_xor3(t, m1, h1);
  c[3] = h1;
}

// polyval_reduce is the polynomial of 256 bits times x^-128: the lowest word goes when that
// word times the field's polynomial is added, four times.
DEVICE_INLINE polyval polyval_reduce(u32 (&c)[8]) {
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    u32 v = c[i];
    c[i + 3] = polyval_xor3(c[i + 3], v << 25, polyval_xor3(v << 30, v << 31, 0));
    c[i + 4] = polyval_xor3(polyval_xor3(c[i + 4], v, v >> 1), v >> 2, v >> 7);
  }
  return polyval_make(c[4], c[5], c[6], c[7]);
}

// polyval_mul is a b: 144 products of words and about 300 other instructions.
DEVICE_LARGE polyval polyval_mul(polyval a, polyval b) {
  u32 l[4], h[4], m[4];
  polyval_half_mul(l, a.w[0], a.w[1], b.w[0], b.w[1]);
  polyval_half_mul(h, a.w[2], a.w[3], b.w[2], b.w[3]);
  polyval_half_mul(m, a.w[0] ^ a.w[2], a.w[1] ^ a.w[3], b.w[0] ^ b.w[2], b.w[1] ^ b.w[3]);
  u32 t0 = l[2] ^ h[0], t1 = l[3] ^ h[1];
  u32 c[8] = {l[0], l[1], polyval_xor3(t0, m[0], l[0]), polyval_xor3(t1, m[1], l[1]),
              polyval_xor3(t0, m[2], h[2]), polyval_xor3(t1, m[3], h[3]), h[2], h[3]};
  return polyval_reduce(c);
}

// polyval_spread is the bits of half a word with zeros between them.
DEVICE_INLINE u32 polyval_spread(u32 a) {
  a = (a | a << 8) & 0x00ff00ffu;
  a = (a | a << 4) & 0x0f0f0f0fu;
  a = (a | a << 2) & 0x33333333u;
  return (a | a << 1) & 0x55555555u;
}

// polyval_sqr is a^2.
DEVICE_INLINE polyval polyval_sqr(polyval a) {
  u32 c[8];
#pragma unroll
  for (u32 i = 0; i < 4; i++) c[2 * i] = polyval_spread(a.w[i] & 0xffffu), c[2 * i + 1] = polyval_spread(a.w[i] >> 16);
  return polyval_reduce(c);
}

// polyval_look adds up the values of a linear map at all nibbles of an element: table[i][v],
// 32 by 16 elements of four words, is the value at v << 4i.
DEVICE_INLINE uint4 polyval_look(const u32 *table, const u32 (&w)[4]) {
  uint4 s = make_uint4(0, 0, 0, 0);
#pragma unroll
  for (u32 i = 0; i < 32; i++) {
    uint4 v = *reinterpret_cast<const uint4 *>(table + 64 * i + 4 * (w[i >> 3] >> (4 * (i & 7)) & 15));
    s.x ^= v.x, s.y ^= v.y, s.z ^= v.z, s.w ^= v.w;
  }
  return s;
}

// polyval_from and polyval_to convert from the tower's basis and to it. to and from are what
// gf2.PolyvalTables returns, 2048 words each at multiples of 16 bytes; shared memory is best.
DEVICE_LARGE polyval polyval_from(const u32 *to, gf2 a) {
  uint4 v = polyval_look(to, a.w);
  return polyval_make(v.x, v.y, v.z, v.w);
}
DEVICE_LARGE gf2 polyval_to(const u32 *from, polyval a) {
  uint4 v = polyval_look(from, a.w);
  return gf2_make(v.x, v.y, v.z, v.w);
}
