// The tower of binary fields up to GF(2^128), as in package gf2: an element is four
// words, the lowest bits first. Sums are XOR.
//
// There is no carry-less multiplication on these machines. What there is:
//
//   gf2_mul       one thread, about 1900 instructions: many products at once
//   gf2_mul_warp  one product by a whole warp, about 210 instructions: what the next step
//                 waits for
//   gf2_gram      inner products of long vectors on tensor cores
//
// Blocks of 2h bits of a word, low and high half, are handled all at once: masks and
// shifts stand for the moves between halves.
#pragma once
#include "device/ptx.cuh"

struct gf2 {
  u32 w[4];
};

DEVICE_INLINE gf2 gf2_make(u32 a, u32 b, u32 c, u32 d) {
  gf2 r;
  r.w[0] = a, r.w[1] = b, r.w[2] = c, r.w[3] = d;
  return r;
}
DEVICE_INLINE gf2 gf2_zero() { return gf2_make(0, 0, 0, 0); }
DEVICE_INLINE gf2 gf2_one() { return gf2_make(1, 0, 0, 0); }
// gf2_small is the element whose number is y.
DEVICE_INLINE gf2 gf2_small(u32 y) { return gf2_make(y, 0, 0, 0); }
// gf2_basis is the element with bit i mod 128 only.
DEVICE_INLINE gf2 gf2_basis(u32 i) {
  u32 b = 1u << (i & 31);
  i = i >> 5 & 3;
  return gf2_make(i == 0 ? b : 0, i == 1 ? b : 0, i == 2 ? b : 0, i == 3 ? b : 0);
}

// Memory at multiples of 16 bytes.
DEVICE_INLINE gf2 gf2_load(const u32 *p) {
  uint4 v = *reinterpret_cast<const uint4 *>(p);
  return gf2_make(v.x, v.y, v.z, v.w);
}
// gf2_ldg loads what nothing writes while the kernel runs.
DEVICE_INLINE gf2 gf2_ldg(const u32 *p) {
  uint4 v = ldg(reinterpret_cast<const uint4 *>(p));
  return gf2_make(v.x, v.y, v.z, v.w);
}
DEVICE_INLINE void gf2_store(u32 *p, gf2 a) { *reinterpret_cast<uint4 *>(p) = make_uint4(a.w[0], a.w[1], a.w[2], a.w[3]); }

DEVICE_INLINE gf2 gf2_add(gf2 a, gf2 b) { return gf2_make(a.w[0] ^ b.w[0], a.w[1] ^ b.w[1], a.w[2] ^ b.w[2], a.w[3] ^ b.w[3]); }
DEVICE_INLINE gf2 gf2_and(gf2 a, u32 mask) { return gf2_make(a.w[0] & mask, a.w[1] & mask, a.w[2] & mask, a.w[3] & mask); }
DEVICE_INLINE bool gf2_equal(gf2 a, gf2 b) {
  return ((a.w[0] ^ b.w[0]) | (a.w[1] ^ b.w[1]) | (a.w[2] ^ b.w[2]) | (a.w[3] ^ b.w[3])) == 0;
}

// ---- words of small fields -----------------------------------------------------------

// gf2_low has the low halves of the blocks of 2H bits.
template <u32 H> DEVICE_INLINE u32 gf2_low() {
  return H == 1 ? 0x55555555u : H == 2 ? 0x33333333u : H == 4 ? 0x0f0f0f0fu : H == 8 ? 0x00ff00ffu : 0x0000ffffu;
}
// gf2_select takes low halves from a and high halves from b.
template <u32 H> DEVICE_INLINE u32 gf2_select(u32 a, u32 b) { return lop3<0xe4>(a, b, gf2_low<H>()); }
// gf2_swap exchanges the halves of all blocks.
template <u32 H> DEVICE_INLINE u32 gf2_swap(u32 a) {
  if (H == 16) return byte_permute(a, a, 0x1032);
  if (H == 8) return byte_permute(a, a, 0x2301);
  return gf2_select<H>(a >> H, a << H);
}

// gf2_word_x<H> is the product of every block of 2H bits with its top generator X:
// halves swap, and X' times what was high, X' being the generator below, is added to
// what is high now. X' times everything will do: the other half is masked.
template <u32 H> DEVICE_INLINE u32 gf2_word_x(u32 a);
template <u32 H> DEVICE_INLINE u32 gf2_word_below(u32 a) {
  if constexpr (H == 1) return a;
  else return gf2_word_x<H / 2>(a);
}
template <u32 H> DEVICE_INLINE u32 gf2_word_x(u32 a) { return lop3<0xb4>(gf2_swap<H>(a), gf2_word_below<H>(a), gf2_low<H>()); }

