// GF(2^128) in the basis of POLYVAL (RFC 8452): polynomials over GF(2) modulo
// x^128 + x^127 + x^126 + x^121 + 1, in Montgomery form, that is times x^128. An element
// of the tower goes there by a linear map (State's tables). It is the basis for products
// that one thread does alone: the tower has no structure that a multiplier of integers
// could use, polynomials have.
//
// Elements are uint4, their 32-bit limbs from the lowest on.
#pragma once
#include "device/ptx.cuh"

DEVICE_INLINE uint4 pv_zero() { return make_uint4(0, 0, 0, 0); }

// pv_one is x^128 modulo the polynomial.
DEVICE_INLINE uint4 pv_one() { return make_uint4(1, 0, 0, 0xc2000000u); }

DEVICE_INLINE uint4 pv_add(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }

DEVICE_INLINE uint4 pv_add(uint4 a, uint4 b, uint4 c) { return make_uint4(a.x ^ b.x ^ c.x, a.y ^ b.y ^ c.y, a.z ^ b.z ^ c.z, a.w ^ b.w ^ c.w); }

// pv_wide is a product before it is reduced, of 255 bits.
struct pv_wide {
  u32 w[8];
};

DEVICE_INLINE void pv_accumulate(pv_wide &sum, const pv_wide &v) {
#pragma unroll
  for (u32 i = 0; i < 8; i++) sum.w[i] ^= v.w[i];
}

// carryless is the product of two words as polynomials over GF(2). A word is the sum of
// four that keep every fourth bit, for whose integer product the three bits of room
// between two places are enough: place t of 0..14 counts N(t) = 8 - |t - 7| pairs at the
// most. The parities are in the places' lowest bits. Of classes i, j with i + j >= 4 the
// places lie one further, and N(t) + N(t - 1) <= 15: such a product may be added as an
// integer to one with i + j < 4.
DEVICE_INLINE u64 carryless(u32 a, u32 b) {
  const u32 m = 0x11111111u;
  u32 a0 = a & m, a1 = a & m << 1, a2 = a & m << 2, a3 = a & m << 3;
  u32 b0 = b & m, b1 = b & m << 1, b2 = b & m << 2, b3 = b & m << 3;
  u64 s0 = mad_wide(a1, b3, mul_wide(a0, b0)) ^ mul_wide(a2, b2) ^ mul_wide(a3, b1);
  u64 s1 = mad_wide(a2, b3, mul_wide(a0, b1)) ^ mad_wide(a3, b2, mul_wide(a1, b0));
  u64 s2 = mad_wide(a3, b3, mul_wide(a0, b2)) ^ mul_wide(a1, b1) ^ mul_wide(a2, b0);
  u64 s3 = mul_wide(a0, b3) ^ mul_wide(a1, b2) ^ mul_wide(a2, b1) ^ mul_wide(a3, b0);
  const u64 M = 0x1111111111111111ull;
  return (s0 & M) ^ (s1 & M << 1) ^ (s2 & M << 2) ^ (s3 & M << 3);
}

// carryless2 is that of two pairs of words, by Karatsuba's formula.
DEVICE_INLINE void carryless2(u32 (&out)[4], u32 a0, u32 a1, u32 b0, u32 b1) {
  u64 l = carryless(a0, b0), h = carryless(a1, b1), m = carryless(a0 ^ a1, b0 ^ b1) ^ l ^ h;
  out[0] = (u32)l;
  out[1] = (u32)(l >> 32) ^ (u32)m;
  out[2] = (u32)h ^ (u32)(m >> 32);
  out[3] = (u32)(h >> 32);
}

// pv_product is the product of two elements, not reduced.
DEVICE_CALL pv_wide pv_product(uint4 a, uint4 b) {
  u32 l[4], h[4], m[4];
  carryless2(l, a.x, a.y, b.x, b.y);
  carryless2(h, a.z, a.w, b.z, b.w);
  carryless2(m, a.x ^ a.z, a.y ^ a.w, b.x ^ b.z, b.y ^ b.w);
  pv_wide r;
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    m[i] ^= l[i] ^ h[i];
    r.w[i] = l[i];
    r.w[4 + i] = h[i];
  }
#pragma unroll
  for (u32 i = 0; i < 4; i++) r.w[2 + i] ^= m[i];
  return r;
}

// pv_reduce divides by x^128 modulo P = 1 + x^121 + x^126 + x^127 + x^128, as Montgomery
// does: q P has the same lower half as v for q = lower (1 + x^121 + x^126 + x^127).
DEVICE_INLINE uint4 pv_reduce(const pv_wide &v) {
  u32 q0 = v.w[0], q1 = v.w[1], q2 = v.w[2], q3 = v.w[3] ^ q0 << 25 ^ q0 << 30 ^ q0 << 31;
  return make_uint4(v.w[4] ^ q0 ^ funnel_right(q0, q1, 1) ^ funnel_right(q0, q1, 2) ^ funnel_right(q0, q1, 7),
                    v.w[5] ^ q1 ^ funnel_right(q1, q2, 1) ^ funnel_right(q1, q2, 2) ^ funnel_right(q1, q2, 7),
                    v.w[6] ^ q2 ^ funnel_right(q2, q3, 1) ^ funnel_right(q2, q3, 2) ^ funnel_right(q2, q3, 7),
                    v.w[7] ^ q3 ^ q3 >> 1 ^ q3 >> 2 ^ q3 >> 7);
}

DEVICE_INLINE uint4 pv_mul(uint4 a, uint4 b) { return pv_reduce(pv_product(a, b)); }

// spread puts a zero after every bit of the lower half of a word.
DEVICE_INLINE u32 spread(u32 a) {
  a = (a | a << 8) & 0x00ff00ffu;
  a = (a | a << 4) & 0x0f0f0f0fu;
  a = (a | a << 2) & 0x33333333u;
  return (a | a << 1) & 0x55555555u;
}

DEVICE_INLINE uint4 pv_square(uint4 a) {
  const u32 w[4] = {a.x, a.y, a.z, a.w};
  pv_wide s;
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    s.w[2 * i] = spread(w[i] & 0xffffu);
    s.w[2 * i + 1] = spread(w[i] >> 16);
  }
  return pv_reduce(s);
}
