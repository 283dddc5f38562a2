// Package additive is the additive NTT over GF(2^128): it takes a polynomial's
// coefficients in the novel polynomial basis to its values on a space over GF(2),
// in n log n products where a field of characteristic 2 has no roots of unity.
//
// The basis of the space is Cantor's: gamma_0 = 1 and gamma_(i+1) is the root of
// x^2 + x = gamma_i whose bit 0 is zero. With phi(x) = x^2 + x, the polynomial that
// vanishes on the span of gamma_0 .. gamma_(i-1) is phi^i, the i-fold iterate, and
// its value at gamma_i is 1, so that nothing has to be normalised. The novel basis
// is
//
//	X_j = product of phi^i over the set bits i of j,
//
// of degree j. Point k of the space is the sum of the gamma_b over the set bits b
// of k, and phi takes point k to point k>>1: each level of the transform has the
// points of the one below it, which makes folding by FRI as simple as it gets.
//
// The span of gamma_0 .. gamma_(2^m-1) is the field of 2^(2^m) elements, as phi^(2^m)
// is x^(2^(2^m)) + x. So points and twiddle factors lie in GF(2^32), those of up to
// 2^16 points in GF(2^16): a product by one is four products of GF(2^32), not nine.
//
// Sources: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its
// application to Reed-Solomon erasure codes", FOCS 2014 (arXiv 1404.3458), sections II
// and III; D. G. Cantor, "On arithmetical algorithms over finite fields", Journal of
// Combinatorial Theory A 50 (1989), section 2; B. Diamond, J. Posen, "Polylogarithmic
// proofs for multilinears over binary towers" (ePrint 2024/504), section 4.
package additive

import (
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// MaxDim is the largest dimension of a space: that of GF(2^32).
const MaxDim = 32

// LengthError is a list that is no power of two long, or not as long as another
// one makes it.
type LengthError struct {
	What      string
	Want, Got int // Want is 0 where any power of two would do
}

func (e *LengthError) Error() string {
	if e.Want == 0 {
		return fmt.Sprintf("additive NTT: %s of %d elements, want a power of two", e.What, e.Got)
	}
	return fmt.Sprintf("additive NTT: %s of %d elements, want %d", e.What, e.Got, e.Want)
}

// DimError is a space of too many dimensions.
type DimError struct{ Max, Got int }

func (e *DimError) Error() string {
	return fmt.Sprintf("additive NTT: a space of %d dimensions, at most %d", e.Got, e.Max)
}

// CosetError is a coset that the space of MaxDim dimensions does not have.
type CosetError struct {
	Dim   int // of the transform
	Coset uint32
}

func (e *CosetError) Error() string {
	return fmt.Sprintf("additive NTT: coset %d of a space of %d dimensions, want below 2^%d", e.Coset, e.Dim, MaxDim-e.Dim)
}

// basis is Cantor's basis of GF(2^32).
var basis = sync.OnceValue(func() *[MaxDim]gf2.Element {
	gamma := new([MaxDim]gf2.Element)
	// phi is linear over GF(2): rows are its values, and from which sums of
	// Basis(j) they come, each with its own leading bit.
	type row struct{ value, from uint32 }
	var rows []row
	reduce := func(r row) row {
		for _, s := range rows {
			if r.value^s.value < r.value {
				r.value ^= s.value
				r.from ^= s.from
			}
		}
		return r
	}
	for j := 1; j < MaxDim; j++ { // without bit 0, which phi takes to 0
		x := gf2.Basis(j)
		r := reduce(row{uint32(x.Square().Add(x).Lo), 1 << j})
		// Largest first, so that reduce clears leading bits in turn.
		at := 0
		for at < len(rows) && rows[at].value > r.value {
			at++
		}
		rows = append(rows[:at], append([]row{r}, rows[at:]...)...)
	}
	gamma[0] = gf2.One()
	for i := 1; i < MaxDim; i++ {
		gamma[i] = gf2.Element{Lo: uint64(reduce(row{uint32(gamma[i-1].Lo), 0}).from)}
	}
	return gamma
})

// Basis is gamma_i, for i from 0 to MaxDim-1.
func Basis(i int) gf2.Element { return basis()[i] }

// Point k of the space.
func Point(k uint32) gf2.Element {
	var p gf2.Element
	gamma := basis()
	for b := 0; k != 0; b, k = b+1, k>>1 {
		if k&1 == 1 {
			p = p.Add(gamma[b])
		}
	}
	return p
}

// Twiddle is the factor of block b of a transform's level: the even one of the two
// points that phi takes to point b. b is below 2^31.
func Twiddle(b uint32) gf2.Element { return Point(2 * b) }

// twiddles are those of blocks one after the other.
type twiddles struct {
	at    uint32
	value gf2.Element
	steps [MaxDim]gf2.Element // steps[t] is the sum of gamma_1 .. gamma_(t+1)
}

func newTwiddles(block uint32) twiddles {
	t := twiddles{at: block, value: Twiddle(block)}
	var sum gf2.Element
	for i := range MaxDim - 1 {
		sum = sum.Add(Basis(i + 1))
		t.steps[i] = sum
	}
	return t
}

// next goes to the next block: the bits that change are the ones at the end of
// the block's number and the zero before them.
func (t *twiddles) next() {
	ones := 0
	for t.at>>ones&1 == 1 {
		ones++
	}
	t.value = t.value.Add(t.steps[ones])
	t.at++
}

// Fold is f_0 + r (f_0 + f_1) where the values of a polynomial f at points 2k and
// 2k+1 are v0 and v1, twiddle is Twiddle(k), and f(x) = f_0(phi(x)) + x f_1(phi(x)):
// the value at point k of the polynomial whose coefficients in the novel basis are
// (1-r) a_(2j) + r a_(2j+1), those of f folded as values of a multilinear polynomial
// in its last variable.
func Fold(v0, v1, twiddle, r gf2.Element) gf2.Element {
	odd := v0.Add(v1)
	even := v0.Add(twiddle.Mul(odd))
	return even.Add(r.Mul(even.Add(odd)))
}
