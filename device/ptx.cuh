// Everything that is not plain C++ about our kernels: the integer types, and
// one function per PTX instruction (or per step of a carry chain), each with an
// emulation for the SIMT device. No other file holds inline PTX or asks which
// of the two compilers is at work, so what the emulator runs is what ships.
//
// Warp-wide functions take part in lock step: all lanes of the warp that have
// not returned call the same function at the same place.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

#define DEVICE_INLINE static __device__ __forceinline__
// DEVICE_CALL is a function that stays one: for arithmetic so long that copies of it
// would cost more than calls.
#define DEVICE_CALL static __device__ __noinline__
// DEVICE_LARGE is inlined in kernels, and a call in the emulator, whose compiler would
// take minutes over the copies.
#if defined(ZKWARP_SIMT)
#define DEVICE_LARGE static __attribute__((noinline, unused))
#else
#define DEVICE_LARGE static __device__ __forceinline__
#endif

#define FULL_WARP 0xffffffffu

#if defined(ZKWARP_SIMT)
#define ZKWARP_CARRY simt::ctx.carry
// SHARED_DYNAMIC(T, name) declares T *name, the block's dynamic shared memory.
#define SHARED_DYNAMIC(T, name) T *const name = reinterpret_cast<T *>(simt::dynamic_shared())
// The place a warp-wide function is called from: lanes that meet at different
// places are an error.
#define ZKWARP_PLACE , simt::Place place = simt::Place::here()
#else
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "kernels need sm_80 or newer"
#endif
extern __shared__ uint4 zkwarp_dynamic_shared[];
#define SHARED_DYNAMIC(T, name) T *const name = reinterpret_cast<T *>(zkwarp_dynamic_shared)
#define ZKWARP_PLACE
#endif

// ---- products ---------------------------------------------------------------

// mul_hi is the upper half of a * b.
DEVICE_INLINE u32 mul_hi(u32 a, u32 b) {
#if defined(ZKWARP_SIMT)
  return (u32)((u64)a * b >> 32);
#else
  return __umulhi(a, b);
#endif
}

DEVICE_INLINE i32 mul_hi(i32 a, i32 b) {
#if defined(ZKWARP_SIMT)
  return (i32)((i64)a * b >> 32);
#else
  return __mulhi(a, b);
#endif
}

DEVICE_INLINE u64 mul_hi(u64 a, u64 b) {
#if defined(ZKWARP_SIMT)
  return (u64)((unsigned __int128)a * b >> 64);
#else
  return __umul64hi(a, b);
#endif
}

// mul_wide is the full product of two words.
DEVICE_INLINE u64 mul_wide(u32 a, u32 b) {
#if defined(ZKWARP_SIMT)
  return (u64)a * b;
#else
  u64 r;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
  return r;
#endif
}

DEVICE_INLINE i64 mul_wide(i32 a, i32 b) {
#if defined(ZKWARP_SIMT)
  return (i64)a * b;
#else
  i64 r;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
  return r;
#endif
}

// mad_wide is a * b + c modulo 2^64.
DEVICE_INLINE u64 mad_wide(u32 a, u32 b, u64 c) {
#if defined(ZKWARP_SIMT)
  return (u64)a * b + c;
#else
  u64 r;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
  return r;
#endif
}

// The same for signed words, in two steps of a carry chain: the assembler makes one
// instruction of them, where it would take sums of mad.wide apart to add in pairs.
DEVICE_INLINE i64 mad_wide(i32 a, i32 b, i64 c) {
#if defined(ZKWARP_SIMT)
  return (i64)((u64)((i64)a * b) + (u64)c);
#else
  i64 r;
  asm("{\n .reg .b32 l, h;\n mov.b64 {l, h}, %3;\n mad.lo.cc.s32 l, %1, %2, l;\n madc.hi.s32 h, %1, %2, h;\n mov.b64 %0, {l, h};\n}"
      : "=l"(r)
      : "r"(a), "r"(b), "l"(c));
  return r;
#endif
}

