// The weights of queried points: w[b] += sum_j gamma^(first + j) omega^(I_j b), where
// omega generates the 2^n-th roots of unity.
#pragma once

// Directly: with b = h 2^low + l the term is a factor that depends on j and h times
// one that depends on j and l.
#define POINT_ROWS 4u // rows of 2^low entries that a thread adds up

// point_tables: columns[j 2^low + l] = omega^(I_j l) and rows[j 2^high + h] =
// gamma^(first + j) omega^(I_j 2^low h).
DEVICE_INLINE void point_tables(u32 *__restrict__ columns, u32 *__restrict__ rows, const u32 *__restrict__ indices, const u32 *__restrict__ gamma, u32 first,
                                sym omega, u32 n, u32 low, u32 high) {
  u32 j = blockIdx.y, mask = n == 32 ? ~0u : (1u << n) - 1, index = indices[j];
  u32 x = blockIdx.x * WHIR_THREADS + threadIdx.x;
  if (x < 1u << low) {
    sym_store(columns, ((u64)j << low) + x, whir_sym_power(omega, index * x & mask));
  } else if (x - (1u << low) < 1u << high) {
    u32 h = x - (1u << low);
    ext g = whir_power(ext_load(gamma, 0), (u64)first + j);
    ext_store(rows, ((u64)j << high) + h, ext_mul_sym(g, whir_sym_power(omega, (index << low) * h & mask)));
  }
}

// point_sums: block (x, y) has columns [256 x, 256 x + 256) of rows [4 y, 4 y + 4) of
// w's matrix with 2^low columns; rows of 2^high in all.
DEVICE_INLINE void point_sums(u32 *__restrict__ w, const u32 *__restrict__ columns, const u32 *__restrict__ rows, u32 count, u32 low, u32 high) {
  const u32 chunk = 64;
  __shared__ ext factors[chunk][POINT_ROWS];
  u32 l = blockIdx.x * WHIR_THREADS + threadIdx.x, first = blockIdx.y * POINT_ROWS;
  u32 mine = (1u << high) - first < POINT_ROWS ? (1u << high) - first : POINT_ROWS;
  bool there = l < 1u << low;
  ext_acc acc[POINT_ROWS];
#pragma unroll
  for (u32 r = 0; r < POINT_ROWS; r++) acc[r] = acc_zero();
#pragma unroll 1
  for (u32 from = 0; from < count; from += chunk) {
    u32 n = count - from < chunk ? count - from : chunk;
    __syncthreads();
    for (u32 i = threadIdx.x; i < n * POINT_ROWS; i += WHIR_THREADS) {
      u32 r = i % POINT_ROWS, j = i / POINT_ROWS;
      factors[j][r] = r < mine ? ext_load(rows, ((u64)(from + j) << high) + first + r) : ext_zero();
    }
    __syncthreads();
    if (there)
#pragma unroll 2
      for (u32 j = 0; j < n; j++) {
        sym x = sym_load(columns, ((u64)(from + j) << low) + l);
#pragma unroll
        for (u32 r = 0; r < POINT_ROWS; r++) acc_mul_sym(acc[r], factors[j][r], x);
      }
  }
  if (!there) return;
#pragma unroll
  for (u32 r = 0; r < POINT_ROWS; r++)
    if (r < mine) {
      u64 b = ((u64)(first + r) << low) + l;
      ext_store(w, b, ext_add(ext_load(w, b), acc_value(acc[r])));
    }
}
