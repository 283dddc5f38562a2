// Round 0: sums over the blocks of a table that is read once, and its fold by all
// of the round's challenges at once.
#pragma once

// Symbols and Challenges are what a table may hold: VECTOR entries a load.
struct Symbols {
  static const u32 VECTOR = 4 / SYM_WORDS;
  typedef sym value;
  MEMBER_INLINE static void load(sym *v, const u32 *__restrict__ f, u64 at) {
    uint4 q = ldg(reinterpret_cast<const uint4 *>(f + SYM_WORDS * at));
    u32 w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (u32 i = 0; i < VECTOR; i++)
#pragma unroll
      for (u32 k = 0; k < SYM_WORDS; k++) v[i].x[k] = w[SYM_WORDS * i + k];
  }
  MEMBER_INLINE static sym one(const u32 *__restrict__ f, u64 at) { return sym_load(f, at); }
  MEMBER_INLINE static sym zero() {
    sym v;
#pragma unroll
    for (u32 k = 0; k < SYM_WORDS; k++) v.x[k] = 0;
    return v;
  }
  MEMBER_INLINE static void mul(ext_acc &a, ext e, sym v) { acc_mul_sym(a, e, v); }
  MEMBER_INLINE static bool aligned(const u32 *f) { return ((u64)f & 15) == 0; }
};
struct Challenges {
  static const u32 VECTOR = 1;
  typedef ext value;
  MEMBER_INLINE static void load(ext *v, const u32 *__restrict__ f, u64 at) { v[0] = ext_load(f, at); }
  MEMBER_INLINE static ext one(const u32 *__restrict__ f, u64 at) { return ext_load(f, at); }
  MEMBER_INLINE static ext zero() { return ext_zero(); }
  MEMBER_INLINE static void mul(ext_acc &a, ext e, ext v) { acc_mul(a, e, v); }
  MEMBER_INLINE static bool aligned(const u32 *) { return true; }
};

// whir_read reads the thread's entries from `at` on, of which `n` are there.
template <class T> DEVICE_INLINE void whir_read(typename T::value *v, const u32 *__restrict__ f, u64 at, u32 n, bool whole) {
  if (whole) {
    T::load(v, f, at);
    return;
  }
#pragma unroll
  for (u32 i = 0; i < T::VECTOR; i++) v[i] = i < n ? T::one(f, at + i) : T::zero();
}

#define BLOCK_ROWS 64u // rows whose weights are in shared memory at a time

