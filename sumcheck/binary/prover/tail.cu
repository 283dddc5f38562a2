// Rounds over elements, for tables of any size and for tables that one block can hold.
#include "sumcheck/binary/prover/tail.cuh"

// binary_tail_round does one round: it binds the variable of the round before, in passing, and
// sums over `2^log_half` positions, 2^log_chunk at a time a block. Bound tables go to
// `first` (p_1) and `rest` (p_2 and on, `stride` apart), which may be where they come
// from. `begins` says that the claim is State.claim. The last block ends the round.
// Shared memory: the slots for a chunk, then tables for patterns.
extern "C" __global__ void __launch_bounds__(512) binary_tail_round(u32 *state, u32 round, u32 begins, u32 log_half, u32 log_chunk, u32 slots, u32 mode_first,
                                                             u32 mode_rest, const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3,
                                                             const uint4 *t4, uint4 *first, uint4 *rest, u64 stride) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ uint4 sums[8];
  __shared__ u32 last;
  State *s = (State *)state;
  u32 d = s->degree, pitch = 1u << log_chunk, inside = pitch - 1;
  u64 half = 1ull << log_half;
  uint4 *tables = memory + (u64)slots * pitch, r = round == 0 ? pv_zero() : s->polyval[round - 1];
  if (mode_rest & TAIL_PATTERN) pattern_tables(tables, s, mode_rest);
  if (threadIdx.x < 8) sums[threadIdx.x] = pv_zero();
  u32 final_task = s->count[0] + s->count[1], final_items = s->count[2] << log_chunk;
  pv_wide sum[2];
#pragma unroll
  for (u32 n = 0; n < 2; n++)
#pragma unroll
    for (u32 i = 0; i < 8; i++) sum[n].w[i] = 0;
