// A pass over a batch: bind what the window before has left, and sum the
// summand on the window's grid. How to make the kernel for a summand of one's
// own:
//
//   struct S {
//     static const u32 FACTORS = 3, DEGREE = 2;
//     // The summand of an entry's factors. V is u32 (words of M31) or qm31; what
//     // comes back is of either type whatever V is. value_add, value_sub,
//     // value_neg and value_mul take both types, mixed ones too.
//     template <class V> MEMBER_INLINE static auto eval(const V *f, const qm31 *scalars) {
//       return value_sub(value_mul(f[0], f[1]), f[2]);
//     }
//   };
//   extern "C" __global__ void __launch_bounds__(128) my_pass(u32 *sponge, const Batch *__restrict__ batch,
//       const Group *__restrict__ groups, u32 group_count, u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
//     pass_block<S, EQ, FIRST, NEXT, FUSED>(PASS_ARGUMENTS);
//   }
//
// scalars are the instance's coefficients (Instance.Coeffs of package prover). EQ
// says whether eq(z, x) multiplies the summand. FIRST is the largest window of
// instances that join and whose tables are all words, at most 3; NEXT that of all
// others, at most 2; (DEGREE + EQ + 1)^window is at most 32. FUSED adds code that
// keeps bound entries in registers. A tail of the same
// summand is tail_block<Only<S>> (tail.cuh), with or without eq.
//
// The Go side is a kernelSet (units.go): the source, the names of the pass and of
// the tail, FIRST and NEXT; kernels(Instance) chooses an instance's set. All that
// plan.go and layout.go go by is the set and the instance's Shape.
#pragma once
#include "sumcheck/prover/window.cuh"

#define PASS_ARGUMENTS sponge, batch, groups, group_count, chunks, round, window, classes, blocks

// ---- values: words or elements -----------------------------------------------------

DEVICE_INLINE u32 value_add(u32 a, u32 b) { return m31_add(a, b); }
DEVICE_INLINE qm31 value_add(qm31 a, qm31 b) { return qm31_add(a, b); }
DEVICE_INLINE qm31 value_add(qm31 a, u32 b) { return qm31_add_base(a, b); }
DEVICE_INLINE qm31 value_add(u32 a, qm31 b) { return qm31_add_base(b, a); }
DEVICE_INLINE u32 value_sub(u32 a, u32 b) { return m31_sub(a, b); }
DEVICE_INLINE qm31 value_sub(qm31 a, qm31 b) { return qm31_sub(a, b); }
DEVICE_INLINE qm31 value_sub(qm31 a, u32 b) { return qm31_sub_base(a, b); }
DEVICE_INLINE qm31 value_sub(u32 a, qm31 b) { return qm31_sub(qm31_lift(a), b); }
DEVICE_INLINE u32 value_neg(u32 a) { return m31_neg(a); }
DEVICE_INLINE qm31 value_neg(qm31 a) { return qm31_neg(a); }
DEVICE_INLINE u32 value_mul(u32 a, u32 b) { return m31_mul(a, b); }
DEVICE_INLINE qm31 value_mul(qm31 a, qm31 b) { return qm31_mul(a, b); }
DEVICE_INLINE qm31 value_mul(qm31 a, u32 b) { return qm31_mul_base(a, b); }
DEVICE_INLINE qm31 value_mul(u32 a, qm31 b) { return qm31_mul_base(b, a); }
DEVICE_INLINE qm31 value_lift(u32 a) { return qm31_lift(a); }
DEVICE_INLINE qm31 value_lift(qm31 a) { return a; }

// Product is the product of its factors.
template <u32 N> struct Product {
  static const u32 FACTORS = N, DEGREE = N;
  template <class V> MEMBER_INLINE static V eval(const V *f, const qm31 *) {
    V v = f[0];
#pragma unroll
    for (u32 k = 1; k < N; k++) v = value_mul(v, f[k]);
    return v;
  }
};

// ---- sums on the grid ------------------------------------------------------------

// Sum of values R, weighted by eq if EQ. `settle` must come after every fourth
// value at the latest.
template <class R, bool EQ> struct Sum {
  qm31 v;
  MEMBER_INLINE void clear() { v = qm31_zero(); }
  MEMBER_INLINE void add(R x, qm31 e) { v = value_add(v, EQ ? value_mul(x, e) : value_lift(x)); }
  MEMBER_INLINE void settle() {}
  MEMBER_INLINE qm31 total() { return warp_total(v); }
};

