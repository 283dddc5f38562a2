// Sums of words times sums of eqs on blocks, from the lowest variable up, in two reads
// of the words (stacks.go). Descriptors are words of 64 bits that stacks_layout.go makes;
// "table" are places in the run's memory, "factor" places in the caller's tables of eq.
#include "sumcheck/prover/batch.cuh"

#define STACK_THREADS 256u
#define TILE_COLUMNS 1024u // a block's, four a thread
#define LOW_BITS 11u       // of the lower of two tables of eq

DEVICE_INLINE u32 reversed(u32 x, u32 bits) { return bits == 0 ? 0 : bit_reverse(x) >> (32 - bits); }

DEVICE_INLINE const u32 *stack_words(const u64 *stacks, u64 where) { return (const u32 *)stacks[where >> 48 & 255] + (where & 0xffffffffffffull); }

// stack_rows makes, of a row of words with claims on parts of it, the weight and the
// words as elements, both in the order of reversed indices. A tile of 1024 entries is
// four words: the row's first word and, << 48, its stack; the tile's first entry and,
// << 32, the row's variables; the tables of the weight and, << 32, of the words; the
// place of the list of its claims and, << 32, their number. A claim is two words: its
// first entry in the stack, its variables << 48 and those of its lower factor << 56;
// the lower factor and, << 32, the higher.
extern "C" __global__ void __launch_bounds__(256) sumcheck_stack_rows(qm31 *tables, const qm31 *__restrict__ factors, const u64 *__restrict__ desc,
                                                                      const u64 *__restrict__ stacks, u32 tiles, u32 claims) {
  const u64 *t = desc + tiles + 4 * blockIdx.x;
  const u32 *words = stack_words(stacks, t[0]);
  u32 vars = (u32)(t[1] >> 32), count = (u32)(t[3] >> 32);
  u64 row = t[0] & 0xffffffffffffull;
  const u64 *list = desc + (u32)t[3];
#pragma unroll 1
  for (u32 k = 0; k < 4; k++) {
    u32 x = (u32)t[1] + 256 * k + threadIdx.x;
    if (x >> vars != 0) return;
    qm31 w = qm31_zero();
#pragma unroll 1
    for (u32 i = 0; i < count; i++) {
      const u64 *c = desc + claims + 2 * list[i];
      u64 begin = c[0] & 0xffffffffffffull, y = row + x - begin;
      u32 low = (u32)(c[0] >> 56);
      if (row + x < begin || y >> (c[0] >> 48 & 255) != 0) continue;
      w = qm31_add(w, qm31_mul(factors[(c[1] >> 32) + (y >> low)], factors[(u32)c[1] + (y & ((1u << low) - 1))]));
    }
    u32 to = reversed(x, vars);
    tables[(u32)t[2] + to] = w;
    tables[(t[2] >> 32) + to] = qm31_lift(words[x]);
  }
}

// Words are four words of each of N rows.
template <u32 N> struct Words {
  uint4 at[N];
  MEMBER_INLINE void load(const u32 *p, u64 pitch) {
#pragma unroll
    for (u32 i = 0; i < N; i++) at[i] = ldg((const uint4 *)(p + i * pitch));
  }
};

