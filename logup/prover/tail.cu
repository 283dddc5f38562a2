// The kernel of package logup/prover for what fits into one block's memory: the
// top of the tree, all of the small layers, and the last rounds of large ones.
#include "logup/prover/layer.cuh"

#define TAIL_THREADS 512
#define TAIL_WARPS (TAIL_THREADS / 32)

// Where a layer's messages and its point begin in the proof and among points.
DEVICE_INLINE u64 words_at(u64 k) { return 2 + 3 * k * (k - 1) / 2 + 4 * k; }
DEVICE_INLINE u64 point_at(u64 k) { return k * (k + 1) / 2; }

struct Tail {
  State s;
  Ahead ahead;
  qm31 z[32], inverse[64]; // the layer's point, and inverse_pair of it
  qm31 r[32];              // the challenges so far, and tau
  qm31 list[4], value;
  qm31 sums[2 * TAIL_WARPS];
};

// low_table writes eq of the last `bits` of n coordinates, at most 5 + 6. All
// warps but the first share the work without waiting for each other.
DEVICE_INLINE void low_table(qm31 *out, const qm31 *z, u32 n, u32 bits) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32 - 1, few = bits < 5 ? bits : 5, upper = bits - few;
  qm31 b = eq_bits(z + n - few, few, lane);
  qm31 a = eq_bits(z + n - bits, upper, warp + (TAIL_WARPS - 1) * lane);
  for (u32 l = 0; warp + (TAIL_WARPS - 1) * l < 1u << upper; l++) {
    u32 h = warp + (TAIL_WARPS - 1) * l;
    qm31 v = qm31_make(shfl_idx(a.x[0], l), shfl_idx(a.x[1], l), shfl_idx(a.x[2], l), shfl_idx(a.x[3], l));
    v = mul_call(v, b);
    if (lane < 1u << few) out[h << few | lane] = v;
  }
}

// claim is for the first warp: it draws lambda, absorbs the claim P + lambda Q
// and draws the sum-check's batching challenge, which one claim has no use for.
DEVICE_INLINE void claim(transcript &t, Tail *b, qm31 p, qm31 q) {
  qm31 lambda = transcript_challenge(t), v = qm31_add(p, mul_call(lambda, q));
  if ((threadIdx.x & 31) == 0) b->value = v, b->s.claim = v, b->s.lambda = lambda;
  __syncwarp();
  transcript_absorb(t, (const u32 *)&b->value, 4);
  transcript_challenge(t);
}

// Tables are a layer's in shared memory: the numerators and denominators of the
// nodes' halves, each after `stride` elements, eq of the variables after the
// round's, and lambda times that.
struct Tables {
  qm31 *p0;
  u32 stride;
  qm31 *rest, *rest_lambda;
};

// tail_sums sums eq times the summand at 0 (or 1), in even lanes, and at 2, over
// the 2^(left-1) pairs of halves. While there are few pairs, eight threads take
// one: two places, of p0 q1 eq, p1 q0 eq and q0 q1 lambda eq one each.
DEVICE_INLINE qm31 tail_sums(const Tables &t, u32 left, bool at_one, qm31 lambda) {
  u32 half = 1u << (left - 1), e = threadIdx.x & 1, y = threadIdx.x / 8;
  auto value = [&](u32 table) -> qm31 {
    qm31 lo = t.p0[table * t.stride + y], hi = t.p0[table * t.stride + y + half];
    return qm31_select(e, at_two(lo, hi), qm31_select(at_one, hi, lo));
  };
  qm31 sum = qm31_zero();
  if (8 * half <= TAIL_THREADS) {
    u32 term = threadIdx.x / 2 & 3;
    if (y < half && term < 3)
      sum = mul_call(mul_call(value(term == 0 ? 0 : 2), value(term == 1 ? 1 : 3)), term == 2 ? t.rest_lambda[y] : t.rest[y]);
    return sum;
  }
  for (y = threadIdx.x / 2; y < half; y += TAIL_THREADS / 2) {
    Nodes<qm31> v;
    v.p0 = value(0), v.p1 = value(1), v.q0 = value(2), v.q1 = value(3);
    sum = qm31_add(sum, mul_call(summand(v, lambda), t.rest[y]));
  }
  return sum;
}

