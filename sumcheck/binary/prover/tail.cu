// Rounds over elements, for tables of any size and for tables that one block can hold.
#include "sumcheck/binary/prover/tail.cuh"

// binary_tail_pairs makes table[a + 256 b], the product of what two patterns of eight bits
// stand for after three rounds.
extern "C" __global__ void __launch_bounds__(256) binary_tail_pairs(const u32 *state, uint4 *table) {
  const State *s = (const State *)state;
  uint4 a = pv_zero(), b = pv_zero();
#pragma unroll 1
  for (u32 u = 0; u < 8; u++) {
    uint4 w = s->weights[u];
    if (threadIdx.x >> u & 1) a = pv_add(a, w);
    if (blockIdx.x >> u & 1) b = pv_add(b, w);
  }
  table[256 * blockIdx.x + threadIdx.x] = pv_mul(a, b);
}

// binary_tail_round does one round: it binds the variable of the round before, in passing, and
// sums over `2^log_half` positions, 2^log_chunk at a time a block. Bound tables go to
// `first` (p_1) and `rest` (p_2 and on, `stride` apart), which may be where they come
// from. claim_from: 0 to sum S(1) up too, 1 for State.claim, 2 for the claim that the
// round before left if its claim_next was set. masked: p_d's products are left to masks
// (mask_stage), for 2^masked tasks; with masks, pairs may be the table of products of
// p_(d-2) and p_(d-1) by patterns, instead of their values and products. The last block
// ends the round.
// Shared memory: the slots for a chunk, State's maps, tables for patterns, p_d's patterns.
extern "C" __global__ void __launch_bounds__(256, 3) binary_tail_round(u32 *state, u32 round, u32 d, u32 claim_from, u32 claim_next, u32 masked, u32 log_half, u32 log_chunk, u32 slots, u32 mode_first,
                                                             u32 mode_rest, const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3,
                                                             const uint4 *t4, const uint4 *__restrict__ pairs, uint4 *first, uint4 *rest,
                                                             u64 stride) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ uint4 sums[8], selected[16 * 8];
  __shared__ Program program;
  __shared__ u32 transcript[TOWER_WORDS];
  State *s = (State *)state;
  u32 pitch = 1u << log_chunk, inside = pitch - 1;
  load_program(&program, s->program);
  if (threadIdx.x < TOWER_WORDS) transcript[threadIdx.x] = s->transcript[threadIdx.x];
  u64 half = 1ull << log_half;
  uint4 *maps = memory + slots * pitch, *tables = maps + 1024, r = round == 0 ? pv_zero() : s->polyval[round - 1];
  load_maps(maps, s);
  if (mode_rest & TAIL_PATTERN) pattern_tables(tables, s, mode_rest);
  if (threadIdx.x < 8) sums[threadIdx.x] = pv_zero();
  __syncthreads();
  u32 final_task = program.count[0] + program.count[1], final_count = program.count[2] - (claim_from != 0), final_items = final_count << log_chunk;
  u32 *lines = (u32 *)(tables + (mode_rest & TAIL_PATTERN ? TAIL_BYTES(mode_rest) << TAIL_LEVELS(mode_rest) + 8 : 0));
  // Threads for masks: 4 limbs, positions, tasks.
  u32 together = blockDim.x >> 2 >> masked, mask_first = (threadIdx.x >> 2) & together - 1, mask_task = (threadIdx.x >> 2) / together;
  bool masks = masked != 0, wide = TAIL_WINDOW(mode_rest) + TAIL_LEVELS(mode_rest) > 3, there = mask_task < final_count;
  bool paired = pairs != 0;
  u32 needed = paired ? d - 3 : masks && !(mode_rest & TAIL_STORE) ? d - 1 : d; // tables as elements
  // A thread's sums: two products, or what 16 bits select.
  u32 sum[16];
#pragma unroll
  for (u32 i = 0; i < 16; i++) sum[i] = 0;
