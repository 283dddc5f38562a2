// Package opcount counts the multiplications of the two provers that SumCATS combines,
// and says in which round the one becomes cheaper than the other.
//
// Source: Fan, Han, Wu, Arafin, "GPU Acceleration of the Sum-Check Protocol Over Towers of
// Binary Fields for Verifiable Computing", sections III.A, III.B and IV.A; BDT-1 and BDT-2
// are of Bagad, Domb, Thaler, ePrint 2024/1046. Rounds count from 0, like the paper's.
//
// The paper counts multiplications of bits, of GF(16) (its short extension, where the
// points of interpolation lie) and of GF(2^128) apart, and switches "when the number of
// operations in BDT-2 for that round exceeds the number of operations in BDT-1", without
// saying what one of each kind counts. Here each counts as the multiplications of bits
// that it takes: Karatsuba's rule down the tower, three products of half the size. That
// gives the paper's switches, rounds 3, 2 and 2 for d = 2, 3 and 4.
package opcount

// Multiplications of bits in one multiplication.
const (
	BitBit = 1
	// BitExt is a bit times an element of GF(2^128), as for p_1 in BDT-2.
	BitExt = 128
	// ShortExt is an element of GF(16) times one of GF(2^128), which is 32 elements of
	// GF(16): two levels of Karatsuba each.
	ShortExt = 32 * 3 * 3
	// ExtExt is seven levels of Karatsuba.
	ExtExt = 3 * 3 * 3 * 3 * 3 * 3 * 3
)

// Count is numbers of multiplications by kind, for each of the 2^(n-i-1) points x that
// round i sums over. So it does not depend on n.
type Count struct {
	BitBit, BitExt, ShortExt, ExtExt float64
}

// Weight is the multiplications of bits that a count stands for.
func (c Count) Weight() float64 {
	return c.BitBit*BitBit + c.BitExt*BitExt + c.ShortExt*ShortExt + c.ExtExt*ExtExt
}

// BDT1 is round i of the prover that folds and composes (section III.A), which is the
// same for all rounds: d+1 points of interpolation with d-1 folds by a point and d-1
// products each, and d-1 folds by the challenge. The paper counts d-1 folds, not d.
//
// With claim, it is also the (d-1) 2^(n-i) products that the paper counts for "the
// initial claimed value"; a prover that takes the claim over from the round before does
// not need them.
func BDT1(d int, claim bool) Count {
	c := Count{
		ShortExt: float64((d + 1) * (d - 1)),
		ExtExt:   float64((d+1)*(d-1) + (d - 1)),
	}
	if claim {
		c.ExtExt += float64(2 * (d - 1))
	}
	return c
}

// BDT2 is round i of the prover that keeps bits apart from challenges (section III.B, as
// section IV has it for p_1 over GF(2^128)): a sum for each of the 2^(d(i+1)) ways of
// choosing a place in each of the d arrays, of a product of d-1 bits by an element. The
// products of challenges do not depend on x and do not count.
func BDT2(d, i int) Count {
	terms := 1.0
	for range d * (i + 1) {
		terms *= 2
	}
	return Count{BitBit: terms * float64(d-2), BitExt: terms}
}

// SwitchRound is the first round in which BDT-2 takes more than BDT-1, from which on a
// prover folds and composes: 3, 2, 2, 1 for d = 2, 3, 4, 5.
func SwitchRound(d int) int {
	i := 0
	for BDT2(d, i).Weight() <= BDT1(d, false).Weight() {
		i++
	}
	return i
}
