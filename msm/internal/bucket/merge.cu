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

// Span is what a row of slots has: its first and its last bucket that may go on outside of
// it, and the slots in which their sums are. The two are the same for a single bucket.
struct Span {
  u32 first, last, first_bucket, last_bucket;
};

#define NOWHERE 0xffffffffu

DEVICE_INLINE Span slot_span(const u32 *ids, u32 slots, u32 i) {
  const u32 id = i < slots ? ids[i] : DONE;
  if (id & DONE) return {NOWHERE, NOWHERE, 0, 0};
  return {i, i, id, id};
}

// follow makes one span of two. Buckets that lie within it are finished.
DEVICE_CALL Span follow(Span a, Span b, u32 *partials, u32 *buckets, u32 onto) {
  if (b.first == NOWHERE) return a;
  if (a.first == NOWHERE) return b;
  const u32 one_a = a.first == a.last, one_b = b.first == b.last;
  if (a.last_bucket == b.first_bucket) {
    const Sum sum = plus(load_sum(partials, a.last), partials, b.first);
    if (!one_a && !one_b)
      put(buckets, a.last_bucket, sum, onto);
    else
      store(sum_at(partials, a.last), canonical(sum));
    if (one_b) return a;
  } else {
    if (!one_a) put(buckets, a.last_bucket, load_sum(partials, a.last), onto);
    if (!one_b) put(buckets, b.first_bucket, load_sum(partials, b.first), onto);
  }
  return {a.first, b.last, a.first_bucket, b.last_bucket};
}

// bucket_merge makes 2 slots of every 64, by a warp and six additions one after the other
// at most. The last merge leaves none.
extern "C" __global__ void __launch_bounds__(32) bucket_merge_VARIANT(const u32 *ids, u32 *partials, u32 slots, u32 last, u32 onto, u32 *buckets,
                                                                      u32 *out_ids, u32 *out_partials) {
  const u32 i = 64 * blockIdx.x + 2 * threadIdx.x;
  Span own = follow(slot_span(ids, slots, i), slot_span(ids, slots, i + 1), partials, buckets, onto);
  for (u32 s = 1; s < 32; s *= 2) {
    __syncthreads();
    Span next;
    next.first = shfl_down(own.first, s);
    next.last = shfl_down(own.last, s);
    next.first_bucket = shfl_down(own.first_bucket, s);
    next.last_bucket = shfl_down(own.last_bucket, s);
    if (threadIdx.x % (2 * s) == 0) own = follow(own, next, partials, buckets, onto);
  }
  if (threadIdx.x != 0) return;
  const u32 some = own.first != NOWHERE, two = own.first != own.last;
  if (last) {
    if (some) put(buckets, own.first_bucket, load_sum(partials, own.first), onto);
    if (two) put(buckets, own.last_bucket, load_sum(partials, own.last), onto);
    return;
  }
  const u32 t = 2 * blockIdx.x;
  out_ids[t] = some ? own.first_bucket : DONE;
  out_ids[t + 1] = two ? own.last_bucket : DONE;
  if (some) store(sum_at(out_partials, t), load_sum(partials, own.first));
  if (two) store(sum_at(out_partials, t + 1), load_sum(partials, own.last));
}
