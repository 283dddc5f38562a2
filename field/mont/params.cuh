// The constants of one prime field, for mont.cuh. Words are 32 bits, the lowest first.
#pragma once
#include "device/ptx.cuh"

struct VARIANT {
  // N words; SPARE bits of the highest are never used, at least one
  enum : u32 { N = FIELD_LIMBS, SPARE = FIELD_SPARE };
  // whether the functions of mont.cuh take and give any number below 2p; if not, all are
  // below p
  static constexpr bool LAZY = SPARE >= 2;
  // whether two products of elements and one of p by a word have room in N + 1 words
  static constexpr bool SUMS = FIELD_SUMS;
  // -1/p modulo 2^32
  static constexpr u32 inverse = FIELD_INVERSE;
  __device__ static __forceinline__ u32 p(u32 i) {
    constexpr u32 t[N] = {FIELD_MODULUS};
    return t[i];
  }
  // 2p, which fits
  __device__ static __forceinline__ u32 p2(u32 i) {
    constexpr u32 t[N] = {FIELD_MODULUS2};
    return t[i];
  }
  // 2^(32N) mod p: one in Montgomery form
  __device__ static __forceinline__ u32 one(u32 i) {
    constexpr u32 t[N] = {FIELD_ONE};
    return t[i];
  }
  // 2^(64N) mod p
  __device__ static __forceinline__ u32 r2(u32 i) {
    constexpr u32 t[N] = {FIELD_R2};
    return t[i];
  }
  // (p-1)/2, above which a number is the negative of a smaller one
  __device__ static __forceinline__ u32 half(u32 i) {
    constexpr u32 t[N] = {FIELD_HALF};
    return t[i];
  }
};
