// Kernels of package zkml/prover for the forward pass. Tensors are in the padded
// layout: row-major, every axis a power of two. Values are residues modulo 2^31-1
// of integers below 2^29 in absolute value.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "zkml/prover/places.cuh"

// The integer of least absolute value with residue v.
DEVICE_INLINE i32 integer(u32 v) { return v > M31_P / 2 ? (i32)(v - M31_P) : (i32)v; }

// ---- parameters --------------------------------------------------------------------

// A parameter as it is stored: its first byte, bytes of a value, its axes.
struct param {
  u64 at, width, axes, naxes;
};

DEVICE_INLINE i32 stored(const u8 *__restrict__ p, u32 width, u32 e) {
  if (width == 1) return ((const signed char *)p)[e];
  if (width == 2) return ((const short *)p)[e];
  return ((const i32 *)p)[e];
}

// zkml_params makes the n words of the parameters' stack out of integers of 1, 2 or 4
// bytes, a tensor after the other without padding. Where each of the params begins in
// the stack, in order, is followed by what they are; from `end` on there are none. A
// thread does four words.
extern "C" __global__ void __launch_bounds__(256) zkml_params(u32 *__restrict__ stack, const u8 *__restrict__ bytes,
                                                              const u64 *__restrict__ desc, u32 params, u32 end, u32 n) {
  u32 first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= n) return;
  u32 k = 0;
  for (u32 above = params; above - k > 1;) {
    u32 middle = (k + above) / 2;
    if ((u32)desc[middle] <= first) k = middle;
    else above = middle;
  }
  for (u32 w = first; w < n && w < first + 4; w++) {
    u32 v = 0;
    if (w < end) {
      if (k + 1 < params && (u32)desc[k + 1] <= w) k++;
      const param &p = ((const param *)(desc + params))[k];
      const u64 *axes = desc + p.axes;
      u32 left = w - (u32)desc[k], element = 0, stride = 1;
      bool real = true;
      for (u32 a = 0; a < (u32)p.naxes; a++) {
        u32 vars = (u32)axes[2 * a], extent = (u32)axes[2 * a + 1], at = left & ((1u << vars) - 1);
        real = real && at < extent;
        element += at * stride;
        stride *= extent;
        left >>= vars;
      }
      if (real) v = m31_from_i32(stored(bytes + p.at, (u32)p.width, element));
    }
    stack[w] = v;
  }
}

// ---- the statement -----------------------------------------------------------------

// zkml_state takes an output, of n entries with its padding, to what is stated of it:
// its real elements' residues with zeros for padding, and their integers without.
extern "C" __global__ void __launch_bounds__(256) zkml_state(u32 *__restrict__ stated, i32 *__restrict__ y, const u32 *__restrict__ out,
                                                             const u64 *__restrict__ axes, u32 naxes, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 left = i, element = 0, stride = 1;
  bool real = true;
  for (u32 a = 0; a < naxes; a++) {
    u32 vars = (u32)axes[2 * a], extent = (u32)axes[2 * a + 1], at = left & ((1u << vars) - 1);
    real = real && at < extent;
    element += at * stride;
    stride *= extent;
    left >>= vars;
  }
  u32 v = out[i];
  stated[i] = real ? v : 0;
  if (real) y[element] = integer(v);
}

// ---- sums of products ------------------------------------------------------------
// An einsum: out[batch, row, column] = the sum over k of a[batch, row, k] *
// b[batch, column, k]. If there is one operand it is b, and a is null. Partial sums
// obey the bounds of the result, so 32-bit integers do.

// Lists of segments: how bits of one index make up another.
struct segments {
  u64 at, n;
};

struct einsum {
  u64 k, inner;         // terms of a sum, and those of the innermost label
  u64 step_a, step_b;   // of that label
  u64 outer;            // offsets of the other labels: in a, and in b << 32
  u64 rows, columns;
  segments out_batch, out_rows, out_columns, a_batch, a_rows, b_batch, b_columns, a_out, b_out;
};

