// From scalars to numbers whose bits are digits. A scalar above half of the group's order
// stands for its negative. What is added to it, 2^(Bits-1) at the place of every window but
// the top one, makes digits independent of each other: a window's digit is its bits, less
// what was added, and carries are in the sum already.
#pragma once
#include "field/mont/mont.cuh"

enum : u32 { MONTGOMERY = 0 };

template <class Field> struct Recoded {
  u32 x[Field::N]; // the number, with what makes digits of it
  u32 sign;        // 1 if it is the scalar's negative
  bool live;       // its words are below the group's order
};

// recode makes a scalar ready for its digits. sum is what is added.
template <class Field> DEVICE_INLINE Recoded<Field> recode(const u32 *scalar, u32 form, const uint4 *sum) {
  enum : u32 { WORDS = Field::N, SUM = (WORDS + 3) / 4 };
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
  Recoded<Field> r;
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
