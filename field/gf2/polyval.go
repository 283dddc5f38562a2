package gf2

import (
	"fmt"
	"sync"
)

// Polyval is GF(2^128) in the basis that processors with carry-less products like:
// polynomials over GF(2) modulo x^128 + x^127 + x^126 + x^121 + 1, the field of
// POLYVAL (RFC 8452, section 3), times x^128. So the product of two is their
// polynomials' product times x^-128, which is what takes two carry-less products to
// reduce; 1 is x^128. Every number is an element and every element is one number.
//
// Element.Polyval is an isomorphism: the one of binius (crates/field/src/polyval.rs).
type Polyval struct{ Lo, Hi uint64 }

// OnePolyval is 1, x^128 modulo the polynomial.
func OnePolyval() Polyval { return Polyval{1, 0xc2 << 56} }

// String is the number in hexadecimal, 32 digits.
func (p Polyval) String() string { return fmt.Sprintf("%016x%016x", p.Hi, p.Lo) }

// IsZero says whether p is 0.
func (p Polyval) IsZero() bool { return p == Polyval{} }

// Add returns p + q, which is p - q as well.
func (p Polyval) Add(q Polyval) Polyval { return Polyval{p.Lo ^ q.Lo, p.Hi ^ q.Hi} }

// Mul returns p * q.
func (p Polyval) Mul(q Polyval) Polyval {
	if r, ok := carryless(p, q); ok {
		return r
	}
	return p.mul(q)
}

// mul is Mul without instructions for it.
func (p Polyval) mul(q Polyval) Polyval {
	l0, l1 := clmul(p.Lo, q.Lo)
	h0, h1 := clmul(p.Hi, q.Hi)
	m0, m1 := clmul(p.Lo^p.Hi, q.Lo^q.Hi)
	return reducePolyval(l0, l1^m0^l0^h0, h0^m1^l1^h1, h1)
}

// Square returns p^2.
func (p Polyval) Square() Polyval {
	l0, l1 := spread(p.Lo)
	h0, h1 := spread(p.Hi)
	return reducePolyval(l0, l1, h0, h1)
}

// Inverse returns 1/p, and 0 for 0.
func (p Polyval) Inverse() Polyval { return p.Element().Inverse().Polyval() }

// reducePolyval is the polynomial of 256 bits times x^-128. The lowest 64 bits w go when w
// times the field's polynomial is added, and then the next 64.
func reducePolyval(w0, w1, w2, w3 uint64) Polyval {
	w1 ^= w0<<57 ^ w0<<62 ^ w0<<63
	w2 ^= w0 ^ w0>>1 ^ w0>>2 ^ w0>>7
	w2 ^= w1<<57 ^ w1<<62 ^ w1<<63
	w3 ^= w1 ^ w1>>1 ^ w1>>2 ^ w1>>7
	return Polyval{w2, w3}
}

// clmul is the carry-less product of two words, four bits of y at a time.
func clmul(x, y uint64) (lo, hi uint64) {
	// Multiples of x without its top three bits, so that they fit a word.
	var m [16]uint64
	m[1] = x << 3 >> 3
	for i := 2; i < 16; i += 2 {
		m[i] = m[i/2] << 1
		m[i+1] = m[i] ^ m[1]
	}
	for i := 60; i >= 0; i -= 4 {
		hi = hi<<4 | lo>>60
		lo = lo<<4 ^ m[y>>i&15]
	}
	for i := uint(61); i < 64; i++ {
		mask := -(x >> i & 1)
		lo ^= y << i & mask
		hi ^= y >> (64 - i) & mask
	}
	return lo, hi
}

// spread is the carry-less square of a word: its bits with zeros between them.
func spread(x uint64) (lo, hi uint64) { return spread32(x & 0xffffffff), spread32(x >> 32) }

func spread32(x uint64) uint64 {
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}

// polyvalImages are the polynomials of X_0 .. X_6: roots of Y^2 + Y X' + 1, X' being the
// image before. At each level there are two, Y and Y + X'; these are binius' choice.
var polyvalImages = [7]Polyval{
	{0x7438565fefb04f9c, 0x55fbb0c860218503},
	{0xcffbfa94d58acc86, 0x658b0f55789840cc},
	{0x29c2df25a24a373d, 0xe84ba116ff83234d},
	{0x5fd1f5e1dc95ce03, 0x53a589c56caf0fa5},
	{0x1a96ca1a2701c2d3, 0x56acb5cc1f426a77},
	{0xcf66615ce2dc5ffd, 0x16f56c7b3e02e72f},
	{0x14d6b6b8e22c201f, 0x22e14b670efc0548},
}

