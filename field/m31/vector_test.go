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

// guarded is n random words in the middle of memory that must not change. The
// words start off words after a multiple of 64 bytes or of the allocator's
// alignment.
type guarded struct {
	all, v []Element
	off    int
}

func newGuarded(r *rand.Rand, n, off int) guarded {
	all := randomWords(r, n+off+40)
	return guarded{all, all[off : off+n : off+n], off}
}

func (g guarded) clone() guarded {
	all := slices.Clone(g.all)
	return guarded{all, all[g.off : g.off+len(g.v) : g.off+len(g.v)], g.off}
}

// changedAround says whether memory before or after the words differs from
// before's.
func (g guarded) changedAround(before guarded) bool {
	end := g.off + len(g.v)
	return !slices.Equal(g.all[:g.off], before.all[:g.off]) || !slices.Equal(g.all[end:], before.all[end:])
}

// Every slice operation against one element at a time: all lengths around the
// vectors' sizes, all alignments, into fresh memory and into either operand.
func TestVectors(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(16, 17))
		for n := range 71 {
			testWords(t, r, n)
			testExtension(t, r, n)
			testInts(t, r, n)
		}
	})
}

// testInts takes integers to residues, the largest and the smallest among them.
func testInts(t *testing.T, r *rand.Rand, n int) {
	for off := range 9 {
		v := make([]int32, off+n)[off:]
		for i := range v {
			v[i] = [...]int32{P, P - 1, -P, 1 - P, -1 << 31, -1, 0, 1, int32(r.Uint32())}[r.IntN(9)]
		}
		dst := newGuarded(r, n, off)
		before := dst.clone()
		IntsVec(dst.v, v)
		for i, x := range v {
			if dst.v[i] != FromInt(int64(x)) {
				t.Fatalf("%d values: %d becomes %d", n, x, dst.v[i])
			}
		}
		if dst.changedAround(before) {
			t.Fatalf("%d values: memory around their residues changed", n)
		}
	}
}

func testWords(t *testing.T, r *rand.Rand, n int) {
	t.Helper()
	for _, s := range []Element{0, 1, P - 1, Element(r.Uint64N(P))} {
		ga, gb, gd := newGuarded(r, n, r.IntN(17)), newGuarded(r, n, r.IntN(17)), newGuarded(r, n, r.IntN(17))
		for _, o := range []struct {
			name string
			f    func(dst, a, b []Element)
			want func(old, a, b Element) Element
		}{
			{"AddVec", AddVec, func(_, a, b Element) Element { return a.Add(b) }},
			{"SubVec", SubVec, func(_, a, b Element) Element { return a.Sub(b) }},
			{"MulVec", MulVec, func(_, a, b Element) Element { return a.Mul(b) }},
			{"ScaleVec", func(d, a, _ []Element) { ScaleVec(d, a, s) }, func(_, a, _ Element) Element { return a.Mul(s) }},
			{"MulAddVec", func(d, a, _ []Element) { MulAddVec(d, a, s) }, func(old, a, _ Element) Element { return old.Add(a.Mul(s)) }},
		} {
			for _, alias := range []string{"", "a", "b"} {
				d, a, b := gd.clone(), ga.clone(), gb.clone()
				switch alias {
				case "a":
					d = a
				case "b":
					d = b
				}
				before := d.clone()
				o.f(d.v, a.v, b.v)
				for i := range d.v {
					if want := o.want(before.v[i], ga.v[i], gb.v[i]); d.v[i] != want {
						t.Fatalf("%s, dst is %q, %d elements: element %d is %d, want %d", o.name, alias, n, i, d.v[i], want)
					}
				}
				if d.changedAround(before) {
					t.Fatalf("%s, %d elements: wrote outside of dst", o.name, n)
				}
			}
		}
	}
}