// dot4 is c plus the inner product of the four signed bytes of a and b.
DEVICE_INLINE i32 dot4(u32 a, u32 b, i32 c) {
#if defined(ZKWARP_SIMT)
  u32 s = (u32)c;
  for (int i = 0; i < 32; i += 8) s += (u32)((i32)(i8)(a >> i) * (i32)(i8)(b >> i));
  return (i32)s;
#else
  return __dp4a((i32)a, (i32)b, c);
#endif
}

// dot4u is the same for unsigned bytes.
DEVICE_INLINE u32 dot4u(u32 a, u32 b, u32 c) {
#if defined(ZKWARP_SIMT)
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
#else
  return __dp4a(a, b, c);
#endif
}

// ---- carry chains -------------------------------------------------------------
//
// A name ending in _cc sets the carry flag, a name with c before the underscore
// or at the end (addc, madc) also adds it in. The flag lives from one step to
// the next only: keep the steps of a chain adjacent, with no other arithmetic,
// branch or warp-wide function between them. For subtraction the flag is the
// borrow.

#if defined(ZKWARP_SIMT)
#define ZKWARP_ADD(name, T, CIN, COUT)                                                             \
  DEVICE_INLINE T name(T a, T b) {                                                                 \
    unsigned __int128 s = (unsigned __int128)a + b + (CIN ? ZKWARP_CARRY : 0);                     \
    if (COUT) ZKWARP_CARRY = (u32)(s >> (8 * sizeof(T))) & 1;                                      \
    return (T)s;                                                                                   \
  }
#define ZKWARP_SUB(name, T, CIN, COUT)                                                             \
  DEVICE_INLINE T name(T a, T b) {                                                                 \
    unsigned __int128 s = (unsigned __int128)a - b - (CIN ? ZKWARP_CARRY : 0);                     \
    if (COUT) ZKWARP_CARRY = (u32)(s >> 127) & 1;                                                  \
    return (T)s;                                                                                   \
  }
#define ZKWARP_MAD(name, T, HALF, CIN, COUT)                                                       \
  DEVICE_INLINE T name(T a, T b, T c) {                                                            \
    T p = (T)((unsigned __int128)a * b >> (HALF * 8 * sizeof(T)));                                 \
    unsigned __int128 s = (unsigned __int128)p + c + (CIN ? ZKWARP_CARRY : 0);                     \
    if (COUT) ZKWARP_CARRY = (u32)(s >> (8 * sizeof(T))) & 1;                                      \
    return (T)s;                                                                                   \
  }
ZKWARP_ADD(add_cc, u32, 0, 1)
ZKWARP_ADD(addc_cc, u32, 1, 1)
ZKWARP_ADD(addc, u32, 1, 0)
ZKWARP_ADD(add_cc, u64, 0, 1)
ZKWARP_ADD(addc_cc, u64, 1, 1)
ZKWARP_ADD(addc, u64, 1, 0)
ZKWARP_SUB(sub_cc, u32, 0, 1)
ZKWARP_SUB(subc_cc, u32, 1, 1)
ZKWARP_SUB(subc, u32, 1, 0)
ZKWARP_SUB(sub_cc, u64, 0, 1)
ZKWARP_SUB(subc_cc, u64, 1, 1)
ZKWARP_SUB(subc, u64, 1, 0)
ZKWARP_MAD(mad_lo_cc, u32, 0, 0, 1)
ZKWARP_MAD(madc_lo_cc, u32, 0, 1, 1)
ZKWARP_MAD(madc_lo, u32, 0, 1, 0)
ZKWARP_MAD(mad_hi_cc, u32, 1, 0, 1)
ZKWARP_MAD(madc_hi_cc, u32, 1, 1, 1)
ZKWARP_MAD(madc_hi, u32, 1, 1, 0)
ZKWARP_MAD(mad_lo_cc, u64, 0, 0, 1)
ZKWARP_MAD(madc_lo_cc, u64, 0, 1, 1)
ZKWARP_MAD(madc_lo, u64, 0, 1, 0)
ZKWARP_MAD(mad_hi_cc, u64, 1, 0, 1)
ZKWARP_MAD(madc_hi_cc, u64, 1, 1, 1)
ZKWARP_MAD(madc_hi, u64, 1, 1, 0)
#undef ZKWARP_ADD
#undef ZKWARP_SUB
#undef ZKWARP_MAD
#else
#define ZKWARP_OP2(name, T, reg, text)                                                             \
  DEVICE_INLINE T name(T a, T b) {                                                                 \
    T r;                                                                                           \
    asm volatile(text " %0, %1, %2;" : "=" reg(r) : reg(a), reg(b));                               \
    return r;                                                                                      \
  }
