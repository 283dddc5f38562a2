// Restrictions of many matrices in one launch: sums of a matrix's rows or
// columns by weights in QM31. A block works on one tile of one matrix and writes
// the tile's share of its results; mle_restrict_sum adds the shares up.
//
// All products are the tensor cores'. A word of M31 is four signed digits to the
// base 256, so that a weight is sixteen signed bytes, and sums of products of
// bytes, which are exact, make up the sums sought. What the card's memory gives
// in a microsecond would otherwise be more multiplications than it can do.
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"
#include "mle/prover/weights.cuh"

// SEGMENT is how many weights a block holds at a time: eight a thread.
#define SEGMENT 2048

// mle_job is one restriction; package prover fills it in.
struct mle_job {
  const void *a;            // rows x cols, row by row
  const qm31 *table, *point; // the weights, or the point whose eq they are
  qm31 *parts;              // splits x used
  qm31 *out;                // length, of which `used` are results and the rest zeros
  u64 rows, cols, vars;     // vars: coordinates of the point
  u64 tile;                 // weights of a tile
  u64 across, first;        // tiles along the results; the job's first tile
  u64 used, length, splits;
  u64 sum_first, sum_lanes; // mle_restrict_sum: the first block, threads a result
  u64 aligned;              // rows begin at multiples of 16 bytes
  u64 along;                // results of a tile
};

// place is a block's tile: results from `at` on, weights in [from, to).
struct tile_place {
  const mle_job *job;
  u32 at, split, from, to;
};

// find_tile gives all threads of the block its tile.
DEVICE_INLINE tile_place find_tile(const mle_job *jobs, u32 count, u32 weights_are_rows) {
  __shared__ u32 found;
  for (u32 j = threadIdx.x; j < count; j += blockDim.x)
    if (jobs[j].first <= blockIdx.x && (j + 1 == count || blockIdx.x < jobs[j + 1].first)) found = j;
  __syncthreads();
  tile_place p;
  p.job = jobs + found;
  u32 local = blockIdx.x - (u32)p.job->first, across = (u32)p.job->across, tile = (u32)p.job->tile;
  u32 weights = (u32)(weights_are_rows ? p.job->rows : p.job->cols);
  p.split = local / across;
  p.at = (local - p.split * across) * (u32)p.job->along;
  p.from = p.split * tile;
  p.to = weights - p.from < tile ? weights : p.from + tile;
  return p;
}

// ---- bytes -------------------------------------------------------------------

// digits is a word of M31, taken between -2^30 and 2^30, as four signed bytes.
DEVICE_INLINE u32 digits(u32 v) {
  u32 s = v >> 30 ? v - M31_P : v;
  return (s + 0x808080u) ^ 0x808080u;
}

// from_digits is the residue of d0 + 2^8 d1 + 2^16 d2 + 2^24 d3, for any sums.
DEVICE_INLINE u32 from_digits(i32 d0, i32 d1, i32 d2, i32 d3) {
  i64 v = (i64)d0 + (i64)d1 * (1 << 8) + (i64)d2 * (1 << 16) + (i64)d3 * (1 << 24);
  return m31_reduce((u64)(v + ((i64)M31_P << 27)));
}

// transpose turns four words of four bytes: byte i of word j becomes byte j of word i.
DEVICE_INLINE void transpose(u32 (&m)[4], u32 a, u32 b, u32 c, u32 d) {
  u32 ab = byte_permute(a, b, 0x5140), ab2 = byte_permute(a, b, 0x7362);
  u32 cd = byte_permute(c, d, 0x5140), cd2 = byte_permute(c, d, 0x7362);
  m[0] = byte_permute(ab, cd, 0x5410);
  m[1] = byte_permute(ab, cd, 0x7632);
  m[2] = byte_permute(ab2, cd2, 0x5410);
  m[3] = byte_permute(ab2, cd2, 0x7632);
}

