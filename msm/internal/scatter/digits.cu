// From scalars to digits. A scalar above half of the group's order stands for its
// negative. What is added to it, 2^(Bits-1) at the place of every window but the top one,
// makes digits independent of each other: a window's digit is its bits, less what was
// added, and carries are in the sum already.
#include "SCALAR_HEADER"
#include "field/mont/mont.cuh"
#include "msm/internal/scatter/tile.cuh"

typedef SCALAR_FIELD Field;
enum : u32 { WORDS = Field::N, SUM = (WORDS + 3) / 4, MONTGOMERY = 0 };

struct Recoded {
  u32 x[WORDS]; // the number, with what makes digits of it
  u32 sign;     // 1 if it is the scalar's negative
  bool live;    // its words are below the group's order
};

// recode makes a scalar ready for its digits. sum is what is added.
DEVICE_INLINE Recoded recode(const u32 *scalar, u32 form, const uint4 *sum) {
  Mont<Field> s;
  if constexpr (WORDS % 4 == 0) {
#pragma unroll
    for (u32 j = 0; 4 * j < WORDS; j++) {
      const uint4 v = ldg(reinterpret_cast<const uint4 *>(scalar) + j);
      s.x[4 * j] = v.x, s.x[4 * j + 1] = v.y, s.x[4 * j + 2] = v.z, s.x[4 * j + 3] = v.w;
    }
  } else {
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) s.x[j] = ldg(scalar + j);
  }
  Recoded r;
  sub_cc(s.x[0], Field::p(0));
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) subc_cc(s.x[j], Field::p(j));
  r.live = subc(0u, 0u) != 0;
  if (form == MONTGOMERY) s = canonical(from_montgomery(s));
  sub_cc(Field::half(0), s.x[0]);
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) subc_cc(Field::half(j), s.x[j]);
  const u32 above = subc(0u, 0u);
  u32 opposite[WORDS];
  opposite[0] = sub_cc(Field::p(0), s.x[0]);
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) opposite[j] = subc_cc(Field::p(j), s.x[j]);
  u32 add[4 * SUM];
#pragma unroll
  for (u32 j = 0; j < SUM; j++) {
    const uint4 v = sum[j];
    add[4 * j] = v.x, add[4 * j + 1] = v.y, add[4 * j + 2] = v.z, add[4 * j + 3] = v.w;
  }
#pragma unroll
  for (u32 j = 0; j < WORDS; j++) r.x[j] = above ? opposite[j] : s.x[j];
  r.x[0] = add_cc(r.x[0], add[0]);
#pragma unroll
  for (u32 j = 1; j < WORDS; j++) r.x[j] = addc_cc(r.x[j], add[j]);
  r.sign = above & 1;
  return r;
}

// scatter_digits writes, for every window, the n scalars' digits as a row of keys, stride
// words from the one before, and the index of the first scalar that is too large to bad,
// if that is less than what is there. Windows are in order of word. It adds the keys of
// every bin to counts, if bins, the number of all windows' bins, is not 0.
extern "C" __global__ void __launch_bounds__(256) scatter_digits_VARIANT(u32 *keys, u32 *bad, u32 *counts, const u32 *scalars, const uint4 *sum,
                                                                         const uint4 *windows, u32 count, u32 n, u32 stride, u32 form, u32 bins) {
  SHARED_DYNAMIC(u32, local);
  for (u32 b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  u32 guesses = NONE, turn = 0; // a lane's are those of window w for its number, modulo 32
  for (u64 base = (u64)blockIdx.x * blockDim.x; base < n; base += (u64)gridDim.x * blockDim.x, turn++) {
    const u32 i = (u32)min(base + threadIdx.x, (u64)n - 1);
    const bool here = base + threadIdx.x < n;
    const Recoded r = recode(scalars + (u64)i * WORDS, form, sum);
    if (!r.live) atomicMin(bad, i);
    u32 w = 0;
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) {
      const u32 low = r.x[j], high = j + 1 < WORDS ? r.x[j + 1] : 0;
      for (; w < count; w++) {
        const Window v = window_at(windows, w);
        if (v.word != j) break;
        const u32 key = r.live ? key_of(v, funnel_right(low, high, v.shift), r.sign) : NONE;
        if (here) keys[(u64)w * stride + i] = key;
        if (bins == 0) continue;
        u32 guess = shfl_idx(guesses, w);
        take(local + v.bin, key >> 1 >> v.bin_shift, here && key != NONE, guess, turn);
        if (lane_id() == (w & 31)) guesses = guess;
      }
    }
  }
  __syncthreads();
  for (u32 b = threadIdx.x; b < bins; b += blockDim.x)
    if (local[b] != 0) atomicAdd(&counts[b], local[b]);
}
