// Kernels of package zkml/prover for the factors of sum-checks: tensors with some
// axes bound to a point, and functions that everyone can compute. A launch makes
// those of a whole layer.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "zkml/prover/places.cuh"

// of_block is the number of the thing that the block works on, of those whose
// structures hold the number of their first block at word `at` of `words`.
DEVICE_INLINE u32 of_block(const u64 *things, u32 count, u32 words, u32 at) {
  __shared__ u32 found;
  for (u32 j = threadIdx.x; j < count; j += blockDim.x)
    if (things[(u64)j * words + at] <= blockIdx.x && (j + 1 == count || blockIdx.x < things[(u64)(j + 1) * words + at])) found = j;
  __syncthreads();
  return found;
}

// ---- tensors with axes bound ----------------------------------------------------
//
// out[z] = sum over f of eq[f] of[keep(z) | free(f)], where keep and free spread
// the bits of z and of f over those of an index. A block does a tile: as many
// bits of each as shared memory has room for, the lowest of the index among
// them, so that it reads whole lines of memory whatever the order of the axes.

#define TILE_BITS 12 // words of a tile
#define BOUND_BITS 10 // of these, bits of f

// Bit segments, a word each: from, to << 8, mask << 32.
DEVICE_INLINE u32 spread(u32 i, const u64 *segments, u32 n) {
  u32 j = 0;
  for (u32 s = 0; s < n; s++) j |= (i >> (segments[s] & 0xff) & (u32)(segments[s] >> 32)) << (segments[s] >> 8 & 0xff);
  return j;
}

struct restriction {
  const u32 *of;
  const qm31 *eq; // null if nothing is bound
  qm31 *out, *parts;
  u32 *counts; // 0 before; a word for each tile of results
  const u64 *segments;
  u64 first;                     // block
  u64 kept, bound;               // bits of z and f in a tile
  u64 kept_beyond, bound_beyond; // and those that tell tiles apart
  u64 passes;                    // 2^passes tiles along f are one block's
  u64 lists;                     // numbers of segments, a byte each, in the order of `spreads`
};
#define RESTRICTION_WORDS 13

// spreads are the segments of a restriction: from an index within the tile, from
// the tile's z to such an index and to z, from its f to such an index, and from
// the bits beyond to an index of the tensor, to z, and from f to an index.
enum spreads { TILE_INDEX, KEPT_TILE, KEPT_Z, BOUND_TILE, KEPT_BEYOND_INDEX, KEPT_BEYOND_Z, BOUND_BEYOND_INDEX };

DEVICE_INLINE u32 spread_of(const restriction &r, u32 which, u32 i) {
  const u64 *s = r.segments;
  for (u32 k = 0; k < which; k++) s += r.lists >> (8 * k) & 0xff;
  return spread(i, s, r.lists >> (8 * which) & 0xff);
}

// Words of a tile lie so that threads that read at any one power of two as the
// distance meet different banks.
DEVICE_INLINE u32 swizzle(u32 i) { return i ^ (i >> 5 & 31) ^ (i >> 10); }

// weigh adds a tile's weighted words for one z: those of f = part, part + side ...
DEVICE_INLINE void weigh(qm31_sum &s, const u32 *words, const qm31 *weights, const u16 *places, u32 at, u32 part, u32 nf, u32 side) {
#pragma unroll 4
  for (u32 f = part; f < nf; f += side) qm31_sum_mad_base(s, words[at ^ places[f]], weights[f]);
}

// lane_parts adds up what threads t, t + n, t + 2n ... of the block hold; thread
// t < n has the sum.
DEVICE_INLINE qm31 lane_parts(qm31 v, u32 n, qm31 *shared) {
  u32 t = threadIdx.x;
  for (u32 h = 128; h >= n; h >>= 1) {
    __syncthreads();
    if (t >= h && t < 2 * h) shared[t - h] = v;
    __syncthreads();
    if (t < h) v = qm31_add(v, shared[t]);
  }
  return v;
}

