package m31

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func randomWords(r *rand.Rand, n int) []Element {
	out := make([]Element, n)
	for i := range out {
		switch r.IntN(4) {
		case 0:
			out[i] = P - 1
		case 1:
			out[i] = Element(r.IntN(2))
		default:
			out[i] = Element(r.Uint64N(P))
		}
	}
	return out
}

// Every slice operation against one element at a time, into fresh memory and
// into an operand.
func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 17))
	s, c := Element(P-2), Quads(randomWords(r, 4))[0]
	for n := range 20 {
		a, b := randomWords(r, n), randomWords(r, n)
		for _, o := range []struct {
			name string
			f    func(dst []Element)
			want func(i int, old Element) Element
		}{
			{"AddVec", func(d []Element) { AddVec(d, d, b) }, func(i int, x Element) Element { return x.Add(b[i]) }},
			{"SubVec", func(d []Element) { SubVec(d, d, b) }, func(i int, x Element) Element { return x.Sub(b[i]) }},
			{"SubVec second", func(d []Element) { SubVec(d, b, d) }, func(i int, x Element) Element { return b[i].Sub(x) }},
			{"MulVec", func(d []Element) { MulVec(d, d, b) }, func(i int, x Element) Element { return x.Mul(b[i]) }},
			{"ScaleVec", func(d []Element) { ScaleVec(d, d, s) }, func(_ int, x Element) Element { return x.Mul(s) }},
			{"MulAddVec", func(d []Element) { MulAddVec(d, b, s) }, func(i int, x Element) Element { return x.Add(b[i].Mul(s)) }},
		} {
			d := slices.Clone(a)
			o.f(d)
			for i := range d {
				if d[i] != o.want(i, a[i]) {
					t.Fatalf("%s, %d elements: element %d is %d", o.name, n, i, d[i])
				}
			}
		}
		qa, qb := Quads(randomWords(r, 4*n)), Quads(randomWords(r, 4*n))
		for _, o := range []struct {
			name string
			f    func(dst []QM31)
			want func(i int, old QM31) QM31
		}{
			{"AddVecQM31", func(d []QM31) { AddVecQM31(d, d, qb) }, func(i int, x QM31) QM31 { return x.Add(qb[i]) }},
			{"SubVecQM31", func(d []QM31) { SubVecQM31(d, d, qb) }, func(i int, x QM31) QM31 { return x.Sub(qb[i]) }},
			{"MulVecQM31", func(d []QM31) { MulVecQM31(d, d, qb) }, func(i int, x QM31) QM31 { return x.Mul(qb[i]) }},
			{"ScaleVecQM31", func(d []QM31) { ScaleVecQM31(d, d, c) }, func(_ int, x QM31) QM31 { return x.Mul(c) }},
			{"ScaleBase", func(d []QM31) { ScaleBase(d, b, c) }, func(i int, _ QM31) QM31 { return c.MulBase(b[i]) }},
			{"MulAddQM31", func(d []QM31) { MulAddQM31(d, qb, c) }, func(i int, x QM31) QM31 { return x.Add(qb[i].Mul(c)) }},
			{"MulAddBase", func(d []QM31) { MulAddBase(d, b, c) }, func(i int, x QM31) QM31 { return x.Add(c.MulBase(b[i])) }},
		} {
			d := slices.Clone(qa)
			o.f(d)
			for i := range d {
				if d[i] != o.want(i, qa[i]) {
					t.Fatalf("%s, %d elements: element %d is %v", o.name, n, i, d[i])
				}
			}
		}
	}
}

func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 19))
	check := func(a, b []Element, qa, qb []QM31) {
		t.Helper()
		var sum, dot Element
		var qsum, qbase, qdot QM31
		for i := range a {
			sum, dot = sum.Add(a[i]), dot.Add(a[i].Mul(b[i]))
			qsum = qsum.Add(qa[i])
			qbase = qbase.Add(qa[i].MulBase(a[i]))
			qdot = qdot.Add(qa[i].Mul(qb[i]))
		}
		if Sum(a) != sum || Dot(a, b) != dot || SumQM31(qa) != qsum || DotBase(a, qa) != qbase || DotQM31(qa, qb) != qdot {
			t.Fatalf("%d elements: a sum is wrong", len(a))
		}
	}
	for n := range 40 {
		check(randomWords(r, n), randomWords(r, n), Quads(randomWords(r, 4*n)), Quads(randomWords(r, 4*n)))
	}
	// Only the largest words: the lazy sums are as large as they get.
	top := make([]Element, 40000)
	for i := range top {
		top[i] = P - 1
	}
	check(top[:10000], top[:10000], Quads(top), Quads(top))
}

