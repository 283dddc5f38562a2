// The end of a window: from the sums of the pass to the messages of its rounds, with the
// transcript, and to the matrices of the fold. And what a window needs that has eq for
// its first factor.
#include "field/gf2/gf2.cuh"
#include "sumcheck/binary/prover/finish.cuh"
#include "sumcheck/binary/prover/patterns.cuh"


// matrix_rows writes word w of all columns of the matrix of prefix u of a fold, whose row i
// is the weight times the image of basis element i, in the POLYVAL basis: the warp's lanes
// multiply 32 images, and turn them around.
DEVICE_INLINE void matrix_rows(u32 *fragments, u32 u, u32 w, uint4 weight, uint4 image) {
  const u32 lane = threadIdx.x & 31;
  const uint4 p = pv_mul(weight, image);
  const u32 row[4] = {p.x, p.y, p.z, p.w};
#pragma unroll
  for (u32 j = 0; j < 4; j++) {
    u32 column = gf2_transpose_warp(row[j]);
    fragments[fragment_place(u, 32 * j + lane, w)] = column;
  }
}

// lane_of is lane i's value.
DEVICE_INLINE uint4 lane_of(uint4 v, u32 i) { return make_uint4(shfl_idx(v.x, i), shfl_idx(v.y, i), shfl_idx(v.z, i), shfl_idx(v.w, i)); }

// Power is B^E.
template <u32 B, u32 E> struct Power {
  static constexpr u32 value = B * Power<B, E - 1>::value;
};
template <u32 B> struct Power<B, 0> {
  static constexpr u32 value = 1;
};

// expand_window leaves the (D + 1)^K coefficients of the product at `now`, and room behind
// `next`. All sizes are constants: divisions by others took most of its time.
template <u32 D, u32 K> DEVICE_INLINE void expand_window(uint4 *&now, uint4 *&next, uint4 *memory, const uint4 *__restrict__ sums, const uint4 *__restrict__ front, u32 groups) {
  constexpr u32 inner = Power<2 * D, K - 1>::value, exponents = Power<D, K - 1>::value; // of all variables but the first
  now = memory, next = memory + (D + 1) * inner;
  // The first variable is expanded from the sums where they are.
#pragma unroll 1
  for (u32 i = threadIdx.x; i < (D + 1) * inner; i += FINISH_THREADS) {
    const u32 m = i / inner;
    u32 u = 0, e = 0, power = 1, rest = i % inner;
#pragma unroll
    for (u32 v = 1; v < K; v++) {
      u |= rest % (2 * D) / D << (v - 1);
      e += rest % D * power; // D divides 2 D
      rest /= 2 * D, power *= D;
    }
    const u32 upper = u | 1u << (K - 1), row = front ? 0 : 8 * groups;
    uint4 low = pv_zero(), high = pv_zero();
    if (m < D) low = sums[u * row + m * exponents + e];
    if (m > 0) {
      low = pv_add(low, sums[u * row + (m - 1) * exponents + e]);
      high = sums[upper * row + (m - 1) * exponents + e];
    }
    now[i] = front ? pv_add(pv_mul(front[u], low), pv_mul(front[upper], high)) : pv_add(low, high);
  }
  __syncthreads();
  u32 outer = D + 1, behind = inner;
#pragma unroll
  for (u32 v = 1; v < K; v++, outer *= D + 1) {
    behind /= 2 * D;
    expand(next, now, D, outer, behind);
    __syncthreads();
    uint4 *t = now;
    now = next, next = t;
  }
}

