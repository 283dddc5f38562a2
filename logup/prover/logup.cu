// Kernels of package logup/prover for layers that fill the device: the tree,
// several levels a launch, and the rounds of a layer's sum-check, one a launch.
#include "logup/prover/layer.cuh"

// tree_levels adds layer m up to layers m-1, ..., m-levels (at most three). A
// warp takes 128 nodes of layer m, and so 64, 32 and 16 of the layers above: a
// lane sums the pairs `lane` and `lane + 32`, then the lanes of a pair swap one
// of their two sums, so that both go on.
template <int KIND> DEVICE_INLINE void tree_levels(qm31 *tree, const u32 *num, const qm31 *den, u32 m, u32 levels) {
  u32 lane = threadIdx.x & 31, odd = lane & 1;
  u64 base = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32 * 64, size = 1ull << (m - 1);
  if (base >= size) return; // the whole warp
  Fraction f[2];
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    u64 x = base + 32 * i + lane;
    f[i].p = f[i].q = qm31_zero();
    if (x < size) {
      f[i] = fraction_sum(Kind<KIND>::load(num, den, x));
      fraction_store(tree, m - 1, x, f[i]);
    }
  }
  if (levels == 1) return;
  Nodes<qm31> v;
  Fraction keep, other;
  keep.p = qm31_select(odd, f[1].p, f[0].p), keep.q = qm31_select(odd, f[1].q, f[0].q);
  other.p = qm31_shfl_xor(qm31_select(odd, f[0].p, f[1].p), 1), other.q = qm31_shfl_xor(qm31_select(odd, f[0].q, f[1].q), 1);
  v.p0 = qm31_select(odd, other.p, keep.p), v.q0 = qm31_select(odd, other.q, keep.q);
  v.p1 = qm31_select(odd, keep.p, other.p), v.q1 = qm31_select(odd, keep.q, other.q);
  keep = fraction_sum(v);
  u64 x = base / 2 + lane / 2 + 16 * odd;
  if (x < size / 2) fraction_store(tree, m - 2, x, keep);
  if (levels == 2) return;
  other.p = qm31_shfl_xor(keep.p, 2), other.q = qm31_shfl_xor(keep.q, 2);
  x = base / 4 + lane / 4 + 8 * odd;
  if ((lane & 2) == 0 && x < size / 4) {
    v.p0 = keep.p, v.q0 = keep.q, v.p1 = other.p, v.q1 = other.q;
    fraction_store(tree, m - 3, x, fraction_sum(v));
  }
}

extern "C" __global__ void __launch_bounds__(256) logup_tree_ext(qm31 *tree, const u32 *num, const qm31 *den, u32 m, u32 levels) {
  tree_levels<KIND_EXT>(tree, num, den, m, levels);
}

extern "C" __global__ void __launch_bounds__(256) logup_tree_base(qm31 *tree, const u32 *num, const qm31 *den, u32 m, u32 levels) {
  tree_levels<KIND_BASE>(tree, num, den, m, levels);
}

// add_sums adds eq times S at 0 (or 1) and at 2, between lo and hi.
template <class N>
DEVICE_INLINE void add_sums(qm31_sum sum[2], const Nodes<N> &lo, const Nodes<N> &hi, bool at_one, qm31 lambda, qm31 eq) {
  Nodes<N> one, two;
  one.p0 = select(at_one, hi.p0, lo.p0), one.p1 = select(at_one, hi.p1, lo.p1);
  one.q0 = select(at_one, hi.q0, lo.q0), one.q1 = select(at_one, hi.q1, lo.q1);
  two.p0 = at_two(lo.p0, hi.p0), two.p1 = at_two(lo.p1, hi.p1), two.q0 = at_two(lo.q0, hi.q0), two.q1 = at_two(lo.q1, hi.q1);
  qm31_sum_mad(sum[0], eq, summand(one, lambda));
  qm31_sum_mad(sum[1], eq, summand(two, lambda));
}

DEVICE_INLINE qm31 fold(qm31 lo, qm31 hi, qm31 r) { return qm31_fold(lo, hi, r); }
DEVICE_INLINE qm31 fold(u32 lo, u32 hi, qm31 r) { return qm31_fold_base(lo, hi, r); }

