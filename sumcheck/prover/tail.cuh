// The tail: one block does all rounds that are left once the tables are small,
// a round at a time, and the evaluations.
#pragma once
#include "sumcheck/prover/line.cuh"

#define TAIL_THREADS 384u
#define TAIL_WARPS 12u

struct Tail {
  Bound bound;
  qm31 sums[TAIL_WARPS][LINE_POINTS];
  qm31 share[TAIL_WARPS][LINE_POINTS];
  qm31 message[LINE_POINTS];
  qm31 challenge;
};

// claim_weight is gamma to the power of a claim's number.
DEVICE_INLINE qm31 claim_weight(qm31 g, u32 claim) {
  qm31 w = qm31_one();
  for (; claim != 0; claim >>= 1) {
    if (claim & 1) w = qm31_mul(w, g);
    g = qm31_sqr(g);
  }
  return w;
}

// begin_batch absorbs the claims, draws gamma and sets the instances' weights, and
// what those that join later add before. One block.
static __device__ __noinline__ void begin_batch(u32 *sponge, const Batch *b, const qm31 *values, qm31 *gamma) {
  if (threadIdx.x < 32 && !b->goes_on) draw(sponge, values, (u32)b->claims, gamma);
  if (threadIdx.x == 0 && b->goes_on) *gamma = *(const qm31 *)b->gamma;
  for (u32 i = threadIdx.x; i < 4 * MAX_POINTS * SUM_CLASSES; i += blockDim.x) ((u64 *)b->sums)[i] = 0;
  if (threadIdx.x == 0) ((u32 *)b->counter)[0] = 0;
  __syncthreads();
  const Instance *in = (const Instance *)b->instances;
  qm31 *weights = (qm31 *)b->weights;
  for (u32 a = threadIdx.x; a < b->count; a += blockDim.x) weights[a] = claim_weight(*gamma, (u32)in[a].claim);
  if (threadIdx.x == 0 && b->gamma && !b->goes_on) *(qm31 *)b->gamma = *gamma;
  __syncthreads();
  // A warp a number of variables.
  for (u32 v = threadIdx.x >> 5; v <= b->n; v += blockDim.x >> 5) {
    qm31 sum = qm31_zero();
    for (u32 a = threadIdx.x & 31; a < b->count; a += 32)
      if (in[a].vars == v && !in[a].part) sum = qm31_add(sum, qm31_mul(weights[a], values[in[a].claim]));
    if (v == 0)
      for (u32 i = threadIdx.x & 31; i < b->afters; i += 32) {
        u64 word = ((const u64 *)b->after)[i];
        u32 twos = (u32)(word >> 32) % 31;
        qm31 u = qm31_mul(claim_weight(*gamma, (u32)word), values[(u32)word]);
        sum = qm31_add(sum, qm31_make(m31_rotate(u.x[0], twos), m31_rotate(u.x[1], twos), m31_rotate(u.x[2], twos), m31_rotate(u.x[3], twos)));
      }
    sum = warp_total(sum);
    if ((threadIdx.x & 31) == 0) ((qm31 *)b->late)[v] = sum;
  }
  __syncthreads();
}

// bound_by is how many of an instance's variables the `pending` rounds before
// `round` bind, and open_at how many are left then.
DEVICE_INLINE u32 bound_by(const Batch *b, u64 vars, u32 round, u32 pending) {
  u64 rounds = round + vars > b->n ? round + vars - b->n : 0;
  return rounds < pending ? (u32)rounds : pending;
}

DEVICE_INLINE u32 open_at(const Batch *b, u64 vars, u32 round) { return (u32)(vars < b->n - round ? vars : b->n - round); }

// tail_load takes all tables to the tail's memory, bound by the pending rounds.
DEVICE_INLINE void tail_load(const Batch *b, qm31 *memory, u32 round, u32 pending, const Bound &bound) {
  bool apart = b->table_count > 4;
  u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll 1
  for (u32 i = apart ? warp : 0; i < b->table_count; i += apart ? TAIL_WARPS : 1) {
    const Table &t = ((const Table *)b->tables)[i];
    u32 bind = bound_by(b, t.vars, round, pending), open = open_at(b, t.vars, round);
    Side s = side_of(t, open + bind == t.vars);
    const u64 *sums = t.kind == 2 ? (const u64 *)t.source : 0;
#pragma unroll 1
    for (u64 x = apart ? lane : threadIdx.x; x < 1ull << open; x += apart ? 32 : TAIL_THREADS) {
      const u64 *w = sums + 4 * x;
      qm31 v;
      if (sums)
        v = qm31_make(m31_reduce(w[0]), m31_reduce(w[1]), m31_reduce(w[2]), m31_reduce(w[3]));
      else if (s.words != 0 && s.stride == 1 && bind == 3)
        v = bind_words<3>(s.words + x, open, bound.weights[3]);
      else if (s.words == 0 && s.stride == 1 && bind == 2)
        v = bind_elements(s.elements + x, open, bound.last + MAX_WINDOW - 2);
      else
        v = bound_entry(s, x, open, bind, bound.weights[bind]);
      memory[t.tail + x] = v;
    }
  }
}

