// What a proof's rounds have in common: the state in device memory that all kernels of a
// proof share, and the end of a round. A warp takes the round's message through the
// transcript, draws the challenge, and leaves both in the state; the host reads the proof
// from it at the end and waits for nothing before.
//
// Elements are uint4, their 32-bit limbs from the lowest on: of the tower, or of the
// POLYVAL basis (polyval.cuh) where a name says so.
#pragma once
#include "sumcheck/binary/prover/polyval.cuh"
#include "transcript/tower/prover/tower.cuh"

#define ROUND_VARS 40u
#define ROUND_DEGREE 5u
#define ROUND_WEIGHTS 6u // rounds whose challenges State.weights covers

// Task is one product of a program (program.go): of two sums of slots, each a set of bits.
struct Task {
  u32 a, b;
  u32 out; // slot, or coefficient
};

// Program says what the rounds over elements multiply: three stages of tasks.
struct Program {
  u32 degree, missing, count[3], spare[3];
  Task tasks[24];
};

// State of a proof. The host writes all of it before the first kernel: transcript, claim,
// tables and program, and zeros elsewhere.
struct State {
  u32 transcript[32]; // that of tower.cuh, 20 words
  uint4 claim;        // before the tail: the claimed sum, or S(r) of the round before
  uint4 claim_polyval; // in the tail
  u32 counter[4];     // [0]: blocks that are done, zero between kernels
  uint4 sums[8];      // of all blocks, zero between kernels
  uint4 point[ROUND_VARS];
  uint4 polyval[ROUND_VARS];           // the same challenges in the POLYVAL basis
  uint4 weights[1u << ROUND_WEIGHTS];  // eq(r, u), POLYVAL, u < 2^rounds; the first challenge belongs to u's top bit
  uint4 rounds[ROUND_VARS * ROUND_DEGREE]; // messages: d elements a round
  uint4 evals[8];
  uint4 to_polyval[512]; // [i][v]: image of v at bits 4i.. of an element
  uint4 from_polyval[512];
  uint4 from_scaled[512]; // from_polyval of elements times 1 / (X^2 + X)
  Program program;
};

// convert applies a linear map given by tables of nibbles: 32 look-ups.
DEVICE_CALL uint4 convert(const uint4 *tables, uint4 v) {
  const u32 w[4] = {v.x, v.y, v.z, v.w};
  uint4 sum = pv_zero();
#pragma unroll
  for (u32 i = 0; i < 32; i++) sum = pv_add(sum, tables[16 * i + (w[i >> 3] >> 4 * (i & 7) & 15)]);
  return sum;
}

DEVICE_INLINE uint4 to_polyval(const State *s, uint4 v) { return convert(s->to_polyval, v); }
DEVICE_INLINE uint4 from_polyval(const State *s, uint4 v) { return convert(s->from_polyval, v); }

// warp_total is the sum of all lanes' elements.
DEVICE_INLINE uint4 warp_total(uint4 v) { return make_uint4(warp_xor(v.x), warp_xor(v.y), warp_xor(v.z), warp_xor(v.w)); }

// warp_convert is convert by a warp, for a v that all lanes have.
DEVICE_INLINE uint4 warp_convert(const uint4 *tables, uint4 v) {
  u32 i = threadIdx.x & 31, w = i < 8 ? v.x : i < 16 ? v.y : i < 24 ? v.z : v.w;
  return warp_total(tables[16 * i + (w >> 4 * (i & 7) & 15)]);
}

// times_x0 and times_x1 multiply a limb's elements of GF(4) by X_0 (the number 2) and
// those of GF(16) by X_1 (4), so that a whole element is multiplied.
DEVICE_INLINE u32 times_x0(u32 v) {
  u32 lo = v & 0x55555555u, hi = v >> 1 & 0x55555555u;
  return hi | (lo ^ hi) << 1;
}

DEVICE_INLINE u32 times_x1(u32 v) {
  u32 lo = v & 0x33333333u, hi = v >> 2 & 0x33333333u;
  return hi | (lo ^ times_x0(hi)) << 2;
}

// Numbers below 8 as masks of their bits, so that lanes with different ones do not part.
struct Number {
  u32 one, x0, x1;
};

DEVICE_INLINE Number number_masks(u32 y) {
  Number n = {0u - (y & 1), 0u - (y >> 1 & 1), 0u - (y >> 2 & 1)};
  return n;
}

// times_number multiplies a limb by a number.
DEVICE_INLINE u32 times_number(u32 v, const Number &y) { return (v & y.one) ^ (times_x0(v) & y.x0) ^ (times_x1(v) & y.x1); }

