// Items are the work of bucket_accumulate, one for a thread at a time: a whole bucket, or,
// of a bucket with more entries than a chunk has, what lies in one chunk. An item is a
// bucket's number or, with PIECE, the number of the slot for a partial sum (chunks.cuh);
// the list of them is in order of length, the longest first, so that the 32 of a warp
// are of one length nearly.
#pragma once
#include "msm/internal/bucket/chunks.cuh"

#define PIECE 0x80000000u

// What a list's state is: a cursor for each class of lengths, the number of items, how
// many have been taken, and how many blocks have counted.
enum : u32 { CLASSES = 1024, ITEMS = CLASSES, TAKEN, COUNTED };

// class_of is the place of a length, from 1 on, among classes: exact below 128, within
// one part in 64 above.
DEVICE_INLINE u32 class_of(u32 length) {
  u32 key = length;
  if (length >= 128) {
    const u32 scale = 25 - leading_zeros(length);
    key = (scale << 6) + (length >> scale);
  }
  return key < CLASSES ? CLASSES - 1 - key : 0;
}

// Run is the entries of an item.
struct Run {
  u32 from, to;
};

// piece is the entries of a slot whose bucket is b.
DEVICE_INLINE Run piece(const u32 *offsets, u32 slot, u32 b, u32 length) {
  const u64 start = (u64)(slot >> 1) * length, end = start + length;
  const u32 stop = ldg(offsets + b + 1);
  return {slot & 1 ? ldg(offsets + b) : (u32)start, end < stop ? (u32)end : stop};
}
