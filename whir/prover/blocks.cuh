// Round 0: sums over the blocks of a table that is read once, and its fold by all
// of the round's challenges at once.
#pragma once

// Symbols and Challenges are what a table may hold. A thread has COLUMNS columns of a
// row, 256 apart.
struct Symbols {
  static const u32 COLUMNS = 2 / SYM_WORDS;
  static const u32 WORDS = SYM_WORDS;
  typedef sym value;
  MEMBER_INLINE static sym load(const u32 *__restrict__ f, u64 at) { return sym_load(f, at); }
  MEMBER_INLINE static void mul(ext_acc &a, ext e, sym v) { acc_mul_sym(a, e, v); }
};
struct Challenges {
  static const u32 COLUMNS = 1;
  static const u32 WORDS = 4;
  typedef ext value;
  MEMBER_INLINE static ext load(const u32 *__restrict__ f, u64 at) { return ext_load(f, at); }
  MEMBER_INLINE static void mul(ext_acc &a, ext e, ext v) { acc_mul(a, e, v); }
};

#define BLOCK_ROWS 64u // rows whose weights are in shared memory at a time

// row_sums adds rows [first, first + count) times their weights to the thread's
// columns, ALL of which there are, or as many as `width` leaves.
template <class T, u32 CLAIMS, bool ALL>
DEVICE_INLINE void row_sums(ext_acc (&acc)[CLAIMS][T::COLUMNS], const u32 *__restrict__ f, u64 at, u32 width, const ext (&weights)[CLAIMS][BLOCK_ROWS], u32 count) {
#pragma unroll(CLAIMS == 1 ? 8 / T::WORDS : 4 / T::WORDS)
  for (u32 h = 0; h < count; h++) {
    typename T::value v[T::COLUMNS];
#pragma unroll
    for (u32 i = 0; i < T::COLUMNS; i++)
      if (ALL || threadIdx.x + i * WHIR_THREADS < width) v[i] = T::load(f, at + (u64)h * width + i * WHIR_THREADS);
#pragma unroll
    for (u32 c = 0; c < CLAIMS; c++) {
      ext e = weights[c][h];
#pragma unroll
      for (u32 i = 0; i < T::COLUMNS; i++)
        if (ALL || threadIdx.x + i * WHIR_THREADS < width) T::mul(acc[c][i], e, v[i]);
    }
  }
}

// block_sums: sums[u*stride + c] = sum_b weight_c(b) f[u, b] over the 2^n entries of
// block u, for CLAIMS claims whose factors lie one after the other, `apart` elements
// each, those of the first variables being skipped by the caller. A block of the table is
// a matrix with 2^low columns: a thread adds up its columns over the rows, with the
// rows' weights, and weighs them then. Grid
// (parts, blocks of the table): a part is `rows` rows. partial has CLAIMS entries for
// each block of the grid, counters one for each block of the table.
template <class T, u32 CLAIMS>
DEVICE_INLINE void block_sums(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ f, const u32 *__restrict__ factors, u32 apart, u32 n, u32 low,
                              u32 rows, u32 *partial, u32 *counters) {
  __shared__ ext weights[CLAIMS][BLOCK_ROWS];
  __shared__ Nibbles high[CLAIMS], own[CLAIMS];
  __shared__ Total total[CLAIMS];
  u32 u = blockIdx.y, part = blockIdx.x, parts = gridDim.x, width = 1u << low;
  ext_acc acc[CLAIMS][T::COLUMNS];
#pragma unroll
  for (u32 c = 0; c < CLAIMS; c++) {
#pragma unroll
    for (u32 i = 0; i < T::COLUMNS; i++) acc[c][i] = acc_zero();
    const u32 *mine = factors + (u64)c * apart * EXT_WORDS;
    if (threadIdx.x < 128)
      whir_nibbles(&high[c], mine, n - low, threadIdx.x, 128);
    else
      whir_nibbles(&own[c], mine + 2 * (n - low) * EXT_WORDS, low, threadIdx.x - 128, 128);
  }
#pragma unroll 1
  for (u32 first = part * rows; first < (part + 1) * rows; first += BLOCK_ROWS) {
    u32 count = (part + 1) * rows - first < BLOCK_ROWS ? (part + 1) * rows - first : BLOCK_ROWS;
    __syncthreads();
    if (threadIdx.x / BLOCK_ROWS < CLAIMS && threadIdx.x % BLOCK_ROWS < count)
      weights[threadIdx.x / BLOCK_ROWS][threadIdx.x % BLOCK_ROWS] =
          whir_nibbles_weight(&high[threadIdx.x / BLOCK_ROWS], 0, n - low, first + threadIdx.x % BLOCK_ROWS);
    __syncthreads();
    u64 at = ((u64)u << n) + ((u64)first << low) + threadIdx.x;
    if (width == T::COLUMNS * WHIR_THREADS)
      row_sums<T, CLAIMS, true>(acc, f, at, width, weights, count);
    else
      row_sums<T, CLAIMS, false>(acc, f, at, width, weights, count);
  }
#pragma unroll
  for (u32 c = 0; c < CLAIMS; c++) {
    ext sum = ext_zero();
#pragma unroll
    for (u32 i = 0; i < T::COLUMNS; i++) {
      u32 column = threadIdx.x + i * WHIR_THREADS;
      if (column < width) sum = ext_add(sum, ext_mul(acc_value(acc[c][i]), whir_nibbles_weight(&own[c], 0, low, column)));
    }
    sum = whir_block_sum(sum, &total[c]);
    if (threadIdx.x == 0) {
      if (parts == 1)
        ext_store(sums, u * stride + c, sum);
      else
        ext_store(partial, ((u64)u * parts + part) * CLAIMS + c, sum);
    }
  }
  if (parts == 1 || !whir_arrive(counters + u, parts)) return;
  u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (warp >= CLAIMS) return;
  ext sum = ext_zero();
  for (u32 p = lane; p < parts; p += 32) sum = ext_add(sum, ext_load(partial, ((u64)u * parts + p) * CLAIMS + warp));
  sum = whir_warp_sum(sum);
  if (lane == 0) ext_store(sums, u * stride + warp, sum);
}