DEVICE_INLINE u32 gather(const u64 *__restrict__ desc, segments list, u32 i) {
  const u64 *s = desc + list.at;
  u32 j = 0;
  for (u32 k = 0; k < (u32)list.n; k++, s += 3) j |= (i >> s[0] & (u32)s[1]) << s[2];
  return j;
}

// Offsets of term k.
struct offsets {
  u32 a, b;
};

DEVICE_INLINE offsets term(const u64 *__restrict__ desc, const einsum &e, u32 k) {
  u32 inner = (u32)e.inner, q = k < inner ? 0 : k / inner, r = k - q * inner;
  u64 o = desc[e.outer + q];
  offsets t = {(u32)o + r * (u32)e.step_a, (u32)(o >> 32) + r * (u32)e.step_b};
  return t;
}

// zkml_einsum_each: a thread does an entry.
extern "C" __global__ void __launch_bounds__(256) zkml_einsum_each(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b,
                                                                   const u64 *__restrict__ desc, u32 at, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const einsum &e = *(const einsum *)(desc + at);
  const u32 *pa = a == 0 ? 0 : a + gather(desc, e.a_out, i), *pb = b + gather(desc, e.b_out, i);
  u32 inner = (u32)e.inner, outer = (u32)e.k / inner, da = (u32)e.step_a, db = (u32)e.step_b, sum = 0;
  for (u32 q = 0; q < outer; q++) {
    u64 o = desc[e.outer + q];
    const u32 *x = pa == 0 ? 0 : pa + (u32)o, *y = pb + (o >> 32);
    for (u32 k = 0; k < inner; k++, y += db) {
      u32 v = (u32)integer(*y);
      if (x != 0) {
        v *= (u32)integer(*x);
        x += da;
      }
      sum += v;
    }
  }
  out[i] = m31_from_i32((i32)sum);
}

// zkml_einsum_dot: `warps` warps of a block do an entry.
extern "C" __global__ void __launch_bounds__(256) zkml_einsum_dot(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b,
                                                                  const u64 *__restrict__ desc, u32 at, u32 n, u32 warps) {
  __shared__ u32 parts[8];
  const einsum &e = *(const einsum *)(desc + at);
  u32 warp = threadIdx.x >> 5, lanes = 32 * warps, first = warp / warps * warps;
  u32 i = blockIdx.x * (8 / warps) + warp / warps, sum = 0;
  if (i < n) {
    const u32 *pa = a == 0 ? 0 : a + gather(desc, e.a_out, i), *pb = b + gather(desc, e.b_out, i);
    for (u32 k = threadIdx.x % lanes; k < (u32)e.k; k += lanes) {
      offsets o = term(desc, e, k);
      u32 v = (u32)integer(pb[o.b]);
      if (pa != 0) v *= (u32)integer(pa[o.a]);
      sum += v;
    }
  }
  for (u32 d = 16; d > 0; d >>= 1) sum += shfl_xor(sum, d);
  if ((threadIdx.x & 31) == 0) parts[warp] = sum;
  __syncthreads();
  if (threadIdx.x % lanes != 0 || i >= n) return;
  sum = 0;
  for (u32 w = first; w < first + warps; w++) sum += parts[w];
  out[i] = m31_from_i32((i32)sum);
}

