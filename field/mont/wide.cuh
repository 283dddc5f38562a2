// Products of numbers of N words, N even, to 2N words: rows of carries, one level of
// Karatsuba's method, and squares.
//
// The low and high halves of all words of a times one word of b overlap. Those of every
// other word do not: they are one chain of carries over a row of words, in which the
// assembler makes one instruction of a product's two halves (IMAD.WIDE.U32.X). Two
// rows, the second standing one word higher, hold the whole sum.
#pragma once
#include "device/ptx.cuh"

// row_start sets the row to b times every other one of a's first n words.
template <u32 n> DEVICE_INLINE void row_start(u32 *row, const u32 *a, u32 b) {
#pragma unroll
  for (u32 j = 0; j < n; j += 2) {
    const u64 t = mul_wide(a[j], b);
    row[j] = (u32)t;
    row[j + 1] = (u32)(t >> 32);
  }
}

// row_add adds b times every other one of a's first n words to the row, and leaves the
// carry out of its n words.
template <u32 n> DEVICE_INLINE void row_add(u32 *row, const u32 *a, u32 b) {
  row[0] = mad_lo_cc(a[0], b, row[0]);
  row[1] = madc_hi_cc(a[0], b, row[1]);
#pragma unroll
  for (u32 j = 2; j < n; j += 2) {
    row[j] = madc_lo_cc(a[j], b, row[j]);
    row[j + 1] = madc_hi_cc(a[j], b, row[j + 1]);
  }
}

// row_top is the same where the two top words of the row are new: a carry of an earlier
// row is all that the lower of them holds, if carry is set. There is no carry out.
template <u32 n, bool carry> DEVICE_INLINE void row_top(u32 *row, const u32 *a, u32 b) {
  if (n > 2) row_add<(n > 2 ? n - 2 : 2)>(row, a, b);
  const u32 low = carry ? row[n - 2] : 0;
  row[n - 2] = n > 2 ? madc_lo_cc(a[n - 2], b, low) : mad_lo_cc(a[n - 2], b, low);
  row[n - 1] = madc_hi(a[n - 2], b, 0u);
}

// rows_merge is the sum of two rows of 2N words, odd standing one word higher and its
// top word unused.
template <u32 N> DEVICE_INLINE void rows_merge(u32 *to, const u32 *even, const u32 *odd) {
  to[0] = even[0];
  to[1] = add_cc(even[1], odd[0]);
#pragma unroll
  for (u32 j = 2; j < 2 * N - 1; j++) to[j] = addc_cc(even[j], odd[j - 1]);
  to[2 * N - 1] = addc(even[2 * N - 1], odd[2 * N - 2]);
}

// mul_rows is a b by N² products of words.
template <u32 N> DEVICE_INLINE void mul_rows(u32 *to, const u32 *a, const u32 *b) {
  u32 even[2 * N], odd[2 * N];
  row_start<N>(even, a, b[0]);
  row_start<N>(odd, a + 1, b[0]);
#pragma unroll
  for (u32 i = 1; i < N; i += 2) {
    if (i == 1)
      row_top<N, false>(even + i + 1, a + 1, b[i]);
    else
      row_top<N, true>(even + i + 1, a + 1, b[i]);
    row_add<N>(odd + i - 1, a, b[i]);
    odd[i + N - 1] = addc(0u, 0u);
    if (i + 1 < N) {
      row_add<N>(even + i + 1, a, b[i + 1]);
      even[i + 1 + N] = addc(0u, 0u);
      row_top<N, true>(odd + i + 1, a + 1, b[i + 1]);
    }
  }
  rows_merge<N>(to, even, odd);
}