// limb is a limb of an element.
DEVICE_INLINE u32 limb(uint4 v, u32 i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// message_word is word `lane` of the message, S(0), S(2), .., S(d), from the limb lane & 3
// of every coefficient of S; 0 where the message has no word. Tower.
DEVICE_INLINE u32 message_word(const u32 (&c)[ROUND_DEGREE + 1], u32 d) {
  u32 lane = threadIdx.x & 31, j = lane >> 2, s = 0;
  Number y = number_masks(j == 0 ? 0 : j + 1);
#pragma unroll
  for (i32 k = ROUND_DEGREE; k >= 0; k--)
    if ((u32)k <= d) s = times_number(s, y) ^ c[k];
  return j < d ? s : 0;
}

// split_weights makes the weights of round + 1 challenges of those of `round`, for the
// challenge p; nothing for later rounds. A warp.
DEVICE_INLINE void split_weights(State *s, u32 round, uint4 p) {
  u32 lane = threadIdx.x & 31;
  if (round >= ROUND_WEIGHTS) return;
  // Lane u splits the weight of u.
  uint4 all = round == 0 ? pv_one() : s->weights[lane], one = pv_mul(all, p);
  __syncwarp();
  if (lane < 1u << round) {
    s->weights[2 * lane] = pv_add(all, one);
    s->weights[2 * lane + 1] = one;
  }
}

// round_end ends a round: lane i of the warp passes word i of the message, or 0 if it has
// none. All lanes get the challenge in the POLYVAL basis. The transcript comes from one
// place and goes to another, and to_polyval is State's map: copies may be nearer. `split`
// says that somebody reads the weights later.
DEVICE_CALL uint4 round_end(State *s, const u32 *before, u32 *after, const uint4 *to_polyval, u32 round, u32 d, u32 word, bool split) {
  u32 lane = threadIdx.x & 31;
  tower t = tower_load(before);
  u32 *message = (u32 *)(s->rounds + round * d);
  if (lane < 4 * d) message[lane] = word;
  if (d <= 4) {
    u32 m[16];
#pragma unroll
    for (u32 i = 0; i < 16; i++) m[i] = shfl_idx(word, i);
    tower_absorb(t, m, 4 * d);
  } else {
    __syncwarp();
    tower_absorb_list(t, message, 4 * d);
  }
  u32 c[4];
  tower_challenge(t, c);
  uint4 r = make_uint4(c[0], c[1], c[2], c[3]), p = warp_convert(to_polyval, r);
  __syncwarp();
  if (lane == 0) {
    tower_store(after, t);
    s->point[round] = r;
    s->polyval[round] = p;
  }
  if (split) split_weights(s, round, p);
  __syncwarp();
  return p;
}

// round_send is round_end where lane j < d passes the j-th element of the message. All
// lanes get the challenge of the tower.
DEVICE_INLINE uint4 round_send(State *s, u32 round, u32 d, uint4 mine) {
  u32 lane = threadIdx.x & 31, j = lane >> 2;
  u32 word = limb(make_uint4(shfl_idx(mine.x, j), shfl_idx(mine.y, j), shfl_idx(mine.z, j), shfl_idx(mine.w, j)), lane & 3);
  round_end(s, s->transcript, s->transcript, s->to_polyval, round, d, j < d ? word : 0, true);
  return s->point[round];
}

// round_send_coefficients is round_end from the coefficients of S: lane k <= d passes
// that of the k-th power. Tower.
DEVICE_INLINE uint4 round_send_coefficients(State *s, u32 round, u32 d, uint4 mine, bool split = true) {
  u32 c[ROUND_DEGREE + 1], lane = threadIdx.x & 31;
#pragma unroll
  for (u32 k = 0; k <= ROUND_DEGREE; k++)
    c[k] = limb(make_uint4(shfl_idx(mine.x, k), shfl_idx(mine.y, k), shfl_idx(mine.z, k), shfl_idx(mine.w, k)), lane & 3);
  return round_end(s, s->transcript, s->transcript, s->to_polyval, round, d, message_word(c, d), split);
}

// polynomial_at is the value at r of the polynomial of degree d <= 5 with coefficients c,
// in all lanes. POLYVAL.
DEVICE_INLINE uint4 polynomial_at(const uint4 (&c)[ROUND_DEGREE + 1], u32 d, uint4 r) {
  u32 lane = threadIdx.x & 31;
  uint4 r2 = pv_square(r), r4 = pv_square(r2), odd = pv_mul(lane == 3 ? r2 : r4, r); // r^3 or r^5
  uint4 power = lane == 1 ? r : lane == 2 ? r2 : lane == 4 ? r4 : odd, mine = pv_zero();
#pragma unroll
  for (u32 k = 1; k <= ROUND_DEGREE; k++)
    if (lane == k && k <= d) mine = c[k];
  return pv_add(c[0], warp_total(pv_mul(power, mine)));
}