// load_folded is the nodes at x with the first variable at r, where `half` is
// the number of them; it also writes them.
template <int KIND>
DEVICE_INLINE Nodes<qm31> load_folded(const u32 *num, const qm31 *den, u64 x, u64 half, qm31 r, qm31 *out_num, qm31 *out_den) {
  auto lo = Kind<KIND>::load(num, den, x), hi = Kind<KIND>::load(num, den, x + half);
  Nodes<qm31> v;
  v.p0 = fold(lo.p0, hi.p0, r), v.p1 = fold(lo.p1, hi.p1, r), v.q0 = fold(lo.q0, hi.q0, r), v.q1 = fold(lo.q1, hi.q1, r);
  out_num[2 * x] = v.p0, out_num[2 * x + 1] = v.p1, out_den[2 * x] = v.q0, out_den[2 * x + 1] = v.q1;
  return v;
}

// Round is the arguments that all kernels of a round have. The nodes are before
// the fold where the round folds: 2^(vars - round + 1) pairs instead of half as
// many. eq is the product of eq of the last low_bits variables, a table, and of
// the ones between. The sums over y are shared out in units of 2^unit_bits y with
// the same upper variables.
struct Round {
  u32 *sponge;
  State *state;
  qm31 *message, *point;
  const qm31 *z, *inverse, *low;
  qm31 *partials;
  u32 round, vars, low_bits, unit_bits;
};

// finish_round: the block that comes last adds up what all have left, and forms
// the message.
DEVICE_INLINE void finish_round(const Round &a, qm31 *shared, Ahead *ahead) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  transcript t;
  if (warp == 0) t = transcript_load(a.sponge);
  qm31 z = a.z[a.round], v = qm31_zero();
  if (warp == 7) {
    ahead_claim(ahead, a.state, a.round, a.point, a.z, a.inverse);
  } else if (warp == 6) {
    ahead_scale(ahead, a.state, a.round, a.point, a.z);
  } else {
#pragma unroll 1
    for (u32 b = threadIdx.x; b < 2 * gridDim.x; b += 192) v = qm31_add(v, a.partials[b]);
    v = pair_warp_sum(v);
    if (lane < 2) shared[2 * warp + lane] = v;
  }
  __syncthreads();
  if (warp != 0) return;
  v = pair_warp_sum(lane < 12 ? shared[lane] : qm31_zero());
  __syncwarp();
  qm31 other = qm31_shfl_xor(v, 1);
  bool odd = lane & 1;
  qm31 c = message(t, a.state, ahead, odd ? other : v, odd ? v : other, qm31_is_zero(z), shared, a.message);
  transcript_store(a.sponge, t);
  if (lane == 0) {
    a.point[a.round] = c;
    a.state->counter = 0;
  }
}