#pragma unroll 1
  for (u64 base = (u64)blockIdx.x << log_chunk; base < half; base += (u64)gridDim.x << log_chunk) {
    __syncthreads();
#pragma unroll 1
    for (u32 i = threadIdx.x; i < 2 * needed << log_chunk; i += blockDim.x) {
      u32 slot = i >> log_chunk, j = slot >> 1, mode = j ? mode_rest : mode_first;
      u64 x = base + (i & inside) + (slot & 1 ? half : 0);
      uint4 v = entry(s, tables, mode, TAIL_TABLE(j), x, 2 * half, r);
      memory[i] = v;
      if (mode & TAIL_STORE) (j ? rest + (j - 1) * stride : first)[x] = v;
    }
    if (paired)
#pragma unroll 1
      for (u32 i = threadIdx.x; i < 3u << log_chunk; i += blockDim.x) {
        u32 t = i >> log_chunk; // at 0, at 1, slopes
        u64 x = base + (i & inside);
        const u8 *a = (const u8 *)TAIL_TABLE(d - 3), *b = (const u8 *)TAIL_TABLE(d - 2);
        u32 at = 0;
        if (t != 1) at = a[x] | (u32)b[x] << 8;
        if (t != 0) at ^= a[x + half] | (u32)b[x + half] << 8;
        memory[program.tasks[program.count[0] - 3 + t].out * pitch + (i & inside)] = ldg(pairs + at);
      }
    if (masks)
#pragma unroll 1
      for (u32 c = threadIdx.x; c < pitch; c += blockDim.x) {
        const uint4 *table = TAIL_TABLE(d - 1);
        u32 lo = pattern_bits(mode_rest, table, base + c, 2 * half), hi = pattern_bits(mode_rest, table, base + half + c, 2 * half);
        lines[c] = lo;
        lines[pitch + c] = lo ^ hi;
      }
    __syncthreads();
    run_stages(&program, memory, pitch, log_chunk, paired ? 3 : 0);
    if (masks) {
      if (there) mask_stage(sum, program.tasks[final_task + mask_task], 3u << 2 * (d - 1), wide, memory, lines, pitch, mask_first, together);
    } else {
#pragma unroll
      for (u32 n = 0; n < 2; n++) {
        u32 i = threadIdx.x + n * blockDim.x;
        if (i < final_items) {
          const Task &t = program.tasks[final_task + (i >> log_chunk)];
          const uint4 *at = memory + (i & inside);
          pv_wide v = pv_product(slots_sum(at, pitch, t.a), slots_sum(at, pitch, t.b));
#pragma unroll
          for (u32 k = 0; k < 8; k++) sum[8 * n + k] ^= v.w[k];
        }
      }
    }
  }
  __syncthreads();
  if (masks) {
    u32 *words = (u32 *)selected;
    for (u32 i = threadIdx.x; i < 4 * 16 * 8; i += blockDim.x) words[i] = 0;
    __syncthreads();
    // Of a warp's lanes, eight have the same limb and task.
#pragma unroll
    for (u32 i = 0; i < 16; i++) {
      u32 v = sum[i];
      v ^= shfl_xor(v, 4u);
      v ^= shfl_xor(v, 8u);
      v ^= shfl_xor(v, 16u);
      if (there && (threadIdx.x & 31) < 4) atomicXor(words + 4 * (16 * mask_task + i) + threadIdx.x % 4, v);
    }
    __syncthreads();
    u32 i = threadIdx.x & 15, task = threadIdx.x >> 4;
    uint4 v = pv_zero();
    if (task < final_count) v = pv_mul(selected[16 * task + i], pattern_weight(s, mode_rest, i));
    add_up(sums + (task < final_count ? program.tasks[final_task + task].out : 0), v, 16, task < final_count);
  } else {
#pragma unroll
    for (u32 n = 0; n < 2; n++) {
      u32 i = threadIdx.x + n * blockDim.x;
      bool mine = i < final_items;
      u32 out = mine ? program.tasks[final_task + (i >> log_chunk)].out : 0;
      pv_wide w;
#pragma unroll
      for (u32 k = 0; k < 8; k++) w.w[k] = sum[8 * n + k];
      add_up(sums + out, pv_reduce(w), pitch, mine);
    }
  }
  copy_async_wait<0>();
  __syncthreads();
  // The first warp does the rest.
  if (threadIdx.x >= 32) return;
  u32 *own = (u32 *)sums, *all = (u32 *)s->sums, lane = threadIdx.x;
  if (gridDim.x > 1) {
    atomicXor(all + lane, own[lane]);
    __threadfence();
    __syncwarp();
    u32 before = 0;
    if (lane == 0) before = atomicAdd(s->counter, 1u);
    if (shfl_idx(before, 0u) != gridDim.x - 1) return;
    __threadfence();
    own[lane] = atomicExch(all + lane, 0u);
    if (lane == 0) s->counter[0] = 0;
    __syncwarp();
  }
  uint4 c[ROUND_DEGREE + 1], claim = pv_zero();
  if (claim_from != 0) claim = claim_from == 1 ? warp_convert(maps, s->claim) : s->claim_polyval;
  complete(c, sums, d, program.missing, claim_from != 0, claim);
  uint4 challenge = send(s, transcript, s->transcript, maps, round, d, c);
  if (claim_next) {
    claim = polynomial_at(c, d, challenge);
    if (lane == 0) s->claim_polyval = claim;
  }
}

