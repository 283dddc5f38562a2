// One round at a time: the sums of a window of one variable for summands whose
// kind is known at run time only, for the tail of a batch and for sums of terms.
#pragma once
#include "sumcheck/prover/pass.cuh"

#define LINE_POINTS (MAX_DEGREE + 1)

// LineGrid has a lane's sums at 0..DEGREE.
template <u32 POINTS> struct LineGrid {
  qm31 sum[POINTS];
  const qm31 *scalars;
  bool eq;
  qm31 e;
  template <class R> MEMBER_INLINE void add(u32 i, R v) { sum[i] = qm31_add(sum[i], eq ? qm31_mul(value_lift(v), e) : value_lift(v)); }
};

template <class S> struct PutLine {
  LineGrid<S::DEGREE + 1> &g;
  MEMBER_INLINE void put(u32 i, const qm31 *f) { g.add(i, S::eval(f, g.scalars)); }
};

// line_totals leaves the sums over the lanes in `out`, a point each.
template <u32 POINTS> DEVICE_INLINE void line_totals(const LineGrid<POINTS> &g, qm31 *out) {
#pragma unroll
  for (u32 i = 0; i < POINTS; i++) {
    qm31 v = warp_total(g.sum[i]);
    if ((threadIdx.x & 31) == 0) out[i] = v;
  }
  __syncwarp();
}

// finite_line takes sums at 0..degree-1 and infinity, degree 2 or 3, to those at
// 0..degree.
DEVICE_INLINE void finite_line(qm31 *sums, u32 degree) {
  if ((threadIdx.x & 31) == 0) {
    qm31 v = sums[degree];
    // Twice or six times the leading coefficient is the highest difference.
    sums[degree] = degree == 2 ? qm31_sub(qm31_dbl(qm31_add(v, sums[1])), sums[0])
                               : qm31_add(qm31_mul_base(v, 6), qm31_add(qm31_mul_base(qm31_sub(sums[2], sums[1]), 3), sums[0]));
  }
  __syncwarp();
}

// line_sums: a warp sums the summand S at 0..S::DEGREE over entries x, x + step,
// ... below half; the factors' tables of 2 * half entries are at their `tail` in memory.
template <class S>
DEVICE_INLINE void line_sums(const Batch *b, const Instance &in, const qm31 *memory, u64 half, u64 x, u64 step, qm31 *out) {
  LineGrid<S::DEGREE + 1> g;
  const Table *tables = (const Table *)b->tables + in.table;
#pragma unroll
  for (u32 i = 0; i <= S::DEGREE; i++) g.sum[i] = qm31_zero();
  g.scalars = (const qm31 *)in.coeffs;
  g.eq = in.point != 0;
  const qm31 *at[S::FACTORS];
#pragma unroll
  for (u32 k = 0; k < S::FACTORS; k++) at[k] = memory + tables[k].tail;
  u32 rest = 31 - leading_zeros((u32)half);
  PutLine<S> put = {g};
#pragma unroll 1
  for (; x < half; x += step) {
    qm31 c[S::FACTORS][2];
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++) {
      c[k][0] = at[k][x];
      c[k][1] = at[k][x + half];
    }
    if (g.eq) g.e = eq_weight(in, rest, x);
    Walk<S, qm31, 1>::run(put, c, 0);
  }
  line_totals(g, out);
  if (Homogeneous<S>::VALUE) finite_line(out, S::DEGREE);
}

// term_sums is the same for a sum of terms, over entries below `end`. With memory
// null the tables are where `unbound` says.
DEVICE_INLINE void term_sums(const Batch *b, const Instance &in, const qm31 *memory, bool unbound, u64 half, u64 x, u64 end, u64 step, qm31 *out) {
  LineGrid<4> g;
#pragma unroll
  for (u32 i = 0; i < 4; i++) g.sum[i] = qm31_zero();
  const Table *tables = (const Table *)b->tables + in.table;
  const u64 *terms = (const u64 *)b->terms + in.term;
  const qm31 *coeffs = (const qm31 *)in.coeffs;
  g.eq = in.point != 0;
  u32 rest = 63 - leading_zeros(half), degree = (u32)in.degree;
#pragma unroll 1
  for (; x < end; x += step) {
    qm31 all[4];
#pragma unroll 1
    for (u32 t = 0; t < in.terms; t++) {
      u32 term = (u32)terms[t], count = term & 255;
      qm31 p[4];
#pragma unroll 1
      for (u32 f = 0; f < count; f++) {
        const Table &table = tables[term >> (8 + 8 * f) & 255];
        Side s = side_of(table, unbound);
        if (memory) {
          s.words = 0;
          s.elements = memory + table.tail;
          s.stride = 1;
        }
        qm31 v = entry(s, x), high = entry(s, x + half), step1 = qm31_sub(high, v);
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
          p[i] = f == 0 ? v : qm31_mul(p[i], v);
          v = i == 0 ? high : qm31_add(v, step1);
        }
      }
#pragma unroll
      for (u32 i = 0; i < 4; i++) {
        if (coeffs) p[i] = qm31_mul(p[i], coeffs[t]);
        all[i] = t == 0 ? p[i] : qm31_add(all[i], p[i]);
      }
    }
    if (g.eq) g.e = eq_weight(in, rest, x);
#pragma unroll
    for (u32 i = 0; i < 4; i++)
      if (i <= degree) g.add(i, all[i]);
  }
  line_totals(g, out);
}

// line_share is an instance's part of the batch's grid {0..to} at point q, from
// its sums at 0..degree and its weight.
DEVICE_INLINE qm31 line_share(const Batch *b, const Instance &in, u32 instance, u32 open, const qm31 *sums, u32 to, u32 q) {
  qm31 v = extended(sums, (u32)in.degree, to, 1, q), weight = ((const qm31 *)b->weights)[instance];
  if (in.point) weight = qm31_mul(weight, eq_line(((const qm31 *)in.point)[in.vars - open], q));
  return qm31_mul(v, weight);
}

// bind_piece binds variables of an instance's tables.
DEVICE_INLINE void bind_piece(const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
  const Table *tables = (const Table *)b->tables + in.table;
  bool unbound = p.group.open + p.group.fold == in.vars;
#pragma unroll 1
  for (u32 k = 0; k < in.factors; k++) {
    Side s = side_of(tables[k], unbound);
    qm31 *out = (qm31 *)tables[k].folded;
#pragma unroll 1
    for (u64 x = p.begin; x < p.end; x += p.step)
#pragma unroll 1
      for (u32 u = 0; u < 2; u++) out[x + u * p.spread] = bound_entry(s, x + u * p.spread, p.group.open, p.group.fold, bound.weights[p.group.fold]);
  }
}
