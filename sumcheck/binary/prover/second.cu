// A second window: k more rounds after the first one's, without a product for each
// element. Let p_1 be bound by those rounds' challenges r, and the others still be bits,
// p_j(u, v, x) with u for the variables that are bound, v for this window's. Then, of
// B = p_2 ... p_d at r,
//
//     B_e(x) = sum over U = (u_2 .. u_d) of w_U m_(U,e)(x),  w_U = product of eq(r, u_j),
//
// where m_(U,e) is the coefficient of the monomial e, in this window's variables, of the
// product of p_j(u_j, ., x): a bit. There is a kernel for d = 2, where U = u_2, e is in
// {0,1}^k and m_(U,e) a coefficient of p_2(U, ., x); for more factors it took longer than
// rounds by masks (bench/NOTES.md). So the sums that the messages need (window.cu) are
//
//     C(v, e) = sum over U of w_U S(v, (U, e)),  S(v, m) = sum over x of m(x) p_1(v, x),
//
// and S is a product of matrices of bits: masks by x by the slices of p_1.
#include "field/gf2/gf2.cuh"
#include "sumcheck/binary/prover/finish.cuh"
#include "sumcheck/binary/prover/round.cuh"

// STEP is how many times 256 x a block takes between barriers: one a warp.
#define STEP 8u
// PITCH is the words between slices of two of them, so that words of four, in a row of
// eight each, are in different banks.
#define PITCH (GF2_SLICES + 8)
// COLUMNS is how many masks a block sums for.
#define COLUMNS 128u
// ROUNDS is the window's, MASKS how many coefficients p_2 has in its variables.
#define ROUNDS 3u
#define MASKS (1u << ROUNDS)

// binary_second_pass: block (t, s, v) adds to sums[v][t] the sums of the elements of prefix v
// that the masks of tile t select, of every gridDim.y-th step from s on. A tile has as many U as
// there is room for with all their masks. p_1 and the column have 2^ROUNDS prefixes (after the
// 2^done of the column) of `points` each.
extern "C" __global__ void __launch_bounds__(256, 2) binary_second_pass(u32 *sums, const uint4 *__restrict__ p1, u32 done, u64 points, const u32 *__restrict__ p2) {
  constexpr u32 room = COLUMNS / MASKS;
  SHARED_DYNAMIC(u32, masks);
  u32 *slices = masks + STEP * PITCH;
  const u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31, v = blockIdx.z;
  uint4 *stage = (uint4 *)(slices + STEP * PITCH) + 256 * warp;
  const u64 words = points / 32;
  const uint4 *from = p1 + v * points + lane;
  gf2_gram acc;
  gf2_gram_zero(acc);
  for (u32 i = threadIdx.x; i < STEP * PITCH; i += 256) masks[i] = 0;
  // Elements of a unit are copied ahead, and kept so that those 32 apart are in different
  // banks: lane 4g + q then takes limb q of elements 32g .., whose bits of the columns are a word.
  auto fetch = [&](u64 unit) {
    if (8 * unit < words)
#pragma unroll
      for (u32 c = 0; c < 8; c++) copy_async(stage + 32 * c + (lane ^ c), from + unit * 256 + 32 * c);
    copy_async_commit();
  };
  fetch((u64)blockIdx.y * STEP + warp);
#pragma unroll 1
  for (u64 first = (u64)blockIdx.y * STEP; 8 * first < words; first += (u64)gridDim.y * STEP) {
    copy_async_wait<0>();
    __syncthreads(); // slices and masks have been used
    if (8 * (first + warp) < words) {
      u32 z[32];
      const u32 g = lane >> 2, q = lane & 3;
#pragma unroll
      for (u32 e = 0; e < 32; e++) z[e] = ((const u32 *)stage)[4 * (32 * g + (e ^ g)) + q];
      gf2_slices_put(slices + warp * PITCH, z);
    }
    __syncwarp();
    fetch(first + (u64)gridDim.y * STEP + warp);
#pragma unroll 1
    for (u32 task = threadIdx.x; task < room * 8 * STEP; task += 256) {
      const u32 word = task % (8 * STEP), own = task / (8 * STEP), U = blockIdx.x * room + own;
      const u64 i = 8 * first + word;
      const bool there = i < words && U < 1u << done;
      u32 m[MASKS];
#pragma unroll
      for (u32 w = 0; w < MASKS; w++) m[w] = there ? ldg(p2 + ((u64)(U << ROUNDS | w)) * words + i) : 0;
      // Values on {0,1}^ROUNDS become coefficients.
#pragma unroll
      for (u32 b = 1; b < MASKS; b *= 2)
#pragma unroll
        for (u32 w = 0; w < MASKS; w++)
          if (w & b) m[w] ^= m[w ^ b];
      u32 *to = masks + (word >> 3) * PITCH + (word & 7);
#pragma unroll
      for (u32 e = 0; e < MASKS; e++) {
        const u32 row = own * MASKS + e;
        to[row * 8 + (row >> 5) * 8] = m[e];
      }
    }
    __syncthreads();
#pragma unroll 1
    for (u32 k = 0; k < STEP && 8 * (first + k) < words; k++) gf2_gram_add(acc, masks + k * PITCH, slices + k * PITCH);
  }
  copy_async_wait<0>();
  __syncthreads();
  gf2_gram_put(masks, acc);
  __syncthreads();
  u32 *to = sums + (v * gridDim.x + blockIdx.x) * 4 * COLUMNS;
  for (u32 i = threadIdx.x; i < 4 * COLUMNS; i += 256) atomicXor(to + i, masks[i]);
}

