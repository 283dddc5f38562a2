// One group of points, for kernels that are written once for all: the curve
// y² = x³ + a x + b over its field, as struct Group.
#include "PARAMS_HEADER"
#include "curve/fp2.cuh"
#include "curve/xyzz.cuh"

struct Group {
  typedef COORDINATE F;
  // points as they are given, and sums of them
  typedef Affine<Group> Point;
  typedef XYZZ<Group> Sum;
  enum : u32 { words = sizeof(F) / 4 };
  static constexpr bool a_is_zero = A_IS_ZERO;
  static __device__ __forceinline__ F load(const u32 *t) {
    F r;
    u32 *const to = reinterpret_cast<u32 *>(&r);
#pragma unroll
    for (u32 i = 0; i < words; i++) to[i] = t[i];
    return r;
  }
  static __device__ __forceinline__ F a() {
    constexpr u32 t[words] = {A_WORDS};
    return load(t);
  }
  static __device__ __forceinline__ F b() {
    constexpr u32 t[words] = {B_WORDS};
    return load(t);
  }
};
