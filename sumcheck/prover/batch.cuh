// How a batch of sum-checks lies in a device's memory, and what its kernels
// share: the descriptors that layout.go writes, access to tables in any of
// their forms, and the step between two windows of rounds.
//
// A run is a chain of passes. A pass serves a window of one to three rounds:
// it binds the variables that the window before has left (their challenges are
// known by now) and sums, for every instance, the summand over all but the
// window's own variables, these at all points of the grid {0..D}^window. The
// grids of all instances, weighted, add up to one grid from which the window's
// messages follow; so the step between two windows is the same for one instance
// and for thousands. The last block of a pass takes it (finish_window).
#pragma once
#include "sumcheck/prover/round.cuh"

#define MEMBER_INLINE __device__ __forceinline__

#define PASS_THREADS 128u
#define PASS_WARPS 4u
#define MAX_POINTS 32u  // of a grid: a lane of a warp each
#define MAX_WINDOW 3u
#define MAX_DEGREE 9u   // of a round polynomial
#define EQ_LOW 11u      // variables that the lower of two eq tables covers at most

// A factor's table.
struct Table {
  u64 source; // the caller's table
  u64 folded; // the table once variables are bound
  u64 kind;   // of source. 0: words, 1: elements, 2 (in a tail only): elements as four sums of words
  u64 stride; // of source
  u64 vars;   // of the instance
  u64 out;    // index of the final evaluation
  u64 tail;   // index of its entries in the memory of sumcheck_tail
};

struct Instance {
  u64 point;   // eq's point, or null
  u64 coeffs;  // one a term or scalar, or null for ones
  u64 low;     // eq over the last variables, as eq_tables leaves it
  u64 high;    // eq over the variables before those
  u64 lows;    // how many variables low covers
  u64 vars;
  u64 factors;
  u64 degree;  // without eq
  u64 kind;    // of its summand: the factors of a plain product, 0 for a sum of terms
  u64 terms;   // number of terms
  u64 term;    // index of the first
  u64 table;   // index of the first factor's table
  u64 claim;   // its number
  u64 part;    // 1: it adds to the claim of one before it, of as many variables
};

// A run: addresses of what is above, and of its state.
struct Batch {
  u64 instances, tables, terms;
  u64 weights; // a qm31 an instance: its batching weight times eq of the bound variables
  u64 late;    // a qm31 a number of variables: what instances of that size add before they join
  u64 sums;    // the grids' sums: 4 u64 for each of MAX_POINTS points of a class; zero between passes
  u64 counter; // blocks of the pass that are done; zero between passes
  u64 rounds, evals, point; // evals is null if rounds outside of this batch follow
  u64 count, table_count, eval_count; // no evaluations are absorbed if there are 0
  u64 n, d;    // rounds and degree of the batch
  u64 eqs;     // number of instances with an eq
  u64 joins;   // number of instances that join after the first round
  u64 claims;  // number of claims
  u64 gamma;   // where the batching challenge is left, or null
  u64 goes_on; // 1: it is there already, from the batch whose rounds come before these
  // Claims of instances that join after this batch: a word has the number and, << 32,
  // how often the claim is doubled in the last round here.
  u64 after, afters;
};

// A group of a pass: instances of equal size that follow each other.
struct Group {
  u32 chunk;  // the first of its pieces of work
  u32 first;  // instance
  u32 pieces; // of each instance
  u32 fold;   // variables to bind first
  u32 window; // variables of the grid
  u32 open;   // variables after binding, the window's included
  u32 words;  // 1: they join, and all their tables are words at stride 1
  u32 unused;
};

#define SUM_CLASSES (MAX_DEGREE * MAX_WINDOW)
// Grids of equal degree and window are added up in one place.
DEVICE_INLINE u32 sum_class(u32 degree, u32 window) { return (degree - 1) * MAX_WINDOW + window - 1; }

DEVICE_INLINE u32 power(u32 base, u32 exponent) {
  u32 p = 1;
#pragma unroll 1
  for (u32 i = 0; i < exponent; i++) p *= base;
  return p;
}

// ---- tables --------------------------------------------------------------------

// Side is where a table is read from.
struct Side {
  const u32 *words; // or null
  const qm31 *elements;
  u64 stride;
};

// side_of: unbound tables are the caller's.
DEVICE_INLINE Side side_of(const Table &t, bool unbound) {
  Side s;
  s.stride = unbound ? t.stride : 1;
  s.words = unbound && t.kind == 0 ? (const u32 *)t.source : 0;
  s.elements = (const qm31 *)(unbound ? t.source : t.folded);
  return s;
}

DEVICE_INLINE qm31 entry(const Side &s, u64 i) { return s.words ? qm31_lift(s.words[i * s.stride]) : s.elements[i * s.stride]; }

// bound_entry is entry y of a table of 2^open entries that is left when `bind`
// variables of s are bound; w has the weights of their settings.
DEVICE_INLINE qm31 bound_entry(const Side &s, u64 y, u32 open, u32 bind, const qm31 *w) {
  if (bind == 0) return entry(s, y);
  u32 n = 1u << bind;
  if (s.words) {
    qm31_sum sum = qm31_sum_zero();
#pragma unroll 1
    for (u32 v = 0; v < n; v++) qm31_sum_mad_base(sum, s.words[(y + ((u64)v << open)) * s.stride], w[v]);
    return qm31_sum_value(sum);
  }
  qm31 sum = qm31_zero();
#pragma unroll 1
  for (u32 v = 0; v < n; v++) sum = qm31_add(sum, qm31_mul(s.elements[(y + ((u64)v << open)) * s.stride], w[v]));
  return sum;
}

