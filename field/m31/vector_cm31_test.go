package m31

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestVectorsCM31(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(30, 31))
		for n := range 71 {
			ga, gb, gd := newGuarded(r, 2*n, r.IntN(17)), newGuarded(r, 2*n, r.IntN(17)), newGuarded(r, 2*n, r.IntN(17))
			s := Pairs(randomWords(r, 2))[0]
			for _, o := range []struct {
				name string
				f    func(dst, a, b []CM31)
				want func(a, b CM31) CM31
			}{
				{"MulVecCM31", MulVecCM31, func(a, b CM31) CM31 { return a.Mul(b) }},
				{"ScaleVecCM31", func(d, a, _ []CM31) { ScaleVecCM31(d, a, s) }, func(a, _ CM31) CM31 { return a.Mul(s) }},
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
					o.f(Pairs(d.v), Pairs(a.v), Pairs(b.v))
					for i, got := range Pairs(d.v) {
						if want := o.want(Pairs(ga.v)[i], Pairs(gb.v)[i]); got != want {
							t.Fatalf("%s, dst is %q, %d elements: element %d is %v, want %v", o.name, alias, n, i, got, want)
						}
					}
					if d.changedAround(before) {
						t.Fatalf("%s, %d elements: wrote outside of dst", o.name, n)
					}
				}
			}
		}
	})
}

// wantRadix4 is the definition.
func wantRadix4(x [4]CM31, w [3]CM31) [4]CM31 {
	var y [4]CM31
	for k, factor := range [4]CM31{{Re: 1}, {Re: P - 1}, I(), I().Neg()} {
		f := CM31{Re: 1}
		for j := range x {
			y[k] = y[k].Add(x[j].Mul(f))
			f = f.Mul(factor)
		}
	}
	y[1], y[2], y[3] = y[1].Mul(w[1]), y[2].Mul(w[0]), y[3].Mul(w[2])
	return y
}

func TestRadix4(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(32, 33))
		for n := range 40 {
			var g, before [4]guarded
			var w [3][]CM31
			for k := range g {
				g[k] = newGuarded(r, 2*n, r.IntN(17))
				before[k] = g[k].clone()
			}
			for k := range w {
				w[k] = Pairs(newGuarded(r, 2*n, r.IntN(17)).v)
			}
			Radix4(Pairs(g[0].v), Pairs(g[1].v), Pairs(g[2].v), Pairs(g[3].v), w[0], w[1], w[2])
			for i := range n {
				var x [4]CM31
				for k := range x {
					x[k] = Pairs(before[k].v)[i]
				}
				want := wantRadix4(x, [3]CM31{w[0][i], w[1][i], w[2][i]})
				for k := range x {
					if got := Pairs(g[k].v)[i]; got != want[k] {
						t.Fatalf("%d elements: quarter %d, element %d is %v, want %v", n, k, i, got, want[k])
					}
				}
			}
			for k := range g {
				if g[k].changedAround(before[k]) {
					t.Fatalf("%d elements: wrote outside of quarter %d", n, k)
				}
			}
		}
	})
}

func TestRadix16(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(34, 35))
		for n := range 70 {
			g := newGuarded(r, 2*n, r.IntN(17))
			before := g.clone()
			var w [3][4]CM31
			for k := range w {
				copy(w[k][:], Pairs(randomWords(r, 8)))
			}
			want := slices.Clone(Pairs(g.v))
			for i := 0; i+16 <= n; i += 16 {
				b := want[i : i+16]
				for j := range 4 {
					y := wantRadix4([4]CM31{b[j], b[4+j], b[8+j], b[12+j]}, [3]CM31{w[0][j], w[1][j], w[2][j]})
					b[j], b[4+j], b[8+j], b[12+j] = y[0], y[1], y[2], y[3]
				}
				for j := 0; j < 16; j += 4 {
					y := wantRadix4([4]CM31(b[j:j+4]), [3]CM31{{Re: 1}, {Re: 1}, {Re: 1}})
					copy(b[j:], y[:])
				}
			}
			Radix16(Pairs(g.v), &w)
			if !slices.Equal(Pairs(g.v), want) || g.changedAround(before) {
				t.Fatalf("%d elements: differs", n)
			}
		}
	})
}
