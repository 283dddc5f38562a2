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

// at_most is gather for index i, or for the last of n if i is beyond.
DEVICE_INLINE u32 at_most(const u64 *__restrict__ desc, segments list, u32 i, u32 n) { return gather(desc, list, i < n ? i : n - 1); }

// Products on matrix instructions. A block makes 64 x 64 entries, or the part of
// their sums that some of the terms give, 64 terms at a time: integers are written
// as balanced digits to base 256, products of digits i and j are exact sums for
// 256^(i + j), and all of it is modulo 2^32, which the bounds of the result allow.
// Digits of four terms are a word. A thread fetches its part of the next terms
// meanwhile; threads of a warp read along the terms, or along rows and columns, as
// entries lie in memory.
#define PRODUCT_TILE 64
#define PRODUCT_TERMS 64
#define PRODUCT_WORDS (PRODUCT_TERMS / 4)
#define PRODUCT_LINE (PRODUCT_WORDS + 4)          // so that a fragment's words are in 32 banks
#define PRODUCT_PLANE (PRODUCT_TILE * PRODUCT_LINE) // words of one digit of all lines
#define PRODUCT_DIGITS 4

struct product {
  u64 first;                // block
  u64 out, a, b;            // places
  u64 at;                   // of struct einsum
  u64 column_tiles, row_tiles;
  u64 splits, steps;        // parts of a sum, each of so many times 64 terms
  u64 tile;                 // the first one's number among those with several parts
  u64 digits_a, digits_b;
  u64 along;                // bits: four terms of a, or of b, are four words in a row
};

// product_side is what a thread fetches of an operand: words w of lines l, for
// four pairs (l, w).
struct product_side {
  u32 lines[4];
  u32 words[4][4];
};

DEVICE_INLINE u32 product_line(bool along, u32 i) { return along ? threadIdx.x / PRODUCT_WORDS + 16 * i : threadIdx.x % PRODUCT_TILE; }

DEVICE_INLINE u32 product_word(bool along, u32 i) { return along ? threadIdx.x % PRODUCT_WORDS : threadIdx.x / PRODUCT_TILE + 4 * i; }

// product_fetch reads terms c0 and so on, zeros from `end` on; offsets are the terms'.
DEVICE_INLINE void product_fetch(product_side &p, const u32 *__restrict__ from, const u32 *offsets, bool along, u32 c0, u32 end) {
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    u32 k = 4 * product_word(along, i);
    if (along) {
      uint4 v = make_uint4(0, 0, 0, 0);
      if (c0 + k < end) v = *(const uint4 *)(from + p.lines[i] + offsets[k]);
      p.words[i][0] = v.x;
      p.words[i][1] = v.y;
      p.words[i][2] = v.z;
      p.words[i][3] = v.w;
    } else {
#pragma unroll
      for (u32 e = 0; e < 4; e++) p.words[i][e] = c0 + k + e < end ? from[p.lines[i] + offsets[k + e]] : 0;
    }
  }
}

// product_put writes what was fetched as digits.
template <u32 N> DEVICE_INLINE void product_put(u32 *to, const product_side &p, bool along) {
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    u32 *word = to + product_line(along, i) * PRODUCT_LINE + product_word(along, i);
    i32 v[4];
#pragma unroll
    for (u32 e = 0; e < 4; e++) v[e] = integer(p.words[i][e]);
#pragma unroll
    for (u32 d = 0; d < N; d++) {
      word[d * PRODUCT_PLANE] = byte_permute(byte_permute((u32)v[0], (u32)v[1], 0x0040), byte_permute((u32)v[2], (u32)v[3], 0x0040), 0x5410);
#pragma unroll
      for (u32 e = 0; e < 4; e++) v[e] = (v[e] + 128) >> 8;
    }
  }
}

// product_tile adds to sums the products of the terms from `begin` to `end`: lane
// 4 g + t of a warp has of each 16 x 8 entries those of rows g and g + 8, columns 2 t
// and 2 t + 1; warps have 16 rows and 32 columns.
template <u32 DA, u32 DB>
DEVICE_LARGE void product_tile(u32 (&sums)[4][4], const u32 *__restrict__ a, const u32 *__restrict__ b, const u64 *__restrict__ desc, const einsum &e,
                               u32 r0, u32 j0, u32 begin, u32 end, bool along_a, bool along_b, u32 *x, u32 *y, u32 (*terms)[2][PRODUCT_TERMS]) {
  const u32 classes = DA + DB - 1 < PRODUCT_DIGITS ? DA + DB - 1 : PRODUCT_DIGITS;
  u32 t = threadIdx.x, g = (t & 31) >> 2, q = t & 3, row = (t >> 5 & 3) * 16 + g, column = (t >> 7) * 32 + g;
  i32 d[classes][4][4] = {};
  product_side pa, pb;
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    pa.lines[i] = at_most(desc, e.a_rows, r0 + product_line(along_a, i), (u32)e.rows);
    pb.lines[i] = at_most(desc, e.b_columns, j0 + product_line(along_b, i), (u32)e.columns);
  }
  // The first time it only fetches.
  for (u32 c0 = begin; c0 < end + PRODUCT_TERMS; c0 += PRODUCT_TERMS) {
    u32(*now)[PRODUCT_TERMS] = terms[(c0 - begin) / PRODUCT_TERMS & 1];
    if (t < PRODUCT_TERMS && c0 + t < end) {
      offsets o = term(desc, e, c0 + t);
      now[0][t] = o.a;
      now[1][t] = o.b;
    }
    if (c0 > begin) {
      product_put<DA>(x, pa, along_a);
      product_put<DB>(y, pb, along_b);
    }
    __syncthreads();
    product_fetch(pa, a, now[0], along_a, c0, end);
    product_fetch(pb, b, now[1], along_b, c0, end);
    if (c0 > begin) {
#pragma unroll
      for (u32 s = 0; s < PRODUCT_WORDS; s += 8) {
        u32 u[DA][4];
#pragma unroll
        for (u32 i = 0; i < DA; i++) {
          const u32 *from = x + i * PRODUCT_PLANE + row * PRODUCT_LINE + s + q;
          u[i][0] = from[0];
          u[i][1] = from[8 * PRODUCT_LINE];
          u[i][2] = from[4];
          u[i][3] = from[8 * PRODUCT_LINE + 4];
        }
#pragma unroll
        for (u32 n = 0; n < 4; n++)
#pragma unroll
          for (u32 j = 0; j < DB; j++) {
            const u32 *from = y + j * PRODUCT_PLANE + (column + 8 * n) * PRODUCT_LINE + s + q;
            u32 v[2] = {from[0], from[4]};
#pragma unroll
            for (u32 i = 0; i < DA; i++)
              if (i + j < PRODUCT_DIGITS) mma_s8(d[i + j][n], u[i], v);
          }
      }
      __syncthreads();
    }
  }