// block_sums: sums[u*stride + c] = sum_b weight_c(b) f[u, b] over the 2^n entries of
// block u, for CLAIMS claims whose factors lie one after the other, `apart` elements
// each, the first n variables' being skipped by the caller. A block of the table is
// a matrix with 2^low columns: a thread adds up its columns over the rows, with the
// rows' weights, and weighs them then. Grid (parts, blocks of the table): a part is
// `rows` rows. partial has CLAIMS entries for each block of the grid, counters one
// for each block of the table.
template <class T, u32 CLAIMS>
DEVICE_INLINE void block_sums(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ f, const u32 *__restrict__ factors, u32 apart, u32 n, u32 low,
                              u32 rows, u32 *partial, u32 *counters) {
  __shared__ ext weights[CLAIMS][BLOCK_ROWS];
  __shared__ Total total[CLAIMS];
  u32 u = blockIdx.y, part = blockIdx.x, parts = gridDim.x, column = T::VECTOR * threadIdx.x;
  u32 mine = column < 1u << low ? (1u << low) - column : 0;
  bool whole = mine >= T::VECTOR && T::aligned(f) && (T::VECTOR == 1 || 1u << low >= T::VECTOR);
  ext_acc acc[CLAIMS][T::VECTOR];
#pragma unroll
  for (u32 c = 0; c < CLAIMS; c++)
#pragma unroll
    for (u32 i = 0; i < T::VECTOR; i++) acc[c][i] = acc_zero();
  const u32 *block = f + (((u64)u << n) + column) * (sizeof(typename T::value) / 4);
#pragma unroll 1
  for (u32 first = part * rows; first < (part + 1) * rows; first += BLOCK_ROWS) {
    u32 count = (part + 1) * rows - first < BLOCK_ROWS ? (part + 1) * rows - first : BLOCK_ROWS;
    __syncthreads();
    for (u32 i = threadIdx.x; i < CLAIMS * count; i += WHIR_THREADS)
      weights[i / count][i % count] = whir_weight(ext_one(), factors + (u64)(i / count) * apart * EXT_WORDS, n - low, first + i % count);
    __syncthreads();
    if (mine != 0)
#pragma unroll(CLAIMS == 1 ? 4 : 2)
      for (u32 h = 0; h < count; h++) {
        typename T::value v[T::VECTOR];
        whir_read<T>(v, block, (u64)(first + h) << low, mine, whole);
#pragma unroll
        for (u32 c = 0; c < CLAIMS; c++) {
          ext e = weights[c][h];
#pragma unroll
          for (u32 i = 0; i < T::VECTOR; i++) T::mul(acc[c][i], e, v[i]);
        }
      }
  }
  __syncthreads();
#pragma unroll
  for (u32 c = 0; c < CLAIMS; c++) {
    ext sum = ext_zero();
    const u32 *own = factors + ((u64)c * apart + 2 * (n - low)) * EXT_WORDS;
    if (mine != 0) {
#pragma unroll
      for (u32 i = 0; i < T::VECTOR; i++)
        if (i < mine) sum = ext_add(sum, ext_mul(acc_value(acc[c][i]), whir_weight(ext_one(), own, low, column + i)));
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

// fold_blocks: dst[b] = sum_u weights[u] f[u, b] over `blocks` blocks of `size` entries;
// the weights are in shared memory.
template <class T> DEVICE_INLINE void fold_blocks(u32 *__restrict__ dst, const u32 *__restrict__ f, const ext *weights, u32 blocks, u64 size) {
  u64 at = ((u64)blockIdx.x * WHIR_THREADS + threadIdx.x) * T::VECTOR;
  if (at >= size) return;
  u32 mine = size - at < T::VECTOR ? (u32)(size - at) : T::VECTOR;
  bool whole = mine == T::VECTOR && T::aligned(f) && (size & (T::VECTOR - 1)) == 0;
  ext_acc acc[T::VECTOR];
#pragma unroll
  for (u32 i = 0; i < T::VECTOR; i++) acc[i] = acc_zero();
#pragma unroll 4
  for (u32 u = 0; u < blocks; u++) {
    typename T::value v[T::VECTOR];
    whir_read<T>(v, f, u * size + at, mine, whole);
    ext e = weights[u];
#pragma unroll
    for (u32 i = 0; i < T::VECTOR; i++) T::mul(acc[i], e, v[i]);
  }
#pragma unroll
  for (u32 i = 0; i < T::VECTOR; i++)
    if (i < mine) ext_store(dst, at + i, acc_value(acc[i]));
}

// combine_tables is the same where the blocks are tables of their own; add says
// whether what is in dst counts as well.
template <class T>
DEVICE_INLINE void combine_tables(u32 *__restrict__ dst, const u64 *__restrict__ tables, const ext *weights, u32 count, u64 size, bool add) {
  u64 at = ((u64)blockIdx.x * WHIR_THREADS + threadIdx.x) * T::VECTOR;
  if (at >= size) return;
  u32 mine = size - at < T::VECTOR ? (u32)(size - at) : T::VECTOR;
  ext_acc acc[T::VECTOR];
#pragma unroll
  for (u32 i = 0; i < T::VECTOR; i++) acc[i] = acc_zero();
#pragma unroll 2
  for (u32 a = 0; a < count; a++) {
    typename T::value v[T::VECTOR];
    const u32 *table = (const u32 *)tables[a];
    whir_read<T>(v, table, at, mine, mine == T::VECTOR && T::aligned(table));
    ext e = weights[a];
#pragma unroll
    for (u32 i = 0; i < T::VECTOR; i++) T::mul(acc[i], e, v[i]);
  }
#pragma unroll
  for (u32 i = 0; i < T::VECTOR; i++)
    if (i < mine) {
      ext v = acc_value(acc[i]);
      ext_store(dst, at + i, add ? ext_add(v, ext_load(dst, at + i)) : v);
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
