// From lists of entries by bin to lists by bucket. A bin that fits into a block's shared
// memory is sorted there. One that does not is partitioned by bucket tile by tile, however
// long it is, by as many blocks as there are.
//
// Regions are runs of bins of one size, in uint4: {bin, bucket, buckets, bin_shift}: the
// first bin, the first bucket and their number; in order.
#include "msm/internal/scatter/tile.cuh"

enum : u32 { CHUNK = 1024, PART = 256 }; // counters and threads of a block that sums or scans

// tiles_of is how many tiles a bin of n entries is cut into; none if it fits.
DEVICE_INLINE u32 tiles_of(u32 n, u32 most, u32 tile) { return n > most ? (n - 1) / tile + 1 : 0; }

// scatter_sums writes how many entries and tiles the bins of each chunk have.
extern "C" __global__ void __launch_bounds__(256) scatter_sums(u32 *sums, const u32 *counts, u32 bins, u32 most, u32 tile) {
  __shared__ u32 shared[32];
  u32 n = 0, t = 0, total;
  for (u32 i = 0; i < CHUNK / PART; i++) {
    const u32 b = blockIdx.x * CHUNK + i * PART + threadIdx.x;
    if (b < bins) {
      n += counts[b];
      t += tiles_of(counts[b], most, tile);
    }
  }
  block_scan(n, shared, total);
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = total;
  block_scan(t, shared, total);
  if (threadIdx.x == 0) sums[2 * blockIdx.x + 1] = total;
}

// scatter_scan makes of the bins' counts where they start, twice, of which one is
// theirs to count on with, and where their tiles start if they have any (tiles may be
// null). Both lists end with the total; so does end.
extern "C" __global__ void __launch_bounds__(256) scatter_scan(u32 *starts, u32 *cursors, u32 *tiles, u32 *end, const u32 *sums, const u32 *counts,
                                                                u32 bins, u32 most, u32 tile) {
  __shared__ u32 shared[32];
  u32 before = 0, before_tiles = 0, n = 0, t = 0, total;
  for (u32 i = threadIdx.x; i < blockIdx.x; i += PART) {
    n += sums[2 * i];
    t += sums[2 * i + 1];
  }
  block_scan(n, shared, before);
  block_scan(t, shared, before_tiles);
  u32 count[CHUNK / PART];
  const u32 first = blockIdx.x * CHUNK + threadIdx.x * (CHUNK / PART);
  n = 0, t = 0;
#pragma unroll
  for (u32 i = 0; i < CHUNK / PART; i++) {
    count[i] = first + i < bins ? counts[first + i] : 0;
    n += count[i];
    t += tiles_of(count[i], most, tile);
  }
  before += block_scan(n, shared, total);
  before_tiles += block_scan(t, shared, total);
#pragma unroll
  for (u32 i = 0; i < CHUNK / PART; i++) {
    if (first + i < bins) {
      starts[first + i] = before;
      cursors[first + i] = before;
      if (tiles) tiles[first + i] = before_tiles;
    }
    before += count[i];
    before_tiles += tiles_of(count[i], most, tile);
    if (first + i == bins - 1) {
      starts[bins] = before;
      *end = before;
      if (tiles) tiles[bins] = before_tiles;
    }
  }
}

struct Bin {
  u32 bucket, buckets, start, size;
};

// bin_of finds a bin's buckets and entries.
DEVICE_INLINE Bin bin_of(u32 b, const u32 *starts, const uint4 *regions, u32 count) {
  u32 low = 0, high = count; // the last region that starts at or before b is in [low, high)
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (regions[middle].x <= b) low = middle;
    else high = middle;
  }
  const uint4 r = regions[low];
  const u32 at = (b - r.x) << r.w;
  Bin v;
  v.bucket = r.y + at;
  v.buckets = min(1u << r.w, r.z - at);
  v.start = starts[b];
  v.size = starts[b + 1] - v.start;
  return v;
}

// bin_to_sort finds the bin that a block sorts. Where it has more than most entries,
// which is true then, it only clears the places of the bin's offsets.
DEVICE_INLINE bool bin_to_sort(Bin &bin, u32 *offsets, const u32 *starts, const uint4 *regions, u32 region_count, u32 most) {
  bin = bin_of(blockIdx.x, starts, regions, region_count);
  if (bin.size <= most) return false;
  for (u32 i = threadIdx.x; i < bin.buckets; i += blockDim.x) offsets[bin.bucket + i] = 0;
  return true;
}