template <int KIND, bool FOLD>
DEVICE_INLINE void round_block(const Round &a, const u32 *num, const qm31 *den, qm31 *out_num, qm31 *out_den) {
  __shared__ qm31 high[32], shared[16];
  __shared__ Ahead ahead;
  __shared__ bool last;
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const u64 half = 1ull << (a.vars - 1 - a.round), units = half >> a.unit_bits;
  const u32 unit = 1u << a.unit_bits, high_bits = a.vars - 1 - a.round - a.low_bits;
  const bool at_one = qm31_is_zero(a.z[a.round]);
  const qm31 lambda = a.state->lambda, r = FOLD ? a.point[a.round - 1] : qm31_zero();
  qm31 total[2] = {qm31_zero(), qm31_zero()};
  for (u64 first = blockIdx.x; first < units; first += 32ull * gridDim.x) {
    __syncthreads();
    if (warp == 0) {
      u64 y = (first + (u64)lane * gridDim.x) << a.unit_bits;
      if (y < half) high[lane] = eq_bits(a.z + a.round + 1, high_bits, y >> a.low_bits);
    }
    __syncthreads();
#pragma unroll 1
    for (u32 c = 0; c < 32 && first + (u64)c * gridDim.x < units; c++) {
      u64 y = (first + (u64)c * gridDim.x) << a.unit_bits;
      const qm31 *low = a.low + (y & ((1ull << a.low_bits) - 1));
      qm31_sum sum[2] = {qm31_sum_zero(), qm31_sum_zero()};
#pragma unroll 1
      for (u32 j = threadIdx.x; j < unit; j += blockDim.x) {
        u64 x = y + j;
        if (FOLD) {
          auto lo = load_folded<KIND>(num, den, x, 2 * half, r, out_num, out_den);
          auto hi = load_folded<KIND>(num, den, x + half, 2 * half, r, out_num, out_den);
          add_sums(sum, lo, hi, at_one, lambda, low[j]);
        } else {
          add_sums(sum, Kind<KIND>::load(num, den, x), Kind<KIND>::load(num, den, x + half), at_one, lambda, low[j]);
        }
      }
      for (u32 e = 0; e < 2; e++) total[e] = qm31_add(total[e], qm31_mul(high[c], qm31_sum_value(sum[e])));
    }
  }
  qm31 v = pair_warp_sum(pair_of(total[0], total[1]));
  if (lane < 2) shared[2 * warp + lane] = v;
  __syncthreads();
  if (warp == 0) {
    v = pair_warp_sum(lane < 16 ? shared[lane] : qm31_zero());
    if (lane < 2) {
      a.partials[2 * blockIdx.x + lane] = v;
      __threadfence();
    }
    __syncwarp();
    if (lane == 0) last = atomicAdd(&a.state->counter, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  finish_round(a, shared, &ahead);
}

#define ROUND {sponge, state, message, point, z, inverse, low, partials, round, vars, low_bits, unit_bits}

// logup_first_*: a layer's first round.
extern "C" __global__ void __launch_bounds__(256) logup_first_ext(u32 *sponge, State *state, qm31 *message, qm31 *point,
                                                                     const qm31 *z, const qm31 *inverse, const qm31 *low, qm31 *partials,
                                                                     u32 round, u32 vars, u32 low_bits, u32 unit_bits, const u32 *num,
                                                                     const qm31 *den) {
  const Round a = ROUND;
  round_block<KIND_EXT, false>(a, num, den, 0, 0);
}

extern "C" __global__ void __launch_bounds__(256) logup_first_base(u32 *sponge, State *state, qm31 *message, qm31 *point,
                                                                     const qm31 *z, const qm31 *inverse, const qm31 *low, qm31 *partials,
                                                                     u32 round, u32 vars, u32 low_bits, u32 unit_bits, const u32 *num,
                                                                     const qm31 *den) {
  const Round a = ROUND;
  round_block<KIND_BASE, false>(a, num, den, 0, 0);
}

// logup_next_*: a later round, after the fold by the challenge before. It may be
// in place: a thread reads what it overwrites.
extern "C" __global__ void __launch_bounds__(256) logup_next_ext(u32 *sponge, State *state, qm31 *message, qm31 *point,
                                                                     const qm31 *z, const qm31 *inverse, const qm31 *low, qm31 *partials,
                                                                     u32 round, u32 vars, u32 low_bits, u32 unit_bits, const u32 *num,
                                                                     const qm31 *den,
                                                                     qm31 *out_num, qm31 *out_den) {
  const Round a = ROUND;
  round_block<KIND_EXT, true>(a, num, den, out_num, out_den);
}

extern "C" __global__ void __launch_bounds__(256) logup_next_base(u32 *sponge, State *state, qm31 *message, qm31 *point,
                                                                     const qm31 *z, const qm31 *inverse, const qm31 *low, qm31 *partials,
                                                                     u32 round, u32 vars, u32 low_bits, u32 unit_bits, const u32 *num,
                                                                     const qm31 *den,
                                                                     qm31 *out_num, qm31 *out_den) {
  const Round a = ROUND;
  round_block<KIND_BASE, true>(a, num, den, out_num, out_den);
}

// logup_denominators: out = w[0] - w[1] c0 - w[2] c1 - ..., without the columns
// that are null.
extern "C" __global__ void __launch_bounds__(256) logup_denominators(qm31 *__restrict__ out, const qm31 *__restrict__ w,
                                                                     const u32 *__restrict__ c0, const u32 *__restrict__ c1,
                                                                     const u32 *__restrict__ c2, const u32 *__restrict__ c3, u64 n) {
  u64 x = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  qm31_sum s = qm31_sum_zero();
  qm31_sum_add(s, w[0]);
  // Four products and an element stay below 2^64.
  const u32 *columns[4] = {c0, c1, c2, c3};
#pragma unroll
  for (u32 j = 0; j < 4; j++)
    if (columns[j]) {
      qm31 v = w[j + 1];
      u32 c = M31_P - columns[j][x];
      for (u32 k = 0; k < 4; k++) s.w[k] = mad_wide(c, v.x[k], s.w[k]);
    }
  out[x] = qm31_sum_value(s);
}
