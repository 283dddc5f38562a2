// Field elements in memory, and one inversion for a whole block of threads.
#pragma once
#include "curve/fp2.cuh"
#include "curve/xyzz.cuh"
#include "field/mont/inverse.cuh"

template <class P, u32 M> DEVICE_CALL Fp2<P, M> gcd_inverse(Fp2<P, M> a) {
  // The conjugate over the norm.
  const Mont<P> n = gcd_inverse(mul_add(a.c0, a.c0, times<M>(a.c1), a.c1));
  return {mul(a.c0, n), neg(mul(a.c1, n))};
}

// Elements are moved 16 bytes at a time, those of two words 8.
template <u32 WORDS> struct Vector {
  typedef uint4 T;
  enum : u32 { n = WORDS / 4 };
  static __device__ __forceinline__ void take(u32 *to, const T &v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
  }
  static __device__ __forceinline__ T give(const u32 *from) { return make_uint4(from[0], from[1], from[2], from[3]); }
};

template <> struct Vector<2> {
  typedef uint2 T;
  enum : u32 { n = 1 };
  static __device__ __forceinline__ void take(u32 *to, const T &v) {
    to[0] = v.x;
    to[1] = v.y;
  }
  static __device__ __forceinline__ T give(const u32 *from) { return make_uint2(from[0], from[1]); }
};

template <class F> struct Elements {
  typedef Vector<sizeof(F) / 4> V;
  typedef typename V::T Word;
  enum : u32 { n = V::n, each = sizeof(Word) / 4 };

  // fetch is an element that nobody writes while the kernel runs.
  static __device__ __forceinline__ F fetch(const u32 *p) {
    F r;
#pragma unroll
    for (u32 v = 0; v < n; v++) V::take(reinterpret_cast<u32 *>(&r) + v * each, ldg(reinterpret_cast<const Word *>(p) + v));
    return r;
  }

  // load and store are for elements whose vectors are stride apart: 1 where an element
  // is in one piece, the number of elements where their first vectors are, then their
  // second ones, so that neighbouring threads' loads are one.
  static __device__ __forceinline__ F load(const Word *p, u32 stride) {
    F r;
#pragma unroll
    for (u32 v = 0; v < n; v++) V::take(reinterpret_cast<u32 *>(&r) + v * each, p[v * stride]);
    return r;
  }
  static __device__ __forceinline__ void store(Word *p, u32 stride, const F &x) {
#pragma unroll
    for (u32 v = 0; v < n; v++) p[v * stride] = V::give(reinterpret_cast<const u32 *>(&x) + v * each);
  }
  static __device__ __forceinline__ F load(const u32 *p) { return load(reinterpret_cast<const Word *>(p), 1); }
  static __device__ __forceinline__ void store(u32 *p, const F &x) { store(reinterpret_cast<Word *>(p), 1, x); }
};

// block_inverse replaces every thread's element by its inverse; none is zero. The
// products of pairs, of pairs of these and so on go to nodes, until no more are left
// than a warp has lanes, which inverts them in the time of one; then the inverse of each
// is that of its pair's product times the other's (Montgomery's trick as a tree).
//
// Element t of the block is at leaves[t], its vectors blockDim.x apart. nodes has room
// for so many elements, tree_nodes(blockDim.x). All threads have written their element
// before, in any order, and may read it after.
template <class F> DEVICE_INLINE void block_inverse(typename Elements<F>::Word *leaves, typename Elements<F>::Word *nodes, u32 room) {
  typedef Elements<F> E;
  const u32 t = threadIdx.x, threads = blockDim.x;
  // The level of so many elements: at is where it begins among the nodes.
  typename Elements<F>::Word *level = leaves;
  u32 size = threads, stride = threads, at = 0, levels = 0;
  __syncthreads();
  while (size > 32) {
    const u32 half = (size + 1) / 2;
    if (t < half) {
      F p = E::load(level + t, stride);
      if (t + half < size) p = mul(p, E::load(level + t + half, stride));
      E::store(nodes + at + t, room, p);
    }
    __syncthreads();
    level = nodes + at;
    stride = room;
    at += half;
    size = half;
    levels++;
  }
  if (t < size) E::store(level + t, stride, gcd_inverse(E::load(level + t, stride)));
  __syncthreads();
  at -= levels ? size : 0;
  while (levels > 0) {
    // The level below this one, which is at nodes + at.
    levels--;
    u32 below = threads, from = 0;
    for (u32 i = 0; i < levels; i++) {
      below = (below + 1) / 2;
      from += i + 1 < levels ? below : 0;
    }
    typename Elements<F>::Word *const down = levels ? nodes + from : leaves;
    const u32 apart = levels ? room : threads;
    F p;
    if (t < below) {
      const u32 pair = t < size ? t : t - size, other = t < size ? t + size : pair;
      p = E::load(nodes + at + pair, room);
      if (other < below) p = mul(p, E::load(down + other, apart));
    }
    __syncthreads();
    if (t < below) E::store(down + t, apart, p);
    __syncthreads();
    at = from;
    size = below;
  }
}
