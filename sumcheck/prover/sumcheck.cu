// Kernels of package sumcheck/prover. One launch serves all instances of a
// batch that have joined: they are sorted by their number of variables, large
// first, so that in every round they are a prefix, and block (x, y) works for
// instance (or table) y of it.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "sumcheck/prover/round.cuh"

// What device.go calls tableDesc: a factor's table, or an instance's eq table.
struct Table {
  u64 source;  // the caller's table
  u64 folded;  // the table after the first fold, 2^(vars-1) elements
  u64 kind;    // 0: words, 1: elements, 2: eq of the variables after the round's
  u64 stride;  // of source
  u64 vars;    // of the instance
  u64 out;     // index of the final evaluation
};

// What device.go calls instanceDesc.
struct Instance {
  u64 point;   // eq's point, or null
  u64 coeffs;  // one a term, or null for ones
  u64 rest;    // eq of the variables after the round's
  u64 vars;
  u64 degree;  // of the inner polynomial: of the largest term
  u64 terms;   // number of terms
  u64 term;    // index of the first
  u64 table;   // index of the first factor's table
  u64 claim;   // index in the batch, as claims are numbered
};

// The state of one instance: its batching weight, eq of the bound variables,
// the inner claim, and the round's inner polynomial at 0, 1, 2, 3.
struct State {
  qm31 weight, scale, claim, inner[4];
};

// Halves of one table in one round.
struct Halves {
  const u32 *words;
  const qm31 *elements;
  u64 stride, half;
};

// first_round: the instance joins in this round, so its tables are the caller's.
DEVICE_INLINE Halves halves(const Table &t, u32 first_round, u64 half) {
  Halves h;
  h.half = half;
  h.stride = first_round ? t.stride : 1;
  h.words = first_round && t.kind == 0 ? (const u32 *)t.source : 0;
  h.elements = (const qm31 *)(first_round ? t.source : t.folded);
  return h;
}

// The round's variable among the instance's.
DEVICE_INLINE u32 own_round(u64 vars, u32 round, u32 rounds) { return round + (u32)vars - rounds; }

// sumcheck_start: one block absorbs the claims, draws gamma, and sets every
// instance's weight gamma^j.
extern "C" __global__ void __launch_bounds__(256) sumcheck_start(u32 *sponge, State *state, const qm31 *values, u32 n) {
  __shared__ qm31 gamma;
  if (threadIdx.x < 32) draw(sponge, values, n, &gamma);
  __syncthreads();
  for (u32 j = threadIdx.x; j < n; j += blockDim.x) {
    qm31 w = qm31_one(), g = gamma;
    for (u32 e = j; e != 0; e >>= 1) {
      if (e & 1) w = qm31_mul(w, g);
      g = qm31_sqr(g);
    }
    state[j].weight = w;
    state[j].scale = qm31_one();
    state[j].claim = values[j];
  }
}

// The inner polynomial at 1 instead of 0 is summed where the claim says nothing
// about its value at 1.
DEVICE_INLINE bool sum_at_one(const Instance &in, u32 k) {
  if (in.point == 0) return false;
  return qm31_is_zero(((const qm31 *)in.point)[k]);
}

// multiply_at multiplies p[e] by a factor's value at the e-th place, where the
// places are 0 (or 1), 2 and 3; `fresh` overwrites instead.
DEVICE_INLINE void multiply_at(qm31 p[3], const Halves &h, u64 x, bool at_one, u32 degree, bool fresh) {
  u64 lo = x * h.stride, hi = (x + h.half) * h.stride;
  if (h.words) {
    u32 a = h.words[lo], b = h.words[hi], step = m31_sub(b, a), v = at_one ? b : a;
    p[0] = fresh ? qm31_lift(v) : qm31_mul_base(p[0], v);
    v = b;
    for (u32 e = 1; e < 3; e++)
      if (e < degree) {
        v = m31_add(v, step);
        p[e] = fresh ? qm31_lift(v) : qm31_mul_base(p[e], v);
      }
    return;
  }
  qm31 a = h.elements[lo], b = h.elements[hi], step = qm31_sub(b, a), v = at_one ? b : a;
  p[0] = fresh ? v : qm31_mul(p[0], v);
  v = b;
  for (u32 e = 1; e < 3; e++)
    if (e < degree) {
      v = qm31_add(v, step);
      p[e] = fresh ? v : qm31_mul(p[e], v);
    }
}

