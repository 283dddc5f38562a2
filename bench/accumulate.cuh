// What the kernels that add points up share: a thread adds up count points from memory;
// entries are a point's index, and a sign in the highest bit. Group is the unit's group.
#pragma once
#include "device/ptx.cuh"

template <class T> DEVICE_INLINE T fetch(const u32 *from) {
  T r;
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(T) / 16; j++) {
    const uint4 v = ldg(reinterpret_cast<const uint4 *>(from) + j);
    to[4 * j] = v.x;
    to[4 * j + 1] = v.y;
    to[4 * j + 2] = v.z;
    to[4 * j + 3] = v.w;
  }
  return r;
}

// point is where an entry's point lies.
template <class POINT> DEVICE_INLINE const u32 *point(const u32 *points, u32 entry) {
  return points + (u64)(entry & 0x7fffffffu) * (sizeof(POINT) / 4);
}

template <class SUM> DEVICE_INLINE void put(u32 *out, u32 t, const SUM &s) {
  const u32 *const from = reinterpret_cast<const u32 *>(&s);
  out += (u64)t * (sizeof(SUM) / 4);
#pragma unroll
  for (u32 j = 0; j < sizeof(SUM) / 4; j++) out[j] = from[j];
}

// add_up is the sum of a thread's points, WAY::plus adding one.
template <class GROUP, class WAY> DEVICE_INLINE void add_up(const WAY &way, u32 *out, const u32 *points, const u32 *entries, u32 count) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  entries += (u64)t * count;
  typename GROUP::Sum sum;
  set_infinity(sum);
  for (u32 k = 0; k < count; k++) {
    const u32 e = ldg(entries + k);
    typename GROUP::Point p = fetch<typename GROUP::Point>(point<typename GROUP::Point>(points, e));
    if (e >> 31) p = neg(p);
    sum = way.plus(sum, p);
  }
  put(out, t, canonical(sum));
}