// A thread takes four entries, the first of which are at a multiple of four in memory, so
// that those of other bins may be among them.
struct Four {
  u32 fine[4];
  bool live[4];
};

// four_at is the buckets of the four entries from i on, counted from four's first, of
// which those from `from` to `to` are the bin's.
DEVICE_INLINE Four four_at(const u16 *fine, u32 i, u32 from, u32 to) {
  const uint2 v = i < to ? ldg(reinterpret_cast<const uint2 *>(fine + i)) : make_uint2(0, 0);
  return {{v.x & 0xffff, v.x >> 16, v.y & 0xffff, v.y >> 16},
          {i >= from && i < to, i + 1 >= from && i + 1 < to, i + 2 >= from && i + 2 < to, i + 3 >= from && i + 3 < to}};
}

// take_four takes the four's ranks in their buckets, 16 bits each.
DEVICE_INLINE uint2 take_four(u32 *count, const Four &v, u32 &guess, u32 turn) {
  u32 r[4];
#pragma unroll
  for (u32 k = 0; k < 4; k++) r[k] = take(count, v.fine[k], v.live[k], guess, turn + 8 * k);
  return make_uint2(r[0] | r[1] << 16, r[2] | r[3] << 16);
}

// put_four places the four's entries.
DEVICE_INLINE void put_four(u32 *sorted, const u32 *start, const u32 *list, const Four &v, uint2 rank, u32 i, u32 to) {
  if (i >= to) return;
  const uint4 e = ldg(reinterpret_cast<const uint4 *>(list + i));
  if (v.live[0]) sorted[start[v.fine[0]] + (rank.x & 0xffff)] = e.x;
  if (v.live[1]) sorted[start[v.fine[1]] + (rank.x >> 16)] = e.y;
  if (v.live[2]) sorted[start[v.fine[2]] + (rank.y & 0xffff)] = e.z;
  if (v.live[3]) sorted[start[v.fine[3]] + (rank.y >> 16)] = e.w;
}

// scatter_fine sorts one bin by bucket, and writes where its buckets start. Ranks of
// entries in their buckets are in shared memory.
extern "C" __global__ void __launch_bounds__(1024, 2) scatter_fine(u32 *entries, u32 *offsets, const u32 *list, const u16 *fine, const u32 *starts,
                                                                   const uint4 *regions, u32 region_count, u32 most) {
  SHARED_DYNAMIC(uint2, rank);
  __shared__ u32 sums[32];
  Bin bin;
  if (bin_to_sort(bin, offsets, starts, regions, region_count, most)) return;
  const u32 from = bin.start & 3, to = from + bin.size, whole = (to + 127) & ~127u; // whole warps
  u32 *const start = reinterpret_cast<u32 *>(rank + (to + 3) / 4), *const sorted = start + bin.buckets;
  for (u32 i = threadIdx.x; i < bin.buckets; i += blockDim.x) start[i] = 0;
  __syncthreads();
  list += bin.start - from, fine += bin.start - from;
  u32 guess = NONE;
  for (u32 i = 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) {
    const uint2 r = take_four(start, four_at(fine, i, from, to), guess, i / 128);
    if (i < to) rank[i / 4] = r;
  }
  __syncthreads();
  array_scan(start, bin.buckets, sums);
  __syncthreads();
  for (u32 i = threadIdx.x; i < bin.buckets; i += blockDim.x) offsets[bin.bucket + i] = bin.start + start[i];
  for (u32 i = 4 * threadIdx.x; i < to; i += 4 * blockDim.x) put_four(sorted, start, list, four_at(fine, i, from, to), rank[i / 4], i, to);
  __syncthreads();
  for (u32 i = threadIdx.x; i < bin.size; i += blockDim.x) entries[bin.start + i] = sorted[i];
}

// A tile of a long bin.
struct Tile {
  u32 bin, start, size, of;
  Bin whole;
};

// tile_of finds tile t's bin: the last one whose tiles start at or before it.
DEVICE_INLINE Tile tile_of(u32 t, const u32 *tiles, const u32 *starts, u32 bins, const uint4 *regions, u32 region_count, u32 tile) {
  u32 low = 0, high = bins;
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (tiles[middle] <= t) low = middle;
    else high = middle;
  }
  Tile v;
  v.bin = low;
  v.whole = bin_of(low, starts, regions, region_count);
  const u32 at = (t - tiles[low]) * tile;
  v.start = v.whole.start + at;
  v.size = min(tile, v.whole.size - at);
  v.of = tiles[low + 1] - tiles[low];
  return v;
}