template <> struct Sum<u32, false> {
  u64 v;
  MEMBER_INLINE void clear() { v = 0; }
  MEMBER_INLINE void add(u32 x, qm31) { v += x; }
  MEMBER_INLINE void settle() { v = m31_partial(v); }
  MEMBER_INLINE qm31 total() {
    u32 w = m31_reduce(v);
    return qm31_lift(m31_reduce(((u64)warp_sum(w >> 16) << 16) + warp_sum(w & 0xffffu)));
  }
};

// put_value adds the summand's value. Products of words stay unreduced.
template <class S, class V, class A> struct Put {
  MEMBER_INLINE static void value(A &sum, const V *f, const qm31 *scalars, qm31 e) { sum.add(S::eval(f, scalars), e); }
};
template <> struct Put<Product<2>, u32, Sum<u32, false>> {
  MEMBER_INLINE static void value(Sum<u32, false> &sum, const u32 *f, const qm31 *, qm31) { sum.v = mad_wide(f[0], f[1], sum.v); }
};
template <> struct Put<Product<3>, u32, Sum<u32, false>> {
  MEMBER_INLINE static void value(Sum<u32, false> &sum, const u32 *f, const qm31 *, qm31) {
    sum.v = mad_wide(m31_mul(f[0], f[1]), f[2], sum.v);
  }
};

// Grid has the sums of one lane.
template <class S, class V, bool EQ, u32 POINTS> struct Grid {
  typedef decltype(S::eval((const V *)0, (const qm31 *)0)) R;
  typedef Sum<R, EQ> A;
  A sum[POINTS];
  const qm31 *scalars;
  qm31 e; // eq's weight
  MEMBER_INLINE void clear() {
#pragma unroll
    for (u32 i = 0; i < POINTS; i++) sum[i].clear();
    e = qm31_one();
  }
  MEMBER_INLINE void settle() {
#pragma unroll
    for (u32 i = 0; i < POINTS; i++) sum[i].settle();
  }
  MEMBER_INLINE void put(u32 i, const V *f) { Put<S, V, A>::value(sum[i], f, scalars, e); }
};

// Walk takes the factors from the corners of the cube {0,1}^W to the points of
// the grid {0..DEGREE}^W, first variable first.
template <class S, class V, u32 W> struct Walk {
  template <class G> MEMBER_INLINE static void run(G &grid, const V (&c)[S::FACTORS][1 << W], u32 index) {
    const u32 HALF = 1u << (W - 1);
    V v[S::FACTORS][1 << (W - 1)], step[S::FACTORS][1 << (W - 1)];
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
      for (u32 x = 0; x < HALF; x++) v[k][x] = c[k][x];
    Walk<S, V, W - 1>::run(grid, v, index * (S::DEGREE + 1));
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
      for (u32 x = 0; x < HALF; x++) {
        step[k][x] = value_sub(c[k][x + HALF], v[k][x]);
        v[k][x] = c[k][x + HALF];
      }
    Walk<S, V, W - 1>::run(grid, v, index * (S::DEGREE + 1) + 1);
#pragma unroll
    for (u32 t = 2; t <= S::DEGREE; t++) {
#pragma unroll
      for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
        for (u32 x = 0; x < HALF; x++) v[k][x] = value_add(v[k][x], step[k][x]);
      Walk<S, V, W - 1>::run(grid, v, index * (S::DEGREE + 1) + t);
    }
  }
};

template <class S, class V> struct Walk<S, V, 0> {
  template <class G> MEMBER_INLINE static void run(G &grid, const V (&c)[S::FACTORS][1], u32 index) {
    V f[S::FACTORS];
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++) f[k] = c[k][0];
    grid.put(index, f);
  }
};

template <u32 B, u32 E> struct Power { static const u32 VALUE = B * Power<B, E - 1>::VALUE; };
template <u32 B> struct Power<B, 0> { static const u32 VALUE = 1; };

// ---- pieces of work ----------------------------------------------------------------

