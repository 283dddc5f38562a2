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
//     pass_block<S, EQ, FIRST, NEXT, ROLLED>(PASS_ARGUMENTS);
//   }
//
// scalars are the instance's coefficients (Instance.Coeffs of package prover). EQ
// says whether eq(z, x) multiplies the summand. FIRST is the largest window of
// instances that join and whose tables are all words at stride 1, at most 3; NEXT
// that of all others, at most 2; (DEGREE + EQ + 1)^window is at most 32. ROLLED
// keeps a thread's entries of windows of the second kind in shared memory (2 KiB for
// each of FACTORS * 2^NEXT, 36 KiB at most) and binds in loops, which suits few
// factors; without it they are in registers. A kernel may do one of the two parts only: pass_first and pass_next. A
// tail of the same summand is tail_block<Only<S>> (tail.cuh), with or without eq.
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

// Homogeneous says that all terms of S are of degree DEGREE, and that is 2 or more.
template <class S> struct Homogeneous { static const bool VALUE = false; };
template <u32 N> struct Homogeneous<Product<N>> { static const bool VALUE = N > 1; };

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
    return qm31_lift(word_total(m31_reduce(v)));
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
// the grid {0..DEGREE}^W, first variable first. For a homogeneous summand the
// factors' slopes take the place of their values at DEGREE: the summand's value is
// then its leading coefficient in that variable, which `finite` undoes.
template <class S, class V, u32 W> struct Walk {
  template <class G> MEMBER_INLINE static void run(G &grid, const V (&c)[S::FACTORS][1 << W], u32 index) {
    const u32 HALF = 1u << (W - 1);
    V v[S::FACTORS][1 << (W - 1)], step[S::FACTORS][1 << (W - 1)];
#pragma unroll
    for (u32 t = 0; t <= S::DEGREE; t++) {
#pragma unroll
      for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
        for (u32 x = 0; x < HALF; x++) {
          if (t == 0) v[k][x] = c[k][x];
          if (t == 1) v[k][x] = c[k][x + HALF];
          if (t == 1) step[k][x] = value_sub(c[k][x + HALF], c[k][x]);
          if (t > 1) v[k][x] = Homogeneous<S>::VALUE && t == S::DEGREE ? step[k][x] : value_add(v[k][x], step[k][x]);
        }
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

// Piece is a warp's share of one instance: the positions begin, begin + step, ...
// below end, for this lane.
struct Piece {
  Group group;
  u32 instance;
  u64 begin, end, step;
  u64 spread; // distance of a table's corners
};

// find_piece: the pieces of an instance take turns, 32 positions at a time, so
// that warps at work together read what lies together.
DEVICE_INLINE Piece find_piece(const Group *groups, u32 group_count, u32 chunk) {
  Piece p;
  u32 g = 0;
  while (g + 1 < group_count && groups[g + 1].chunk <= chunk) g++;
  p.group = groups[g];
  u32 i = chunk - p.group.chunk;
  p.instance = p.group.first + i / p.group.pieces;
  p.spread = 1ull << (p.group.open - p.group.window);
  p.step = 32 * p.group.pieces;
  p.begin = 32 * (i % p.group.pieces) + (threadIdx.x & 31);
  p.end = p.spread;
  return p;
}

// finite takes the sums of a lane each on the grid {0..degree-1, infinity}^window to
// those on {0..degree}^window.
static __device__ __noinline__ qm31 finite(qm31 *scratch, u32 degree, u32 window, qm31 mine) {
  u32 lane = threadIdx.x & 31, pitch = 1;
#pragma unroll 1
  for (u32 k = 0; k < window; k++) {
    __syncwarp();
    scratch[lane] = mine;
    __syncwarp();
    if (lane / pitch % (degree + 1) == degree) {
      // The polynomial through the other values, and what vanishes at these.
      u32 top = 1;
#pragma unroll 1
      for (u32 i = 2; i <= degree; i++) top *= i;
      mine = qm31_mul_base(mine, top);
#pragma unroll 1
      for (u32 i = 0; i < degree; i++)
        mine = qm31_add(mine, qm31_mul_base(scratch[lane - (degree - i) * pitch], lagrange_at(i, degree - 1, degree)));
    }
    pitch *= degree + 1;
  }
  return mine;
}

// keep_point adds a piece's sums, of which each lane has that of one point, to
// what the warp keeps, weighted.
static __device__ __noinline__ void keep_point(Kept *kept, const Batch *b, u32 degree, bool homogeneous, qm31 mine, u32 instance, u32 window, u32 open) {
  const Instance &in = ((const Instance *)b->instances)[instance];
  u32 lane = threadIdx.x & 31, points = power(degree + 1, window);
  if (homogeneous) mine = finite(kept->scratch, degree, window, mine);
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
template <class S, u32 W, class G> DEVICE_INLINE void keep(Kept &kept, G &grid, const Batch *b, const Piece &p) {
  const u32 POINTS = Power<S::DEGREE + 1, W>::VALUE;
  u32 lane = threadIdx.x & 31;
  qm31 mine = qm31_zero();
#pragma unroll
  for (u32 i = 0; i < POINTS; i++) {
    qm31 v = grid.sum[i].total();
    if (lane == i) mine = v;
  }
  keep_point(&kept, b, S::DEGREE, Homogeneous<S>::VALUE, mine, p.instance, W, p.group.open);
}

// first_piece sums over unbound tables of words, one after the other.
template <class S, bool EQ, u32 W> DEVICE_INLINE void first_piece(Kept &kept, const Batch *b, const Instance &in, const Piece &p) {
  const u32 *words[S::FACTORS];
#pragma unroll
  for (u32 k = 0; k < S::FACTORS; k++) words[k] = (const u32 *)((const Table *)b->tables)[in.table + k].source;
  Grid<S, u32, EQ, Power<S::DEGREE + 1, W>::VALUE> grid;
  grid.scalars = (const qm31 *)in.coeffs;
  grid.clear();
  u32 c[S::FACTORS][1 << W], x = (u32)p.begin, end = (u32)p.end, step = (u32)p.step, spread = (u32)p.spread, done = 0;
#define READ_CORNERS(to, x)                                                                        \
  _Pragma("unroll") for (u32 k = 0; k < S::FACTORS; k++)                                           \
    _Pragma("unroll") for (u32 u = 0; u < 1u << W; u++) to[k][u] = ldg(words[k] + (u32)((x) + u * spread))
  if (x < end) READ_CORNERS(c, x);
#pragma unroll 1
  for (; x < end; x += step) {
    // The next position is on its way while this one is summed.
    u32 ahead[S::FACTORS][1 << W];
    if (x + step < end) READ_CORNERS(ahead, x + step);
    if (EQ) grid.e = eq_weight(in, p.group.open - W, x);
    Walk<S, u32, W>::run(grid, c, 0);
    if ((++done & 3) == 0) grid.settle();
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
      for (u32 u = 0; u < 1u << W; u++) c[k][u] = ahead[k][u];
  }
#undef READ_CORNERS
  keep<S, W>(kept, grid, b, p);
}

// next_piece binds and sums, in registers.
template <class S, bool EQ, u32 W> DEVICE_INLINE void next_piece(Kept &kept, const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
  const Table *tables = (const Table *)b->tables + in.table;
  u32 bind = p.group.fold, open = p.group.open;
  bool unbound = open + bind == in.vars;
  Grid<S, qm31, EQ, Power<S::DEGREE + 1, W>::VALUE> grid;
  grid.scalars = (const qm31 *)in.coeffs;
  grid.clear();
#pragma unroll 1
  for (u64 x = p.begin; x < p.end; x += p.step) {
    // Only this thread reads what the entries here are made of, so that they may
    // take its place.
    if (bind > 0)
#pragma unroll 1
      for (u32 k = 0; k < S::FACTORS; k++) {
        Side s = side_of(tables[k], unbound);
        qm31 *out = (qm31 *)tables[k].folded;
#pragma unroll 1
        for (u32 u = 0; u < 1u << W; u++) out[x + u * p.spread] = bound_entry(s, x + u * p.spread, open, bind, bound.weights[bind]);
      }
    qm31 c[S::FACTORS][1 << W];
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++) {
      Side s = side_of(tables[k], bind == 0 && unbound);
#pragma unroll
      for (u32 u = 0; u < 1u << W; u++) c[k][u] = entry(s, x + u * p.spread);
    }
    if (EQ) grid.e = eq_weight(in, open - W, x);
    Walk<S, qm31, W>::run(grid, c, 0);
  }
  keep<S, W>(kept, grid, b, p);
}

// Rolled is a block's memory for next_piece in loops.
template <class S, u32 NEXT> struct Rolled {
  qm31 entries[S::FACTORS << NEXT][PASS_THREADS];
};

// bind_words binds B variables of a table of words that is read in place, at the
// first of 2^open entries.
template <u32 B> DEVICE_INLINE qm31 bind_words(const u32 *words, u32 open, const qm31 *w) {
  u64 sum[4] = {0, 0, 0, 0};
  u32 a[1 << B];
#pragma unroll
  for (u32 v = 0; v < 1u << B; v++) a[v] = ldg(words + ((u64)v << open));
#pragma unroll
  for (u32 v = 0; v < 1u << B; v++)
#pragma unroll
    for (u32 k = 0; k < 4; k++) sum[k] = mad_wide(a[v], w[v].x[k], v == 4 ? m31_partial(sum[k]) : sum[k]);
  return qm31_make(m31_reduce(sum[0]), m31_reduce(sum[1]), m31_reduce(sum[2]), m31_reduce(sum[3]));
}

// bind_elements binds two variables of a table of elements, one after the other.
DEVICE_INLINE qm31 bind_elements(const qm31 *t, u32 open, const qm31 *r) {
  qm31 a[4];
#pragma unroll
  for (u32 v = 0; v < 4; v++) a[v] = t[(u64)v << open];
  qm31 lo = qm31_fold(a[0], a[2], r[0]), hi = qm31_fold(a[1], a[3], r[0]);
  return qm31_fold(lo, hi, r[1]);
}

// bind_corners leaves a factor's entries at a position's corners in c. Only this
// thread reads what they are made of, so that they may take its place.
template <u32 W> DEVICE_INLINE void bind_corners(qm31 (*c)[PASS_THREADS], const Table &t, const Piece &p, u64 x, bool unbound, const Bound &bound) {
  u32 bind = p.group.fold, open = p.group.open;
  Side s = side_of(t, unbound);
  qm31 *out = (qm31 *)t.folded;
  if (s.words != 0 && s.stride == 1 && bind == 3) {
#pragma unroll
    for (u32 u = 0; u < 1u << W; u++)
      out[x + u * p.spread] = c[u][threadIdx.x] = bind_words<3>(s.words + x + u * p.spread, open, bound.weights[3]);
    return;
  }
#pragma unroll 1
  for (u32 u = 0; u < 1u << W; u++) {
    u64 y = x + u * p.spread;
    qm31 v = s.words == 0 && s.stride == 1 && bind == 2 ? bind_elements(s.elements + y, open, bound.last + MAX_WINDOW - 2)
             : s.words != 0 && s.stride == 1 && bind == 2 ? bind_words<2>(s.words + y, open, bound.weights[2])
                                                          : bound_entry(s, y, open, bind, bound.weights[bind]);
    if (bind > 0) out[y] = v;
    c[u][threadIdx.x] = v;
  }
}

// rolled_piece is next_piece with the entries in shared memory and binding in
// loops: less code for the instruction cache, and fewer registers, so that more
// warps hide each other's waiting.
template <class S, bool EQ, u32 W, class M>
DEVICE_INLINE void rolled_piece(M &memory, Kept &kept, const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
  const Table *tables = (const Table *)b->tables + in.table;
  bool unbound = p.group.open + p.group.fold == in.vars;
  Grid<S, qm31, EQ, Power<S::DEGREE + 1, W>::VALUE> grid;
  grid.scalars = (const qm31 *)in.coeffs;
  grid.clear();
#pragma unroll 1
  for (u64 x = p.begin; x < p.end; x += p.step) {
#pragma unroll 1
    for (u32 k = 0; k < S::FACTORS; k++) bind_corners<W>(memory.entries + (k << W), tables[k], p, x, unbound, bound);
    if (EQ) grid.e = eq_weight(in, p.group.open - W, x);
    qm31 c[S::FACTORS][1 << W];
#pragma unroll
    for (u32 k = 0; k < S::FACTORS; k++)
#pragma unroll
      for (u32 u = 0; u < 1u << W; u++) c[k][u] = memory.entries[(k << W) + u][threadIdx.x];
    Walk<S, qm31, W>::run(grid, c, 0);
  }
  keep<S, W>(kept, grid, b, p);
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

// Rolls is rolled_piece or next_piece.
template <class S, bool EQ, u32 NEXT, bool ROLLED> struct Rolls {
  struct Memory {};
  MEMBER_INLINE static void piece(Memory &, Kept &kept, const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
    if (p.group.window == 1) next_piece<S, EQ, 1>(kept, b, in, p, bound);
    if (NEXT >= 2 && p.group.window == 2) next_piece<S, EQ, NEXT < 2 ? 1 : 2>(kept, b, in, p, bound);
  }
};
template <class S, bool EQ, u32 NEXT> struct Rolls<S, EQ, NEXT, true> {
  typedef Rolled<S, NEXT> Memory;
  MEMBER_INLINE static void piece(Memory &memory, Kept &kept, const Batch *b, const Instance &in, const Piece &p, const Bound &bound) {
    if (p.group.window == 1) rolled_piece<S, EQ, 1>(memory, kept, b, in, p, bound);
    if (NEXT >= 2 && p.group.window == 2) rolled_piece<S, EQ, NEXT < 2 ? 1 : 2>(memory, kept, b, in, p, bound);
  }
};

// first_pieces serves every window up to FIRST.
template <class S, bool EQ, u32 FIRST> DEVICE_INLINE void first_pieces(Kept &kept, const Batch *b, const Instance &in, const Piece &p) {
  u32 w = p.group.window;
  if (w == 1) first_piece<S, EQ, 1>(kept, b, in, p);
  if (FIRST >= 2 && w == 2) first_piece<S, EQ, FIRST < 2 ? 1 : 2>(kept, b, in, p);
  if (FIRST >= 3 && w == 3) first_piece<S, EQ, FIRST < 3 ? 1 : 3>(kept, b, in, p);
}

#define PASS_SIGNATURE                                                                             \
  u32 *sponge, const Batch *batch, const Group *groups, u32 group_count, u32 chunks, u32 round, u32 window, u32 classes, u32 blocks

template <class S, bool EQ, u32 FIRST, u32 NEXT, bool ROLLED> DEVICE_INLINE void pass_block(PASS_SIGNATURE) {
  __shared__ Pass s;
  __shared__ typename Rolls<S, EQ, NEXT, ROLLED>::Memory memory;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    const Instance &in = ((const Instance *)batch->instances)[p.instance];
    Kept &kept = s.kept[threadIdx.x >> 5];
    if (p.group.words)
      first_pieces<S, EQ, FIRST>(kept, batch, in, p);
    else
      Rolls<S, EQ, NEXT, ROLLED>::piece(memory, kept, batch, in, p, s.bound);
  }
  pass_end(s, sponge, batch, S::DEGREE + EQ, round, window, classes, blocks);
}

template <class S, bool EQ, u32 FIRST> DEVICE_INLINE void pass_first(PASS_SIGNATURE) {
  __shared__ Pass s;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    first_pieces<S, EQ, FIRST>(s.kept[threadIdx.x >> 5], batch, ((const Instance *)batch->instances)[p.instance], p);
  }
  pass_end(s, sponge, batch, S::DEGREE + EQ, round, window, classes, blocks);
}

template <class S, bool EQ, u32 NEXT, bool ROLLED> DEVICE_INLINE void pass_next(PASS_SIGNATURE) {
  __shared__ Pass s;
  __shared__ typename Rolls<S, EQ, NEXT, ROLLED>::Memory memory;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    Rolls<S, EQ, NEXT, ROLLED>::piece(memory, s.kept[threadIdx.x >> 5], batch, ((const Instance *)batch->instances)[p.instance], p, s.bound);
  }
  pass_end(s, sponge, batch, S::DEGREE + EQ, round, window, classes, blocks);
}