#define ZKWARP_OP3(name, T, reg, text)                                                             \
  DEVICE_INLINE T name(T a, T b, T c) {                                                            \
    T r;                                                                                           \
    asm volatile(text " %0, %1, %2, %3;" : "=" reg(r) : reg(a), reg(b), reg(c));                   \
    return r;                                                                                      \
  }
ZKWARP_OP2(add_cc, u32, "r", "add.cc.u32")
ZKWARP_OP2(addc_cc, u32, "r", "addc.cc.u32")
ZKWARP_OP2(addc, u32, "r", "addc.u32")
ZKWARP_OP2(add_cc, u64, "l", "add.cc.u64")
ZKWARP_OP2(addc_cc, u64, "l", "addc.cc.u64")
ZKWARP_OP2(addc, u64, "l", "addc.u64")
ZKWARP_OP2(sub_cc, u32, "r", "sub.cc.u32")
ZKWARP_OP2(subc_cc, u32, "r", "subc.cc.u32")
ZKWARP_OP2(subc, u32, "r", "subc.u32")
ZKWARP_OP2(sub_cc, u64, "l", "sub.cc.u64")
ZKWARP_OP2(subc_cc, u64, "l", "subc.cc.u64")
ZKWARP_OP2(subc, u64, "l", "subc.u64")
ZKWARP_OP3(mad_lo_cc, u32, "r", "mad.lo.cc.u32")
ZKWARP_OP3(madc_lo_cc, u32, "r", "madc.lo.cc.u32")
ZKWARP_OP3(madc_lo, u32, "r", "madc.lo.u32")
ZKWARP_OP3(mad_hi_cc, u32, "r", "mad.hi.cc.u32")
ZKWARP_OP3(madc_hi_cc, u32, "r", "madc.hi.cc.u32")
ZKWARP_OP3(madc_hi, u32, "r", "madc.hi.u32")
ZKWARP_OP3(mad_lo_cc, u64, "l", "mad.lo.cc.u64")
ZKWARP_OP3(madc_lo_cc, u64, "l", "madc.lo.cc.u64")
ZKWARP_OP3(madc_lo, u64, "l", "madc.lo.u64")
ZKWARP_OP3(mad_hi_cc, u64, "l", "mad.hi.cc.u64")
ZKWARP_OP3(madc_hi_cc, u64, "l", "madc.hi.cc.u64")
ZKWARP_OP3(madc_hi, u64, "l", "madc.hi.u64")
#undef ZKWARP_OP2
#undef ZKWARP_OP3
#endif

