// The windows that scalars are cut into, as tables describe them.
#pragma once
#include "device/ptx.cuh"

// NONE is no key, and no bin.
#define NONE 0xffffffffu

// Window is three uint4 of a table. Its digit is (bits >> shift of word & mask) - half.
// Digit ±(i+1) is in bucket i + delta of a region of size buckets, which is cut into bins
// of 2^bin_shift buckets, from bin on; entries are points' indices, from offset on.
struct Window {
  u32 word, shift, mask, half;
  u32 delta, size, bin_shift, unused;
  u32 bin, bins, offset, unused2;
};

DEVICE_INLINE Window window_at(const uint4 *windows, u32 w) {
  const uint4 a = ldg(windows + 3 * w), b = ldg(windows + 3 * w + 1), c = ldg(windows + 3 * w + 2);
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
}

// A key is a digit's bucket of the region, times 2, and 1 if its point is negative; NONE
// if the digit is 0 or its bucket not wanted.
DEVICE_INLINE u32 key_of(const Window &w, u32 bits, u32 sign) {
  const u32 value = (bits & w.mask) - w.half, down = value >> 31, size = down ? 0 - value : value, at = size - 1 + w.delta;
  return size != 0 && at < w.size ? at << 1 | (down ^ sign) : NONE;
}