extern "C" __global__ void __launch_bounds__(256) zkml_restrict(const u64 *jobs, u32 count) {
  __shared__ u32 words[1 << TILE_BITS];
  __shared__ u32 steps[1 << (TILE_BITS - 8)];
  __shared__ qm31 weights[1 << BOUND_BITS];
  __shared__ u16 places[1 << BOUND_BITS];
  __shared__ qm31 shared[128];
  __shared__ bool last;
  const restriction r = ((const restriction *)jobs)[of_block(jobs, count, RESTRICTION_WORDS, 6)];
  u32 t = threadIdx.x, local = blockIdx.x - (u32)r.first, splits = (u32)(r.bound_beyond - r.passes);
  u32 split = local & ((1u << splits) - 1), tile = local >> splits;
  u32 kept = (u32)r.kept, nz = 1u << kept, nf = 1u << r.bound, n = nz * nf;
  // Threads side by side do different results, if there are enough, and parts of
  // one else.
  u32 side = nz < 256 ? 256 >> kept : 1;
  u32 part = nz < 256 ? t >> kept : 0, z0 = nz < 256 ? t & (nz - 1) : t;

  if (t < n >> 8) steps[t] = spread_of(r, TILE_INDEX, t << 8);
  for (u32 f = t; f < nf; f += 256) places[f] = (u16)swizzle(spread_of(r, BOUND_TILE, f));
  const u32 *of = r.of + (spread_of(r, KEPT_BEYOND_INDEX, tile) | spread_of(r, TILE_INDEX, t));
  qm31_sum s = qm31_sum_zero();
  // There are several passes only where a thread has one result.
#pragma unroll 1
  for (u32 pass = 0; pass < 1u << r.passes; pass++) {
    u32 beyond = split << r.passes | pass;
    const u32 *from = of + spread_of(r, BOUND_BEYOND_INDEX, beyond);
    __syncthreads();
    for (u32 f = t; f < nf; f += 256) weights[f] = r.eq == 0 ? qm31_one() : r.eq[(u64)beyond << r.bound | f];
    if (n < 256) {
      if (t < n) words[swizzle(t)] = ldg(from);
    } else {
#pragma unroll 4
      for (u32 k = 0; k < n >> 8; k++) words[swizzle(k << 8 | t)] = ldg(from + steps[k]);
    }
    __syncthreads();
    if (nz <= 256) weigh(s, words, weights, places, swizzle(spread_of(r, KEPT_TILE, z0)), part, nf, side);
  }

  u32 high = spread_of(r, KEPT_BEYOND_Z, tile);
  u64 z_bits = r.kept + r.kept_beyond;
  for (u32 z = z0; z < nz; z += 256) {
    if (nz > 256) {
      s = qm31_sum_zero();
      weigh(s, words, weights, places, swizzle(spread_of(r, KEPT_TILE, z)), 0, nf, 1);
    }
    qm31 v = qm31_sum_value(s);
    if (side > 1) v = lane_parts(v, nz, shared);
    if (part != 0) continue;
    u32 to = high | spread_of(r, KEPT_Z, z);
    if (splits == 0)
      r.out[to] = v;
    else
      r.parts[(u64)split << z_bits | to] = v;
  }
  if (splits == 0) return;

  // The last block of a tile of results adds up the parts.
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&r.counts[tile], 1u) == (1u << splits) - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  u32 to = high | spread_of(r, KEPT_Z, z0);
  qm31 v = qm31_zero();
  for (u32 i = part; i < 1u << splits; i += side) v = qm31_add(v, r.parts[(u64)i << z_bits | to]);
  if (side > 1) v = lane_parts(v, nz, shared);
  if (part == 0) r.out[to] = v;
}

// ---- tables along an axis -------------------------------------------------------

// axis_table is a table over the indices of an axis. For a map it is the sum of
// eq over those places o that the index goes to: list[starts[x]] until
// list[starts[x + 1]]; 2^lanes threads do an entry. For tokens it is the sum of
// eq over the places at which the token is.
struct axis_table {
  qm31 *out;
  const qm31 *eq;
  u64 first; // block
  u64 entries;
  const u32 *starts, *list; // of a map
  u64 lanes;
  const u32 *tokens;        // null for a map
  const u64 *axes;          // of the tokens
  u64 naxes, elements;
};
#define AXIS_TABLE_WORDS 11

