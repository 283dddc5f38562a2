// Package weierstrass is arithmetic of points on the host, for every curve
// y² = x³ + a x + b and every field whose elements have gnark-crypto's methods: the
// sums of MNT4-753, which gnark-crypto does not have, of the curve of tests, and what
// is left to do on the host when a GPU has added.
//
// Formulas are those of the kernels (curve/xyzz.cuh): madd-2008-s, add-2008-s and
// dbl-2008-s-1 of the Explicit-Formulas Database, complete in what they take.
package weierstrass

import (
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Field is the arithmetic of a field's elements E, as gnark-crypto's types have it.
type Field[E any] interface {
	*E
	Add(x, y *E) *E
	Sub(x, y *E) *E
	Double(x *E) *E
	Neg(x *E) *E
	Mul(x, y *E) *E
	Square(x *E) *E
	Inverse(x *E) *E
	Equal(x *E) bool
	IsZero() bool
	SetOne() *E
}

// Affine is a point, infinity as (0, 0): the layout of gnark-crypto's affine points.
type Affine[E any] struct{ X, Y E }

// XYZZ is a point with x = X/ZZ, y = Y/ZZZ and ZZ³ = ZZZ². ZZ is 0 at infinity.
type XYZZ[E any] struct{ X, Y, ZZ, ZZZ E }

// Curve is one group. Its methods may be called from many goroutines.
type Curve[E any, F Field[E]] struct {
	A, B      E
	Generator Affine[E]
	Order     *big.Int // of the group

	aZero bool
}

// New returns a group's arithmetic over the elements E, whose size must be that of the
// group's coordinates.
func New[E any, F Field[E]](g *curve.Group) *Curve[E, F] {
	c := &Curve[E, F]{Order: g.Scalar.Modulus}
	set := func(e *E, v []*big.Int) {
		to := words(e)
		if len(to) != g.Degree*g.Base.Limbs {
			panic(fmt.Sprintf("weierstrass: %s has coordinates of %d words, %T has %d", g.Name, g.Degree*g.Base.Limbs, *e, len(to)))
		}
		for i, x := range v {
			copy(to[i*g.Base.Limbs:], g.Base.Montgomery(x))
		}
	}
	set(&c.A, g.A)
	set(&c.B, g.B)
	set(&c.Generator.X, g.Generator[:g.Degree])
	set(&c.Generator.Y, g.Generator[g.Degree:])
	c.aZero = F(&c.A).IsZero()
	return c
}

// words are the 32-bit words of an element, an array of 64-bit ones, or of a few.
func words[T any](v *T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(v)), unsafe.Sizeof(*v)/4)
}

// FromWords is the sum whose words a kernel wrote, false if their number is wrong.
func FromWords[E any](w []uint32) (XYZZ[E], bool) {
	var p XYZZ[E]
	to := words(&p)
	return p, copy(to, w) == len(to) && len(w) == len(to)
}

// IsInfinity tells whether p is the group's zero.
func (c *Curve[E, F]) IsInfinity(p *Affine[E]) bool { return F(&p.X).IsZero() && F(&p.Y).IsZero() }

// Equal tells whether two points are the same.
func (c *Curve[E, F]) Equal(p, q *Affine[E]) bool { return F(&p.X).Equal(&q.X) && F(&p.Y).Equal(&q.Y) }

// Neg is -p.
func (c *Curve[E, F]) Neg(p Affine[E]) Affine[E] {
	F(&p.Y).Neg(&p.Y)
	return p
}

// OnCurve tells whether p is on the curve, which infinity is.
func (c *Curve[E, F]) OnCurve(p *Affine[E]) bool {
	if c.IsInfinity(p) {
		return true
	}
	var l, r E
	F(&l).Square(&p.Y)
	F(&r).Square(&p.X)
	F(&r).Add(&r, &c.A)
	F(&r).Mul(&r, &p.X)
	F(&r).Add(&r, &c.B)
	return F(&l).Equal(&r)
}

