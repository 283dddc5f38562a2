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

// ---- runs of operations -----------------------------------------------------------
// A run is operations that every block does one after the other, on its slice of
// each tensor: the entries whose index has the block's number for its top bits.
// Whatever an operation reads of what the run has made is of the block's own slice.
// So pointers to it are neither const nor __restrict__ here: such reads may be kept
// in caches that writes do not reach.

// The words of an operation, with those of the run in shared memory: what it is and
// whether the ones before have to be done, their number, the variables of a slice,
// the place of the result. Places take two words.
#define RUN_LINEAR 0
#define RUN_LOOKUP 1
#define RUN_PAIR 2
#define RUN_THRESHOLD 3
#define RUN_REARRANGE 4
#define RUN_EMBED 5
#define RUN_MOVE 6
#define RUN_SUM 7
#define RUN_BARRIER 0x100

struct memory {
  const u32 *fixed;
  u32 *live;
  const u64 *desc;
};

DEVICE_INLINE u32 *run_place(const memory &m, const u32 *w) {
  u64 at = (u64)w[1] << 32 | w[0];
  return at == NOWHERE ? (u32 *)0 : (u32 *)place(m.fixed, m.live, at);
}

// run_gather makes an index of bits of i: w is the number of segments, then for each
// where its bits come from, how many they are and where they go, a byte each.
DEVICE_INLINE u32 run_gather(const u32 *w, u32 i) {
  u32 n = w[0], j = 0;
  for (u32 k = 1; k <= n; k++) j |= (i >> (w[k] & 0xff) & ((1u << (w[k] >> 8 & 0xff)) - 1)) << (w[k] >> 16);
  return j;
}

// out = w[0] + the sum of w[1] terms: place, coefficient, segments.
DEVICE_INLINE u32 run_linear(const memory &m, const u32 *w, u32 i) {
  u32 v = w[0], n = w[1];
  w += 2;
  for (u32 k = 0; k < n; k++, w += 4 + w[3]) v = m31_add(v, m31_mul(w[2], run_place(m, w)[run_gather(w + 3, i)]));
  return v;
}

// x + half = 2^shift q + r with 0 <= r < 2^shift; y is entry q + first of the table.
DEVICE_INLINE u32 run_lookup(const memory &m, const u32 *w, u32 i) {
  u32 *rem = run_place(m, w), shift = w[7];
  i32 acc = integer(run_place(m, w + 2)[i]) + (i32)w[6], row = (acc >> shift) + (i32)w[8], size = (i32)w[9];
  if (rem != 0) rem[i] = (u32)acc & ((1u << shift) - 1);
  return run_place(m, w + 4)[row < 0 ? 0 : row >= size ? size - 1 : row];
}

// y is the table's entry at (a, b), a domain of 2^w[6] and one of 2^w[7] integers.
DEVICE_INLINE u32 run_pair(const memory &m, const u32 *w, u32 i) {
  u32 bits_a = w[6], bits_b = w[7];
  u32 p = (u32)integer(run_place(m, w)[i]) + (1u << (bits_a - 1)), q = (u32)integer(run_place(m, w + 2)[i]) + (1u << (bits_b - 1));
  return run_place(m, w + 4)[(p & ((1u << bits_a) - 1)) << bits_b | (q & ((1u << bits_b) - 1))];
}

// lo[channel] has `values` + 1 thresholds, which do not decrease; y is first + the
// last one that is at most x. d and e are the distances to the ends of that bucket,
// as limbs of 16 and 14 bits. The channel is an index of 2^vars above bit `shift`, 0
// from `channels` on.
DEVICE_INLINE u32 run_threshold(const memory &m, const u32 *w, u32 i) {
  u32 values = w[12], channels = w[13], channel = i >> w[14] & ((1u << w[15]) - 1);
  const i32 *th = (const i32 *)(m.desc + w[10]) + (u64)(channel < channels ? channel : 0) * (values + 1);
  i32 v = integer(run_place(m, w + 8)[i]);
  u32 begin = 0, end = values - 1; // the first bucket that ends above v
  while (begin < end) {
    u32 middle = (begin + end) / 2;
    if (th[middle + 1] > v)
      end = middle;
    else
      begin = middle + 1;
  }
  u32 d = (u32)(v - th[begin]), e = (u32)(th[begin + 1] - 1 - v);
  run_place(m, w)[i] = d & 0xffff;
  run_place(m, w + 2)[i] = d >> 16;
  run_place(m, w + 4)[i] = e & 0xffff;
  run_place(m, w + 6)[i] = e >> 16;
  return m31_from_i32((i32)w[11] + (i32)begin);
}