// zkml_einsum_wide is for few rows: a block does 32 columns of one, 32 parts of
// the sum side by side.
extern "C" __global__ void __launch_bounds__(1024) zkml_einsum_wide(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b,
                                                                    const u64 *__restrict__ desc, u32 at) {
  __shared__ u32 parts[32][33];
  const einsum &e = *(const einsum *)(desc + at);
  u32 lane = threadIdx.x & 31, part = threadIdx.x >> 5, column = blockIdx.x * 32 + lane, sum = 0;
  const u32 *pa = a == 0 ? 0 : a + (gather(desc, e.a_batch, blockIdx.z) | gather(desc, e.a_rows, blockIdx.y));
  if (column < (u32)e.columns) {
    const u32 *pb = b + (gather(desc, e.b_batch, blockIdx.z) | gather(desc, e.b_columns, column));
    for (u32 k = part; k < (u32)e.k; k += 32) {
      offsets o = term(desc, e, k);
      u32 v = (u32)integer(pb[o.b]);
      sum += pa == 0 ? v : v * (u32)integer(pa[o.a]);
    }
  }
  parts[part][lane] = sum;
  __syncthreads();
  if (part != 0 || column >= (u32)e.columns) return;
  sum = 0;
  for (u32 d = 0; d < 32; d++) sum += parts[d][lane];
  u32 to = gather(desc, e.out_batch, blockIdx.z) | gather(desc, e.out_rows, blockIdx.y) | gather(desc, e.out_columns, column);
  out[to] = m31_from_i32((i32)sum);
}

// Tiles: a block does 16 H x 64 entries, 32 terms of the sum at a time from
// shared memory; a thread does H x 4 of them, and fetches its part of the next
// terms meanwhile. Threads of a warp read along the terms, or along rows and
// columns, as entries lie in memory.
#define TILE_COLUMNS 64
#define TILE_TERMS 32

struct alignas(16) quad {
  i32 v[4];
};

// at_most is gather for index i, or for the last of n if i is beyond.
DEVICE_INLINE u32 at_most(const u64 *__restrict__ desc, segments list, u32 i, u32 n) { return gather(desc, list, i < n ? i : n - 1); }

template <u32 H>
DEVICE_INLINE void einsum_tile(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b, const u64 *__restrict__ desc,
                               const einsum &e, bool along_a, bool along_b, i32 (*x)[16 * H + 1], quad (*y)[TILE_COLUMNS / 4 + 1],
                               offsets (*terms)[TILE_TERMS]) {
  const u32 R = 16 * H, NA = R / 8, NB = TILE_COLUMNS / 8;
  u32 t = threadIdx.x, lane = t & 31, warp = t >> 5, terms_n = (u32)e.k, rows = (u32)e.rows, columns = (u32)e.columns;
  u32 r0 = blockIdx.y * R, j0 = blockIdx.x * TILE_COLUMNS, sum[H][4] = {}, xs[NA], ys[NB], ra[NA], cb[NB];
  a += gather(desc, e.a_batch, blockIdx.z);
  b += gather(desc, e.b_batch, blockIdx.z);
  // The rows, columns and terms that this thread fetches: (row, term) is
  // (warp + 8 i, lane) along the terms, else (t % R, t / R + 256 / R * i).
#pragma unroll
  for (u32 i = 0; i < NA; i++) ra[i] = at_most(desc, e.a_rows, r0 + (along_a ? warp + 8 * i : t % R), rows);
#pragma unroll
  for (u32 i = 0; i < NB; i++) cb[i] = at_most(desc, e.b_columns, j0 + (along_b ? warp + 8 * i : t % TILE_COLUMNS), columns);
  // Iteration 0 only fetches.
  for (u32 c0 = 0; c0 < terms_n + TILE_TERMS; c0 += TILE_TERMS) {
    offsets *now = terms[c0 / TILE_TERMS & 1];
    if (t < TILE_TERMS && c0 + t < terms_n) now[t] = term(desc, e, c0 + t);
    if (c0 > 0) {
#pragma unroll
      for (u32 i = 0; i < NA; i++) x[along_a ? lane : t / R + 256 / R * i][along_a ? warp + 8 * i : t % R] = integer(xs[i]);
#pragma unroll
      for (u32 i = 0; i < NB; i++) {
        u32 k = along_b ? lane : t / TILE_COLUMNS + 256 / TILE_COLUMNS * i, j = along_b ? warp + 8 * i : t % TILE_COLUMNS;
        y[k][j >> 2].v[j & 3] = integer(ys[i]);
      }
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < NA; i++) {
      u32 k = along_a ? lane : t / R + 256 / R * i;
      xs[i] = c0 + k < terms_n ? a[ra[i] + now[k].a] : 0;
    }
#pragma unroll
    for (u32 i = 0; i < NB; i++) {
      u32 k = along_b ? lane : t / TILE_COLUMNS + 256 / TILE_COLUMNS * i;
      ys[i] = c0 + k < terms_n ? b[cb[i] + now[k].b] : 0;
    }
    if (c0 > 0) {
      u32 tx = t & 15, ty = t >> 4;
#pragma unroll
      for (u32 d = 0; d < TILE_TERMS; d++) {
        quad v = y[d][tx];
#pragma unroll
        for (u32 h = 0; h < H; h++) {
          i32 p = x[d][H * ty + h];
#pragma unroll
          for (u32 l = 0; l < 4; l++) sum[h][l] += (u32)p * (u32)v.v[l];
        }
      }
      __syncthreads();
    }
  }
  u32 base = gather(desc, e.out_batch, blockIdx.z), r = r0 + H * (t >> 4), j = j0 + 4 * (t & 15);
#pragma unroll
  for (u32 h = 0; h < H; h++)
#pragma unroll
    for (u32 l = 0; l < 4; l++)
      if (r + h < rows && j + l < columns)
        out[base | gather(desc, e.out_rows, r + h) | gather(desc, e.out_columns, j + l)] = m31_from_i32((i32)sum[h][l]);
}

