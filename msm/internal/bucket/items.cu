// The list of items for bucket_accumulate: a counting sort of buckets, and of the pieces
// of long ones, by length.
#include "msm/internal/bucket/items.cuh"

enum : u32 { THREADS = 512, EACH = 8 };

// find is the bucket of entry s, given offsets[low] <= s < offsets[high].
DEVICE_INLINE u32 find(const u32 *offsets, u32 low, u32 high, u32 s) {
  while (high - low > 1) {
    const u32 mid = low + (high - low) / 2;
    if (ldg(offsets + mid) <= s)
      low = mid;
    else
      high = mid;
  }
  return low;
}

// bucket_items_count counts items by class, and the last block to do so makes of the
// counts where each class begins. It sets the ids of all slots. state is zero at first.
extern "C" __global__ void __launch_bounds__(512)
    bucket_items_count(const u32 *offsets, u32 count, u32 threads, u32 least, u32 *ids, u32 *state) {
  __shared__ u32 local[CLASSES], last;
  for (u32 i = threadIdx.x; i < CLASSES; i += THREADS) local[i] = 0;
  __syncthreads();
  const u32 total = ldg(offsets + count), length = chunk(total, threads, least);
  const u64 first = (u64)blockIdx.x * THREADS + threadIdx.x, step = (u64)gridDim.x * THREADS;
  for (u64 b = first; b < count; b += step) {
    const u32 n = ldg(offsets + b + 1) - ldg(offsets + b);
    if (n != 0 && n <= length) atomicAdd(&local[class_of(n)], 1u);
  }
  for (u64 t = first; t < threads; t += step) {
    u32 id[2] = {DONE, DONE};
    const u64 from = t * length;
    if (from < total) {
      const u32 to = total - (u32)from > length ? (u32)from + length : total;
      const u32 a = find(offsets, 0, count, (u32)from), b = find(offsets, a, count, to - 1);
      if (ldg(offsets + a + 1) - ldg(offsets + a) > length) id[0] = a;
      // A chunk of which a long bucket has all has one piece, in its first slot if the
      // bucket began before it or with it.
      if (b != a && ldg(offsets + b + 1) - ldg(offsets + b) > length) id[1] = b;
    }
    for (u32 i = 0; i < 2; i++) {
      const u32 slot = 2 * (u32)t + i;
      ids[slot] = id[i];
      if (id[i] == DONE) continue;
      const Run r = piece(offsets, slot, id[i], length);
      atomicAdd(&local[class_of(r.to - r.from)], 1u);
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < CLASSES; i += THREADS)
    if (local[i] != 0) atomicAdd(&state[i], local[i]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&state[COUNTED], 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return; // the whole block
  __threadfence();
  // Two classes a thread, whose sums are added up by doubling distances.
  static_assert(CLASSES == 2 * THREADS, "a thread has two classes");
  const u32 a = atomicAdd(&state[2 * threadIdx.x], 0u), b = atomicAdd(&state[2 * threadIdx.x + 1], 0u);
  u32 sum = a + b;
  local[threadIdx.x] = sum;
  for (u32 d = 1; d < THREADS; d *= 2) {
    __syncthreads();
    const u32 more = threadIdx.x >= d ? local[threadIdx.x - d] : 0;
    __syncthreads();
    sum += more;
    local[threadIdx.x] = sum;
  }
  state[2 * threadIdx.x] = sum - a - b;
  state[2 * threadIdx.x + 1] = sum - b;
  if (threadIdx.x == THREADS - 1) state[ITEMS] = sum;
}

// bucket_items_place writes the list, and unless sums are added onto what buckets hold,
// zeros for the sums, of so many 16 bytes each, of buckets without entries.
extern "C" __global__ void __launch_bounds__(512)
    bucket_items_place(const u32 *offsets, u32 count, u32 threads, u32 least, u32 onto, const u32 *ids, u32 *state, u32 *items, uint4 *buckets, u32 quads) {
  __shared__ u32 local[CLASSES];
  for (u32 i = threadIdx.x; i < CLASSES; i += THREADS) local[i] = 0;
  __syncthreads();
  const u32 total = ldg(offsets + count), length = chunk(total, threads, least);
  u32 item[EACH], rank[EACH], own[EACH]; // own: its class, CLASSES for none
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    const u64 i = ((u64)blockIdx.x * EACH + k) * THREADS + threadIdx.x;
    u32 n = 0;
    if (i < count) {
      item[k] = (u32)i;
      n = ldg(offsets + i + 1) - ldg(offsets + i);
      if (n == 0 && !onto)
        for (u32 j = 0; j < quads; j++) buckets[i * quads + j] = {0, 0, 0, 0};
      if (n > length) n = 0;
    } else if (i - count < 2 * (u64)threads) {
      const u32 slot = (u32)(i - count), b = ldg(ids + slot);
      item[k] = slot | PIECE;
      if (b != DONE) {
        const Run r = piece(offsets, slot, b, length);
        n = r.to - r.from;
      }
    }
    own[k] = n == 0 ? (u32)CLASSES : class_of(n);
    if (n != 0) rank[k] = atomicAdd(&local[own[k]], 1u);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < CLASSES; i += THREADS)
    if (local[i] != 0) local[i] = atomicAdd(&state[i], local[i]);
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < EACH; k++)
    if (own[k] < CLASSES) items[local[own[k]] + rank[k]] = item[k];
}
