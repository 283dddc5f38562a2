// Passes for plain products of two factors, with and without eq.
#include "sumcheck/prover/pass.cuh"

extern "C" __global__ void __launch_bounds__(128, 4) sumcheck_product2_first(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  pass_first<Product<2>, false, 3>(PASS_ARGUMENTS);
}

extern "C" __global__ void __launch_bounds__(128, 4) sumcheck_product2(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  pass_next<Product<2>, false, 2, true>(PASS_ARGUMENTS);
}

extern "C" __global__ void __launch_bounds__(128) sumcheck_eq_product2(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  pass_block<Product<2>, true, 2, 2, true>(PASS_ARGUMENTS);
}
