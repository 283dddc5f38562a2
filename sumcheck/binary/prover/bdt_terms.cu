// BDT-2: the sums of products of coefficients of p_1 by bits, without a product (SumCATS,
// Algorithm 1).
#include "sumcheck/binary/prover/bdt.cuh"

// masked_terms: for values k_1..k_d of the first v variables,
//   B(k_1, .., k_d) = sum over x of p_1(k_1, x) p_2(k_2, x) .. p_d(k_d, x)
// are the terms, each an element of out, k_1 highest in a term's number. blockIdx.y is k_1
// and, below it, which T of the terms with that k_1. `groups` is of x. A thread goes over
// the elements of a batch, 32 each, and has T sums in registers; p_1 is read in its
// natural layout, bits as they were transposed.
template <u32 T>
DEVICE_INLINE void masked_terms(u32 *out, const uint4 *__restrict__ a, const u32 *__restrict__ b1, const u32 *__restrict__ b2, const u32 *__restrict__ b3,
                                const u32 *__restrict__ b4, u32 degree, u32 v, u32 groups) {
  __shared__ u32 shared[4 * T];
  const u32 lane = threadIdx.x & 31, terms = 1u << ((degree - 1) * v), chunks = (terms + T - 1) / T;
  const u32 k1 = blockIdx.y / chunks, first = blockIdx.y % chunks * T;
  if (threadIdx.x < 4 * T) shared[threadIdx.x] = 0;
  u32 acc[4 * T];
#pragma unroll
  for (u32 i = 0; i < 4 * T; i++) acc[i] = 0;
#pragma unroll 1
  for (u64 g = blockIdx.x * 8 + (threadIdx.x >> 5); g < groups; g += gridDim.x * 8) {
    // The bits of p_2 .. p_d that the batch is multiplied with.
    u32 p[T];
#pragma unroll
    for (u32 c = 0; c < T; c++) {
      u32 index = first + c, w = first + c < terms ? ~0u : 0;
#pragma unroll 1
      for (u32 k = degree - 1; k > 0; k--) {
        const u32 *b = k == 1 ? b1 : k == 2 ? b2 : k == 3 ? b3 : b4;
        w &= ldg(b + ((index & ((1u << v) - 1)) * (u64)groups + g) * 32 + lane);
        index >>= v;
      }
      p[c] = w;
    }
    const uint4 *from = a + (k1 * (u64)groups + g) * 1024 + lane;
#pragma unroll 2
    for (u32 s = 0; s < 8; s++) {
      // Elements 7 - s and so many bytes of bits higher: their bits are signs of bytes.
      uint4 e[4];
#pragma unroll
      for (u32 m = 0; m < 4; m++) e[m] = ldg(from + (8 * m + 7 - s) * 32);
#pragma unroll
      for (u32 c = 0; c < T; c++) {
#pragma unroll
        for (u32 m = 0; m < 4; m++) {
          const u32 mask = byte_permute(p[c], 0, 0x8888u + 0x1111u * m);
          acc[4 * c] ^= mask & e[m].x, acc[4 * c + 1] ^= mask & e[m].y, acc[4 * c + 2] ^= mask & e[m].z, acc[4 * c + 3] ^= mask & e[m].w;
        }
        p[c] <<= 1;
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (u32 h = 0; h < (4 * T + 31) / 32; h++) {
    u32 c[32];
#pragma unroll
    for (u32 i = 0; i < 32; i++) c[i] = 32 * h + i < 4 * T ? acc[(32 * h + i) % (4 * T)] : 0;
    const u32 sum = sum_lanes(c);
    if (32 * h + lane < 4 * T) atomicXor(shared + 32 * h + lane, sum);
  }
  __syncthreads();
  if (threadIdx.x < 4 * T && first + threadIdx.x / 4 < terms) atomicXor(out + (k1 * terms + first) * 4 + threadIdx.x, shared[threadIdx.x]);
}

extern "C" __global__ void __launch_bounds__(256, 2) binary_terms_4(u32 *out, const uint4 *__restrict__ a, const u32 *__restrict__ b1, const u32 *__restrict__ b2,
                                                                    const u32 *__restrict__ b3, const u32 *__restrict__ b4, u32 degree, u32 v, u32 groups) {
  masked_terms<4>(out, a, b1, b2, b3, b4, degree, v, groups);
}

extern "C" __global__ void __launch_bounds__(256, 2) binary_terms_8(u32 *out, const uint4 *__restrict__ a, const u32 *__restrict__ b1, const u32 *__restrict__ b2,
                                                                    const u32 *__restrict__ b3, const u32 *__restrict__ b4, u32 degree, u32 v, u32 groups) {
  masked_terms<8>(out, a, b1, b2, b3, b4, degree, v, groups);
}

extern "C" __global__ void __launch_bounds__(256, 2) binary_terms_16(u32 *out, const uint4 *__restrict__ a, const u32 *__restrict__ b1, const u32 *__restrict__ b2,
                                                                     const u32 *__restrict__ b3, const u32 *__restrict__ b4, u32 degree, u32 v, u32 groups) {
  masked_terms<16>(out, a, b1, b2, b3, b4, degree, v, groups);
}

// widen: bits as elements 0 and 1, for sums of few variables.
extern "C" __global__ void __launch_bounds__(256) binary_widen(uint4 *out, const u32 *__restrict__ bits, u32 n) {
  const u32 x = blockIdx.x * 256 + threadIdx.x;
  if (x >= n) return;
  uint4 v;
  v.x = ldg(bits + (x >> 5)) >> (x & 31) & 1;
  v.y = v.z = v.w = 0;
  out[x] = v;
}
