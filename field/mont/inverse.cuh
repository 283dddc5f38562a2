// The inverse of one element by one thread, in the time of some tens of products.
//
// It is the extended greatest common divisor of Bernstein and Yang, "Fast constant-time
// gcd computation and modular inversion" (CHES 2019), in P. Wuille's variant that begins
// with delta = 1/2. From f = p and g = x a division step makes (f, g) of
//   (g, (g - f)/2)  if delta > 0 and g is odd, delta becoming 1 - delta,
//   (f, (g + f)/2)  if g is odd, and (f, g/2) if it is even, delta becoming 1 + delta,
// until g is 0 and f is 1 or -1. Fifteen steps depend on the lowest 15 bits alone; the
// matrix of thirty is applied to f and g, and to d and e with d x = f and e x = g modulo
// p, adding what multiple of p makes the division by 2^30 exact.
#pragma once
#include "field/mont/mont.cuh"

template <class P> struct DivisionSteps {
  // Numbers are digits of 30 bits, all but the highest positive. d and e lie between
  // -2p and p.
  enum : u32 { digits = (32 * P::N - P::SPARE + 2 + 29) / 30, mask = 0x3fffffffu };
  typedef i32 Number[digits];

  // digit is the i-th digit of words given by a function.
  template <class W> static __device__ __forceinline__ i32 digit(const W &w, u32 i) {
    const u32 bit = 30 * i, at = bit / 32, shift = bit % 32;
    const u32 low = at < P::N ? w(at) : 0, high = at + 1 < P::N ? w(at + 1) : 0;
    return (i32)(funnel_right(low, high, shift) & mask);
  }
  struct Modulus {
    __device__ __forceinline__ u32 operator()(u32 i) const { return P::p(i); }
  };
  // Two to the power of 64 N: with e = R² for x R the end is R/x.
  struct Square {
    __device__ __forceinline__ u32 operator()(u32 i) const { return P::r2(i); }
  };
  struct Words {
    const u32 *x;
    __device__ __forceinline__ u32 operator()(u32 i) const { return x[i]; }
  };

  // Row is a row (a, b) of a matrix of 15 steps, as a + 2^16 b modulo 2^32. Both are above
  // -2^15 and at most 2^15.
  static __device__ __forceinline__ i32 left(u32 row) { return (i32)((row + 0x7fffu) & 0xffffu) - 0x7fff; }
  static __device__ __forceinline__ i32 right(u32 row) { return left((row - (u32)left(row)) >> 16); }

  // steps is 15 steps for the lowest bits of f and g. delta stands for delta - 1/2.
  static __device__ __forceinline__ void steps(i32 &delta, u32 &f, u32 &g, u32 &top, u32 &bottom) {
    top = 1;
    bottom = 1u << 16;
#pragma unroll
    for (u32 i = 0; i < 15; i++) {
      const u32 odd = 0u - (g & 1), swap = odd & ~(u32)(delta >> 31);
      g += ((f ^ swap) & odd) - swap;
      f += g & swap;
      g >>= 1;
      bottom += ((top ^ swap) & odd) - swap;
      top = 2 * (top + (bottom & swap));
      delta = (i32)((u32)delta ^ swap) + 1;
    }
  }

  // apply makes (f, g) of (u f + v g, q f + r g) / 2^30, which is exact.
  static __device__ __forceinline__ void apply(Number &f, Number &g, i32 u, i32 v, i32 q, i32 r) {
    i64 a = mad_wide(v, g[0], mul_wide(u, f[0])) >> 30, b = mad_wide(r, g[0], mul_wide(q, f[0])) >> 30;
#pragma unroll
    for (u32 i = 1; i < digits; i++) {
      a = mad_wide(v, g[i], mad_wide(u, f[i], a));
      b = mad_wide(r, g[i], mad_wide(q, f[i], b));
      f[i - 1] = (i32)((u32)a & mask);
      g[i - 1] = (i32)((u32)b & mask);
      a >>= 30;
      b >>= 30;
    }
    f[digits - 1] = (i32)a;
    g[digits - 1] = (i32)b;
  }

  // apply_modulo is the same for d and e, modulo p.
  static __device__ __forceinline__ void apply_modulo(Number &d, Number &e, i32 u, i32 v, i32 q, i32 r) {
    const u32 inverse = 0u - P::inverse;
    // Negative numbers get p first, so that the range is kept.
    const i32 sd = d[digits - 1] >> 31, se = e[digits - 1] >> 31;
    i32 md = (u & sd) + (v & se), me = (q & sd) + (r & se);
    i64 a = mad_wide(v, e[0], mul_wide(u, d[0])), b = mad_wide(r, e[0], mul_wide(q, d[0]));
    md -= (i32)((inverse * (u32)a + (u32)md) & mask);
    me -= (i32)((inverse * (u32)b + (u32)me) & mask);
    const i32 p0 = digit(Modulus(), 0);
    a = mad_wide(md, p0, a) >> 30;
    b = mad_wide(me, p0, b) >> 30;
#pragma unroll
    for (u32 i = 1; i < digits; i++) {
      const i32 p = digit(Modulus(), i);
      a = mad_wide(md, p, mad_wide(v, e[i], mad_wide(u, d[i], a)));
      b = mad_wide(me, p, mad_wide(r, e[i], mad_wide(q, d[i], b)));
      d[i - 1] = (i32)((u32)a & mask);
      e[i - 1] = (i32)((u32)b & mask);
      a >>= 30;
      b >>= 30;
    }
    d[digits - 1] = (i32)a;
    e[digits - 1] = (i32)b;
  }

  // carry brings digits that lie in (-2^31, 2^31) back into their range.
  static __device__ __forceinline__ void carry(Number &d) {
#pragma unroll
    for (u32 i = 0; i + 1 < digits; i++) {
      d[i + 1] += d[i] >> 30;
      d[i] &= (i32)mask;
    }
  }

  static __device__ __forceinline__ Mont<P> inverse(const Mont<P> &x) {
    Number f, g, d, e;
#pragma unroll
    for (u32 i = 0; i < digits; i++) {
      f[i] = digit(Modulus(), i);
      g[i] = digit(Words{x.x}, i);
      d[i] = 0;
      e[i] = digit(Square(), i);
    }
    i32 delta = 0;
#pragma unroll 1
    for (;;) {
      i32 any = 0;
#pragma unroll
      for (u32 i = 0; i < digits; i++) any |= g[i];
      if (any == 0) break;
      u32 low_f = (u32)f[0] | (u32)f[1] << 30, low_g = (u32)g[0] | (u32)g[1] << 30;
      u32 top, bottom;
      steps(delta, low_f, low_g, top, bottom);
      const i32 u = left(top), v = right(top), q = left(bottom), r = right(bottom);
      steps(delta, low_f, low_g, top, bottom);
      const i32 a = left(top), b = right(top), c = left(bottom), h = right(bottom);
      const i32 uu = a * u + b * q, vv = a * v + b * r, qq = c * u + h * q, rr = c * v + h * r;
      apply(f, g, uu, vv, qq, rr);
      apply_modulo(d, e, uu, vv, qq, rr);
    }
    // The inverse is d, or -d where f is -1: brought between -p and p, and then above 0.
    const i32 negative = f[digits - 1] >> 31;
    i32 below = d[digits - 1] >> 31;
#pragma unroll
    for (u32 i = 0; i < digits; i++) d[i] = ((d[i] + (digit(Modulus(), i) & below)) ^ negative) - negative;
    carry(d);
    below = d[digits - 1] >> 31;
#pragma unroll
    for (u32 i = 0; i < digits; i++) d[i] += digit(Modulus(), i) & below;
    carry(d);
    Mont<P> out;
#pragma unroll
    for (u32 j = 0; j < P::N; j++) {
      const u32 at = 32 * j / 30, shift = 32 * j % 30;
      u32 w = (u32)d[at] >> shift;
      if (at + 1 < digits) w |= (u32)d[at + 1] << (30 - shift);
      if (shift > 28 && at + 2 < digits) w |= (u32)d[at + 2] << (60 - shift);
      out.x[j] = w;
    }
    return out;
  }
};

// gcd_inverse is 1/a, 0 for 0.
template <class P> DEVICE_CALL Mont<P> gcd_inverse(Mont<P> a) { return DivisionSteps<P>::inverse(canonical(a)); }
