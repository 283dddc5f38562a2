// The weights of many queried points, as a transform: what points.cuh adds up
// directly is the transform of a vector that has gamma^(first + j) at I_j, and one
// pass makes it. With I = 256 a + i and b = h 2^low + l, low = n - 8,
//
//	sum_j c_j omega^(I_j b) = sum_i (omega^(2^low))^(i h) y_i[l],  y_i[l] = sum_(I_j = i mod 256) c_j omega^(I_j l):
//
// a column l has no more than 256 values y_i, which are made on the spot from the few
// points of each class i, and one transform of length 256 takes them to its entries.
#pragma once

#define TRANSFORM 256u
#define TRANSFORM_COLUMNS 8u                                          // of a block
#define TRANSFORM_STRIDE (TRANSFORM + 1u)                             // between columns in shared memory
#define TRANSFORM_WORDS (TRANSFORM_COLUMNS * TRANSFORM_STRIDE * EXT_WORDS) // of shared memory

// point_terms: coeffs[j] = gamma^(first + j) and powers[j] = omega^(I_j).
DEVICE_INLINE void point_terms(u32 *__restrict__ coeffs, u32 *__restrict__ powers, const u32 *__restrict__ indices, const u32 *__restrict__ gamma, u32 first,
                               sym omega, u32 count) {
  u32 j = blockIdx.x * WHIR_THREADS + threadIdx.x;
  if (j >= count) return;
  ext_store(coeffs, j, whir_power(ext_load(gamma, 0), (u64)first + j));
  sym_store(powers, j, whir_sym_power(omega, indices[j]));
}

// Terms are 256 points at a time, in lists by their class.
struct Terms {
  ext term[WHIR_THREADS]; // the coefficient, for the block's first column
  sym power[WHIR_THREADS];
  u32 next[WHIR_THREADS], head[TRANSFORM]; // 1 more than the place, 0 for none
};

// transform_rows adds up row threadIdx.x in the block's columns, from `column` on.
DEVICE_INLINE void transform_rows(ext *acc, Terms *s, const u32 *__restrict__ coeffs, const u32 *__restrict__ powers, const u32 *__restrict__ indices, u32 count,
                                  u32 column) {
  for (u32 c = 0; c < TRANSFORM_COLUMNS; c++) acc[c] = ext_zero();
#pragma unroll 1
  for (u32 from = 0; from < count; from += WHIR_THREADS) {
    u32 j = from + threadIdx.x;
    __syncthreads();
    s->head[threadIdx.x] = 0;
    __syncthreads();
    if (j < count) {
      sym x = sym_load(powers, j);
      s->power[threadIdx.x] = x;
      s->term[threadIdx.x] = ext_mul_sym(ext_load(coeffs, j), whir_sym_power(x, column));
      s->next[threadIdx.x] = atomicExch(&s->head[indices[j] % TRANSFORM], threadIdx.x + 1);
    }
    __syncthreads();
    for (u32 at = s->head[threadIdx.x]; at != 0; at = s->next[at - 1]) {
      ext v = s->term[at - 1];
      sym x = s->power[at - 1];
#pragma unroll
      for (u32 c = 0; c < TRANSFORM_COLUMNS; c++) {
        acc[c] = ext_add(acc[c], v);
        v = ext_mul_sym(v, x);
      }
    }
  }
  __syncthreads();
}

// point_transform adds the sums of the columns [8 blockIdx.x, 8 blockIdx.x + 8) to the
// entries of w's first `rows` rows. omega generates the 256th roots of unity.
DEVICE_INLINE void point_transform(u32 *__restrict__ w, const u32 *__restrict__ coeffs, const u32 *__restrict__ powers, const u32 *__restrict__ indices,
                                   u32 count, sym omega, u32 low, u32 rows) {
  __shared__ uint4 aligned[(TRANSFORM_WORDS + 3) / 4];
  __shared__ sym roots[TRANSFORM];
  roots[threadIdx.x] = whir_sym_power(omega, threadIdx.x);
  u32 column = blockIdx.x * TRANSFORM_COLUMNS, *memory = reinterpret_cast<u32 *>(aligned);
  ext acc[TRANSFORM_COLUMNS];
  transform_rows(acc, reinterpret_cast<Terms *>(memory), coeffs, powers, indices, count, column);
#pragma unroll
  for (u32 c = 0; c < TRANSFORM_COLUMNS; c++) ext_store(memory, c * TRANSFORM_STRIDE + threadIdx.x, acc[c]);
  // Four passes of butterflies of length 4; the results come in the order of the
  // rows' reversed digits.
#pragma unroll 1
  for (u32 log = 6; log < 8; log -= 2) {
    u32 quarter = 1u << log;
    __syncthreads();
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
      u32 i = threadIdx.x + half * WHIR_THREADS, k = i & (quarter - 1), group = i % (TRANSFORM / 4) >> log, c = i / (TRANSFORM / 4);
      u32 at = c * TRANSFORM_STRIDE + group * 4 * quarter + k, step = TRANSFORM / 4 >> log;
      ext a0 = ext_load(memory, at), a1 = ext_load(memory, at + quarter), a2 = ext_load(memory, at + 2 * quarter), a3 = ext_load(memory, at + 3 * quarter);
      ext s02 = ext_add(a0, a2), d02 = ext_sub(a0, a2), s13 = ext_add(a1, a3), d13 = ext_mul_sym(ext_sub(a1, a3), roots[TRANSFORM / 4]);
      ext_store(memory, at, ext_add(s02, s13));
      ext_store(memory, at + quarter, ext_mul_sym(ext_add(d02, d13), roots[k * step]));
      ext_store(memory, at + 2 * quarter, ext_mul_sym(ext_sub(s02, s13), roots[2 * k * step]));
      ext_store(memory, at + 3 * quarter, ext_mul_sym(ext_sub(d02, d13), roots[3 * k * step]));
    }
  }
  __syncthreads();
  u32 c = threadIdx.x % TRANSFORM_COLUMNS;
#pragma unroll 4
  for (u32 h = threadIdx.x / TRANSFORM_COLUMNS; h < rows; h += WHIR_THREADS / TRANSFORM_COLUMNS) {
    u32 digits = (h & 3) << 6 | (h & 12) << 2 | (h & 48) >> 2 | h >> 6;
    u64 b = ((u64)h << low) + column + c;
    ext_store(w, b, ext_add(ext_load(w, b), ext_load(memory, c * TRANSFORM_STRIDE + digits)));
  }
}