// gf2_word_mul4 is the product of the eight elements of GF(16) of a word each, from all
// 16 products of bits: t, u have those of equal halves, v, w those of different ones.
DEVICE_INLINE u32 gf2_word_mul4(u32 a, u32 b) {
  u32 c = gf2_swap<2>(b);
  u32 t = a & b, u = a & gf2_swap<1>(b), v = a & c, w = a & gf2_swap<1>(c);
  // Products in GF(4) of bits (t0, t1) on the diagonal and (u0, u1) off it.
  u32 p = gf2_select<1>(t ^ t >> 1, u ^ u << 1 ^ t), q = gf2_select<1>(v ^ v >> 1, w ^ w << 1 ^ v);
  return gf2_select<2>(p ^ p >> 2, q ^ q << 2 ^ gf2_word_x<1>(p));
}

// gf2_word_mul8 is the product of the four elements of GF(2^8) of a word each.
DEVICE_INLINE u32 gf2_word_mul8(u32 a, u32 b) {
  u32 t = gf2_word_mul4(a, b), u = gf2_word_mul4(a, gf2_swap<4>(b));
  return gf2_select<4>(t ^ t >> 4, u ^ u << 4 ^ gf2_word_x<2>(t));
}

// gf2_mul16 is a product in GF(2^16) of the low halves of words, of which the high ones
// do not count, as the four products of bytes at once.
DEVICE_INLINE u32 gf2_mul16(u32 a, u32 b) {
  u32 p = gf2_word_mul8(byte_permute(a, a, 0x1010), byte_permute(b, b, 0x0110));
  // bytes: a0 b0, a1 b1, a0 b1, a1 b0; X' = X_2
  u32 equal = p ^ gf2_swap<8>(p);       // low half: a0 b0 + a1 b1, in both bytes
  u32 x = gf2_word_x<4>(p) & 0xff00u;   // X_2 a1 b1
  return (equal & 0xffu) | (((equal >> 16 & 0xff00u) ^ x));
}

// gf2_join<H> makes products of elements of 2H bits: p has the products of low halves and
// of high halves in their places, z the products of sums where high halves are.
template <u32 H> DEVICE_INLINE u32 gf2_join(u32 p, u32 z) {
  return lop3<0xb4>(p ^ gf2_swap<H>(p), gf2_word_below<H>(p) ^ z, gf2_low<H>());
}
// gf2_sums<H> is the sums of halves of a's blocks in low halves and of b's in high ones.
template <u32 H> DEVICE_INLINE u32 gf2_sums(u32 a, u32 b) {
  if (H == 16) return byte_permute(a, b, 0x5410) ^ byte_permute(a, b, 0x7632);
  if (H == 8) return byte_permute(a, b, 0x6240) ^ byte_permute(a, b, 0x7351);
  return gf2_select<H>(a, b << H) ^ gf2_select<H>(a >> H, b);
}

// ---- products with generators and small numbers ----------------------------------------

// gf2_mul_x is a X_J.
template <u32 J> DEVICE_INLINE gf2 gf2_mul_x(gf2 a) {
  static_assert(J < 7, "the generators are X_0 .. X_6");
  if (J == 6) return gf2_make(a.w[2], a.w[3], a.w[0] ^ a.w[3], a.w[1] ^ a.w[2] ^ gf2_word_x<16>(a.w[3]));
  if (J == 5) return gf2_make(a.w[1], a.w[0] ^ gf2_word_x<16>(a.w[1]), a.w[3], a.w[2] ^ gf2_word_x<16>(a.w[3]));
  constexpr u32 h = J < 5 ? 1u << J : 1;
  return gf2_make(gf2_word_x<h>(a.w[0]), gf2_word_x<h>(a.w[1]), gf2_word_x<h>(a.w[2]), gf2_word_x<h>(a.w[3]));
}

// gf2_word_small is the products of a word's elements with the number Y < 8, an element of
// GF(16).
template <u32 Y> DEVICE_INLINE u32 gf2_word_small(u32 a) {
  static_assert(Y < 8, "numbers of three bits");
  u32 r = Y & 1 ? a : 0;
  if (Y & 2) r ^= gf2_word_x<1>(a);
  if (Y & 4) r ^= gf2_word_x<2>(a);
  return r;
}
template <u32 Y> DEVICE_INLINE gf2 gf2_mul_small(gf2 a) {
  return gf2_make(gf2_word_small<Y>(a.w[0]), gf2_word_small<Y>(a.w[1]), gf2_word_small<Y>(a.w[2]), gf2_word_small<Y>(a.w[3]));
}

