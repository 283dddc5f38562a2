// Kernels of package zkml/prover for lookups: the leaves of the fractional-sum
// tree, and how often each row of a table is looked up.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "zkml/prover/places.cuh"

// leaf_column is one column of tuples: c plus a sum of coef * words[i] over up to
// three tensors plus index * (i >> shift & mask).
struct leaf_column {
  u64 c, terms, index, shift, mask;
  u64 at[3], coef[3];
};

// row_part is what a column says about a tuple's row: (column - first) << shift
// with a difference below 2^vars.
struct row_part {
  u64 column, first, vars, shift;
};

// leaf_block is entries [first, first + n) of the tree: lookups of tuples, or rows
// of a table, or 0/1.
struct leaf_block {
  u64 first, n, mult, tag, kind; // mult: the place of the table's multiplicities
  u64 columns, ncolumns, parts, nparts;
  u64 rows; // of the table
};

#define LOOKUPS 0
#define ROWS 1
#define UNUSED 2

#define LEAVES_TILE 1024
#define COUNT_TILE 4096
// Tables of so many rows are counted in shared memory first.
#define FEW_ROWS 4096

// column_values is a column at i, i + 256, ... of which those below n count.
template <u32 N> DEVICE_INLINE void column_values(u32 (&v)[N], leaf_column c, const u32 *fixed, const u32 *live, u32 i, u32 n) {
#pragma unroll
  for (u32 k = 0; k < N; k++) v[k] = m31_add((u32)c.c, m31_mul((u32)c.index, (i + 256 * k) >> c.shift & (u32)c.mask));
#pragma unroll
  for (u32 t = 0; t < 3; t++) {
    if (t >= (u32)c.terms) break;
    const u32 *p = place(fixed, live, c.at[t]) + i;
    u32 coef = (u32)c.coef[t], w[N];
#pragma unroll
    for (u32 k = 0; k < N; k++) w[k] = i + 256 * k < n ? p[256 * k] : 0;
#pragma unroll
    for (u32 k = 0; k < N; k++) v[k] = m31_add(v[k], coef == 1 ? w[k] : m31_mul(coef, w[k]));
  }
}

// zkml_count adds 1 to the table row that each lookup names. Lanes that name the
// same row count together.
extern "C" __global__ void __launch_bounds__(256) zkml_count(u32 *live, const u32 *__restrict__ fixed, const u64 *__restrict__ desc,
                                                             u32 blocks, u32 tiles) {
  __shared__ u32 counts[FEW_ROWS];
  u64 tile = desc[tiles + blockIdx.x];
  const leaf_block &b = ((const leaf_block *)(desc + blocks))[tile >> 32];
  u32 n = (u32)b.n, t = threadIdx.x, begin = (u32)tile * COUNT_TILE, rows = (u32)b.rows;
  const leaf_column *columns = (const leaf_column *)(desc + b.columns);
  const row_part *parts = (const row_part *)(desc + b.parts);
  bool few = rows <= FEW_ROWS;
  if (few) {
    for (u32 r = t; r < rows; r += 256) counts[r] = 0;
    __syncthreads();
  }
#pragma unroll 1
  for (u32 base = begin; base < begin + COUNT_TILE && base < n; base += 1024) {
    u32 i = base + t, row[4] = {}, wrong = 0, v[4];
    for (u32 p = 0; p < (u32)b.nparts; p++) {
      row_part part = parts[p];
      column_values(v, columns[part.column], fixed, live, i, n);
#pragma unroll
      for (u32 k = 0; k < 4; k++) {
        u32 d = m31_sub(v[k], (u32)part.first);
        wrong |= d >> part.vars != 0 ? 1u << k : 0;
        row[k] += d << part.shift;
      }
    }
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      bool counts_here = i + 256 * k < n && (wrong >> k & 1) == 0;
      u32 r = counts_here ? row[k] : 0xffffffffu, same = warp_match(r);
      if (counts_here && lane_id() == leading_zeros(bit_reverse(same))) atomicAdd(few ? counts + r : live + b.mult + r, popcount(same));
    }
  }
  if (!few) return;
  __syncthreads();
  for (u32 r = t; r < rows; r += 256)
    if (counts[r] != 0) atomicAdd(live + b.mult + r, counts[r]);
}

// zkml_leaves writes all leaves: numerators 1 for lookups and minus the
// multiplicity for rows, denominators ch[0] - tag - the sum of ch[1]^(j+1) times
// column j.
extern "C" __global__ void __launch_bounds__(256) zkml_leaves(u32 *__restrict__ num, qm31 *__restrict__ den, const qm31 *__restrict__ ch,
                                                              const u32 *__restrict__ fixed, const u32 *__restrict__ live,
                                                              const u64 *__restrict__ desc, u32 blocks, u32 tiles) {
  __shared__ qm31 powers[4];
  u64 tile = desc[tiles + blockIdx.x];
  const leaf_block &b = ((const leaf_block *)(desc + blocks))[tile >> 32];
  u32 n = (u32)b.n, t = threadIdx.x, i = (u32)tile * LEAVES_TILE + t;
  if (t < (u32)b.ncolumns) {
    qm31 beta = ch[1], p = beta;
    for (u32 k = 0; k < t; k++) p = qm31_mul(p, beta);
    powers[t] = p;
  }
  __syncthreads();
  qm31 d[4];
  d[0] = b.kind == UNUSED ? qm31_one() : qm31_sub_base(ch[0], (u32)b.tag);
#pragma unroll
  for (u32 k = 1; k < 4; k++) d[k] = d[0];
  const leaf_column *columns = (const leaf_column *)(desc + b.columns);
#pragma unroll 1
  for (u32 c = 0; c < (u32)b.ncolumns; c++) {
    u32 v[4];
    column_values(v, columns[c], fixed, live, i, n);
    qm31 p = powers[c];
#pragma unroll
    for (u32 k = 0; k < 4; k++) d[k] = qm31_sub(d[k], qm31_mul_base(p, v[k]));
  }
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u32 j = i + 256 * k;
    if (j >= n) return;
    den[b.first + j] = d[k];
    num[b.first + j] = b.kind == ROWS ? m31_neg(place(fixed, live, b.mult)[j]) : b.kind == LOOKUPS ? 1 : 0;
  }
}