// Kept is a warp's part of the grids, a lane a point, by the window's size.
struct Kept {
  qm31 sum[MAX_WINDOW][MAX_POINTS];
  qm31 scratch[MAX_POINTS];
};

// Piece is one instance's share of a warp.
struct Piece {
  Group group;
  u32 instance;
  u64 begin, end, spread; // positions; distance of a table's corners
};

DEVICE_INLINE Piece find_piece(const Group *groups, u32 group_count, u32 chunk) {
  Piece p;
  u32 g = 0;
  while (g + 1 < group_count && groups[g + 1].chunk <= chunk) g++;
  p.group = groups[g];
  u32 i = chunk - p.group.chunk;
  p.instance = p.group.first + (i >> p.group.pieces);
  p.spread = 1ull << (p.group.open - p.group.window);
  u64 size = p.spread >> p.group.pieces;
  p.begin = (i & ((1u << p.group.pieces) - 1)) * size;
  p.end = p.begin + size;
  return p;
}

// keep_point adds a piece's sums, of which each lane has that of one point, to
// what the warp keeps, weighted.
static __device__ __noinline__ void keep_point(Kept *kept, const Batch *b, u32 degree, qm31 mine, u32 instance, u32 window, u32 open, u64 begin) {
  const Instance &in = ((const Instance *)b->instances)[instance];
  u32 lane = threadIdx.x & 31, points = power(degree + 1, window);
  qm31 weight = ((const qm31 *)b->weights)[instance];
  if (in.point) {
    // eq raises the degree by one. What is left of it with the first variables
    // bound is a line in each of the window's.
    points = power(degree + 2, window);
    __syncwarp();
    kept->scratch[lane] = mine;
    __syncwarp();
    if (lane < points) {
      mine = extended(kept->scratch, degree, degree + 1, window, lane);
      weight = qm31_mul(weight, eq_high(in, open - window, begin));
      u32 digits = lane;
#pragma unroll 1
      for (u32 k = 0; k < window; k++) {
        weight = qm31_mul(weight, eq_line(((const qm31 *)in.point)[in.vars - open + window - 1 - k], digits % (degree + 2)));
        digits /= degree + 2;
      }
    }
  }
  qm31 *sum = kept->sum[window - 1] + lane;
  if (lane < points) *sum = qm31_add(*sum, qm31_mul(mine, weight));
}

// keep adds the lanes' sums over a piece up, and to what the warp keeps.
template <u32 DEGREE, u32 W, class G> DEVICE_INLINE void keep(Kept &kept, G &grid, const Batch *b, const Piece &p) {
  const u32 POINTS = Power<DEGREE + 1, W>::VALUE;
  u32 lane = threadIdx.x & 31;
  qm31 mine = qm31_zero();
#pragma unroll
  for (u32 i = 0; i < POINTS; i++) {
    qm31 v = grid.sum[i].total();
    if (lane == i) mine = v;
  }
  keep_point(&kept, b, DEGREE, mine, p.instance, W, p.group.open, p.begin);
}

// first_piece sums over unbound tables of words.
template <class S, bool EQ, u32 W> DEVICE_INLINE void first_piece(Kept &kept, const Batch *b, const Instance &in, const Piece &p) {
  const u32 *words[S::FACTORS];
  u64 stride[S::FACTORS];
#pragma unroll
  for (u32 k = 0; k < S::FACTORS; k++) {
    const Table &t = ((const Table *)b->tables)[in.table + k];
    words[k] = (const u32 *)t.source;
    stride[k] = t.stride;
  }
  Grid<S, u32, EQ, Power<S::DEGREE + 1, W>::VALUE> grid;
  grid.scalars = (const qm31 *)in.coeffs;
  grid.clear();
  u32 done = 0;
#pragma unroll 1
  for (u64 x = p.begin + (threadIdx.x & 31); x < p.end; x += 32) {
    u32 c[S::FACTORS][1 << W];
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
      for (u32 u = 0; u < 1u << W; u++) c[k][u] = ldg(words[k] + (x + u * p.spread) * stride[k]);
    if (EQ) grid.e = eq_weight(in, p.group.open - W, x);
    Walk<S, u32, W>::run(grid, c, 0);
    if ((++done & 3) == 0) grid.settle();
  }
  keep<S::DEGREE, W>(kept, grid, b, p);
}

// bind_words binds B variables of a table of words, at entry y of 2^open.
template <u32 B> DEVICE_INLINE qm31 bind_words(const u32 *words, u64 y, u32 open, const qm31 *w) {
  u64 sum[4] = {0, 0, 0, 0};
  u32 a[1 << B];
#pragma unroll
  for (u32 v = 0; v < 1u << B; v++) a[v] = ldg(words + y + ((u64)v << open));
#pragma unroll
  for (u32 v = 0; v < 1u << B; v++)
#pragma unroll
    for (u32 k = 0; k < 4; k++) sum[k] = mad_wide(a[v], w[v].x[k], v == 4 ? m31_partial(sum[k]) : sum[k]);
  return qm31_make(m31_reduce(sum[0]), m31_reduce(sum[1]), m31_reduce(sum[2]), m31_reduce(sum[3]));
}

// bind_elements binds B variables of a table of elements, one after the other.
template <u32 B> DEVICE_INLINE qm31 bind_elements(const qm31 *t, u64 y, u32 open, const qm31 *r) {
  qm31 a[1 << B];
#pragma unroll
  for (u32 v = 0; v < 1u << B; v++) a[v] = t[y + ((u64)v << open)];
#pragma unroll
  for (u32 k = 0; k < B; k++)
#pragma unroll
    for (u32 v = 0; v < 1u << (B - 1 - k); v++) a[v] = qm31_fold(a[v], a[v + (1u << (B - 1 - k))], r[k]);
  return a[0];
}

// How next_piece binds: WORDS and ELEMENTS are the usual forms, with a number of
// variables that is known to the compiler; MEMORY is for all others.
enum { BIND_MEMORY, BIND_WORDS, BIND_ELEMENTS };

template <u32 FACTORS, u32 FIRST, u32 NEXT> DEVICE_INLINE u32 bind_form(const Table *tables, bool unbound, u32 bind) {
  if (!unbound) return bind == NEXT ? BIND_ELEMENTS : BIND_MEMORY;
  if (bind != FIRST) return BIND_MEMORY;
  for (u32 k = 0; k < FACTORS; k++)
    if (tables[k].kind != 0 || tables[k].stride != 1) return BIND_MEMORY;
  return BIND_WORDS;
}

// next_piece binds and sums.
template <class S, bool EQ, u32 FIRST, u32 NEXT, bool FUSED, u32 W>
DEVICE_INLINE void next_piece(Kept &kept, const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
  const Table *tables = (const Table *)b->tables + in.table;
  u32 bind = p.group.fold, open = p.group.open;
  bool unbound = open + bind == in.vars;
  u32 form = FUSED && W == NEXT ? bind_form<S::FACTORS, FIRST, NEXT>(tables, unbound, bind) : BIND_MEMORY;
  Grid<S, qm31, EQ, Power<S::DEGREE + 1, W>::VALUE> grid;
  grid.scalars = (const qm31 *)in.coeffs;
  grid.clear();
#pragma unroll 1
  for (u64 x = p.begin + (threadIdx.x & 31); x < p.end; x += 32) {
    // Only this thread reads what the entries here are made of, so that they may
    // take its place.
    qm31 c[S::FACTORS][1 << W];
    if (FUSED && W == NEXT && form == BIND_WORDS) {
#pragma unroll
      for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
        for (u32 u = 0; u < 1u << W; u++) c[k][u] = bind_words<FIRST>((const u32 *)tables[k].source, x + u * p.spread, open, bound.weights[FIRST]);
    } else if (FUSED && W == NEXT && form == BIND_ELEMENTS) {
#pragma unroll
      for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
        for (u32 u = 0; u < 1u << W; u++) c[k][u] = bind_elements<NEXT>((const qm31 *)tables[k].folded, x + u * p.spread, open, bound.last + MAX_WINDOW - NEXT);
    } else {
      if (bind > 0)
#pragma unroll 1
        for (u32 k = 0; k < S::FACTORS; k++) {
          Side s = side_of(tables[k], unbound);
          qm31 *out = (qm31 *)tables[k].folded;
#pragma unroll 1
          for (u32 u = 0; u < 1u << W; u++) out[x + u * p.spread] = bound_entry(s, x + u * p.spread, open, bind, bound.weights[bind]);
        }
#pragma unroll
      for (u32 k = 0; k < S::FACTORS; k++) {
        Side s = side_of(tables[k], bind == 0 && unbound);
#pragma unroll
        for (u32 u = 0; u < 1u << W; u++) c[k][u] = entry(s, x + u * p.spread);
      }
    }
    if (FUSED && form != BIND_MEMORY)
#pragma unroll
      for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
        for (u32 u = 0; u < 1u << W; u++) ((qm31 *)tables[k].folded)[x + u * p.spread] = c[k][u];
    if (EQ) grid.e = eq_weight(in, open - W, x);
    Walk<S, qm31, W>::run(grid, c, 0);
  }
  keep<S::DEGREE, W>(kept, grid, b, p);
}

