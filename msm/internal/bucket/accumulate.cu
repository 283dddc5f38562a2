// Bucket sums. The list of all entries, sorted by bucket, is cut into chunks of one
// length, a thread each, so that no distribution of points over buckets costs more
// than another. Runs of a bucket that lie inside a chunk are sums of buckets; what a
// chunk has of the buckets that it shares with its neighbours are partial sums, at most
// two.
#define MONT_INLINE_WORDS 8
#define MONT_KARATSUBA WITH_KARATSUBA
#include "GROUP_HEADER"
#include "msm/internal/bucket/running.cuh"

typedef RUNNING_SUM RunningSum;
enum : u32 { sum_words = sizeof(Group::Sum) / 4, point_words = sizeof(Group::Point) / 4 };

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
  if (onto && whole && end <= to) sum.put(load<Group::Sum>(buckets + (u64)b * sum_words));
  for (; at < to; at++) {
    if (at == end) {
      if (whole) {
        sum.write(buckets + (u64)b * sum_words);
      } else {
        ids[slot] = b;
        sum.write(partials + (u64)slot * sum_words);
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
      if (onto && end <= to)
        sum.put(load<Group::Sum>(buckets + (u64)b * sum_words));
      else
        sum.clear();
    }
    const u32 e = ldg(entries + at);
    sum.take(points + (u64)(e & 0x7fffffffu) * point_words, e >> 31);
  }
  if (whole && end == to) {
    sum.write(buckets + (u64)b * sum_words);
  } else {
    ids[slot] = b;
    sum.write(partials + (u64)slot * sum_words);
  }
}