// binary_window_finish does the k rounds for degree D: one of the windows that window.cu
// has kernels for. `front` is empty, and sums are the
// pass's, 8 groups elements for each of 2^k prefixes; or it is eq(z, u) for the prefixes,
// and sums are one row: both POLYVAL. The block is the only one, with shared memory for
// (D + 1) (2D)^(k-1) and (D + 1)^2 (2D)^(k-2) elements.
extern "C" __global__ void __launch_bounds__(512) binary_window_finish(u32 *state, const uint4 *__restrict__ sums, const uint4 *__restrict__ front, u32 D, u32 k,
                                                                     u32 groups) {
  State *s = (State *)state;
  __shared__ uint4 message[ROUND_DEGREE + 1];
  SHARED_DYNAMIC(uint4, memory);
  const u32 id = threadIdx.x, warp = id >> 5, lane = id & 31;
  uint4 *now = nullptr, *next = nullptr;
  if (D == 2) expand_window<2, 4>(now, next, memory, sums, front, groups);
  if (D == 3) expand_window<3, 4>(now, next, memory, sums, front, groups);
  if (D == 4 && k == 3) expand_window<4, 3>(now, next, memory, sums, front, groups);
  if (D == 4 && k == 4) expand_window<4, 4>(now, next, memory, sums, front, groups);
  if (D == 5) expand_window<5, 3>(now, next, memory, sums, front, groups);
  u32 size = 1; // (D+1)^k coefficients
  for (u32 v = 0; v < k; v++) size *= D + 1;
  if (!front)
    for (u32 i = id; i < size; i += FINISH_THREADS) now[i] = to_polyval(s, now[i]);
  __syncthreads();

#pragma unroll 1
  for (u32 round = 0; round < k; round++) {
    const u32 rest = size / (D + 1);
    if (warp <= D) {
      uint4 c = pv_zero();
      for (u32 i = lane; i < rest; i += 32)
        if (inside(i, D, k - 1 - round)) c = pv_add(c, now[warp * rest + i]);
      c = warp_convert(s->from_polyval, warp_total(c));
      if (lane == 0) message[warp] = c;
    }
    __syncthreads();
    if (warp == 0) round_send_coefficients(s, round, D, message[lane <= D ? lane : 0], false);
    __syncthreads();
    if (warp == FINISH_THREADS / 32 - 1) split_weights(s, round, s->polyval[round]);
    // Coefficient m of the variable times r^m, a thread each: a chain of two products.
    if ((id & ~31u) < D * rest) {
      const uint4 r = s->polyval[round], r2 = pv_square(r), r4 = pv_square(r2);
      const u32 m = id / rest + 1;
      uint4 power = m == 1 ? r : m == 2 ? r2 : r4;
      if (m == 3 || m == 5) power = pv_mul(m == 3 ? r2 : r4, r);
      if (id < D * rest) next[id] = pv_mul(now[rest + id], power);
    }
    __syncthreads();
    if (id < rest) {
      uint4 v = now[id];
#pragma unroll 1
      for (u32 m = 0; m < D; m++) v = pv_add(v, next[m * rest + id]);
      now[id] = v;
    }
    __syncthreads();
    size = rest;
  }
  if (warp == 0) {
    uint4 c = warp_convert(s->from_polyval, now[0]);
    if (lane == 0) s->claim = c;
  }
}

// binary_window_matrices writes the matrices of the fold by the window's k challenges, a
// warp for 32 rows: 4 2^k warps.
extern "C" __global__ void __launch_bounds__(64) binary_window_matrices(const u32 *state, u32 *fragments) {
  const State *s = (const State *)state;
  const u32 i = 2 * blockIdx.x + (threadIdx.x >> 5), bit = 32 * (i & 3) + (threadIdx.x & 31); // of an element of the tower
  matrix_rows(fragments, i >> 2, i & 3, s->weights[i >> 2], s->to_polyval[16 * (bit >> 2) + (1u << (bit & 3))]);
}

