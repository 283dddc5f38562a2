// Passes for sums of terms, each a product of up to three factors, with and
// without eq: read from the batch's description rather than compiled in, a round
// at a time.
#include "sumcheck/prover/line.cuh"

extern "C" __global__ void __launch_bounds__(128) sumcheck_terms(u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups,
                                                                 u32 group_count, u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
  __shared__ Pass s;
  // The degree differs by instance; the sums are of the batch's.
  u32 lane = threadIdx.x & 31, d = (u32)batch->d;
  pass_begin(s, batch, round);
#pragma unroll 1
  for (u32 chunk = blockIdx.x * PASS_WARPS + (threadIdx.x >> 5); chunk < chunks; chunk += gridDim.x * PASS_WARPS) {
    Piece p = find_piece(groups, group_count, chunk);
    const Instance &in = ((const Instance *)batch->instances)[p.instance];
    Kept &kept = s.kept[threadIdx.x >> 5];
    if (p.group.fold > 0) bind_piece(batch, in, p, s.bound);
    term_sums(batch, in, 0, p.group.fold == 0 && p.group.open == in.vars, p.spread, p.begin, p.end, p.step, kept.scratch);
    if (lane <= d) kept.sum[0][lane] = qm31_add(kept.sum[0][lane], line_share(batch, in, p.instance, p.group.open, kept.scratch, d, lane));
    __syncwarp();
  }
  pass_end(s, sponge, batch, d, round, window, classes, blocks);
}
