// What the kernels of openings share: products of factors, and sums over threads,
// blocks and grids. A field's header and a transcript's come before.
//
// A product weight over m variables is 2m factors: factor 2j + b is what variable
// j contributes where its bit is b, and the weight of entry x is the product over
// all variables. The first variable has the top bit.
#pragma once

#define MEMBER_INLINE __device__ __forceinline__

#define WHIR_THREADS 256u
#define WHIR_WARPS 8u

DEVICE_INLINE ext whir_fold(ext lo, ext hi, ext r) { return ext_add(lo, ext_mul(r, ext_sub(hi, lo))); }

// whir_weight is start times the weight of entry x over n variables.
DEVICE_INLINE ext whir_weight(ext start, const u32 *__restrict__ factors, u32 n, u64 x) {
#pragma unroll 1
  for (u32 j = 0; j < n; j++) start = ext_mul(start, ext_load(factors, 2 * j + (u32)(x >> (n - 1 - j) & 1)));
  return start;
}

// Nibbles is the weights of each four variables by themselves, from the first ones on,
// in shared memory: a weight is a product of a few of them.
#define NIBBLES 8u
struct Nibbles {
  ext weights[NIBBLES][16];
};

// whir_nibbles fills in the weights of n <= 32 variables; a barrier must follow. Thread
// `thread` of `step` has every step-th entry.
DEVICE_INLINE void whir_nibbles(Nibbles *t, const u32 *__restrict__ factors, u32 n, u32 thread, u32 step) {
#pragma unroll 1
  for (u32 i = thread; i < (n + 3) / 4 * 16; i += step) {
    u32 group = i / 16, x = i % 16, first = 4 * group, count = n - first < 4 ? n - first : 4;
    if (x >> count == 0) {
      ext v = ext_load(factors, 2 * first + (x >> (count - 1) & 1));
      ext f[3];
#pragma unroll
      for (u32 j = 1; j < 4; j++)
        if (j < count) f[j - 1] = ext_load(factors, 2 * (first + j) + (x >> (count - 1 - j) & 1));
#pragma unroll
      for (u32 j = 1; j < 4; j++)
        if (j < count) v = ext_mul(v, f[j - 1]);
      t->weights[group][x] = v;
    }
  }
}

// whir_nibbles_weight is the weight of entry x over variables [from, n), from being a
// multiple of 4.
DEVICE_INLINE ext whir_nibbles_weight(const Nibbles *t, u32 from, u32 n, u64 x) {
  if (from >= n) return ext_one();
  u32 shift = n - from, count = shift < 4 ? shift : 4;
  shift -= count;
  ext v = t->weights[from / 4][(u32)(x >> shift) & 15];
#pragma unroll 1
  for (u32 group = from / 4 + 1; shift != 0; group++) {
    count = shift < 4 ? shift : 4;
    shift -= count;
    v = ext_mul(v, t->weights[group][(u32)(x >> shift) & ((1u << count) - 1)]);
  }
  return v;
}

DEVICE_INLINE ext whir_power(ext x, u64 e) {
  ext v = ext_one();
#pragma unroll 1
  for (; e != 0; e >>= 1) {
    if (e & 1) v = ext_mul(v, x);
    x = ext_sqr(x);
  }
  return v;
}

DEVICE_INLINE sym whir_sym_one() {
  sym v;
#pragma unroll
  for (u32 k = 0; k < SYM_WORDS; k++) v.x[k] = k == 0 ? fp_one() : 0;
  return v;
}

DEVICE_INLINE sym whir_sym_power(sym x, u32 e) {
  sym v = whir_sym_one();
#pragma unroll 1
  for (; e != 0; e >>= 1) {
    if (e & 1) v = sym_mul(v, x);
    x = sym_mul(x, x);
  }
  return v;
}

// whir_root is a symbol that came as two arguments of a kernel.
DEVICE_INLINE sym whir_root(u32 a, u32 b) {
  const u32 words[2] = {a, b};
  sym v;
#pragma unroll
  for (u32 k = 0; k < SYM_WORDS; k++) v.x[k] = words[k];
  return v;
}

// whir_warp_sum is the sum over all 32 lanes, in every lane.
DEVICE_INLINE ext whir_warp_sum(ext v) {
#pragma unroll
  for (u32 o = 16; o > 0; o >>= 1) {
    ext other;
#pragma unroll
    for (u32 k = 0; k < EXT_WORDS; k++) other.x[k] = shfl_xor(v.x[k], o);
    v = ext_add(v, other);
  }
  return v;
}

// Total is shared memory for sums of up to 32 warps.
struct Total {
  ext warps[32];
};

// whir_block_sum is the sum over a block of whole warps, in every thread of its
// first warp. `t` may be used again after the next barrier.
DEVICE_INLINE ext whir_block_sum(ext v, Total *t) {
  v = whir_warp_sum(v);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  if (lane == 0) t->warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = ext_zero();
    if (lane < warps) v = t->warps[lane];
    v = whir_warp_sum(v);
  }
  return v;
}

// whir_arrive: all blocks that come to a counter write something before. It is true
// in all threads of the last of `count` blocks, which may read what all of them
// have written; the counter is zero again then.
DEVICE_INLINE bool whir_arrive(u32 *counter, u32 count) {
  __shared__ u32 last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1u) == count - 1 ? 1u : 0u;
    if (last) atomicExch(counter, 0u);
  }
  __syncthreads();
  if (last) __threadfence();
  return last != 0;
}

// whir_draw: the first warp absorbs a list of n elements that all of it can see, and
// draws a challenge.
DEVICE_INLINE ext whir_draw(transcript &t, const u32 *list, u32 n) {
  ext c;
  transcript_absorb(t, list, EXT_WORDS * n);
  transcript_challenge_words(t, c.x);
  return c;
}
