// What bucket_accumulate and the kernels that merge its partial sums share.
//
// The list of entries is divided into chunks. Slot 2t is for what the bucket at the
// beginning of chunk t has in it, slot 2t+1 for that at its end. A slot's id is its
// bucket's, with DONE where there is nothing to add up. Those without DONE are in ascending
// order.
#pragma once
#include "device/ptx.cuh"

#define DONE 0x80000000u

// chunk is how many entries each has.
DEVICE_INLINE u32 chunk(u32 total, u32 threads, u32 least) {
  const u32 n = (u32)(((u64)total + threads - 1) / threads);
  return n > least ? n : least;
}

// Elements, points and sums are whole numbers of 16 bytes, the toy curve's elements apart.
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

template <class T> DEVICE_INLINE T load(const u32 *from) {
  T r;
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(T) / 16; j++) {
    const uint4 v = reinterpret_cast<const uint4 *>(from)[j];
    to[4 * j] = v.x;
    to[4 * j + 1] = v.y;
    to[4 * j + 2] = v.z;
    to[4 * j + 3] = v.w;
  }
  return r;
}

template <class T> DEVICE_INLINE void store(u32 *to, const T &t) {
  const u32 *const from = reinterpret_cast<const u32 *>(&t);
#pragma unroll
  for (u32 j = 0; j < sizeof(T) / 16; j++) {
    uint4 v;
    v.x = from[4 * j];
    v.y = from[4 * j + 1];
    v.z = from[4 * j + 2];
    v.w = from[4 * j + 3];
    reinterpret_cast<uint4 *>(to)[j] = v;
  }
}