// ghashImages are those of X_0 .. X_6 in polynomials modulo x^128 + x^7 + x^2 + x + 1,
// bit i being the coefficient of x^i: the basis of binius64. (GHASH itself, NIST SP
// 800-38D, writes the bits of a byte in the other order.) Of the two roots at each level
// they are the smaller multiple of the image before.
var ghashImages = [7]Element{
	{0x676aac9fa4b20b08, 0x295ac0b1f4731af9},
	{0x34d2f7fba603e341, 0x500317bd159d73bb},
	{0x77eda49fad5950db, 0xd7272761ca8e2877},
	{0x77be5724c64eb1d2, 0xf7ee5366ad8dcdf0},
	{0x1428b68814f535be, 0x218cc1384d3fe56b},
	{0x994e36d0d1df3b3d, 0x2c2fcdaa2679817f},
	{0xb7b73094152f7631, 0xe4f21e8c8ec8031c},
}

// basisOf is the images of the 128 basis elements, products of those of the generators.
func basisOf[T Words](one T, generators [7]T, mul func(a, b T) T) *Matrix {
	var m Matrix
	images := [128]T{one}
	for j, g := range generators {
		for i := range 1 << j {
			images[1<<j+i] = mul(images[i], g)
		}
	}
	for i, v := range images {
		m.Columns[i] = Element(v)
	}
	return &m
}

var polyvalMaps = sync.OnceValue(func() *mapPair {
	generators := polyvalImages
	for j := range generators {
		for range 128 { // times x
			g := &generators[j]
			carry := -(g.Hi >> 63)
			g.Hi, g.Lo = g.Hi<<1|g.Lo>>63, g.Lo<<1
			g.Lo ^= carry & 1
			g.Hi ^= carry & (0xc2 << 56)
		}
	}
	return newMapPair(basisOf(OnePolyval(), generators, Polyval.Mul))
})

var ghashMaps = sync.OnceValue(func() *mapPair {
	return newMapPair(basisOf(One(), ghashImages, mulGhash))
})

// mulGhash is a product of polynomials modulo x^128 + x^7 + x^2 + x + 1.
func mulGhash(a, b Element) Element {
	var r Element
	for i := 127; i >= 0; i-- {
		carry := -(r.Hi >> 63)
		r.Hi, r.Lo = r.Hi<<1|r.Lo>>63, r.Lo<<1^carry&0x87
		r = r.Add(a.MulBit(b.Bit(i)))
	}
	return r
}

// PolyvalMatrix is the map of Element.Polyval. It is the caller's.
func PolyvalMatrix() *Matrix { m := *polyvalMaps().to.Matrix; return &m }

// PolyvalInverse is the map of Polyval.Element. It is the caller's.
func PolyvalInverse() *Matrix { m := *polyvalMaps().from.Matrix; return &m }

// GhashMatrix is an isomorphism to polynomials modulo x^128 + x^7 + x^2 + x + 1, where
// bit i is the coefficient of x^i. It is the caller's.
func GhashMatrix() *Matrix { m := *ghashMaps().to.Matrix; return &m }

// GhashInverse is the inverse of GhashMatrix. It is the caller's.
func GhashInverse() *Matrix { m := *ghashMaps().from.Matrix; return &m }

// PolyvalTables are the maps of Element.Polyval and Polyval.Element for devices, 512
// elements each: entry 16i + v is the value at the element with v in its i-th four bits.
func PolyvalTables() (to, from []Element) {
	m := polyvalMaps()
	for i := range 32 {
		to = append(to, m.to.nibbles[i][:]...)
		from = append(from, m.from.nibbles[i][:]...)
	}
	return to, from
}

// Polyval is the element in POLYVAL's basis.
func (a Element) Polyval() Polyval { return Polyval(polyvalMaps().to.of(a)) }

// Element is p in the tower's basis.
func (p Polyval) Element() Element { return polyvalMaps().from.of(Element(p)) }

// ToPolyval sets dst[i] to src[i] in POLYVAL's basis.
func ToPolyval(dst []Polyval, src []Element) {
	m := polyvalMaps().to
	applyAll(dst, [][]Element{src}, []*Matrix{m.Matrix}, m)
}

// FromPolyval sets dst[i] to src[i] in the tower's basis.
func FromPolyval(dst []Element, src []Polyval) {
	m := polyvalMaps().from
	applyAll(dst, [][]Polyval{src}, []*Matrix{m.Matrix}, m)
}
