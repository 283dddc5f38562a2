// The numbers of a thread that goes through buckets: in registers, or in shared memory
// where they are so long that registers do not hold them.
#pragma once
#include "device/ptx.cuh"

template <class F, u32 COUNT> struct InRegisters {
  F numbers[COUNT];

  __device__ __forceinline__ InRegisters(u64 *) {}
  __device__ __forceinline__ F at(u32 k) const { return numbers[k]; }
  __device__ __forceinline__ void set(u32 k, const F &a) { numbers[k] = a; }
};

// InShared has 8 bytes of each of a block's threads side by side.
template <class F, u32 COUNT, u32 THREADS> struct InShared {
  enum : u32 { pairs = sizeof(F) / 8 };
  u64 *own;

  __device__ __forceinline__ InShared(u64 *shared) : own(shared + threadIdx.x) {}

  // at reads one of the numbers, and never from a register.
  __device__ __forceinline__ F at(u32 k) const {
    F r;
    u32 *const to = reinterpret_cast<u32 *>(&r);
    forget();
#pragma unroll
    for (u32 j = 0; j < pairs; j++) {
      const u64 v = own[(k * pairs + j) * THREADS];
      to[2 * j] = (u32)v;
      to[2 * j + 1] = (u32)(v >> 32);
    }
    return r;
  }
  __device__ __forceinline__ void set(u32 k, const F &a) {
    const u32 *const from = reinterpret_cast<const u32 *>(&a);
#pragma unroll
    for (u32 j = 0; j < pairs; j++) own[(k * pairs + j) * THREADS] = (u64)from[2 * j + 1] << 32 | from[2 * j];
  }
};

// load_number and store_number move one coordinate. All but the toy curve's are whole
// numbers of 16 bytes.
template <class F> DEVICE_INLINE F load_number(const u32 *from) {
  F r;
  u32 *const to = reinterpret_cast<u32 *>(&r);
  if (sizeof(F) % 16 != 0) {
#pragma unroll
    for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = from[j];
    return r;
  }
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 16; j++) {
    const uint4 v = reinterpret_cast<const uint4 *>(from)[j];
    to[4 * j] = v.x;
    to[4 * j + 1] = v.y;
    to[4 * j + 2] = v.z;
    to[4 * j + 3] = v.w;
  }
  return r;
}

template <class F> DEVICE_INLINE void store_number(u32 *to, const F &a) {
  const u32 *const from = reinterpret_cast<const u32 *>(&a);
  if (sizeof(F) % 16 != 0) {
#pragma unroll
    for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = from[j];
    return;
  }
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 16; j++) {
    uint4 v;
    v.x = from[4 * j];
    v.y = from[4 * j + 1];
    v.z = from[4 * j + 2];
    v.w = from[4 * j + 3];
    reinterpret_cast<uint4 *>(to)[j] = v;
  }
}

// What take needs of a bucket's sum: read when it is needed, or all at once before.
template <class F> struct Far {
  enum : u32 { words = sizeof(F) / 4 };
  const u32 *from;

  __device__ __forceinline__ Far(const u32 *s) : from(s) {}
  __device__ __forceinline__ F at(u32 k) const { return load_number<F>(from + k * words); }
};

template <class F> struct Near {
  F numbers[4];

  __device__ __forceinline__ Near(const u32 *s) {
#pragma unroll
    for (u32 k = 0; k < 4; k++) numbers[k] = load_number<F>(s + k * (sizeof(F) / 4));
  }
  __device__ __forceinline__ F at(u32 k) const { return numbers[k]; }
};

// load_if is 0 where there is nothing to be read.
template <class F> DEVICE_INLINE F load_if(bool some, const u32 *from) {
  F r;
  set_zero(r);
  if (some) r = load_number<F>(from);
  return r;
}

// What lanes tell each other: from_lane is what lane i of the warp has, beside what the
// other lane of a pair has.
template <class F> DEVICE_INLINE F from_lane(const F &a, u32 i) {
  F r;
  const u32 *const from = reinterpret_cast<const u32 *>(&a);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = shfl_idx(from[j], i);
  return r;
}

template <class F> DEVICE_INLINE F beside(const F &a) {
  F r;
  const u32 *const from = reinterpret_cast<const u32 *>(&a);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = shfl_xor(from[j], 1);
  return r;
}

// choose is yes or no, without a branch.
template <class F> DEVICE_INLINE F choose(bool which, const F &yes, const F &no) {
  F r;
  const u32 *const y = reinterpret_cast<const u32 *>(&yes), *const n = reinterpret_cast<const u32 *>(&no);
  u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
  for (u32 j = 0; j < sizeof(F) / 4; j++) to[j] = which ? y[j] : n[j];
  return r;
}