// Bits of flags: the terms of a, or of b, lie next to each other.
#define ALONG_A 1
#define ALONG_B 2

extern "C" __global__ void __launch_bounds__(256) zkml_einsum_slim(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b,
                                                                   const u64 *__restrict__ desc, u32 at, u32 flags) {
  __shared__ i32 x[TILE_TERMS][33];
  __shared__ quad y[TILE_TERMS][TILE_COLUMNS / 4 + 1];
  __shared__ offsets terms[2][TILE_TERMS];
  einsum_tile<2>(out, a, b, desc, *(const einsum *)(desc + at), flags & ALONG_A, flags & ALONG_B, x, y, terms);
}

extern "C" __global__ void __launch_bounds__(256) zkml_einsum_tile(u32 *__restrict__ out, const u32 *__restrict__ a, const u32 *__restrict__ b,
                                                                   const u64 *__restrict__ desc, u32 at, u32 flags) {
  __shared__ i32 x[TILE_TERMS][65];
  __shared__ quad y[TILE_TERMS][TILE_COLUMNS / 4 + 1];
  __shared__ offsets terms[2][TILE_TERMS];
  einsum_tile<4>(out, a, b, desc, *(const einsum *)(desc + at), flags & ALONG_A, flags & ALONG_B, x, y, terms);
}

// ---- other operations -----------------------------------------------------------

