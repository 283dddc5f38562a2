package ntt

import (
	"github.com/zkwarp/zkwarp/field/m31"
)

// MaxLogCM31 is the largest n for which 2^n points of CM31 are used. Indices
// of that many bits can still be drawn from one base field element.
const MaxLogCM31 = 30

// root32 generates the 2^32-th roots of unity of CM31: it is 2+i to the power
// (P^2-1)/2^32.
var root32 = m31.CM31{Re: 21189756, Im: 42379512}

// CM31 is the transform over the complex extension of Mersenne-31, whose
// multiplicative group has order 2^32 times an odd number.
type CM31 struct{}

var _ Transform[m31.CM31] = CM31{}

var cm31 = engine[m31.CM31]{
	maxLog: MaxLogCM31,
	root:   CM31{}.Root,
	scale:  m31.ScaleVecCM31,
	add: func(dst, a, b []m31.CM31) {
		m31.AddVec(m31.PairWords(dst), m31.PairWords(a), m31.PairWords(b))
	},
	sub: func(dst, a, b []m31.CM31) {
		m31.SubVec(m31.PairWords(dst), m31.PairWords(a), m31.PairWords(b))
	},
	mul:     m31.MulVecCM31,
	radix4:  m31.Radix4,
	radix16: m31.Radix16,
}

// MaxLog is MaxLogCM31.
func (CM31) MaxLog() int { return MaxLogCM31 }

// Root returns the generator of the 2^n-th roots of unity.
func (CM31) Root(n int) m31.CM31 {
	r := root32
	for range 32 - n {
		r = r.Square()
	}
	return r
}

// Forward evaluates columns of coefficients, in natural order.
func (CM31) Forward(data []m31.CM31, n int) error { return cm31.natural(data, n) }

// ForwardReversed evaluates columns of which only the first 2^live
// coefficients may be non-zero, and leaves the values in bit-reversed order.
func (CM31) ForwardReversed(data []m31.CM31, n, live int) error { return cm31.reversed(data, n, live) }

// ForwardWide is ForwardReversed for each of the width coordinates of elements.
func (CM31) ForwardWide(data []m31.CM31, width, n, live int) error {
	return cm31.wide(data, width, n, live)
}

// Inverse undoes Forward.
func (CM31) Inverse(data []m31.CM31, n int) error { return cm31.inverse(data, n) }
