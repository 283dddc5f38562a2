// What is between the passes of BDT-1 and BDT-2: sums become the round's message, which
// goes through the transcript, and challenges become products of challenges. Each is one
// block's; the transcript and the claim are in State.
#include "sumcheck/binary/prover/bdt.cuh"
#include "sumcheck/binary/prover/round.cuh"

// small_multiple is c a for a number c below 16.
DEVICE_INLINE u32 small_multiple(u32 a, u32 c) {
  u32 r = c & 1 ? a : 0;
  if (c & 2) r ^= times_x0(a);
  if (c & 4) r ^= times_x1(a);
  if (c & 8) r ^= times_x1(times_x0(a));
  return r;
}

// element_of is what the lane has.
DEVICE_INLINE uint4 element_of(uint4 v, u32 lane) {
  v.x = shfl_idx(v.x, lane), v.y = shfl_idx(v.y, lane), v.z = shfl_idx(v.z, lane), v.w = shfl_idx(v.w, lane);
  return v;
}

// end_round: a warp sends the message of which lane j < d has S(0), S(2), .., S(d), keeps
// the challenge, and takes the claim to S at it. matrix[k] has, four bits each, what S(0), ..,
// S(d) are multiplied with in the coefficient of X^k.
DEVICE_INLINE void end_round(State *s, uint4 *challenges, const u32 *matrix, u32 round, u32 d, uint4 mine) {
  const u32 lane = threadIdx.x & 31;
  const uint4 claim = s->claim;
  const uint4 challenge = round_send(s, round, d, mine);
  if (lane == 0) challenges[round] = challenge;
  __syncwarp();
  const uint4 r = s->polyval[round];
  // Lane k has coefficient k, and r^k.
  const u32 row = lane <= d ? matrix[lane] : 0;
  const uint4 at0 = element_of(mine, 0);
  uint4 c = make_uint4(0, 0, 0, 0);
#pragma unroll 1
  for (u32 j = 0; j <= d; j++) {
    uint4 v = j == 1 ? pv_add(at0, claim) : element_of(mine, j ? j - 1 : 0);
    const u32 m = row >> (4 * j) & 15;
    c.x ^= small_multiple(v.x, m), c.y ^= small_multiple(v.y, m), c.z ^= small_multiple(v.z, m), c.w ^= small_multiple(v.w, m);
  }
  const uint4 r2 = pv_square(r), r4 = pv_square(r2);
  uint4 sum = to_polyval(s, c);
  const uint4 power = lane & 4 ? r4 : lane & 2 ? r2 : pv_one();
  sum = pv_mul(sum, pv_mul(power, lane & 1 ? r : pv_one())); // lanes up to 5
  if (lane > d) sum = pv_zero();
#pragma unroll
  for (u32 h = 4; h > 0; h /= 2) sum.x ^= shfl_xor(sum.x, h), sum.y ^= shfl_xor(sum.y, h), sum.z ^= shfl_xor(sum.z, h), sum.w ^= shfl_xor(sum.w, h);
  sum = from_polyval(s, sum);
  if (lane == 0) s->claim = sum;
}

// compose_round ends a round whose sums compose has left, in parts, and clears them.
extern "C" __global__ void __launch_bounds__(32) binary_compose_round(State *s, u32 *sums, uint4 *challenges, const u32 *__restrict__ matrix, u32 round, u32 degree) {
  uint4 mine = make_uint4(0, 0, 0, 0);
  if (threadIdx.x < degree) {
    u32 *p = sums + 9 * threadIdx.x;
    const u32 low = p[0] ^ p[1], up = p[3] ^ p[4];
    const u32 low1 = p[0] ^ p[1] ^ p[2] ^ word_mulx<5>(p[1]), x11 = word_mulx<5>(p[4]);
    mine.x = low ^ up;
    mine.y = low1 ^ up ^ x11 ^ p[5];
    mine.z = low ^ x11 ^ p[5] ^ p[6] ^ p[7];
    mine.w = low1 ^ word_mulx<5>(p[3] ^ x11 ^ p[5] ^ p[7]) ^ p[5] ^ p[6] ^ p[7] ^ p[8];
    for (u32 i = 0; i < 9; i++) p[i] = 0;
  }
  end_round(s, challenges, matrix, round, degree, mine);
}

// challenge_product is, in POLYVAL's basis, the product over the first `bound` challenges
// r of r or 1 + r, by the bits of l, its top bit for the first challenge: V of the paper's
// equation (9).
DEVICE_INLINE uint4 challenge_product(const State *s, u32 l, u32 bound) {
  uint4 product = pv_one();
#pragma unroll 1
  for (u32 u = 0; u < bound; u++) {
    uint4 r = s->polyval[u];
    if (!(l >> (bound - 1 - u) & 1)) r = pv_add(r, pv_one());
    product = u ? pv_mul(product, r) : r;
  }
  return product;
}

