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
	"math"
	"math/big"
	"runtime"
	"slices"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
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

// Room is memory for the numbers of an addition. Without it every call would allocate
// some: the compiler does not see that a type parameter's methods keep no pointers.
type Room[E any] struct{ a, b, d, e, t, u E }

// Double doubles p.
func (c *Curve[E, F]) Double(p *XYZZ[E]) { c.DoubleIn(p, new(Room[E])) }

// DoubleIn is Double with memory that the caller has.
func (c *Curve[E, F]) DoubleIn(p *XYZZ[E], r *Room[E]) {
	u, v, w, s, m, x := F(&r.a), F(&r.b), F(&r.d), F(&r.e), F(&r.t), F(&r.u)
	u.Double(&p.Y)
	v.Square(u)
	w.Mul(u, v)
	s.Mul(&p.X, v)
	x.Square(&p.X)
	m.Double(x)
	m.Add(m, x)
	if !c.aZero {
		x.Square(&p.ZZ)
		x.Mul(x, &c.A)
		m.Add(m, x)
	}
	x.Square(m)
	x.Sub(x, s)
	F(&p.X).Sub(x, s)
	s.Sub(s, &p.X)
	m.Mul(m, s)
	u.Mul(w, &p.Y)
	F(&p.Y).Sub(m, u)
	F(&p.ZZ).Mul(&p.ZZ, v)
	F(&p.ZZZ).Mul(&p.ZZZ, w)
}

// Add adds q to p.
func (c *Curve[E, F]) Add(p, q *XYZZ[E]) { c.AddIn(p, q, new(Room[E])) }

// AddIn is Add with memory that the caller has.
func (c *Curve[E, F]) AddIn(p, q *XYZZ[E], r *Room[E]) {
	if F(&q.ZZ).IsZero() {
		return
	}
	if F(&p.ZZ).IsZero() {
		*p = *q
		return
	}
	F(&r.u).Mul(&p.X, &q.ZZ)
	F(&r.t).Mul(&p.Y, &q.ZZZ)
	F(&r.d).Mul(&q.X, &p.ZZ)
	F(&r.e).Mul(&q.Y, &p.ZZZ)
	// q may be p, which is doubled.
	if c.finish(p, r) {
		F(&p.ZZ).Mul(&p.ZZ, &q.ZZ)
		F(&p.ZZZ).Mul(&p.ZZZ, &q.ZZZ)
	}
}

// Accumulate adds the affine point q to p.
func (c *Curve[E, F]) Accumulate(p *XYZZ[E], q *Affine[E]) { c.AccumulateIn(p, q, new(Room[E])) }

// AccumulateIn is Accumulate with memory that the caller has.
func (c *Curve[E, F]) AccumulateIn(p *XYZZ[E], q *Affine[E], r *Room[E]) {
	if c.IsInfinity(q) {
		return
	}
	if F(&p.ZZ).IsZero() {
		*p = c.FromAffine(q)
		return
	}
	F(&r.d).Mul(&q.X, &p.ZZ)
	F(&r.e).Mul(&q.Y, &p.ZZZ)
	r.u, r.t = p.X, p.Y
	c.finish(p, r)
}