// mul_lo is the low half of a * b. It may stand between the steps of a chain, whose carry
// it leaves alone.
DEVICE_INLINE u32 mul_lo(u32 a, u32 b) {
#if defined(ZKWARP_SIMT)
  return a * b;
#else
  u32 r;
  asm volatile("mul.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
#endif
}

// ---- double precision ---------------------------------------------------------------
//
// Each rounds to the nearest, once; the compiler fuses and reorders none of them.

// fma_rn is a * b + c.
DEVICE_INLINE double fma_rn(double a, double b, double c) {
#if defined(ZKWARP_SIMT)
  return __builtin_fma(a, b, c);
#else
  return __fma_rn(a, b, c);
#endif
}

DEVICE_INLINE double add_rn(double a, double b) {
#if defined(ZKWARP_SIMT)
  return a + b;
#else
  return __dadd_rn(a, b);
#endif
}

// bits_of is the representation of a: sign, 11 bits of exponent, 52 of mantissa.
DEVICE_INLINE u64 bits_of(double a) {
#if defined(ZKWARP_SIMT)
  u64 r;
  __builtin_memcpy(&r, &a, 8);
  return r;
#else
  return (u64)__double_as_longlong(a);
#endif
}

// double_of is the double with a representation.
DEVICE_INLINE double double_of(u64 a) {
#if defined(ZKWARP_SIMT)
  double r;
  __builtin_memcpy(&r, &a, 8);
  return r;
#else
  return __longlong_as_double((i64)a);
#endif
}

// ---- bits and bytes -------------------------------------------------------------

DEVICE_INLINE u32 popcount(u32 a) {
#if defined(ZKWARP_SIMT)
  return (u32)__builtin_popcount(a);
#else
  return (u32)__popc(a);
#endif
}

DEVICE_INLINE u32 popcount(u64 a) {
#if defined(ZKWARP_SIMT)
  return (u32)__builtin_popcountll(a);
#else
  return (u32)__popcll(a);
#endif
}

// leading_zeros is 32 (64) for zero.
DEVICE_INLINE u32 leading_zeros(u32 a) {
#if defined(ZKWARP_SIMT)
  return a ? (u32)__builtin_clz(a) : 32;
#else
  return (u32)__clz((i32)a);
#endif
}

DEVICE_INLINE u32 leading_zeros(u64 a) {
#if defined(ZKWARP_SIMT)
  return a ? (u32)__builtin_clzll(a) : 64;
#else
  return (u32)__clzll((i64)a);
#endif
}

// bit_reverse puts bit 0 into bit 31.
DEVICE_INLINE u32 bit_reverse(u32 a) {
#if defined(ZKWARP_SIMT)
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(a);
#else
  return __brev(a);
#endif
}

// funnel_left is the upper word of hi:lo shifted left by n mod 32.
DEVICE_INLINE u32 funnel_left(u32 lo, u32 hi, u32 n) {
#if defined(ZKWARP_SIMT)
  return (u32)((((u64)hi << 32 | lo) << (n & 31)) >> 32);
#else
  return __funnelshift_l(lo, hi, n);
#endif
}

// funnel_right is the lower word of hi:lo shifted right by n mod 32.
DEVICE_INLINE u32 funnel_right(u32 lo, u32 hi, u32 n) {
#if defined(ZKWARP_SIMT)
  return (u32)(((u64)hi << 32 | lo) >> (n & 31));
#else
  return __funnelshift_r(lo, hi, n);
#endif
}

// byte_permute picks four bytes of b:a, one by each of sel's four nibbles; bit 3
// of a nibble takes the byte's sign bit, eight times, instead of the byte.
DEVICE_INLINE u32 byte_permute(u32 a, u32 b, u32 sel) {
#if defined(ZKWARP_SIMT)
  u64 all = (u64)b << 32 | a;
  u32 r = 0;
  for (int i = 0; i < 4; i++) {
    u32 s = sel >> (4 * i) & 15, v = (u32)(all >> (8 * (s & 7))) & 255;
    if (s & 8) v = v & 128 ? 255 : 0;
    r |= v << (8 * i);
  }
  return r;
#else
  u32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sel));
  return r;
#endif
}

