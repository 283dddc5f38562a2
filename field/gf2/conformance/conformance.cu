// One call of every function of gf2.cuh, for the comparison with Go.
#include "field/gf2/gf2.cuh"
#include "field/gf2/polyval.cuh"

// Operands and results are an element an item; op says which function.
extern "C" __global__ void __launch_bounds__(128)
gf2_conformance(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, u32 op, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  gf2 x = gf2_load(a + 4 * i), y = gf2_ldg(b + 4 * i), r = gf2_zero();
  switch (op) {
  case 0: r = gf2_add(x, y); break;
  case 1: r = gf2_mul(x, y); break;
  case 2: r = gf2_sqr(x); break;
  case 3: r = gf2_inv(x); break;
  case 4: r = gf2_mul_x<0>(x); break;
  case 5: r = gf2_mul_x<1>(x); break;
  case 6: r = gf2_mul_x<2>(x); break;
  case 7: r = gf2_mul_x<3>(x); break;
  case 8: r = gf2_mul_x<4>(x); break;
  case 9: r = gf2_mul_x<5>(x); break;
  case 10: r = gf2_mul_x<6>(x); break;
  case 11: r = gf2_mul_small<2>(x); break;
  case 12: r = gf2_mul_small<3>(x); break;
  case 13: r = gf2_mul_small<4>(x); break;
  case 14: r = gf2_mul_small<5>(x); break;
  case 15: r = gf2_add(gf2_mul_small<1>(x), gf2_mul_small<7>(y)); break;
  case 16: r = gf2_add(gf2_and(x, y.w[0]), gf2_mul_small<0>(y)); break;
  case 17: r = gf2_basis(y.w[0]); break;
  case 18: r = gf2_equal(x, y) ? gf2_one() : gf2_small(y.w[1]); break;
  case 19: // words of small fields
    r = gf2_make(gf2_word_mul4(x.w[0], y.w[0]), gf2_word_mul8(x.w[1], y.w[1]), gf2_mul16(x.w[2], y.w[2]), 0);
    break;
  }
  gf2_store(out + 4 * i, r);
}

// A warp a pair of items: the first times the power of the second factor, the second
// product, and the sum of both in a third.
extern "C" __global__ void __launch_bounds__(128)
gf2_conformance_warp(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, u32 pairs, u32 power) {
  u32 i = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  if (i >= pairs) return;
  gf2 x[2], y[2];
  for (u32 k = 0; k < 2; k++) x[k] = gf2_load(a + 8 * i + 4 * k), y[k] = gf2_load(b + 8 * i + 4 * k);
  gf2 p = x[0], q = gf2_mul_warp(x[1], y[1]), s = gf2_dot_warp(x, y);
#pragma unroll 1
  for (u32 k = 0; k < power; k++) p = gf2_mul_warp(p, y[0]);
  // Any lane has the results.
  if (lane_id() == i % 32) {
    gf2_store(out + 12 * i, p);
    gf2_store(out + 12 * i + 4, q);
    gf2_store(out + 12 * i + 8, s);
  }
}

// Transposes matrices of 32 words, by warps to out and by threads to own.
extern "C" __global__ void __launch_bounds__(128)
gf2_conformance_transpose(u32 *__restrict__ out, u32 *__restrict__ own, const u32 *__restrict__ a, u32 matrices) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 32 * matrices) return;
  out[i] = gf2_transpose_warp(a[i]);
  if (i >= matrices) return;
  u32 v[32];
  for (u32 k = 0; k < 32; k++) v[k] = a[32 * i + k];
  gf2_transpose(v);
  for (u32 k = 0; k < 32; k++) own[32 * i + k] = v[k];
}

// Inner products of n elements, 256 threads a block, one a block: steps of 256 elements are
// dealt to the blocks in turn, and what is above n is zero.
extern "C" __global__ void __launch_bounds__(256)
gf2_conformance_dot(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, u64 n) {
  __shared__ __align__(16) u32 slices[8][GF2_SLICES];
  u32 warp = threadIdx.x >> 5;
  gf2_gram acc;
  gf2_gram_zero(acc);
  // Four steps at a time, so that all warps have something to transpose: warp w takes a
  // side of step w / 2.
  for (u64 first = (u64)blockIdx.x * 1024; first < n; first += (u64)gridDim.x * 1024) {
    u64 start = first + 256 * (warp >> 1);
    const u32 *p = (warp & 1 ? b : a) + 4 * start;
    u32 v[32];
#pragma unroll
    for (u32 e = 0; e < 32; e++) v[e] = start + 8 * e + (lane_id() >> 2) < n ? ldg(p + 32 * e + lane_id()) : 0;
    gf2_slices_put(slices[warp], v);
    __syncthreads();
#pragma unroll 1
    for (u32 k = 0; k < 4; k++) gf2_gram_add(acc, slices[2 * k], slices[2 * k + 1]);
    __syncthreads();
  }
  u32 *rows = slices[0];
  gf2_gram_put(rows, acc);
  __syncthreads();
  if (warp == 0) {
    gf2 r = gf2_gram_value(rows);
    if (lane_id() == 0) gf2_store(out + 4 * blockIdx.x, r);
  }
}

// The same in POLYVAL's basis, where the results and operands are elements of the tower or
// not; tables are the maps to it and from it.
extern "C" __global__ void __launch_bounds__(128)
gf2_conformance_polyval(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, const u32 *__restrict__ tables, u32 op, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  polyval x = polyval_load(a + 4 * i), y = polyval_ldg(b + 4 * i), r = polyval_zero();
  switch (op) {
  case 0: r = polyval_mul(x, y); break;
  case 1: r = polyval_add(x, polyval_and(y, x.w[0])); break;
  case 2: r = polyval_sqr(x); break;
  case 3: r = polyval_mul(x, polyval_one()); break;
  case 4: r = polyval_from(tables, gf2_load(a + 4 * i)); break;
  case 5: gf2_store(out + 4 * i, polyval_to(tables + 2048, x)); return;
  }
  polyval_store(out + 4 * i, r);
}
