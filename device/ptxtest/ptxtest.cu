// One output a function of device/ptx.cuh and input, for comparison with a
// reference on the host. The order of the outputs is that of the host's tables.
#include "device/ptx.cuh"

#define LO(x) ((u32)(x))
#define HI(x) ((u32)((x) >> 32))

// small is a double with a's sign and mantissa, and an exponent that makes products
// finite and sums of products and doubles meet.
DEVICE_INLINE double small(u64 a) { return double_of((a & 0x800fffffffffffffull) | (u64)(1023 - 100 + (a >> 52 & 127)) << 52); }

// Outputs of functions of a triple (a, b, c) of 64-bit words; s sets the carry
// that goes into a chain.
extern "C" __global__ void __launch_bounds__(256) ptx_scalar(u64 *out, const u64 *in, u32 n, u32 outputs) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const u64 a = ldg(&in[4 * i]), b = ldg(&in[4 * i + 1]), c = ldg(&in[4 * i + 2]), s = in[4 * i + 3];
  u64 *o = out + (u64)i * outputs;
  u32 k = 0;
#define OUT(x) do { const u64 value = (u64)(x); store_streaming(&o[k++], value); } while (0)
  OUT(mul_hi(LO(a), LO(b)));
  OUT((u32)mul_hi((i32)LO(a), (i32)LO(b)));
  OUT(mul_hi(a, b));
  OUT(mul_wide(LO(a), LO(b)));
  OUT(mul_wide((i32)LO(a), (i32)LO(b)));
  OUT(mad_wide(LO(a), LO(b), c));
  OUT(mad_wide((i32)LO(a), (i32)LO(b), (i64)c));
  OUT((u32)dot4(LO(a), LO(b), (i32)LO(c)));
  OUT(dot4u(LO(a), LO(b), LO(c)));
  OUT(popcount(LO(a)));
  OUT(popcount(a));
  OUT(leading_zeros(LO(a)));
  OUT(leading_zeros(a));
  OUT(bit_reverse(LO(a)));
  OUT(funnel_left(LO(a), LO(b), LO(c)));
  OUT(funnel_right(LO(a), LO(b), LO(c)));
  OUT(byte_permute(LO(a), LO(b), LO(c)));
  OUT(lop3<0x96>(LO(a), LO(b), LO(c)));
  OUT(lop3<0xE8>(LO(a), LO(b), LO(c)));
  OUT(lop3<0xCA>(LO(a), LO(b), LO(c)));
  OUT(lop3<0x1B>(LO(a), LO(b), LO(c)));
  // Doubles that stay finite: exponents within 2^200 of 1.
  {
    const double x = small(a), y = small(b), z = small(c), w = double_of((bits_of(x) & 1ull << 63) | bits_of(y) >> 1 << 1);
    OUT(bits_of(fma_rn(x, y, z)));
    OUT(bits_of(fma_rn(x, y, -(x * y))));
    OUT(bits_of(add_rn(x, z)));
    OUT(bits_of(add_rn(x, w)));
  }
// A step that starts a chain, with its carry; one in the middle; one at the end.
#define ONE(T, zero, step)                                                                         \
  {                                                                                                \
    T r = step;                                                                                    \
    T carry = addc((T)zero, (T)zero);                                                              \
    OUT(r);                                                                                        \
    OUT(carry);                                                                                    \
  }
#define MIDDLE(T, S, step)                                                                         \
  {                                                                                                \
    T ignored = add_cc((T)(S), (T)(S));                                                            \
    T r = step;                                                                                    \
    T carry = addc((T)0, (T)0);                                                                    \
    OUT(r);                                                                                        \
    OUT(carry);                                                                                    \
    OUT(ignored);                                                                                  \
  }
#define LAST(T, S, step)                                                                           \
  {                                                                                                \
    T ignored = add_cc((T)(S), (T)(S));                                                            \
    T r = step;                                                                                    \
    OUT(r);                                                                                        \
    OUT(ignored);                                                                                  \
  }
#define BORROW(T, step)                                                                            \
  {                                                                                                \
    T r = step;                                                                                    \
    T borrow = subc((T)0, (T)0);                                                                   \
    OUT(r);                                                                                        \
    OUT(borrow);                                                                                   \
  }
#define BORROWED(T, S, step)                                                                       \
  {                                                                                                \
    T ignored = sub_cc((T)(S), (T)(1));                                                            \
    T r = step;                                                                                    \
    T borrow = subc((T)0, (T)0);                                                                   \
    OUT(r);                                                                                        \
    OUT(borrow);                                                                                   \
    OUT(ignored);                                                                                  \
  }
#define CHAINS(T, A, B, C, S)                                                                      \
  ONE(T, 0, add_cc(A, B))                                                                          \
  MIDDLE(T, S, addc_cc(A, B))                                                                      \
  LAST(T, S, addc(A, B))                                                                           \
  BORROW(T, sub_cc(A, B))                                                                          \
  BORROWED(T, ((S) & 1), subc_cc(A, B))                                                            \
  ONE(T, 0, mad_lo_cc(A, B, C))                                                                    \
  MIDDLE(T, S, madc_lo_cc(A, B, C))                                                                \
  LAST(T, S, madc_lo(A, B, C))                                                                     \
  ONE(T, 0, mad_hi_cc(A, B, C))                                                                    \
  MIDDLE(T, S, madc_hi_cc(A, B, C))                                                                \
  LAST(T, S, madc_hi(A, B, C))
  CHAINS(u32, LO(a), LO(b), LO(c), LO(s))
  CHAINS(u64, a, b, c, s)
  // A whole product, 64 by 64 to 128 bits, in 32-bit limbs.
  {
    u32 r0 = LO(a) * LO(b), r1 = mul_hi(LO(a), LO(b)), r2, r3;
    r1 = mad_lo_cc(LO(a), HI(b), r1);
    r2 = madc_hi(LO(a), HI(b), 0u);
    r1 = mad_lo_cc(HI(a), LO(b), r1);
    r2 = madc_hi_cc(HI(a), LO(b), r2);
    r3 = addc(0u, 0u);
    r2 = mad_lo_cc(HI(a), HI(b), r2);
    r3 = madc_hi(HI(a), HI(b), r3);
    OUT((u64)r1 << 32 | r0);
    OUT((u64)r3 << 32 | r2);
  }
  OUT(k + 1); // the number of outputs, so that the host's table cannot be shorter
}

