// From lists of entries by coarse bin, a run of neighbouring bins, to lists by bin: what
// comes between partition.cu and bins.cu where a window has so many bins that a tile of
// keys would have hardly a few entries for one. Coarse bins are cut into tiles, however
// long they are; tiles are those of scatter_scan.
//
// splits are runs of coarse bins, in uint4: {coarse, bin, bins, bin_shift | bits << 8}: the
// first coarse bin, the first bin and their number, and log2 of a coarse bin's bins; in
// order.
#include "msm/internal/scatter/tile.cuh"

// last_of is the last i in [0, n) with list[i] <= t, for an ascending list that begins so.
// All lanes of a warp call it, with the same arguments.
DEVICE_INLINE u32 last_of(const u32 *list, u32 n, u32 t) {
  u32 low = 0, high = n;
  while (high - low > 1) {
    const u32 step = (high - low + 31) / 32, i = low + lane_id() * step;
    // Not popcount of a ballot: NVRTC 13.0 makes a vote of it that ptxas does not take.
    const u32 before = warp_sum(i < high && ldg(list + i) <= t ? 1u : 0u);
    low += step * (before - 1);
    high = min(high, low + step);
  }
  return low;
}

// Share is a tile of a coarse bin.
struct Share {
  u32 start, size;            // entries
  u32 bin, bits, shift, bins; // the first bin, log2 of how many there may be, of a bin's buckets, and how many there are
};

DEVICE_INLINE Share share_of(u32 t, const u32 *starts, const u32 *tiles, const uint4 *splits, u32 bins, u32 split_count, u32 tile) {
  const u32 c = last_of(tiles, bins, t), at = (t - ldg(tiles + c)) * tile;
  u32 low = 0, high = split_count; // the last split that starts at or before c is in [low, high)
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (ldg(splits + middle).x <= c) low = middle;
    else high = middle;
  }
  const uint4 s = ldg(splits + low);
  Share v;
  v.start = ldg(starts + c) + at;
  v.size = min(tile, ldg(starts + c + 1) - v.start);
  v.shift = s.w & 0xff;
  v.bits = s.w >> 8;
  const u32 before = (c - s.x) << v.bits;
  v.bin = s.y + before;
  v.bins = min(1u << v.bits, s.z - before);
  return v;
}

// A thread takes four entries, the first of which are at a multiple of four in memory, so
// that those of other tiles may be among them.
struct Four {
  u32 fine[4];
  bool live[4];
};

DEVICE_INLINE Four four_at(const u16 *fine, u32 i, u32 from, u32 to) {
  const uint2 v = ldg(reinterpret_cast<const uint2 *>(fine + i));
  return {{v.x & 0xffff, v.x >> 16, v.y & 0xffff, v.y >> 16}, {i >= from, i + 1 >= from && i + 1 < to, i + 2 >= from && i + 2 < to, i + 3 < to}};
}

// Every bin has several counters, of which a lane uses one: neighbouring lanes then meet
// different banks, and the additions of a warp whose entries are all of one bin do not wait
// for each other. There are 2^COUNTER_BITS of them in all, or one for each bin and lane.
enum : u32 { COUNTER_BITS = 11, LANE_BITS = 5 };

DEVICE_INLINE u32 copies_of(u32 bits) { return bits + LANE_BITS <= COUNTER_BITS ? LANE_BITS : bits < COUNTER_BITS ? COUNTER_BITS - bits : 0; }