// lop3 applies any three-input Boolean function bitwise: the result for the bits
// (x, y, z) is bit 4x + 2y + z of LUT.
template <u32 LUT> DEVICE_INLINE u32 lop3(u32 a, u32 b, u32 c) {
#if defined(ZKWARP_SIMT)
  u32 r = 0;
  for (u32 i = 0; i < 8; i++)
    if (LUT >> i & 1) r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
#else
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(LUT));
  return r;
#endif
}

// ---- memory ---------------------------------------------------------------------

// ldg loads through the read-only cache; nothing may write *p while the kernel
// runs. Vectors need their natural alignment.
template <class T> DEVICE_INLINE T ldg(const T *p) {
#if defined(ZKWARP_SIMT)
  return *p;
#else
  return __ldg(p);
#endif
}

// store_streaming writes data that will not be read again soon.
template <class T> DEVICE_INLINE void store_streaming(T *p, T v) {
#if defined(ZKWARP_SIMT)
  *p = v;
#else
  __stcs(p, v);
#endif
}

// forget makes the compiler read again from memory what it read or wrote before, where it
// would keep it in registers. It is no instruction.
DEVICE_INLINE void forget() {
#if !defined(ZKWARP_SIMT)
  asm volatile("" : : : "memory");
#endif
}

// copy_async starts a copy of 16 bytes from global to shared memory, both at
// multiples of 16. What it copies to is undefined until the thread has waited for
// the copy's group, and for other threads until a barrier after that.
DEVICE_INLINE void copy_async(void *to, const void *from ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  simt::copy_async(to, from, place);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#endif
}

// copy_async_commit ends a group of copies, which may be empty.
DEVICE_INLINE void copy_async_commit() {
#if defined(ZKWARP_SIMT)
  simt::copy_commit();
#else
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

// copy_async_wait waits for all of the thread's groups but the latest N; wait for
// all of them before the thread ends.
template <u32 N> DEVICE_INLINE void copy_async_wait() {
#if defined(ZKWARP_SIMT)
  simt::copy_wait(N);
#else
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
#endif
}

// ---- warps -------------------------------------------------------------------------

DEVICE_INLINE u32 lane_id() {
#if defined(ZKWARP_SIMT)
  return simt::lane_id();
#else
  u32 r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
#endif
}

#if defined(ZKWARP_SIMT)
namespace simt {
// Frames are what lanes bring to a warp-wide function; the last lane to come
// fills in everybody's results.
struct Shuffle {
  u64 value, result;
  u32 source;
};
inline void shuffle_step(Warp &w) {
  // What a lane that has returned would have supplied is undefined.
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) {
      Shuffle *f = w.frame<Shuffle>(i);
      f->result = w.here(f->source) ? w.frame<Shuffle>(f->source)->value : 0xA5A5A5A5A5A5A5A5ull;
    }
}
inline u64 shuffle(u64 v, u32 source, u32 mask, Place place) {
  Shuffle f = {v, 0, source};
  collective(shuffle_step, &f, mask, place, "shfl");
  return f.result;
}
struct Vote {
  u32 value, result;
};
inline void ballot_step(Warp &w) {
  u32 r = 0;
  for (u32 i = 0; i < 32; i++)
    if (w.here(i) && w.frame<Vote>(i)->value) r |= 1u << i;
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) w.frame<Vote>(i)->result = r;
}
inline void sum_step(Warp &w) {
  u32 r = 0;
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) r += w.frame<Vote>(i)->value;
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) w.frame<Vote>(i)->result = r;
}
inline void xor_step(Warp &w) {
  u32 r = 0;
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) r ^= w.frame<Vote>(i)->value;
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) w.frame<Vote>(i)->result = r;
}
inline void match_step(Warp &w) {
  for (u32 i = 0; i < 32; i++)
    if (w.here(i)) {
      u32 r = 0;
      for (u32 j = 0; j < 32; j++)
        if (w.here(j) && w.frame<Vote>(j)->value == w.frame<Vote>(i)->value) r |= 1u << j;
      w.frame<Vote>(i)->result = r;
    }
}
inline u32 vote(void (*step)(Warp &), u32 v, u32 mask, Place place, const char *what) {
  Vote f = {v, 0};
  collective(step, &f, mask, place, what);
  return f.result;
}
} // namespace simt
#endif