// logup_tail proves layers `layer` to end-1 of a tree of `depth`, the first of
// them from `round` on, the others whole; a layer has at most tail_vars rounds
// left here. num and den are the tables of layer `depth`, or what they are before
// the fold by the challenge before `round`. Where layer is 0 the tree's top, from
// layer `top` up, is built first, and the root absorbed.
extern "C" __global__ void __launch_bounds__(512, 1) logup_tail(u32 *sponge, State *state, qm31 *words, qm31 *points, qm31 *tree, const u32 *num,
                                                             const qm31 *den, qm31 *low, qm31 *inverse, u32 kind, u32 depth, u32 top,
                                                             u32 layer, u32 end, u32 round, u32 tail_vars) {
  __shared__ Tail b;
  SHARED_DYNAMIC(qm31, tables);
  const u32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32, stride = 1u << tail_vars;
  qm31 *rest = tables + 4 * stride, *rest_lambda = rest + stride / 2;
  const Tables shared = {tables, stride, rest, rest_lambda};
  transcript t;
  if (warp == 0) t = transcript_load(sponge);

  if (layer == 0) {
    if (tid == 0) b.s.counter = 0;
    for (u32 m = top; m > 0; m--) {
      bool leaves = m == depth;
      const u32 *below = leaves ? num : (const u32 *)(tree + (2ull << m));
      const qm31 *below_den = leaves ? den : tree + (3ull << m);
      for (u32 x = tid; x < 1u << (m - 1); x += TAIL_THREADS)
        fraction_store(tree, m - 1, x, fraction_sum(nodes_lifted(leaves ? kind : KIND_EXT, below, below_den, x)));
      __syncthreads();
    }
    if (warp == 0) {
      qm31 p, q;
      if (depth > 0)
        p = tree[2], q = tree[3];
      else
        p = kind == KIND_EXT ? qm31_load(num, 0) : qm31_lift(num ? num[0] : 1), q = den[0];
      if (lane == 0) words[0] = b.list[0] = p, words[1] = b.list[1] = q;
      __syncwarp();
      transcript_absorb(t, (const u32 *)b.list, 8);
      if (depth > 0) claim(t, &b, p, q);
    }
  } else {
    if (tid == 0) b.s = *state;
    if (tid < layer) {
      b.z[tid] = points[point_at(layer - 1) + tid];
      b.inverse[2 * tid] = inverse[2 * tid];
      b.inverse[2 * tid + 1] = inverse[2 * tid + 1];
    }
    if (tid < round) b.r[tid] = points[point_at(layer) + tid];
  }
  __syncthreads();

  for (u32 k = layer; k < end; k++) {
    const u32 first = k == layer ? round : 0;
    const bool leaves = k + 1 == depth || first > 0, fold = first > 0;
    const u32 *below = leaves ? num : (const u32 *)(tree + (4ull << k));
    const qm31 *below_den = leaves ? den : tree + (6ull << k);
    const u32 from = leaves ? kind : KIND_EXT;
    qm31 *out = words + words_at(k), *point = points + point_at(k);
    for (u32 x = tid; x < 1u << (k - first); x += TAIL_THREADS) {
      Nodes<qm31> v = nodes_lifted(from, below, below_den, x);
      if (fold) {
        Nodes<qm31> hi = nodes_lifted(from, below, below_den, x + (1u << (k - first)));
        qm31 r = b.r[first - 1];
        v.p0 = fold_call(v.p0, hi.p0, r), v.p1 = fold_call(v.p1, hi.p1, r);
        v.q0 = fold_call(v.q0, hi.q0, r), v.q1 = fold_call(v.q1, hi.q1, r);
      }
      tables[x] = v.p0, tables[stride + x] = v.p1, tables[2 * stride + x] = v.q0, tables[3 * stride + x] = v.q1;
    }
    if (k > first)
      for (u32 y = tid, half = 1u << (k - first - 1); y < half; y += TAIL_THREADS) {
        if (fold) rest[y] = qm31_add(low[y], low[y + half]);
        rest_lambda[y] = mul_call(rest[y], b.s.lambda);
      }

    for (u32 i = first; i < k; i++) {
      const u32 left = k - i; // variables, with this round's
      if (i > first) {
        qm31 r = b.r[i - 1];
        for (u32 j = tid; j < 4u << left; j += TAIL_THREADS) {
          qm31 *v = tables + (j >> left) * stride + (j & ((1u << left) - 1));
          v[0] = fold_call(v[0], v[1u << left], r);
        }
        for (u32 y = tid, half = 1u << (left - 1); y < half; y += TAIL_THREADS) {
          rest[y] = qm31_add(rest[y], rest[y + half]);
          rest_lambda[y] = qm31_add(rest_lambda[y], rest_lambda[y + half]);
        }
      }
      __syncthreads();
      if (warp == TAIL_WARPS - 1) ahead_claim(&b.ahead, &b.s, i, b.r, b.z, b.inverse);
      if (warp == TAIL_WARPS - 2) ahead_scale(&b.ahead, &b.s, i, b.r, b.z);
      const bool at_one = qm31_is_zero(b.z[i]);
      qm31 v = pair_warp_sum(tail_sums(shared, left, at_one, b.s.lambda));
      if (lane < 2) b.sums[2 * warp + lane] = v;
      __syncthreads();
      if (warp == 0) {
        v = pair_warp_sum(b.sums[lane]);
        qm31 other = qm31_shfl_xor(v, 1);
        bool odd = lane & 1;
        qm31 c = message(t, &b.s, &b.ahead, odd ? other : v, odd ? v : other, at_one, b.list, out + 3 * i);
        if (lane == 0) b.r[i] = point[i] = c;
      }
      __syncthreads();
    }

    if (k == first) __syncthreads();
    if (warp == 0) {
      if (lane < 4) {
        const qm31 *v = tables + lane * stride;
        qm31 e = k > first ? fold_call(v[0], v[1], b.r[k - 1]) : v[0];
        b.list[lane] = out[3 * k + lane] = e;
      }
      __syncwarp();
      transcript_absorb(t, (const u32 *)b.list, 16);
      qm31 tau = transcript_challenge(t);
      if (lane == 0) b.r[k] = point[k] = tau;
    }
    __syncthreads();
    if (tid <= k) b.z[tid] = b.r[tid];
    if (k + 1 == depth) break;
    __syncthreads();
    // The next layer: its claim, beside what depends on its point alone.
    if (warp == 0) {
      qm31 tau = b.r[k];
      claim(t, &b, fold_call(b.list[0], b.list[1], tau), fold_call(b.list[2], b.list[3], tau));
    } else {
      bool here = k + 1 < end;
      low_table(here ? rest : low, b.z, k + 1, k < tail_vars ? k : tail_vars);
      if (warp == TAIL_WARPS - 1 && lane <= k) {
        inverse_pair(b.inverse + 2 * lane, b.z[lane]);
        if (!here) inverse[2 * lane] = b.inverse[2 * lane], inverse[2 * lane + 1] = b.inverse[2 * lane + 1];
      }
    }
    __syncthreads();
  }
  if (warp == 0) transcript_store(sponge, t);
  if (tid == 0) *state = b.s;
}