extern "C" __global__ void __launch_bounds__(256) zkml_axis_tables(const u64 *jobs, u32 count) {
  __shared__ u32 tokens[256], places[256];
  const axis_table &a = ((const axis_table *)jobs)[of_block(jobs, count, AXIS_TABLE_WORDS, 2)];
  u32 t = threadIdx.x, local = blockIdx.x - (u32)a.first;
  qm31 v = qm31_zero();
  if (a.tokens == 0) {
    u32 i = local * 256 + t, lanes = 1u << a.lanes, x = i >> a.lanes;
    if (x < (u32)a.entries)
      for (u32 k = a.starts[x] + (i & (lanes - 1)); k < a.starts[x + 1]; k += lanes) v = qm31_add(v, a.eq[a.list[k]]);
    for (u32 d = lanes >> 1; d > 0; d >>= 1)
      v = qm31_add(v, qm31_make(shfl_xor(v.x[0], d), shfl_xor(v.x[1], d), shfl_xor(v.x[2], d), shfl_xor(v.x[3], d)));
    if (x < (u32)a.entries && (i & (lanes - 1)) == 0) a.out[x] = v;
    return;
  }
  u32 x = local * 256 + t, n = (u32)a.elements;
  for (u32 k0 = 0; k0 < n; k0 += 256) {
    u32 most = n - k0 < 256 ? n - k0 : 256;
    if (t < most) {
      places[t] = padded_index(k0 + t, a.axes, (u32)a.naxes);
      tokens[t] = a.tokens[places[t]];
    }
    __syncthreads();
    for (u32 k = 0; k < most; k++)
      if (tokens[k] == x) v = qm31_add(v, a.eq[places[k]]);
    __syncthreads();
  }
  if (x < (u32)a.entries) a.out[x] = v;
}

// ---- public factors ---------------------------------------------------------------

// public_axis is one factor of a public factor: a function of `bits` variables
// of its index from bit `shift` up.
struct public_axis {
  u64 kind, shift, bits;
  u64 extent;           // GUARDED: where it becomes 0
  const qm31 *table;    // GUARDED: eq, null if it is 1; MOVED: eq; TABLE: the values
  const u64 *from, *to; // MOVED: shapes
  u64 nfrom, nto;
};

#define GUARDED 0
#define TABLE 1
#define MOVED 2

struct public_factor {
  qm31 *out;
  u64 first, entries;
  const public_axis *axes;
  u64 naxes;
};
#define PUBLIC_WORDS 5

// The number of the element at an index of the padded layout; it is one.
DEVICE_INLINE u32 element(u32 i, const u64 *__restrict__ axes, u32 naxes) {
  u32 e = 0, step = 1;
  for (u32 a = 0; a < naxes; a++) {
    e += (i & ((1u << axes[2 * a]) - 1)) * step;
    step *= (u32)axes[2 * a + 1];
    i >>= axes[2 * a];
  }
  return e;
}

// Four indices a thread, so that an axis is looked up once for all.
extern "C" __global__ void __launch_bounds__(256) zkml_public(const u64 *jobs, u32 count) {
  const public_factor &f = ((const public_factor *)jobs)[of_block(jobs, count, PUBLIC_WORDS, 1)];
  u32 z = (blockIdx.x - (u32)f.first) * 1024 + threadIdx.x, zero = 0;
  qm31 v[4] = {qm31_one(), qm31_one(), qm31_one(), qm31_one()};
  bool one = true; // all of v
  for (u32 a = 0; a < (u32)f.naxes; a++) {
    const public_axis p = f.axes[a];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      u32 x = (z + 256 * k) >> p.shift & ((1u << p.bits) - 1);
      if (p.kind == GUARDED && x >= p.extent) zero |= 1u << k;
      if (p.kind == MOVED) {
        if (!real_element(x, p.from, (u32)p.nfrom)) {
          zero |= 1u << k;
          continue;
        }
        x = padded_index(element(x, p.from, (u32)p.nfrom), p.to, (u32)p.nto);
      }
      if (p.table == 0) continue;
      qm31 w = p.table[x];
      v[k] = one ? w : qm31_mul(v[k], w);
    }
    one = one && p.table == 0;
  }
#pragma unroll
  for (u32 k = 0; k < 4; k++)
    if (z + 256 * k < f.entries) f.out[z + 256 * k] = zero >> k & 1 ? qm31_zero() : v[k];
}
