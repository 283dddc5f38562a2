// Rounds over elements by values at points (points.cuh): for tables that keep many blocks
// busy, for such that do not, and for those that one block can hold.
#include "sumcheck/binary/prover/points.cuh"

// round_done ends a round where the block's sums are all that there is, or in the last
// block of the grid: sums.whole are the block's values of S. The first warp. With
// `claimed`, S(1) is not among them, and follows from State.claim.
DEVICE_INLINE void round_done(State *s, Sums *sums, const u32 *transcript, const uint4 *maps, u32 round, u32 d, bool claimed, bool split) {
  u32 *own = (u32 *)sums->whole, *all = (u32 *)s->sums, lane = threadIdx.x;
  if (gridDim.x > 1) {
    if (lane < 4 * POINTS) atomicXor(all + lane, own[lane]);
    __threadfence();
    __syncwarp();
    u32 before = 0;
    if (lane == 0) before = atomicAdd(s->counter, 1u);
    if (shfl_idx(before, 0u) != gridDim.x - 1) return;
    __threadfence();
    if (lane < 4 * POINTS) own[lane] = atomicExch(all + lane, 0u);
    if (lane == 0) s->counter[0] = 0;
    __syncwarp();
  }
  if (claimed) {
    uint4 claim = warp_convert(maps, s->claim);
    if (lane == 0) sums->whole[1] = pv_add(claim, sums->whole[0]);
    __syncwarp();
  }
  send_points(s, transcript, s->transcript, maps, round, d, sums->whole, split);
}

// binary_points_round does one round as binary_tail_round does: blocks take 2^log_chunk
// of 2^log_half positions at a time. A thread makes whole products, of one point and one
// position of a chunk; threads are as many as these, or more. With `claimed`, the point 1
// is left out, where State.claim is S(0) + S(1).
// Shared memory: 2 d slots for a chunk, tables for patterns.
extern "C" __global__ void __launch_bounds__(256, 3) binary_points_round(u32 *state, u32 round, u32 d, u32 claimed, u32 split, u32 log_half, u32 log_chunk, u32 mode_first, u32 mode_rest,
                                                               const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3, uint4 *first, uint4 *rest, u64 stride) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ Sums sums;
  __shared__ u32 transcript[TOWER_WORDS];
  __shared__ uint4 weights[1u << ROUND_WEIGHTS];
  State *s = (State *)state;
  const uint4 *t4 = nullptr;
  u32 pitch = 1u << log_chunk, inside = pitch - 1;
  if (threadIdx.x < TOWER_WORDS) transcript[threadIdx.x] = s->transcript[threadIdx.x];
  u64 half = 1ull << log_half;
  uint4 *tables = memory + 2 * d * pitch, r = round == 0 ? pv_zero() : s->polyval[round - 1];
  clear_sums(&sums);
  if (mode_rest & TAIL_PATTERN) pattern_tables_of(tables, weights, s, mode_rest);
  u32 p = threadIdx.x >> log_chunk, point = claimed && p > 0 ? p + 1 : p, x = threadIdx.x & inside;
  bool there = point <= d;
  pv_wide sum;
#pragma unroll
  for (u32 i = 0; i < 8; i++) sum.w[i] = 0;
#pragma unroll 1
  for (u64 base = (u64)blockIdx.x << log_chunk; base < half; base += (u64)gridDim.x << log_chunk) {
    __syncthreads();
#pragma unroll 1
    for (u32 i = threadIdx.x; i < 2 * d << log_chunk; i += blockDim.x) {
      u32 slot = i >> log_chunk, j = slot >> 1, mode = j ? mode_rest : mode_first;
      u64 y = base + (i & inside) + (slot & 1 ? half : 0);
      uint4 v = entry(s, tables, mode, TAIL_TABLE(j), y, 2 * half, r);
      memory[i] = v;
      if (mode & TAIL_STORE) (j ? rest + (j - 1) * stride : first)[y] = v;
    }
    __syncthreads();
    if (!there) continue;
    uint4 a = line_at(memory, pitch, 0, point, x), b = line_at(memory, pitch, 1, point, x);
#pragma unroll 1
    for (u32 j = 2; j < d; j++) {
      a = pv_mul(a, b);
      b = line_at(memory, pitch, j, point, x);
    }
    pv_accumulate(sum, pv_product(a, b));
  }
  __syncthreads();
  add_up(sums.whole + (there ? point : 0), pv_reduce(sum), pitch, there);
  __syncthreads();
  if (threadIdx.x < 32) round_done(s, &sums, transcript, s->to_polyval, round, d, claimed, split);
}

// binary_points_few is binary_points_round for tables so small that every block has one
// chunk. Shared memory: slots (2 d for the lines, then d - 2 (d = 3: 1) products a point),
// State's maps, tables for patterns.
extern "C" __global__ void __launch_bounds__(512) binary_points_few(u32 *state, u32 round, u32 d, u32 split, u32 log_half, u32 log_chunk, u32 slots, u32 mode_first, u32 mode_rest,
                                                          const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3, uint4 *first, uint4 *rest, u64 stride) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ Sums sums;
  __shared__ u32 transcript[TOWER_WORDS];
  __shared__ uint4 weights[1u << ROUND_WEIGHTS];
  State *s = (State *)state;
  const uint4 *t4 = nullptr;
  u32 pitch = 1u << log_chunk, inside = pitch - 1;
  uint4 *maps = memory + slots * pitch, *tables = maps + POINT_MAPS, r = round == 0 ? pv_zero() : s->polyval[round - 1];
  if (threadIdx.x < TOWER_WORDS) transcript[threadIdx.x] = s->transcript[threadIdx.x];
  u64 half = 1ull << log_half, base = (u64)blockIdx.x << log_chunk;
  point_maps(maps, s);
  clear_sums(&sums);
  if (mode_rest & TAIL_PATTERN) {
    pattern_tables_of(tables, weights, s, mode_rest);
    __syncthreads();
  }
  u32 items = 2 * d << log_chunk, by = 4 * items <= blockDim.x ? 2 : 0;
