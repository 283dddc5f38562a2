// From keys to lists of entries by bin, whose order within a bin is any.
#include "msm/internal/scatter/tile.cuh"

// count_bins adds the number of a window's keys in each bin to counts, through counters
// in shared memory or not.
template <bool SHARED> DEVICE_INLINE void count_bins(u32 *counts, const u32 *keys, const Window &w, u32 n) {
  SHARED_DYNAMIC(u32, shared);
  u32 *const local = SHARED ? shared : counts + w.bin;
  if (SHARED) {
    for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x) local[i] = 0;
    __syncthreads();
  }
  u32 guess = NONE, turn = 0;
  for (u64 base = (u64)blockIdx.x * blockDim.x; base < n; base += (u64)gridDim.x * blockDim.x, turn++) {
    const u64 i = base + threadIdx.x;
    const u32 key = i < n ? ldg(keys + i) : NONE;
    take(local, key >> 1 >> w.bin_shift, key != NONE, guess, turn);
  }
  if (!SHARED) return;
  __syncthreads();
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x)
    if (local[i] != 0) atomicAdd(&counts[w.bin + i], local[i]);
}

extern "C" __global__ void __launch_bounds__(512) scatter_count(u32 *counts, const u32 *keys, const uint4 *windows, u32 first, u32 n) {
  const u32 w = first + blockIdx.y;
  count_bins<true>(counts, keys + (u64)w * n, window_at(windows, w), n);
}

extern "C" __global__ void __launch_bounds__(512) scatter_count_each(u32 *counts, const u32 *keys, const uint4 *windows, u32 first, u32 n) {
  const u32 w = first + blockIdx.y;
  count_bins<false>(counts, keys + (u64)w * n, window_at(windows, w), n);
}

// scatter_tile writes the entries of a tile of keys of one window to where their bins have
// room, which cursors say; and the buckets within the bin to fine, if there are any. A
// tile is whole warps.
extern "C" __global__ void __launch_bounds__(1024, 2) scatter_tile(u32 *entries, u16 *fine, u32 *cursors, const u32 *keys, const uint4 *windows,
                                                                   u32 first, u32 n, u32 tile) {
  SHARED_DYNAMIC(u32, start);
  __shared__ u32 sums[32];
  const Window w = window_at(windows, first + blockIdx.y);
  const u64 base = (u64)blockIdx.x * tile;
  const u32 size = (u32)min((u64)tile, n - base), whole = (size + 31) & ~31u;
  u32 *const delta = start + w.bins, *const local = delta + w.bins;
  u16 *const rank = reinterpret_cast<u16 *>(local + tile), *const order = rank + tile;
  keys += (u64)(first + blockIdx.y) * n + base;
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x) start[i] = 0;
  __syncthreads();
  u32 guess = NONE;
  for (u32 i = threadIdx.x; i < whole; i += blockDim.x) {
    const u32 key = i < size ? ldg(keys + i) : NONE;
    local[i] = key;
    rank[i] = (u16)take(start, key >> 1 >> w.bin_shift, key != NONE, guess, i / 32);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x) delta[i] = start[i] == 0 ? 0 : atomicAdd(&cursors[w.bin + i], start[i]);
  const u32 total = array_scan(start, w.bins, sums);
  __syncthreads();
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x) delta[i] -= start[i];
  for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
    const u32 key = local[i];
    if (key != NONE) order[start[key >> 1 >> w.bin_shift] + rank[i]] = (u16)i;
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < total; i += blockDim.x) {
    const u32 e = order[i], key = local[e], bucket = key >> 1, to = delta[bucket >> w.bin_shift] + i;
    entries[to] = (w.offset + (u32)base + e) | key << 31;
    if (fine) fine[to] = (u16)(bucket & ((1u << w.bin_shift) - 1));
  }
}

// scatter_each is the same without tiles, for so many bins that a tile has hardly two
// entries for one: an atomic addition an entry.
extern "C" __global__ void __launch_bounds__(512) scatter_each(u32 *entries, u16 *fine, u32 *cursors, const u32 *keys, const uint4 *windows, u32 first,
                                                               u32 n) {
  const Window w = window_at(windows, first + blockIdx.y);
  keys += (u64)(first + blockIdx.y) * n;
  u32 guess = NONE, turn = 0;
  for (u64 base = (u64)blockIdx.x * blockDim.x; base < n; base += (u64)gridDim.x * blockDim.x, turn++) {
    const u64 i = base + threadIdx.x;
    const u32 key = i < n ? ldg(keys + i) : NONE, bucket = key >> 1;
    const u32 to = take(cursors + w.bin, bucket >> w.bin_shift, key != NONE, guess, turn);
    if (key != NONE) {
      entries[to] = (w.offset + (u32)i) | key << 31;
      if (fine) fine[to] = (u16)(bucket & ((1u << w.bin_shift) - 1));
    }
  }
}
