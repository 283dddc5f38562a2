// Kernels of package whir/prover over one pair of fields. Buffers of challenges are
// EXT_WORDS words an element, those of symbols SYM_WORDS, in the form of the field's
// device memory.
#include "device/ptx.cuh"
#include "FIELD_HEADER"
#include "TRANSCRIPT_HEADER"
#include "whir/prover/common.cuh"
#include "whir/prover/blocks.cuh"
#include "whir/prover/weights.cuh"
#include "whir/prover/points.cuh"
#include "whir/prover/transform.cuh"
#include "whir/prover/rounds.cuh"

// ---- points and coefficients -------------------------------------------------------

// The factors of eq at (z^(2^(n-1)), ..., z^2, z).
extern "C" __global__ void __launch_bounds__(32) whir_eq_powers_VARIANT(u32 *__restrict__ dst, const u32 *__restrict__ z, u32 n) {
  if (threadIdx.x != 0) return;
  ext p = ext_load(z, 0);
  for (u32 j = n; j-- > 0;) {
    ext_store(dst, 2 * j, ext_sub(ext_one(), p));
    ext_store(dst, 2 * j + 1, p);
    p = ext_sqr(p);
  }
}

// dst[j] = x^(first + j).
extern "C" __global__ void __launch_bounds__(256) whir_geometric_VARIANT(u32 *__restrict__ dst, const u32 *__restrict__ x, u32 first, u32 n) {
  u32 j = blockIdx.x * WHIR_THREADS + threadIdx.x;
  if (j < n) ext_store(dst, j, whir_power(ext_load(x, 0), (u64)first + j));
}

// dst[u stride + c] = coeffs[c] times claim c's factors of the first `fold` variables
// at u.
extern "C" __global__ void __launch_bounds__(256) whir_block_weights_VARIANT(u32 *__restrict__ dst, u64 stride, const u32 *__restrict__ factors, u32 apart,
                                                                            const u32 *__restrict__ coeffs, u32 claims, u32 fold) {
  u64 i = (u64)blockIdx.x * WHIR_THREADS + threadIdx.x;
  u32 c = (u32)(i >> fold);
  u64 u = i & ((1u << fold) - 1);
  if (c < claims) ext_store(dst, u * stride + c, whir_weight(ext_load(coeffs, c), factors + (u64)c * apart * EXT_WORDS, fold, u));
}

// ---- blocks ------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(256, 4) whir_block_sums1_VARIANT(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ f,
                                                                          const u32 *__restrict__ factors, u32 apart, u32 n, u32 low, u32 rows, u32 *partial,
                                                                          u32 *counters) {
  block_sums<Symbols, 1>(sums, stride, f, factors, apart, n, low, rows, partial, counters);
}

extern "C" __global__ void __launch_bounds__(256) whir_block_sums2_VARIANT(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ f,
                                                                          const u32 *__restrict__ factors, u32 apart, u32 n, u32 low, u32 rows, u32 *partial,
                                                                          u32 *counters) {
  block_sums<Symbols, 2>(sums, stride, f, factors, apart, n, low, rows, partial, counters);
}

extern "C" __global__ void __launch_bounds__(256) whir_block_sums_ext1_VARIANT(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ f,
                                                                              const u32 *__restrict__ factors, u32 apart, u32 n, u32 low, u32 rows,
                                                                              u32 *partial, u32 *counters) {
  block_sums<Challenges, 1>(sums, stride, f, factors, apart, n, low, rows, partial, counters);
}

extern "C" __global__ void __launch_bounds__(256) whir_block_sums_ext2_VARIANT(u32 *__restrict__ sums, u64 stride, const u32 *__restrict__ f,
                                                                              const u32 *__restrict__ factors, u32 apart, u32 n, u32 low, u32 rows,
                                                                              u32 *partial, u32 *counters) {
  block_sums<Challenges, 2>(sums, stride, f, factors, apart, n, low, rows, partial, counters);
}

// dst[b] = sum_u eq(point, u) f[u, b], over 2^fold blocks of `size` symbols.
extern "C" __global__ void __launch_bounds__(256) whir_fold_blocks_VARIANT(u32 *__restrict__ dst, const u32 *__restrict__ f, const u32 *__restrict__ point,
                                                                          u32 fold, u64 size) {
  __shared__ ext weights[1u << MAX_FOLD];
  eq_weights(weights, point, fold);
  fold_parts(dst, Blocks{f, size}, weights, 1u << fold, size, false);
}

// dst = (add ? dst : 0) + sum_a coeffs[a] tables[a], for up to 1024 tables of symbols
// given by their addresses.
extern "C" __global__ void __launch_bounds__(256) whir_combine_VARIANT(u32 *__restrict__ dst, const u64 *__restrict__ tables, const u32 *__restrict__ coeffs,
                                                                      u32 count, u64 size, u32 add) {
  __shared__ ext weights[1u << MAX_FOLD];
  for (u32 a = threadIdx.x; a < count; a += WHIR_THREADS) weights[a] = ext_load(coeffs, a);
  __syncthreads();
  fold_parts(dst, Tables{tables}, weights, count, size, add != 0);
}

extern "C" __global__ void __launch_bounds__(256) whir_lift_VARIANT(u32 *__restrict__ dst, const u32 *__restrict__ f, u64 size) {
  u64 i = (u64)blockIdx.x * WHIR_THREADS + threadIdx.x;
  if (i < size) ext_store(dst, i, ext_from_sym(sym_load(f, i)));
}

