package gf2

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// isomorphism is a map to another basis, by images of the basis, its inverse, and pairs
// and triples of samples.
type isomorphism struct {
	Columns  []Element
	Inverse  []Element    `json:"inverse_columns"`
	Samples  [][2]Element // tower, other
	Products [][3]Element `json:"ghash_products"`
}

func isomorphismOf(t *testing.T, name string) isomorphism {
	t.Helper()
	var v isomorphism
	if err := json.Unmarshal(load(t).Isomorphisms[name], &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Columns) != 128 || len(v.Samples) == 0 {
		t.Fatalf("%s has %d columns and %d samples", name, len(v.Columns), len(v.Samples))
	}
	return v
}

// montgomery is a polynomial times x^128, in POLYVAL's field, bit by bit.
func montgomery(p Element) Polyval {
	for range 128 {
		top := p.Hi >> 63
		p.Hi, p.Lo = p.Hi<<1|p.Lo>>63, p.Lo<<1
		if top == 1 {
			p = p.Add(Element{1, 0xc2 << 56})
		}
	}
	return Polyval(p)
}

func TestPolyvalVectors(t *testing.T) {
	v := isomorphismOf(t, "tower128_to_polyval_binius")
	m := PolyvalMatrix()
	for i, c := range v.Columns {
		if got, want := Polyval(m.Columns[i]), montgomery(c); got != want {
			t.Fatalf("column %d: %v, want %v", i, got, want)
		}
	}
	for _, s := range v.Samples {
		if got, want := s[0].Polyval(), montgomery(s[1]); got != want {
			t.Fatalf("%v: %v, want %v", s[0], got, want)
		}
	}
}

func TestGhashVectors(t *testing.T) {
	v := isomorphismOf(t, "tower128_to_ghash_poly")
	m, inverse := GhashMatrix(), GhashInverse()
	for i := range v.Columns {
		if m.Columns[i] != v.Columns[i] || inverse.Columns[i] != v.Inverse[i] {
			t.Fatalf("column %d: %v and %v, want %v and %v", i, m.Columns[i], inverse.Columns[i], v.Columns[i], v.Inverse[i])
		}
	}
	for _, s := range v.Samples {
		if got := m.Of(s[0]); got != s[1] {
			t.Fatalf("%v: %v, want %v", s[0], got, s[1])
		}
	}
	if len(v.Products) == 0 {
		t.Fatal("no products")
	}
	for _, p := range v.Products {
		if got := mulGhash(p[0], p[1]); got != p[2] {
			t.Fatalf("%v * %v = %v, want %v", p[0], p[1], got, p[2])
		}
	}
}

// The images of the generators are roots of the tower's polynomials, and their choice is
// the documented one.
func TestImages(t *testing.T) {
	below := OnePolyval()
	for j, g := range polyvalImages {
		y := montgomery(Element(g))
		if y.Mul(y).Add(y.Mul(below)) != OnePolyval() {
			t.Errorf("POLYVAL: the image of X_%d is no root", j)
		}
		below = y
	}
	last := One()
	for j, g := range ghashImages {
		if mulGhash(g, g).Add(mulGhash(g, last)) != One() {
			t.Errorf("GHASH: the image of X_%d is no root", j)
		}
		// Of y and y + X', the smaller multiple of X': z and z + 1 differ in bit 0.
		if z := mulGhash(g, exp(last, mulGhash)); z.Bit(0) != 0 {
			t.Errorf("GHASH: the image of X_%d is the larger root", j)
		}
		last = g
	}
}

// exp is 1/a, a^(2^128 - 2).
func exp(a Element, mul func(a, b Element) Element) Element {
	r := One()
	for range 127 {
		a = mul(a, a)
		r = mul(r, a)
	}
	return r
}

func TestPolyval(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		a, b := random(r), random(r)
		p, q := a.Polyval(), b.Polyval()
		switch {
		case p.Element() != a:
			t.Fatal("the element does not come back")
		case p.Mul(q).Element() != a.mul(b):
			t.Fatalf("%v * %v is %v in POLYVAL's basis, %v in the tower's", a, b, p.Mul(q).Element(), a.mul(b))
		case p.Add(q).Element() != a.Add(b):
			t.Fatal("the sum is another")
		case p.Square() != p.Mul(p):
			t.Fatal("the square is another")
		case p.Mul(p.Inverse()) != OnePolyval():
			t.Fatal("the inverse is none")
		case p.Mul(OnePolyval()) != p:
			t.Fatal("1 is not 1")
		}
		ga, gb := GhashMatrix().Of(a), GhashMatrix().Of(b)
		if GhashInverse().Of(mulGhash(ga, gb)) != a.Mul(b) {
			t.Fatal("the product in GHASH's basis is another")
		}
	}
	if !(Polyval{}).IsZero() || !(Polyval{}).Inverse().IsZero() || OnePolyval().IsZero() {
		t.Error("zero is wrong")
	}
}