// sum_range adds the inner polynomial's values at `degree` places over x, x +
// step, ... below half.
DEVICE_INLINE void sum_range(qm31 sum[3], const Instance &in, const Table *tables, const u64 *terms, u32 k, u64 x, u64 step) {
  u32 degree = (u32)in.degree;
  u64 half = 1ull << (in.vars - 1 - k);
  bool at_one = sum_at_one(in, k);
  const qm31 *coeffs = (const qm31 *)in.coeffs, *rest = in.point ? (const qm31 *)in.rest : 0;
  for (u32 e = 0; e < 3; e++) sum[e] = qm31_zero();
  for (; x < half; x += step) {
    qm31 all[3];
    for (u32 t = 0; t < in.terms; t++) {
      u32 term = (u32)terms[in.term + t], count = term & 255;
      qm31 p[3];
      for (u32 f = 0; f < count; f++)
        multiply_at(p, halves(tables[in.table + (term >> (8 + 8 * f) & 255)], k == 0, half), x, at_one, degree, f == 0);
      for (u32 e = 0; e < 3; e++)
        if (e < degree) {
          if (coeffs) p[e] = qm31_mul(p[e], coeffs[t]);
          all[e] = t == 0 ? p[e] : qm31_add(all[e], p[e]);
        }
    }
    for (u32 e = 0; e < 3; e++)
      if (e < degree) sum[e] = qm31_add(sum[e], rest ? qm31_mul(all[e], rest[x]) : all[e]);
  }
}

// store_block_sums adds a block's threads' sums up into out.
DEVICE_INLINE void store_block_sums(qm31 *out, const qm31 sum[3], u32 degree, qm31 *shared) {
  for (u32 e = 0; e < 3; e++)
    if (e < degree) {
      __syncthreads();
      qm31 v = qm31_block_sum(sum[e], shared);
      if (threadIdx.x == 0) out[e] = v;
    }
}

// sumcheck_sums: block (x, y) sums its share of instance y's inner polynomial
// into partials[y][x].
extern "C" __global__ void __launch_bounds__(256) sumcheck_sums(qm31 *partials, const Instance *__restrict__ instances,
                                                                const Table *__restrict__ tables, const u64 *__restrict__ terms, u32 round,
                                                                u32 rounds) {
  __shared__ qm31 shared[8];
  const Instance in = instances[blockIdx.y];
  u32 k = own_round(in.vars, round, rounds);
  if ((u64)blockIdx.x * blockDim.x >= 1ull << (in.vars - 1 - k)) return; // the whole block
  qm31 sum[3];
  sum_range(sum, in, tables, terms, k, (u64)blockIdx.x * blockDim.x + threadIdx.x, (u64)gridDim.x * blockDim.x);
  store_block_sums(partials + 3 * ((u64)blockIdx.y * gridDim.x + blockIdx.x), sum, (u32)in.degree, shared);
}

// advance takes an instance's state past the round before.
DEVICE_INLINE void advance(State &s, const Instance &in, u32 k, qm31 r) {
  s.claim = interpolate(s.inner, (u32)in.degree, r);
  if (in.point) s.scale = qm31_mul(s.scale, eq1(((const qm31 *)in.point)[k - 1], r));
}

