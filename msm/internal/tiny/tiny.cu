// Sums of few points in two launches. A block takes a run of points and one window: it
// sorts the digits in shared memory, adds up the points of every bucket by items of about
// equal length, a thread each, then an item's sum to another's of the same bucket, and the
// buckets to sums for every bit of their index (reduce.cu). The second kernel adds up what
// the blocks of a window have.
//
// A block has as many points as every other one, and no bucket more than a thread for
// each of its items, so that no distribution of digits takes much longer than another.
// After the points few additions go on at a time: four lanes do each (lanes.cuh).
#define MONT_INLINE_WORDS 8
#include "GROUP_HEADER"
#include "SCALAR_HEADER"
#include "curve/lanes.cuh"
#include "msm/internal/scatter/recode.cuh"

typedef SCALAR_FIELD Scalar;
typedef Group::F F;
typedef Group::Sum Sum;
typedef Group::Point Point;

enum : u32 {
  THREADS = BLOCK_THREADS,
  TEAMS = THREADS / 4, // of four lanes
  BUCKETS = MOST_BUCKETS,
  SLOTS = BUCKETS + THREADS, // for sums of a block: of buckets, then of items
  LEVELS = 10,               // more than log2 of THREADS
  NONE = 0xffff,
  SCALAR_WORDS = Scalar::N,
  SUM_QUADS = (Scalar::N + 3) / 4, // of a table
  F_WORDS = sizeof(F) / 4
};

// Words lie in whole quadruples, but for the toy curve's.
template <class T> DEVICE_INLINE T load(const u32 *from) {
  T r;
  u32 *const to = reinterpret_cast<u32 *>(&r);
  if constexpr (sizeof(T) % 16 == 0) {
#pragma unroll
    for (u32 j = 0; j < sizeof(T) / 16; j++) {
      const uint4 v = reinterpret_cast<const uint4 *>(from)[j];
      to[4 * j] = v.x, to[4 * j + 1] = v.y, to[4 * j + 2] = v.z, to[4 * j + 3] = v.w;
    }
  } else {
#pragma unroll
    for (u32 j = 0; j < sizeof(T) / 4; j++) to[j] = from[j];
  }
  return r;
}

template <class T> DEVICE_INLINE void store(u32 *to, const T &t) {
  const u32 *const from = reinterpret_cast<const u32 *>(&t);
  if constexpr (sizeof(T) % 16 == 0) {
#pragma unroll
    for (u32 j = 0; j < sizeof(T) / 16; j++) {
      uint4 v;
      v.x = from[4 * j], v.y = from[4 * j + 1], v.z = from[4 * j + 2], v.w = from[4 * j + 3];
      reinterpret_cast<uint4 *>(to)[j] = v;
    }
  } else {
#pragma unroll
    for (u32 j = 0; j < sizeof(T) / 4; j++) to[j] = from[j];
  }
}

// plus is a lane's coordinate of p + q, in one copy for a kernel.
DEVICE_CALL F plus(F p, F q) { return add_lanes<Group>(p, q, static_cast<const Sum *>(nullptr)); }

// team_add adds sum b to sum a where on is set; all lanes of a warp call it.
DEVICE_INLINE void team_add(u32 *sums, u32 a, u32 b, u32 on) {
  if (!warp_any(on)) return;
  u32 *const to = sums + ((u64)a * 4 + (threadIdx.x & 3)) * F_WORDS;
  F p, q;
  set_zero(p);
  set_zero(q);
  if (on) {
    p = load<F>(to);
    q = load<F>(sums + ((u64)b * 4 + (threadIdx.x & 3)) * F_WORDS);
  }
  p = plus(p, q);
  if (on) store(to, p);
}

// A window is a uint4 of a table: the digit's lowest bit, its mask, half, and buckets.

// key is 2 (bucket of scalar i's digit), and 1 more if its point is taken negatively.
DEVICE_INLINE u32 key(const u32 *scalars, const uint4 *table, const uint4 &window, u32 i, u32 &live) {
  const Recoded<Scalar> r = recode<Scalar>(scalars + (u64)i * SCALAR_WORDS, MONTGOMERY, table);
  live = r.live;
  const u32 word = window.x / 32;
  u32 low = 0, high = 0;
#pragma unroll
  for (u32 j = 0; j < SCALAR_WORDS; j++) {
    if (j == word) low = r.x[j];
    if (j == word + 1) high = r.x[j];
  }
  const u32 value = (funnel_right(low, high, window.x % 32) & window.y) - window.z, down = value >> 31, size = down ? 0 - value : value;
  return r.live && size != 0 && size <= window.w ? (size - 1) << 1 | (down ^ r.sign) : NONE;
}

