// What CUDA C++ has and C++ has not, for kernels compiled by the host's
// compiler. It is included before a translation unit; the functions declared
// here are the runtime's (host.cpp), which loads the result as a shared object.
#pragma once
#define ZKWARP_SIMT 1

#define __global__
#define __device__
#define __host__
#define __constant__
// Inlined where g++ thinks it worth it: made to copy all of a field's arithmetic to
// where it is used, it takes up to ten times as long, and tests run no faster.
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
// A block runs on one thread of the host, start to end, so its shared memory is
// that thread's. Under the sanitizers there is one such thread, and plain static
// variables, which get red zones around them.
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#else
#define __shared__ static thread_local
#endif

struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x, y, z; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
static inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }
static inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

namespace simt {

// Place is where in the source a barrier or warp-wide function is called.
struct Place {
  const char *file;
  int line;
  static constexpr Place here(const char *f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
};

// Context is the running lane's view of itself.
struct Context {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
  unsigned int tid;   // the thread's linear index within its block
  unsigned int carry; // the carry flag of ptx.cuh's chains
  void *dynamic;      // dynamic shared memory
};
extern __thread Context ctx __attribute__((tls_model("initial-exec")));

// Warp is what the last lane to reach a warp-wide function sees: which lanes
// take part, and what each of them brought.
struct Warp {
  unsigned int group;
  void *frames[32];
  bool here(unsigned int i) const { return group >> i & 1; }
  template <class T> T *frame(unsigned int i) const { return static_cast<T *>(frames[i]); }
};
typedef void (*Step)(Warp &);

// collective waits until every lane of mask that has not returned has called it
// with the same mask, step and place; one of them then runs step, if any.
void collective(Step step, void *frame, unsigned int mask, Place place, const char *what);
// barrier waits until every thread of the block that has not returned is there.
void barrier(Place place);
// copy_async notes a copy of 16 bytes into shared memory, which is undefined from
// then on until copy_wait; copy_commit ends a group of the lane's copies, and
// copy_wait carries out all groups but the latest pending ones. A lane that
// returns with copies not waited for faults.
void copy_async(void *to, const void *from, Place place);
void copy_commit();
void copy_wait(unsigned int pending);
// trap ends the launch as a fault.
[[noreturn]] void trap(const char *why, Place place);

inline unsigned int lane_id() { return ctx.tid & 31; }
inline void *dynamic_shared() { return ctx.dynamic; }
} // namespace simt

#define threadIdx (simt::ctx.thread)
#define blockIdx (simt::ctx.block)
#define blockDim (simt::ctx.block_dim)
#define gridDim (simt::ctx.grid_dim)
#define warpSize 32

static inline void __syncthreads(simt::Place place = simt::Place::here()) { simt::barrier(place); }
static inline void __syncwarp(unsigned int mask = 0xffffffffu, simt::Place place = simt::Place::here()) {
  simt::collective(nullptr, nullptr, mask, place, "__syncwarp");
}
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
[[noreturn]] static inline void __trap(simt::Place place = simt::Place::here()) { simt::trap("__trap", place); }
#undef assert
#define assert(x) ((x) ? (void)0 : simt::trap("assertion failed: " #x, simt::Place::here()))

#define SIMT_ATOMIC(T, WORD)                                                                                       \
  static inline T atomicAdd(T *p, T v) { return (T)__atomic_fetch_add((WORD *)p, (WORD)v, __ATOMIC_RELAXED); }      \
  static inline T atomicExch(T *p, T v) { return (T)__atomic_exchange_n((WORD *)p, (WORD)v, __ATOMIC_RELAXED); }    \
  static inline T atomicAnd(T *p, T v) { return (T)__atomic_fetch_and((WORD *)p, (WORD)v, __ATOMIC_RELAXED); }      \
  static inline T atomicOr(T *p, T v) { return (T)__atomic_fetch_or((WORD *)p, (WORD)v, __ATOMIC_RELAXED); }        \
  static inline T atomicXor(T *p, T v) { return (T)__atomic_fetch_xor((WORD *)p, (WORD)v, __ATOMIC_RELAXED); }      \
  static inline T atomicCAS(T *p, T old, T v) {                                                                     \
    __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                             \
    return old;                                                                                                     \
  }                                                                                                                 \
  static inline T atomicMin(T *p, T v) {                                                                            \
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                   \
    while (v < old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}       \
    return old;                                                                                                     \
  }                                                                                                                 \
  static inline T atomicMax(T *p, T v) {                                                                            \
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                   \
    while (v > old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}       \
    return old;                                                                                                     \
  }
SIMT_ATOMIC(unsigned int, unsigned int)
SIMT_ATOMIC(int, unsigned int)
SIMT_ATOMIC(unsigned long long, unsigned long long)
#undef SIMT_ATOMIC
static inline unsigned int atomicSub(unsigned int *p, unsigned int v) { return atomicAdd(p, 0u - v); }
static inline int atomicSub(int *p, int v) { return (int)atomicAdd((unsigned int *)p, 0u - (unsigned int)v); }

#define SIMT_MINMAX(T)                                                                                             \
  static inline T min(T a, T b) { return b < a ? b : a; }                                                          \
  static inline T max(T a, T b) { return a < b ? b : a; }
SIMT_MINMAX(int)
SIMT_MINMAX(unsigned int)
SIMT_MINMAX(long long)
SIMT_MINMAX(unsigned long long)
#undef SIMT_MINMAX
static inline unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
static inline unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
static inline unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }
static inline unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }
