// Package m31 is the Mersenne prime field of p = 2^31 - 1 elements and its
// extensions: CM31 = M31[i]/(i^2 + 1) of degree 2, and QM31 = CM31[u]/(u^2 -
// 2 - i) of degree 4, from which challenges are drawn (log2 of its size is
// 124.0).
//
// Elements are canonical (below p) at all times, and a slice of any of the
// types is a slice of 32-bit words: the CUDA twin m31.cuh reads and
// writes the same memory.
package m31

// P is the characteristic.
const P = 1<<31 - 1

// Element of the prime field, always below P.
//
// Its methods are written so that the compiler inlines them and the methods of
// the extensions that add: a sum below 2P and the wrapped difference to P, of
// which the smaller one is the residue.
type Element uint32

// New reduces v modulo P.
func New(v uint64) Element { return reduce(v) }

// FromInt is v modulo P, for either sign.
func FromInt(v int64) Element {
	if v < 0 {
		// -(v+1) never overflows, and -v = -(v+1) + 1.
		return reduce(uint64(-(v + 1))).Add(1).Neg()
	}
	return reduce(uint64(v))
}

// One of the prime field.
func One() Element { return 1 }

// Int is the representative of a in (-P/2, P/2), the inverse of FromInt there.
func (a Element) Int() int64 {
	if a > P/2 {
		return int64(a) - P
	}
	return int64(a)
}

// partial folds any 64-bit value to one below 2^34 in the same residue class.
func partial(x uint64) uint64 { return x&P + x>>31 }

// reduce is x mod P for any 64-bit x.
func reduce(x uint64) Element {
	x = x&P + x>>31                    // < 2^34
	r := Element(x&P) + Element(x>>31) // <= P + 7
	return min(r, r-P)                 // r-P wraps to a large number when r < P
}

// reduce62 is x mod P for x at most (P-1)^2 or so (below 2^62 - 2^32).
func reduce62(x uint64) Element {
	r := Element(x&P) + Element(x>>31) // < 2P
	return min(r, r-P)
}

// Add returns a + b.
func (a Element) Add(b Element) Element {
	a += b
	return min(a, a-P)
}

// Sub returns a - b.
func (a Element) Sub(b Element) Element {
	a -= b
	return min(a, a+P)
}

// Mul returns a * b.
func (a Element) Mul(b Element) Element { return reduce62(uint64(a) * uint64(b)) }

// Neg returns -a.
func (a Element) Neg() Element { return Element(0).Sub(a) }

// Double returns 2a.
func (a Element) Double() Element { return a.Add(a) }

// Square returns a^2.
func (a Element) Square() Element { return a.Mul(a) }

// Exp returns a^e, and 1 for e = 0.
func (a Element) Exp(e uint64) Element {
	r := Element(1)
	for ; e != 0; e >>= 1 {
		if e&1 == 1 {
			r = r.Mul(a)
		}
		a = a.Square()
	}
	return r
}

// squares returns a^(2^n).
func (a Element) squares(n int) Element {
	for range n {
		a = a.Square()
	}
	return a
}

// Inverse returns 1/a, and 0 for 0. It is a^(P-2), where P-2 is in binary 29
// ones and 01.
func (a Element) Inverse() Element {
	x2 := a.Square().Mul(a)         // 2 ones
	x3 := x2.Square().Mul(a)        // 3
	x6 := x3.squares(3).Mul(x3)     // 6
	x12 := x6.squares(6).Mul(x6)    // 12
	x24 := x12.squares(12).Mul(x12) // 24
	x27 := x24.squares(3).Mul(x3)   // 27
	x29 := x27.squares(2).Mul(x2)   // 29
	return x29.squares(2).Mul(a)
}

// IsZero says whether a is 0.
func (a Element) IsZero() bool { return a == 0 }

// One is 1, whatever the receiver.
func (Element) One() Element { return 1 }

// FromUint64 is New, as a method for generic code.
func (Element) FromUint64(v uint64) Element { return reduce(v) }

// Degree is 1.
func (Element) Degree() int { return 1 }

// Modulus is P.
func (Element) Modulus() uint32 { return P }

// Uint32 is the element as a number.
func (a Element) Uint32() uint32 { return uint32(a) }