// shfl_xor is the value that lane_id() ^ x passes.
DEVICE_INLINE u32 shfl_xor(u32 v, u32 x ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return (u32)simt::shuffle(v, (lane_id() ^ x) & 31, FULL_WARP, place);
#else
  return __shfl_xor_sync(FULL_WARP, v, (i32)x);
#endif
}

DEVICE_INLINE u64 shfl_xor(u64 v, u32 x ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::shuffle(v, (lane_id() ^ x) & 31, FULL_WARP, place);
#else
  return __shfl_xor_sync(FULL_WARP, v, (i32)x);
#endif
}

// shfl_down is the value that lane_id() + d passes, or the caller's own where
// there is no such lane.
DEVICE_INLINE u32 shfl_down(u32 v, u32 d ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  u32 s = lane_id() + d;
  return (u32)simt::shuffle(v, s < 32 ? s : lane_id(), FULL_WARP, place);
#else
  return __shfl_down_sync(FULL_WARP, v, d);
#endif
}

DEVICE_INLINE u64 shfl_down(u64 v, u32 d ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  u32 s = lane_id() + d;
  return simt::shuffle(v, s < 32 ? s : lane_id(), FULL_WARP, place);
#else
  return __shfl_down_sync(FULL_WARP, v, d);
#endif
}

// shfl_up is the value that lane_id() - d passes, or the caller's own where
// there is no such lane.
DEVICE_INLINE u32 shfl_up(u32 v, u32 d ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return (u32)simt::shuffle(v, lane_id() >= d ? lane_id() - d : lane_id(), FULL_WARP, place);
#else
  return __shfl_up_sync(FULL_WARP, v, d);
#endif
}

DEVICE_INLINE u64 shfl_up(u64 v, u32 d ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::shuffle(v, lane_id() >= d ? lane_id() - d : lane_id(), FULL_WARP, place);
#else
  return __shfl_up_sync(FULL_WARP, v, d);
#endif
}

// shfl_idx is the value that lane i mod 32 passes.
DEVICE_INLINE u32 shfl_idx(u32 v, u32 i ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return (u32)simt::shuffle(v, i & 31, FULL_WARP, place);
#else
  return __shfl_sync(FULL_WARP, v, (i32)i);
#endif
}

DEVICE_INLINE u64 shfl_idx(u64 v, u32 i ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::shuffle(v, i & 31, FULL_WARP, place);
#else
  return __shfl_sync(FULL_WARP, v, (i32)i);
#endif
}

// ballot has bit i set where lane i's p is not zero.
DEVICE_INLINE u32 ballot(u32 p ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::vote(simt::ballot_step, p, FULL_WARP, place, "ballot");
#else
  return __ballot_sync(FULL_WARP, p != 0);
#endif
}

// warp_any and warp_all say whether some or every lane's p is not zero.
DEVICE_INLINE bool warp_any(u32 p ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::vote(simt::ballot_step, p, FULL_WARP, place, "any") != 0;
#else
  return __any_sync(FULL_WARP, p != 0) != 0;
#endif
}

DEVICE_INLINE bool warp_all(u32 p ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::vote(simt::ballot_step, p == 0, FULL_WARP, place, "all") == 0;
#else
  return __all_sync(FULL_WARP, p != 0) != 0;
#endif
}

// warp_match is the set of lanes that pass the same v.
DEVICE_INLINE u32 warp_match(u32 v ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::vote(simt::match_step, v, FULL_WARP, place, "match");
#else
  return __match_any_sync(FULL_WARP, v);
#endif
}

