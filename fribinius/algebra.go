package fribinius

import (
	"math/bits"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// eqPolyval is EqTable in POLYVAL's basis, whose products are the faster ones.
func eqPolyval(point []gf2.Element) []gf2.Polyval {
	t := make([]gf2.Polyval, 1, 1<<len(point))
	t[0] = gf2.OnePolyval()
	for _, z := range point {
		p := z.Polyval()
		t = t[:2*len(t)]
		for i := len(t)/2 - 1; i >= 0; i-- {
			hi := t[i].Mul(p)
			t[2*i], t[2*i+1] = t[i].Add(hi), hi
		}
	}
	return t
}

// EqTable is eq(point, x) for all x of the cube: point's first coordinate belongs to
// the top bit of x.
func EqTable(point []gf2.Element) []gf2.Element {
	t := eqPolyval(point)
	out := make([]gf2.Element, len(t))
	gf2.FromPolyval(out, t)
	return out
}

// Combine is the inner product of 128 elements with eq(r, .), r being seven
// coordinates, the first of the top bit.
func Combine(v, r []gf2.Element) gf2.Element {
	p := make([]gf2.Polyval, len(v))
	gf2.ToPolyval(p, v)
	return gf2.DotPolyval(p, eqPolyval(r)).Element()
}

// Transpose is the 128 elements of which bit v of element u is bit u of v[v]: the rows
// of an element of the algebra GF(2^128) (x) GF(2^128) whose columns are given.
func Transpose(v []gf2.Element) []gf2.Element {
	out := make([]gf2.Element, 128)
	for j, e := range v {
		basis := gf2.Basis(j)
		for b := e.Lo; b != 0; b &= b - 1 {
			u := &out[bits.TrailingZeros64(b)]
			*u = u.Add(basis)
		}
		for b := e.Hi; b != 0; b &= b - 1 {
			u := &out[64+bits.TrailingZeros64(b)]
			*u = u.Add(basis)
		}
	}
	return out
}

// weight is A(r'), the multilinear extension at r' of
//
//	A(y) = sum over u of eq(batch, u) bit u of eq(z, y),
//
// z being the point's first coordinates. In the algebra GF(2^128) (x) GF(2^128) the
// product over i of (1 (x) 1 + z_i (x) 1 + 1 (x) r'_i) is the sum over y of
// eq(z, y) (x) eq(r', y), and row u of it, the factor of Basis(u) on the left, the sum
// of bit u of eq(z, y) times eq(r', y).
func weight(z, r, batch []gf2.Element) gf2.Element {
	rows := make([]gf2.Polyval, 128)
	rows[0] = gf2.OnePolyval()
	for i := range z {
		next := make([]gf2.Polyval, 128)
		gf2.ScalePolyval(next, rows, r[i].Add(gf2.One()).Polyval())
		for u, e := range rows {
			left := z[i].Mul(gf2.Basis(u))
			for _, half := range []struct {
				bits uint64
				rows []gf2.Polyval
			}{{left.Lo, next[:64]}, {left.Hi, next[64:]}} {
				for b := half.bits; b != 0; b &= b - 1 {
					w := &half.rows[bits.TrailingZeros64(b)]
					*w = w.Add(e)
				}
			}
		}
		rows = next
	}
	return gf2.DotPolyval(rows, eqPolyval(batch)).Element()
}

// evaluate is the value at r of the multilinear polynomial with these values on the
// cube, r's first coordinate being of the top bit.
func evaluate(v, r []gf2.Element) gf2.Element {
	v = append([]gf2.Element(nil), v...)
	for _, x := range r {
		half := len(v) / 2
		for i := range half {
			v[i] = v[i].Add(x.Mul(v[i].Add(v[half+i])))
		}
		v = v[:half]
	}
	return v[0]
}