// ColumnSums are the sums of four columns for one claim.
struct ColumnSums {
  u64 w[4][4];
  MEMBER_INLINE void clear() {
#pragma unroll
    for (u32 j = 0; j < 4; j++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) w[j][k] = 0;
  }
  // settle comes before every fourth add at the latest.
  MEMBER_INLINE void settle() {
#pragma unroll
    for (u32 j = 0; j < 4; j++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) w[j][k] = m31_partial(w[j][k]);
  }
  MEMBER_INLINE void add(uint4 v, qm31 e) {
    u32 a[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (u32 j = 0; j < 4; j++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) w[j][k] = mad_wide(a[j], e.x[k], w[j][k]);
  }
  // leave adds the sums to those of all pieces, 16 rows of `width` sums.
  MEMBER_INLINE void leave(u64 *to, u32 width) {
#pragma unroll
    for (u32 j = 0; j < 4; j++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) atomicAdd(to + (4 * k + j) * width, (u64)m31_reduce(w[j][k]));
  }
};

// fold_rows sums `steps` rows' words times their weights, for claims whose weights are at
// e and whose sums are at `sums`; N rows at a time, at most four.
template <u32 CLAIMS, u32 N>
DEVICE_INLINE void fold_rows(const u32 *p, u64 pitch, u32 steps, const qm31 *const (&e)[CLAIMS], u32 rows, u64 *const (&sums)[CLAIMS], u32 width) {
  ColumnSums s[CLAIMS];
#pragma unroll
  for (u32 c = 0; c < CLAIMS; c++) s[c].clear();
  u32 i = 0;
  if (steps >= N) {
    Words<N> v, ahead;
    v.load(p, pitch);
#pragma unroll 1
    for (; i + N <= steps; i += N) {
      // The next rows are on their way while these are summed.
      if (i + 2 * N <= steps) ahead.load(p + (i + N) * pitch, pitch);
#pragma unroll
      for (u32 c = 0; c < CLAIMS; c++) {
        s[c].settle();
#pragma unroll
        for (u32 r = 0; r < N; r++) s[c].add(v.at[r], e[c][(i + r) * rows]);
      }
      v = ahead;
    }
  }
#pragma unroll 1
  for (; i < steps; i++) {
    Words<1> v;
    v.load(p + i * pitch, 0);
#pragma unroll
    for (u32 c = 0; c < CLAIMS; c++) {
      s[c].settle();
      s[c].add(v.at[0], e[c][i * rows]);
    }
  }
#pragma unroll
  for (u32 c = 0; c < CLAIMS; c++) s[c].leave(sums[c], width);
}

// stack_fold adds, for one or two claims on a block of rows, the rows times their weights.
// A piece of work is four words: its first word and, << 48, its stack, and << 56 a row's
// variables; its rows and, << 32, the number of claims; for each of two claims the factor
// of its first row's weight and, << 32, the table of its sums. The sums of 1024 columns, or
// of all if a row has fewer, lie together: for each word of an element and each of a
// thread's four columns a row of sums.
extern "C" __global__ void __launch_bounds__(256, 2) sumcheck_stack_fold(qm31 *tables, const qm31 *__restrict__ factors, const u64 *__restrict__ desc,
                                                                         const u64 *__restrict__ stacks, u32 pieces) {
  const u64 *t = desc + pieces + 4 * blockIdx.x;
  u32 vars = (u32)(t[0] >> 56), in_tile = vars < 10 ? vars : 10, n = (u32)t[1], x = 4 * threadIdx.x;
  // A step is one row, or as many as 1024 columns have.
  u32 rows = TILE_COLUMNS >> in_tile, first = x >> in_tile;
  if (first >= n) return;
  u32 width = 1u << (in_tile - 2), at = threadIdx.x & (width - 1);
  u64 pitch = vars < 10 ? TILE_COLUMNS : 1ull << vars;
  const u32 *p = stack_words(stacks, t[0]) + x;
  u32 steps = (n - first + rows - 1) / rows;
  const qm31 *a = factors + (u32)t[2] + first;
  u64 *to = (u64 *)(tables + (t[2] >> 32)) + at;
  if (t[1] >> 32 == 1) {
    const qm31 *const e[1] = {a};
    u64 *const sums[1] = {to};
    fold_rows<1, 4>(p, pitch, steps, e, rows, sums, width);
  } else {
    const qm31 *const e[2] = {a, factors + (u32)t[3] + first};
    u64 *const sums[2] = {to, (u64 *)(tables + (t[3] >> 32)) + at};
    fold_rows<2, 2>(p, pitch, steps, e, rows, sums, width);
  }
}

// stack_sums takes sums to elements in the order of reversed indices. A group is two words:
// the table of its sums and, << 32, of the elements; its variables.
extern "C" __global__ void __launch_bounds__(256) sumcheck_stack_sums(qm31 *tables, const u64 *__restrict__ desc, u32 groups, u32 count) {
  u32 x = blockIdx.x * STACK_THREADS + threadIdx.x;
#pragma unroll 1
  for (u32 g = blockIdx.y; g < count; g += gridDim.y) {
    const u64 *t = desc + groups + 2 * g;
    u32 vars = (u32)t[1];
    if (x >> vars != 0) continue;
    u32 column = reversed(x, vars), in_tile = vars < 10 ? vars : 10, width = 1u << (in_tile - 2);
    const u64 *sums = (const u64 *)(tables + (u32)t[0]) + 4 * (u64)(column >> in_tile << in_tile) + (column & 3) * width + (column >> 2 & (width - 1));
    qm31 v;
#pragma unroll
    for (u32 k = 0; k < 4; k++) v.x[k] = m31_reduce(sums[4 * k * width]);
    tables[(t[0] >> 32) + x] = v;
  }
}

// swizzled is where an entry of a table of 128 or more lies that a warp's lanes read four
// at a time: the lanes' entries of equal number follow each other.
DEVICE_INLINE u32 swizzled(u32 x) { return (x & ~127u) | (x & 3) << 5 | (x >> 2 & 31); }

// eq_reversed makes eq of `vars` challenges, the first of which belongs to the lowest bit
// of an index, swizzled if asked. All threads of the block take part.
template <bool SWIZZLED> DEVICE_INLINE void eq_reversed(qm31 *to, const qm31 *point, u32 vars) {
  if (threadIdx.x == 0) to[0] = qm31_one();
#pragma unroll 1
  for (u32 k = 0; k < vars; k++) {
    __syncthreads();
    qm31 r = point[k];
#pragma unroll 1
    for (u32 x = threadIdx.x; x < 1u << k; x += STACK_THREADS) {
      u32 a = SWIZZLED ? swizzled(x) : x, b = SWIZZLED ? swizzled(x + (1u << k)) : x + (1u << k);
      qm31 v = to[a], one = qm31_mul(v, r);
      to[b] = one;
      to[a] = qm31_sub(v, one);
    }
  }
  __syncthreads();
}

// row_weights leaves the weights of 256 rows once the variables of rows are bound: a sum
// over the claims of products of a row's factor and what a claim's table of columns has
// become, which is one of `evals`. A stack is four words: the tables of the bound words
// and, << 32, of their weights; the number of its segments and, << 32, their place; its
// rows' variables; the place of its first challenge and, << 32, a row's variables. A segment
// is rows of equal claims: the first row; the number of its claims and, << 32, their place. A
// claim is a word: the factor of the segment's first row and, << 32, its instance; with the
// top bit set its factor is 1.
DEVICE_INLINE void row_weights(qm31 *tables, const qm31 *factors, const u64 *desc, const qm31 *evals, const u64 *stack, u32 row) {
  u32 count = (u32)stack[1], vars = (u32)stack[2];
  const u64 *segments = desc + (stack[1] >> 32);
  if (row >> vars != 0) return;
  // The last segment that begins at this row or before it; the first begins at row 0.
  u32 low = 0, high = count;
#pragma unroll 1
  while (high - low > 1) {
    u32 middle = (low + high) / 2;
    if (segments[2 * middle] <= row)
      low = middle;
    else
      high = middle;
  }
  const u64 *s = segments + 2 * low, *claims = desc + (s[1] >> 32);
  qm31 w = qm31_zero();
#pragma unroll 1
  for (u32 i = 0; i < (u32)s[1]; i++) {
    u64 c = claims[i];
    qm31 v = evals[2 * (u32)(c >> 32 & 0x7fffffff) + 1];
    if (c >> 63 == 0) v = qm31_mul(v, factors[(u32)c + row - (u32)s[0]]);
    w = qm31_add(w, v);
  }
  tables[(stack[0] >> 32) + reversed(row, vars)] = w;
}

// bind_spans binds the variables of rows: four spans a warp at a time, each a row, or as
// many as 128 words have.
DEVICE_INLINE void bind_spans(qm31 *out, const u32 *words, const qm31 *low, const qm31 *high, u32 vars, u32 row_vars, u32 first, u32 rows) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u32 per_span = vars < 7 ? 128u >> vars : 1, span = vars < 7 ? 128 : 1u << vars, chunk = vars < LOW_BITS ? span : 1u << LOW_BITS;
  u32 own = vars < 7 ? 4 * lane >> vars : 0, lanes = vars < 7 ? 1u << (vars - 2) : 32;
#pragma unroll 1
  for (u32 task = warp; task < rows / (4 * per_span); task += STACK_THREADS / 32) {
    u32 row = first + task * 4 * per_span;
    const u32 *p = words + ((u64)row << vars) + 4 * lane;
    qm31 total[4];
#pragma unroll
    for (u32 r = 0; r < 4; r++) total[r] = qm31_zero();
#pragma unroll 1
    for (u32 c = 0; c < span; c += chunk) {
      qm31_sum s[4];
#pragma unroll
      for (u32 r = 0; r < 4; r++) s[r] = qm31_sum_zero();
      Words<4> v, ahead;
      v.load(p + c, span);
#pragma unroll 1
      for (u32 x = 0; x < chunk; x += 128) {
        if (x + 128 < chunk) ahead.load(p + c + x + 128, span);
#pragma unroll
        for (u32 r = 0; r < 4; r++)
#pragma unroll
          for (u32 k = 0; k < 4; k++) s[r].w[k] = m31_partial(s[r].w[k]);
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
          qm31 e = low[x + 32 * j + lane];
#pragma unroll
          for (u32 r = 0; r < 4; r++) {
            u32 a = j == 0 ? v.at[r].x : j == 1 ? v.at[r].y : j == 2 ? v.at[r].z : v.at[r].w;
#pragma unroll
            for (u32 k = 0; k < 4; k++) s[r].w[k] = mad_wide(a, e.x[k], s[r].w[k]);
          }
        }
        v = ahead;
      }
#pragma unroll
      for (u32 r = 0; r < 4; r++) {
        qm31 part = qm31_sum_value(s[r]);
        if (span > chunk) part = qm31_mul(part, high[c >> LOW_BITS]);
        total[r] = qm31_add(total[r], part);
      }
    }
#pragma unroll
    for (u32 r = 0; r < 4; r++) {
      qm31 t = total[r];
#pragma unroll 1
      for (u32 o = lanes / 2; o > 0; o >>= 1)
        t = qm31_add(t, qm31_make(shfl_xor(t.x[0], o), shfl_xor(t.x[1], o), shfl_xor(t.x[2], o), shfl_xor(t.x[3], o)));
      if ((lane & (lanes - 1)) == 0) out[reversed(row + r * per_span + own, row_vars)] = t;
    }
  }
}