#pragma unroll
  for (u32 n = 0; n < 4; n++)
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      sums[n][k] = 0;
#pragma unroll
      for (u32 c = 0; c < classes; c++) sums[n][k] += (u32)d[c][n][k] << (8 * c);
    }
}

// zkml_products makes `n` products. Sums in several parts are added up in `parts`,
// 64 x 64 for each tile, which is all zeros before and after, as is `counts`, a word
// for each tile; the block that comes last writes the result.
extern "C" __global__ void __launch_bounds__(256, 2) zkml_products(const u32 *__restrict__ fixed, u32 *live, const u64 *__restrict__ desc, u32 jobs,
                                                                   u32 n, u32 *parts, u32 *counts) {
  __shared__ u32 x[PRODUCT_DIGITS * PRODUCT_PLANE], y[PRODUCT_DIGITS * PRODUCT_PLANE], terms[2][2][PRODUCT_TERMS];
  __shared__ bool last;
  const product *p = (const product *)(desc + jobs);
  u32 job = 0, t = threadIdx.x;
  for (u32 above = n; above - job > 1;) {
    u32 middle = (job + above) / 2;
    if ((u32)p[middle].first <= blockIdx.x) job = middle;
    else above = middle;
  }
  p += job;
  const einsum &e = *(const einsum *)(desc + p->at);
  u32 block = blockIdx.x - (u32)p->first, splits = (u32)p->splits, part = block % splits, tile = block / splits;
  u32 wide = (u32)p->column_tiles, high = (u32)p->row_tiles, j0 = tile % wide * PRODUCT_TILE, r0 = tile / wide % high * PRODUCT_TILE;
  u32 batch = tile / wide / high, step = PRODUCT_TERMS * (u32)p->steps, begin = part * step;
  u32 end = begin + step < (u32)e.k ? begin + step : (u32)e.k, da = (u32)p->digits_a, db = (u32)p->digits_b;
  bool along_a = p->along & 1, along_b = p->along >> 1 & 1;
  const u32 *a = place(fixed, live, p->a) + gather(desc, e.a_batch, batch), *b = place(fixed, live, p->b) + gather(desc, e.b_batch, batch);
  u32 sums[4][4];
#define PRODUCT(DA, DB) product_tile<DA, DB>(sums, a, b, desc, e, r0, j0, begin, end, along_a, along_b, x, y, terms)
  if (da == 1 && db == 1) PRODUCT(1, 1);
  else if (da == 1 && db == 2) PRODUCT(1, 2);
  else if (da == 2 && db == 1) PRODUCT(2, 1);
  else if (da == 2 && db == 2) PRODUCT(2, 2);
  else PRODUCT(4, 4);
#undef PRODUCT
  if (splits > 1) {
    tile += (u32)p->tile;
    u32 *mine = parts + tile * (PRODUCT_TILE * PRODUCT_TILE) + t;
#pragma unroll
    for (u32 i = 0; i < 16; i++) atomicAdd(&mine[256 * i], sums[i / 4][i % 4]);
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(&counts[tile], 1u) == splits - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
#pragma unroll
    for (u32 i = 0; i < 16; i++) sums[i / 4][i % 4] = atomicExch(&mine[256 * i], 0u);
    if (t == 0) counts[tile] = 0;
  }
  u32 *out = live + (p->out & ~(1ull << 63)) + gather(desc, e.out_batch, batch);
  u32 row = r0 + (t >> 5 & 3) * 16 + ((t & 31) >> 2), column = j0 + (t >> 7) * 32 + 2 * (t & 3);
#pragma unroll
  for (u32 h = 0; h < 2; h++) {
    if (row + 8 * h >= (u32)e.rows) continue;
    u32 line = gather(desc, e.out_rows, row + 8 * h);
#pragma unroll
    for (u32 i = 0; i < 4; i++)
#pragma unroll
      for (u32 k = 0; k < 2; k++)
        if (column + 8 * i + k < (u32)e.columns) out[line | gather(desc, e.out_columns, column + 8 * i + k)] = m31_from_i32((i32)sums[i][2 * h + k]);
  }
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
