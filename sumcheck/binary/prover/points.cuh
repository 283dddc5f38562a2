// Rounds over elements for d <= 4, by the values of S at 0, 1, infinity, X and X + 1, X
// being the generator of the POLYVAL basis, by which an element is multiplied with shifts.
//
// A product p_1 .. p_d at a point is two products side by side and one of these, and all
// points are alike. From the values to coefficients there is one number that is not a
// power of X, 1 / (X^2 + X): over the subgroup {0, 1, X, X + 1} the sum of S is that
// of c_3 c^3 alone, c_3 (X^2 + X). It is part of a map to the tower's basis.
//
// Where a block has more threads than products, four lanes make one, a third each (three
// of the nine products of words that Karatsuba's formula has).
#pragma once
#include "sumcheck/binary/prover/patterns.cuh"
#include "sumcheck/binary/prover/tail.cuh"

#define POINT_DEGREE 4u
#define POINTS 5u
#define POINT_MAPS 1536u // elements of State's three maps

// Sums are of the products at the points: whole ones, and thirds that are not joined yet.
struct Sums {
  uint4 whole[8];
  uint4 thirds[POINTS][4]; // lower halves' products, upper halves', sums'; the last is empty
};

// clear_sums sets them to zero: the block's first threads.
DEVICE_INLINE void clear_sums(Sums *sums) {
  if (threadIdx.x < sizeof(Sums) / 16) ((uint4 *)sums)[threadIdx.x] = pv_zero();
}

// point_maps starts to copy State's maps.
DEVICE_INLINE void point_maps(uint4 *maps, const State *s) {
#pragma unroll 1
  for (u32 i = threadIdx.x; i < POINT_MAPS; i += blockDim.x) copy_async(maps + i, s->to_polyval + i);
  copy_async_commit();
}

// pv_third is a third of a product: a lane's.
DEVICE_CALL uint4 pv_third(uint4 a, uint4 b) {
  u32 q = threadIdx.x & 3, out[4];
  u32 a0 = q == 0 ? a.x : a.z, a1 = q == 0 ? a.y : a.w, b0 = q == 0 ? b.x : b.z, b1 = q == 0 ? b.y : b.w;
  if (q > 1) a0 ^= a.x, a1 ^= a.y, b0 ^= b.x, b1 ^= b.y;
  carryless2(out, a0, a1, b0, b1);
  return make_uint4(out[0], out[1], out[2], out[3]);
}

// join is the product of three thirds.
DEVICE_INLINE uint4 join(uint4 l, uint4 h, uint4 m) {
  m = pv_add(m, l, h);
  pv_wide w = {{l.x, l.y, l.z ^ m.x, l.w ^ m.y, h.x ^ m.z, h.y ^ m.w, h.z, h.w}};
  return pv_reduce(w);
}

// quad_mul is a product that four neighbours make, all with the same a and b; the first
// has it. All lanes of the warp.
DEVICE_INLINE uint4 quad_mul(uint4 a, uint4 b) {
  uint4 v = pv_third(a, b);
  uint4 h = make_uint4(shfl_xor(v.x, 1u), shfl_xor(v.y, 1u), shfl_xor(v.z, 1u), shfl_xor(v.w, 1u));
  uint4 m = make_uint4(shfl_xor(v.x, 2u), shfl_xor(v.y, 2u), shfl_xor(v.z, 2u), shfl_xor(v.w, 2u));
  return join(v, h, m);
}

// choose is a or b.
DEVICE_INLINE uint4 choose(bool first, uint4 a, uint4 b) { return make_uint4(first ? a.x : b.x, first ? a.y : b.y, first ? a.z : b.z, first ? a.w : b.w); }

// line_at is p_(j+1) at a point: 0, 1, infinity (the slope), X, X + 1.
DEVICE_INLINE uint4 line_at(const uint4 *slots, u32 pitch, u32 j, u32 point, u32 x) {
  uint4 a = slots[2 * j * pitch + x], b = slots[(2 * j + 1) * pitch + x], slope = pv_add(a, b);
  uint4 v = choose(point == 1 || point == 4, b, choose(point == 2, slope, a)), t = times_x(slope);
  u32 mask = 0u - (u32)(point > 2);
  return make_uint4(v.x ^ (t.x & mask), v.y ^ (t.y & mask), v.z ^ (t.z & mask), v.w ^ (t.w & mask));
}

// add_thirds adds up thirds of `neighbours` products, a power of two, whose quads follow
// each other. All lanes of the warp; v is 0 where there is no product.
DEVICE_INLINE void add_thirds(uint4 *thirds, uint4 v, u32 neighbours) {
  u32 lane = threadIdx.x & 31, q = lane & 3;
  u32 *to = (u32 *)(thirds + q);
  if (neighbours < 8) {
    if (q < 3) {
      atomicXor(to, v.x);
      atomicXor(to + 1, v.y);
      atomicXor(to + 2, v.z);
      atomicXor(to + 3, v.w);
    }
    return;
  }
  // A lane keeps half of what it has for half of the others, twice.
  bool upper = (lane & 16) != 0, odd = (lane & 8) != 0;
  u32 v0 = upper ? v.z : v.x, v1 = upper ? v.w : v.y;
  v0 ^= shfl_xor(upper ? v.x : v.z, 16u);
  v1 ^= shfl_xor(upper ? v.y : v.w, 16u);
  u32 w = odd ? v1 : v0;
  w ^= shfl_xor(odd ? v0 : v1, 8u);
  w ^= shfl_xor(w, 4u);
  if (q < 3 && (lane & 4) == 0) atomicXor(to + (upper ? 2 : 0) + (odd ? 1 : 0), w);
}