// stack_bind binds the variables of rows, in words and weights. A piece is two words: its
// first row and, << 32, its rows; its stack and, << 32, the stack's number among those that
// are bound. The blocks after those of pieces take 256 rows' weights each, `tiles` a stack.
extern "C" __global__ void __launch_bounds__(256, 2) sumcheck_stack_bind(qm31 *tables, const qm31 *__restrict__ factors, const u64 *__restrict__ desc,
                                                                         const u64 *__restrict__ stacks, const qm31 *__restrict__ point,
                                                                         const qm31 *__restrict__ evals, u32 pieces, u32 count, u32 bound, u32 tiles) {
  __shared__ qm31 low[1 << LOW_BITS];
  __shared__ qm31 high[256];
  if (blockIdx.x >= count) {
    u32 tile = blockIdx.x - count;
    row_weights(tables, factors, desc, evals, desc + bound + 4 * (tile / tiles), tile % tiles * 256 + threadIdx.x);
    return;
  }
  const u64 *t = desc + pieces + 2 * blockIdx.x, *stack = desc + bound + 4 * (t[1] >> 32);
  u32 vars = (u32)(stack[3] >> 32), lows = vars < LOW_BITS ? vars : LOW_BITS;
  point += (u32)stack[3];
  eq_reversed<true>(low, point, lows);
  eq_reversed<false>(high, point + lows, vars - lows);
  // Rows of fewer than 128 words: the same for each of those that a warp reads together.
#pragma unroll 1
  for (u32 k = vars; k < 7; k++) {
    if (threadIdx.x < 1u << k) low[swizzled(threadIdx.x + (1u << k))] = low[swizzled(threadIdx.x)];
    __syncthreads();
  }
  bind_spans(tables + (u32)stack[0], (const u32 *)stacks[(u32)t[1]], low, high, vars, (u32)stack[2], (u32)t[0], (u32)(t[0] >> 32));
}