// finish adds two points that have been brought to the same denominators: x is u and d,
// y is t and e. Where they are the same point p is doubled, and finish says false.
func (c *Curve[E, F]) finish(p *XYZZ[E], r *Room[E]) bool {
	u, s, d, e := F(&r.u), F(&r.t), F(&r.d), F(&r.e)
	d.Sub(d, u)
	e.Sub(e, s)
	if d.IsZero() && e.IsZero() {
		c.DoubleIn(p, r)
		return false
	}
	dd, ddd := F(&r.a), F(&r.b)
	dd.Square(d)
	ddd.Mul(d, dd)
	u.Mul(u, dd)
	d.Square(e)
	d.Sub(d, ddd)
	d.Sub(d, u)
	F(&p.X).Sub(d, u)
	u.Sub(u, &p.X)
	u.Mul(u, e)
	s.Mul(s, ddd)
	F(&p.Y).Sub(u, s)
	F(&p.ZZ).Mul(&p.ZZ, dd)
	F(&p.ZZZ).Mul(&p.ZZZ, ddd)
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
const combineParts = 8

// Combine is Σ 2^Shift · Sum over parts in any order, by Horner's scheme. The doublings
// cannot be shared out: one goroutine does them, and adds the sums of ranges of lower
// shifts when it gets there, which others have made meanwhile. Each range is half as long
// again as the one above: that much more time there is for it.
func (c *Curve[E, F]) Combine(parts []Part[E]) Affine[E] {
	if len(parts) == 0 {
		return Affine[E]{}
	}
	order := func(a, b Part[E]) int { return a.Shift - b.Shift }
	if !slices.IsSortedFunc(parts, order) {
		parts = slices.SortedFunc(slices.Values(parts), order)
	}
	ends := combineRanges(len(parts), min(runtime.GOMAXPROCS(0), 8))
	sums := make([]chan XYZZ[E], len(ends)-1)
	for i := range sums {
		list := parts[ends[i]:ends[i+1]]
		if i == len(sums)-1 {
			break // the highest range is where the doublings begin
		}
		sums[i] = make(chan XYZZ[E], 1)
		go func() { sums[i] <- c.horner(list) }()
	}
	last := len(sums) - 1
	total, shift, room := c.horner(parts[ends[last]:]), parts[ends[last]].Shift, new(Room[E])
	for i := last - 1; i >= 0; i-- {
		c.doubles(&total, shift-parts[ends[i]].Shift, room)
		shift = parts[ends[i]].Shift
		sum := <-sums[i]
		c.AddIn(&total, &sum, room)
	}
	c.doubles(&total, shift, room)
	return c.Affine(&total)
}

// combineRanges cuts n parts into ranges, the lowest first, for so many cores, and gives
// their ends.
func combineRanges(n, cores int) []int {
	const growth = 1.5
	ends := []int{n}
	for k := min(cores, n/combineParts); k > 1; k-- {
		// The highest of k ranges of what is left.
		left := ends[len(ends)-1]
		length := float64(left) * (growth - 1) / (math.Pow(growth, float64(k)) - 1)
		ends = append(ends, left-max(1, int(length)))
	}
	ends = append(ends, 0)
	slices.Reverse(ends)
	return ends
}

// horner is Σ 2^(Shift - least) · Sum over parts in order, the one with the least first.
func (c *Curve[E, F]) horner(parts []Part[E]) XYZZ[E] {
	last := len(parts) - 1
	total, room := parts[last].Sum, new(Room[E])
	for i := last - 1; i >= 0; i-- {
		c.doubles(&total, parts[i+1].Shift-parts[i].Shift, room)
		c.AddIn(&total, &parts[i].Sum, room)
	}
	return total
}

// doubles doubles p n times. Where a is 0 a doubling in Jacobian coordinates (dbl-2009-l
// of the Explicit-Formulas Database, two products and five squares) has two products less
// than one in XYZZ coordinates; the way there and back is four.
func (c *Curve[E, F]) doubles(p *XYZZ[E], n int, r *Room[E]) {
	if !c.aZero || n < 3 {
		for range n {
			c.DoubleIn(p, r)
		}
		return
	}
	// With Z = ZZ: x = X ZZ / Z² and y = Y ZZZ / Z³, as ZZ³ = ZZZ². Infinity stays Z = 0.
	x, y, z := F(&p.X), F(&p.Y), F(&p.ZZ)
	a, b, d, e, t := F(&r.a), F(&r.b), F(&r.d), F(&r.e), F(&r.t)
	x.Mul(x, z)
	y.Mul(y, &p.ZZZ)
	for range n {
		a.Square(x)
		b.Square(y)
		z.Mul(z, y)
		z.Double(z)
		d.Add(x, b)
		d.Square(d)
		b.Square(b)
		d.Sub(d, a)
		d.Sub(d, b)
		d.Double(d)
		e.Double(a)
		e.Add(e, a)
		t.Square(e)
		t.Sub(t, d)
		x.Sub(t, d)
		d.Sub(d, x)
		y.Mul(e, d)
		b.Double(b)
		b.Double(b)
		b.Double(b)
		y.Sub(y, b)
	}
	t.Square(z)
	F(&p.ZZZ).Mul(t, z)
	p.ZZ = r.t
}