// Entry i comes from the place that the bits of axes which stay and the chosen places
// of mapped groups of axes add up to.
DEVICE_INLINE u32 run_rearrange(const memory &m, const u32 *w, u32 i) {
  const u32 *x = run_place(m, w);
  u32 from = run_gather(w + 2, i);
  bool zero = false;
  w += 3 + w[2];
  u32 groups = *w++;
  for (u32 g = 0; g < groups; g++, w += 2 + w[1]) {
    i32 v = ((const i32 *)(m.desc + w[0]))[run_gather(w + 1, i)];
    zero = zero || v < 0;
    from += v < 0 ? 0 : (u32)v;
  }
  return zero ? 0 : x[from];
}

// Entry i is entry i mod 2^vars of the row that a token names; 0 in padding.
DEVICE_INLINE u32 run_embed(const memory &m, const u32 *w, u32 i) {
  u32 vars = w[6], t = i >> vars;
  return real_element(t, m.desc + w[4], w[5]) ? run_place(m, w + 2)[((u64)run_place(m, w)[t] << vars) + (i & ((1u << vars) - 1))] : 0;
}

// Elements that get another shape; 0 in padding.
DEVICE_INLINE u32 run_move(const memory &m, const u32 *w, u32 i) {
  const u64 *axes = m.desc + w[4];
  u32 element = 0, stride = 1, left = i;
  for (u32 a = 0; a < w[5]; a++) {
    u32 vars = (u32)axes[2 * a], extent = (u32)axes[2 * a + 1], at = left & ((1u << vars) - 1);
    if (at >= extent) return 0;
    element += at * stride;
    stride *= extent;
    left >>= vars;
  }
  return run_place(m, w)[padded_index(element, m.desc + w[2], w[3])];
}

// The terms first, first + by, first + 2 by .. of a sum of products: lanes, a (or
// nowhere, for ones), b, then terms of the sum, those of the innermost label, that
// label's steps, the place of the offsets of the other labels, segments of a and b.
DEVICE_INLINE u32 run_sum(const memory &m, const u32 *w, u32 i, u32 first, u32 by) {
  const u32 *a = run_place(m, w + 1), *b = run_place(m, w + 3);
  const u64 *outer = m.desc + w[9];
  u32 n = w[5], inner = w[6], da = w[7], db = w[8], sum = 0;
  b += run_gather(w + 11 + w[10], i);
  if (a != 0) a += run_gather(w + 10, i);
  if (by == 1) {
    for (u32 q = 0; q < n / inner; q++) {
      const u32 *x = a == 0 ? a : a + (u32)outer[q], *y = b + (outer[q] >> 32);
      if (a == 0) {
#pragma unroll 8
        for (u32 k = 0; k < inner; k++) sum += (u32)integer(y[k * db]);
      } else {
#pragma unroll 8
        for (u32 k = 0; k < inner; k++) sum += (u32)integer(y[k * db]) * (u32)integer(x[k * da]);
      }
    }
    return sum;
  }
#pragma unroll 4
  for (u32 k = first; k < n; k += by) {
    u32 q = k < inner ? 0 : k / inner, r = k - q * inner;
    u64 o = outer[q];
    u32 v = (u32)integer(b[(o >> 32) + r * db]);
    if (a != 0) v *= (u32)integer(a[(u32)o + r * da]);
    sum += v;
  }
  return sum;
}