// binary_second_sums: block (e, v) makes C(v, e), of E = gridDim.x, from the sums of `tiles`
// tiles.
extern "C" __global__ void __launch_bounds__(256) binary_second_sums(const u32 *state, uint4 *out, const uint4 *__restrict__ sums, u32 done, u32 tiles) {
  const State *s = (const State *)state;
  __shared__ uint4 parts[8];
  const u32 E = gridDim.x, e = blockIdx.x, v = blockIdx.y, room = COLUMNS / E;
  uint4 sum = pv_zero();
#pragma unroll 1
  for (u32 U = threadIdx.x; U >> done == 0; U += 256)
    sum = pv_add(sum, pv_mul(sums[(v * tiles + U / room) * COLUMNS + U % room * E + e], s->weights[U]));
  sum = warp_total(sum);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_total(threadIdx.x < 8 ? parts[threadIdx.x & 7] : pv_zero());
  if (threadIdx.x == 0) out[v * E + e] = sum;
}

// binary_second_finish does rounds `done` to done + k - 1 for degree D, from C, and leaves the
// matrices of the fold, from the POLYVAL basis to itself. The block is the only one.
extern "C" __global__ void __launch_bounds__(512) binary_second_finish(u32 *state, const uint4 *__restrict__ sums, u32 *fragments, u32 D, u32 done, u32 k) {
  State *s = (State *)state;
  __shared__ uint4 first[128], second[128], message[ROUND_DEGREE + 1];
  const u32 id = threadIdx.x, warp = id >> 5, lane = id & 31;
  u32 size = 1, E = 1;
  for (u32 v = 0; v < k; v++) size *= 2 * D, E *= D;
  if (id < size) {
    u32 u = 0, e = 0, power = 1;
#pragma unroll 1
    for (u32 v = 0, rest = id; v < k; v++) {
      u |= rest % (2 * D) / D << v;
      e += rest % D * power; // D divides 2 D
      rest /= 2 * D, power *= D;
    }
    first[id] = sums[u * E + e];
  }
  __syncthreads();
  uint4 *now = first, *next = second;
  u32 outer = 1;
#pragma unroll 1
  for (u32 inner = size / (2 * D); inner > 0; inner /= 2 * D) {
    expand(next, now, D, outer, inner);
    outer *= D + 1;
    __syncthreads();
    uint4 *t = now;
    now = next, next = t;
  }
  size = outer; // (D+1)^k coefficients
#pragma unroll 1
  for (u32 round = 0; round < k; round++) {
    const u32 rest = size / (D + 1);
    if (warp <= D) {
      uint4 c = pv_zero();
      for (u32 i = lane; i < rest; i += 32)
        if (inside(i, D, k - 1 - round)) c = pv_add(c, now[warp * rest + i]);
      c = warp_convert(s->from_polyval, warp_total(c));
      if (lane == 0) message[warp] = c;
    }
    __syncthreads();
    if (warp == 0) round_send_coefficients(s, done + round, D, message[lane <= D ? lane : 0]);
    __syncthreads();
    const uint4 r = s->polyval[done + round];
    if (id < rest) {
      uint4 v = now[D * rest + id];
#pragma unroll 1
      for (u32 m = D; m-- > 0;) v = pv_add(pv_mul(v, r), now[m * rest + id]);
      next[id] = v;
    }
    __syncthreads();
    uint4 *t = now;
    now = next, next = t;
    size = rest;
  }
  if (warp == 0) {
    uint4 c = warp_convert(s->from_polyval, now[0]);
    if (lane == 0) s->claim = c;
  }
  __syncthreads();
  // The weights of the prefixes, then columns of matrices: a warp 32 of them.
  if (id < 1u << k) {
    uint4 w = pv_one();
#pragma unroll 1
    for (u32 v = 0; v < k; v++) {
      const uint4 r = s->polyval[done + v];
      w = pv_mul(w, id >> (k - 1 - v) & 1 ? r : pv_add(r, pv_one()));
    }
    first[id] = w;
  }
  __syncthreads();
#pragma unroll 1
  for (u32 i = warp; i < 4u << k; i += 16) {
    const u32 u = i >> 2, w = i & 3;
    const u32 bit = 1u << lane;
    const uint4 p = pv_mul(first[u], make_uint4(w == 0 ? bit : 0, w == 1 ? bit : 0, w == 2 ? bit : 0, w == 3 ? bit : 0));
    const u32 row[4] = {p.x, p.y, p.z, p.w};
#pragma unroll
    for (u32 j = 0; j < 4; j++) fragments[fragment_place(u, 32 * j + lane, w)] = gf2_transpose_warp(row[j]);
  }
}