// binary_mask_finish ends a round of mask.cu: sums[D][2^vars], POLYVAL, where vars - 1
// challenges were drawn before, become the message, and are cleared. `inverse` is that of
// X^2 + X. The fragments are of the fold by the challenge. One block.
extern "C" __global__ void __launch_bounds__(512) binary_mask_finish(u32 *state, uint4 *sums, u32 *fragments, u32 D, u32 vars, u64 inverse_low, u64 inverse_high) {
  State *s = (State *)state;
  __shared__ uint4 value[ROUND_DEGREE][2]; // of A p_d, with p_d's value for c = 0, 1 for a factor
  const u32 id = threadIdx.x, lane = id & 31, warp = id >> 5, round = vars - 1;
  if (id < 2 * ROUND_DEGREE) value[id >> 1][id & 1] = pv_zero();
  __syncthreads();
#pragma unroll 1
  for (u32 i = id; i < D << vars; i += FINISH_THREADS) {
    const u32 prefix = i & ((1u << vars) - 1);
    const uint4 v = pv_mul(s->weights[prefix >> 1], sums[i]);
    sums[i] = pv_zero();
    u32 *to = (u32 *)&value[i >> vars][prefix & 1];
    atomicXor(to, v.x);
    atomicXor(to + 1, v.y);
    atomicXor(to + 2, v.z);
    atomicXor(to + 3, v.w);
  }
  __syncthreads();
  if (warp == 0) {
    // Lane v < 2 has A's coefficients from its values at 0, 1, infinity and X.
    const u32 v = lane & 1;
    uint4 a[ROUND_DEGREE];
    for (u32 m = 0; m < ROUND_DEGREE; m++) a[m] = pv_zero();
    a[0] = value[0][v];
    const uint4 one = value[1][v];
    if (D == 2) {
      a[1] = pv_add(a[0], one);
    } else if (D == 3) {
      a[2] = value[2][v];
      a[1] = pv_add(a[0], one, a[2]);
    } else {
      a[3] = value[2][v];
      const uint4 both = pv_add(a[0], one, a[3]); // a_1 + a_2
      // A(X) + a_0 + a_3 X^3 + (a_1 + a_2) X = a_2 (X^2 + X)
      const uint4 x = times_x(pv_add(both, times_x(times_x(a[3]))));
      a[2] = pv_mul(pv_add(value[3][v], a[0], x), make_uint4((u32)inverse_low, (u32)(inverse_low >> 32), (u32)inverse_high, (u32)(inverse_high >> 32)));
      a[1] = pv_add(both, a[2]);
    }
    // S = A_0 (1 + c) + A_1 c, A_v the one with p_d(v).
    uint4 c[ROUND_DEGREE + 1], mine = pv_zero();
    c[0] = lane_of(a[0], 0);
#pragma unroll
    for (u32 m = 1; m <= ROUND_DEGREE; m++) {
      const uint4 before = a[m - 1], here = m < ROUND_DEGREE ? a[m < ROUND_DEGREE ? m : 0] : pv_zero();
      c[m] = pv_add(lane_of(here, 0), lane_of(before, 0), lane_of(before, 1));
    }
#pragma unroll
    for (u32 m = 0; m <= ROUND_DEGREE; m++) {
      const uint4 t = warp_convert(s->from_polyval, c[m]);
      if (lane == m) mine = t;
    }
    round_send_coefficients(s, round, D, mine);
    const uint4 claim = warp_convert(s->from_polyval, polynomial_at(c, D, s->polyval[round]));
    if (lane == 0) s->claim = claim;
  }
  __syncthreads();
  if (warp < 8) {
    const uint4 r = s->polyval[round];
    const u32 w = warp & 3, bit = 1u << lane;
    matrix_rows(fragments, warp >> 2, w, warp < 4 ? pv_add(r, pv_one()) : r, make_uint4(w == 0 ? bit : 0, w == 1 ? bit : 0, w == 2 ? bit : 0, w == 3 ? bit : 0));
  }
}

// ---- eq as the first factor -----------------------------------------------------------
//
// Of the point z, the first `front` coordinates belong to the window, the last `low` to
// the table of eq that the pass reads, and the `high` ones between them to the weights of
// the pass's rows. So eq(z, .) itself is nowhere.