func TestClmul(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		x, y := r.Uint64(), r.Uint64()
		var lo, hi uint64
		for i := range 64 {
			if y>>i&1 == 1 {
				lo ^= x << i
				hi ^= x >> (64 - i)
			}
		}
		if l, h := clmul(x, y); l != lo || h != hi {
			t.Fatalf("%x * %x = %x %x, want %x %x", x, y, h, l, hi, lo)
		}
	}
}

func TestMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	c, d := random(r), random(r)
	m, n := Multiplication(c), Multiplication(d)
	for range 50 {
		x := random(r)
		if m.Of(x) != c.Mul(x) {
			t.Fatalf("the matrix of %v does not multiply by it", c)
		}
		if m.Times(n).Of(x) != c.Mul(d).Mul(x) {
			t.Fatal("a product of matrices is wrong")
		}
		if m.inverse().Of(m.Of(x)) != x {
			t.Fatal("the inverse is none")
		}
	}
}

// lengths are around the blocks' and chunks' sizes.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 511, 512, 513, 1100}

func randoms[T Words](r *rand.Rand, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(random(r))
	}
	return out
}

// place is n elements at an odd place of longer memory, so that loads are not aligned and
// what lies around is seen when it changes.
func place[T Words](s []T) (inner, all []T) {
	all = make([]T, len(s)+3)
	for i := range all {
		all[i] = T{Lo: 0x1234567, Hi: uint64(i)}
	}
	inner = all[1 : 1+len(s) : 1+len(s)]
	copy(inner, s)
	return inner, all
}

func untouched[T Words](t *testing.T, all []T) {
	t.Helper()
	for _, i := range []int{0, len(all) - 2, len(all) - 1} {
		if all[i] != (T{Lo: 0x1234567, Hi: uint64(i)}) {
			t.Fatalf("%d elements: written outside, at %d", len(all)-3, i-1)
		}
	}
}

// checkVec tries an operation of two operands on all lengths, with dst apart and as one
// of the operands; one is what it does to an element of dst and of both operands.
func checkVec[D, S Words](t *testing.T, name string, f func(dst []D, a, b []S), one func(d D, a, b S) D) {
	t.Helper()
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range lengths {
		a, b := randoms[S](r, n), randoms[S](r, n)
		for alias := range 3 {
			dst, all := place(randoms[D](r, n))
			x, y := append([]S(nil), a...), append([]S(nil), b...)
			if same, ok := any(dst).([]S); ok && alias > 0 {
				copy(same, [][]S{nil, a, b}[alias])
				*[]*[]S{nil, &x, &y}[alias] = same
			}
			want := make([]D, n)
			for i := range want {
				want[i] = one(dst[i], a[i], b[i])
			}
			f(dst, x, y)
			for i := range want {
				if dst[i] != want[i] {
					t.Fatalf("%s of %d, alias %d: element %d is %v, want %v", name, n, alias, i, dst[i], want[i])
				}
			}
			untouched(t, all)
		}
	}
}

func TestSlices(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		s := random(r)
		p := s.Polyval()
		checkVec(t, "MulPolyval", MulPolyval, func(_, a, b Polyval) Polyval { return a.mul(b) })
		checkVec(t, "ScalePolyval", func(dst, a, _ []Polyval) { ScalePolyval(dst, a, p) }, func(_, a, _ Polyval) Polyval { return a.mul(p) })
		checkVec(t, "MulAddPolyval", func(dst, a, _ []Polyval) { MulAddPolyval(dst, a, p) }, func(d, a, _ Polyval) Polyval { return d.Add(a.mul(p)) })
		checkVec(t, "FoldPolyval", func(dst, a, b []Polyval) { FoldPolyval(dst, a, b, p) }, func(_, a, b Polyval) Polyval { return a.Add(p.mul(a.Add(b))) })
		checkVec(t, "ToPolyval", func(dst []Polyval, a, _ []Element) { ToPolyval(dst, a) }, func(_ Polyval, a, _ Element) Polyval { return a.Polyval() })
		checkVec(t, "FromPolyval", func(dst []Element, a, _ []Polyval) { FromPolyval(dst, a) }, func(_ Element, a, _ Polyval) Element { return a.Element() })
		checkVec(t, "AddVec", AddVec, func(_, a, b Element) Element { return a.Add(b) })
		checkVec(t, "MulVec", MulVec, func(_, a, b Element) Element { return a.mul(b) })
		checkVec(t, "ScaleVec", func(dst, a, _ []Element) { ScaleVec(dst, a, s) }, func(_, a, _ Element) Element { return a.mul(s) })
		checkVec(t, "MulAddVec", func(dst, a, _ []Element) { MulAddVec(dst, a, s) }, func(d, a, _ Element) Element { return d.Add(a.mul(s)) })
		checkVec(t, "FoldVec", func(dst, a, b []Element) { FoldVec(dst, a, b, s) }, func(_, a, b Element) Element { return a.Add(s.mul(a.Add(b))) })
		m, n := Multiplication(s), &Matrix{[128]Element(randoms[Element](r, 128))}
		checkVec(t, "Apply", func(dst, a, _ []Element) { Apply(dst, a, n) }, func(_, a, _ Element) Element { return n.Of(a) })
		checkVec(t, "ApplySum", func(dst []Polyval, a, b []Element) { ApplySum(dst, [][]Element{a, b, a}, []*Matrix{m, n, n}) },
			func(_ Polyval, a, b Element) Polyval { return Polyval(m.Of(a).Add(n.Of(b)).Add(n.Of(a))) })
		for _, length := range lengths {
			a, b := randoms[Element](r, length), randoms[Element](r, length)
			var want Element
			p, q := make([]Polyval, length), make([]Polyval, length)
			for i := range a {
				want = want.Add(a[i].mul(b[i]))
				p[i], q[i] = a[i].Polyval(), b[i].Polyval()
			}
			if got := Dot(a, b); got != want {
				t.Fatalf("Dot of %d: %v, want %v", length, got, want)
			}
			if got := DotPolyval(p, q); got != want.Polyval() {
				t.Fatalf("DotPolyval of %d: %v, want %v", length, got, want.Polyval())
			}
		}
	})
}

