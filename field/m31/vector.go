package m31

import "unsafe"

// Slice operations: dst and the operands have dst's length (a longer operand's
// rest is ignored, a shorter one panics like any slice), and dst may be one of
// the operands, but no other overlap is allowed.
//
// Each does whole blocks with vector instructions, where the machine has them,
// and the rest element by element.

//go:generate go run -tags=purego ./internal/genvec

// at is the first element's place; for an empty slice it must not be read.
func at[T any](s []T) *T { return unsafe.SliceData(s) }

// IntsVec sets dst[i] to the residue of v[i].
func IntsVec(dst []Element, v []int32) {
	v = v[:len(dst)]
	for i := intsBlocks(at(dst), at(v), len(dst)); i < len(dst); i++ {
		dst[i] = FromInt(int64(v[i]))
	}
}

// AddVec sets dst[i] = a[i] + b[i].
func AddVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := addBlocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Add(b[i])
	}
}

// SubVec sets dst[i] = a[i] - b[i].
func SubVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := subBlocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Sub(b[i])
	}
}

// MulVec sets dst[i] = a[i] * b[i].
func MulVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := mulBlocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(b[i])
	}
}

// ScaleVec sets dst[i] = s * a[i].
func ScaleVec(dst, a []Element, s Element) {
	a = a[:len(dst)]
	for i := scaleBlocks(at(dst), at(a), &s, len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(s)
	}
}

// MulAddVec sets dst[i] += s * a[i].
func MulAddVec(dst, a []Element, s Element) {
	a = a[:len(dst)]
	for i := mulAddBlocks(at(dst), at(a), &s, len(dst)); i < len(dst); i++ {
		dst[i] = reduce62(uint64(a[i])*uint64(s) + uint64(dst[i]))
	}
}

// Sum is the sum of a's elements.
func Sum(a []Element) Element {
	var out lazySums
	n := sumBlocks(&out, at(a), len(a))
	var s uint64 // 2^33 words fit
	for _, x := range a[n:] {
		s += uint64(x)
	}
	sum := reduce(s)
	if n > 0 {
		for parity := range 2 {
			_, low, high := out.lane(0, parity)
			sum = sum.Add(low).Add(high)
		}
	}
	return sum
}

// Dot is the sum of a[i] * b[i].
func Dot(a, b []Element) Element {
	b = b[:len(a)]
	var out lazySums
	i := dotBlocks(&out, at(a), at(b), len(a))
	sum := out.both(i)
	var s uint64
	for ; i+3 <= len(a); i += 3 {
		// Three products and a partial value stay below 2^64.
		s = partial(s) + uint64(a[i])*uint64(b[i]) + uint64(a[i+1])*uint64(b[i+1]) + uint64(a[i+2])*uint64(b[i+2])
	}
	for ; i < len(a); i++ {
		s = partial(s) + uint64(a[i])*uint64(b[i])
	}
	return sum.Add(reduce(s))
}

// DotAtTwo is Dot at the value 2 of a variable that is 0 in a0 and b0, and 1 in
// a1 and b1: the sum of (2 a1[i] - a0[i]) * (2 b1[i] - b0[i]).
func DotAtTwo(a0, a1, b0, b1 []Element) Element {
	a1, b0, b1 = a1[:len(a0)], b0[:len(a0)], b1[:len(a0)]
	var out lazySums
	i := dotTwoBlocks(&out, at(a0), at(a1), at(b0), at(b1), len(a0))
	sum := out.both(i)
	var s uint64
	for ; i < len(a0); i++ {
		// Representatives below 2^33, folded to below 2^31 + 4.
		x := partial(2*uint64(a1[i]) + P - uint64(a0[i]))
		y := partial(2*uint64(b1[i]) + P - uint64(b0[i]))
		s = partial(s) + x*y
	}
	return sum.Add(reduce(s))
}
