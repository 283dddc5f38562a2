// The step between two windows of rounds, which the last block of a pass takes:
// the grids' sums become the window's messages, these go through the transcript,
// and the challenges come back.
#pragma once
#include "sumcheck/prover/batch.cuh"

// late_share is what instances add to every value of a message that join only
// when `left` variables are left or fewer. All lanes of a warp take part.
DEVICE_INLINE qm31 late_share(const Batch *b, u32 left) {
  qm31 sum = qm31_zero();
  if (b->joins == 0) return sum;
#pragma unroll 1
  for (u32 v = threadIdx.x & 31; v <= left; v += 32) {
    qm31 u = ((const qm31 *)b->late)[v];
    u32 twos = (left - v) % 31;
    sum = qm31_add(sum, qm31_make(m31_rotate(u.x[0], twos), m31_rotate(u.x[1], twos), m31_rotate(u.x[2], twos), m31_rotate(u.x[3], twos)));
  }
  return warp_total(sum);
}

// Scratch of finish_window, in shared memory.
struct Window {
  qm31 grid[MAX_POINTS]; // of all instances
  qm31 part[MAX_POINTS]; // of one class
  qm31 other[MAX_POINTS];
  qm31 message[MAX_POINTS];
};

// send_message sends the round polynomial whose values at 0..d are in `values`,
// where rest = (d+1)^(rounds after this one in the window) values follow each
// other for one of its points; draws the challenge; and leaves in `values` what
// remains. The first warp alone takes part.
DEVICE_INLINE qm31 send_message(transcript &t, const Batch *b, Window &w, qm31 *&values, qm31 *&spare, u32 round, u32 after) {
  u32 lane = threadIdx.x & 31, d = (u32)b->d, rest = power(d + 1, after);
  if (lane < d) {
    const qm31 *v = values + (lane == 0 ? 0 : lane + 1) * rest;
    qm31 sum = qm31_zero();
#pragma unroll 1
    for (u32 corner = 0; corner < 1u << after; corner++) {
      u32 at = 0;
#pragma unroll 1
      for (u32 k = 0; k < after; k++) at = at * (d + 1) + (corner >> (after - 1 - k) & 1);
      sum = qm31_add(sum, v[at]);
    }
    w.message[lane] = sum;
    ((qm31 *)b->rounds)[(u64)round * d + lane] = sum;
  }
  __syncwarp();
  transcript_absorb(t, (const u32 *)w.message, 4 * d);
  qm31 r = transcript_challenge(t);
  if (lane == 0) ((qm31 *)b->point)[round] = r;
  if (d <= 2) {
    // Forward differences.
    if (lane < rest) {
      qm31 v = values[lane], step = qm31_sub(values[rest + lane], v), next = qm31_add(v, qm31_mul(r, step));
      if (d == 2) {
        qm31 pairs = qm31_mul_base(qm31_mul(r, qm31_sub_base(r, 1)), 1u << 30); // r (r - 1) / 2
        qm31 bend = qm31_sub(qm31_sub(values[2 * rest + lane], values[rest + lane]), step);
        next = qm31_add(next, qm31_mul(pairs, bend));
      }
      spare[lane] = next;
    }
  } else {
    if (lane <= d) w.part[lane] = lagrange(lane, d, r);
    __syncwarp();
    if (lane < rest) {
      qm31 v = qm31_mul(w.part[0], values[lane]);
#pragma unroll 1
      for (u32 e = 1; e <= d; e++) v = qm31_add(v, qm31_mul(w.part[e], values[e * rest + lane]));
      spare[lane] = v;
    }
  }
  __syncwarp();
  qm31 *old = values;
  values = spare;
  spare = old;
  return r;
}

// weigh_eq takes the instances' weights past the rounds [round, end), of which
// some may come before an instance joins. The whole block takes part.
DEVICE_INLINE void weigh_eq(const Batch *b, u32 round, u32 end) {
  if (b->eqs == 0) return;
  qm31 *weights = (qm31 *)b->weights;
#pragma unroll 1
  for (u32 a = threadIdx.x; a < b->count; a += blockDim.x) {
    const Instance *in = (const Instance *)b->instances + a;
    if (in->point == 0) continue;
    qm31 w = weights[a];
    u32 before = (u32)(b->n - in->vars); // rounds before it joins
#pragma unroll 1
    for (u32 i = round > before ? round : before; i < end; i++)
      w = qm31_mul(w, eq1(((const qm31 *)in->point)[i - before], ((const qm31 *)b->point)[i]));
    weights[a] = w;
  }
}

// finish_window does the rounds [round, round + window) from the sums of the
// classes that have a bit in `classes`. The whole block takes part.
static __device__ __noinline__ void finish_window(u32 *sponge, const Batch *b, u32 round, u32 window, u32 classes, Window *shared) {
  Window &w = *shared;
  u32 lane = threadIdx.x & 31, d = (u32)b->d, points = power(d + 1, window);
  bool first_warp = threadIdx.x < 32;
  qm31 total = qm31_zero(); // of grid point `lane`
#pragma unroll 1
  for (u32 left = classes; left != 0; left &= left - 1) {
    u32 c = 31 - leading_zeros(left & (0 - left)), degree = c / MAX_WINDOW + 1, part_window = c % MAX_WINDOW + 1;
    __syncthreads();
    if (threadIdx.x < 4 * power(degree + 1, part_window)) {
      // An exchange reads past the first-level cache, and leaves zeros.
      u64 v = atomicExch((u64 *)b->sums + 4 * MAX_POINTS * c + threadIdx.x, (u64)0);
      ((u32 *)w.part)[threadIdx.x] = m31_reduce(v);
    }
    __syncthreads();
    // A grid over fewer variables is constant in the window's first ones.
    if (first_warp && lane < points)
      total = qm31_add(total, extended(w.part, degree, d, part_window, lane % power(d + 1, part_window)));
  }
  if (first_warp) {
    total = qm31_add(total, late_share(b, (u32)b->n - round - window));
    w.grid[lane] = total;
    __syncwarp();
    qm31 *values = w.grid, *spare = w.other;
    transcript t = transcript_load(sponge);
#pragma unroll 1
    for (u32 k = 0; k < window; k++) send_message(t, b, w, values, spare, round + k, window - 1 - k);
    transcript_store(sponge, t);
  }
  __syncthreads();
  weigh_eq(b, round, round + window);
}
