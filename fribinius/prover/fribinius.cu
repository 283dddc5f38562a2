// Openings of FRI-Binius: the tables of ring switching and the sum-check on them.
// Elements of GF(2^128) are four words. Indices start with the first variable at the top.
#include "field/gf2/gf2.cuh"
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

// One table of eq for each block, of point's first or last coordinates: of 2^low values
// for the last ones at table, and behind it, at a multiple of 16 bytes, of 2^(n - low).
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
  if (threadIdx.x == 0) gf2_store(table, gf2_one());
  __syncthreads();
  for (u32 i = 0; i < count; i++) {
    // The last coordinate first, as its bit is the lowest.
    gf2 z = gf2_load(p + 4 * (count - 1 - i));
    for (u32 k = threadIdx.x; k < 1u << i; k += blockDim.x) {
      gf2 v = gf2_load(table + 4 * k), hi = gf2_mul(v, z);
      gf2_store(table + 4 * k, gf2_add(v, hi));
      gf2_store(table + 4 * (k + (1u << i)), hi);
    }
    __syncthreads();
  }
}

// out is the product of the tables of fribinius_eq_halves: 2^n values of eq.
extern "C" __global__ void __launch_bounds__(128)
fribinius_eq(u32 *__restrict__ out, const u32 *__restrict__ table, u32 n, u32 low) {
  u64 y = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= 1ull << n) return;
  gf2 a = gf2_ldg(table + 4 * (y & ((1ull << low) - 1))), b = gf2_ldg(table + 4 * ((1ull << low) + (y >> low)));
  gf2_store(out + 4 * y, gf2_mul(a, b));
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

// What takes eq(z, y) to A(y), the same linear map for all y: tables of its values at the
// 16 values of each of 32 nibbles.
extern "C" __global__ void __launch_bounds__(128)
fribinius_weigh(u32 *eq, const u32 *__restrict__ tables, u64 n) {
  __shared__ uint4 t[512];
  for (u32 i = threadIdx.x; i < 512; i += blockDim.x) gf2_store(reinterpret_cast<u32 *>(t + i), gf2_ldg(tables + 4 * i));
  __syncthreads();
  for (u64 y = (u64)blockIdx.x * blockDim.x + threadIdx.x; y < n; y += (u64)gridDim.x * blockDim.x) {
    gf2 x = gf2_load(eq + 4 * y), sum = gf2_zero();
#pragma unroll
    for (u32 w = 0; w < 4; w++)
#pragma unroll
      for (u32 k = 0; k < 8; k++) sum = gf2_add(sum, gf2_load(reinterpret_cast<const u32 *>(t + 16 * (8 * w + k) + (x.w[w] >> (4 * k) & 15))));
    gf2_store(eq + 4 * y, sum);
  }
}

// add_products adds to a round's message, its value at 0 and its coefficient of X^2, what
// a pair gives.
DEVICE_INLINE void add_products(u32 (&sum)[8], gf2 w0, gf2 w1, gf2 t0, gf2 t1) {
  gf2 zero = gf2_mul(w0, t0), lead = gf2_mul(gf2_add(w0, w1), gf2_add(t0, t1));
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    sum[i] ^= zero.w[i];
    sum[4 + i] ^= lead.w[i];
  }
}

// The first round's sums: out has 8 words of each block.
extern "C" __global__ void __launch_bounds__(128)
fribinius_sums(u32 *__restrict__ out, const u32 *__restrict__ weight, const u32 *__restrict__ message, u64 pairs) {
  u32 sum[8] = {};
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < pairs; k += (u64)gridDim.x * blockDim.x)
    add_products(sum, gf2_ldg(weight + 8 * k), gf2_ldg(weight + 8 * k + 4), gf2_ldg(message + 8 * k), gf2_ldg(message + 8 * k + 4));
  u32 s = block_xor(sum);
  if (threadIdx.x < 8) out[8 * blockIdx.x + threadIdx.x] = s;
}

DEVICE_INLINE gf2 fold_pair(const u32 *__restrict__ v, u64 k, gf2 r) {
  gf2 a = gf2_ldg(v + 8 * k), b = gf2_ldg(v + 8 * k + 4);
  return gf2_add(a, gf2_mul(r, gf2_add(a, b)));
}

// Both tables with their last variable set to r, n values, and the next round's sums.
extern "C" __global__ void __launch_bounds__(128)
fribinius_fold(u32 *__restrict__ out, u32 *__restrict__ weight_out, u32 *__restrict__ message_out, const u32 *__restrict__ weight, const u32 *__restrict__ message, const u32 *__restrict__ challenge, u64 n) {
  gf2 r = gf2_ldg(challenge);
  u32 sum[8] = {};
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; 2 * k < n; k += (u64)gridDim.x * blockDim.x) {
    gf2 w0 = fold_pair(weight, 2 * k, r), t0 = fold_pair(message, 2 * k, r);
    gf2_store(weight_out + 8 * k, w0);
    gf2_store(message_out + 8 * k, t0);
    if (2 * k + 1 < n) {
      gf2 w1 = fold_pair(weight, 2 * k + 1, r), t1 = fold_pair(message, 2 * k + 1, r);
      gf2_store(weight_out + 8 * k + 4, w1);
      gf2_store(message_out + 8 * k + 4, t1);
      add_products(sum, w0, w1, t0, t1);
    }
  }
  u32 s = block_xor(sum);
  if (threadIdx.x < 8) out[8 * blockIdx.x + threadIdx.x] = s;
}

// A round's end, by one block: the message from the blocks' sums, through the transcript,
// and the challenge.
extern "C" __global__ void __launch_bounds__(128)
fribinius_round(u32 *state, u32 *message, u32 *challenge, const u32 *__restrict__ sums, u32 blocks) {
  u32 sum[8] = {};
  for (u32 b = threadIdx.x; b < blocks; b += blockDim.x)
#pragma unroll
    for (u32 i = 0; i < 8; i++) sum[i] ^= sums[8 * b + i];
  u32 s = block_xor(sum);
  if (threadIdx.x >= 32) return;
  if (threadIdx.x < 8) message[threadIdx.x] = s;
  u32 m[16] = {}, c[4];
#pragma unroll
  for (u32 i = 0; i < 8; i++) m[i] = shfl_idx(s, i);
  tower t = tower_load(state);
  tower_absorb(t, m, 8);
  tower_challenge(t, c);
  __syncwarp();
  if (threadIdx.x != 0) return;
  tower_store(state, t);
  gf2_store(challenge, gf2_make(c[0], c[1], c[2], c[3]));
}
