// Montgomery multiplication modulo the 254-bit prime of the curve BN254's base
// field, to hold multiplication in small fields against.
#include "device/ptx.cuh"

#define LIMBS 8

// -1/p modulo 2^32
#define BN254_INVERSE 0xe4866389u

struct bn254 {
  u32 x[LIMBS]; // below p, little end first
};

DEVICE_INLINE u32 bn254_p(u32 i) {
  const u32 p[LIMBS] = {0xd87cfd47u, 0x3c208c16u, 0x6871ca8du, 0x97816a91u, 0x8181585du, 0xb85045b6u, 0xe131a029u, 0x30644e72u};
  return p[i];
}

// A product of all limbs of a by one word has its low and high halves overlap. Those
// of every other limb do not: they are one chain of carries over a row of words, and
// two rows one word apart hold the whole product.

// chain adds b times every other limb of a, from the first one on, to row, and leaves
// the carry.
DEVICE_INLINE void chain(u32 (&row)[LIMBS], const u32 (&a)[LIMBS], u32 first, u32 b) {
  row[0] = mad_lo_cc(a[first], b, row[0]);
  row[1] = madc_hi_cc(a[first], b, row[1]);
#pragma unroll
  for (u32 j = 2; j < LIMBS; j += 2) {
    row[j] = madc_lo_cc(a[first + j], b, row[j]);
    row[j + 1] = madc_hi_cc(a[first + j], b, row[j + 1]);
  }
}

// chain_down is the same for a row whose two lowest words are dropped, and with a
// carry that comes in.
DEVICE_INLINE void chain_down(u32 (&row)[LIMBS], const u32 (&a)[LIMBS], u32 first, u32 b) {
#pragma unroll
  for (u32 j = 0; j < LIMBS - 2; j += 2) {
    row[j] = madc_lo_cc(a[first + j], b, row[j + 2]);
    row[j + 1] = madc_hi_cc(a[first + j], b, row[j + 3]);
  }
  row[LIMBS - 2] = madc_lo_cc(a[first + LIMBS - 2], b, 0u);
  row[LIMBS - 1] = madc_hi(a[first + LIMBS - 2], b, 0u);
}

// reduce adds the multiple of p that makes even's lowest word 0; odd is the row one
// word up.
DEVICE_INLINE void reduce(u32 (&even)[LIMBS], u32 (&odd)[LIMBS], const u32 (&p)[LIMBS]) {
  const u32 m = even[0] * BN254_INVERSE;
  chain(odd, p, 1, m);
  chain(even, p, 0, m);
  odd[LIMBS - 1] = addc(odd[LIMBS - 1], 0u);
}

// step takes the sum one word down, adds a b, and reduces: even was one word above odd.
DEVICE_INLINE void step(u32 (&even)[LIMBS], u32 (&odd)[LIMBS], const u32 (&a)[LIMBS], u32 b, const u32 (&p)[LIMBS]) {
  even[0] = add_cc(even[0], odd[1]);
  chain_down(odd, a, 1, b);
  chain(even, a, 0, b);
  odd[LIMBS - 1] = addc(odd[LIMBS - 1], 0u);
  reduce(even, odd, p);
}

// bn254_mul is a b / 2^256.
DEVICE_INLINE bn254 bn254_mul(const bn254 &a, const bn254 &b) {
  u32 p[LIMBS], even[LIMBS], odd[LIMBS];
#pragma unroll
  for (u32 j = 0; j < LIMBS; j++) p[j] = bn254_p(j);
#pragma unroll
  for (u32 j = 0; j < LIMBS; j += 2) {
    const u64 low = mul_wide(a.x[j], b.x[0]), high = mul_wide(a.x[j + 1], b.x[0]);
    even[j] = (u32)low;
    even[j + 1] = (u32)(low >> 32);
    odd[j] = (u32)high;
    odd[j + 1] = (u32)(high >> 32);
  }
  reduce(even, odd, p);
#pragma unroll
  for (u32 i = 1; i < LIMBS; i += 2) {
    step(odd, even, a.x, b.x[i], p);
    if (i + 1 < LIMBS) step(even, odd, a.x, b.x[i + 1], p);
  }
  // The last step was odd's: its lowest word is 0, and even is one word above it.
  bn254 r;
  r.x[0] = add_cc(even[0], odd[1]);
#pragma unroll
  for (u32 j = 1; j < LIMBS - 1; j++) r.x[j] = addc_cc(even[j], odd[j + 1]);
  r.x[LIMBS - 1] = addc(even[LIMBS - 1], 0u);
  u32 d[LIMBS];
  d[0] = sub_cc(r.x[0], p[0]);
#pragma unroll
  for (u32 j = 1; j < LIMBS; j++) d[j] = subc_cc(r.x[j], p[j]);
  const u32 below = subc(0u, 0u);
#pragma unroll
  for (u32 j = 0; j < LIMBS; j++) r.x[j] = below ? r.x[j] : d[j];
  return r;
}

// bench_bn254_mul multiplies twice in each of the rounds: x by y, then y by x. out
// gets every thread's x.
extern "C" __global__ void __launch_bounds__(256) bench_bn254_mul(u32 *__restrict__ out, u32 seed, u32 rounds) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  bn254 x, y;
#pragma unroll
  for (u32 j = 0; j < LIMBS; j++) {
    x.x[j] = (seed + t * 16 + j) * 0x9e3779b9u;
    y.x[j] = (seed + t * 16 + 8 + j) * 0x9e3779b9u;
  }
  x.x[LIMBS - 1] &= 0x1fffffffu; // below p
  y.x[LIMBS - 1] &= 0x1fffffffu;
  for (u32 r = 0; r < rounds; r++) {
    x = bn254_mul(x, y);
    y = bn254_mul(y, x);
  }
#pragma unroll
  for (u32 j = 0; j < LIMBS; j++) out[(u64)t * LIMBS + j] = x.x[j];
}
