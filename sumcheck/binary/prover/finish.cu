// The end of a window: from the sums of the pass to the messages of its rounds, with the
// transcript, and to the matrices of the fold. And what a window needs that has eq for
// its first factor.
#include "field/gf2/gf2.cuh"
#include "sumcheck/binary/prover/finish.cuh"
#include "sumcheck/binary/prover/round.cuh"

#define MAX_SUMS 1296u // (2 D)^k for the windows there are

// matrix_rows writes word w of all columns of the matrix of prefix u of the fold, which
// takes the tower's basis to the POLYVAL basis and multiplies by the weight: the warp's
// lanes multiply the images of 32 basis elements, and turn them around.
DEVICE_INLINE void matrix_rows(const State *s, u32 *fragments, u32 u, u32 w, uint4 weight) {
  const u32 lane = threadIdx.x & 31, i = 32 * w + lane;
  const uint4 p = pv_mul(weight, s->to_polyval[16 * (i >> 2) + (1u << (i & 3))]);
  const u32 row[4] = {p.x, p.y, p.z, p.w};
#pragma unroll
  for (u32 j = 0; j < 4; j++) {
    u32 column = gf2_transpose_warp(row[j]);
    fragments[fragment_place(u, 32 * j + lane, w)] = column;
  }
}

// binary_window_finish does the k rounds for degree D. `front` is empty, and sums are the
// pass's, 8 groups elements for each of 2^k prefixes; or it is eq(z, u) for the prefixes,
// and sums are one row: both POLYVAL. The block is the only one.
extern "C" __global__ void __launch_bounds__(512) binary_window_finish(u32 *state, const uint4 *__restrict__ sums, const uint4 *__restrict__ front, u32 *fragments, u32 D,
                                                                     u32 k, u32 groups) {
  State *s = (State *)state;
  __shared__ uint4 first[MAX_SUMS], second[MAX_SUMS], message[ROUND_DEGREE + 1];
  const u32 id = threadIdx.x, warp = id >> 5, lane = id & 31;
  u32 size = 1;
  for (u32 v = 0; v < k; v++) size *= 2 * D;
  for (u32 i = id; i < size; i += FINISH_THREADS) {
    u32 u = 0, e = 0, power = 1;
#pragma unroll 1
    for (u32 v = 0, rest = i; v < k; v++) {
      u |= rest % (2 * D) / D << v;
      e += rest % D * power; // D divides 2 D
      rest /= 2 * D, power *= D;
    }
    first[i] = front ? pv_mul(front[u], sums[e]) : sums[u * 8 * groups + e];
  }
  __syncthreads();
  uint4 *now = first, *next = second;
  u32 outer = 1;
#pragma unroll 1
  for (u32 inner = size / (2 * D); inner > 0; inner /= 2 * D) {
    expand(next, now, D, outer, inner);
    outer *= D + 1;
    __syncthreads();
    uint4 *t = now;
    now = next, next = t;
  }
  size = outer; // (D+1)^k coefficients
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
    if (warp == 0) round_send_coefficients(s, round, D, message[lane <= D ? lane : 0]);
    __syncthreads();
    const uint4 r = s->polyval[round];
    if (id < rest) {
      uint4 v = now[D * rest + id];
#pragma unroll 1
      for (u32 m = D; m-- > 0;) v = pv_add(pv_mul(v, r), now[m * rest + id]);
      next[id] = v;
    }
    __syncthreads();
    uint4 *t = now;
    now = next, next = t;
    size = rest;
  }
  if (warp == 0) {
    uint4 c = warp_convert(s->from_polyval, now[0]);
    if (lane == 0) s->claim = c;
  }
  if (front) return;
#pragma unroll 1
  for (u32 i = warp; i < 4u << k; i += FINISH_THREADS / 32) matrix_rows(s, fragments, i >> 2, i & 3, s->weights[i >> 2]);
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