#pragma unroll 1
  for (u64 base = (u64)blockIdx.x << log_chunk; base < half; base += (u64)gridDim.x << log_chunk) {
    __syncthreads();
#pragma unroll 1
    for (u32 i = threadIdx.x; i < 2 * d << log_chunk; i += TAIL_THREADS) {
      u32 slot = i >> log_chunk, j = slot >> 1, mode = j ? mode_rest : mode_first;
      u64 x = base + (i & inside) + (slot & 1 ? half : 0);
      uint4 v = entry(s, tables, mode, TAIL_TABLE(j), x, 2 * half, r);
      memory[i] = v;
      if (mode & TAIL_STORE) (j ? rest + (j - 1) * stride : first)[x] = v;
    }
    __syncthreads();
    run_stages(s, memory, pitch, log_chunk);
#pragma unroll
    for (u32 n = 0; n < 2; n++) {
      u32 i = threadIdx.x + n * TAIL_THREADS;
      if (i < final_items) {
        const Task &t = s->tasks[final_task + (i >> log_chunk)];
        const uint4 *at = memory + (i & inside);
        pv_accumulate(sum[n], pv_product(slots_sum(at, pitch, t.a), slots_sum(at, pitch, t.b)));
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (u32 n = 0; n < 2; n++) {
    u32 i = threadIdx.x + n * TAIL_THREADS;
    bool there = i < final_items;
    u32 out = there ? s->tasks[final_task + (i >> log_chunk)].out : 0;
    add_up(sums + out, pv_reduce(sum[n]), pitch, there);
  }
  __syncthreads();
  u32 *own = (u32 *)sums, *all = (u32 *)s->sums;
  if (gridDim.x > 1) {
    if (threadIdx.x < 32) atomicXor(all + threadIdx.x, own[threadIdx.x]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(s->counter, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    if (threadIdx.x < 32) {
      __threadfence();
      own[threadIdx.x] = atomicExch(all + threadIdx.x, 0u);
    }
    if (threadIdx.x == 0) s->counter[0] = 0;
  }
  if (threadIdx.x < 32) {
    __syncwarp();
    uint4 c[ROUND_DEGREE + 1];
    complete(c, sums, d, s->missing, begins ? warp_convert(s->to_polyval, s->claim) : s->claim_polyval);
    send(s, round, d, c);
    uint4 claim = polynomial_at(c, d, s->polyval[round]);
    __syncwarp();
    if (threadIdx.x == 0) s->claim_polyval = claim;
  }
}

// binary_tail_last: one block does all rounds from `round` on, over tables of 2^log entries once
// the variable of the round before is bound, and the evaluations but the first `skip`.
// Shared memory: the slots for 2^(log-1) positions, then tables for patterns.
extern "C" __global__ void __launch_bounds__(512) binary_tail_last(u32 *state, u32 round, u32 begins, u32 log, u32 slots, u32 skip, u32 mode_first, u32 mode_rest,
                                                            const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3, const uint4 *t4) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ uint4 sums[8], claim, challenge;
  State *s = (State *)state;
  u32 d = s->degree, missing = s->missing, pitch = 1u << (log - 1), warp = threadIdx.x >> 5;
  uint4 *tables = memory + slots * pitch, before = round == 0 ? pv_zero() : s->polyval[round - 1];
  if (mode_rest & TAIL_PATTERN) pattern_tables(tables, s, mode_rest);
  if (threadIdx.x < 8) sums[threadIdx.x] = pv_zero();
  if (warp == 0) {
    uint4 v = begins ? warp_convert(s->to_polyval, s->claim) : s->claim_polyval;
    if (threadIdx.x == 0) claim = v;
  }
  __syncthreads();
#pragma unroll 1
  for (u32 i = threadIdx.x; i < d << log; i += TAIL_THREADS) {
    u32 j = i >> log;
    memory[i] = entry(s, tables, j ? mode_rest : mode_first, TAIL_TABLE(j), i & ((1u << log) - 1), 1ull << log, before);
  }
  u32 final_task = s->count[0] + s->count[1], final_count = s->count[2];
#pragma unroll 1
  for (u32 left = log; left != 0; left--, round++) {
    u32 half_log = left - 1, half = 1u << half_log;
    __syncthreads();
    run_stages(s, memory, pitch, half_log);
    // A warp at a time, to its end.
#pragma unroll 1
    for (u32 i = threadIdx.x; (i & ~31u) < final_count << half_log; i += TAIL_THREADS) {
      bool there = i < final_count << half_log;
      uint4 v = pv_zero();
      u32 out = 0;
      if (there) {
        const Task &t = s->tasks[final_task + (i >> half_log)];
        const uint4 *at = memory + (i & half - 1);
        v = pv_mul(slots_sum(at, pitch, t.a), slots_sum(at, pitch, t.b));
        out = t.out;
      }
      add_up(sums + out, v, half, there);
    }
    __syncthreads();
    if (warp == 0) {
      uint4 c[ROUND_DEGREE + 1];
      complete(c, sums, d, missing, claim);
      send(s, round, d, c);
      if (threadIdx.x == 0) challenge = s->polyval[round];
    }
    __syncthreads();
    uint4 r = challenge;
    if (warp == TAIL_WARPS - 1) {
      uint4 c[ROUND_DEGREE + 1];
      complete(c, sums, d, missing, claim);
      uint4 next = polynomial_at(c, d, r);
      __syncwarp();
      u32 lane = threadIdx.x & 31;
      if (lane == 0) claim = next;
      if (lane < 8) sums[lane] = pv_zero();
    }
    // Entry y of a bound table goes to where position y of the next round has it.
    u32 quarter = half >> 1;
    if (d << half_log <= TAIL_THREADS) {
      u32 i = threadIdx.x, j = i >> half_log, y = i & half - 1;
      bool there = j < d;
      uint4 *lo = memory + 2 * j * pitch, v = pv_zero();
      if (there) v = pv_add(lo[y], pv_mul(pv_add(lo[y], lo[pitch + y]), r));
      __syncthreads();
      if (there) lo[y < quarter || half == 1 ? y : pitch + y - quarter] = v;
    } else {
#pragma unroll 1
      for (u32 i = threadIdx.x; i < d << half_log - 1; i += TAIL_THREADS) {
        uint4 *lo = memory + 2 * (i >> half_log - 1) * pitch, *hi = lo + pitch;
        u32 y = i & quarter - 1, z = y + quarter;
        lo[y] = pv_add(lo[y], pv_mul(pv_add(lo[y], hi[y]), r));
        hi[y] = pv_add(lo[z], pv_mul(pv_add(lo[z], hi[z]), r));
      }
    }
  }
  __syncthreads();
  if (warp == 0) {
    u32 j = threadIdx.x;
    if (j >= skip && j < d) s->evals[j - skip] = from_polyval(s, memory[2 * j * pitch]);
  }
}
