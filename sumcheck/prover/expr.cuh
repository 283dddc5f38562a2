// Passes and the tail for summands with many columns or much code: what the
// columns are at a point is worked out from their tables where it is used, not
// kept in registers, and the points are taken one after the other. A summand S
// is as in pass.cuh, except that it takes its factors from anything with [].
#pragma once
#include "sumcheck/prover/tail.cuh"

// LazyFactors is an entry's factors with the round's variable at `at`.
struct LazyFactors {
  const Table *tables;
  const qm31 *memory; // of the tail, or null
  bool unbound;
  u64 x, half;
  u32 at;
  MEMBER_INLINE qm31 operator[](u32 k) const {
    const Table &t = tables[k];
    qm31 lo, hi;
    if (memory) {
      lo = memory[t.tail + x];
      hi = memory[t.tail + x + half];
    } else {
      Side s = side_of(t, unbound);
      lo = entry(s, x);
      hi = entry(s, x + half);
    }
    if (at == 0) return lo;
    return at == 1 ? hi : qm31_add(lo, qm31_mul_base(qm31_sub(hi, lo), at));
  }
};

// lazy_sums: a warp sums S at 0..S::DEGREE over entries x, x + step, ... below
// end; with memory null the tables are where `unbound` says.
template <class S>
DEVICE_INLINE void lazy_sums(const Batch *b, const Instance &in, const qm31 *memory, bool unbound, u64 half, u64 x, u64 end, u64 step, qm31 *out) {
  LazyFactors f;
  f.tables = (const Table *)b->tables + in.table;
  f.memory = memory;
  f.unbound = unbound;
  f.half = half;
  const qm31 *scalars = (const qm31 *)in.coeffs;
  u32 rest = 63 - leading_zeros(half);
#pragma unroll 1
  for (f.at = 0; f.at <= S::DEGREE; f.at++) {
    qm31 sum = qm31_zero();
#pragma unroll 1
    for (f.x = x; f.x < end; f.x += step) {
      qm31 v = value_lift(S::eval(f, scalars));
      if (in.point) v = qm31_mul(v, eq_weight(in, rest, f.x));
      sum = qm31_add(sum, v);
    }
    sum = qm31_warp_sum(sum);
    if ((threadIdx.x & 31) == 0) out[f.at] = sum;
  }
  __syncwarp();
}

// pass_lazy is a pass of windows of one round, whose sums are of the batch's
// degree.
template <class S>
DEVICE_INLINE void pass_lazy(u32 *sponge, const Batch *batch, const Group *groups, u32 group_count, u32 chunks, u32 round, u32 window, u32 classes,
                             u32 blocks) {
  __shared__ Pass s;
  u32 lane = threadIdx.x & 31, d = (u32)batch->d;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    const Instance &in = ((const Instance *)batch->instances)[p.instance];
    Kept &kept = s.kept[threadIdx.x >> 5];
    if (p.group.fold > 0) bind_piece(batch, in, p, s.bound);
    lazy_sums<S>(batch, in, 0, p.group.fold == 0 && p.group.open == in.vars, p.spread, p.begin, p.end, p.step, kept.scratch);
    if (lane <= d) kept.sum[0][lane] = qm31_add(kept.sum[0][lane], line_share(batch, in, p.instance, p.group.open, kept.scratch, d, lane));
    __syncwarp();
  }
  pass_end(s, sponge, batch, d, round, window, classes, blocks);
}

// Lazy is the K of a batch all of whose summands are S.
template <class S> struct Lazy {
  MEMBER_INLINE static void sums(const Batch *b, const Instance &in, const qm31 *memory, u64 half, u64 x, u64 step, qm31 *out) {
    lazy_sums<S>(b, in, memory, false, half, x, half, step, out);
  }
};