// ---- one thread ------------------------------------------------------------------------

struct gf2_half {
  u32 w[2];
};

// gf2_half_mul is a product in GF(2^64) by Karatsuba down to 81 products in GF(16), which
// are spread over words so that ten and an eighth of them are full.
DEVICE_CALL gf2_half gf2_half_mul(u32 a0, u32 a1, u32 b0, u32 b1) {
  u32 p[11]; // factors a, then products
  u32 q[11]; // factors b
  // 0, 1, 2: words of X_5 (low, high, sum); 3: the sums of X_4 of 0 and 1; 6: that of 2 in
  // its low half, and above it the sum of X_3 of that. 4: sums of X_3 of 0 and 1, 5: of 2
  // and 3. 7, 8, 9: sums of X_2 of 0 and 1, 2 and 3, 4 and 5; 10: of 6.
#pragma unroll
  for (u32 side = 0; side < 2; side++) {
    u32(&v)[11] = side ? q : p;
    v[0] = side ? b0 : a0;
    v[1] = side ? b1 : a1;
    v[2] = v[0] ^ v[1];
    v[3] = gf2_sums<16>(v[0], v[1]);
    v[4] = gf2_sums<8>(v[0], v[1]);
    v[5] = gf2_sums<8>(v[2], v[3]);
    u32 s = v[2] ^ v[2] >> 16;
    v[6] = byte_permute(s, (s ^ s >> 8) & 0xffu, 0x5410);
    v[7] = gf2_sums<4>(v[0], v[1]);
    v[8] = gf2_sums<4>(v[2], v[3]);
    v[9] = gf2_sums<4>(v[4], v[5]);
    v[10] = (v[6] ^ v[6] >> 4) & 0x0f0f0f0fu;
  }
#pragma unroll
  for (u32 i = 0; i < 11; i++) p[i] = gf2_word_mul4(p[i], q[i]);
#pragma unroll
  for (u32 i = 0; i < 3; i++) {
    u32 z = p[7 + i];
    p[2 * i] = gf2_join<4>(p[2 * i], z << 4);
    p[2 * i + 1] = gf2_join<4>(p[2 * i + 1], z);
  }
  p[6] = gf2_join<4>(p[6], p[10] << 4);
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    u32 z = p[4 + i];
    p[2 * i] = gf2_join<8>(p[2 * i], z << 8);
    p[2 * i + 1] = gf2_join<8>(p[2 * i + 1], z);
  }
  p[6] = gf2_join<8>(p[6], p[6] >> 8);
  p[0] = gf2_join<16>(p[0], p[3] << 16);
  p[1] = gf2_join<16>(p[1], p[3]);
  p[2] = gf2_join<16>(p[2], p[6] << 16);
  gf2_half r;
  r.w[0] = p[0] ^ p[1];
  r.w[1] = p[2] ^ p[0] ^ p[1] ^ gf2_word_x<16>(p[1]);
  return r;
}

// gf2_mul is a b, by one thread.
DEVICE_LARGE gf2 gf2_mul(gf2 a, gf2 b) {
  gf2_half z0 = gf2_half_mul(a.w[0], a.w[1], b.w[0], b.w[1]);
  gf2_half z2 = gf2_half_mul(a.w[2], a.w[3], b.w[2], b.w[3]);
  gf2_half z1 = gf2_half_mul(a.w[0] ^ a.w[2], a.w[1] ^ a.w[3], b.w[0] ^ b.w[2], b.w[1] ^ b.w[3]);
  u32 l0 = z0.w[0] ^ z2.w[0], l1 = z0.w[1] ^ z2.w[1];
  return gf2_make(l0, l1, z1.w[0] ^ l0 ^ z2.w[1], z1.w[1] ^ l1 ^ z2.w[0] ^ gf2_word_x<16>(z2.w[1]));
}