func testExtension(t *testing.T, r *rand.Rand, n int) {
	t.Helper()
	top := QM31{CM31{P - 1, P - 1}, CM31{P - 1, P - 1}}
	for _, c := range []QM31{{}, OneQM31(), top, {CM31{0, P - 1}, CM31{1, 0}}, Quads(randomWords(r, 4))[0]} {
		ga, gb, gd := newGuarded(r, 4*n, r.IntN(17)), newGuarded(r, 4*n, r.IntN(17)), newGuarded(r, 4*n, r.IntN(17))
		x, y := newGuarded(r, n, r.IntN(17)).v, newGuarded(r, n, r.IntN(17)).v
		for _, o := range []struct {
			name string
			f    func(dst, a, b []QM31)
			want func(i int, old, a, b QM31) QM31
		}{
			{"AddVecQM31", AddVecQM31, func(_ int, _, a, b QM31) QM31 { return a.Add(b) }},
			{"SubVecQM31", SubVecQM31, func(_ int, _, a, b QM31) QM31 { return a.Sub(b) }},
			{"MulVecQM31", MulVecQM31, func(_ int, _, a, b QM31) QM31 { return a.Mul(b) }},
			{"ScaleVecQM31", func(d, a, _ []QM31) { ScaleVecQM31(d, a, c) }, func(_ int, _, a, _ QM31) QM31 { return a.Mul(c) }},
			{"MulAddQM31", func(d, a, _ []QM31) { MulAddQM31(d, a, c) }, func(_ int, old, a, _ QM31) QM31 { return old.Add(a.Mul(c)) }},
			{"FoldQM31", func(d, a, b []QM31) { FoldQM31(d, a, b, c) }, func(_ int, _, a, b QM31) QM31 { return a.Add(c.Mul(b.Sub(a))) }},
			{"MulVecBase", func(d, _, b []QM31) { MulVecBase(d, x, b) }, func(i int, _, _, b QM31) QM31 { return b.MulBase(x[i]) }},
			{"ScaleBase", func(d, _, _ []QM31) { ScaleBase(d, x, c) }, func(i int, _, _, _ QM31) QM31 { return c.MulBase(x[i]) }},
			{"MulAddBase", func(d, _, _ []QM31) { MulAddBase(d, x, c) }, func(i int, old, _, _ QM31) QM31 { return old.Add(c.MulBase(x[i])) }},
			{"FoldBase", func(d, _, _ []QM31) { FoldBase(d, x, y, c) }, func(i int, _, _, _ QM31) QM31 {
				return Lift(x[i]).Add(c.MulBase(y[i].Sub(x[i])))
			}},
		} {
			for _, alias := range []string{"", "a", "b"} {
				d, a, b := gd.clone(), ga.clone(), gb.clone()
				switch alias {
				case "a":
					d = a
				case "b":
					d = b
				}
				before := d.clone()
				o.f(Quads(d.v), Quads(a.v), Quads(b.v))
				qd, qo, qa, qb := Quads(d.v), Quads(before.v), Quads(ga.v), Quads(gb.v)
				for i := range qd {
					if want := o.want(i, qo[i], qa[i], qb[i]); qd[i] != want {
						t.Fatalf("%s by %v, dst is %q, %d elements: element %d is %v, want %v", o.name, c, alias, n, i, qd[i], want)
					}
				}
				if d.changedAround(before) {
					t.Fatalf("%s, %d elements: wrote outside of dst", o.name, n)
				}
			}
		}
	}
}

func TestSums(t *testing.T) {
	check := func(t *testing.T, v [4][]Element) {
		t.Helper()
		a0, a1, b0, b1 := v[0], v[1], v[2], v[3]
		n := len(a0) / 4
		qa0, qa1, qb0, qb1 := Quads(a0), Quads(a1), Quads(b0), Quads(b1)
		a0, a1 = a0[:n], a1[:n]
		var sum, dot, two Element
		var qsum, qbase, qbaseTwo, qdot, qdotTwo QM31
		for i := range n {
			sum, dot = sum.Add(a0[i]), dot.Add(a0[i].Mul(b0[i]))
			atTwo := a1[i].Double().Sub(a0[i])
			two = two.Add(atTwo.Mul(b1[i].Double().Sub(b0[i])))
			qsum = qsum.Add(qa0[i])
			qbase = qbase.Add(qb0[i].MulBase(a0[i]))
			qdot = qdot.Add(qa0[i].Mul(qb0[i]))
			qTwo := qb1[i].Double().Sub(qb0[i])
			qbaseTwo = qbaseTwo.Add(qTwo.MulBase(atTwo))
			qdotTwo = qdotTwo.Add(qTwo.Mul(qa1[i].Double().Sub(qa0[i])))
		}
		for _, c := range []struct {
			name      string
			got, want QM31
		}{
			{"Sum", Lift(Sum(a0)), Lift(sum)},
			{"Dot", Lift(Dot(a0, b0)), Lift(dot)},
			{"DotAtTwo", Lift(DotAtTwo(a0, a1, b0, b1)), Lift(two)},
			{"SumQM31", SumQM31(qa0), qsum},
			{"DotBase", DotBase(a0, qb0), qbase},
			{"DotBaseAtTwo", DotBaseAtTwo(a0, a1, qb0, qb1), qbaseTwo},
			{"DotQM31", DotQM31(qa0, qb0), qdot},
			{"DotQM31AtTwo", DotQM31AtTwo(qa0, qa1, qb0, qb1), qdotTwo},
		} {
			if c.got != c.want {
				t.Fatalf("%s of %d elements is %v, want %v", c.name, n, c.got, c.want)
			}
		}
	}
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(18, 19))
		for n := range 71 {
			var v [4][]Element
			for i := range v {
				v[i] = newGuarded(r, 4*n, r.IntN(17)).v
			}
			check(t, v)
		}
		// Only the largest words: the lazy sums are as large as they get.
		top, zero := make([]Element, 40000), make([]Element, 40000)
		for i := range top {
			top[i] = P - 1
		}
		check(t, [4][]Element{top, top, top, top})
		check(t, [4][]Element{zero, top, zero, top})
		check(t, [4][]Element{top, zero, top, zero})
	})
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

