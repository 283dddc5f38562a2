// Openings of FRI-Binius: the tables of ring switching and the sum-check on them.
// Elements of GF(2^128) are four words. The tables are in POLYVAL's basis; the message and
// what goes through the transcript is in the tower's. Indices start with the first variable
// at the top.
#include "field/gf2/polyval.cuh"
#include "transcript/tower/prover/tower.cuh"

#define THREADS 128u

// block_xor adds up N words of all threads of a block of THREADS: thread i < N returns
// word i of the sum.
template <u32 N> DEVICE_INLINE u32 block_xor(u32 (&v)[N]) {
  __shared__ u32 parts[THREADS / 32][N];
#pragma unroll
  for (u32 i = 0; i < N; i++) {
    u32 x = v[i];
#pragma unroll
    for (u32 d = 16; d > 0; d >>= 1) x ^= shfl_xor(x, d);
    if (lane_id() == 0) parts[threadIdx.x / 32][i] = x;
  }
  __syncthreads();
  u32 sum = 0;
  if (threadIdx.x < N)
    for (u32 w = 0; w < THREADS / 32; w++) sum ^= parts[w][threadIdx.x];
  return sum;
}

// One table of eq for each block, of the point's first or last coordinates: of 2^low values
// for the last ones at table, and behind it of 2^(n - low) for the first ones. POLYVAL.
extern "C" __global__ void __launch_bounds__(512)
fribinius_eq_halves(u32 *table, const u32 *point, u32 n, u32 low) {
  const u32 *p = point;
  u32 count = n - low;
  if (blockIdx.x == 0) {
    p += 4 * (n - low);
    count = low;
  } else {
    table += 4 << low;
  }
  if (threadIdx.x == 0) polyval_store(table, polyval_one());
  __syncthreads();
  for (u32 i = 0; i < count; i++) {
    // The last coordinate first, as its bit is the lowest.
    polyval z = polyval_load(p + 4 * (count - 1 - i));
    for (u32 k = threadIdx.x; k < 1u << i; k += blockDim.x) {
      polyval v = polyval_load(table + 4 * k), hi = polyval_mul(v, z);
      polyval_store(table + 4 * k, polyval_add(v, hi));
      polyval_store(table + 4 * (k + (1u << i)), hi);
    }
    __syncthreads();
  }
}

// out is the product of the tables of fribinius_eq_halves: 2^n values of eq.
extern "C" __global__ void __launch_bounds__(128)
fribinius_eq(u32 *__restrict__ out, const u32 *__restrict__ table, u32 n, u32 low) {
  u64 y = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= 1ull << n) return;
  polyval a = polyval_ldg(table + 4 * (y & ((1ull << low) - 1))), b = polyval_ldg(table + 4 * ((1ull << low) + (y >> low)));
  polyval_store(out + 4 * y, polyval_mul(a, b));
}

// The sums over y of eq(y) times bit v of message(y), for 128 v: thread v of a block has
// the sum of bit v over the block's y, `each` of them. A block's sums are 512 words.
extern "C" __global__ void __launch_bounds__(128)
fribinius_partial(u32 *__restrict__ out, const u32 *__restrict__ eq, const u32 *__restrict__ message, u64 n, u32 each) {
  __shared__ uint4 e[THREADS], m[THREADS];
  u64 first = (u64)blockIdx.x * each;
  u32 word = threadIdx.x / 32, shift = threadIdx.x % 32;
  gf2 sum = gf2_zero();
  for (u32 at = 0; at < each; at += THREADS) {
    u64 y = first + at + threadIdx.x;
    bool in = at + threadIdx.x < each && y < n;
    gf2_store(reinterpret_cast<u32 *>(e + threadIdx.x), in ? gf2_ldg(eq + 4 * y) : gf2_zero());
    gf2_store(reinterpret_cast<u32 *>(m + threadIdx.x), in ? gf2_ldg(message + 4 * y) : gf2_zero());
    __syncthreads();
#pragma unroll 4
    for (u32 k = 0; k < THREADS; k++) {
      u32 bit = reinterpret_cast<const u32 *>(m + k)[word] >> shift & 1;
      sum = gf2_add(sum, gf2_and(gf2_load(reinterpret_cast<const u32 *>(e + k)), 0 - bit));
    }
    __syncthreads();
  }
  gf2_store(out + 512ull * blockIdx.x + 4 * threadIdx.x, sum);
}

// The sum of blocks times `words` words.
extern "C" __global__ void __launch_bounds__(128)
fribinius_reduce(u32 *__restrict__ out, const u32 *__restrict__ in, u32 blocks, u32 words) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  u32 sum = 0;
  for (u32 b = 0; b < blocks; b++) sum ^= in[(u64)words * b + i];
  out[i] = sum;
}