// gf2_word_square_step makes squares of blocks of 2H bits of those of their halves:
// (a0 + a1 X)^2 = a0^2 + a1^2 + a1^2 X' X.
template <u32 H> DEVICE_INLINE u32 gf2_word_square_step(u32 s) {
  return gf2_select<H>(s ^ s >> H, gf2_word_below<H>(s));
}
// gf2_word_square is the square of an element of GF(2^32); that of a bit is the bit.
DEVICE_INLINE u32 gf2_word_square(u32 a) {
  a = gf2_word_square_step<1>(a);
  a = gf2_word_square_step<2>(a);
  a = gf2_word_square_step<4>(a);
  a = gf2_word_square_step<8>(a);
  return gf2_word_square_step<16>(a);
}

// gf2_sqr is a^2.
DEVICE_INLINE gf2 gf2_sqr(gf2 a) {
  u32 s[4];
#pragma unroll
  for (u32 i = 0; i < 4; i++) s[i] = gf2_word_square(a.w[i]);
  // GF(2^64): X' = X_4.
  u32 l0 = s[0] ^ s[1], l1 = gf2_word_x<16>(s[1]), h0 = s[2] ^ s[3], h1 = gf2_word_x<16>(s[3]);
  // GF(2^128): X' = X_5.
  return gf2_make(l0 ^ h0, l1 ^ h1, h1, h0 ^ gf2_word_x<16>(h1));
}

// gf2_inv is 1/a, and 0 for 0: a^(2^128 - 2) by twelve products and 127 squares.
DEVICE_LARGE gf2 gf2_inv(gf2 a) {
  // x is a^(2^k - 1), k = 1, 3, 7, 15, 31, 63, 127: 2k + 1 by a product and squares.
  gf2 x = a;
#pragma unroll 1
  for (u32 k = 1; k < 127; k = 2 * k + 1) {
    gf2 y = x;
#pragma unroll 1
    for (u32 i = 0; i < k; i++) y = gf2_sqr(y);
    x = gf2_mul(gf2_sqr(gf2_mul(x, y)), a);
  }
  return gf2_sqr(x);
}

// ---- a warp --------------------------------------------------------------------------------
//
// Three levels of Karatsuba, X_6, X_5 and X_4, make 27 products in GF(2^16): one a lane.
// Lane 9i + 3j + k has those of the low halves (0), of the sums (1) or of the high halves
// (2), i at X_6, j at X_5, k at X_4. A product z of a lane goes into the result as z times
// a constant of the lane, E = E_6 E_5 E_4: at X, with X' below it, low halves count 1 + X,
// sums X and high halves 1 + X + X X'.

// gf2_lane is a lane's share, as masks.
struct gf2_lane {
  u32 low[3], high[3];  // what goes into its factor, of X_6, X_5, X_4
  u32 one[3], below[3]; // terms 1 and X X' of E
};

DEVICE_INLINE gf2_lane gf2_lane_make() {
  gf2_lane l;
  u32 lane = lane_id(), live = lane < 27 ? FULL_WARP : 0;
  u32 digit[3] = {lane / 9, lane / 3 % 3, lane % 3};
#pragma unroll
  for (u32 i = 0; i < 3; i++) {
    l.low[i] = digit[i] != 2 ? live : 0;
    l.high[i] = digit[i] != 0 ? live : 0;
    l.one[i] = digit[i] != 1 ? FULL_WARP : 0;
    l.below[i] = digit[i] == 2 ? FULL_WARP : 0;
  }
  return l;
}

// gf2_lane_factor is the lane's element of GF(2^16) of a.
DEVICE_INLINE u32 gf2_lane_factor(const gf2_lane &l, gf2 a) {
  u32 u = (a.w[0] & l.low[0]) ^ (a.w[2] & l.high[0]), v = (a.w[1] & l.low[0]) ^ (a.w[3] & l.high[0]);
  u = (u & l.low[1]) ^ (v & l.high[1]);
  return (u & l.low[2]) ^ (u >> 16 & l.high[2]);
}

// gf2_lane_value is the sum over the warp of z E, in all lanes; z has 16 bits, and is 0 in
// the last five lanes.
DEVICE_INLINE gf2 gf2_lane_value(const gf2_lane &l, u32 z) {
  u32 y = (z & l.one[2]) | (z ^ (gf2_word_x<8>(z) & l.below[2])) << 16;
  u32 y1 = y ^ (gf2_word_x<16>(y) & l.below[1]);
  y &= l.one[1];
  u32 h0 = y ^ (y1 & l.below[0]), h1 = y1 ^ ((y ^ gf2_word_x<16>(y1)) & l.below[0]);
  y &= l.one[0], y1 &= l.one[0];
  return gf2_make(warp_xor(y), warp_xor(y1), warp_xor(h0), warp_xor(h1));
}