// message_block: one block, a warp an instance in turns, adds the partial sums
// up, takes every instance's state to this round, writes the combined round
// polynomial at 0, 2, ..., d, absorbs it and draws the round's challenge.
DEVICE_INLINE void message_block(u32 *sponge, qm31 *message, State *state, const qm31 *partials, const Instance *instances, qm31 *point,
                                 u32 count, u32 blocks, u32 round, u32 rounds, u32 d, qm31 shared[8][4]) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  qm31 total[4];
  for (u32 e = 0; e < 4; e++) total[e] = qm31_zero();
  for (u32 a = warp; a < count; a += 8) {
    const Instance in = instances[a];
    bool joined = round + in.vars >= rounds;
    u32 k = joined ? own_round(in.vars, round, rounds) : 0;
    qm31 sum[3];
    if (joined) {
      u64 half = 1ull << (in.vars - 1 - k);
      u64 used = (half + 255) / 256; // blocks that had work
      if (used > blocks) used = blocks;
      for (u32 e = 0; e < 3; e++) {
        qm31 v = qm31_zero();
        if (e < in.degree)
          for (u32 b = lane; b < used; b += 32) v = qm31_add(v, partials[3 * ((u64)a * blocks + b) + e]);
        sum[e] = qm31_warp_sum(v);
      }
    }
    if (lane != 0) continue;
    State &s = state[in.claim];
    if (!joined) {
      // Constant in this variable and in those before it joins.
      qm31 v = qm31_mul(s.claim, s.weight);
      for (u32 i = round + 1 + (u32)in.vars; i < rounds; i++) v = qm31_add(v, v);
      for (u32 e = 0; e < 4; e++) total[e] = qm31_add(total[e], v);
      continue;
    }
    if (k > 0) advance(s, in, k, point[round - 1]);
    complete(s.inner, s.claim, in.point ? (const qm31 *)in.point + k : 0, sum[0], sum_at_one(in, k));
    if (in.degree > 1) s.inner[2] = sum[1];
    if (in.degree > 2) s.inner[3] = sum[2];
    qm31 factor = qm31_mul(s.weight, s.scale), linear = qm31_zero(), constant = qm31_zero();
    if (in.point) { // eq(z, X) = (1 - z) + X (2z - 1)
      qm31 z = ((const qm31 *)in.point)[k];
      constant = qm31_sub(qm31_one(), z);
      linear = qm31_sub(z, constant);
    }
    for (u32 e = 0; e < 4; e++) {
      u32 at = e == 0 ? 0 : e + 1;
      if (e >= d) continue;
      qm31 v = at <= in.degree ? s.inner[at] : interpolate(s.inner, (u32)in.degree, qm31_lift(at));
      if (in.point) v = qm31_mul(v, qm31_add(constant, qm31_mul_base(linear, at)));
      total[e] = qm31_add(total[e], qm31_mul(v, factor));
    }
  }
  if (lane == 0)
    for (u32 e = 0; e < 4; e++) shared[warp][e] = total[e];
  __syncthreads();
  if (threadIdx.x < d) {
    qm31 v = shared[0][threadIdx.x];
    for (u32 w = 1; w < 8; w++) v = qm31_add(v, shared[w][threadIdx.x]);
    message[threadIdx.x] = v;
  }
  __syncthreads();
  if (threadIdx.x < 32) draw(sponge, message, d, point + round);
}

extern "C" __global__ void __launch_bounds__(256) sumcheck_message(u32 *sponge, qm31 *message, State *state, const qm31 *partials,
                                                                   const Instance *__restrict__ instances, qm31 *point, u32 count,
                                                                   u32 blocks, u32 round, u32 rounds, u32 d) {
  __shared__ qm31 shared[8][4];
  message_block(sponge, message, state, partials, instances, point, count, blocks, round, rounds, d, shared);
}

// fold_range folds entries x, x + step, ... of a table by the challenge, in
// place after the first time; eq tables are summed over the next variable.
DEVICE_INLINE void fold_range(const Table &t, qm31 r, u32 k, u64 x, u64 step) {
  u64 half = 1ull << (t.vars - 1 - k);
  qm31 *out = (qm31 *)t.folded;
  if (t.kind == 2) {
    for (; x < half / 2; x += step) out[x] = qm31_add(out[x], out[x + half / 2]);
    return;
  }
  Halves h = halves(t, k == 0, half);
  for (; x < half; x += step) {
    u64 lo = x * h.stride, hi = (x + half) * h.stride;
    out[x] = h.words ? qm31_fold_base(h.words[lo], h.words[hi], r) : qm31_fold(h.elements[lo], h.elements[hi], r);
  }
}