// scatter_long_count counts the entries of long bins by bucket. The block that ends a
// bin's last tile makes of the counts where the buckets end. done counts the tiles of
// each bin.
extern "C" __global__ void __launch_bounds__(512, 4) scatter_long_count(u32 *offsets, u32 *done, const u16 *fine, const u32 *starts, const u32 *tiles,
                                                                     const uint4 *regions, u32 bins, u32 region_count, u32 tile) {
  SHARED_DYNAMIC(u32, count);
  __shared__ u32 sums[32], last;
  const u32 total = tiles[bins];
  for (u32 t = blockIdx.x; t < total; t += gridDim.x) {
    const Tile v = tile_of(t, tiles, starts, bins, regions, region_count, tile);
    u32 *const offset = offsets + v.whole.bucket;
    for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x) count[i] = 0;
    __syncthreads();
    u32 guess = NONE;
    const u32 from = v.start & 3, to = from + v.size, whole = (to + 127) & ~127u; // whole warps
    for (u32 i = 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) take_four(count, four_at(fine + (v.start - from), i, from, to), guess, i / 128);
    __syncthreads();
    for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x)
      if (count[i] != 0) atomicAdd(&offset[i], count[i]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&done[v.bin], 1u) == v.of - 1;
    __syncthreads();
    if (last) { // the whole block
      __threadfence();
      for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x) count[i] = atomicAdd(&offset[i], 0u);
      __syncthreads();
      array_scan(count, v.whole.buckets, sums);
      __syncthreads();
      for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x)
        offset[i] = v.whole.start + (i + 1 < v.whole.buckets ? count[i + 1] : v.whole.size);
    }
    __syncthreads();
  }
}

// scatter_long places them. Buckets are filled from their ends, so that their ends become
// their starts.
extern "C" __global__ void __launch_bounds__(1024, 2) scatter_long(u32 *entries, u32 *offsets, const u32 *list, const u16 *fine, const u32 *starts,
                                                                   const u32 *tiles, const uint4 *regions, u32 bins, u32 region_count, u32 tile) {
  SHARED_DYNAMIC(uint2, rank);
  __shared__ u32 sums[32];
  const u32 total = tiles[bins];
  for (u32 t = blockIdx.x; t < total; t += gridDim.x) {
    const Tile v = tile_of(t, tiles, starts, bins, regions, region_count, tile);
    u32 *const sorted = reinterpret_cast<u32 *>(rank + tile / 4 + 1), *const start = sorted + tile, *const delta = start + v.whole.buckets;
    u16 *const sorted_fine = reinterpret_cast<u16 *>(delta + v.whole.buckets);
    for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x) start[i] = 0;
    __syncthreads();
    const u32 from = v.start & 3, to = from + v.size, whole = (to + 127) & ~127u; // whole warps
    const u32 *const from_list = list + (v.start - from);
    const u16 *const from_fine = fine + (v.start - from);
    u32 guess = NONE;
    for (u32 i = 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) {
      const uint2 r = take_four(start, four_at(from_fine, i, from, to), guess, i / 128);
      if (i < to) rank[i / 4] = r;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x) {
      const u32 c = start[i];
      delta[i] = c == 0 ? 0 : atomicSub(&offsets[v.whole.bucket + i], c) - c;
    }
    array_scan(start, v.whole.buckets, sums);
    __syncthreads();
    for (u32 i = threadIdx.x; i < v.whole.buckets; i += blockDim.x) delta[i] -= start[i];
    for (u32 i = 4 * threadIdx.x; i < to; i += 4 * blockDim.x) {
      const Four f = four_at(from_fine, i, from, to);
      const uint2 r = rank[i / 4];
      put_four(sorted, start, from_list, f, r, i, to);
      const u32 before[4] = {r.x & 0xffff, r.x >> 16, r.y & 0xffff, r.y >> 16};
#pragma unroll
      for (u32 k = 0; k < 4; k++)
        if (f.live[k]) sorted_fine[start[f.fine[k]] + before[k]] = (u16)f.fine[k];
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < v.size; i += blockDim.x) entries[delta[sorted_fine[i]] + i] = sorted[i];
    __syncthreads();
  }
}
