// The constants of one prime field, for fp64.cuh: limbs with signs, the lowest first.
#pragma once
#include "MONT_HEADER"

// Factors of doubles come from constant memory, as operands.
static __constant__ const double VARIANT_p[FP64_LIMBS] = {FP64_MODULUS};
static __constant__ const double VARIANT_friendly[FP64_LIMBS] = {FP64_FRIENDLY};

struct VARIANT {
  typedef MONT_FIELD Words;
  // L limbs of B bits
  enum : u32 { L = FP64_LIMBS, B = FP64_BITS };
  // A number is about x RATIO / 2^28 times p, for x its highest limb shifted by SHIFT.
  enum : u32 { SHIFT = FP64_SHIFT, RATIO = FP64_RATIO };
  __device__ static __forceinline__ double p(u32 i) { return VARIANT_p[i]; }
  // (k p + 1) / 2^B, for the k of the least size with which that is whole
  __device__ static __forceinline__ double friendly(u32 i) { return VARIANT_friendly[i]; }
  // -1/p modulo 2^B
  __device__ static __forceinline__ double inverse() { return FP64_INVERSE; }
  // p's limbs as p_high 2^32 + p_low
  __device__ static __forceinline__ i32 p_low(u32 i) {
    constexpr i32 t[L] = {FP64_MODULUS_LOW};
    return t[i];
  }
  __device__ static __forceinline__ i32 p_high(u32 i) {
    constexpr i32 t[L] = {FP64_MODULUS_HIGH};
    return t[i];
  }
  // Factors that take an element from the radix 2^(32N), as from_words leaves it, to
  // 2^(BL), and back
  __device__ static __forceinline__ double enter(u32 i) {
    constexpr double t[L] = {FP64_ENTER};
    return t[i];
  }
  __device__ static __forceinline__ double leave(u32 i) {
    constexpr double t[L] = {FP64_LEAVE};
    return t[i];
  }
};