// ---- a pass -------------------------------------------------------------------------

// Memory of a block.
struct Pass {
  union {
    Kept kept[PASS_WARPS];
    Window window;
  };
  Bound bound;
  bool last;
};

DEVICE_INLINE void pass_begin(Pass &s, const Batch *b, u32 round) {
  qm31 *kept = (qm31 *)s.kept;
  for (u32 i = threadIdx.x; i < PASS_WARPS * (MAX_WINDOW + 1) * MAX_POINTS; i += PASS_THREADS) kept[i] = qm31_zero();
  if (threadIdx.x < 32) bind_weights(s.bound, (const qm31 *)b->point, round, threadIdx.x);
  __syncthreads();
}

// pass_end adds the block's sums of summands of a degree (eq's share included)
// to the batch's; the pass's last block goes on to finish the window.
DEVICE_INLINE void pass_end(Pass &s, u32 *sponge, const Batch *b, u32 degree, u32 round, u32 window, u32 classes, u32 blocks) {
  __syncthreads();
  for (u32 i = threadIdx.x; i < MAX_WINDOW * MAX_POINTS; i += PASS_THREADS) {
    u32 w = i / MAX_POINTS, point = i % MAX_POINTS;
    if (!(classes >> sum_class(degree, w + 1) & 1)) continue;
    qm31_sum sum = qm31_sum_zero();
    for (u32 k = 0; k < PASS_WARPS; k++) qm31_sum_add(sum, s.kept[k].sum[w][point]);
    u64 *out = (u64 *)b->sums + 4 * (MAX_POINTS * sum_class(degree, w + 1) + point);
    for (u32 k = 0; k < 4; k++)
      if (sum.w[k] != 0) atomicAdd(out + k, sum.w[k]);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 *counter = (u32 *)b->counter;
    s.last = atomicAdd(counter, 1u) == blocks - 1;
    if (s.last) atomicExch(counter, 0u);
    __threadfence();
  }
  __syncthreads();
  if (s.last) finish_window(sponge, b, round, window, classes, &s.window);
}

template <class S, bool EQ, u32 FIRST, u32 NEXT, bool FUSED>
DEVICE_INLINE void pass_block(u32 *sponge, const Batch *batch, const Group *groups, u32 group_count, u32 chunks, u32 round, u32 window, u32 classes,
                              u32 blocks) {
  __shared__ Pass s;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    const Instance &in = ((const Instance *)batch->instances)[p.instance];
    Kept &kept = s.kept[threadIdx.x >> 5];
    u32 w = p.group.window;
    if (p.group.words) {
      if (w == 1) first_piece<S, EQ, 1>(kept, batch, in, p);
      if (FIRST >= 2 && w == 2) first_piece<S, EQ, FIRST < 2 ? 1 : 2>(kept, batch, in, p);
      if (FIRST >= 3 && w == 3) first_piece<S, EQ, FIRST < 3 ? 1 : 3>(kept, batch, in, p);
    } else {
      if (w == 1) next_piece<S, EQ, FIRST, NEXT, FUSED, 1>(kept, batch, in, p, s.bound);
      if (NEXT >= 2 && w == 2) next_piece<S, EQ, FIRST, NEXT, FUSED, NEXT < 2 ? 1 : 2>(kept, batch, in, p, s.bound);
    }
  }
  pass_end(s, sponge, batch, S::DEGREE + EQ, round, window, classes, blocks);
}
