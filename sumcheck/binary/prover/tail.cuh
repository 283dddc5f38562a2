// Rounds over elements: reading tables, binding variables, and summing products.
//
// A block keeps a number of positions' values in shared memory, in slots: slot 2j has
// p_j(0, x) and slot 2j + 1 has p_j(1, x) for the positions x, where the round's variable
// is the one that is written; further slots take products. A program of the degree says
// what is multiplied: stages of tasks, each the product of two sums of slots, so that all
// threads have work and no thread has a chain of products to go through. The last stage's
// products are summed over x into coefficients of the round polynomial S, all but one,
// and S(1). Large tables leave S(1) out, which follows from the claim; for small ones a
// product more is faster than to know the claim, two products after the challenge.
#pragma once
#include "sumcheck/binary/prover/round.cuh"

// How a table is read. Elements are bound by the last challenge (FOLD) or not, and are of
// the tower or not; patterns are bits p(u, x), a bit for each u < 2^k, in one or two bytes.
#define TAIL_FOLD 1u
#define TAIL_TOWER 2u
#define TAIL_PATTERN 4u
#define TAIL_STORE 8u
#define TAIL_LEVELS(mode) ((mode) >> 8 & 15u)  // variables that are bound since the window
#define TAIL_BYTES(mode) ((mode) >> 12 & 15u)  // of a pattern
#define TAIL_WINDOW(mode) ((mode) >> 16 & 15u) // k

// pattern_tables makes the block's tables for patterns: table (v, i) has at b the sum of
// the weights of the bits of b, byte i of the pattern at v.
DEVICE_INLINE void pattern_tables(uint4 *tables, const State *s, u32 mode) {
  u32 levels = TAIL_LEVELS(mode), bytes = TAIL_BYTES(mode), bits = 1u << TAIL_WINDOW(mode);
#pragma unroll 1
  for (u32 e = threadIdx.x; e < bytes << levels + 8; e += blockDim.x) {
    u32 v = e / (256 * bytes), i = e / 256 % bytes;
    uint4 sum = pv_zero(), w[8];
    // All at once: what takes time is to wait for them.
#pragma unroll
    for (u32 b = 0; b < 8; b++) {
      u32 u = 8 * i + b;
      w[b] = u >= bits ? pv_zero() : TAIL_WINDOW(mode) + levels == 0 ? pv_one() : s->weights[(u << levels) + v];
    }
#pragma unroll
    for (u32 b = 0; b < 8; b++)
      if (e >> b & 1) sum = pv_add(sum, w[b]);
    tables[e] = sum;
  }
}

