// Passes for plain products of one factor, with and without eq.
#include "sumcheck/prover/pass.cuh"

extern "C" __global__ void __launch_bounds__(128) sumcheck_product1(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  pass_block<Product<1>, false, 3, 2, true>(PASS_ARGUMENTS);
}

extern "C" __global__ void __launch_bounds__(128) sumcheck_eq_product1(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  pass_block<Product<1>, true, 2, 2, true>(PASS_ARGUMENTS);
}