// sumcheck_fold: block (x, y) folds its share of table y.
extern "C" __global__ void __launch_bounds__(256) sumcheck_fold(const Table *__restrict__ tables, const qm31 *__restrict__ challenge, u32 round,
                                                                u32 rounds) {
  const Table t = tables[blockIdx.y];
  fold_range(t, challenge[0], own_round(t.vars, round, rounds), (u64)blockIdx.x * blockDim.x + threadIdx.x, (u64)gridDim.x * blockDim.x);
}

// evals_block writes the factors' final values and absorbs them, as one list.
DEVICE_INLINE void evals_block(u32 *sponge, qm31 *evals, const Table *tables, u32 count, u32 n) {
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
    const Table t = tables[i];
    if (t.kind == 2) continue;
    if (t.vars == 0 && t.kind == 0)
      evals[t.out] = qm31_lift(((const u32 *)t.source)[0]);
    else
      evals[t.out] = ((const qm31 *)(t.vars == 0 ? t.source : t.folded))[0];
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    transcript t = transcript_load(sponge);
    transcript_absorb(t, (const u32 *)evals, 4 * n);
    transcript_store(sponge, t);
  }
}

// sumcheck_tail: one block does all rounds from `first` on, and the evaluations.
// Where there are as many instances (or tables) as warps, each warp takes its
// own ones, else all threads share each.
extern "C" __global__ void __launch_bounds__(256) sumcheck_tail(u32 *sponge, qm31 *messages, qm31 *evals, qm31 *point, State *state,
                                                                qm31 *partials, const Instance *__restrict__ instances,
                                                                const Table *__restrict__ tables, const u64 *__restrict__ terms, u32 count,
                                                                u32 table_count, u32 eval_count, u32 first, u32 rounds, u32 d) {
  __shared__ qm31 shared[8];
  __shared__ qm31 shared4[8][4];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u32 active = 0, folding = 0;
  for (u32 round = first; round < rounds; round++) {
    while (active < count && round + instances[active].vars >= rounds) active++;
    while (folding < table_count && round + tables[folding].vars >= rounds) folding++;
    bool apart = active >= 8;
    for (u32 a = apart ? warp : 0; a < active; a += apart ? 8 : 1) {
      const Instance in = instances[a];
      u32 k = own_round(in.vars, round, rounds);
      qm31 sum[3];
      if (!apart) {
        sum_range(sum, in, tables, terms, k, threadIdx.x, 256);
        store_block_sums(partials + 3 * a, sum, (u32)in.degree, shared);
        continue;
      }
      sum_range(sum, in, tables, terms, k, lane, 32);
      for (u32 e = 0; e < 3; e++)
        if (e < in.degree) {
          qm31 v = qm31_warp_sum(sum[e]);
          if (lane == 0) partials[3 * a + e] = v;
        }
    }
    __syncthreads();
    message_block(sponge, messages + (u64)round * d, state, partials, instances, point, count, 1, round, rounds, d, shared4);
    __syncthreads();
    qm31 r = point[round];
    apart = folding >= 8;
    for (u32 i = apart ? warp : 0; i < folding; i += apart ? 8 : 1) {
      const Table t = tables[i];
      fold_range(t, r, own_round(t.vars, round, rounds), apart ? lane : threadIdx.x, apart ? 32 : 256);
    }
    __syncthreads();
  }
  evals_block(sponge, evals, tables, table_count, eval_count);
}

// sumcheck_evals is what ends a run without a tail.
extern "C" __global__ void __launch_bounds__(256) sumcheck_evals(u32 *sponge, qm31 *evals, const Table *__restrict__ tables, u32 count, u32 n) {
  evals_block(sponge, evals, tables, count, n);
}