// load_bytes is the 16 bytes at p. Of these the first `left` are the row's; what
// the others are does not matter, but they are not read beyond their word.
template <bool ALIGNED> DEVICE_INLINE uint4 load_bytes(const i8 *p, i32 left) {
  uint4 v = make_uint4(0, 0, 0, 0);
  if (left <= 0) return v;
  if (ALIGNED) return ldg(reinterpret_cast<const uint4 *>(p));
  u32 off = (u32)(u64)p & 3, words = (off + (left < 16 ? (u32)left : 16) + 3) >> 2;
  const u32 *q = reinterpret_cast<const u32 *>(p - off);
  u32 w[5];
#pragma unroll
  for (u32 i = 0; i < 5; i++) w[i] = i < words ? ldg(q + i) : 0;
  v.x = funnel_right(w[0], w[1], 8 * off);
  v.y = funnel_right(w[1], w[2], 8 * off);
  v.z = funnel_right(w[2], w[3], 8 * off);
  v.w = funnel_right(w[3], w[4], 8 * off);
  return v;
}

// Columns of bytes: a warp does 32 rows, with rows as the rows of its matrix
// products and digits as their eight columns, twice. Column 2q + (l & 1) of
// product l >> 1 is digit l of word q, so that a lane ends with whole words.
// The order of summation is free: lane 4g + t takes 16 bytes of row g in one
// load, and the digits lie in shared memory in the same order.
DEVICE_INLINE void column_digits(uint4 *shared, const mle_job *job, u32 x, u32 to) {
  qm31 w[8];
  weights_eight(w, job->table, job->point, (u32)job->vars, x + 8 * threadIdx.x, to);
  u32 step = threadIdx.x >> 3, t = threadIdx.x >> 1 & 3, half = threadIdx.x & 1;
  uint2 *place = reinterpret_cast<uint2 *>(shared);
#pragma unroll
  for (u32 q = 0; q < 4; q++) {
    u32 m[4], n[4];
    transpose(m, digits(w[0].x[q]), digits(w[1].x[q]), digits(w[2].x[q]), digits(w[3].x[q]));
    transpose(n, digits(w[4].x[q]), digits(w[5].x[q]), digits(w[6].x[q]), digits(w[7].x[q]));
#pragma unroll
    for (u32 l = 0; l < 4; l++) place[((step * 2 + (l >> 1)) * 32 + 4 * (2 * q + (l & 1)) + t) * 2 + half] = make_uint2(m[l], n[l]);
  }
}

