// Montgomery products whose multiplications by constants are matrix products of bytes: of
// a b, the factor m = a b (-1/p) mod 2^(32N) and the upper half of m p are made by the
// tensor cores, for the 32 numbers of a warp at a time. A row of the left matrix is a
// number; the right one has the constant's bytes, one lower in each column, so that
// column j of the product is worth 2^(8j). (The design is section 4.3's of DistMSM,
// ASPLOS 2024: columns ordered so that a lane holds four neighbouring ones, and makes
// one number of 45 bits of them while they are in registers.)
#include "MONT_HEADER"
#include "field/mont/mont.cuh"

typedef MONT_FIELD W;
enum : u32 {
  N = W::N,
  STEPS = (N + 7) / 8,       // of 32 bytes, in the length of a number
  STRIDE = 8 * STEPS + 4,    // words of a row in shared memory, without conflicts of banks
  LOW = N / 4,               // groups of 16 columns, a word a lane of four: of m
  HIGH = N / 4 + 1,          // of m p: the upper half, and the highest of the lower half
  SUMS = 4 * HIGH + (N == 12 ? 4 : 0), // numbers of 45 bits of a row
};

struct alignas(16) Stage {
  union {
    u32 words[32][STRIDE];
    u64 sums[32][SUMS];
  };
};

// multiply_constant leaves in stage.sums the columns of the numbers x, one a lane, times
// a constant: groups times four words. table has the constant's matrix as fragments.
template <u32 GROUPS> DEVICE_INLINE void multiply_constant(Stage &stage, const u32 (&x)[N], const uint2 *__restrict__ table) {
  const u32 lane = lane_id(), g = lane / 4, t = lane % 4;
  __syncwarp();
#pragma unroll
  for (u32 j = 0; j < 8 * STEPS; j++) stage.words[lane][j] = j < N ? x[j] : 0;
  __syncwarp();
  u32 a[2][STEPS][4];
#pragma unroll
  for (u32 s = 0; s < STEPS; s++)
#pragma unroll
    for (u32 h = 0; h < 2; h++)
#pragma unroll
      for (u32 k = 0; k < 4; k++) a[h][s][k] = stage.words[16 * h + 8 * (k & 1) + g][8 * s + 4 * (k >> 1) + t];
  __syncwarp();
#pragma unroll
  for (u32 p = 0; p < GROUPS; p++) {
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      i32 d[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
      for (u32 q = 0; q < 2; q++)
#pragma unroll
        for (u32 s = 0; s < STEPS; s++) {
          const uint2 w = ldg(table + ((2 * p + q) * STEPS + s) * 32 + lane);
          const u32 b[2] = {w.x, w.y};
          mma_u8(d[q], a[h][s], b);
        }
#pragma unroll
      for (u32 r = 0; r < 2; r++) {
        const u32 low = (u32)d[0][2 * r] + ((u32)d[0][2 * r + 1] << 8), high = (u32)d[1][2 * r] + ((u32)d[1][2 * r + 1] << 8);
        stage.sums[16 * h + 8 * r + g][4 * p + t] = mad_wide(high, 1u << 16, (u64)low);
      }
    }
  }
  __syncwarp();
}

// mul_tensor is a b, below 2p for factors below it. All lanes of the warp take part.
DEVICE_INLINE Mont<W> mul_tensor(Stage &stage, const Mont<W> &a, const Mont<W> &b, const uint2 *__restrict__ factor, const uint2 *__restrict__ modulus) {
  const Wide<W> ab = wide_mul(a, b);
  const u32 lane = lane_id();
  u32 x[N];
#pragma unroll
  for (u32 j = 0; j < N; j++) x[j] = ab.x[j];
  multiply_constant<LOW>(stage, x, factor);
  u64 carry = 0;
#pragma unroll
  for (u32 j = 0; j < N; j++) {
    carry += stage.sums[lane][j];
    x[j] = (u32)carry;
    carry >>= 32;
  }
  multiply_constant<HIGH>(stage, x, modulus);
  // The lower half of m p makes that of a b 2^(32N), or both are 0. What its columns
  // carry out is what their highest ones are more than the words that come of it.
  u32 some = 0;
#pragma unroll
  for (u32 j = 0; j < N; j++) some |= ab.x[j];
  u32 less = 0;
#pragma unroll
  for (u32 j = 0; j + 1 < N; j++) less |= ab.x[j];
  const u32 top = 0u - ab.x[N - 1] - (less != 0); // of the lower half of m p
  const u64 around = stage.sums[lane][3] + (stage.sums[lane][2] >> 32) + 0x80000000u;
  carry = (around - top) >> 32;
  Mont<W> r;
  carry += some != 0;
#pragma unroll
  for (u32 j = 0; j < N; j++) {
    carry += stage.sums[lane][4 + j];
    carry += ab.x[N + j];
    r.x[j] = (u32)carry;
    carry >>= 32;
  }
  return r; // below 2p
}

// start is number k of thread t, below p.
DEVICE_INLINE Mont<W> start(u32 seed, u32 t, u32 k) {
  Mont<W> r;
#pragma unroll
  for (u32 j = 0; j < N; j++) r.x[j] = (seed + t * 2 * N + k * N + j) * 0x9e3779b9u;
  r.x[N - 1] &= (1u << (31 - W::SPARE)) - 1;
  return r;
}

// bench_product_tensor is as the kernels of products.cu.
extern "C" __global__ void __launch_bounds__(128, TENSOR_BLOCKS)
    bench_product_tensor_VARIANT(u32 *__restrict__ out, u32 seed, u32 rounds, const u32 *__restrict__ factor, const u32 *__restrict__ modulus) {
  __shared__ Stage stages[4];
  Stage &stage = stages[threadIdx.x / 32];
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint2 *const f = (const uint2 *)factor, *const m = (const uint2 *)modulus;
  const Mont<W> y = start(seed, t, 1);
  Mont<W> x = start(seed, t, 0);
  for (u32 r = 0; r < rounds; r++) x = mul_tensor(stage, x, y, f, m);
  x = canonical(x);
#pragma unroll
  for (u32 j = 0; j < N; j++) out[(u64)t * N + j] = x.x[j];
}
