// Kernels of package zkml/prover for evaluations and claims about them. What
// they work on is known once the key is: descriptors of 64-bit words, made with
// it, say where in a proof's memory coordinates, tables and results lie.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "zkml/prover/places.cuh"

DEVICE_INLINE qm31 power(qm31 g, u64 n) {
  qm31 v = qm31_one();
  for (; n > 0; n >>= 1) {
    if (n & 1) v = qm31_mul(v, g);
    g = qm31_sqr(g);
  }
  return v;
}

// zkml_eq writes tables of eq. A table is (place in scratch, variables, place of
// the list of its coordinates' numbers, power of ext[gamma] that scales it); a
// tile is 256 entries of one.
extern "C" __global__ void __launch_bounds__(256) zkml_eq(qm31 *__restrict__ scratch, const qm31 *__restrict__ ext, const u64 *__restrict__ desc,
                                                          u32 tables, u32 tiles, u32 gamma) {
  u64 tile = desc[tiles + blockIdx.x];
  const u64 *t = desc + tables + 4 * (tile >> 32);
  u32 vars = (u32)t[1];
  u64 x = (u64)(u32)tile * 256 + threadIdx.x;
  if (x >> vars != 0) return;
  const u64 *coords = desc + t[2];
  qm31 e = power(ext[gamma], t[3]);
  for (u32 i = 0; i < vars; i++) {
    qm31 r = ext[coords[i]];
    if ((x >> (vars - 1 - i) & 1) == 0) r = qm31_sub(qm31_one(), r);
    e = qm31_mul(e, r);
  }
  scratch[t[0] + x] = e;
}

// zkml_evaluate writes extensions of tables of words to ext. An evaluation is
// (place of the table, variables, low's bits, low, high, result, first part,
// number of tiles); a tile is a row of the table, low's length, which leaves its
// part of the sum. The last block of an evaluation adds the parts up; counts are
// 0 before and after.
extern "C" __global__ void __launch_bounds__(256) zkml_evaluate(qm31 *ext, qm31 *parts, u32 *counts, const qm31 *__restrict__ scratch,
                                                                const u32 *__restrict__ fixed, const u32 *__restrict__ live,
                                                                const u64 *__restrict__ desc, u32 evals, u32 tiles) {
  __shared__ qm31 shared[8];
  __shared__ bool last;
  u64 tile = desc[tiles + blockIdx.x];
  u32 id = (u32)(tile >> 32), row = (u32)tile;
  const u64 *e = desc + evals + 8 * id;
  u32 n = 1u << e[2], of = (u32)e[7];
  const u32 *p = place(fixed, live, e[0]) + ((u64)row << e[2]);
  const qm31 *low = scratch + e[3];
  qm31_sum s = qm31_sum_zero();
  for (u32 j = threadIdx.x; j < n; j += 256) qm31_sum_mad_base(s, p[j], low[j]);
  qm31 v = qm31_block_sum(qm31_sum_value(s), shared);
  if (of == 1) {
    if (threadIdx.x == 0) ext[e[5]] = qm31_mul(v, scratch[e[4]]);
    return;
  }
  parts += e[6];
  if (threadIdx.x == 0) {
    parts[row] = qm31_mul(v, scratch[e[4] + row]);
    __threadfence();
    last = atomicAdd(&counts[id], 1u) == of - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  v = qm31_zero();
  for (u32 j = threadIdx.x; j < of; j += 256) v = qm31_add(v, parts[j]);
  v = qm31_block_sum(v, shared);
  if (threadIdx.x == 0) {
    ext[e[5]] = v;
    counts[id] = 0;
  }
}

// zkml_gather: ext[to + i] is the element at the i-th place of a list, or 0.
extern "C" __global__ void __launch_bounds__(256) zkml_gather(qm31 *ext, const u64 *__restrict__ desc, u32 list, u32 to, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 from = desc[list + i];
  ext[to + i] = from == NOWHERE ? qm31_zero() : ext[from];
}

// zkml_combine: for each stack (place of the list of its values, their number,
// result) the sum of ext[gamma]^i times the i-th value, a block a stack.
extern "C" __global__ void __launch_bounds__(256) zkml_combine(qm31 *ext, const u64 *__restrict__ desc, u32 stacks, u32 gamma) {
  __shared__ qm31 shared[8];
  const u64 *s = desc + stacks + 3 * blockIdx.x;
  const u64 *list = desc + s[0];
  u32 n = (u32)s[1], t = threadIdx.x;
  qm31 g = ext[gamma], step = power(g, 256), v = qm31_zero();
  // By Horner's rule in gamma^256, from the last of this thread's values.
  if (t < n)
    for (i64 i = t + (i64)((n - 1 - t) & ~255u); i >= 0; i -= 256) v = qm31_add(qm31_mul(v, step), ext[list[i]]);
  v = qm31_block_sum(qm31_mul(v, power(g, t)), shared);
  if (t == 0) ext[s[2]] = v;
}

// zkml_guard is 1 outside the real elements and 0 at them.
extern "C" __global__ void __launch_bounds__(256) zkml_guard(u32 *__restrict__ t, const u64 *__restrict__ axes, u32 naxes, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  t[i] = real_element(i, axes, naxes) ? 0 : 1;
}