func BenchmarkVectors(b *testing.B) { eachVariantOf(b, benchmarkVectors) }

func benchmarkVectors(b *testing.B) {
	// Three slices of words fit into any first-level cache.
	const n, m = 2048, 512
	r := rand.New(rand.NewPCG(22, 23))
	x, y, z := randomWords(r, n), randomWords(r, n), make([]Element, n)
	qx, qy, qz := Quads(randomWords(r, 4*m)), Quads(randomWords(r, 4*m)), make([]QM31, m)
	var sink QM31
	for _, o := range []struct {
		name string
		n    int
		f    func()
	}{
		{"AddVec", n, func() { AddVec(z, x, y) }},
		{"MulVec", n, func() { MulVec(z, x, y) }},
		{"ScaleVec", n, func() { ScaleVec(z, x, y[0]) }},
		{"MulAddVec", n, func() { MulAddVec(z, x, y[0]) }},
		{"Sum", n, func() { sink.A.Re = Sum(x) }},
		{"Dot", n, func() { sink.A.Re = Dot(x, y) }},
		{"DotAtTwo", n / 2, func() { sink.A.Re = DotAtTwo(x[:n/2], x[n/2:], y[:n/2], y[n/2:]) }},
		{"MulVecQM31", m, func() { MulVecQM31(qz, qx, qy) }},
		{"ScaleVecQM31", m, func() { ScaleVecQM31(qz, qx, qy[0]) }},
		{"MulAddQM31", m, func() { MulAddQM31(qz, qx, qy[0]) }},
		{"MulAddBase", m, func() { MulAddBase(qz, x[:m], qy[0]) }},
		{"DotBase", m, func() { sink = DotBase(x[:m], qx) }},
		{"DotBaseAtTwo", m / 2, func() { sink = DotBaseAtTwo(x[:m/2], x[m/2:m], qx[:m/2], qx[m/2:]) }},
		{"DotQM31", m, func() { sink = DotQM31(qx, qy) }},
		{"DotQM31AtTwo", m / 2, func() { sink = DotQM31AtTwo(qx[:m/2], qx[m/2:], qy[:m/2], qy[m/2:]) }},
		{"FoldBase", m, func() { FoldBase(qz, x[:m], x[m:2*m], qy[0]) }},
		{"FoldQM31", m / 2, func() { FoldQM31(qz[:m/2], qx[:m/2], qx[m/2:], qy[0]) }},
		{"Radix4", n / 2, func() {
			c := Pairs(x)
			k := len(c) / 4
			w := Pairs(y)
			Radix4(c[:k], c[k:2*k], c[2*k:3*k], c[3*k:], w[:k], w[k:2*k], w[2*k:3*k])
		}},
		{"BatchInverseQM31", m, func() { BatchInverseQM31(qz, qx) }},
	} {
		b.Run(o.name, func(b *testing.B) {
			for b.Loop() {
				o.f()
			}
			b.ReportMetric(float64(o.n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelem/s")
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

// BenchmarkClock counts cycles: a multiplication of 64-bit words waits for the
// one before it three of them on all amd64 processors of today.
func BenchmarkClock(b *testing.B) {
	const n = 10000
	x := uint64(3)
	for b.Loop() {
		x = squares(x, n)
	}
	b.ReportMetric(3*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GHz")
	if x%2 == 0 {
		b.Fatal("an odd number became even")
	}
}

// squares is apart from its caller so that x stays in a register.
//
//go:noinline
func squares(x uint64, n int) uint64 {
	for range n {
		x *= x
	}
	return x
}