// scatter_split_count adds the entries of every tile to the counts of their bins.
extern "C" __global__ void __launch_bounds__(256) scatter_split_count(u32 *counts, const u16 *fine, const u32 *starts, const u32 *tiles, const uint4 *splits,
                                                                      u32 bins, u32 split_count, u32 tile) {
  SHARED_DYNAMIC(u32, count);
  if (blockIdx.x >= ldg(tiles + bins)) return;
  const Share v = share_of(blockIdx.x, starts, tiles, splits, bins, split_count, tile);
  const u32 copies = copies_of(v.bits), copy = threadIdx.x & ((1u << copies) - 1);
  for (u32 i = threadIdx.x; i < 1u << (v.bits + copies); i += blockDim.x) count[i] = 0;
  __syncthreads();
  const u32 from = v.start & 3, to = from + v.size;
  fine += v.start - from;
  for (u32 i = 4 * threadIdx.x; i < to; i += 4 * blockDim.x) {
    const Four f = four_at(fine, i, from, to);
#pragma unroll
    for (u32 k = 0; k < 4; k++)
      if (f.live[k]) atomicAdd(&count[(f.fine[k] >> v.shift) << copies | copy], 1u);
  }
  __syncthreads();
  for (u32 b = threadIdx.x; b < v.bins; b += blockDim.x) {
    u32 c = 0;
    for (u32 i = 0; i < 1u << copies; i++) c += count[b << copies | ((i + b) & ((1u << copies) - 1))];
    if (c != 0) atomicAdd(&counts[v.bin + b], c);
  }
}

// scatter_split writes the entries of every tile to where their bins have room, which
// cursors say, and the buckets within the bins to to_fine.
extern "C" __global__ void __launch_bounds__(1024, 2) scatter_split(u32 *to_list, u16 *to_fine, u32 *cursors, const u32 *list, const u16 *fine,
                                                                    const u32 *starts, const u32 *tiles, const uint4 *splits, u32 bins, u32 split_count,
                                                                    u32 tile) {
  SHARED_DYNAMIC(uint2, rank); // of an entry among those of its counter, four of 16 bits
  __shared__ u32 sums[32];
  if (blockIdx.x >= ldg(tiles + bins)) return;
  const Share v = share_of(blockIdx.x, starts, tiles, splits, bins, split_count, tile);
  const u32 copies = copies_of(v.bits), copy = threadIdx.x & ((1u << copies) - 1), counters = 1u << (v.bits + copies);
  u32 *const sorted = reinterpret_cast<u32 *>(rank + tile / 4 + 1), *const count = sorted + tile, *const delta = count + counters;
  u16 *const sorted_fine = reinterpret_cast<u16 *>(delta + (1u << v.bits));
  for (u32 i = threadIdx.x; i < counters; i += blockDim.x) count[i] = 0;
  __syncthreads();
  const u32 from = v.start & 3, to = from + v.size;
  list += v.start - from, fine += v.start - from;
  for (u32 i = 4 * threadIdx.x; i < to; i += 4 * blockDim.x) {
    const Four f = four_at(fine, i, from, to);
    u32 r[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) r[k] = f.live[k] ? atomicAdd(&count[(f.fine[k] >> v.shift) << copies | copy], 1u) : 0;
    rank[i / 4] = make_uint2(r[0] | r[1] << 16, r[2] | r[3] << 16);
  }
  __syncthreads();
  array_scan(count, counters, sums);
  __syncthreads();
  for (u32 b = threadIdx.x; b < v.bins; b += blockDim.x) {
    const u32 first = count[b << copies], end = b + 1 < 1u << v.bits ? count[(b + 1) << copies] : v.size;
    delta[b] = (end == first ? 0 : atomicAdd(&cursors[v.bin + b], end - first)) - first;
  }
  for (u32 i = 4 * threadIdx.x; i < to; i += 4 * blockDim.x) {
    const Four f = four_at(fine, i, from, to);
    const uint4 e = ldg(reinterpret_cast<const uint4 *>(list + i));
    const uint2 r = rank[i / 4];
    const u32 entry[4] = {e.x, e.y, e.z, e.w}, before[4] = {r.x & 0xffff, r.x >> 16, r.y & 0xffff, r.y >> 16};
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      if (!f.live[k]) continue;
      const u32 at = count[(f.fine[k] >> v.shift) << copies | copy] + before[k];
      sorted[at] = entry[k];
      sorted_fine[at] = (u16)f.fine[k];
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < v.size; i += blockDim.x) {
    const u32 f = sorted_fine[i], at = delta[f >> v.shift] + i;
    to_list[at] = sorted[i];
    to_fine[at] = (u16)(f & ((1u << v.shift) - 1));
  }
}