// ---- weights -----------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(256) whir_add_weights_VARIANT(u32 *__restrict__ w, const u32 *__restrict__ factors, u32 apart,
                                                                          const u32 *__restrict__ coeffs, u32 count, u32 n, u32 low, u32 rows,
                                                                          u32 set) {
  add_weights(w, factors, apart, coeffs, count, n, low, rows, set != 0);
}

// w += coeff t.
extern "C" __global__ void __launch_bounds__(256) whir_add_table_VARIANT(u32 *__restrict__ w, const u32 *__restrict__ t, const u32 *__restrict__ coeff,
                                                                        u64 size) {
  u64 i = (u64)blockIdx.x * WHIR_THREADS + threadIdx.x;
  if (i < size) ext_store(w, i, ext_add(ext_load(w, i), ext_mul(ext_load(coeff, 0), ext_load(t, i))));
}

extern "C" __global__ void __launch_bounds__(256) whir_point_tables_VARIANT(u32 *__restrict__ columns, u32 *__restrict__ rows,
                                                                           const u32 *__restrict__ indices, const u32 *__restrict__ gamma, u32 first,
                                                                           u32 omega0, u32 omega1, u32 n, u32 low, u32 high) {
  point_tables(columns, rows, indices, gamma, first, whir_root(omega0, omega1), n, low, high);
}

extern "C" __global__ void __launch_bounds__(256) whir_point_sums_VARIANT(u32 *__restrict__ w, const u32 *__restrict__ columns, const u32 *__restrict__ rows,
                                                                         u32 count, u32 low, u32 high) {
  point_sums(w, columns, rows, count, low, high);
}

extern "C" __global__ void __launch_bounds__(256) whir_point_terms_VARIANT(u32 *__restrict__ coeffs, u32 *__restrict__ powers,
                                                                          const u32 *__restrict__ indices, const u32 *__restrict__ gamma, u32 first,
                                                                          u32 omega0, u32 omega1, u32 count) {
  point_terms(coeffs, powers, indices, gamma, first, whir_root(omega0, omega1), count);
}

extern "C" __global__ void __launch_bounds__(256) whir_point_transform_VARIANT(u32 *__restrict__ w, const u32 *__restrict__ coeffs,
                                                                              const u32 *__restrict__ powers, const u32 *__restrict__ indices, u32 count,
                                                                              u32 omega0, u32 omega1, u32 low, u32 rows) {
  point_transform(w, coeffs, powers, indices, count, whir_root(omega0, omega1), low, rows);
}

// ---- rounds ------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(256) whir_round_VARIANT(u32 *g, u32 *w, u64 half, u32 *partial, u32 *counter, u32 *message, u32 *sponge,
                                                                    u32 *drawn) {
  round_pass<false>(g, w, 0, half, partial, counter, message, sponge, drawn);
}

extern "C" __global__ void __launch_bounds__(256) whir_fold_round_VARIANT(u32 *g, u32 *w, const u32 *challenge, u64 half, u32 *partial, u32 *counter,
                                                                         u32 *message, u32 *sponge, u32 *drawn) {
  round_pass<true>(g, w, challenge, half, partial, counter, message, sponge, drawn);
}

extern "C" __global__ void __launch_bounds__(512) whir_rounds_VARIANT(u32 *g, u32 *w, const u32 *challenge, u64 half, u32 rounds, u32 *messages, u32 *sponge,
                                                                     u32 *drawn) {
  round_tail(g, w, challenge, half, rounds, messages, sponge, drawn);
}

extern "C" __global__ void __launch_bounds__(256) whir_fold_VARIANT(u32 *g, u32 *w, const u32 *__restrict__ challenge, u64 half) {
  u64 i = (u64)blockIdx.x * WHIR_THREADS + threadIdx.x;
  if (i >= half) return;
  ext r = ext_load(challenge, 0);
  ext_store(g, i, whir_fold(ext_load(g, i), ext_load(g, i + half), r));
  if (w != 0) ext_store(w, i, whir_fold(ext_load(w, i), ext_load(w, i + half), r));
}

// dst = sum_u a[u stride] b[u stride], for u below size.
extern "C" __global__ void __launch_bounds__(256, 4) whir_dot_VARIANT(u32 *__restrict__ dst, const u32 *__restrict__ a, const u32 *__restrict__ b, u64 stride,
                                                                  u64 size, u32 *partial, u32 *counter) {
  __shared__ Total total;
  ext_acc acc = acc_zero();
#pragma unroll 1
  for (u64 i = (u64)blockIdx.x * WHIR_THREADS + threadIdx.x; i < size; i += (u64)gridDim.x * WHIR_THREADS)
    acc_mul(acc, ext_load(a, i * stride), ext_load(b, i * stride));
  ext v = whir_block_sum(acc_value(acc), &total);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) ext_store(partial, blockIdx.x, v);
    if (!whir_arrive(counter, gridDim.x)) return;
    v = ext_zero();
    for (u32 i = threadIdx.x; i < gridDim.x; i += WHIR_THREADS) v = ext_add(v, ext_load(partial, i));
    v = whir_block_sum(v, &total);
  }
  if (threadIdx.x == 0) ext_store(dst, 0, v);
}
