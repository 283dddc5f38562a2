package graph

import "math/bits"

// Elements returns the product of the axis lengths (1 for a scalar).
func Elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Pow2 returns the least power of two that is at least n (n >= 1).
func Pow2(n int) int { return 1 << Log2(n) }

// Log2 returns ceil(log2 n) for n >= 1: the number of variables of an axis of length n.
func Log2(n int) int { return bits.Len(uint(n - 1)) }

// PaddedShape returns the shape with every axis extended to a power of two. The multilinear extension of a tensor has the padded axes
// concatenated in order, the top bit of the first axis first.
func PaddedShape(shape []int) []int {
	padded := make([]int, len(shape))
	for i, d := range shape {
		padded[i] = Pow2(d)
	}
	return padded
}

// Vars returns the number of variables of the tensor's multilinear extension.
func Vars(shape []int) int {
	n := 0
	for _, d := range shape {
		n += Log2(d)
	}
	return n
}

// PaddedIndex returns the position in the padded layout of the element at row-major position i of the real layout.
func PaddedIndex(shape []int, i int) int {
	index, stride := 0, 1
	for a := len(shape) - 1; a >= 0; a-- {
		index += i % shape[a] * stride
		i /= shape[a]
		stride *= Pow2(shape[a])
	}
	return index
}

// Pad copies the real elements into the padded layout, zero elsewhere.
func Pad[T any](shape []int, data []T) []T {
	padded := make([]T, Elements(PaddedShape(shape)))
	Rows(shape, func(real, pad, n int) { copy(padded[pad:pad+n], data[real:real+n]) })
	return padded
}

// Unpad returns the real elements of a padded tensor in row-major order.
func Unpad[T any](shape []int, padded []T) []T {
	data := make([]T, Elements(shape))
	Rows(shape, func(real, pad, n int) { copy(data[real:real+n], padded[pad:pad+n]) })
	return data
}

// Rows calls f with the real position, padded position and length of each run along the last axis.
func Rows(shape []int, f func(real, pad, n int)) {
	if len(shape) == 0 {
		f(0, 0, 1)
		return
	}
	last := len(shape) - 1
	n, outer := shape[last], shape[:last]
	for i := range Elements(outer) {
		f(i*n, PaddedIndex(outer, i)*Pow2(n), n)
	}
}

// ReshapeIsFree reports whether the two shapes (of equal element count) place every element at the same position of their padded
// layouts, so that a Reshape between them changes nothing for a proof. An axis whose inner neighbour is a power of two merges with it
// without moving anything; the layouts agree exactly when the fully merged shapes do.
func ReshapeIsFree(from, to []int) bool {
	a, b := merged(from), merged(to)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// merged returns the shape with power-of-two axes (length 1 included) folded into their outer neighbours.
func merged(shape []int) []int {
	var out []int
	carry := 1
	for a := len(shape) - 1; a >= 0; a-- {
		d := shape[a] * carry
		if d&(d-1) == 0 {
			carry = d
			continue
		}
		out, carry = append(out, d), 1
	}
	if carry != 1 {
		out = append(out, carry)
	}
	return out
}