// binary_eq_tables makes the three tables, one thread an entry, all POLYVAL, and the low
// one in the tower as well.
extern "C" __global__ void __launch_bounds__(256) binary_eq_tables(const u32 *state, const uint4 *__restrict__ z, uint4 *low_tower, uint4 *low_polyval, uint4 *high_polyval,
                                                                 uint4 *front_polyval, u32 front, u32 high, u32 low) {
  const State *s = (const State *)state;
  __shared__ uint4 point[ROUND_VARS];
  if (threadIdx.x < front + high + low) point[threadIdx.x] = to_polyval(s, z[threadIdx.x]);
  __syncthreads();
  u32 i = blockIdx.x * 256 + threadIdx.x, vars = low;
  const uint4 *at = point + front + high;
  uint4 *to = low_polyval;
  if (i >= 1u << low) {
    i -= 1u << low, vars = high, at = point + front, to = high_polyval;
    if (i >= 1u << high) {
      i -= 1u << high, vars = front, at = point, to = front_polyval;
      if (i >= 1u << front) return;
    }
  }
  uint4 e = pv_one();
#pragma unroll 1
  for (u32 v = 0; v < vars; v++) e = pv_mul(e, i >> (vars - 1 - v) & 1 ? at[v] : pv_add(at[v], pv_one()));
  to[i] = e;
  if (to == low_polyval) low_tower[i] = from_polyval(s, e);
}

// binary_eq_sums adds to total[count], POLYVAL, the rows of sums times their weights.
// Blocks take columns by x and rows by y.
extern "C" __global__ void __launch_bounds__(128) binary_eq_sums(const u32 *state, u32 *total, const uint4 *__restrict__ sums, const uint4 *__restrict__ high, u32 count, u32 rows) {
  const State *s = (const State *)state;
  const u32 m = blockIdx.x * 32 + (threadIdx.x & 31);
  if (m >= count) return;
  uint4 v = pv_zero();
#pragma unroll 1
  for (u32 row = blockIdx.y * 4 + (threadIdx.x >> 5); row < rows; row += gridDim.y * 4) v = pv_add(v, pv_mul(high[row], to_polyval(s, sums[(u64)row * count + m])));
  atomicXor(total + 4 * m, v.x);
  atomicXor(total + 4 * m + 1, v.y);
  atomicXor(total + 4 * m + 2, v.z);
  atomicXor(total + 4 * m + 3, v.w);
}

// binary_eq_fold writes eq(z, (r, x)), POLYVAL, for the window's challenges r: every stretch
// of 2^low entries is that of 2^parts blocks.
extern "C" __global__ void __launch_bounds__(256) binary_eq_fold(const u32 *state, uint4 *out, const uint4 *__restrict__ low_polyval,
                                                               const uint4 *__restrict__ high_polyval, const uint4 *__restrict__ z, u32 front, u32 low, u32 parts) {
  const State *s = (const State *)state;
  __shared__ uint4 factor;
  const u32 stretch = blockIdx.x >> parts, part = blockIdx.x & ((1u << parts) - 1);
  if (threadIdx.x == 0) {
    uint4 f = high_polyval[stretch];
#pragma unroll 1
    for (u32 v = 0; v < front; v++) f = pv_mul(f, pv_add(pv_one(), pv_add(to_polyval(s, z[v]), s->polyval[v])));
    factor = f;
  }
  __syncthreads();
  for (u32 i = part * 256 + threadIdx.x; i < 1u << low; i += 256 << parts) out[((u64)stretch << low) + i] = pv_mul(factor, low_polyval[i]);
}

// binary_patterns1 writes a bit of a column a byte: what a window of no variables leaves.
extern "C" __global__ void __launch_bounds__(128) binary_patterns1(u8 *patterns, const u32 *__restrict__ column, u32 entries) {
  u32 x = blockIdx.x * 128 + threadIdx.x;
  if (x < entries) patterns[x] = (u8)(column[x >> 5] >> (x & 31) & 1);
}
