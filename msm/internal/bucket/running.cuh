// The running sum of a thread: in registers, or in shared memory where its coordinates are
// so long that products are functions (mont.cuh), which leave their caller few registers.
#pragma once
#include "curve/xyzz.cuh"
#include "msm/internal/bucket/chunks.cuh"

// resume is a sum from memory as accumulate takes it.
template <class C> DEVICE_INLINE const XYZZ<C> &resume(const XYZZ<C> &s) { return s; }

// InRegisters has the next two points in shared memory, 16 bytes of each thread side by
// side: the one to be added, and the one that comes meanwhile.
template <class C, u32 THREADS> struct InRegisters {
  typedef typename C::Point Point;
  enum : u32 { quads = sizeof(Point) / 16 };
  typename C::Sum sum;
  uint4 *own;
  u32 present; // offset of the point to be added

  __device__ __forceinline__ InRegisters(uint4 *shared) : own(shared + threadIdx.x), present(0) {}
  __device__ __forceinline__ void put(const typename C::Sum &s) { sum = resume(s); }
  __device__ __forceinline__ void write(u32 *to) const { store(to, canonical(sum)); }

  // send_for starts to copy the point at from, receive waits for it, take adds it or its
  // negative. Between receive and take the next may be sent for.
  __device__ __forceinline__ void send_for(const u32 *from) {
    const uint4 *const quad = reinterpret_cast<const uint4 *>(from);
#pragma unroll
    for (u32 j = 0; j < quads; j++) copy_async(own + (quads * THREADS - present) + j * THREADS, quad + j);
    copy_async_commit();
  }
  __device__ __forceinline__ void receive() {
    copy_async_wait<0>();
    present = quads * THREADS - present;
  }
  __device__ __forceinline__ void take(u32 negative) { sum = accumulate(sum, received(negative)); }

  // open begins a new sum with up to two points, for which it calls receive; left and
  // negative are what that changes.
  template <class Receive> __device__ __forceinline__ void open(const Receive &receive, const u32 &left, const u32 &negative) {
    receive();
    set_point(sum, received(negative));
    if (left == 0) return;
    receive();
    sum = second(sum, received(negative));
  }

  __device__ __forceinline__ Point received(u32 negative) const {
    Point p;
    u32 *const to = reinterpret_cast<u32 *>(&p);
#pragma unroll
    for (u32 j = 0; j < quads; j++) {
      const uint4 v = own[present + j * THREADS];
      to[4 * j] = v.x;
      to[4 * j + 1] = v.y;
      to[4 * j + 2] = v.z;
      to[4 * j + 3] = v.w;
    }
    return negative ? neg(p) : p;
  }
};

// InShared has seven numbers a thread in shared memory, 16 bytes of each thread side by
// side: the sum's coordinates and three for the course of an addition.
template <class C, u32 THREADS> struct InShared {
  typedef typename C::F F;
  typedef XYZZ<C> Sum;
  enum : u32 { X, Y, ZZ, ZZZ, P, R, PP, quads = sizeof(F) / 16 };
  uint4 *own;
  const u32 *sent, *from; // the next point, the one to be added

  __device__ __forceinline__ InShared(uint4 *shared) : own(shared + threadIdx.x) {}

  // Points are read where they are added.
  __device__ __forceinline__ void send_for(const u32 *point) { sent = point; }
  __device__ __forceinline__ void receive() { from = sent; }

  // The second point's products by 1 are not worth more code here.
  template <class Receive> __device__ __forceinline__ void open(const Receive &, const u32 &, const u32 &) { clear(); }

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
  __device__ __forceinline__ void take(u32 negative) {
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
      const F p = sub(mul(x, zz), at(X));
      set(P, p);
      same = is_zero(p);
    }
    {
      F y = fetch<F>(from_y);
      if (negative) y = neg(y);
      const F r = sub(mul(y, at(ZZZ)), at(Y));
      set(R, r);
      same = same && is_zero(r);
    }
    if (same) {
      Affine<C> q = {fetch<F>(from), fetch<F>(from_y)};
      if (negative) q = neg(q);
      put(twice(q));
      return;
    }
    set(PP, sqr(at(P)));
    set(ZZ, mul(at(ZZ), at(PP)));
    set(P, mul(at(P), at(PP)));
    set(ZZZ, mul(at(ZZZ), at(P)));
    set(X, mul(at(X), at(PP)));
    {
      F x = sub(sqr(at(R)), at(P));
      const F v = at(X);
      x = sub(x, dbl(v));
      set(X, x);
      set(PP, sub(v, x));
    }
    set(Y, mul_sub(at(R), at(PP), at(Y), at(P)));
  }
};
