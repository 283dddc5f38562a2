// Package plan holds what the steps of a multi-scalar multiplication agree on: the
// windows that scalars are cut into, and lists of points sorted by bucket.
package plan

import "github.com/zkwarp/zkwarp/device"

// Sign is the bit of an entry that says that its point is taken negatively.
const Sign = 1 << 31

// Window is one signed digit of the scalars (Pippenger's method with digits in
// [-2^(Bits-1), 2^(Bits-1)]). A scalar above half of the group's order has been
// replaced by its negative first, and the signs of all its digits turned. Bucket
// Base+i of the flattened buckets takes the points whose digit is ±(i+1); points with
// digit 0 are in no bucket.
type Window struct {
	Shift   int  // the digit's lowest bit
	Bits    int  // of the digit
	Top     bool // the last window: its digit is not recoded, it takes a carry and is never negative
	Base    int  // first of its buckets
	Buckets int  // 2^(Bits-1), or what the top window's largest digit needs
	Table   int  // added to the points' indices: windows with one Base share their buckets, each with its own multiples of the points
}

// Range is a share of the work: the points [From, To) and of the flattened buckets
// [Low, High).
type Range struct {
	From, To  int
	Low, High int
}

// Sorted is points by bucket. Bucket Low+i of its range has Entries[Offsets[i]:Offsets[i+1]],
// in any order; an entry is a point's index, with Sign. How many entries there are is
// known on the device alone: Offsets[Buckets].
type Sorted struct {
	Entries device.Buffer[uint32] // with room for every point in every window
	Offsets device.Buffer[uint32] // Buckets + 1
	Buckets int
}