// FromAffine is p as a sum.
func (c *Curve[E, F]) FromAffine(p *Affine[E]) XYZZ[E] {
	var r XYZZ[E]
	if !c.IsInfinity(p) {
		r.X, r.Y = p.X, p.Y
		F(&r.ZZ).SetOne()
		F(&r.ZZZ).SetOne()
	}
	return r
}

// Double doubles p.
func (c *Curve[E, F]) Double(p *XYZZ[E]) {
	var u, v, w, s, m, x E
	F(&u).Double(&p.Y)
	F(&v).Square(&u)
	F(&w).Mul(&u, &v)
	F(&s).Mul(&p.X, &v)
	F(&x).Square(&p.X)
	F(&m).Double(&x)
	F(&m).Add(&m, &x)
	if !c.aZero {
		F(&x).Square(&p.ZZ)
		F(&x).Mul(&x, &c.A)
		F(&m).Add(&m, &x)
	}
	F(&x).Square(&m)
	F(&x).Sub(&x, &s)
	F(&x).Sub(&x, &s)
	F(&s).Sub(&s, &x)
	F(&m).Mul(&m, &s)
	F(&u).Mul(&w, &p.Y)
	p.X = x
	F(&p.Y).Sub(&m, &u)
	F(&p.ZZ).Mul(&p.ZZ, &v)
	F(&p.ZZZ).Mul(&p.ZZZ, &w)
}

// Add adds q to p.
func (c *Curve[E, F]) Add(p, q *XYZZ[E]) {
	if F(&q.ZZ).IsZero() {
		return
	}
	if F(&p.ZZ).IsZero() {
		*p = *q
		return
	}
	var u, s, d, e E
	F(&u).Mul(&p.X, &q.ZZ)
	F(&s).Mul(&p.Y, &q.ZZZ)
	F(&d).Mul(&q.X, &p.ZZ)
	F(&e).Mul(&q.Y, &p.ZZZ)
	zz, zzz := q.ZZ, q.ZZZ
	if c.finish(p, &u, &s, &d, &e) {
		F(&p.ZZ).Mul(&p.ZZ, &zz)
		F(&p.ZZZ).Mul(&p.ZZZ, &zzz)
	}
}

// Accumulate adds the affine point q to p.
func (c *Curve[E, F]) Accumulate(p *XYZZ[E], q *Affine[E]) {
	if c.IsInfinity(q) {
		return
	}
	if F(&p.ZZ).IsZero() {
		*p = c.FromAffine(q)
		return
	}
	var d, e E
	F(&d).Mul(&q.X, &p.ZZ)
	F(&e).Mul(&q.Y, &p.ZZZ)
	u, s := p.X, p.Y
	c.finish(p, &u, &s, &d, &e)
}

// finish adds two points that have been brought to the same denominators: x is u and d,
// y is s and e. Where they are the same point p is doubled, and finish says false.
func (c *Curve[E, F]) finish(p *XYZZ[E], u, s, d, e *E) bool {
	F(d).Sub(d, u)
	F(e).Sub(e, s)
	if F(d).IsZero() && F(e).IsZero() {
		c.Double(p)
		return false
	}
	var dd, ddd, v, x E
	F(&dd).Square(d)
	F(&ddd).Mul(d, &dd)
	F(&v).Mul(u, &dd)
	F(&x).Square(e)
	F(&x).Sub(&x, &ddd)
	F(&x).Sub(&x, &v)
	F(&x).Sub(&x, &v)
	F(&v).Sub(&v, &x)
	F(&v).Mul(&v, e)
	F(s).Mul(s, &ddd)
	p.X = x
	F(&p.Y).Sub(&v, s)
	F(&p.ZZ).Mul(&p.ZZ, &dd)
	F(&p.ZZZ).Mul(&p.ZZZ, &ddd)
	return true
}