// gf2_mul_warp is a b where all lanes of a warp bring the same a and b; all get it.
DEVICE_LARGE gf2 gf2_mul_warp(gf2 a, gf2 b) {
  gf2_lane l = gf2_lane_make();
  return gf2_lane_value(l, gf2_mul16(gf2_lane_factor(l, a), gf2_lane_factor(l, b)));
}

// gf2_dot_warp is the sum of N products, likewise.
template <u32 N> DEVICE_LARGE gf2 gf2_dot_warp(const gf2 (&a)[N], const gf2 (&b)[N]) {
  gf2_lane l = gf2_lane_make();
  u32 z = 0;
#pragma unroll
  for (u32 i = 0; i < N; i++) z ^= gf2_mul16(gf2_lane_factor(l, a[i]), gf2_lane_factor(l, b[i]));
  return gf2_lane_value(l, z);
}

// ---- slices --------------------------------------------------------------------------------

// gf2_transpose_warp transposes 32 words of 32 bits, one a lane: bit j of lane i and bit i of
// lane j change places.
DEVICE_INLINE u32 gf2_transpose_warp(u32 v) {
  u32 lane = lane_id();
  u32 o = shfl_xor(v, 16);
  v = lane & 16 ? byte_permute(o, v, 0x7632) : byte_permute(v, o, 0x5410);
  o = shfl_xor(v, 8);
  v = lane & 8 ? byte_permute(o, v, 0x7351) : byte_permute(v, o, 0x6240);
  o = shfl_xor(v, 4);
  v = lane & 4 ? gf2_select<4>(o >> 4, v) : gf2_select<4>(v, o << 4);
  o = shfl_xor(v, 2);
  v = lane & 2 ? gf2_select<2>(o >> 2, v) : gf2_select<2>(v, o << 2);
  o = shfl_xor(v, 1);
  return lane & 1 ? gf2_select<1>(o >> 1, v) : gf2_select<1>(v, o << 1);
}

template <u32 H> DEVICE_INLINE void gf2_transpose_step(u32 (&v)[32]) {
#pragma unroll
  for (u32 i = 0; i < 32; i++)
    if (!(i & H)) {
      u32 a = v[i], b = v[i + H];
      if (H == 16) {
        v[i] = byte_permute(a, b, 0x5410), v[i + H] = byte_permute(a, b, 0x7632);
      } else if (H == 8) {
        v[i] = byte_permute(a, b, 0x6240), v[i + H] = byte_permute(a, b, 0x7351);
      } else {
        v[i] = gf2_select<H>(a, b << H), v[i + H] = gf2_select<H>(a >> H, b);
      }
    }
}
// gf2_transpose transposes 32 words of 32 bits of one thread: bit j of word i and bit i of
// word j change places. 256 instructions.
DEVICE_LARGE void gf2_transpose(u32 (&v)[32]) {
  gf2_transpose_step<16>(v);
  gf2_transpose_step<8>(v);
  gf2_transpose_step<4>(v);
  gf2_transpose_step<2>(v);
  gf2_transpose_step<1>(v);
}

// ---- inner products on tensor cores -------------------------------------------------------
//
// With a_i(x) for bit i of a(x) and e_i for the basis,
//
//   sum over x of a(x) b(x) = sum over i, j of G_ij e_i e_j,  G_ij = sum over x of a_i(x) b_j(x),
//
// where G is a 128 x 128 matrix of bits: the product of the matrix of a's slices with the
// transposed one of b's. mma_b1 counts over 256 x at a time, and the parity is taken at the
// end: half a warp's instruction a product. Row i of G is an element of the field, sum over j
// of G_ij e_j, and what is left is the sum of the rows times e_i.
//
// A block of 256 threads takes 256 x in a step.

// GF2_SLICES is how many words the slices of 256 elements take in shared memory, at a
// multiple of 8 bytes: 8 words a slice, and 8 more after each 32 slices, so that the words
// of a slice and those of slices 32 apart are in different banks.
#define GF2_SLICES (128 * 8 + 4 * 8)

// gf2_slices_put writes the slices of 256 elements, by one warp. Lane 4g + q brings in v[e]
// limb q of element 8e + g: that loads 128 bytes in a row for each e. v is spoiled.
DEVICE_INLINE void gf2_slices_put(u32 *slices, u32 (&v)[32]) {
  gf2_transpose(v);
  u32 q = lane_id() & 3, g = lane_id() >> 2;
#pragma unroll
  for (u32 s = 0; s < 32; s++) slices[(32 * q + s) * 8 + q * 8 + g] = v[s];
}

