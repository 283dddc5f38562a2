// Bucket sums. The list of all entries, sorted by bucket, is cut into chunks of one
// length, a thread each, so that no distribution of points over buckets costs more
// than another. Runs of a bucket that lie inside a chunk are sums of buckets; what a
// chunk has of the buckets that it shares with its neighbours are partial sums, at most
// two: slot 2t of thread t is its first run's, slot 2t+1 its last one's.
//
// A slot's id is its bucket's, with DONE where there is nothing to add up. Those without
// DONE are in ascending order.
#include "GROUP_HEADER"
#include "msm/internal/bucket/running.cuh"

#define DONE 0x80000000u

typedef Group::Sum Sum;
typedef RUNNING_SUM RunningSum;

DEVICE_INLINE u32 *sum_at(u32 *base, u64 i) { return base + i * (sizeof(Sum) / 4); }
DEVICE_INLINE Sum load_sum(const u32 *base, u64 i) { return load<Sum>(base + i * (sizeof(Sum) / 4)); }

// plus is sum and the i-th sum of base. Sums pass by value: NVRTC 13.0 forgets the first
// word of one whose copy goes by reference to a call in one branch and to memory in
// another.
DEVICE_CALL Sum plus(Sum sum, const u32 *base, u64 i) { return add(sum, load_sum(base, i)); }

// put writes the sum of a bucket, or adds it to what the bucket holds.
DEVICE_INLINE void put(u32 *buckets, u32 b, const Sum &sum, u32 onto) {
  if (onto)
    store(sum_at(buckets, b), canonical(plus(sum, buckets, b)));
  else
    store(sum_at(buckets, b), canonical(sum));
}

DEVICE_INLINE void put(u32 *buckets, u32 b, const RunningSum &sum, u32 onto) {
  if (onto)
    store(sum_at(buckets, b), canonical(plus(sum.get(), buckets, b)));
  else
    sum.write(sum_at(buckets, b));
}

// chunk is how many entries a thread has.
DEVICE_INLINE u32 chunk(u32 total, u32 threads, u32 least) {
  const u32 n = (u32)(((u64)total + threads - 1) / threads);
  return n > least ? n : least;
}

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

// following is the bucket of entry s, the first one after bucket b's. Between the two
// there may be a million empty ones.
DEVICE_CALL u32 following(const u32 *offsets, u32 count, u32 b, u32 s) {
  u32 low = b + 1, step = 1;
  for (;;) {
    const u32 high = count - low > step ? low + step : count;
    if (ldg(offsets + high) > s) return find(offsets, low, high, s);
    low = high;
    step *= 2;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_RESIDENT)
    bucket_accumulate_VARIANT(const u32 *points, const u32 *entries, const u32 *offsets, u32 count, u32 threads, u32 least, u32 onto,
                              u32 *buckets, u32 *ids, u32 *partials) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  const u32 total = ldg(offsets + count), length = chunk(total, threads, least);
  const u64 from = (u64)t * length;
  ids[2 * t] = DONE;
  ids[2 * t + 1] = DONE;
  if (from >= total) return;
  const u32 to = total - (u32)from > length ? (u32)from + length : total;
  u32 at = (u32)from, b = find(offsets, 0, count, at), end = ldg(offsets + b + 1);
  // whole: the bucket's first entry is this thread's
  u32 whole = ldg(offsets + b) == at, slot = 2 * t;
  SHARED_DYNAMIC(uint4, shared);
  RunningSum sum(shared);
  for (; at < to; at++) {
    if (at == end) {
      if (whole) {
        put(buckets, b, sum, onto);
      } else {
        ids[slot] = b;
        sum.write(sum_at(partials, slot));
      }
      slot = 2 * t + 1;
      whole = 1;
      const u32 up = ldg(offsets + b + 2);
      if (up > at) {
        b++;
        end = up;
      } else {
        b = following(offsets, count, b, at);
        end = ldg(offsets + b + 1);
      }
      sum.clear();
    }
    const u32 e = ldg(entries + at);
    sum.take(points + (u64)(e & 0x7fffffffu) * (sizeof(Group::Point) / 4), e >> 31);
  }
  if (whole && end == to) {
    put(buckets, b, sum, onto);
  } else {
    ids[slot] = b;
    sum.write(sum_at(partials, slot));
  }
}

// bucket_join adds up the partial sums of the buckets that begin in thread t's chunk and
// end in one of the next three: all but very long buckets.
extern "C" __global__ void __launch_bounds__(64) bucket_join_VARIANT(const u32 *offsets, u32 count, u32 threads, u32 least, u32 onto, u32 *buckets,
                                                                     u32 *ids, const u32 *partials) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  const u32 total = ldg(offsets + count), length = chunk(total, threads, least);
  const u64 from = (u64)t * length;
  if (from >= total) return;
  u32 slot = 2 * t + 1;
  if (ids[slot] & DONE) slot--;
  const u32 b = ids[slot];
  if (b & DONE) return;
  // A bucket that began earlier is that thread's to join.
  if (ldg(offsets + b) < (u32)from) return;
  const u32 last = (ldg(offsets + b + 1) - 1) / length;
  if (last - t > 3) return;
  Sum sum = load_sum(partials, slot);
  for (u32 i = t + 1; i <= last; i++) {
    sum = plus(sum, partials, 2 * i);
    ids[2 * i] = DONE;
  }
  ids[slot] = DONE;
  put(buckets, b, sum, onto);
}

// bucket_merge makes 2 slots of every 16: what its runs inside are goes to buckets. The
// last merge leaves none.
extern "C" __global__ void __launch_bounds__(64) bucket_merge_VARIANT(const u32 *ids, const u32 *partials, u32 slots, u32 last, u32 onto,
                                                                      u32 *buckets, u32 *out_ids, u32 *out_partials) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= (slots + 15) / 16) return;
  u32 b = DONE, runs = 0, first = DONE, second = DONE;
  Sum sum;
  set_infinity(sum);
  for (u32 i = 16 * t; i < 16 * t + 16 && i < slots; i++) {
    const u32 id = ids[i];
    if (id & DONE) continue;
    if (id == b) {
      sum = plus(sum, partials, i);
      continue;
    }
    if (runs == 1 && !last) {
      first = b;
      store(sum_at(out_partials, 2 * t), canonical(sum));
    } else if (runs) {
      put(buckets, b, sum, onto);
    }
    runs++;
    b = id;
    sum = load_sum(partials, i);
  }
  if (runs && last) {
    put(buckets, b, sum, onto);
  } else if (runs) {
    const u32 k = runs > 1;
    if (k)
      second = b;
    else
      first = b;
    store(sum_at(out_partials, 2 * t + k), canonical(sum));
  }
  if (!last) {
    out_ids[2 * t] = first;
    out_ids[2 * t + 1] = second;
  }
}