// terms_round ends BDT-2's round number `round` from its terms (see masked_terms; there
// are 2^(degree (round + 1)), round at most 3), and clears them: S(y) is the paper's
// equation (11), in which a term with m ones among its d values of y has the factor
// y^m (1 + y)^(d - m).
extern "C" __global__ void __launch_bounds__(256) binary_terms_round(State *s, uint4 *terms, uint4 *challenges, const u32 *__restrict__ matrix, u32 round, u32 degree) {
  __shared__ uint4 products[8];
  __shared__ u32 sums[6][4];
  const u32 v = round + 1, count = 1u << (degree * v);
  if (threadIdx.x < 1u << round) products[threadIdx.x] = challenge_product(s, threadIdx.x, round);
  if (threadIdx.x < 24) sums[threadIdx.x >> 2][threadIdx.x & 3] = 0;
  __syncthreads();
#pragma unroll 1
  for (u32 j = threadIdx.x; j < count; j += 256) {
    uint4 term = to_polyval(s, terms[j]);
    terms[j] = make_uint4(0, 0, 0, 0);
    u32 ones = 0;
#pragma unroll 1
    for (u32 k = 0; k < degree; k++) {
      const u32 value = j >> (k * v) & ((1u << v) - 1);
      ones += value & 1;
      if (round) term = pv_mul(term, products[value >> 1]);
    }
    atomicXor(&sums[ones][0], term.x);
    atomicXor(&sums[ones][1], term.y);
    atomicXor(&sums[ones][2], term.z);
    atomicXor(&sums[ones][3], term.w);
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const u32 at = threadIdx.x == 0 ? 0 : threadIdx.x < degree ? threadIdx.x + 1 : 0;
  const uint4 y = to_polyval(s, make_uint4(at, 0, 0, 0)), z = pv_add(y, pv_one());
  uint4 sum = pv_zero(), power = pv_one();
#pragma unroll 1
  for (u32 m = 0; m <= degree; m++) {
    const uint4 g = make_uint4(sums[m][0], sums[m][1], sums[m][2], sums[m][3]);
    sum = pv_add(pv_mul(sum, z), pv_mul(power, g));
    power = pv_mul(power, y);
  }
  end_round(s, challenges, matrix, round, degree, from_polyval(s, sum));
}

// masks: R[0 .. 2^bound) in slices of zeros or ones, 128 words each (see rebuild). With
// `point` it is for the sum's value at 0 (blockIdx.x = 0) or blockIdx.x + 1: then number
// 2 l + h is R[l] times 1 + y (h = 0) or y.
extern "C" __global__ void __launch_bounds__(256) binary_masks(const State *s, u32 *masks, u32 bound, u32 point) {
  __shared__ u32 shared[256][4];
  const u32 count = 1u << (bound + (point ? 1 : 0)), at = blockIdx.x ? blockIdx.x + 1 : 0;
  masks += (u64)blockIdx.x * count * 128;
#pragma unroll 1
  for (u32 first = 0; first < count; first += 256) {
    const u32 m = first + threadIdx.x;
    if (m < count) {
      uint4 r = challenge_product(s, point ? m >> 1 : m, bound);
      if (point) {
        uint4 y = to_polyval(s, make_uint4(at, 0, 0, 0));
        r = pv_mul(r, m & 1 ? y : pv_add(y, pv_one()));
      }
      r = from_polyval(s, r);
      shared[threadIdx.x][0] = r.x, shared[threadIdx.x][1] = r.y, shared[threadIdx.x][2] = r.z, shared[threadIdx.x][3] = r.w;
    }
    __syncthreads();
#pragma unroll 1
    for (u32 i = threadIdx.x; i < 128 * (count - first < 256 ? count - first : 256); i += 256)
      masks[first * 128 + i] = 0u - (shared[i >> 7][i >> 5 & 3] >> (i & 31) & 1);
    __syncthreads();
  }
}

// eq_base: eq(z, x) for all x of n bits, z's first coordinate for the top one.
extern "C" __global__ void __launch_bounds__(256) binary_eq_base(const State *s, uint4 *out, const uint4 *__restrict__ z, u32 n) {
  const u32 x = blockIdx.x * 256 + threadIdx.x;
  if (x >= 1u << n) return;
  uint4 product = pv_one();
#pragma unroll 1
  for (u32 u = 0; u < n; u++) {
    uint4 f = to_polyval(s, z[u]);
    if (!(x >> (n - 1 - u) & 1)) f = pv_add(f, pv_one());
    product = pv_mul(product, f);
  }
  out[x] = from_polyval(s, product);
}
