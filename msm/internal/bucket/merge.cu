// What follows bucket_accumulate: the sums of the buckets that several chunks have parts
// of. Little is to be done here as a rule, so that products are functions.
#define MONT_INLINE_WORDS 8
#include "GROUP_HEADER"
#include "msm/internal/bucket/chunks.cuh"

typedef Group::Sum Sum;

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