// add_products adds to a round's message, its value at 0 and its coefficient of X^2, what
// a pair gives.
DEVICE_INLINE void add_products(u32 (&sum)[8], polyval w0, polyval w1, polyval t0, polyval t1) {
  polyval f[2] = {w0, polyval_add(w0, w1)}, g[2] = {t0, polyval_add(t0, t1)};
#pragma unroll 1
  for (u32 k = 0; k < 2; k++) {
    polyval p = polyval_mul(k ? f[1] : f[0], k ? g[1] : g[0]);
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      sum[i] ^= k ? 0 : p.w[i];
      sum[4 + i] ^= k ? p.w[i] : 0;
    }
  }
}

// The tables of the sum-check and the first round's sums. tables has two linear maps by
// nibbles, 512 elements each: the first takes eq(z, y) to the weight A(y), the second the
// message to POLYVAL's basis. n is the number of entries; out has 8 words of each block.
extern "C" __global__ void __launch_bounds__(128)
fribinius_begin(u32 *__restrict__ out, u32 *weight, u32 *__restrict__ message_out, const u32 *__restrict__ message, const u32 *__restrict__ tables, u64 n) {
  __shared__ uint4 t[1024];
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) t[i] = ldg(reinterpret_cast<const uint4 *>(tables) + i);
  __syncthreads();
  const u32 *map = reinterpret_cast<const u32 *>(t);
  u32 sum[8] = {};
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; 2 * k < n; k += (u64)gridDim.x * blockDim.x) {
    polyval w[2], m[2];
#pragma unroll
    for (u32 i = 0; i < 2; i++) {
      w[i] = m[i] = polyval_zero();
      if (2 * k + i < n) {
        w[i] = polyval_from(map, gf2_load(weight + 8 * k + 4 * i));
        m[i] = polyval_from(map + 2048, gf2_ldg(message + 8 * k + 4 * i));
        polyval_store(weight + 8 * k + 4 * i, w[i]);
        polyval_store(message_out + 8 * k + 4 * i, m[i]);
      }
    }
    add_products(sum, w[0], w[1], m[0], m[1]);
  }
  u32 s = block_xor(sum);
  if (threadIdx.x < 8) out[8 * blockIdx.x + threadIdx.x] = s;
}

// Both tables with their last variable set to r, n values, and the next round's sums.
extern "C" __global__ void __launch_bounds__(128)
fribinius_fold(u32 *__restrict__ out, u32 *__restrict__ weight_out, u32 *__restrict__ message_out, const u32 *__restrict__ weight, const u32 *__restrict__ message, const u32 *__restrict__ challenge, u64 n) {
  polyval r = polyval_ldg(challenge);
  u32 sum[8] = {};
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; 2 * k < n; k += (u64)gridDim.x * blockDim.x) {
    // Weight and message at 2k, then at 2k + 1: in a loop, as four products at once would
    // take too many registers.
    polyval v[4] = {polyval_zero(), polyval_zero(), polyval_zero(), polyval_zero()};
#pragma unroll 1
    for (u32 i = 0; i < 4; i++) {
      u64 at = 2 * k + i / 2;
      v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = polyval_zero();
      if (at < n) {
        const u32 *from = (i % 2 ? message : weight) + 8 * at;
        polyval a = polyval_ldg(from), b = polyval_ldg(from + 4);
        v[3] = polyval_add(a, polyval_mul(r, polyval_add(a, b)));
        polyval_store((i % 2 ? message_out : weight_out) + 4 * at, v[3]);
      }
    }
    add_products(sum, v[0], v[2], v[1], v[3]);
  }
  u32 s = block_xor(sum);
  if (threadIdx.x < 8) out[8 * blockIdx.x + threadIdx.x] = s;
}

// n elements of POLYVAL's basis in the tower's, by the map of `from`.
extern "C" __global__ void __launch_bounds__(128)
fribinius_convert(u32 *__restrict__ out, const u32 *__restrict__ in, const u32 *__restrict__ from, u64 n) {
  __shared__ uint4 t[512];
  for (u32 i = threadIdx.x; i < 512; i += blockDim.x) t[i] = ldg(reinterpret_cast<const uint4 *>(from) + i);
  __syncthreads();
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (u64)gridDim.x * blockDim.x)
    gf2_store(out + 4 * k, polyval_to(reinterpret_cast<const u32 *>(t), polyval_ldg(in + 4 * k)));
}

// look_warp is a linear map of an element by a warp, all of which has it: a nibble a lane.
DEVICE_INLINE void look_warp(u32 (&v)[4], const u32 *__restrict__ map) {
  u32 lane = lane_id(), word = lane < 8 ? v[0] : lane < 16 ? v[1] : lane < 24 ? v[2] : v[3];
  uint4 e = ldg(reinterpret_cast<const uint4 *>(map) + 16 * lane + (word >> (4 * (lane & 7)) & 15));
  v[0] = e.x, v[1] = e.y, v[2] = e.z, v[3] = e.w;
#pragma unroll
  for (u32 i = 0; i < 4; i++)
#pragma unroll
    for (u32 d = 16; d > 0; d >>= 1) v[i] ^= shfl_xor(v[i], d);
}

