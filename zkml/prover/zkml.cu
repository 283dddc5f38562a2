// Kernels of package zkml/prover. Tensors are in the padded layout: row-major,
// every axis a power of two. Values are residues modulo 2^31-1 of integers
// below 2^29 in absolute value.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"

// The integer of least absolute value with residue v.
DEVICE_INLINE i32 integer(u32 v) { return v > M31_P / 2 ? (i32)(v - M31_P) : (i32)v; }

// zkml_matmul: out[r][j] = sum_k x[r][k] w[k][j]. Partial sums obey the bounds
// of the result, so 32-bit integers do.
extern "C" __global__ void __launch_bounds__(256) zkml_matmul(u32 *__restrict__ out, const u32 *__restrict__ x,
                                                              const u32 *__restrict__ w, u32 rows, u32 k, u32 n) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (u64)rows * n) return;
  u64 r = i / n, j = i % n;
  i32 sum = 0;
  for (u32 c = 0; c < k; c++) sum += integer(x[r * k + c]) * integer(w[(u64)c * n + j]);
  out[i] = m31_from_i32(sum);
}

// zkml_matmul_trans: out[r][j] = sum_k x[r][k] w[j][k], a warp an entry.
extern "C" __global__ void __launch_bounds__(256) zkml_matmul_trans(u32 *__restrict__ out, const u32 *__restrict__ x,
                                                                    const u32 *__restrict__ w, u32 rows, u32 k, u32 n) {
  u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  bool in = i < (u64)rows * n;
  u64 r = i / n, j = i % n;
  u32 sum = 0;
  if (in)
    for (u32 c = threadIdx.x & 31; c < k; c += 32) sum += (u32)(integer(x[r * k + c]) * integer(w[j * k + c]));
  for (u32 d = 16; d > 0; d >>= 1) sum += shfl_xor(sum, d);
  if (in && (threadIdx.x & 31) == 0) out[i] = m31_from_i32((i32)sum);
}

// zkml_linear: out[i] += coef * in[j], where j is made of the bits of i that
// the triples (from, mask, to) of segs select.
extern "C" __global__ void __launch_bounds__(256) zkml_linear(u32 *__restrict__ out, const u32 *__restrict__ in, u32 coef,
                                                              const u32 *__restrict__ segs, u32 nsegs, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 j = 0;
  for (u32 s = 0; s < nsegs; s++) j |= (i >> segs[3 * s] & segs[3 * s + 1]) << segs[3 * s + 2];
  out[i] = m31_add(out[i], m31_mul(coef, in[j]));
}

// zkml_lookup: x + half = 2^shift q + r with 0 <= r < 2^shift; y is entry
// q + first of the table. rem is null if there is no remainder.
extern "C" __global__ void __launch_bounds__(256) zkml_lookup(u32 *__restrict__ y, u32 *__restrict__ rem, const u32 *__restrict__ x,
                                                              const u32 *__restrict__ table, i32 half, u32 shift, i32 first, i32 size, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i32 acc = integer(x[i]) + half;
  i32 q = acc >> shift;
  i32 row = q + first;
  row = row < 0 ? 0 : row >= size ? size - 1 : row;
  y[i] = table[row];
  if (rem != 0) rem[i] = (u32)acc & ((1u << shift) - 1);
}

// The padded index of element e of a tensor whose axes, last first, are given
// as pairs (variables, extent).
DEVICE_INLINE u32 padded_index(u32 e, const u32 *__restrict__ axes, u32 naxes) {
  u32 index = 0, at = 0;
  for (u32 a = 0; a < naxes; a++) {
    u32 extent = axes[2 * a + 1];
    index |= e % extent << at;
    e /= extent;
    at += axes[2 * a];
  }
  return index;
}

// Whether index i of the padded layout is a real element.
DEVICE_INLINE bool real_element(u32 i, const u32 *__restrict__ axes, u32 naxes) {
  for (u32 a = 0; a < naxes; a++) {
    if ((i & ((1u << axes[2 * a]) - 1)) >= axes[2 * a + 1]) return false;
    i >>= axes[2 * a];
  }
  return true;
}

// zkml_move gives n elements another shape.
extern "C" __global__ void __launch_bounds__(256) zkml_move(u32 *__restrict__ out, const u32 *__restrict__ in, const u32 *__restrict__ from,
                                                            u32 nfrom, const u32 *__restrict__ to, u32 nto, u32 n) {
  u32 e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  out[padded_index(e, to, nto)] = in[padded_index(e, from, nfrom)];
}

// zkml_mask zeroes a table outside the real elements.
extern "C" __global__ void __launch_bounds__(256) zkml_mask(qm31 *t, const u32 *__restrict__ axes, u32 naxes, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (!real_element(i, axes, naxes)) t[i] = qm31_zero();
}

// zkml_guard is 1 outside the real elements and 0 at them.
extern "C" __global__ void __launch_bounds__(256) zkml_guard(u32 *__restrict__ t, const u32 *__restrict__ axes, u32 naxes, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  t[i] = real_element(i, axes, naxes) ? 0 : 1;
}

// zkml_limb: w bits of v - lo from bit `shift` up.
extern "C" __global__ void __launch_bounds__(256) zkml_limb(u32 *__restrict__ out, const u32 *__restrict__ v, u32 lo, u32 shift, u32 w, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = m31_sub(v[i], lo) >> shift & ((1u << w) - 1);
}

// k0 a[i] + k1 b[i] + c, without the second term if b is null.
DEVICE_INLINE u32 affine(const u32 *__restrict__ a, const u32 *__restrict__ b, u32 k0, u32 k1, u32 c, u32 i) {
  u32 v = m31_add(m31_mul(k0, a[i]), c);
  return b != 0 ? m31_add(v, m31_mul(k1, b[i])) : v;
}

// zkml_count adds 1 to the table row that each entry names.
extern "C" __global__ void __launch_bounds__(256) zkml_count(u32 *mult, const u32 *__restrict__ a, const u32 *__restrict__ b, u32 k0, u32 k1,
                                                             u32 c, u32 rows, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 r = affine(a, b, k0, k1, c, i);
  if (r < rows) atomicAdd(&mult[r], 1u);
}

// zkml_leaves: a block of fractions. The denominator is ch[0] - ch[1] c0 -
// ch[2] c1, where c0 is affine in columns, or i + c if a is null; the numerator
// is 1, or minus mult[i].
extern "C" __global__ void __launch_bounds__(256) zkml_leaves(u32 *__restrict__ num, qm31 *__restrict__ den, const u32 *__restrict__ a,
                                                              const u32 *__restrict__ b, const u32 *__restrict__ c1, const u32 *__restrict__ mult,
                                                              const qm31 *__restrict__ ch, u32 k0, u32 k1, u32 c, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 c0 = a != 0 ? affine(a, b, k0, k1, c, i) : m31_add(i, c);
  qm31 d = qm31_sub(ch[0], qm31_mul_base(ch[1], c0));
  if (c1 != 0) d = qm31_sub(d, qm31_mul_base(ch[2], c1[i]));
  den[i] = d;
  num[i] = mult != 0 ? m31_neg(mult[i]) : 1;
}

// zkml_ones fills a table with 1.
extern "C" __global__ void __launch_bounds__(256) zkml_ones(qm31 *t, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = qm31_one();
}
