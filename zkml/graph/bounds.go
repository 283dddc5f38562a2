package graph

import (
	"fmt"
	"math/bits"
)

// interval is an inclusive range of integers with lo <= hi and both ends below 2^62 in absolute value.
type interval struct{ lo, hi int64 }

func (t *Tensor) bounds() interval { return interval{t.Lo, t.Hi} }

// hull returns the least interval that contains both.
func (a interval) hull(b interval) interval { return interval{min(a.lo, b.lo), max(a.hi, b.hi)} }

// times returns the range of products.
func (a interval) times(b interval) interval {
	p, q, r, s := a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi
	return interval{min(p, q, r, s), max(p, q, r, s)}
}

// scaled returns the range of c*v.
func (a interval) scaled(c int64) interval { return a.times(interval{c, c}) }

// plus returns the range of sums.
func (a interval) plus(b interval) interval { return interval{a.lo + b.lo, a.hi + b.hi} }

// magnitude returns the greatest absolute value.
func (a interval) magnitude() int64 { return max(a.hi, -a.lo) }

// fits reports whether every value is below BoundLimit in absolute value.
func (a interval) fits() bool { return a.magnitude() < BoundLimit }

// overflow says by how much values do not fit.
func overflow(a interval) error {
	return fmt.Errorf("values in [%d, %d] could reach %.3g times 2^29, and all must stay below it", a.lo, a.hi, float64(a.magnitude())/BoundLimit)
}

// ParamBounds returns the bounds of a Param whose values need the given number of bits, sign included: [-2^(b-1), 2^(b-1)-1].
// All Params have bounds of this form so that a committed weight is range-checked by plain limbs.
func ParamBounds(bits int) (lo, hi int64) { return -1 << (bits - 1), 1<<(bits-1) - 1 }

// ParamBits returns the width of the smallest bounds of that form that contain all the values (at least 1).
func ParamBits(values []int32) int {
	var used uint32
	for _, v := range values {
		used |= uint32(v ^ v>>31)
	}
	return bits.Len32(used) + 1
}

// paramWidth returns b with bounds [-2^(b-1), 2^(b-1)-1], or 0 when the bounds have another form or reach BoundLimit.
func paramWidth(b interval) int {
	w := bits.Len64(uint64(-b.lo))
	if b.lo >= 0 || -b.lo != 1<<(w-1) || b.hi != -b.lo-1 || !b.fits() {
		return 0
	}
	return w
}

// LookupBits returns the least Bits of a table that makes a Lookup with that shift total on inputs within the bounds: the smallest b
// with max|X| + 2^(shift-1) < 2^(shift+b-1). The result may exceed MaxTableBits.
func LookupBits(lo, hi int64, shift uint8) int {
	b := 1
	for !total(interval{lo, hi}, shift, b) {
		b++
	}
	return b
}

func total(x interval, shift uint8, b int) bool {
	return x.magnitude()+(Lookup{Shift: shift}).Half() < int64(1)<<(int(shift)+b-1)
}

// repeated returns the range of sums of n values. Ranges far beyond BoundLimit are cut off at 2^60, before they overflow.
func (a interval) repeated(n int) interval {
	const limit = 1 << 60
	if a.magnitude() > limit/int64(n) {
		return interval{-limit, limit}
	}
	return a.scaled(int64(n))
}

// withZero is the range of values that may also be the zero of padding.
func (a interval) withZero() interval { return a.hull(interval{0, 0}) }

// within reports whether every value is in the signed domain of that many bits.
func (a interval) within(bits uint8) bool {
	half := int64(1) << (bits - 1)
	return a.lo >= -half && a.hi < half
}