// binary_tail_last: one block does all rounds from `round` on, over tables of 2^log entries once
// the variable of the round before is bound, and the evaluations but the first `skip`.
// Shared memory: the slots for 2^(log-1) positions, State's maps, tables for patterns.
extern "C" __global__ void __launch_bounds__(512) binary_tail_last(u32 *state, u32 round, u32 d, u32 log, u32 slots, u32 skip, u32 mode_first, u32 mode_rest,
                                                            const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3, const uint4 *t4) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ uint4 sums[8], challenge;
  __shared__ Program program;
  __shared__ u32 transcript[TOWER_WORDS];
  State *s = (State *)state;
  u32 pitch = 1u << (log - 1), warp = threadIdx.x >> 5;
  load_program(&program, s->program);
  if (threadIdx.x < TOWER_WORDS) transcript[threadIdx.x] = s->transcript[threadIdx.x];
  uint4 *maps = memory + slots * pitch, *tables = maps + 1024, before = round == 0 ? pv_zero() : s->polyval[round - 1];
  load_maps(maps, s);
  if (mode_rest & TAIL_PATTERN) pattern_tables(tables, s, mode_rest);
  if (threadIdx.x < 8) sums[threadIdx.x] = pv_zero();
  __syncthreads();
#pragma unroll 1
  for (u32 i = threadIdx.x; i < d << log; i += blockDim.x) {
    u32 j = i >> log;
    memory[i] = entry(s, tables, j ? mode_rest : mode_first, TAIL_TABLE(j), i & ((1u << log) - 1), 1ull << log, before);
  }
  copy_async_wait<0>();
  u32 final_task = program.count[0] + program.count[1], final_count = program.count[2];
#pragma unroll 1
  for (u32 left = log; left != 0; left--, round++) {
    u32 half_log = left - 1, half = 1u << half_log;
    __syncthreads();
    run_stages(&program, memory, pitch, half_log, 0);
    // A warp at a time, to its end.
#pragma unroll 1
    for (u32 i = threadIdx.x; (i & ~31u) < final_count << half_log; i += blockDim.x) {
      bool there = i < final_count << half_log;
      uint4 v = pv_zero();
      u32 out = 0;
      if (there) {
        const Task &t = program.tasks[final_task + (i >> half_log)];
        const uint4 *at = memory + (i & half - 1);
        v = pv_mul(slots_sum(at, pitch, t.a), slots_sum(at, pitch, t.b));
        out = t.out;
      }
      add_up(sums + out, v, half, there);
    }
    __syncthreads();
    if (warp == 0) {
      uint4 c[ROUND_DEGREE + 1];
      complete(c, sums, d, program.missing, false, pv_zero());
      uint4 r = send(s, transcript, transcript, maps, round, d, c);
      if (threadIdx.x == 0) challenge = r;
      if (threadIdx.x < 8) sums[threadIdx.x] = pv_zero();
    }
    __syncthreads();
    uint4 r = challenge;
    // Entry y of a bound table goes to where position y of the next round has it.
    u32 quarter = half >> 1;
    if (d << half_log <= blockDim.x) {
      u32 i = threadIdx.x, j = i >> half_log, y = i & half - 1;
      bool there = j < d;
      uint4 *lo = memory + 2 * j * pitch, v = pv_zero();
      if (there) v = pv_add(lo[y], pv_mul(pv_add(lo[y], lo[pitch + y]), r));
      __syncthreads();
      if (there) lo[y < quarter || half == 1 ? y : pitch + y - quarter] = v;
    } else {
#pragma unroll 1
      for (u32 i = threadIdx.x; i < d << half_log - 1; i += blockDim.x) {
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
