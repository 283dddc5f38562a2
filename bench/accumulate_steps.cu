// The additions of accumulate.cu with what makes them fast left out, step by step, as in
// figure 12 of DistMSM (ASPLOS 2024): sums of two points in XYZZ coordinates with all 14
// products; 10 of them where the second is affine; those in the order that needs the fewest
// long integers at a time. Every product is one of two numbers, and reduced. The last
// kernel has accumulate.cu's arithmetic and keeps its numbers in shared memory.
#include "GROUP_HEADER"
#include "bench/accumulate.cuh"

typedef Group::F F;
typedef Group::Point Point;
typedef Group::Sum Sum;

// Padd takes the point as a sum whose ZZ and ZZZ the compiler does not know: both are one,
// from memory.
struct Padd {
  F one;
  __device__ __forceinline__ Sum plus(const Sum &p, const Point &point) const {
    const Sum q = {point.x, point.y, one, one};
    if (is_infinity(p)) return q;
    if (is_infinity(q)) return p;
    const F u1 = mul(p.x, q.zz), u2 = mul(q.x, p.zz), s1 = mul(p.y, q.zzz), s2 = mul(q.y, p.zzz);
    const F d = sub(u2, u1), e = sub(s2, s1);
    if (is_zero(d) && is_zero(e)) return twice(p);
    const F dd = mul(d, d), ddd = mul(d, dd), v = mul(u1, dd);
    Sum r;
    r.x = sub(sub(mul(e, e), ddd), dbl(v));
    r.y = sub(mul(e, sub(v, r.x)), mul(s1, ddd));
    r.zz = mul(mul(p.zz, q.zz), dd);
    r.zzz = mul(mul(p.zzz, q.zzz), ddd);
    return r;
  }
};

struct Pacc {
  __device__ __forceinline__ Sum plus(const Sum &p, const Point &q) const {
    Sum r;
    if (is_infinity(q)) return p;
    if (is_infinity(p)) {
      set_point(r, q);
      return r;
    }
    const F u = mul(q.x, p.zz), s = mul(q.y, p.zzz), d = sub(u, p.x), e = sub(s, p.y);
    if (is_zero(d) && is_zero(e)) return twice(q);
    const F dd = mul(d, d), ddd = mul(d, dd), v = mul(p.x, dd);
    r.x = sub(sub(mul(e, e), ddd), dbl(v));
    r.y = sub(mul(e, sub(v, r.x)), mul(p.y, ddd));
    r.zz = mul(p.zz, dd);
    r.zzz = mul(p.zzz, ddd);
    return r;
  }
};

struct Ordered {
  __device__ __forceinline__ Sum plus(const Sum &p, const Point &q) const {
    Sum r;
    if (is_infinity(q)) return p;
    if (is_infinity(p)) {
      set_point(r, q);
      return r;
    }
    const F d = sub(mul(q.x, p.zz), p.x);
    if (is_zero(d) && is_zero(sub(mul(q.y, p.zzz), p.y))) return twice(q);
    const F dd = mul(d, d), ddd = mul(dd, d), v = mul(p.x, dd);
    r.zz = mul(p.zz, dd);
    const F e = sub(mul(q.y, p.zzz), p.y);
    r.zzz = mul(p.zzz, ddd);
    const F y = mul(p.y, ddd);
    r.x = sub(sub(mul(e, e), ddd), dbl(v));
    r.y = sub(mul(e, sub(v, r.x)), y);
    return r;
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    bench_accumulate_padd_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  add_up<Group>(Padd{fetch<F>(points)}, out, points, entries, count);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    bench_accumulate_pacc_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  add_up<Group>(Pacc(), out, points, entries, count);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    bench_accumulate_order_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  add_up<Group>(Ordered(), out, points, entries, count);
}

// Spilled is seven numbers of a thread in shared memory, 16 bytes of each thread side by
// side: the sum, and three for the course of an addition.
struct Spilled {
  enum : u32 { X, Y, ZZ, ZZZ, D, E, V, QUADS = sizeof(F) / 16 };
  uint4 *own;

  // operator[] reads a number, and never from a register.
  __device__ __forceinline__ F operator[](u32 k) const {
    F r;
    u32 *const to = reinterpret_cast<u32 *>(&r);
    forget();
#pragma unroll
    for (u32 j = 0; j < QUADS; j++) {
      const uint4 v = own[(k * QUADS + j) * SPILLING_THREADS];
      to[4 * j] = v.x;
      to[4 * j + 1] = v.y;
      to[4 * j + 2] = v.z;
      to[4 * j + 3] = v.w;
    }
    return r;
  }

  __device__ __forceinline__ void set(u32 k, const F &a) const {
    const u32 *const from = reinterpret_cast<const u32 *>(&a);
#pragma unroll
    for (u32 j = 0; j < QUADS; j++) {
      uint4 v;
      v.x = from[4 * j];
      v.y = from[4 * j + 1];
      v.z = from[4 * j + 2];
      v.w = from[4 * j + 3];
      own[(k * QUADS + j) * SPILLING_THREADS] = v;
    }
  }

  __device__ __forceinline__ void set(const Sum &s) const {
    set(X, s.x);
    set(Y, s.y);
    set(ZZ, s.zz);
    set(ZZZ, s.zzz);
  }

  __device__ __forceinline__ Sum sum() const { return {(*this)[X], (*this)[Y], (*this)[ZZ], (*this)[ZZZ]}; }

  // plus adds the point at from, or its negative. Its coordinates are read where they are used.
  __device__ __forceinline__ void plus(const u32 *from, bool negative) const {
    const Spilled &s = *this;
    {
      const F x = fetch<F>(from), d = sub(mul(x, s[ZZ]), s[X]);
      set(D, d);
      F y = fetch<F>(from + sizeof(F) / 4);
      if (negative) y = neg(y);
      const u32 nothing = is_zero(x) & is_zero(y), first = is_zero(s[ZZ]);
      const F e = sub(mul(y, s[ZZZ]), s[Y]);
      if (nothing || first || (is_zero(d) && is_zero(e))) {
        const Point q = {x, y};
        Sum r;
        if (first)
          set_point(r, q);
        else
          r = nothing ? sum() : twice(q);
        set(r);
        return;
      }
      set(E, e);
    }
    set(V, sqr(s[D]));
    set(ZZ, mul(s[ZZ], s[V]));
    set(D, mul(s[D], s[V]));
    set(ZZZ, mul(s[ZZZ], s[D]));
    set(X, mul(s[X], s[V]));
    {
      const F square = sub(sqr(s[E]), s[D]), v = s[X], x = sub(square, dbl(v));
      set(X, x);
      set(V, sub(v, x));
    }
    set(Y, mul_sub(s[E], s[V], s[Y], s[D]));
  }
};

extern "C" __global__ void __launch_bounds__(SPILLING_THREADS, SPILLING_RESIDENT)
    bench_accumulate_spilling_VARIANT(u32 *__restrict__ out, const u32 *__restrict__ points, const u32 *__restrict__ entries, u32 count) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  entries += (u64)t * count;
  SHARED_DYNAMIC(uint4, shared);
  const Spilled s = {shared + threadIdx.x};
  Sum zero;
  set_infinity(zero);
  s.set(zero);
  for (u32 k = 0; k < count; k++) {
    const u32 e = ldg(entries + k);
    s.plus(point<Point>(points, e), e >> 31);
  }
  put(out, t, canonical(s.sum()));
}
