// The running sum of a thread: in registers, or in shared memory where its coordinates are
// so long that products are functions (mont.cuh), which leave their caller few registers.
#pragma once
#include "curve/fp2.cuh"
#include "curve/xyzz.cuh"

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

template <class C> struct InRegisters {
  typedef typename C::Point Point;
  typename C::Sum sum;

  __device__ __forceinline__ InRegisters(uint4 *) { clear(); }
  __device__ __forceinline__ void clear() { set_infinity(sum); }
  __device__ __forceinline__ typename C::Sum get() const { return sum; }
  __device__ __forceinline__ void write(u32 *to) const { store(to, canonical(sum)); }

  // take adds the point at from, or its negative.
  __device__ __forceinline__ void take(const u32 *from, u32 negative) {
    Point p = fetch<Point>(from);
    if (negative) p = neg(p);
    sum = accumulate(sum, p);
  }
};

// Products for InShared, as functions with their operands in registers.
template <class P> DEVICE_INLINE Mont<P> far_mul(const Mont<P> &a, const Mont<P> &b) { return mul(a, b); }
template <class P> DEVICE_INLINE Mont<P> far_sqr(const Mont<P> &a) { return sqr(a); }
template <class P> DEVICE_INLINE Mont<P> far_mul_sub(const Mont<P> &a, const Mont<P> &b, const Mont<P> &c, const Mont<P> &d) {
  return mul_sub(a, b, c, d);
}
template <class P, u32 M> DEVICE_CALL Fp2<P, M> far_mul(Fp2<P, M> a, Fp2<P, M> b) { return mul(a, b); }
template <class P, u32 M> DEVICE_CALL Fp2<P, M> far_sqr(Fp2<P, M> a) { return sqr(a); }
template <class P, u32 M> DEVICE_INLINE Fp2<P, M> far_mul_sub(const Fp2<P, M> &a, const Fp2<P, M> &b, const Fp2<P, M> &c, const Fp2<P, M> &d) {
  const Fp2<P, M> right = far_mul(c, d);
  return sub(far_mul(a, b), right);
}

// InShared has seven numbers a thread in shared memory, 16 bytes of each thread side by
// side: the sum's coordinates and three for the course of an addition.
template <class C, u32 THREADS> struct InShared {
  typedef typename C::F F;
  typedef XYZZ<C> Sum;
  enum : u32 { X, Y, ZZ, ZZZ, P, R, PP, quads = sizeof(F) / 16 };
  uint4 *own;

  __device__ __forceinline__ InShared(uint4 *shared) : own(shared + threadIdx.x) { clear(); }

  // at reads one of the numbers, and never from a register.
  __device__ __forceinline__ F at(u32 k) const {
    F r;
    u32 *const to = reinterpret_cast<u32 *>(&r);
    forget();
#pragma unroll
    for (u32 j = 0; j < quads; j++) {
      const uint4 v = own[(k * quads + j) * THREADS];
      to[4 * j] = v.x;
      to[4 * j + 1] = v.y;
      to[4 * j + 2] = v.z;
      to[4 * j + 3] = v.w;
    }
    return r;
  }
  __device__ __forceinline__ void set(u32 k, const F &a) {
    const u32 *const from = reinterpret_cast<const u32 *>(&a);
#pragma unroll
    for (u32 j = 0; j < quads; j++) {
      uint4 v;
      v.x = from[4 * j];
      v.y = from[4 * j + 1];
      v.z = from[4 * j + 2];
      v.w = from[4 * j + 3];
      own[(k * quads + j) * THREADS] = v;
    }
  }

  __device__ __forceinline__ void clear() {
    F zero;
    set_zero(zero);
    for (u32 k = X; k <= ZZZ; k++) set(k, zero);
  }
  __device__ __forceinline__ Sum get() const { return {at(X), at(Y), at(ZZ), at(ZZZ)}; }
  __device__ __forceinline__ void write(u32 *to) const {
#pragma unroll 1
    for (u32 k = X; k <= ZZZ; k++) store(to + k * (sizeof(F) / 4), canonical(at(k)));
  }

  __device__ __forceinline__ void put(const Sum &s) {
    set(X, s.x);
    set(Y, s.y);
    set(ZZ, s.zz);
    set(ZZZ, s.zzz);
  }

  // take is accumulate of xyzz.cuh.
  __device__ __forceinline__ void take(const u32 *from, u32 negative) {
    const u32 *const from_y = from + sizeof(F) / 4;
    u32 same;
    {
      const F x = fetch<F>(from);
      if (is_zero(x) && is_zero(fetch<F>(from_y))) return;
      const F zz = at(ZZ);
      if (is_zero(zz)) {
        F one, y = fetch<F>(from_y);
        if (negative) y = neg(y);
        set_one(one);
        put({x, y, one, one});
        return;
      }
      const F p = sub(far_mul(x, zz), at(X));
      set(P, p);
      same = is_zero(p);
    }
    {
      F y = fetch<F>(from_y);
      if (negative) y = neg(y);
      const F r = sub(far_mul(y, at(ZZZ)), at(Y));
      set(R, r);
      same = same && is_zero(r);
    }
    if (same) {
      Affine<C> q = {fetch<F>(from), fetch<F>(from_y)};
      if (negative) q = neg(q);
      put(twice(q));
      return;
    }
    set(PP, far_sqr(at(P)));
    set(ZZ, far_mul(at(ZZ), at(PP)));
    set(P, far_mul(at(P), at(PP)));
    set(ZZZ, far_mul(at(ZZZ), at(P)));
    set(X, far_mul(at(X), at(PP)));
    {
      F x = sub(far_sqr(at(R)), at(P));
      const F v = at(X);
      x = sub(x, dbl(v));
      set(X, x);
      set(PP, sub(v, x));
    }
    set(Y, far_mul_sub(at(R), at(PP), at(Y), at(P)));
  }
};
