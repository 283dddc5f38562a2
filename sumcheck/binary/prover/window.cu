// The first k rounds of p_1 * p_2 ... p_d, p_1 over GF(2^128) and the rest bits, from
// one pass over p_1 (Thaler, ePrint 2024/1046; here with bits as the second factor).
//
// In each of the window's variables c, p_1 is (1+c) a_0 + c a_1 and B = p_2 ... p_d has
// d coefficients, which over bits are bits. So with u one of the 2^k prefixes of p_1's
// index and e one of the d^k exponents of B, the 2^k d^k sums
//
//     C(u, e) = sum over x of B_e(x) p_1(u, x)
//
// hold all that the k messages need (window_finish.cu). B_e(x) is a bit: a sum is the
// exclusive or of the elements that a mask selects, a product of a matrix of masks by
// one of bit planes over GF(2), for which there is an instruction: mma_b1 counts, and
// the sum is the count's parity.
#include "sumcheck/binary/prover/planes.cuh"

// Of a warp's units, STAGES - 1 are on their way while it works on one.
#define WARPS 4u
#define STAGES 3u

// power is b^e.
DEVICE_INLINE constexpr u32 power(u32 b, u32 e) { return e == 0 ? 1 : b * power(b, e - 1); }

// product_index is the index, in base D + 1, of the exponents that have index e in base D
// plus those with index u in base 2.
template <u32 K, u32 D> DEVICE_INLINE u32 product_index(u32 e, u32 u) {
  u32 r = 0, place = 1;
#pragma unroll
  for (u32 k = 0; k < K; k++) {
    r += (e % D + u % 2) * place;
    e /= D, u /= 2, place *= D + 1;
  }
  return r;
}

// Monomials are the masks of 32 points: word e is the coefficient of the monomial whose
// exponents are e's digits in base D, the first variable's the top digit.
template <u32 K, u32 D> struct Monomials {
  u32 w[power(D, K)];
};

// load reads the words of the 2^K prefixes at one place of a column.
template <u32 K> DEVICE_INLINE void load(u32 (&w)[1 << K], const u32 *__restrict__ column, u64 words, u64 i) {
#pragma unroll
  for (u32 u = 0; u < 1u << K; u++) w[u] = ldg(column + u * words + i);
}

// coefficients takes values on {0,1}^K to coefficients.
template <u32 K> DEVICE_INLINE void coefficients(u32 (&w)[1 << K]) {
#pragma unroll
  for (u32 s = 1; s < 1u << K; s *= 2)
#pragma unroll
    for (u32 u = 0; u < 1u << K; u++)
      if (u & s) w[u] ^= w[u ^ s];
}

// times is the product by a multilinear polynomial.
template <u32 K, u32 D> DEVICE_INLINE Monomials<K, D + 1> times(const Monomials<K, D> &a, const u32 (&b)[1 << K]) {
  Monomials<K, D + 1> r;
#pragma unroll
  for (u32 e = 0; e < power(D + 1, K); e++) r.w[e] = 0;
#pragma unroll
  for (u32 e = 0; e < power(D, K); e++)
#pragma unroll
    for (u32 u = 0; u < 1u << K; u++) {
      const u32 at = product_index<K, D>(e, u);
      r.w[at] = lop3<0x78>(r.w[at], a.w[e], b[u]);
    }
  return r;
}

// times_slices is the product by a multilinear polynomial, by the exponent of the first
// variable: too many words for registers are stored part by part, word e at to[8 e].
template <u32 K, u32 D> DEVICE_INLINE void times_slices(u32 *to, const Monomials<K, D> &a, const u32 (&b)[1 << K]) {
#pragma unroll
  for (u32 top = 0; top <= D; top++) {
    Monomials<K - 1, D + 1> r;
#pragma unroll
    for (u32 e = 0; e < power(D + 1, K - 1); e++) r.w[e] = 0;
#pragma unroll
    for (u32 bit = 0; bit < 2; bit++) // the exponents top - bit and bit
      if (top - bit < D) {
#pragma unroll
        for (u32 e = 0; e < power(D, K - 1); e++)
#pragma unroll
          for (u32 u = 0; u < 1u << (K - 1); u++) {
            const u32 at = product_index<K - 1, D>(e, u);
            r.w[at] = lop3<0x78>(r.w[at], a.w[(top - bit) * power(D, K - 1) + e], b[bit << (K - 1) | u]);
          }
      }
#pragma unroll
    for (u32 e = 0; e < power(D + 1, K - 1); e++) to[8 * (top * power(D + 1, K - 1) + e)] = r.w[e];
  }
}