// pattern_tables_of is pattern_tables by way of a copy of the weights in shared memory:
// the other one's threads wait for device memory again and again. The block; a barrier is
// due.
DEVICE_INLINE void pattern_tables_of(uint4 *tables, uint4 *weights, const State *s, u32 mode) {
  u32 levels = TAIL_LEVELS(mode), bytes = TAIL_BYTES(mode), bits = 1u << TAIL_WINDOW(mode);
  if (threadIdx.x < bits << levels) weights[threadIdx.x] = bits << levels == 1 ? pv_one() : s->weights[threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (u32 e = threadIdx.x; e < bytes << levels + 8; e += blockDim.x) {
    u32 v = e / 256 / bytes, i = e / 256 % bytes;
    uint4 sum = pv_zero();
#pragma unroll
    for (u32 b = 0; b < 8; b++) {
      u32 u = 8 * i + b;
      if ((e >> b & 1) && u < bits) sum = pv_add(sum, weights[(u << levels) + v]);
    }
    tables[e] = sum;
  }
}

// entry_line reads entry x of a table of `size` entries: after binding it is a plus the
// slope times the challenge, or, where false is returned, a.
DEVICE_INLINE bool entry_line(uint4 &a, uint4 &slope, const State *s, const uint4 *tables, u32 mode, const uint4 *table, u64 x, u64 size) {
  slope = pv_zero();
  if (mode & TAIL_PATTERN) {
    const u8 *p = (const u8 *)table;
    u32 bytes = TAIL_BYTES(mode);
    uint4 sum = pv_zero();
#pragma unroll 1
    for (u32 v = 0; v < 1u << TAIL_LEVELS(mode); v++) {
      u64 at = x + v * size;
      if (bytes == 1) {
        sum = pv_add(sum, tables[256 * v + p[at]]);
      } else {
        u32 w = ((const u16 *)p)[at];
        sum = pv_add(sum, tables[512 * v + (w & 255)], tables[512 * v + 256 + (w >> 8)]);
      }
    }
    a = sum;
    return false;
  }
  a = table[x];
  if (mode & TAIL_FOLD) slope = pv_add(a, table[x + size]);
  if (mode & TAIL_TOWER) {
    a = to_polyval(s, a);
    if (mode & TAIL_FOLD) slope = to_polyval(s, slope);
  }
  return (mode & TAIL_FOLD) != 0;
}

// entry is entry x of a table of `size` entries after binding.
DEVICE_INLINE uint4 entry(const State *s, const uint4 *tables, u32 mode, const uint4 *table, u64 x, u64 size, uint4 r) {
  uint4 a, slope;
  if (entry_line(a, slope, s, tables, mode, table, x, size)) a = pv_add(a, pv_mul(slope, r));
  return a;
}

// pattern_bits is the pattern of position x over all variables that are bound: bits
// u + 2^k v, of at most 16.
DEVICE_INLINE u32 pattern_bits(u32 mode, const uint4 *table, u64 x, u64 size) {
  u32 bits = 0;
#pragma unroll 1
  for (u32 v = 0; v < 1u << TAIL_LEVELS(mode); v++) {
    u64 at = x + v * size;
    bits |= (TAIL_BYTES(mode) == 1 ? ((const u8 *)table)[at] : ((const u16 *)table)[at]) << (v << TAIL_WINDOW(mode));
  }
  return bits;
}

// pattern_weight is the weight of bit i of pattern_bits.
DEVICE_INLINE uint4 pattern_weight(const State *s, u32 mode, u32 i) {
  u32 k = TAIL_WINDOW(mode), levels = TAIL_LEVELS(mode);
  if (i >> k >= 1u << levels) return pv_zero();
  return k + levels == 0 ? pv_one() : s->weights[((i & (1u << k) - 1) << levels) + (i >> k)];
}

// lowest is the place of the lowest bit that is set.
DEVICE_INLINE u32 lowest(u32 set) { return 31 - leading_zeros(set & (0u - set)); }

// slots_sum is the sum over a set of slots at a position. Up to three are read side by
// side, and more are rare.
DEVICE_INLINE uint4 slots_sum(const uint4 *slots, u32 pitch, u32 set) {
  u32 second = set & (set - 1), third = second & (second - 1);
  uint4 a = slots[lowest(set) * pitch], b = pv_zero(), c = pv_zero();
  if (second != 0) b = slots[lowest(second) * pitch];
  if (third != 0) c = slots[lowest(third) * pitch];
  uint4 sum = pv_add(a, b, c);
#pragma unroll 1
  for (set = third & (third - 1); set != 0; set &= set - 1) sum = pv_add(sum, slots[lowest(set) * pitch]);
  return sum;
}

// mask_stage takes the place of the last stage's products where p_d is patterns: it adds
// up what their bits select, a sum for each bit of a task's line (p_d at 0, or its slope),
// to be multiplied by the bits' weights at the end. A thread has one limb, one task, and
// some of the positions; sum[i] is of bit i. lines[0] and lines[pitch] are the patterns.
DEVICE_INLINE void mask_stage(u32 (&sum)[16], const Task &task, u32 slope, bool wide, const uint4 *slots, const u32 *lines, u32 pitch, u32 first, u32 step) {
  u32 limb = threadIdx.x & 3, side = task.a == slope ? pitch : 0;
  const u32 *words = (const u32 *)slots + limb;
#pragma unroll 1
  for (u32 c = first; c < pitch; c += step) {
    u32 v = 0, bits = lines[side + c];
#pragma unroll 1
    for (u32 set = task.b; set != 0; set &= set - 1) v ^= words[4 * (lowest(set) * pitch + c)];
#pragma unroll
    for (u32 i = 0; i < 8; i++)
      if (bits >> i & 1) sum[i] ^= v;
    if (wide)
#pragma unroll
      for (u32 i = 8; i < 16; i++)
        if (bits >> i & 1) sum[i] ^= v;
  }
}

// run_stages does all products but the last stage's, for 2^log positions, and but the last
// `known` of the first.
DEVICE_INLINE void run_stages(const Program *program, uint4 *slots, u32 pitch, u32 log, u32 known) {
  u32 task = 0;
#pragma unroll 1
  for (u32 stage = 0; stage < 2; stage++) {
    u32 all = program->count[stage], count = stage == 0 ? all - known : all;
#pragma unroll 1
    for (u32 i = threadIdx.x; i < count << log; i += blockDim.x) {
      const Task &t = program->tasks[task + (i >> log)];
      uint4 *at = slots + (i & ((1u << log) - 1));
      at[t.out * pitch] = pv_mul(slots_sum(at, pitch, t.a), slots_sum(at, pitch, t.b));
    }
    task += all;
    if (count != 0) __syncthreads();
  }
}

// complete fills in the missing coefficient of S, in whose place is S(1), the sum of all
// coefficients; or nothing, if from_claim, where S(0) + S(1) is the claim.
DEVICE_INLINE void complete(uint4 (&c)[ROUND_DEGREE + 1], const uint4 *sums, u32 d, u32 missing, bool from_claim, uint4 claim) {
  uint4 rest = from_claim ? pv_add(claim, sums[0]) : sums[missing];
#pragma unroll
  for (u32 k = 0; k <= ROUND_DEGREE; k++) {
    c[k] = k <= d && k != missing ? sums[k] : pv_zero();
    rest = pv_add(rest, c[k]);
  }
#pragma unroll
  for (u32 k = 0; k <= ROUND_DEGREE; k++)
    if (k == missing) c[k] = rest;
}

// send takes S to the transcript, as round_end does, and returns the challenge. POLYVAL; a
// warp. maps is State.to_polyval and State.from_polyval, or a copy.
DEVICE_INLINE uint4 send(State *s, const u32 *before, u32 *after, const uint4 *maps, u32 round, u32 d, const uint4 (&c)[ROUND_DEGREE + 1]) {
  u32 words[ROUND_DEGREE + 1];
#pragma unroll
  for (u32 k = 0; k <= ROUND_DEGREE; k++) words[k] = k <= d ? limb(warp_convert(maps + 512, c[k]), threadIdx.x & 3) : 0;
  return round_end(s, before, after, maps, round, d, message_word(words, d), true);
}

// add_up adds the values of lanes that belong together, a power of two of neighbours up to
// a warp, to an element of shared memory.
DEVICE_INLINE void add_up(uint4 *sum, uint4 v, u32 neighbours, bool there) {
  if (neighbours >= 32) {
    v = warp_total(v);
  } else {
#pragma unroll 1
    for (u32 m = 1; m < neighbours; m *= 2)
      v = make_uint4(v.x ^ shfl_xor(v.x, m), v.y ^ shfl_xor(v.y, m), v.z ^ shfl_xor(v.z, m), v.w ^ shfl_xor(v.w, m));
  }
  if (there && (threadIdx.x & 31 & neighbours - 1) == 0) {
    atomicXor(&sum->x, v.x);
    atomicXor(&sum->y, v.y);
    atomicXor(&sum->z, v.z);
    atomicXor(&sum->w, v.w);
  }
}

// load_program copies the program to shared memory. The block; a barrier is due.
DEVICE_INLINE void load_program(Program *to, const Program &from) {
  if (threadIdx.x < sizeof(Program) / 4) ((u32 *)to)[threadIdx.x] = ((const u32 *)&from)[threadIdx.x];
}

// load_maps starts to copy State's maps to shared memory, so that they are at hand when the
// round ends.
DEVICE_INLINE void load_maps(uint4 *maps, const State *s) {
#pragma unroll 1
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) copy_async(maps + i, s->to_polyval + i);
  copy_async_commit();
}

#define TAIL_TABLE(j) ((j) == 0 ? t0 : (j) == 1 ? t1 : (j) == 2 ? t2 : (j) == 3 ? t3 : t4)