// zkml_linear: out[i] = c + the sum of coef * in[j] over terms (place, coef,
// place of its segments, their number). j is made of the bits of i that the
// segments (from, mask, to) select.
extern "C" __global__ void __launch_bounds__(256) zkml_linear(u32 *__restrict__ out, const u32 *__restrict__ fixed, const u32 *__restrict__ live,
                                                              const u64 *__restrict__ desc, u32 terms, u32 nterms, u32 c, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 v = c;
  for (u32 k = 0; k < nterms; k++) {
    const u64 *t = desc + terms + 4 * k;
    u32 j = gather(desc, *(const segments *)(t + 2), i);
    v = m31_add(v, m31_mul((u32)t[1], place(fixed, live, t[0])[j]));
  }
  out[i] = v;
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

// zkml_rearrange: entry i comes from the place that the bits of axes which stay
// (list 0) and the chosen places of mapped groups of axes add up to.
extern "C" __global__ void __launch_bounds__(256) zkml_rearrange(u32 *__restrict__ out, const u32 *__restrict__ x, const u64 *__restrict__ desc,
                                                                 u32 at, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const u64 *head = desc + at;
  u32 from = gather(desc, *(const segments *)head, i);
  bool zero = false;
  for (u32 g = 0; g < (u32)head[2]; g++) {
    const u64 *group = head + 3 + 3 * g;
    i32 v = ((const i32 *)(desc + group[2]))[gather(desc, *(const segments *)group, i)];
    zero = zero || v < 0;
    from += v < 0 ? 0 : (u32)v;
  }
  out[i] = zero ? 0 : x[from];
}

// zkml_embed: entry i is entry i mod 2^vars of the row that a token names; 0 in
// padding.
extern "C" __global__ void __launch_bounds__(256) zkml_embed(u32 *__restrict__ out, const u32 *__restrict__ tokens, const u32 *__restrict__ w,
                                                             const u64 *__restrict__ axes, u32 naxes, u32 vars, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 t = i >> vars;
  out[i] = real_element(t, axes, naxes) ? w[((u64)tokens[t] << vars) + (i & ((1u << vars) - 1))] : 0;
}

// zkml_one_hot: entry z of token t is 1 if `bits` bits of t, from bit `first` on,
// are z, else 0.
extern "C" __global__ void __launch_bounds__(256) zkml_one_hot(u32 *__restrict__ out, const u32 *__restrict__ tokens, u32 first, u32 bits, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = (((tokens[i >> bits] >> first) ^ i) & ((1u << bits) - 1)) == 0;
}

// zkml_pair: y is the table's entry at (a, b), a domain of 2^bits integers each.
extern "C" __global__ void __launch_bounds__(256) zkml_pair(u32 *__restrict__ y, const u32 *__restrict__ a, const u32 *__restrict__ b,
                                                            const u32 *__restrict__ table, u32 bits_a, u32 bits_b, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 p = (u32)integer(a[i]) + (1u << (bits_a - 1)), q = (u32)integer(b[i]) + (1u << (bits_b - 1));
  y[i] = table[(p & ((1u << bits_a) - 1)) << bits_b | (q & ((1u << bits_b) - 1))];
}

// zkml_threshold: lo[channel] has `values` + 1 thresholds, which do not decrease;
// y is first + the last one that is at most x. d and e are the distances to the
// ends of that bucket, as limbs of 16 and 14 bits. The channel is an index of
// 2^vars above bit `shift`, 0 from `channels` on.
extern "C" __global__ void __launch_bounds__(256) zkml_threshold(u32 *__restrict__ y, u32 *__restrict__ d0, u32 *__restrict__ d1,
                                                                 u32 *__restrict__ e0, u32 *__restrict__ e1, const u32 *__restrict__ x,
                                                                 const i32 *__restrict__ lo, i32 first, u32 values, u32 channels, u32 shift,
                                                                 u32 vars, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 channel = i >> shift & ((1u << vars) - 1);
  const i32 *th = lo + (u64)(channel < channels ? channel : 0) * (values + 1);
  i32 v = integer(x[i]);
  u32 begin = 0, end = values - 1; // the first bucket that ends above v
  while (begin < end) {
    u32 m = (begin + end) / 2;
    if (th[m + 1] > v)
      end = m;
    else
      begin = m + 1;
  }
  u32 d = (u32)(v - th[begin]), e = (u32)(th[begin + 1] - 1 - v);
  y[i] = m31_from_i32(first + (i32)begin);
  d0[i] = d & 0xffff;
  d1[i] = d >> 16;
  e0[i] = e & 0xffff;
  e1[i] = e >> 16;
}

// zkml_move gives n elements another shape.
extern "C" __global__ void __launch_bounds__(256) zkml_move(u32 *__restrict__ out, const u32 *__restrict__ in, const u64 *__restrict__ from,
                                                            u32 nfrom, const u64 *__restrict__ to, u32 nto, u32 n) {
  u32 e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  out[padded_index(e, to, nto)] = in[padded_index(e, from, nfrom)];
}

// zkml_limb: w bits of v - lo from bit `shift` up.
extern "C" __global__ void __launch_bounds__(256) zkml_limb(u32 *__restrict__ out, const u32 *__restrict__ v, u32 lo, u32 shift, u32 w, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = m31_sub(v[i], lo) >> shift & ((1u << w) - 1);
}