// warp_sum is the sum of all lanes' v modulo 2^32.
DEVICE_INLINE u32 warp_sum(u32 v ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::vote(simt::sum_step, v, FULL_WARP, place, "sum");
#else
  return __reduce_add_sync(FULL_WARP, v);
#endif
}

// warp_xor is the exclusive or of all lanes' v.
DEVICE_INLINE u32 warp_xor(u32 v ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  return simt::vote(simt::xor_step, v, FULL_WARP, place, "xor");
#else
  return __reduce_xor_sync(FULL_WARP, v);
#endif
}

// ---- matrix instructions ------------------------------------------------------------
//
// d += a b for matrices whose entries are spread over the warp. Lane 4g + t has
//   of d (16 x 8):  d[0], d[1] = entries (g, 2t), (g, 2t + 1); d[2], d[3] = (g + 8, the same)
//   of a (16 x K):  a[0] = row g, a[1] = row g + 8, entries of the t-th word of the first half;
//                   a[2], a[3] = the same rows, of the second half
//   of b (K x 8):   b[0] = column g, t-th word of the first half; b[1] = of the second half
// where a word holds 4 bytes (K = 32) or 32 bits (K = 256), lowest entry first.
// All 32 lanes take part.

#if defined(ZKWARP_SIMT)
namespace simt {
struct Matrix {
  i32 *d;
  const u32 *a, *b;
};
// word_product is the inner product of two words, as T interprets them.
struct SignedBytes {
  static i32 word_product(u32 a, u32 b) { return dot4(a, b, 0); }
};
struct UnsignedBytes {
  static i32 word_product(u32 a, u32 b) { return (i32)dot4u(a, b, 0); }
};
struct Bits {
  static i32 word_product(u32 a, u32 b) { return (i32)popcount(a & b); }
};
template <class T> void matrix_step(Warp &w) {
  if (w.group != FULL_WARP) trap("a matrix instruction without all 32 lanes", Place::here());
  for (u32 row = 0; row < 16; row++)
    for (u32 column = 0; column < 8; column++) {
      u32 s = 0;
      for (u32 k = 0; k < 8; k++) {
        u32 t = k & 3, half = k >> 2;
        u32 a = w.frame<Matrix>(4 * (row & 7) + t)->a[2 * half + (row >> 3)];
        u32 b = w.frame<Matrix>(4 * column + t)->b[half];
        s += (u32)T::word_product(a, b);
      }
      i32 &d = w.frame<Matrix>(4 * (row & 7) + column / 2)->d[2 * (row >> 3) + (column & 1)];
      d = (i32)((u32)d + s);
    }
}
template <class T> void matrix(i32 *d, const u32 *a, const u32 *b, Place place) {
  Matrix f = {d, a, b};
  collective(matrix_step<T>, &f, FULL_WARP, place, "mma");
}
} // namespace simt
#else
#define ZKWARP_MMA(text)                                                                           \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#endif

// mma_s8 multiplies signed bytes, K = 32.
DEVICE_INLINE void mma_s8(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2] ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  simt::matrix<simt::SignedBytes>(d, a, b, place);
#else
  ZKWARP_MMA("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32");
#endif
}

// mma_u8 multiplies unsigned bytes, K = 32.
DEVICE_INLINE void mma_u8(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2] ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  simt::matrix<simt::UnsignedBytes>(d, a, b, place);
#else
  ZKWARP_MMA("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32");
#endif
}

// mma_b1 counts the positions where both bits are set, K = 256.
DEVICE_INLINE void mma_b1(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2] ZKWARP_PLACE) {
#if defined(ZKWARP_SIMT)
  simt::matrix<simt::Bits>(d, a, b, place);
#else
  ZKWARP_MMA("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc");
#endif
}
#if !defined(ZKWARP_SIMT)
#undef ZKWARP_MMA
#endif
