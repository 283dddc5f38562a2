// Passes for products of two factors, words and a sum of eq polynomials on blocks,
// which is made where it is read: the first pass, and the one that binds both.
#include "sumcheck/prover/pass.cuh"

// Eqs is Table.Eqs of layout.go: entry x is the sum over the blocks that hold entry
// first + x of two factors' product. A block is two words: where it begins, its
// variables << 48 and those of its lower factor << 56; the places of the lower factor
// and, << 32, of the higher. A word of tiles, for 2^TILE_BITS entries each, is the
// number of their blocks and, << 32, the place in lists of the blocks' numbers.
struct Eqs {
  u64 factors, lists, blocks, tiles, first;
};

#define TILE_BITS 11u

DEVICE_INLINE qm31 eqs_entry(const Eqs &e, u64 x) {
  u64 j = e.first + x, tile = ((const u64 *)e.tiles)[j >> TILE_BITS];
  const u64 *list = (const u64 *)e.lists + (tile >> 32);
  const qm31 *factors = (const qm31 *)e.factors;
  qm31 sum = qm31_zero();
#pragma unroll 1
  for (u32 i = 0; i < (u32)tile; i++) {
    const u64 *block = (const u64 *)e.blocks + 2 * list[i];
    u64 where = block[0], at = block[1], begin = where & 0xffffffffffffull;
    u32 y = (u32)(j - begin), vars = (u32)(where >> 48) & 255, low = (u32)(where >> 56);
    if (j < begin || (j - begin) >> vars != 0) continue;
    sum = qm31_add(sum, qm31_mul(factors[(at >> 32) + (y >> low)], factors[(u32)at + (y & ((1u << low) - 1))]));
  }
  return sum;
}

DEVICE_INLINE Eqs eqs_of(const Batch *b, const Table &t) { return *(const Eqs *)((const u64 *)b->terms + t.source); }

// A lane's sum of products of a word and an element, four 64-bit sums that settle.
struct MixedSum {
  qm31_sum v;
  MEMBER_INLINE qm31 total() { return warp_total(qm31_sum_value(v)); }
};

template <u32 POINTS> struct MixedGrid {
  MixedSum sum[POINTS];
  MEMBER_INLINE void clear() {
#pragma unroll
    for (u32 i = 0; i < POINTS; i++) sum[i].v = qm31_sum_zero();
  }
  MEMBER_INLINE void put(u32 i, u32 a, qm31 b) {
#pragma unroll
    for (u32 k = 0; k < 4; k++) sum[i].v.w[k] = mad_wide(a, b.x[k], sum[i].v.w[k]);
  }
  MEMBER_INLINE void settle() {
#pragma unroll
    for (u32 i = 0; i < POINTS; i++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) sum[i].v.w[k] = m31_partial(sum[i].v.w[k]);
  }
};

// MixedWalk is Walk for a factor of words and one of elements.
template <u32 W> struct MixedWalk {
  template <class G> MEMBER_INLINE static void run(G &grid, const u32 (&a)[1 << W], const qm31 (&b)[1 << W], u32 index) {
    const u32 HALF = 1u << (W - 1);
    u32 x[HALF];
    qm31 y[HALF];
#pragma unroll
    for (u32 t = 0; t <= 2; t++) {
#pragma unroll
      for (u32 k = 0; k < HALF; k++) {
        x[k] = t == 0 ? a[k] : t == 1 ? a[k + HALF] : m31_sub(a[k + HALF], a[k]);
        y[k] = t == 0 ? b[k] : t == 1 ? b[k + HALF] : qm31_sub(b[k + HALF], b[k]);
      }
      MixedWalk<W - 1>::run(grid, x, y, index * 3 + t);
    }
  }
};

template <> struct MixedWalk<0> {
  template <class G> MEMBER_INLINE static void run(G &grid, const u32 (&a)[1], const qm31 (&b)[1], u32 index) { grid.put(index, a[0], b[0]); }
};

template <u32 W> DEVICE_INLINE void eqs_first(Kept &kept, const Batch *b, const Instance &in, const Piece &p) {
  const Table *tables = (const Table *)b->tables + in.table;
  const u32 *words = (const u32 *)tables[0].source;
  Eqs e = eqs_of(b, tables[1]);
  MixedGrid<Power<3, W>::VALUE> grid;
  grid.clear();
  u32 a[1 << W], done = 0;
  if (p.begin < p.end)
#pragma unroll
    for (u32 u = 0; u < 1u << W; u++) a[u] = ldg(words + p.begin + u * p.spread);
#pragma unroll 1
  for (u64 x = p.begin; x < p.end; x += p.step) {
    // The next words are on their way while these are weighed.
    u32 ahead[1 << W];
    if (x + p.step < p.end)
#pragma unroll
      for (u32 u = 0; u < 1u << W; u++) ahead[u] = ldg(words + x + p.step + u * p.spread);
    qm31 weights[1 << W];
#pragma unroll
    for (u32 u = 0; u < 1u << W; u++) weights[u] = eqs_entry(e, x + u * p.spread);
    MixedWalk<W>::run(grid, a, weights, 0);
    if ((++done & 3) == 0) grid.settle();
#pragma unroll
    for (u32 u = 0; u < 1u << W; u++) a[u] = ahead[u];
  }
  keep<Product<2>, W>(kept, grid, b, p);
}

extern "C" __global__ void __launch_bounds__(128, 3) sumcheck_eqs_first(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  __shared__ Pass s;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    const Instance &in = ((const Instance *)batch->instances)[p.instance];
    if (p.group.window == 1) eqs_first<1>(s.kept[threadIdx.x >> 5], batch, in, p);
    if (p.group.window == 2) eqs_first<2>(s.kept[threadIdx.x >> 5], batch, in, p);
  }
  pass_end(s, sponge, batch, 2, round, window, classes, blocks);
}

// eqs_bind binds the words and the sum of eqs, leaves both, and sums.
template <u32 W, class M> DEVICE_INLINE void eqs_bind(M &memory, Kept &kept, const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
  const Table *tables = (const Table *)b->tables + in.table;
  Eqs e = eqs_of(b, tables[1]);
  u32 bind = p.group.fold, open = p.group.open;
  const qm31 *w = bound.weights[bind];
  qm31 *out = (qm31 *)tables[1].folded;
  Grid<Product<2>, qm31, false, Power<3, W>::VALUE> grid;
  grid.clear();
#pragma unroll 1
  for (u64 x = p.begin; x < p.end; x += p.step) {
    bind_corners<W>(memory.entries, tables[0], p, x, true, bound);
#pragma unroll 1
    for (u32 u = 0; u < 1u << W; u++) {
      u64 y = x + u * p.spread;
      qm31 sum = qm31_zero();
#pragma unroll 1
      for (u32 v = 0; v < 1u << bind; v++) sum = qm31_add(sum, qm31_mul(eqs_entry(e, y + ((u64)v << open)), w[v]));
      out[y] = memory.entries[(1u << W) + u][threadIdx.x] = sum;
    }
    qm31 c[2][1 << W];
#pragma unroll
    for (u32 k = 0; k < 2; k++)
#pragma unroll
      for (u32 u = 0; u < 1u << W; u++) c[k][u] = memory.entries[(k << W) + u][threadIdx.x];
    Walk<Product<2>, qm31, W>::run(grid, c, 0);
  }
  keep<Product<2>, W>(kept, grid, b, p);
}

extern "C" __global__ void __launch_bounds__(128, 4) sumcheck_eqs_bind(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  __shared__ Pass s;
  __shared__ Rolled<Product<2>, 2> memory;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    const Instance &in = ((const Instance *)batch->instances)[p.instance];
    if (p.group.window == 1) eqs_bind<1>(memory, s.kept[threadIdx.x >> 5], batch, in, p, s.bound);
    if (p.group.window == 2) eqs_bind<2>(memory, s.kept[threadIdx.x >> 5], batch, in, p, s.bound);
  }
  pass_end(s, sponge, batch, 2, round, window, classes, blocks);
}