// SquareRow is row i of a square: a's word i times itself and twice the words above it.
template <u32 N, u32 i> struct SquareRow {
  static __device__ __forceinline__ void add(u32 *even, u32 *odd, const u32 *a, const u32 *twice) {
    // Twice the word next to it is without the bit that comes from itself.
    u32 v[N];
#pragma unroll
    for (u32 j = i; j < N; j++) v[j] = j == i ? a[j] : j == i + 1 ? a[j] << 1 : twice[j];
    if (i == 0) {
      row_start<N>(even, v, a[0]);
      row_start<N>(odd, v + 1, a[0]);
    } else if (i % 2 == 1) {
      constexpr u32 n = N - i; // words from i on, an odd number
      row_top<n + 1, (i > 1)>(even + 2 * i, v + i, a[i]);
      if (n > 1) {
        row_add<(n > 1 ? n - 1 : 2)>(odd + 2 * i, v + i + 1, a[i]);
        odd[i + N - 1] = addc(0u, 0u);
      }
    } else {
      constexpr u32 n = N - i;
      row_add<n>(even + 2 * i, v + i, a[i]);
      even[i + N] = addc(0u, 0u);
      row_top<n, true>(odd + 2 * i, v + i + 1, a[i]);
    }
    SquareRow<N, i + 1>::add(even, odd, a, twice);
  }
};
template <u32 N> struct SquareRow<N, N> {
  static __device__ __forceinline__ void add(u32 *, u32 *, const u32 *, const u32 *) {}
};

// sqr_rows is a a by N(N+1)/2 products of words; a's top bit is not used.
template <u32 N> DEVICE_INLINE void sqr_rows(u32 *to, const u32 *a) {
  u32 even[2 * N], odd[2 * N], twice[N];
  twice[0] = a[0] << 1;
#pragma unroll
  for (u32 j = 1; j < N; j++) twice[j] = funnel_left(a[j - 1], a[j], 1);
  odd[2 * N - 2] = 0;
  SquareRow<N, 0>::add(even, odd, a, twice);
  rows_merge<N>(to, even, odd);
}

// WideLevels multiplies by Karatsuba's method, that many times over.
template <u32 N, u32 levels> struct WideLevels {
  enum : u32 { H = N / 2 };

  // to = z0 + z2 2^(64H) + (z0 + z2 - d) 2^(32H) for the products z0, z2 of the low and
  // the high halves and that of the halves' differences, d, which is a number of
  // 2H words, those of da db, less da above the words where db is negative, and db where
  // da is.
  static __device__ __forceinline__ void combine(u32 *to, const u32 *d, const u32 *da, u32 sa, const u32 *db, u32 sb) {
    u32 t[N + 1];
    t[0] = add_cc(to[0], to[N]);
#pragma unroll
    for (u32 j = 1; j < N; j++) t[j] = addc_cc(to[j], to[N + j]);
    t[N] = addc(0u, 0u);
    t[0] = sub_cc(t[0], d[0]);
#pragma unroll
    for (u32 j = 1; j < N; j++) t[j] = subc_cc(t[j], d[j]);
    t[N] = subc(t[N], 0u);
    t[H] = add_cc(t[H], da[0] & sb);
#pragma unroll
    for (u32 j = 1; j < H; j++) t[H + j] = addc_cc(t[H + j], da[j] & sb);
    t[N] = addc(t[N], 0u);
    t[H] = add_cc(t[H], db[0] & sa);
#pragma unroll
    for (u32 j = 1; j < H; j++) t[H + j] = addc_cc(t[H + j], db[j] & sa);
    t[N] = addc(t[N], sa & sb); // both masks: -1
    to[H] = add_cc(to[H], t[0]);
#pragma unroll
    for (u32 j = 1; j <= N; j++) to[H + j] = addc_cc(to[H + j], t[j]);
#pragma unroll
    for (u32 j = N + H + 1; j < 2 * N - 1; j++) to[j] = addc_cc(to[j], 0u);
    to[2 * N - 1] = addc(to[2 * N - 1], 0u);
  }

  // halves is the difference of a's halves, low less high, and a mask if it is negative.
  static __device__ __forceinline__ u32 halves(u32 *d, const u32 *a) {
    d[0] = sub_cc(a[0], a[H]);
#pragma unroll
    for (u32 j = 1; j < H; j++) d[j] = subc_cc(a[j], a[H + j]);
    return subc(0u, 0u);
  }

  static __device__ __forceinline__ void mul(u32 *to, const u32 *a, const u32 *b) {
    u32 da[H], db[H], d[N];
    const u32 sa = halves(da, a), sb = halves(db, b);
    WideLevels<H, levels - 1>::mul(to, a, b);
    WideLevels<H, levels - 1>::mul(to + N, a + H, b + H);
    WideLevels<H, levels - 1>::mul(d, da, db);
    combine(to, d, da, sa, db, sb);
  }
};
template <u32 N> struct WideLevels<N, 0> {
  static __device__ __forceinline__ void mul(u32 *to, const u32 *a, const u32 *b) { mul_rows<N>(to, a, b); }
};