// store_patterns writes, for each of 32 points, the 2^K bits that the prefixes have
// there, bit u the one of prefix u: bytes for K of at most 3, 16-bit words for 4.
template <u32 K> DEVICE_INLINE void store_patterns(void *pattern, u64 i, const u32 (&w)[1 << K]) {
  if constexpr (K == 4) {
    u32 z[16];
#pragma unroll
    for (int u = 0; u < 16; u++) z[u] = w[u];
    transpose16(z);
    uint4 *to = (uint4 *)pattern + 4 * i;
#pragma unroll
    for (int h = 0; h < 2; h++) { // words of the points 16h + 2q, 16h + 2q + 1
      const u32 s = h ? 0x7632 : 0x5410;
#pragma unroll
      for (int q = 0; q < 8; q += 4)
        to[2 * h + q / 4] = make_uint4(byte_permute(z[2 * q], z[2 * q + 1], s), byte_permute(z[2 * q + 2], z[2 * q + 3], s),
                                       byte_permute(z[2 * q + 4], z[2 * q + 5], s), byte_permute(z[2 * q + 6], z[2 * q + 7], s));
    }
  } else {
    u32 z[8];
#pragma unroll
    for (int u = 0; u < 8; u++) z[u] = u < 1 << K ? w[u < 1 << K ? u : 0] : 0;
    transpose8(z);
    u32 r[8]; // byte b of z[v] is point 8b + v
#pragma unroll
    for (int b = 0; b < 4; b++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const u32 s = b | (4 + b) << 4;
        r[2 * b + h] = byte_permute(byte_permute(z[4 * h], z[4 * h + 1], s), byte_permute(z[4 * h + 2], z[4 * h + 3], s), 0x5410);
      }
    uint4 *to = (uint4 *)pattern + 2 * i;
    to[0] = make_uint4(r[0], r[1], r[2], r[3]);
    to[1] = make_uint4(r[4], r[5], r[6], r[7]);
  }
}

// prepare does 32 points: their masks, in the order in which the pass's lanes take them,
// and their patterns.
template <u32 K, u32 D> DEVICE_INLINE void prepare(u32 *masks, u8 *patterns, const u32 *p2, const u32 *p3, const u32 *p4, const u32 *p5, u64 words, u64 i) {
  const u64 bytes = words * (K == 4 ? 64 : 32); // of one column's patterns
  // Mask 8q + g of points 32(4h + t) .. of a unit is word h of lane 4g + t of group q.
  const u32 groups = (power(D, K) + 7) / 8, t = (u32)i & 3, h = (u32)i >> 2 & 1;
  u32 *to = masks + (i >> 3) * groups * 64 + 2 * t + h;
  Monomials<K, D> all;
  u32 b[1 << K];
  load<K>(b, p2, words, i);
  store_patterns<K>(patterns, i, b);
  coefficients<K>(b);
  Monomials<K, 2> m2;
#pragma unroll
  for (u32 u = 0; u < 1u << K; u++) m2.w[u] = b[u];
  if constexpr (D == 2) {
    all = m2;
  } else {
    load<K>(b, p3, words, i);
    store_patterns<K>(patterns + bytes, i, b);
    coefficients<K>(b);
    Monomials<K, 3> m3 = times<K, 2>(m2, b);
    if constexpr (D == 3) {
      all = m3;
    } else {
      load<K>(b, p4, words, i);
      store_patterns<K>(patterns + 2 * bytes, i, b);
      coefficients<K>(b);
      if constexpr (K == 4) {
        times_slices<K, 3>(to, m3, b);
      } else {
        Monomials<K, 4> m4 = times<K, 3>(m3, b);
        if constexpr (D == 4) {
          all = m4;
        } else {
          load<K>(b, p5, words, i);
          store_patterns<K>(patterns + 3 * bytes, i, b);
          coefficients<K>(b);
          all = times<K, 4>(m4, b);
        }
      }
    }
  }
  if constexpr (K < 4 || D < 4) {
#pragma unroll
    for (u32 e = 0; e < 8 * groups; e++) to[8 * e] = e < power(D, K) ? all.w[e < power(D, K) ? e : 0] : 0;
  }
}

// clear sets the sums of the pass to zero.
DEVICE_INLINE void clear(u32 *sums, u32 count) {
  for (u32 i = blockIdx.x * 128 + threadIdx.x; i < count; i += gridDim.x * 128) sums[i] = 0;
}

// binary_window_masks_kK_dD: a thread for each word of a prefix's points, of which there
// are `words`, with the columns of p_2, p_3, ...
extern "C" __global__ void __launch_bounds__(128) binary_window_masks_k4_d2(u32 *masks, u8 *patterns, u32 *sums, u32 count, u64 words, const u32 *__restrict__ p2) {
  u64 i = (u64)blockIdx.x * 128 + threadIdx.x;
  clear(sums, count);
  if (i < words) prepare<4, 2>(masks, patterns, p2, nullptr, nullptr, nullptr, words, i);
}