// Bound is what variables are bound to.
struct Bound {
  qm31 weights[MAX_WINDOW + 1][8]; // [b][v]: eq of the last b challenges at v
  qm31 last[MAX_WINDOW];           // the last challenges, the latest at the end
};

// bind_weights fills s for tables before `round`. 32 threads take part.
DEVICE_INLINE void bind_weights(Bound &s, const qm31 *point, u32 round, u32 thread) {
  u32 b = thread >> 3, v = thread & 7;
  if (b == 0 && v < MAX_WINDOW && v < round) s.last[MAX_WINDOW - 1 - v] = point[round - 1 - v];
  if (b == 0 || b > round || v >> b != 0) return;
  qm31 p = qm31_one();
#pragma unroll 1
  for (u32 k = 0; k < b; k++) {
    qm31 r = point[round - b + k];
    p = qm31_mul(p, v >> (b - 1 - k) & 1 ? r : qm31_sub(qm31_one(), r));
  }
  s.weights[b][v] = p;
}

// ---- eq -------------------------------------------------------------------------

// Eq tables are kept for every number m of last variables: entry 2^m + x of such
// a pyramid is eq of those m at x. Two small ones stand for the whole: low
// covers the last variables, high those before them except the first.

// eq_weight is eq of an instance's last m variables at x.
DEVICE_INLINE qm31 eq_weight(const Instance &in, u32 m, u64 x) {
  u32 k = m < in.lows ? m : (u32)in.lows;
  qm31 e = ((const qm31 *)in.low)[(1ull << k) + (x & ((1ull << k) - 1))];
  return m == k ? e : qm31_mul(e, ((const qm31 *)in.high)[(1ull << (m - k)) + (x >> k)]);
}

// eq_line is eq(z, X) at a small integer.
DEVICE_INLINE qm31 eq_line(qm31 z, u32 at) {
  qm31 constant = qm31_sub(qm31_one(), z);
  return qm31_add(constant, qm31_mul_base(qm31_sub(z, constant), at));
}

// ---- polynomials by their values at 0..degree -------------------------------------

// The inverses of the factorials of 0..9.
static __device__ const u32 inverse_factorials[MAX_DEGREE + 1] = {1u,          1u,         1073741824u, 1789569706u, 1521134250u,
                                                                   304226850u, 50704475u, 1234377009u, 422732582u,  285579581u};

// lagrange_scale is the inverse of prod_{k != i} (i - k) over k in 0..degree.
DEVICE_INLINE u32 lagrange_scale(u32 i, u32 degree) {
  u32 s = m31_mul(inverse_factorials[i], inverse_factorials[degree - i]);
  return (degree - i) & 1 ? m31_neg(s) : s;
}

// lagrange is the i-th Lagrange polynomial of the points 0..degree at r.
DEVICE_INLINE qm31 lagrange(u32 i, u32 degree, qm31 r) {
  qm31 p = qm31_lift(lagrange_scale(i, degree));
#pragma unroll 1
  for (u32 k = 0; k <= degree; k++)
    if (k != i) p = qm31_mul(p, qm31_sub_base(r, k));
  return p;
}

// lagrange_at is the same at a whole number.
DEVICE_INLINE u32 lagrange_at(u32 i, u32 degree, u32 at) {
  if (at <= degree) return at == i;
  u32 p = lagrange_scale(i, degree);
#pragma unroll 1
  for (u32 k = 0; k <= degree; k++)
    if (k != i) p = m31_mul(p, at - k);
  return p;
}

// extended is the value at point q of the grid {0..to}^window of the polynomial
// with the given values on the grid {0..from}^window.
static __device__ __noinline__ qm31 extended(const qm31 *values, u32 from, u32 to, u32 window, u32 q) {
  if (from == to) return values[q];
  u32 points = power(from + 1, window);
  qm31 sum = qm31_zero();
#pragma unroll 1
  for (u32 s = 0; s < points; s++) {
    u32 c = 1, a = q, b = s;
#pragma unroll 1
    for (u32 k = 0; k < window; k++) {
      c = m31_mul(c, lagrange_at(b % (from + 1), from, a % (to + 1)));
      a /= to + 1;
      b /= from + 1;
    }
    sum = qm31_add(sum, qm31_mul_base(values[s], c));
  }
  return sum;
}

// word_total is the sum of a word of M31 over a warp, by halves that do not
// overflow.
DEVICE_INLINE u32 word_total(u32 w) { return m31_reduce(((u64)warp_sum(w >> 16) << 16) + warp_sum(w & 0xffffu)); }

// warp_total is qm31_warp_sum.
static __device__ __noinline__ qm31 warp_total(qm31 v) {
  return qm31_make(word_total(v.x[0]), word_total(v.x[1]), word_total(v.x[2]), word_total(v.x[3]));
}