// second_word is the bits of prefixes 32q .. of a column at the lane's point: bit u of the
// result is that of prefix 32q + u at point 32i + lane.
DEVICE_INLINE u32 second_word(const u32 *column, u32 q, u32 prefixes, u64 words, u64 i) {
  const u32 u = 32 * q + (threadIdx.x & 31);
  return gf2_transpose_warp(u < prefixes ? ldg(column + u * words + i) : 0);
}

// binary_second_bind writes a column of bits bound at `vars` challenges, 5 to 7, POLYVAL.
// Shared memory: 256 sums of weights for each byte of a point's 2^vars bits.
extern "C" __global__ void __launch_bounds__(512) binary_second_bind(const u32 *state, uint4 *out, u32 vars, u64 words, const u32 *__restrict__ column) {
  const State *s = (const State *)state;
  SHARED_DYNAMIC(uint4, tables);
  __shared__ uint4 weights[128];
  const u32 id = threadIdx.x, prefixes = 1u << vars, lane = id & 31;
  if (id < prefixes) {
    uint4 w = pv_one();
#pragma unroll 1
    for (u32 v = 0; v < vars; v++) {
      const uint4 r = s->polyval[v];
      w = pv_mul(w, id >> (vars - 1 - v) & 1 ? r : pv_add(r, pv_one()));
    }
    weights[id] = w;
  }
  __syncthreads();
  for (u32 e = id; e < 32 * prefixes; e += 512) {
    const u32 byte = e >> 8;
    uint4 sum = pv_zero();
#pragma unroll 1
    for (u32 b = 0; b < 8; b++)
      if (e >> b & 1) sum = pv_add(sum, weights[8 * byte + b]);
    tables[e] = sum;
  }
  __syncthreads();
  out += lane;
#pragma unroll 1
  for (u64 i = (u64)blockIdx.x * 16 + (id >> 5); i < words; i += (u64)gridDim.x * 16) {
    uint4 sum = pv_zero();
#pragma unroll 1
    for (u32 q = 0; 32 * q < prefixes; q++) {
      const u32 w = second_word(column, q, prefixes, words, i);
#pragma unroll
      for (u32 b = 0; b < 4; b++) sum = pv_add(sum, tables[1024 * q + 256 * b + (w >> 8 * b & 255)]);
    }
    out[32 * i] = sum;
  }
}
