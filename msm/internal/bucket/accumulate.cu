// Bucket sums. A thread takes an item (items.cuh) after the other: all entries of a
// bucket, whose sum it writes to the bucket, or a chunk's share of a bucket so long that
// it would hold up the rest, whose sum is a partial one. So no distribution of points
// over buckets costs more than another, and a warp's threads begin and end together.
#define MONT_INLINE_WORDS 8
#define MONT_KARATSUBA WITH_KARATSUBA
#include "GROUP_HEADER"
#include "msm/internal/bucket/items.cuh"
#include "msm/internal/bucket/running.cuh"

typedef RUNNING_SUM RunningSum;
enum : u32 { sum_words = sizeof(Group::Sum) / 4, point_words = sizeof(Group::Point) / 4 };

DEVICE_INLINE const u32 *point_of(const u32 *points, u32 entry) { return points + (u64)(entry & 0x7fffffffu) * point_words; }

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_RESIDENT)
    bucket_accumulate_VARIANT(const u32 *points, const u32 *entries, const u32 *offsets, u32 count, u32 threads, u32 least, u32 onto, const u32 *items,
                              u32 *state, u32 *buckets, const u32 *ids, u32 *partials) {
  const u32 total = state[ITEMS];
  SHARED_DYNAMIC(uint4, shared);
  RunningSum sum(shared);
  for (;;) {
    u32 i = 0;
    if (lane_id() == 0) i = atomicAdd(&state[TAKEN], 32u);
    i = shfl_idx(i, 0);
    if (i >= total) return;
    i += lane_id();
    if (i >= total) continue;
    const u32 item = ldg(items + i);
    u32 at, to, *result;
    if (item & PIECE) {
      const u32 slot = item & ~PIECE;
      const Run r = piece(offsets, slot, ldg(ids + slot), chunk(ldg(offsets + count), threads, least));
      at = r.from;
      to = r.to;
      result = partials + (u64)slot * sum_words;
    } else {
      at = ldg(offsets + item);
      to = ldg(offsets + item + 1);
      result = buckets + (u64)item * sum_words;
    }
    // While one point is added the next one is on its way.
    u32 left = to - at, entry = ldg(entries + at), negative = 0;
    sum.send_for(point_of(points, entry));
    const auto receive = [&] {
      sum.receive();
      negative = entry >> 31;
      left--;
      if (left == 0) return;
      entry = ldg(entries + ++at);
      sum.send_for(point_of(points, entry));
    };
    if (onto && !(item & PIECE)) {
      sum.put(load<Group::Sum>(result));
    } else {
      sum.open(receive, left, negative);
    }
    while (left != 0) {
      receive();
      sum.take(negative);
    }
    sum.write(result);
  }
}