extern "C" __global__ void __launch_bounds__(128) binary_window_masks_k4_d3(u32 *masks, u8 *patterns, u32 *sums, u32 count, u64 words, const u32 *__restrict__ p2, const u32 *__restrict__ p3) {
  u64 i = (u64)blockIdx.x * 128 + threadIdx.x;
  clear(sums, count);
  if (i < words) prepare<4, 3>(masks, patterns, p2, p3, nullptr, nullptr, words, i);
}

extern "C" __global__ void __launch_bounds__(128) binary_window_masks_k3_d4(u32 *masks, u8 *patterns, u32 *sums, u32 count, u64 words, const u32 *__restrict__ p2, const u32 *__restrict__ p3, const u32 *__restrict__ p4) {
  u64 i = (u64)blockIdx.x * 128 + threadIdx.x;
  clear(sums, count);
  if (i < words) prepare<3, 4>(masks, patterns, p2, p3, p4, nullptr, words, i);
}

extern "C" __global__ void __launch_bounds__(128) binary_window_masks_k4_d4(u32 *masks, u8 *patterns, u32 *sums, u32 count, u64 words, const u32 *__restrict__ p2, const u32 *__restrict__ p3, const u32 *__restrict__ p4) {
  u64 i = (u64)blockIdx.x * 128 + threadIdx.x;
  clear(sums, count);
  if (i < words) prepare<4, 4>(masks, patterns, p2, p3, p4, nullptr, words, i);
}

extern "C" __global__ void __launch_bounds__(128) binary_window_masks_k3_d5(u32 *masks, u8 *patterns, u32 *sums, u32 count, u64 words, const u32 *__restrict__ p2, const u32 *__restrict__ p3, const u32 *__restrict__ p4, const u32 *__restrict__ p5) {
  u64 i = (u64)blockIdx.x * 128 + threadIdx.x;
  clear(sums, count);
  if (i < words) prepare<3, 5>(masks, patterns, p2, p3, p4, p5, words, i);
}

// binary_window_pass adds to sums[row][8 groups], elements, the sums of the elements that
// the masks select. Warps take units in turn; row is one of 2^rows prefixes, whose
// `units` units of p_1 follow each other. With `period`, row is a stretch of that many
// units of masks, and the elements are the same `period` units for every row: there are
// 2^rows warps then.
extern "C" __global__ void __launch_bounds__(128, 4) binary_window_pass(u32 *sums, const uint4 *__restrict__ p1, const uint2 *__restrict__ masks, u32 groups, u32 rows,
                                                                      u32 units, u32 period) {
  SHARED_DYNAMIC(uint4, shared);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint4 *stage = shared + warp * STAGES * UNIT;
  u32 *parity = (u32 *)(shared + WARPS * STAGES * UNIT) + warp * groups * 32 + lane;
  const u32 id = blockIdx.x * WARPS + warp;
  const u32 row = period ? id : id & ((1u << rows) - 1);
  if (row >= 1u << rows) return;
  const u32 first = period ? row * period : id >> rows, step = period ? 1 : gridDim.x * WARPS >> rows, end = period ? first + period : units;
  const uint4 *from = p1 + (period ? 0 : (u64)row * units * UNIT);
  const u32 base = period ? first : 0; // the unit of the first element
  for (u32 i = 0; i < groups; i++) parity[32 * i] = 0;

  u32 ahead = first;
#pragma unroll
  for (u32 s = 0; s < STAGES - 1; s++) {
    if (ahead < end) fetch(stage + s * UNIT, from + (u64)(ahead - base) * UNIT, lane);
    copy_async_commit();
    ahead += step;
  }
  u32 at = 0;
#pragma unroll 1
  for (u32 unit = first; unit < end; unit += step) {
    copy_async_wait<STAGES - 2>();
    __syncwarp();
    if (ahead < end) fetch(stage + (at == 0 ? STAGES - 1 : at - 1) * UNIT, from + (u64)(ahead - base) * UNIT, lane);
    copy_async_commit();
    ahead += step;
    const uint2 *mask = masks + (u64)unit * groups * 32 + lane;
    uint2 next = ldg(mask);
    u32 lower[16], upper[16];
    planes<0>(lower, (const u32 *)(stage + at * UNIT), lane);
    planes<1>(upper, (const u32 *)(stage + at * UNIT), lane);
    at = at == STAGES - 1 ? 0 : at + 1;
#pragma unroll 1
    for (u32 i = 0; i < groups; i++) {
      const u32 b[2] = {next.x, next.y};
      if (i + 1 < groups) next = ldg(mask + 32 * (i + 1));
      u32 p = parity[32 * i];
      p = count(p, lower, upper, b);
      parity[32 * i] = p;
    }
  }
  copy_async_wait<0>();

  u32 *to = sums + (u64)row * 8 * groups * 4 + sum_word(lane);
#pragma unroll 1
  for (u32 i = 0; i < groups; i++) {
    u32 p = whole_limb(parity[32 * i], lane);
    if (period) to[32 * i] = p;
    else atomicXor(to + 32 * i, p);
  }
}