func TestFold(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 21))
	for _, h := range []int{0, 1, 2, 8} {
		c := Quads(randomWords(r, 4))[0]
		base, ext := randomWords(r, 2*h), Quads(randomWords(r, 8*h))
		one := OneQM31().Sub(c)
		d := make([]QM31, h)
		FoldBase(d, base[:h], base[h:], c)
		for i := range d {
			if want := one.MulBase(base[i]).Add(c.MulBase(base[h+i])); d[i] != want {
				t.Fatalf("FoldBase: element %d of %d is %v, want %v", i, h, d[i], want)
			}
		}
		in := slices.Clone(ext)
		FoldQM31(in[:h], in[:h], in[h:], c)
		for i := range h {
			if want := one.Mul(ext[i]).Add(c.Mul(ext[h+i])); in[i] != want {
				t.Fatalf("FoldQM31: element %d of %d is %v, want %v", i, h, in[i], want)
			}
		}
	}
}

func TestViews(t *testing.T) {
	w := []Element{1, 2, 3, 4, 5, 6, 7, 8, 9}
	if q := Quads(w); len(q) != 2 || q[1] != FromWords([4]Element{5, 6, 7, 8}) || len(Words(q)) != 8 {
		t.Error("quads")
	}
	if p := Pairs(w); len(p) != 4 || p[3] != (CM31{7, 8}) || len(PairWords(p)) != 8 {
		t.Error("pairs")
	}
	if len(Words(nil)) != 0 || len(Quads(nil)) != 0 || len(Pairs(nil)) != 0 || len(PairWords(nil)) != 0 {
		t.Error("empty views")
	}
	Words(Quads(w))[4] = 50
	if w[4] != 50 {
		t.Error("a view does not share memory")
	}
}

// Decoding accepts exactly what encoding gives.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3})
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte{0xfe, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80})
	f.Add(make([]byte, 16))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := make([]Element, len(b)/4)
		err := Decode(w, b)
		canonical := len(b)%4 == 0
		for i := range len(b) / 4 {
			v := uint64(b[4*i]) | uint64(b[4*i+1])<<8 | uint64(b[4*i+2])<<16 | uint64(b[4*i+3])<<24
			canonical = canonical && v < P
		}
		if canonical != (err == nil) {
			t.Fatalf("%x: canonical is %v, decoding gave %v", b, canonical, err)
		}
		if err == nil && !slices.Equal(AppendBytes(nil, w), b) {
			t.Fatalf("%x came back as %x", b, AppendBytes(nil, w))
		}
		q := make([]QM31, len(b)/16)
		if err := DecodeQM31(q, b); err == nil && !slices.Equal(AppendBytes(nil, Words(q)), b) {
			t.Fatalf("%x came back as %v", b, q)
		}
	})
}

func BenchmarkVectors(b *testing.B) {
	const n = 4096
	r := rand.New(rand.NewPCG(22, 23))
	x, y, z := randomWords(r, n), randomWords(r, n), make([]Element, n)
	qx, qy, qz := Quads(randomWords(r, 4*n)), Quads(randomWords(r, 4*n)), make([]QM31, n)
	var sink QM31
	for _, o := range []struct {
		name string
		f    func()
	}{
		{"AddVec", func() { AddVec(z, x, y) }},
		{"MulVec", func() { MulVec(z, x, y) }},
		{"Dot", func() { sink.A.Re = Dot(x, y) }},
		{"MulVecQM31", func() { MulVecQM31(qz, qx, qy) }},
		{"DotBase", func() { sink = DotBase(x, qx) }},
		{"DotQM31", func() { sink = DotQM31(qx, qy) }},
		{"FoldBase", func() { FoldBase(qz[:n/2], x[:n/2], x[n/2:], qy[0]) }},
		{"FoldQM31", func() { FoldQM31(qz[:n/2], qx[:n/2], qx[n/2:], qy[0]) }},
		{"BatchInverseQM31", func() { BatchInverseQM31(qz, qx) }},
	} {
		b.Run(o.name, func(b *testing.B) {
			for b.Loop() {
				o.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
		})
	}
	_ = sink
}

func BenchmarkElements(b *testing.B) {
	x, y := FromWords([4]Element{1, 2, 3, 4}), FromWords([4]Element{5, 6, 7, 8})
	b.Run("M31/mul", func(b *testing.B) {
		v := x.A.Re
		for b.Loop() {
			v = v.Mul(7)
		}
		x.A.Re = v
	})
	b.Run("QM31/mul", func(b *testing.B) {
		for b.Loop() {
			x = x.Mul(y)
		}
	})
	b.Run("QM31/inverse", func(b *testing.B) {
		for b.Loop() {
			x = x.Inverse()
		}
	})
}
