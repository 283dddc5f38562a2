// Package gf2 is the tower of binary fields of Wiedemann and of Fan and Paar,
// GF(2), GF(4), .. GF(2^128), in which Binius and SumCATS work, and columns of
// bits packed into words.
//
// The field of 2^(2^k) elements is T_k = T_(k-1)[X_(k-1)] / (X_(k-1)^2 +
// X_(k-1) X_(k-2) + 1), where T_0 = GF(2) and X_(-1) = 1. An element is a number
// of 2^k bits: bit i is the coefficient of the product of the X_j over the set
// bits j of i. So the low half of a number is the constant term and the high
// half the coefficient of X_(k-1); X_j is the number 1 << (1 << j); and a
// subfield is the elements whose high bits are zero, so that a number means the
// same element in every field that holds it.
//
// Every number is an element and every element is one number. In memory it is
// 16 bytes, little-endian; on a device (gf2.cuh) four 32-bit words, the lowest
// first.
package gf2

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Size is the number of bytes of an element.
const Size = 16

// Element of GF(2^128). == is equality in the field and the zero value is zero.
type Element struct{ Lo, Hi uint64 }

// One of the field.
func One() Element { return Element{Lo: 1} }

// Number is the element whose number is v, in GF(2^64) and every field above: the
// points 0, 1, 2, .. of an interpolation. 2 and 3 are the roots of Y^2 + Y + 1, the other
// two elements of GF(4), and the square of each other.
func Number(v uint64) Element { return Element{Lo: v} }

// FromBytes is the element of 16 bytes, little-endian. Every string is one.
func FromBytes(b [Size]byte) Element {
	return Element{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// Bytes of the element, little-endian.
func (a Element) Bytes() (b [Size]byte) {
	binary.LittleEndian.PutUint64(b[:], a.Lo)
	binary.LittleEndian.PutUint64(b[8:], a.Hi)
	return b
}

// String is the element's number in hexadecimal, 32 digits.
func (a Element) String() string { return fmt.Sprintf("%016x%016x", a.Hi, a.Lo) }

// Level is the smallest k for which the element is in the subfield of 2^(2^k) elements, 0
// to 7: its number is below 2^(2^k).
func (a Element) Level() int {
	n := bits.Len64(a.Lo)
	if a.Hi != 0 {
		n = 64 + bits.Len64(a.Hi)
	}
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}

// Bit i of the element, 0 or 1; i is taken modulo 128.
func (a Element) Bit(i int) uint {
	w := a.Lo
	if i&64 != 0 {
		w = a.Hi
	}
	return uint(w>>(i&63)) & 1
}

// Basis is the element with bit i only (i modulo 128): the product of the X_j
// over the set bits j of i.
func Basis(i int) Element {
	if i&64 != 0 {
		return Element{Hi: 1 << (i & 63)}
	}
	return Element{Lo: 1 << (i & 63)}
}

// Add returns a + b, which is a - b as well.
func (a Element) Add(b Element) Element { return Element{a.Lo ^ b.Lo, a.Hi ^ b.Hi} }

// Sub returns a - b, which is a + b.
func (a Element) Sub(b Element) Element { return a.Add(b) }

// Neg returns -a, which is a.
func (a Element) Neg() Element { return a }

// Double returns 2a, which is zero.
func (Element) Double() Element { return Element{} }

// IsZero says whether a is 0.
func (a Element) IsZero() bool { return a == Element{} }

// One is 1, whatever the receiver.
func (Element) One() Element { return One() }

// FromUint64 is v modulo the characteristic, 0 or 1. (The element whose number is
// v is Number(v).)
func (Element) FromUint64(v uint64) Element { return Element{Lo: v & 1} }

// Degree is the number of 32-bit words of an element.
func (Element) Degree() int { return 4 }

// AppendWords appends the four words, lowest bits first.
func (a Element) AppendWords(w []uint32) []uint32 {
	return append(w, uint32(a.Lo), uint32(a.Lo>>32), uint32(a.Hi), uint32(a.Hi>>32))
}

// SetWords is the element of four words.
func (Element) SetWords(w []uint32) (Element, error) {
	if len(w) != 4 {
		return Element{}, fmt.Errorf("gf2: an element is 4 words, got %d", len(w))
	}
	return Element{uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32}, nil
}

// Mul returns a * b.
func (a Element) Mul(b Element) Element {
	// With carry-less products the way through POLYVAL's basis is twice as fast.
	if hasCarryless() {
		return a.Polyval().Mul(b.Polyval()).Element()
	}
	return a.mul(b)
}

// mul is Mul by the tower's rule.
func (a Element) mul(b Element) Element {
	z0 := mul64(a.Lo, b.Lo)
	z2 := mul64(a.Hi, b.Hi)
	z1 := mul64(a.Lo^a.Hi, b.Lo^b.Hi)
	// X^2 = X X' + 1 for the generators X of this field and X' of the one below.
	return Element{z0 ^ z2, z1 ^ z0 ^ z2 ^ mulX64(z2)}
}

// MulX returns a * X_6, the product with the top generator, bit 64.
func (a Element) MulX() Element { return Element{a.Hi, a.Lo ^ mulX64(a.Hi)} }

// MulBit returns a times a bit, of which only the lowest counts.
func (a Element) MulBit(bit uint) Element {
	m := -uint64(bit & 1)
	return Element{a.Lo & m, a.Hi & m}
}

// Square returns a^2. Squaring is linear: it takes no product.
func (a Element) Square() Element {
	lo, hi := square64(a.Lo), square64(a.Hi)
	return Element{lo ^ hi, mulX64(hi)}
}

// Exp returns a^e, and 1 for e = 0.
func (a Element) Exp(e uint64) Element {
	r := One()
	for ; e != 0; e >>= 1 {
		if e&1 == 1 {
			r = r.Mul(a)
		}
		a = a.Square()
	}
	return r
}

// Inverse returns 1/a, and 0 for 0. The conjugate of a0 + a1 X over the field
// below is a0 + a1 (X + X'), and their product is in that field.
func (a Element) Inverse() Element {
	x := mulX64(a.Hi)
	n := inverse64(square64(a.Lo) ^ mul64(a.Lo, x) ^ square64(a.Hi))
	return Element{mul64(a.Lo^x, n), mul64(a.Hi, n)}
}
