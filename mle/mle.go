// Package mle evaluates multilinear extensions over the quartic extension
// QM31 of Mersenne-31.
//
// A table of 2^n values is a function on {0,1}^n whose first variable is the
// top bit of the index; its extension is the only polynomial of degree at most
// one in each variable that agrees with it there. What is here is what a
// verifier needs: eq, evaluation of public tables and of the public guards.
// Package mle/prover has the same operations on a device.
package mle

import (
	"math/bits"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Log is the number of variables that an axis of k entries needs once it is
// padded to a power of two: the least n with 2^n >= k. Log(0) is 0.
func Log(k int) int {
	if k <= 1 {
		return 0
	}
	return bits.Len(uint(k - 1))
}

var one = m31.OneQM31()

// EqEval is eq(a, b) = prod_i (a_i b_i + (1-a_i)(1-b_i)), the extension of
// equality. It is zero if the points differ in length. Cost: 2n products.
func EqEval(a, b []m31.QM31) m31.QM31 {
	if len(a) != len(b) {
		return m31.QM31{}
	}
	e := one
	for i := range a {
		// a b + (1-a)(1-b) = 1 - a - b + 2ab.
		e = e.Mul(one.Sub(a[i]).Sub(b[i]).Add(a[i].Mul(b[i]).Double()))
	}
	return e
}

// EqIndex is eq(point, bits of index), the weight of one table entry in the
// evaluation at point; bits beyond the point's variables make it zero.
// Cost: n products.
func EqIndex(point []m31.QM31, index uint64) m31.QM31 {
	n := len(point)
	if n < 64 && index>>n != 0 {
		return m31.QM31{}
	}
	e := one
	for i, r := range point {
		if index>>(n-1-i)&1 == 0 {
			r = one.Sub(r)
		}
		e = e.Mul(r)
	}
	return e
}

// EqTable is the 2^n values eq(point, x). Cost: 2^n products.
func EqTable(point []m31.QM31) []m31.QM31 {
	return ScaledEqTable(point, one)
}

// ScaledEqTable is scale*eq(point, x) for all x. Cost: 2^n products.
func ScaledEqTable(point []m31.QM31, scale m31.QM31) []m31.QM31 {
	t := make([]m31.QM31, 1<<len(point))
	t[0] = scale
	// Grow from the last variable up: the new variable is the top bit.
	for i := len(point) - 1; i >= 0; i-- {
		half := 1 << (len(point) - 1 - i)
		for x := range half {
			hi := t[x].Mul(point[i])
			t[x], t[half+x] = t[x].Sub(hi), hi
		}
	}
	return t
}

// Evaluate is the extension of table at point. A table shorter than 2^n reads
// as if zeros followed; entries beyond 2^n are ignored.
// Cost: len(table) products by a field element each, plus 2^(n/2+1).
func Evaluate(table, point []m31.QM31) m31.QM31 {
	return evaluate(table, point, m31.DotQM31)
}

// EvaluateBase is Evaluate for a table over the base field.
// Cost: len(table) products of a base by an extension element.
func EvaluateBase(table []m31.Element, point []m31.QM31) m31.QM31 {
	return evaluate(table, point, m31.DotBase)
}

// evaluate splits the point: eq of its last half weighs the rows' entries, eq
// of its first half weighs the rows. So 2^(n/2) weights are made, not 2^n.
func evaluate[T any](table []T, point []m31.QM31, dot func([]T, []m31.QM31) m31.QM31) (s m31.QM31) {
	if n := len(point); n < bits.UintSize-1 && len(table) > 1<<n {
		table = table[:1<<n]
	}
	low := min(len(point)/2+1, Log(len(table)))
	inner := EqTable(point[len(point)-low:])
	high := point[:len(point)-low]
	// Only rows that the table reaches are weighed.
	rows := (len(table) + len(inner) - 1) >> low
	used := Log(rows)
	scale := one
	for _, r := range high[:len(high)-used] {
		scale = scale.Mul(one.Sub(r))
	}
	outer := ScaledEqTable(high[len(high)-used:], scale)
	for i := range rows {
		row := table[i<<low : min(len(table), (i+1)<<low)]
		s = s.Add(outer[i].Mul(dot(row, inner)))
	}
	return s
}

// LT is the extension, at point, of the indicator [x < k] over the point's n
// variables: the guard that keeps padding out of a sum. It is 0 for k <= 0 and
// 1 for k >= 2^n. Cost: 2n products.
func LT(k int, point []m31.QM31) m31.QM31 {
	n := len(point)
	if k <= 0 {
		return m31.QM31{}
	}
	if n < bits.UintSize-1 && k >= 1<<n {
		return one
	}
	// Walk k's bits from the top: an x < k first falls short of k at a 1 bit.
	var lt m31.QM31
	prefix := one // eq of the bits so far with k's
	for i, r := range point {
		s := n - 1 - i
		if s < bits.UintSize-1 && k>>s&1 == 1 {
			hi := prefix.Mul(r)
			lt = lt.Add(prefix.Sub(hi))
			prefix = hi
		} else {
			prefix = prefix.Sub(prefix.Mul(r))
		}
	}
	return lt
}