// round_end takes a round's sums, word i in lane i of a warp, through the transcript: m
// becomes the message, c the challenge in POLYVAL's basis. tables has the map to that
// basis and the one from it.
DEVICE_INLINE void round_end(tower &t, u32 (&m)[16], u32 (&c)[4], u32 s, const u32 *__restrict__ tables) {
  u32 zero[4], lead[4];
#pragma unroll
  for (u32 i = 0; i < 4; i++) zero[i] = shfl_idx(s, i), lead[i] = shfl_idx(s, 4 + i);
  look_warp(zero, tables + 2048);
  look_warp(lead, tables + 2048);
#pragma unroll
  for (u32 i = 0; i < 16; i++) m[i] = i < 4 ? zero[i] : i < 8 ? lead[i - 4] : 0;
  tower_absorb(t, m, 8);
  tower_challenge(t, c);
  look_warp(c, tables);
}

// A round's end, by one block: the message from the blocks' sums, through the transcript,
// and the challenge.
extern "C" __global__ void __launch_bounds__(128)
fribinius_round(u32 *state, u32 *message, u32 *challenge, const u32 *__restrict__ sums, const u32 *__restrict__ tables, u32 blocks) {
  u32 sum[8] = {};
  for (u32 b = threadIdx.x; b < blocks; b += blockDim.x)
#pragma unroll
    for (u32 i = 0; i < 8; i++) sum[i] ^= sums[8 * b + i];
  u32 s = block_xor(sum);
  if (threadIdx.x >= 32) return;
  u32 m[16], c[4];
  tower t = tower_load(state);
  round_end(t, m, c, s, tables);
  if (threadIdx.x != 0) return;
  tower_store(state, t);
  gf2_store(message, gf2_make(m[0], m[1], m[2], m[3]));
  gf2_store(message + 4, gf2_make(m[4], m[5], m[6], m[7]));
  gf2_store(challenge, gf2_make(c[0], c[1], c[2], c[3]));
}

#define TAIL 1024u

// Some rounds by one block, on tables of n <= TAIL entries, which are folded after each of
// them: what is left is where they were.
extern "C" __global__ void __launch_bounds__(512)
fribinius_tail(u32 *state, u32 *sent, u32 *weight, u32 *message, const u32 *__restrict__ tables, u32 n, u32 rounds) {
  __shared__ uint4 entries[2][TAIL], challenge;
  __shared__ u32 parts[TAIL / 64][8];
  u32 *w = reinterpret_cast<u32 *>(entries[0]), *m = reinterpret_cast<u32 *>(entries[1]);
  u32 k = threadIdx.x, warp = threadIdx.x / 32;
  for (u32 i = k; i < n; i += blockDim.x) {
    polyval_store(w + 4 * i, polyval_load(weight + 4 * i));
    polyval_store(m + 4 * i, polyval_load(message + 4 * i));
  }
  tower t = tower_load(state);
  __syncthreads();
#pragma unroll 1
  for (u32 round = 0; round < rounds; round++) {
    n /= 2;
    polyval w0 = polyval_zero(), w1 = w0, m0 = w0, m1 = w0;
    if (k < n) w0 = polyval_load(w + 8 * k), w1 = polyval_load(w + 8 * k + 4), m0 = polyval_load(m + 8 * k), m1 = polyval_load(m + 8 * k + 4);
    u32 sum[8] = {};
    if (32 * warp < n) add_products(sum, w0, w1, m0, m1);
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
#pragma unroll
      for (u32 d = 16; d > 0; d >>= 1) sum[i] ^= shfl_xor(sum[i], d);
      if (lane_id() == 0) parts[warp][i] = sum[i];
    }
    __syncthreads();
    if (warp == 0) {
      u32 s = 0, words[16], c[4];
      if (k < 8)
        for (u32 i = 0; i < TAIL / 64; i++) s ^= parts[i][k];
      round_end(t, words, c, s, tables);
      if (k == 0) {
        gf2_store(sent + 8 * round, gf2_make(words[0], words[1], words[2], words[3]));
        gf2_store(sent + 8 * round + 4, gf2_make(words[4], words[5], words[6], words[7]));
        challenge = make_uint4(c[0], c[1], c[2], c[3]);
      }
    }
    __syncthreads();
    // All pairs have been read.
    if (k < n) {
      polyval r = polyval_make(challenge.x, challenge.y, challenge.z, challenge.w);
#pragma unroll 1
      for (u32 i = 0; i < 2; i++)
        polyval_store((i ? m : w) + 4 * k, polyval_add(i ? m0 : w0, polyval_mul(r, i ? polyval_add(m0, m1) : polyval_add(w0, w1))));
    }
    __syncthreads();
  }
  if (k == 0) tower_store(state, t);
  for (u32 i = k; i < n; i += blockDim.x) {
    polyval_store(weight + 4 * i, polyval_load(w + 4 * i));
    polyval_store(message + 4 * i, polyval_load(m + 4 * i));
  }
}