// tail_fold binds the round's variable.
DEVICE_INLINE void tail_fold(const Batch *b, qm31 *memory, u32 round, qm31 r) {
  u64 half = 1ull << (b->n - 1 - round);
  bool apart = b->table_count > 1 && half < 128;
  u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll 1
  for (u32 i = apart ? warp : 0; i < b->table_count; i += apart ? TAIL_WARPS : 1) {
    const Table &t = ((const Table *)b->tables)[i];
    if (round + t.vars < b->n) continue;
    qm31 *at = memory + t.tail;
#pragma unroll 1
    for (u64 x = apart ? lane : threadIdx.x; x < half; x += apart ? 32 : TAIL_THREADS) at[x] = qm31_fold(at[x], at[x + half], r);
  }
}

// write_evals writes the factors' final values from a memory of tables of one
// entry, or null for the batch's tables with pending rounds to bind.
DEVICE_INLINE void write_evals(const Batch *b, const qm31 *memory, u32 pending, const Bound &bound) {
  qm31 *evals = (qm31 *)b->evals;
  for (u32 i = threadIdx.x; i < b->table_count; i += blockDim.x) {
    const Table &t = ((const Table *)b->tables)[i];
    u32 bind = bound_by(b, t.vars, (u32)b->n, pending);
    evals[t.out] = memory ? memory[t.tail] : bound_entry(side_of(t, bind == t.vars), 0, 0, bind, bound.weights[bind]);
  }
}

// absorb_evals absorbs them as one list. The first warp.
DEVICE_INLINE void absorb_evals(transcript &t, const Batch *b) {
  if (b->eval_count > 0) transcript_absorb(t, (const u32 *)b->evals, 4 * (u32)b->eval_count);
}

// tail_block does the rounds from `first` on; `pending` rounds before it are not
// bound yet. values are the claims, if the batch begins here. K::sums is
// line_sums for any instance of the batch.
template <class K>
DEVICE_INLINE void tail_block(u32 *sponge, const Batch *b, const qm31 *values, qm31 *memory, u32 first, u32 pending) {
  __shared__ Tail s;
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, d = (u32)b->d, n = (u32)b->n;
  if (values) begin_batch(sponge, b, values, &s.challenge);
  if (warp == 0) bind_weights(s.bound, (const qm31 *)b->point, first, threadIdx.x);
  __syncthreads();
  tail_load(b, memory, first, pending, s.bound);
  transcript t;
  if (warp == 0) t = transcript_load(sponge);
#pragma unroll 1
  for (u32 round = first; round < n; round++) {
    __syncthreads();
    // Every instance that has joined has tables of 2 * half entries by now.
    u64 half = 1ull << (n - 1 - round);
    bool apart = b->count > 1 && half < 128;
    u32 used = TAIL_WARPS; // warps that sum
    if (!apart && half < TAIL_THREADS) used = (u32)(half + 31) / 32;
    qm31 mine = qm31_zero();
    if (warp < used)
#pragma unroll 1
      for (u32 a = apart ? warp : 0; a < b->count; a += apart ? TAIL_WARPS : 1) {
        const Instance &in = ((const Instance *)b->instances)[a];
        if (round + in.vars < n) continue;
        K::sums(b, in, memory, half, apart ? lane : threadIdx.x, apart ? 32 : TAIL_THREADS, s.sums[warp]);
        if (lane <= d) mine = qm31_add(mine, line_share(b, in, a, n - round, s.sums[warp], d, lane));
        __syncwarp();
      }
    if (lane <= d) s.share[warp][lane] = mine;
    __syncthreads();
    if (warp == 0) {
      qm31 total = late_share(b, n - 1 - round);
      if (lane <= d)
        for (u32 w = 0; w < used; w++) total = qm31_add(total, s.share[w][lane]);
      if (lane <= d && lane != 1) {
        u32 e = lane == 0 ? 0 : lane - 1;
        s.message[e] = total;
        ((qm31 *)b->rounds)[(u64)round * d + e] = total;
      }
      __syncwarp();
      transcript_absorb(t, (const u32 *)s.message, 4 * d);
      qm31 r = transcript_challenge(t);
      if (lane == 0) ((qm31 *)b->point)[round] = s.challenge = r;
    }
    __syncthreads();
    tail_fold(b, memory, round, s.challenge);
    weigh_eq(b, round, round + 1);
  }
  __syncthreads();
  if (b->evals) write_evals(b, memory, 0, s.bound);
  __syncthreads();
  if (warp == 0) {
    if (b->evals) absorb_evals(t, b);
    transcript_store(sponge, t);
  }
}

// Only is the K of a batch all of whose summands are S.
template <class S> struct Only {
  MEMBER_INLINE static void sums(const Batch *b, const Instance &in, const qm31 *memory, u64 half, u64 x, u64 step, qm31 *out) {
    line_sums<S>(b, in, memory, half, x, step, out);
  }
};
