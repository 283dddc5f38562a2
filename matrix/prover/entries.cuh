// Entries of matrices as integers: loads of four, and of results the writing.
#pragma once
#include "device/ptx.cuh"
#include "field/m31/m31.cuh"

// integer is the representative of least absolute value of a residue.
DEVICE_INLINE i32 integer(u32 v) { return v > M31_P / 2 ? (i32)(v - M31_P) : (i32)v; }

DEVICE_INLINE i32 integer(i8 v) { return v; }

// signed_byte is byte k of w.
DEVICE_INLINE i32 signed_byte(u32 w, u32 k) { return (i32)byte_permute(w, 0, k * 0x1111 + 0x8880); }

DEVICE_INLINE bool aligned(const void *p, u32 bytes) { return ((u64)p & (bytes - 1)) == 0; }

// load4_all loads four entries from an address fit for vectors.
DEVICE_INLINE void load4_all(i32 *v, const u32 *p) {
  const uint4 w = *(const uint4 *)p;
  v[0] = integer(w.x);
  v[1] = integer(w.y);
  v[2] = integer(w.z);
  v[3] = integer(w.w);
}

DEVICE_INLINE void load4_all(i32 *v, const i8 *p) {
  const u32 w = *(const u32 *)p;
#pragma unroll
  for (u32 k = 0; k < 4; k++) v[k] = signed_byte(w, k);
}

// load4 loads four entries of which the first n exist; the others are 0.
template <class T> DEVICE_INLINE void load4(i32 *v, const T *p, u32 n) {
  if (n >= 4 && aligned(p, 4 * sizeof(T))) {
    load4_all(v, p);
  } else {
#pragma unroll
    for (u32 k = 0; k < 4; k++) v[k] = k < n ? integer(p[k]) : 0;
  }
}

// store4 writes or adds four residues of which the first n belong to the matrix.
DEVICE_INLINE void store4(u32 *p, const u32 *v, u32 n, bool add) {
  if (n >= 4 && aligned(p, 16)) {
    uint4 w = make_uint4(v[0], v[1], v[2], v[3]);
    if (add) {
      const uint4 o = *(const uint4 *)p;
      w = make_uint4(m31_add(w.x, o.x), m31_add(w.y, o.y), m31_add(w.z, o.z), m31_add(w.w, o.w));
    }
    *(uint4 *)p = w;
  } else {
#pragma unroll
    for (u32 k = 0; k < 4; k++)
      if (k < n) p[k] = add ? m31_add(p[k], v[k]) : v[k];
  }
}
