// Block sums of a table of Mersenne-31 words for the claims about symbols that one
// claim makes: an entry of the table is the even or the odd word of a symbol.
#include "device/ptx.cuh"
#include "FIELD_HEADER"
#include "TRANSCRIPT_HEADER"
#include "whir/prover/common.cuh"

#define PACKED_ROWS 64u // rows whose weights are in shared memory at a time

// Sums of the even and of the odd words of part blockIdx.x, which is `rows` rows of
// 2^low symbols, of block blockIdx.y, which has 2^n, weighted by the product of n
// variables' factors, go to partial[2 (y gridDim.x + x)] and the entry after it. A
// thread has two columns.
extern "C" __global__ void __launch_bounds__(256) whir_packed_sums(u32 *__restrict__ partial, const u32 *__restrict__ words, const u32 *__restrict__ factors,
                                                                  u32 n, u32 low, u32 rows) {
  __shared__ ext weights[PACKED_ROWS];
  __shared__ Total totals[2];
  u32 first = blockIdx.x * rows, column = 2 * threadIdx.x, mine = column < 1u << low ? (low == 0 ? 1 : 2) : 0;
  bool whole = mine == 2 && ((u64)words & 15) == 0;
  const u32 *at = words + 2 * (((u64)blockIdx.y << n) + column);
  qm31_sum sums[4];
  for (u32 i = 0; i < 4; i++) sums[i] = qm31_sum_zero();
#pragma unroll 1
  for (u32 from = 0; from < rows; from += PACKED_ROWS) {
    u32 count = rows - from < PACKED_ROWS ? rows - from : PACKED_ROWS;
    __syncthreads();
    if (threadIdx.x < count) weights[threadIdx.x] = whir_weight(ext_one(), factors, n - low, first + from + threadIdx.x);
    __syncthreads();
    if (mine != 0)
#pragma unroll 4
      for (u32 h = 0; h < count; h++) {
        const u32 *p = at + 2 * ((u64)(first + from + h) << low);
        uint4 v = {0, 0, 0, 0};
        if (whole)
          v = ldg(reinterpret_cast<const uint4 *>(p));
        else {
          v.x = p[0], v.y = p[1];
          if (mine == 2) v.z = p[2], v.w = p[3];
        }
        ext e = weights[h];
        qm31_sum_mad_base(sums[0], v.x, e);
        qm31_sum_mad_base(sums[1], v.y, e);
        qm31_sum_mad_base(sums[2], v.z, e);
        qm31_sum_mad_base(sums[3], v.w, e);
      }
  }
  ext even = ext_zero(), odd = ext_zero();
  const u32 *own = factors + 2 * (n - low) * EXT_WORDS;
#pragma unroll
  for (u32 i = 0; i < 2; i++)
    if (i < mine) {
      ext weight = whir_weight(ext_one(), own, low, column + i);
      even = ext_add(even, ext_mul(weight, qm31_sum_value(sums[2 * i])));
      odd = ext_add(odd, ext_mul(weight, qm31_sum_value(sums[2 * i + 1])));
    }
  even = whir_block_sum(even, &totals[0]);
  odd = whir_block_sum(odd, &totals[1]);
  if (threadIdx.x == 0) {
    u64 out = 2 * ((u64)blockIdx.y * gridDim.x + blockIdx.x);
    ext_store(partial, out, even);
    ext_store(partial, out + 1, odd);
  }
}

// i v, and the map that undoes x -> x^P, which fixes i up to its sign.
DEVICE_INLINE ext times_i(ext v) { return qm31_pair(cm31_mul_i(qm31_a(v)), cm31_mul_i(qm31_b(v))); }

DEVICE_INLINE ext frobenius_inverse(ext v, u32 re, u32 im) {
  return qm31_pair(cm31_conj(qm31_a(v)), cm31_mul(cm31_conj(qm31_b(v)), cm31_make(re, im)));
}

// One block finishes: with E and O a block's sums, sums[u stride] = E + iO and the
// entry after it is the inverse of the Frobenius map at E - iO; halves are the sums
// of E and of O over all 2^fold blocks, weighted by the factors of fold variables.
// re + i im is what the map's inverse takes u to, over u.
extern "C" __global__ void __launch_bounds__(256) whir_packed_finish(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ partial, u32 parts,
                                                                    const u32 *__restrict__ factors, u32 fold, u32 *__restrict__ halves, u32 re, u32 im) {
  __shared__ Total totals[2];
  ext total[2] = {ext_zero(), ext_zero()};
#pragma unroll 1
  for (u32 u = threadIdx.x; u < 1u << fold; u += WHIR_THREADS) {
    ext even = ext_zero(), odd = ext_zero();
    for (u32 p = 0; p < parts; p++) {
      even = ext_add(even, ext_load(partial, 2 * ((u64)u * parts + p)));
      odd = ext_add(odd, ext_load(partial, 2 * ((u64)u * parts + p) + 1));
    }
    ext io = times_i(odd), weight = whir_weight(ext_one(), factors, fold, u);
    ext_store(sums, u * stride, ext_add(even, io));
    ext_store(sums, u * stride + 1, frobenius_inverse(ext_sub(even, io), re, im));
    total[0] = ext_add(total[0], ext_mul(weight, even));
    total[1] = ext_add(total[1], ext_mul(weight, odd));
  }
  ext even = whir_block_sum(total[0], &totals[0]), odd = whir_block_sum(total[1], &totals[1]);
  if (threadIdx.x == 0) {
    ext_store(halves, 0, even);
    ext_store(halves, 1, odd);
  }
}