// Affine is the point of a sum, by one inversion.
func (c *Curve[E, F]) Affine(p *XYZZ[E]) Affine[E] {
	var r Affine[E]
	if F(&p.ZZ).IsZero() {
		return r
	}
	// 1/ZZ = (ZZ/ZZZ)², as ZZ³ = ZZZ².
	var inv E
	F(&inv).Inverse(&p.ZZZ)
	F(&r.Y).Mul(&p.Y, &inv)
	F(&inv).Mul(&inv, &p.ZZ)
	F(&inv).Square(&inv)
	F(&r.X).Mul(&p.X, &inv)
	return r
}

// BatchAffine are the points of many sums, by one inversion.
func (c *Curve[E, F]) BatchAffine(p []XYZZ[E]) []Affine[E] {
	inv := make([]E, len(p))
	for i := range p {
		inv[i] = p[i].ZZZ
	}
	batchInvert[E, F](inv, make([]E, len(p)))
	out := make([]Affine[E], len(p))
	for i := range p {
		if F(&p[i].ZZ).IsZero() {
			continue
		}
		F(&out[i].Y).Mul(&p[i].Y, &inv[i])
		F(&inv[i]).Mul(&inv[i], &p[i].ZZ)
		F(&inv[i]).Square(&inv[i])
		F(&out[i].X).Mul(&p[i].X, &inv[i])
	}
	return out
}

// batchInvert inverts all elements but the zeros (Montgomery's trick); before is room.
func batchInvert[E any, F Field[E]](v, before []E) {
	var acc E
	F(&acc).SetOne()
	for i := range v {
		before[i] = acc
		if !F(&v[i]).IsZero() {
			F(&acc).Mul(&acc, &v[i])
		}
	}
	F(&acc).Inverse(&acc)
	for i := len(v) - 1; i >= 0; i-- {
		if F(&v[i]).IsZero() {
			continue
		}
		next := v[i]
		F(&v[i]).Mul(&acc, &before[i])
		F(&acc).Mul(&acc, &next)
	}
}

// Mul is k p, for any k.
func (c *Curve[E, F]) Mul(p Affine[E], k *big.Int) Affine[E] {
	if k.Sign() < 0 {
		p, k = c.Neg(p), new(big.Int).Neg(k)
	}
	var r XYZZ[E]
	for i := k.BitLen() - 1; i >= 0; i-- {
		c.Double(&r)
		if k.Bit(i) == 1 {
			c.Accumulate(&r, &p)
		}
	}
	return c.Affine(&r)
}

// Part is a sum that counts 2^Shift times.
type Part[E any] struct {
	Shift int
	Sum   XYZZ[E]
}

// combineParts is how many parts a core takes at least: some microseconds of additions.
const combineParts = 16

// Combine is Σ 2^Shift · Sum over parts in any order, by Horner's scheme: by ranges of
// shifts on several cores, and over the ranges' sums.
func (c *Curve[E, F]) Combine(parts []Part[E]) Affine[E] {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b Part[E]) int { return a.Shift - b.Shift })
	ranges := max(1, min(runtime.GOMAXPROCS(0), 8, len(sorted)/combineParts))
	if len(sorted) == 0 {
		return Affine[E]{}
	}
	sums := make([]Part[E], ranges)
	parallel.For(ranges, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			list := sorted[i*len(sorted)/ranges : (i+1)*len(sorted)/ranges]
			sums[i] = Part[E]{list[0].Shift, c.horner(list)}
		}
	})
	total := c.horner(sums)
	for range sums[0].Shift {
		c.Double(&total)
	}
	return c.Affine(&total)
}

// horner is Σ 2^(Shift - least) · Sum over parts in order, the one with the least first.
func (c *Curve[E, F]) horner(parts []Part[E]) XYZZ[E] {
	last := len(parts) - 1
	r := parts[last].Sum
	for i := last - 1; i >= 0; i-- {
		for range parts[i+1].Shift - parts[i].Shift {
			c.Double(&r)
		}
		c.Add(&r, &parts[i].Sum)
	}
	return r
}