template <bool ALIGNED>
DEVICE_INLINE void column_steps(i32 (&acc)[2][2][4], const i8 *p, i32 rows, u32 cols, i32 left, u32 steps, const uint4 *shared) {
  u64 down = 8 * (u64)cols;
#pragma unroll (ALIGNED ? 2 : 1)
  for (u32 s = 0; s < steps; s++, p += 64, left -= 64) {
    uint4 v[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) v[i] = load_bytes<ALIGNED>(p + i * down, (i32)(8 * i) < rows ? left : 0);
#pragma unroll
    for (u32 n = 0; n < 2; n++) {
      uint4 d = shared[(2 * s + n) * 32 + lane_id()];
      u32 b0[2] = {d.x, d.y}, b1[2] = {d.z, d.w};
#pragma unroll
      for (u32 r = 0; r < 2; r++) {
        u32 a0[4] = {v[2 * r].x, v[2 * r + 1].x, v[2 * r].y, v[2 * r + 1].y};
        u32 a1[4] = {v[2 * r].z, v[2 * r + 1].z, v[2 * r].w, v[2 * r + 1].w};
        mma_s8(acc[r][n], a0, b0);
        mma_s8(acc[r][n], a1, b1);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) mle_restrict_cols_bytes(const mle_job *jobs, u32 count) {
  __shared__ uint4 shared[SEGMENT];
  tile_place tile = find_tile(jobs, count, 0);
  const mle_job *job = tile.job;
  u32 lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  u32 rows = (u32)job->rows, cols = (u32)job->cols, end = tile.at + (u32)job->along, n = tile.to - tile.from;
  column_digits(shared, job, tile.from, tile.to);
  __syncthreads();
  u32 *out = reinterpret_cast<u32 *>(job->parts + (u64)tile.split * rows);
#pragma unroll 1
  for (u32 row = tile.at + (threadIdx.x >> 5) * 32; row < end && row < rows; row += 256) {
    i32 acc[2][2][4] = {};
    i32 down = (i32)(rows - row) - (i32)g, left = (i32)n - (i32)(16 * t);
    const i8 *a = reinterpret_cast<const i8 *>(job->a) + (u64)(row + g) * cols + tile.from + 16 * t;
    if (job->aligned)
      column_steps<true>(acc, a, down, cols, left, (n + 63) / 64, shared);
    else
      column_steps<false>(acc, a, down, cols, left, (n + 63) / 64, shared);
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      u32 k = row + g + 8 * i, r = i >> 1, h = 2 * (i & 1);
      if (k < rows) out[4 * (u64)k + t] = from_digits(acc[r][0][h], acc[r][0][h + 1], acc[r][1][h], acc[r][1][h + 1]);
    }
  }
}

// Rows of bytes: a warp does 128 columns, which are the eight columns of sixteen
// matrix products, and digits are the products' rows: row r is digit
// (r >> 2 & 1) + 2 (r >> 3) of word r & 3. Lane 4g + t loads 16 columns of four
// rows twice and turns them, so that a word holds four rows of one column.
DEVICE_INLINE void row_digits(uint4 *shared, const mle_job *job, u32 x, u32 to) {
  qm31 w[8];
  weights_eight(w, job->table, job->point, (u32)job->vars, x + 8 * threadIdx.x, to);
  u32 step = threadIdx.x >> 2, half = threadIdx.x >> 1 & 1, t = (threadIdx.x & 1) * 2;
  u32 *place = reinterpret_cast<u32 *>(shared);
#pragma unroll
  for (u32 q = 0; q < 4; q++)
#pragma unroll
    for (u32 k = 0; k < 2; k++) {
      u32 m[4];
      transpose(m, digits(w[4 * k].x[q]), digits(w[4 * k + 1].x[q]), digits(w[4 * k + 2].x[q]), digits(w[4 * k + 3].x[q]));
#pragma unroll
      for (u32 l = 0; l < 4; l++) place[(step * 32 + 4 * (q + 4 * (l & 1)) + t + k) * 4 + 2 * half + (l >> 1)] = m[l];
    }
}

template <bool ALIGNED>
DEVICE_INLINE void row_steps(i32 (&acc)[16][4], const i8 *a, u32 row, u32 to, u32 cols, i32 left, u32 steps, const uint4 *shared) {
  u32 t = lane_id() & 3;
  for (u32 s = 0; s < steps; s++, row += 32) {
    uint4 v[8];
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
      u32 k = row + 4 * t + (i & 3) + 16 * (i >> 2);
      v[i] = load_bytes<ALIGNED>(a + (u64)(k < to ? k : to - 1) * cols, left);
    }
    uint4 d = shared[s * 32 + lane_id()];
    u32 digit[4] = {d.x, d.y, d.z, d.w};
#define ROW_PRODUCTS(c, part)                                                                      \
  do {                                                                                             \
    u32 lo[4], hi[4];                                                                              \
    transpose(lo, v[0].part, v[1].part, v[2].part, v[3].part);                                     \
    transpose(hi, v[4].part, v[5].part, v[6].part, v[7].part);                                     \
    _Pragma("unroll") for (u32 k = 0; k < 4; k++) {                                                \
      u32 b[2] = {lo[k], hi[k]};                                                                   \
      mma_s8(acc[4 * c + k], digit, b);                                                            \
    }                                                                                              \
  } while (0)
    ROW_PRODUCTS(0, x);
    ROW_PRODUCTS(1, y);
    ROW_PRODUCTS(2, z);
    ROW_PRODUCTS(3, w);
#undef ROW_PRODUCTS
  }
}

extern "C" __global__ void __launch_bounds__(256) mle_restrict_rows_bytes(const mle_job *jobs, u32 count) {
  __shared__ uint4 shared[SEGMENT];
  tile_place tile = find_tile(jobs, count, 1);
  const mle_job *job = tile.job;
  u32 lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  u32 cols = (u32)job->cols, column = tile.at + (threadIdx.x >> 5) * 128;
  row_digits(shared, job, tile.from, tile.to);
  __syncthreads();
  if (column >= cols) return;
  i32 acc[16][4] = {};
  u32 n = tile.to - tile.from;
  i32 left = (i32)(cols - column) - (i32)(16 * g);
  const i8 *a = reinterpret_cast<const i8 *>(job->a) + column + 16 * g;
  if (job->aligned)
    row_steps<true>(acc, a, tile.from, tile.to, cols, left, (n + 31) / 32, shared);
  else
    row_steps<false>(acc, a, tile.from, tile.to, cols, left, (n + 31) / 32, shared);
  // Lane 4g + t has digits (g >> 2) and (g >> 2) + 2 of word g & 3, of columns
  // 32t + s and 32t + 16 + s; its partner, 16 lanes on, the other two digits.
  u32 *out = reinterpret_cast<u32 *>(job->parts + (u64)tile.split * cols);
  u32 upper = g >> 2;
#pragma unroll
  for (u32 s = 0; s < 16; s++) {
    i64 first = (i64)acc[s][0] + (i64)acc[s][2] * (1 << 16), second = (i64)acc[s][1] + (i64)acc[s][3] * (1 << 16);
    i64 mine = upper ? second : first, theirs = (i64)shfl_xor((u64)(upper ? first : second), 16);
    i64 v = upper ? theirs + mine * (1 << 8) : mine + theirs * (1 << 8);
    u32 k = column + 32 * t + 16 * upper + s;
    if (k < cols) out[4 * (u64)k + (g & 3)] = m31_reduce((u64)(v + ((i64)M31_P << 27)));
  }
}

// ---- words of M31 -------------------------------------------------------------
//
// The digits of a word of the matrix are four neighbours in the sum, and the
// products a_d w_l belong to the power d + l of 256, of which there are seven.
// So a lane whose column (or row) of the matrix product is the power e pairs
// digit d with digit e - d of the weight, or with 0 where there is none.

// powers picks those digits of a weight for power e: byte d of the result.
DEVICE_INLINE u32 power_selector(u32 e) {
  u32 sel = 0;
  for (u32 d = 0; d < 4; d++) sel |= (e >= d && e - d < 4 ? e - d : 4) << (4 * d);
  return sel;
}

template <bool ALIGNED> DEVICE_INLINE uint4 load_words(const u32 *p, i32 left) {
  uint4 v = make_uint4(0, 0, 0, 0);
  if (ALIGNED) {
    if (left > 0) v = ldg(reinterpret_cast<const uint4 *>(p));
    return v;
  }
  if (left > 0) v.x = ldg(p);
  if (left > 1) v.y = ldg(p + 1);
  if (left > 2) v.z = ldg(p + 2);
  if (left > 3) v.w = ldg(p + 3);
  return v;
}

// word_digits leaves the digits of weight x's four words in shared[x].
DEVICE_INLINE void word_digits(uint4 *shared, const mle_job *job, u32 x, u32 to) {
  qm31 w[8];
  weights_eight(w, job->table, job->point, (u32)job->vars, x + 8 * threadIdx.x, to);
#pragma unroll
  for (u32 i = 0; i < 8; i++)
    shared[8 * threadIdx.x + i] = make_uint4(digits(w[i].x[0]), digits(w[i].x[1]), digits(w[i].x[2]), digits(w[i].x[3]));
}

// Columns of words: a warp does 32 rows; each word of the weights has a matrix
// product of its own, with powers as columns.
template <bool ALIGNED>
DEVICE_INLINE void word_column_steps(i32 (&acc)[2][4][4], const u32 *p, i32 rows, u32 cols, i32 left, u32 steps, const uint4 *shared) {
  u64 down = 8 * (u64)cols;
  u32 sel = power_selector(lane_id() >> 2);
  const uint4 *w = shared + 4 * (lane_id() & 3);
#pragma unroll (ALIGNED ? 2 : 1)
  for (u32 s = 0; s < steps; s++, p += 16, left -= 16, w += 16) {
    uint4 v[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) v[i] = load_words<ALIGNED>(p + i * down, (i32)(8 * i) < rows ? left : 0);
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
      uint4 c = w[2 * half], d = w[2 * half + 1];
      u32 b[4][2] = {{byte_permute(c.x, 0, sel), byte_permute(d.x, 0, sel)}, {byte_permute(c.y, 0, sel), byte_permute(d.y, 0, sel)},
                     {byte_permute(c.z, 0, sel), byte_permute(d.z, 0, sel)}, {byte_permute(c.w, 0, sel), byte_permute(d.w, 0, sel)}};
#pragma unroll
      for (u32 r = 0; r < 2; r++) {
        uint4 up = v[2 * r], lo = v[2 * r + 1];
        u32 a[4] = {digits(half ? up.z : up.x), digits(half ? lo.z : lo.x), digits(half ? up.w : up.y), digits(half ? lo.w : lo.y)};
#pragma unroll
        for (u32 q = 0; q < 4; q++) mma_s8(acc[r][q], a, b[q]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) mle_restrict_cols_words(const mle_job *jobs, u32 count) {
  __shared__ uint4 shared[SEGMENT];
  tile_place tile = find_tile(jobs, count, 0);
  const mle_job *job = tile.job;
  u32 lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  u32 rows = (u32)job->rows, cols = (u32)job->cols, end = tile.at + (u32)job->along, n = tile.to - tile.from;
  word_digits(shared, job, tile.from, tile.to);
  __syncthreads();
  u32 *out = reinterpret_cast<u32 *>(job->parts + (u64)tile.split * rows), turn = 16 * t % 31;
#pragma unroll 1
  for (u32 row = tile.at + (threadIdx.x >> 5) * 32; row < end && row < rows; row += 256) {
    i32 acc[2][4][4] = {};
    i32 down = (i32)(rows - row) - (i32)g, left = (i32)n - (i32)(4 * t);
    const u32 *a = reinterpret_cast<const u32 *>(job->a) + (u64)(row + g) * cols + tile.from + 4 * t;
    if (job->aligned)
      word_column_steps<true>(acc, a, down, cols, left, (n + 15) / 16, shared);
    else
      word_column_steps<false>(acc, a, down, cols, left, (n + 15) / 16, shared);
    // Lane 4g + t has powers 2t and 2t + 1 of rows g and g + 8, for every word.
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      u32 k = row + g + 8 * i, mine = 0;
#pragma unroll
      for (u32 q = 0; q < 4; q++) {
        u32 v = m31_rotate(from_digits(acc[i >> 1][q][2 * (i & 1)], acc[i >> 1][q][2 * (i & 1) + 1], 0, 0), turn);
        v = m31_add(v, shfl_xor(v, 1));
        v = m31_add(v, shfl_xor(v, 2));
        if (q == t) mine = v;
      }
      if (k < rows) out[4 * (u64)k + t] = mine;
    }
  }
}

// Rows of words: a warp does 32 columns, which are the eight columns of four
// matrix products; powers of two words are the rows of one, and there are two.
template <bool ALIGNED>
DEVICE_INLINE void word_row_steps(i32 (&acc)[2][4][4], const u32 *a, u32 row, u32 to, u32 cols, i32 left, u32 steps, const uint4 *shared) {
  u32 t = lane_id() & 3, sel = power_selector(lane_id() >> 2);
  const uint4 *w = shared + t;
#pragma unroll (ALIGNED ? 2 : 1)
  for (u32 s = 0; s < steps; s++, row += 16, w += 16) {
    uint4 v[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      u32 k = row + 4 * i + t;
      v[i] = load_words<ALIGNED>(a + (u64)(k < to ? k : to - 1) * cols, left);
    }
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
      uint4 c = w[8 * half], d = w[8 * half + 4], x = v[2 * half], y = v[2 * half + 1];
      u32 first[4] = {byte_permute(c.x, 0, sel), byte_permute(c.y, 0, sel), byte_permute(d.x, 0, sel), byte_permute(d.y, 0, sel)};
      u32 second[4] = {byte_permute(c.z, 0, sel), byte_permute(c.w, 0, sel), byte_permute(d.z, 0, sel), byte_permute(d.w, 0, sel)};
      u32 b[4][2] = {{digits(x.x), digits(y.x)}, {digits(x.y), digits(y.y)}, {digits(x.z), digits(y.z)}, {digits(x.w), digits(y.w)}};
#pragma unroll
      for (u32 k = 0; k < 4; k++) {
        mma_s8(acc[0][k], first, b[k]);
        mma_s8(acc[1][k], second, b[k]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, 2) mle_restrict_rows_words(const mle_job *jobs, u32 count) {
  __shared__ uint4 shared[SEGMENT];
  tile_place tile = find_tile(jobs, count, 1);
  const mle_job *job = tile.job;
  u32 lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  u32 cols = (u32)job->cols, column = tile.at + (threadIdx.x >> 5) * 32;
  word_digits(shared, job, tile.from, tile.to);
  __syncthreads();
  if (column >= cols) return;
  i32 acc[2][4][4] = {};
  u32 n = tile.to - tile.from;
  i32 left = (i32)(cols - column) - (i32)(4 * g);
  const u32 *a = reinterpret_cast<const u32 *>(job->a) + column + 4 * g;
  if (job->aligned)
    word_row_steps<true>(acc, a, tile.from, tile.to, cols, left, (n + 15) / 16, shared);
  else
    word_row_steps<false>(acc, a, tile.from, tile.to, cols, left, (n + 15) / 16, shared);
  // Lane 4g + t has power g of columns 8t + s and 8t + 4 + s, for every word; it
  // writes word g & 3 of column 8t + 4 (g >> 2) + s.
  u32 *out = reinterpret_cast<u32 *>(job->parts + (u64)tile.split * cols), turn = 8 * g % 31;
#pragma unroll
  for (u32 s = 0; s < 4; s++) {
    u32 mine = 0;
#pragma unroll
    for (u32 i = 0; i < 8; i++) { // word i & 3 of column i >> 2
      u32 v = m31_rotate(m31_from_i32(acc[i >> 1 & 1][s][2 * (i & 1) + (i >> 2)]), turn);
      v = m31_add(v, shfl_xor(v, 4));
      v = m31_add(v, shfl_xor(v, 8));
      v = m31_add(v, shfl_xor(v, 16));
      if (i == g) mine = v;
    }
    u32 k = column + 8 * t + 4 * (g >> 2) + s;
    if (k < cols) out[4 * (u64)k + (g & 3)] = mine;
  }
}

// ---- shares --------------------------------------------------------------------

// mle_restrict_sum: out[i] is the sum of the shares of result i, 0 beyond the
// results. sum_lanes threads, which divide the warps among them, add up one. Jobs
// that have no blocks begin where the next one does.
extern "C" __global__ void __launch_bounds__(256) mle_restrict_sum(const mle_job *jobs, u32 count) {
  __shared__ u32 found;
  __shared__ qm31 shared[256];
  for (u32 j = threadIdx.x; j < count; j += blockDim.x)
    if (jobs[j].sum_first <= blockIdx.x && (j + 1 == count || blockIdx.x < jobs[j + 1].sum_first)) found = j;
  __syncthreads();
  const mle_job *job = jobs + found;
  u32 lanes = (u32)job->sum_lanes, width = 256 / lanes, lane = threadIdx.x / width;
  u64 i = (blockIdx.x - job->sum_first) * width + threadIdx.x % width;
  qm31 s = qm31_zero();
  if (i < job->used)
    for (u64 k = lane; k < job->splits; k += lanes) s = qm31_add(s, job->parts[k * job->used + i]);
  if (lanes > 1) {
    shared[threadIdx.x] = s;
    __syncthreads();
    for (u32 k = 1; lane == 0 && k < lanes; k++) s = qm31_add(s, shared[threadIdx.x + k * width]);
  }
  if (lane == 0 && i < job->length) job->out[i] = s;
}