// items is how many of so many entries are made, with at most so many in one.
DEVICE_INLINE u32 items(u32 entries, u32 length) { return (entries + length - 1) / length; }

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) tiny_windows_VARIANT(const u32 *points, const u32 *scalars, const uint4 *table, u32 n, u32 *sums,
                                                                                 u32 *bad) {
  __shared__ u32 counts[BUCKETS], cursors[BUCKETS], starts[BUCKETS + 1], pairs[THREADS], found[LEVELS], first_bad, length, most;
  SHARED_DYNAMIC(unsigned short, keys); // of the block's points, then these in order of key
  const u32 t = threadIdx.x, lane = t & 31, warp = t / 32;
  const u32 from = (u32)((u64)n * blockIdx.x / gridDim.x), count = (u32)((u64)n * (blockIdx.x + 1) / gridDim.x) - from;
  unsigned short *const order = keys + count;
  const uint4 window = ldg(table + SUM_QUADS + blockIdx.y);
  sums += (u64)(blockIdx.y * gridDim.x + blockIdx.x) * SLOTS * 4 * F_WORDS;
  if (t < BUCKETS) counts[t] = 0;
  if (t < LEVELS) found[t] = 0;
  if (t == 0) first_bad = 0xffffffffu, most = 0;
  __syncthreads();

  for (u32 i = t; i < count; i += THREADS) {
    u32 live;
    const u32 k = key(scalars, table, window, from + i, live);
    keys[i] = (unsigned short)k;
    if (k != NONE) atomicAdd(&counts[k >> 1], 1u);
    if (!live) atomicMin(&first_bad, from + i);
  }
  __syncthreads();
  if (t == 0 && blockIdx.y == 0) bad[blockIdx.x] = first_bad;

  // The least length of items of which there are no more than threads: each warp tries one,
  // from what there must be on. Each bucket has at most one short item.
  {
    u32 total = 0, own[BUCKETS / 32];
#pragma unroll
    for (u32 j = 0; j < BUCKETS / 32; j++) {
      own[j] = counts[lane + 32 * j];
      total += own[j];
    }
    total = warp_sum(total);
    if (t == 0) length = max(1u, items(total, THREADS - BUCKETS));
    __syncthreads();
    const u32 mine = max(1u, items(total, THREADS)) + warp;
    u32 made = 0;
#pragma unroll
    for (u32 j = 0; j < BUCKETS / 32; j++) made += items(own[j], mine);
    made = warp_sum(made);
    if (lane == 0 && made <= THREADS) atomicMin(&length, mine);
  }
  __syncthreads();
  // starts are a bucket's first entry and, 16 bits up, its first item.
  if (warp == 0) {
    u32 own[BUCKETS / 32], sum = 0, longest = 0;
#pragma unroll
    for (u32 j = 0; j < BUCKETS / 32; j++) {
      const u32 c = counts[lane * (BUCKETS / 32) + j], m = items(c, length);
      own[j] = c | m << 16;
      sum += own[j];
      longest = max(longest, m);
    }
    u32 up = sum;
#pragma unroll
    for (u32 d = 1; d < 32; d *= 2) {
      const u32 before = shfl_up(up, d);
      if (lane >= d) up += before;
    }
    u32 at = up - sum;
#pragma unroll
    for (u32 j = 0; j < BUCKETS / 32; j++) {
      starts[lane * (BUCKETS / 32) + j] = at;
      cursors[lane * (BUCKETS / 32) + j] = at & 0xffff;
      at += own[j];
    }
    if (lane == 31) starts[BUCKETS] = at;
    atomicMax(&most, longest);
  }
  __syncthreads();
  for (u32 i = t; i < count; i += THREADS) {
    const u32 k = keys[i];
    if (k != NONE) order[atomicAdd(&cursors[k >> 1], 1u)] = (unsigned short)(i | (k & 1) << 15);
  }
  __syncthreads();

  // Item j of m of a bucket: the first one's sum is in the bucket's place.
  u32 slot = 0, j = 0, m = 0;
  if (t < starts[BUCKETS] >> 16) {
    u32 low = 0, high = BUCKETS;
    while (high - low > 1) {
      const u32 mid = (low + high) / 2;
      if (starts[mid] >> 16 <= t)
        low = mid;
      else
        high = mid;
    }
    const u32 begin = starts[low] & 0xffff, entries = (starts[low + 1] & 0xffff) - begin;
    j = t - (starts[low] >> 16);
    m = (starts[low + 1] >> 16) - (starts[low] >> 16);
    slot = j == 0 ? low : BUCKETS + t;
    Sum sum;
    set_infinity(sum);
    const u32 end = begin + entries * (j + 1) / m;
    for (u32 k = begin + entries * j / m; k < end; k++) {
      const u32 e = order[k];
      Point p = load<Point>(points + (u64)(from + (e & 0x7fff)) * (sizeof(Point) / 4));
      if (e >> 15) p = neg(p);
      sum = accumulate(sum, p);
    }
    store(sums + (u64)slot * 4 * F_WORDS, sum);
  }
  if (t < window.w && counts[t] == 0) {
    Sum none;
    u32 *const words = reinterpret_cast<u32 *>(&none);
#pragma unroll
    for (u32 i = 0; i < sizeof(Sum) / 4; i++) words[i] = 0;
    store(sums + (u64)t * 4 * F_WORDS, none);
  }

  // Items of a bucket, a tree over their numbers. The next one's slot is its thread's.
  const u32 team = t / 4;
  for (u32 s = 1, level = 0; s < most; s *= 2, level++) {
    if (j % (2 * s) == 0 && j + s < m) pairs[atomicAdd(&found[level], 1u)] = slot | (BUCKETS + t + s) << 16;
    __syncthreads();
    const u32 all = found[level];
    for (u32 base = 0; base < all; base += TEAMS) {
      const u32 on = base + team < all, pair = on ? pairs[base + team] : 0;
      team_add(sums, pair & 0xffff, pair >> 16, on);
    }
    __syncthreads();
  }
  if (most <= 1) __syncthreads();

  // Step s of the reduction: sum i + 2^s goes to sum i for the i below 2^(s+1) periods that
  // are 0 or a power of two below 2^s.
  for (u32 s = 0; 1u << s < window.w; s++) {
    const u32 per = (window.w + (2u << s) - 1) >> (s + 1), all = per * (s + 1);
    for (u32 base = 0; base < all; base += TEAMS) {
      const u32 on = base + team < all, i = on ? base + team : 0, list = i / per;
      const u32 a = (i % per << (s + 1)) + (list == 0 ? 0 : 1u << (list - 1)), b = a + (1u << s);
      team_add(sums, a, b, on && b < window.w);
    }
    __syncthreads();
  }
}

