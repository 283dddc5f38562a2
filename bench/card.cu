// What a card can do at best, to hold other measurements against: memory
// traffic, and the two kinds of integer instruction that fields are made of.
#include "device/ptx.cuh"

struct alignas(16) vec4 {
  u32 x, y, z, w;
};

// card_copy copies n 16-byte vectors.
extern "C" __global__ void __launch_bounds__(256) card_copy(u32* __restrict__ out, const u32* __restrict__ in, u32 n) {
  const vec4* from = (const vec4*)in;
  vec4* to = (vec4*)out;
  u32 stride = gridDim.x * blockDim.x;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = from[i];
}

// card_read reads n 16-byte vectors; the sum of all words is added into out so
// that the reads cannot be left out.
extern "C" __global__ void __launch_bounds__(256) card_read(u32* __restrict__ out, const u32* __restrict__ in, u32 n) {
  const vec4* from = (const vec4*)in;
  u32 stride = gridDim.x * blockDim.x;
  u32 sum = 0;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    vec4 v = from[i];
    sum += v.x + v.y + v.z + v.w;
  }
  atomicAdd(out, sum);
}

// card_imad runs rounds times 8 multiply-adds a thread: x = x * y + the
// neighbouring x, with y odd so that nothing dies out. out gets one word a thread.
extern "C" __global__ void __launch_bounds__(256) card_imad(u32* __restrict__ out, u32 seed, u32 rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 x[8];
  for (u32 i = 0; i < 8; i++) x[i] = seed + t * 8 + i;
  u32 y = seed | 1;
  for (u32 r = 0; r < rounds; r += 8) {
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
#pragma unroll
      for (u32 i = 0; i < 8; i++) x[i] = x[i] * y + x[(i + 1) & 7];
    }
  }
  out[t] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

// card_lop3 is the same with three-input logic operations.
extern "C" __global__ void __launch_bounds__(256) card_lop3(u32* __restrict__ out, u32 seed, u32 rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 x[8];
  for (u32 i = 0; i < 8; i++) x[i] = (seed + t * 8 + i) * 0x9e3779b9u;
  for (u32 r = 0; r < rounds; r += 8) {
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
#pragma unroll
      for (u32 i = 0; i < 8; i++) x[i] = (x[i] & x[(i + 1) & 7]) ^ x[(i + 3) & 7];
    }
  }
  out[t] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

// card_nothing costs what a launch costs.
extern "C" __global__ void __launch_bounds__(32) card_nothing(u32* __restrict__ out) {
  if (blockIdx.x == 0xffffffffu) out[0] = 1;
}