// FuzzProducts: the product by definition's code, in POLYVAL's basis, in GHASH's, by a
// matrix and by slices of any length is one.
func FuzzProducts(f *testing.F) {
	f.Add(uint64(1), uint64(0), uint64(2), uint64(3), uint8(65))
	f.Add(^uint64(0), ^uint64(0), ^uint64(0), uint64(1)<<63, uint8(4))
	f.Fuzz(func(t *testing.T, a, b, c, d uint64, n uint8) {
		x, y := Element{a, b}, Element{c, d}
		want := x.mul(y)
		if got := x.Polyval().mul(y.Polyval()).Element(); got != want {
			t.Fatalf("%v * %v is %v in POLYVAL's basis, want %v", x, y, got, want)
		}
		if got := GhashInverse().Of(mulGhash(GhashMatrix().Of(x), GhashMatrix().Of(y))); got != want {
			t.Fatalf("%v * %v is %v in GHASH's basis, want %v", x, y, got, want)
		}
		if got := Multiplication(x).Of(y); got != want {
			t.Fatalf("%v * %v is %v by a matrix, want %v", x, y, got, want)
		}
		if !x.IsZero() && want.Mul(x.Inverse()) != y {
			t.Fatalf("%v * %v divided by the first is %v", x, y, want.Mul(x.Inverse()))
		}
		// Powers of a number, so that elements differ.
		xs, ys := make([]Element, n), make([]Element, n)
		for i := range xs {
			xs[i], ys[i] = x, y
			x = x.Mul(Number(uint64(n) + 2))
		}
		got := make([]Element, n)
		MulVec(got, xs, ys)
		var sum Element
		for i := range got {
			p := xs[i].Mul(y)
			if sum = sum.Add(p); got[i] != p {
				t.Fatalf("element %d of %d: %v * %v = %v, want %v", i, n, xs[i], y, got[i], p)
			}
		}
		if got := Dot(xs, ys); got != sum {
			t.Fatalf("the sum of %d products is %v, want %v", n, got, sum)
		}
	})
}

func BenchmarkPolyval(b *testing.B) {
	const n = 4096
	r := rand.New(rand.NewPCG(17, 18))
	p, q, d := randoms[Polyval](r, n), randoms[Polyval](r, n), make([]Polyval, n)
	e, f, g := randoms[Element](r, n), randoms[Element](r, n), make([]Element, n)
	s := random(r)
	m := Multiplication(s)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"MulPolyval", func() { MulPolyval(d, p, q) }},
		{"ScalePolyval", func() { ScalePolyval(d, p, q[0]) }},
		{"FoldPolyval", func() { FoldPolyval(d, p, q, q[0]) }},
		{"DotPolyval", func() { DotPolyval(p, q) }},
		{"ToPolyval", func() { ToPolyval(d, e) }},
		{"Apply", func() { Apply(g, e, m) }},
		{"MulVec", func() { MulVec(g, e, f) }},
		{"FoldVec", func() { FoldVec(g, e, f, s) }},
		{"Dot", func() { Dot(e, f) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			eachVariantOf(b, func(b *testing.B) {
				for range b.N {
					c.f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		})
	}
}
