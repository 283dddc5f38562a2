// What the kernels that sort entries by bucket share. A bin is a run of neighbouring
// buckets (or one bucket). Lists are partitioned by bin a tile at a time: a block counts
// the tile's entries by bin in shared memory, reserves room for each bin with one atomic
// addition in global memory, orders the tile by bin in shared memory, and writes it out,
// neighbours in a bin side by side (the hierarchical bucket scatter of DistMSM, ASPLOS
// 2024, section 3.2.1). Entries of a bin come in any order.
#pragma once
#include "msm/internal/scatter/windows.cuh"

// A thread in every lane with the same bin would make one address of shared memory take
// 32 atomic additions in turn. So a warp keeps a guess at its most frequent bin, and adds
// for all of that bin's lanes at once; the guess is changed when it brings nothing.
// take adds 1 to the live lanes' counters and returns what they were, some order of the
// lanes being assumed. All lanes of a warp call it; turn is any number that changes.
DEVICE_INLINE u32 take(u32 *counters, u32 bin, bool live, u32 &guess, u32 turn) {
  const u32 hit = live && bin == guess, same = ballot(hit);
  if (popcount(same) < 4) { // for the whole warp
    guess = shfl_idx(live ? bin : NONE, turn);
    return live ? atomicAdd(&counters[bin], 1u) : 0;
  }
  const u32 first = leading_zeros(bit_reverse(same)), lane = lane_id();
  u32 was = 0;
  if (lane == first) {
    was = atomicAdd(&counters[bin], popcount(same));
  } else if (live && bin != guess) {
    was = atomicAdd(&counters[bin], 1u);
  }
  const u32 base = shfl_idx(was, first);
  return same >> lane & 1 ? base + popcount(same & ((1u << lane) - 1)) : was;
}

// warp_scan is the sum of v over the lanes up to this one.
DEVICE_INLINE u32 warp_scan(u32 v) {
#pragma unroll
  for (u32 d = 1; d < 32; d *= 2) {
    const u32 before = shfl_up(v, d);
    if (lane_id() >= d) v += before;
  }
  return v;
}

// block_scan is the sum of v over the block's threads before this one, and total that
// over all. sums is 32 words of shared memory that nobody else uses meanwhile.
DEVICE_INLINE u32 block_scan(u32 v, u32 *sums, u32 &total) {
  const u32 up = warp_scan(v), warps = blockDim.x / 32, lane = threadIdx.x & 31;
  if (lane == 31) sums[threadIdx.x / 32] = up;
  __syncthreads();
  if (threadIdx.x < 32) {
    const u32 s = warp_scan(lane < warps ? sums[lane] : 0);
    __syncwarp();
    sums[lane] = s;
  }
  __syncthreads();
  total = sums[warps - 1];
  const u32 before = threadIdx.x < 32 ? 0 : sums[threadIdx.x / 32 - 1];
  __syncthreads();
  return before + up - v;
}

// array_scan replaces each of n counters in shared memory by the sum of those before it,
// and returns the sum of all. The block's threads call it after a barrier; another one is
// needed before they use the sums.
DEVICE_INLINE u32 array_scan(u32 *counters, u32 n, u32 *sums) {
  // An odd number each, so that a warp's threads meet different banks.
  const u32 each = ((n + blockDim.x - 1) / blockDim.x) | 1, from = min(n, threadIdx.x * each), to = min(n, from + each);
  u32 sum = 0, total;
  for (u32 i = from; i < to; i++) sum += counters[i];
  u32 before = block_scan(sum, sums, total);
  for (u32 i = from; i < to; i++) {
    const u32 c = counters[i];
    counters[i] = before;
    before += c;
  }
  return total;
}
