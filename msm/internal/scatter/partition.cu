// From keys to lists of entries by bin, whose order within a bin is any.
#include "msm/internal/scatter/tile.cuh"

// Keys of a window are a row of stride words, a multiple of 4. A thread takes four.
struct Four {
  u32 x[4];
};

// keys_at is the four keys from i on, NONE for those past the n-th.
DEVICE_INLINE Four keys_at(const u32 *keys, u32 i, u32 n) {
  if (i >= n) return {{NONE, NONE, NONE, NONE}};
  const uint4 v = ldg(reinterpret_cast<const uint4 *>(keys + i));
  return {{v.x, i + 1 < n ? v.y : NONE, i + 2 < n ? v.z : NONE, i + 3 < n ? v.w : NONE}};
}

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
  for (u64 base = 4 * (u64)blockIdx.x * blockDim.x; base < n; base += 4 * (u64)gridDim.x * blockDim.x) {
    const u64 i = base + 4 * threadIdx.x;
    const Four key = keys_at(keys, (u32)min(i, (u64)n), n);
#pragma unroll
    for (u32 k = 0; k < 4; k++) take(local, key.x[k] >> 1 >> w.bin_shift, key.x[k] != NONE, guess, turn++);
  }
  if (!SHARED) return;
  __syncthreads();
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x)
    if (local[i] != 0) atomicAdd(&counts[w.bin + i], local[i]);
}

extern "C" __global__ void __launch_bounds__(512) scatter_count(u32 *counts, const u32 *keys, const uint4 *windows, u32 first, u32 n, u32 stride) {
  const u32 w = first + blockIdx.y;
  count_bins<true>(counts, keys + (u64)w * stride, window_at(windows, w), n);
}

extern "C" __global__ void __launch_bounds__(512) scatter_count_each(u32 *counts, const u32 *keys, const uint4 *windows, u32 first, u32 n, u32 stride) {
  const u32 w = first + blockIdx.y;
  count_bins<false>(counts, keys + (u64)w * stride, window_at(windows, w), n);
}

// scatter_tile writes the entries of a tile of keys of one window to where their bins have
// room, which cursors say; and the buckets within the bin to fine, if there are any. A
// tile is whole warps' keys.
extern "C" __global__ void __launch_bounds__(1024, 2) scatter_tile(u32 *entries, u16 *fine, u32 *cursors, const u32 *keys, const uint4 *windows,
                                                                   u32 first, u32 n, u32 stride, u32 tile) {
  SHARED_DYNAMIC(uint4, local); // the tile's keys
  __shared__ u32 sums[32];
  const Window w = window_at(windows, first + blockIdx.y);
  const u64 base = (u64)blockIdx.x * tile;
  const u32 size = (u32)min((u64)tile, n - base), whole = (size + 127) & ~127u;
  const u32 *const local_keys = reinterpret_cast<const u32 *>(local);
  uint2 *const rank = reinterpret_cast<uint2 *>(local + tile / 4); // of a key in its bin, four of 16 bits
  u16 *const order = reinterpret_cast<u16 *>(rank + tile / 4);
  u32 *const start = reinterpret_cast<u32 *>(order + tile), *const delta = start + w.bins;
  keys += (u64)(first + blockIdx.y) * stride + base;
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x) start[i] = 0;
  __syncthreads();
  u32 guess = NONE;
  for (u32 i = 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) {
    const Four key = keys_at(keys, i, size);
    local[i / 4] = make_uint4(key.x[0], key.x[1], key.x[2], key.x[3]);
    u32 r[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) r[k] = take(start, key.x[k] >> 1 >> w.bin_shift, key.x[k] != NONE, guess, i / 128 + 8 * k);
    rank[i / 4] = make_uint2(r[0] | r[1] << 16, r[2] | r[3] << 16);
  }
  __syncthreads();
  // Four additions at once, for what they take to come back.
  for (u32 i = threadIdx.x; i < w.bins; i += 4 * blockDim.x) {
    u32 room[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      const u32 b = i + k * blockDim.x, c = b < w.bins ? start[b] : 0;
      room[k] = c == 0 ? 0 : atomicAdd(&cursors[w.bin + b], c);
    }
#pragma unroll
    for (u32 k = 0; k < 4; k++)
      if (i + k * blockDim.x < w.bins) delta[i + k * blockDim.x] = room[k];
  }
  const u32 total = array_scan(start, w.bins, sums);
  __syncthreads();
  for (u32 i = threadIdx.x; i < w.bins; i += blockDim.x) delta[i] -= start[i];
  for (u32 i = 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) {
    const uint4 v = local[i / 4];
    const uint2 r = rank[i / 4];
    if (v.x != NONE) order[start[v.x >> 1 >> w.bin_shift] + (r.x & 0xffff)] = (u16)i;
    if (v.y != NONE) order[start[v.y >> 1 >> w.bin_shift] + (r.x >> 16)] = (u16)(i + 1);
    if (v.z != NONE) order[start[v.z >> 1 >> w.bin_shift] + (r.y & 0xffff)] = (u16)(i + 2);
    if (v.w != NONE) order[start[v.w >> 1 >> w.bin_shift] + (r.y >> 16)] = (u16)(i + 3);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < total; i += blockDim.x) {
    const u32 e = order[i], key = local_keys[e], bucket = key >> 1, to = delta[bucket >> w.bin_shift] + i;
    entries[to] = (w.offset + (u32)base + e) | key << 31;
    if (fine) fine[to] = (u16)(bucket & ((1u << w.bin_shift) - 1));
  }
}

// scatter_each is the same without tiles, for so many bins that a tile has hardly two
// entries for one: an atomic addition an entry.
extern "C" __global__ void __launch_bounds__(512) scatter_each(u32 *entries, u16 *fine, u32 *cursors, const u32 *keys, const uint4 *windows, u32 first,
                                                               u32 n, u32 stride) {
  const Window w = window_at(windows, first + blockIdx.y);
  keys += (u64)(first + blockIdx.y) * stride;
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