// gf2_gram is a thread's part of the counts: warp w of the block has rows 32 (w / 2) and the
// 31 after, columns 64 (w % 2) and the 63 after.
struct gf2_gram {
  i32 d[2][8][4];
};

DEVICE_INLINE void gf2_gram_zero(gf2_gram &acc) {
#pragma unroll
  for (u32 i = 0; i < 2; i++)
#pragma unroll
    for (u32 j = 0; j < 8; j++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) acc.d[i][j][k] = 0;
}

DEVICE_INLINE uint2 gf2_slice_words(const u32 *slices, u32 row, u32 t) {
  return *reinterpret_cast<const uint2 *>(slices + row * 8 + (row >> 5) * 8 + 2 * t);
}

// gf2_gram_add adds the products of 256 pairs, by slices of both factors. All of the block
// takes part; barriers between this and the writing of slices are the caller's.
DEVICE_LARGE void gf2_gram_add(gf2_gram &acc, const u32 *a, const u32 *b) {
  u32 g = lane_id() >> 2, t = lane_id() & 3, warp = threadIdx.x >> 5;
  u32 row = 32 * (warp >> 1) + g, column = 64 * (warp & 1) + g;
  u32 fa[2][4];
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    // Which x a bit of a fragment stands for does not matter as long as a and b agree: words
    // 2t and 2t + 1 are the t-th of the first and of the second half.
    uint2 u = gf2_slice_words(a, row + 16 * i, t), v = gf2_slice_words(a, row + 16 * i + 8, t);
    fa[i][0] = u.x, fa[i][1] = v.x, fa[i][2] = u.y, fa[i][3] = v.y;
  }
#pragma unroll
  for (u32 j = 0; j < 8; j++) {
    uint2 u = gf2_slice_words(b, column + 8 * j, t);
    u32 fb[2] = {u.x, u.y};
#pragma unroll
    for (u32 i = 0; i < 2; i++) mma_b1(acc.d[i][j], fa[i], fb);
  }
}

// gf2_gram_put writes the matrix, 128 rows of 4 words; all of the block takes part.
DEVICE_LARGE void gf2_gram_put(u32 *rows, const gf2_gram &acc) {
  u32 g = lane_id() >> 2, t = lane_id() & 3, warp = threadIdx.x >> 5;
#pragma unroll
  for (u32 i = 0; i < 2; i++)
#pragma unroll
    for (u32 half = 0; half < 2; half++)
#pragma unroll
      for (u32 word = 0; word < 2; word++) {
        u32 v = 0;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
          u32 low = (u32)acc.d[i][4 * word + j][2 * half] & 1, high = (u32)acc.d[i][4 * word + j][2 * half + 1] & 1;
          v |= (low | high << 1) << (8 * j);
        }
        v <<= 2 * t;
        v |= shfl_xor(v, 1);
        v |= shfl_xor(v, 2);
        if (t == 0) rows[(32 * (warp >> 1) + 16 * i + 8 * half + g) * 4 + 2 * (warp & 1) + word] = v;
      }
}

// gf2_gram_step adds X_J times what lanes with the bit have to what the others have.
template <u32 J> DEVICE_INLINE gf2 gf2_gram_step(gf2 a, u32 bit) {
  gf2 x = gf2_mul_x<J>(a);
  bool up = lane_id() & bit;
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    u32 v = up ? x.w[i] : a.w[i];
    a.w[i] = v ^ shfl_xor(v, bit);
  }
  return a;
}

// gf2_gram_value is the sum of 128 rows (at a multiple of 16 bytes) times the basis, by one
// warp: all lanes get it. Rows of several blocks may be added before.
DEVICE_LARGE gf2 gf2_gram_value(const u32 *rows) {
  // Lane l has rows l, l + 32, l + 64, l + 96: X_5 and X_6 within it, the others between lanes.
  const u32 *p = rows + 4 * lane_id();
  gf2 a = gf2_add(gf2_load(p), gf2_mul_x<5>(gf2_load(p + 128)));
  gf2 b = gf2_add(gf2_load(p + 256), gf2_mul_x<5>(gf2_load(p + 384)));
  a = gf2_add(a, gf2_mul_x<6>(b));
  a = gf2_gram_step<0>(a, 1);
  a = gf2_gram_step<1>(a, 2);
  a = gf2_gram_step<2>(a, 4);
  a = gf2_gram_step<3>(a, 8);
  return gf2_gram_step<4>(a, 16);
}