#define MAX_FOLD 10u
#define FOLD_COLUMNS 2u // of a thread, 256 apart

// Blocks and Tables say where the parts of a fold lie.
struct Blocks {
  const u32 *f;
  u64 size;
  MEMBER_INLINE const u32 *part(u32 u) const { return f + SYM_WORDS * (u * size); }
};
struct Tables {
  const u64 *addresses;
  MEMBER_INLINE const u32 *part(u32 u) const { return reinterpret_cast<const u32 *>(addresses[u]); }
};

template <class P, bool ALL> DEVICE_INLINE void fold_columns(ext_acc (&acc)[FOLD_COLUMNS], const P &parts, const ext *weights, u32 count, u64 at, u64 size) {
#pragma unroll 8
  for (u32 u = 0; u < count; u++) {
    const u32 *f = parts.part(u);
    sym v[FOLD_COLUMNS];
#pragma unroll
    for (u32 i = 0; i < FOLD_COLUMNS; i++)
      if (ALL || at + i * WHIR_THREADS < size) v[i] = sym_load(f, at + i * WHIR_THREADS);
    ext e = weights[u];
#pragma unroll
    for (u32 i = 0; i < FOLD_COLUMNS; i++)
      if (ALL || at + i * WHIR_THREADS < size) acc_mul_sym(acc[i], e, v[i]);
  }
}

// fold_parts: dst[b] = (add ? dst[b] : 0) + sum_u weights[u] f_u[b] over `count` parts
// of `size` symbols; the weights are in shared memory.
template <class P> DEVICE_INLINE void fold_parts(u32 *__restrict__ dst, const P &parts, const ext *weights, u32 count, u64 size, bool add) {
  u64 at = (u64)blockIdx.x * (FOLD_COLUMNS * WHIR_THREADS) + threadIdx.x;
  ext_acc acc[FOLD_COLUMNS];
#pragma unroll
  for (u32 i = 0; i < FOLD_COLUMNS; i++) acc[i] = acc_zero();
  if (at + (FOLD_COLUMNS - 1) * WHIR_THREADS < size)
    fold_columns<P, true>(acc, parts, weights, count, at, size);
  else
    fold_columns<P, false>(acc, parts, weights, count, at, size);
#pragma unroll
  for (u32 i = 0; i < FOLD_COLUMNS; i++) {
    u64 b = at + i * WHIR_THREADS;
    if (b >= size) break;
    ext v = acc_value(acc[i]);
    ext_store(dst, b, add ? ext_add(v, ext_load(dst, b)) : v);
  }
}

// eq_weights fills shared memory with eq(point, u) for all u below 2^n.
DEVICE_INLINE void eq_weights(ext *weights, const u32 *__restrict__ point, u32 n) {
  for (u32 u = threadIdx.x; u < 1u << n; u += WHIR_THREADS) {
    ext v = ext_one();
#pragma unroll 1
    for (u32 j = 0; j < n; j++) {
      ext z = ext_load(point, j);
      v = ext_mul(v, u >> (n - 1 - j) & 1 ? z : ext_sub(ext_one(), z));
    }
    weights[u] = v;
  }
  __syncthreads();
}