#pragma unroll 1
  for (u32 t = threadIdx.x; (t & ~31u) >> by < items; t += blockDim.x) {
    u32 i = t >> by < items ? t >> by : 0, slot = i >> log_chunk, j = slot >> 1, mode = j ? mode_rest : mode_first;
    u64 y = base + (i & inside) + (slot & 1 ? half : 0);
    // Quads have either to bind or not: a warp may have both.
    uint4 a, slope, v;
    bool bind = entry_line(a, slope, s, tables, mode, TAIL_TABLE(j), y, 2 * half);
    if (by == 2) {
      v = warp_any(bind) ? quad_mul(slope, r) : pv_zero();
    } else {
      v = bind ? pv_mul(slope, r) : pv_zero();
    }
    v = pv_add(a, v);
    if (t >> by < items && (by == 0 || (t & 3) == 0)) {
      memory[i] = v;
      if (mode & TAIL_STORE) (j ? rest + (j - 1) * stride : first)[y] = v;
    }
  }
  __syncthreads();
  point_sums(&sums, memory, pitch, log_chunk, d);
  copy_async_wait<0>();
  __syncthreads();
  if (threadIdx.x >= 32) return;
  join_sums(&sums);
  round_done(s, &sums, transcript, maps, round, d, false, split);
}

// binary_points_last does all rounds from `round` on as binary_tail_last does, for tables of
// 2^log entries once the variable of the round before is bound.
// Shared memory: slots for 2^(log-1) positions as those of binary_points_few, State's
// maps, tables for patterns.
extern "C" __global__ void __launch_bounds__(512) binary_points_last(u32 *state, u32 round, u32 d, u32 log, u32 slots, u32 skip, u32 mode_first, u32 mode_rest,
                                                           const uint4 *t0, const uint4 *t1, const uint4 *t2, const uint4 *t3) {
  SHARED_DYNAMIC(uint4, memory);
  __shared__ Sums sums;
  __shared__ uint4 challenge;
  __shared__ u32 transcript[TOWER_WORDS];
  __shared__ uint4 weights[1u << ROUND_WEIGHTS];
  State *s = (State *)state;
  const uint4 *t4 = nullptr;
  u32 pitch = 1u << (log - 1), warp = threadIdx.x >> 5, q = threadIdx.x & 3;
  if (threadIdx.x < TOWER_WORDS) transcript[threadIdx.x] = s->transcript[threadIdx.x];
  uint4 *maps = memory + slots * pitch, *tables = maps + POINT_MAPS, before = round == 0 ? pv_zero() : s->polyval[round - 1];
  point_maps(maps, s);
  clear_sums(&sums);
  if (mode_rest & TAIL_PATTERN) {
    pattern_tables_of(tables, weights, s, mode_rest);
    __syncthreads();
  }
#pragma unroll 1
  for (u32 i = threadIdx.x; i < d << log; i += blockDim.x) {
    u32 j = i >> log;
    memory[i] = entry(s, tables, j ? mode_rest : mode_first, TAIL_TABLE(j), i & ((1u << log) - 1), 1ull << log, before);
  }
  copy_async_wait<0>();
#pragma unroll 1
  for (u32 left = log; left != 0; left--, round++) {
    u32 half_log = left - 1, half = 1u << half_log;
    __syncthreads();
    point_sums(&sums, memory, pitch, half_log, d);
    __syncthreads();
    if (warp == 0) {
      join_sums(&sums);
      uint4 r = send_points(s, transcript, transcript, maps, round, d, sums.whole, false);
      if (threadIdx.x == 0) challenge = r;
    }
    __syncthreads();
    uint4 r = challenge;
    clear_sums(&sums);
    // Entry y of a bound table goes to where position y of the next round has it.
    u32 quarter = half >> 1, items = d << half_log;
    if (items <= blockDim.x) {
      bool quads = 4 * items <= blockDim.x;
      u32 i = quads ? threadIdx.x >> 2 : threadIdx.x, j = i >> half_log, y = i & half - 1;
      bool there = i < items;
      uint4 *lo = memory + 2 * (there ? j : 0) * pitch, a = lo[y], slope = pv_add(a, lo[pitch + y]), v = pv_zero();
      if (quads) {
        if ((i & ~7u) < items) v = pv_add(a, quad_mul(slope, r));
        there = there && q == 0;
      } else if (there) {
        v = pv_add(a, pv_mul(slope, r));
      }
      __syncthreads();
      if (there) lo[y < quarter || half == 1 ? y : pitch + y - quarter] = v;
    } else {
#pragma unroll 1
      for (u32 i = threadIdx.x; i < items >> 1; i += blockDim.x) {
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