// zkml_run does `jobs` runs: the first block of each with the number of its words
// << 32, and the place of these, in order. Operations of one level begin with the
// warp after the one before's last, so that small ones are done side by side.
extern "C" __global__ void __launch_bounds__(1024) zkml_run(const u32 *fixed, u32 *live, const u64 *desc, u32 jobs, u32 njobs) {
  SHARED_DYNAMIC(u32, code);
  __shared__ u32 parts[32];
  const memory m = {fixed, live, desc};
  u32 job = 0, t = threadIdx.x, all = blockDim.x, turn = 0;
  for (u32 above = njobs; above - job > 1;) {
    u32 middle = (job + above) / 2;
    if ((u32)desc[jobs + 2 * middle] <= blockIdx.x) job = middle;
    else above = middle;
  }
  u64 head = desc[jobs + 2 * job];
  u32 block = blockIdx.x - (u32)head, words = (u32)(head >> 32);
  const u32 *from = (const u32 *)(desc + desc[jobs + 2 * job + 1]);
  for (u32 k = t; k < words; k += all) code[k] = from[k];
  __syncthreads();
  for (u32 at = 0; at < words; at += code[at + 1]) {
    const u32 *w = code + at;
    u32 kind = w[0] & 0xff, n = 1u << w[2], base = block << w[2];
    u32 *out = run_place(m, w + 3);
    if (w[0] & RUN_BARRIER) {
      __syncthreads();
      turn = 0;
    }
    w += 5;
    u32 begin = (t - turn) & (all - 1);
#define RUN_EACH(f)                                        \
  for (u32 i = begin; i < n; i += all) out[base + i] = f(m, w, base + i)
    if (kind == RUN_SUM && w[0] == 0) { // all threads make an entry
      for (u32 i = 0; i < n; i++) {
        u32 sum = run_sum(m, w, base + i, t, all);
        for (u32 d = 16; d > 0; d >>= 1) sum += shfl_xor(sum, d);
        if ((t & 31) == 0) parts[t >> 5] = sum;
        __syncthreads();
        if (t == 0) {
          for (u32 k = 1; k < all / 32; k++) sum += parts[k];
          out[base + i] = m31_from_i32((i32)sum);
        }
        __syncthreads();
      }
      turn = 0;
      continue;
    }
    if (kind == RUN_SUM && w[0] > 1) { // a warp
      for (u32 i = begin >> 5; i < n; i += all >> 5) {
        u32 sum = run_sum(m, w, base + i, t & 31, 32);
        for (u32 d = 16; d > 0; d >>= 1) sum += shfl_xor(sum, d);
        if ((t & 31) == 0) out[base + i] = m31_from_i32((i32)sum);
      }
      turn = (turn + 32 * n) & (all - 1);
      continue;
    }
    switch (kind) {
    case RUN_LINEAR: RUN_EACH(run_linear); break;
    case RUN_LOOKUP: RUN_EACH(run_lookup); break;
    case RUN_PAIR: RUN_EACH(run_pair); break;
    case RUN_THRESHOLD: RUN_EACH(run_threshold); break;
    case RUN_REARRANGE: RUN_EACH(run_rearrange); break;
    case RUN_EMBED: RUN_EACH(run_embed); break;
    case RUN_MOVE: RUN_EACH(run_move); break;
    default:
      for (u32 i = begin; i < n; i += all) out[base + i] = m31_from_i32((i32)run_sum(m, w, base + i, 0, 1));
    }
#undef RUN_EACH
    turn = (turn + ((n + 31) & ~31u)) & (all - 1);
  }
}

// ---- other operations -----------------------------------------------------------

// zkml_one_hot: entry z of token t is 1 if `bits` bits of t, from bit `first` on,
// are z, else 0.
extern "C" __global__ void __launch_bounds__(256) zkml_one_hot(u32 *__restrict__ out, const u32 *__restrict__ tokens, u32 first, u32 bits, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = (((tokens[i >> bits] >> first) ^ i) & ((1u << bits) - 1)) == 0;
}

// zkml_limb: w bits of v - lo from bit `shift` up.
extern "C" __global__ void __launch_bounds__(256) zkml_limb(u32 *__restrict__ out, const u32 *__restrict__ v, u32 lo, u32 shift, u32 w, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = m31_sub(v[i], lo) >> shift & ((1u << w) - 1);
}