// Every 32-bit word from first on, by the given step: functions of one word
// against plain loops. bad[0] counts differences, bad[1] keeps the smallest word.
extern "C" __global__ void __launch_bounds__(256) ptx_unary(u32 *bad, u32 first, u32 step, u32 n) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 x = first + i * step, ones = 0, zeros = 32, reversed = 0;
    for (u32 b = 0; b < 32; b++)
      if (x >> b & 1) {
        ones++;
        zeros = 31 - b;
        reversed |= 1u << (31 - b);
      }
    if (popcount(x) != ones || leading_zeros(x) != zeros || bit_reverse(x) != reversed) {
      atomicAdd(&bad[0], 1u);
      atomicMin(&bad[1], x);
    }
  }
}

// byte_permute for the selectors from first on, of all 2^16, against shifts.
extern "C" __global__ void __launch_bounds__(256) ptx_selectors(u32 *bad, u32 a, u32 b, u32 n) {
  u32 sel = blockIdx.x * blockDim.x + threadIdx.x;
  if (sel >= n) return;
  const u64 all = (u64)b << 32 | a;
  u32 want = 0;
  for (u32 i = 0; i < 4; i++) {
    u32 nibble = sel >> (4 * i) & 15, byte = (u32)(all >> (8 * (nibble & 7))) & 255;
    want |= (nibble < 8 ? byte : (byte >> 7) * 255) << (8 * i);
  }
  if (byte_permute(a, b, sel) != want) {
    atomicAdd(&bad[0], 1u);
    atomicMin(&bad[1], sel);
  }
}

// Outputs of warp-wide functions: of each warp's 32 values and of m, which is the
// same for the whole warp.
extern "C" __global__ void __launch_bounds__(128) ptx_warp(u64 *out, const u64 *in, const u32 *m, u32 outputs) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const u64 v = in[i];
  const u32 x = m[i / 32];
  u64 *o = out + (u64)i * outputs;
  u32 k = 0;
  OUT(lane_id());
  OUT(shfl_xor(LO(v), x));
  OUT(shfl_xor(v, x));
  OUT(shfl_down(LO(v), x));
  OUT(shfl_down(v, x));
  OUT(shfl_up(LO(v), x));
  OUT(shfl_up(v, x));
  OUT(shfl_idx(LO(v), x));
  OUT(shfl_idx(v, x));
  OUT(shfl_idx(LO(v), HI(v)));
  OUT(ballot(LO(v) >> x & 1));
  OUT(warp_any((LO(v) >> x & 7) == 7));
  OUT(warp_all((LO(v) >> x & 7) != 7));
  OUT(warp_match(LO(v) >> x & 3));
  OUT(warp_sum(LO(v)));
  OUT(warp_xor(LO(v)));
  OUT(k + 1);
}

// One matrix instruction of each kind a warp: fragments in, fragments out.
extern "C" __global__ void __launch_bounds__(32) ptx_matrix(i32 *out, const u32 *in) {
  const u32 *f = in + (blockIdx.x * 32 + threadIdx.x) * 10;
  const u32 a[4] = {f[0], f[1], f[2], f[3]}, b[2] = {f[4], f[5]};
  i32 s8[4], u8_[4], b1[4];
  for (u32 j = 0; j < 4; j++) s8[j] = u8_[j] = b1[j] = (i32)f[6 + j];
  mma_s8(s8, a, b);
  mma_u8(u8_, a, b);
  mma_b1(b1, a, b);
  i32 *o = out + (blockIdx.x * 32 + threadIdx.x) * 12;
  for (u32 j = 0; j < 4; j++) {
    o[j] = s8[j];
    o[4 + j] = u8_[j];
    o[8 + j] = b1[j];
  }
}

// Copies of n vectors by way of shared memory, in groups of 64: two groups are
// under way while a third is passed on, by threads that did not ask for it.
extern "C" __global__ void __launch_bounds__(64) ptx_copy(uint4 *out, const uint4 *in, u32 n) {
  __shared__ uint4 ring[3][64];
  const u32 t = threadIdx.x, groups = n / 64;
  for (u32 g = 0; g < 2; g++) {
    if (g < groups) copy_async(&ring[g][t], &in[g * 64 + t]);
    copy_async_commit();
  }
  for (u32 g = 0; g < groups; g++) {
    copy_async_wait<1>();
    __syncthreads();
    if (g + 2 < groups) copy_async(&ring[(g + 2) % 3][t], &in[(g + 2) * 64 + t]);
    copy_async_commit();
    out[g * 64 + t] = ring[g % 3][63 - t];
  }
  copy_async_wait<0>();
}