// point_sums adds the products at all points of 2^log positions. The slots of two products a
// point follow those of the lines. The block; a barrier is due before and after.
DEVICE_INLINE void point_sums(Sums *sums, uint4 *slots, u32 pitch, u32 log, u32 d) {
  u32 points = d + 1, inside = (1u << log) - 1, q = threadIdx.x & 3;
  uint4 *products = slots + 2 * d * pitch;
  if (d > 2) {
    u32 pairs = d >> 1, items = points * pairs << log; // the product c is of pair c % pairs
    auto place = [&](u32 i) { return products + (i >> log) * pitch + (i & inside); };
    auto left = [&](u32 i) { return line_at(slots, pitch, d == 4 ? i >> log & 1 ? 2 : 0 : 0, d == 4 ? i >> log + 1 : i >> log, i & inside); };
    auto right = [&](u32 i) { return line_at(slots, pitch, d == 4 ? i >> log & 1 ? 3 : 1 : 1, d == 4 ? i >> log + 1 : i >> log, i & inside); };
    if (4 * items <= blockDim.x) {
      u32 i = threadIdx.x >> 2;
      if ((i & ~7u) < items) {
        u32 at = i < items ? i : 0;
        uint4 v = quad_mul(left(at), right(at));
        if (q == 0 && i < items) *place(i) = v;
      }
    } else {
#pragma unroll 1
      for (u32 i = threadIdx.x; i < items; i += blockDim.x) *place(i) = pv_mul(left(i), right(i));
    }
    __syncthreads();
  }
  u32 items = points << log;
  auto left = [&](u32 i) { return d == 2 ? line_at(slots, pitch, 0, i >> log, i & inside) : products[(d == 4 ? i >> log << 1 : i >> log) * pitch + (i & inside)]; };
  auto right = [&](u32 i) { return d == 4 ? products[((i >> log << 1) + 1) * pitch + (i & inside)] : line_at(slots, pitch, d - 1, i >> log, i & inside); };
  if (4 * items <= blockDim.x) {
    u32 i = threadIdx.x >> 2;
    if ((i & ~7u) < items) {
      u32 at = i < items ? i : 0;
      uint4 v = pv_third(left(at), right(at));
      if (i >= items) v = pv_zero();
      add_thirds(sums->thirds[at >> log], v, 1u << log);
    }
  } else {
#pragma unroll 1
    for (u32 i = threadIdx.x; (i & ~31u) < items; i += blockDim.x) {
      bool there = i < items;
      u32 at = there ? i : 0;
      uint4 v = there ? pv_mul(left(at), right(at)) : pv_zero();
      add_up(sums->whole + (at >> log), v, 1u << log, there);
    }
  }
}

// join_sums leaves the values of S in sums.whole. A warp.
DEVICE_INLINE void join_sums(Sums *sums) {
  u32 lane = threadIdx.x & 31;
  if (lane < POINTS) {
    const uint4 *t = sums->thirds[lane];
    sums->whole[lane] = pv_add(sums->whole[lane], join(t[0], t[1], t[2]));
  }
  __syncwarp();
}

// send_points takes S, given by its values at the points, to the transcript, as round_end
// does, and returns the challenge. A warp; POLYVAL. maps is State's three, or a copy.
DEVICE_INLINE uint4 send_points(State *s, const u32 *before, u32 *after, const uint4 *maps, u32 round, u32 d, const uint4 *values, bool split) {
  u32 lane = threadIdx.x & 31, k = lane >> 2, q = lane & 3;
  // Lanes 4k.. make the coefficient of the k-th power: by linear maps of what they have.
  uint4 v0 = values[0], top = values[2], at_one = pv_add(v0, values[1], top); // c_1 + .. + c_(d-1)
  uint4 v = choose(k == 0, v0, choose(k == 1, at_one, top));
  if (d > 2) {
    uint4 third = d == 4 ? pv_add(pv_add(v0, values[1], values[3]), values[4]) : pv_zero(); // c_3 (X^2 + X)
    uint4 power = times_x(times_x(times_x(top)));
    if (d == 4) power = times_x(power);
    // p(X) + X p(1) + (X + 1) third is c_2 (X^2 + X), p being S without its first and last term.
    uint4 second = pv_add(pv_add(values[3], v0, power), times_x(pv_add(at_one, third)), third);
    if (k == 2) v = second;
    if (k == 3 && d == 4) v = third;
  }
  const uint4 *map = maps + (k > 1 && k < d ? 1024 : 512) + 128 * q;
  u32 w = limb(v, q);
  uint4 sum = pv_zero();
#pragma unroll
  for (u32 i = 0; i < 8; i++) sum = pv_add(sum, map[16 * i + (w >> 4 * i & 15)]);
  // Of four lanes' sums, each takes its limb.
  bool upper = (q & 2) != 0, odd = (q & 1) != 0;
  u32 s0 = upper ? sum.z : sum.x, s1 = upper ? sum.w : sum.y;
  s0 ^= shfl_xor(upper ? sum.x : sum.z, 2u);
  s1 ^= shfl_xor(upper ? sum.y : sum.w, 2u);
  u32 mine = odd ? s1 : s0;
  mine ^= shfl_xor(odd ? s0 : s1, 1u);
  u32 c[ROUND_DEGREE + 1];
#pragma unroll
  for (u32 j = 0; j <= ROUND_DEGREE; j++) {
    c[j] = j <= POINT_DEGREE ? shfl_idx(mine, 4 * j + q) : 0;
    if (j > d) c[j] = 0;
  }
  if (d > 2) c[1] ^= c[2];
  if (d > 3) c[1] ^= c[3];
  return round_end(s, before, after, maps, round, d, message_word(c, d), split);
}