// tiny_join adds up the sums of a window's blocks, a block a window, and writes rows of
// them: the sum of all buckets, then those of the buckets whose index has bit 0, bit 1 and
// so on, in XYZZ coordinates.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) tiny_join_VARIANT(const uint4 *table, u32 parts, u32 *sums, u32 *out, u32 rows) {
  const uint4 window = ldg(table + SUM_QUADS + blockIdx.x);
  const u32 t = threadIdx.x, team = t / 4;
  sums += (u64)blockIdx.x * parts * SLOTS * 4 * F_WORDS;
  for (u32 s = 1; s < parts; s *= 2) {
    const u32 per = (parts + 2 * s - 1) / (2 * s), all = per * rows;
    for (u32 base = 0; base < all; base += TEAMS) {
      const u32 on = base + team < all, i = on ? base + team : 0, row = i / per;
      const u32 a = i % per * 2 * s, b = a + s, place = row == 0 ? 0 : 1u << (row - 1);
      team_add(sums, a * SLOTS + place, b * SLOTS + place, on && b < parts && place < window.w);
    }
    __syncthreads();
  }
  if (t >= rows) return;
  const u32 place = t == 0 ? 0 : 1u << (t - 1);
  XYZZ<Group> x;
  set_infinity(x);
  if (place < window.w) x = FINISHED(load<Sum>(sums + (u64)place * 4 * F_WORDS));
  store(out + ((u64)blockIdx.x * rows + t) * 4 * F_WORDS, canonical(x));
}
