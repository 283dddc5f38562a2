package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

func lift[W field.Base[W], F field.Element[F], E field.Element[E]](s *whir.Scheme[W, F, E], f []F) []E {
	out := make([]E, len(f))
	for i, v := range f {
		out[i] = s.Embed(v)
	}
	return out
}

// univariate is the polynomial with coefficients f at x.
func univariate[E field.Element[E]](f []E, x E) (v E) {
	for i := len(f) - 1; i >= 0; i-- {
		v = v.Mul(x).Add(f[i])
	}
	return v
}

func boolean[E field.Element[E]](i, vars int) []E {
	var one E
	one = one.One()
	out := make([]E, vars)
	for j := range out {
		if i>>(vars-1-j)&1 == 1 {
			out[j] = one
		}
	}
	return out
}

// elements draws random elements of any field.
func elements[T field.Element[T]](s source, n int) []T {
	var zero T
	out := make([]T, n)
	for i := range out {
		words := make([]uint32, zero.Degree())
		for k := range words {
			words[k] = 1 + s.Uint32N(1<<30)
		}
		v, err := zero.SetWords(words)
		if err != nil {
			panic(err)
		}
		out[i] = v
	}
	return out
}

// Each operation of the host against its definition.
func TestHostOperations(t *testing.T) {
	t.Run("cm31", func(t *testing.T) { testOperations(t, CM31(whir.Poseidon2)) })
	t.Run("babybear4", func(t *testing.T) { testOperations(t, BabyBear4(whir.Poseidon2)) })
	t.Run("babybear5", func(t *testing.T) { testOperations(t, BabyBear5(whir.Poseidon2)) })
	t.Run("koalabear4", func(t *testing.T) { testOperations(t, KoalaBear4(whir.Poseidon2)) })
	t.Run("koalabear5", func(t *testing.T) { testOperations(t, KoalaBear5(whir.Poseidon2)) })
}

func testOperations[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, p *Prover[W, F, E]) {
	q := queue(t)
	scheme := p.Scheme()
	do, err := p.v.ops(q)
	if err != nil {
		t.Fatal(err)
	}
	defer do.free()
	up := func(v []E) device.Buffer[E] { return uploads(t, q, [][]E{v})[0] }
	s := newSource(3)
	for _, vars := range []int{1, 2, 3, 7, 11} {
		n := 1 << vars
		equal := func(name string, got, want []E, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("2^%d: %s differs from its definition", vars, name)
			}
		}
		f, g, w, x := elements[F](s, n), elements[E](s, n), elements[E](s, n), elements[E](s, 1)
		one := x[0].One()
		factors := up(make([]E, 2*vars))
		var want []E
		for _, z := range whir.Powers(x[0], vars) {
			want = append(want, one.Sub(z), z)
		}
		equal("eqPowers", factors.Host(), want, do.eqPowers(factors, up(x)))
		list := up(make([]E, 5))
		want = nil
		for j := range 5 {
			want = append(want, x[0].Exp(uint64(2+j)))
		}
		equal("geometric", list.Host(), want, do.geometric(list, up(x), 2))

		// Weights: against the verifier's evaluation at boolean points.
		points := [2][]E{elements[E](s, vars), elements[E](s, vars)}
		claims := [2]whir.Weight[E]{whir.Eq[E]{Point: points[0]}, whir.Sel[E]{Point: points[1]}}
		var all []E
		for _, c := range claims {
			v, _ := factorsOf(c)
			all = append(all, v...)
		}
		coeffs := elements[E](s, 2)
		for _, set := range []bool{false, true} {
			got := up(w)
			want := slices.Clone(w)
			for i := range want {
				if set {
					want[i] = one.Sub(one)
				}
				for c := range claims {
					want[i] = want[i].Add(coeffs[c].Mul(claims[c].Eval(boolean[E](i, vars))))
				}
			}
			equal("addWeights", got.Host(), want, do.addWeights(got, up(all), vars, up(coeffs), set))
		}
		for _, logLeaves := range []int{vars, vars + 1, vars + 5} {
			for _, queries := range []int{1, 3, 200} {
				indices := many(queries, func() uint32 { return s.Uint32N(1 << logLeaves) })
				got := up(w)
				want := slices.Clone(w)
				omega := scheme.Root(logLeaves)
				c := x[0].Exp(3)
				for _, index := range indices {
					z := omega.Exp(uint64(index))
					p := c
					for i := range want {
						want[i] = want[i].Add(p)
						p = scheme.Scale(p, z)
					}
					c = c.Mul(x[0])
				}
				err := do.addPoints(got, logLeaves, uploads(t, q, [][]uint32{indices})[0], up(x), 3)
				equal("addPoints", got.Host(), want, err)
			}
		}
		got := up(w)
		want = slices.Clone(w)
		for i := range want {
			want[i] = want[i].Add(x[0].Mul(g[i]))
		}
		equal("addTable", got.Host(), want, do.addTable(got, up(g), up(x)))

		fb, lifted := uploads(t, q, [][]F{f})[0], lift(scheme, f)
		got = up(make([]E, n))
		equal("lift", got.Host(), lifted, do.lift(got, fb))
		f2 := elements[F](s, n)
		for i := range want {
			want[i] = coeffs[0].Mul(lifted[i]).Add(scheme.Scale(coeffs[1], f2[i]))
		}
		equal("combine", got.Host(), want, do.combine(got, uploads(t, q, [][]F{f, f2}), up(coeffs)))

		for fold := range vars + 1 {
			const stride, column = 5, 2
			size := n >> fold
			sums, ext := make([]E, stride<<fold), make([]E, stride<<fold)
			weights := make([]E, stride<<fold)
			folded := make([]E, size)
			eq := eqTable(points[0][:fold])
			for u := range 1 << fold {
				for c, a := range claims {
					at := u*stride + column + c
					rest, first := whir.Weight[E](whir.Eq[E]{Point: points[0][fold:]}), whir.Weight[E](whir.Eq[E]{Point: points[0][:fold]})
					if _, ok := a.(whir.Sel[E]); ok {
						rest, first = whir.Sel[E]{Point: points[1][fold:]}, whir.Sel[E]{Point: points[1][:fold]}
					}
					for i := range size {
						v := rest.Eval(boolean[E](i, vars-fold))
						sums[at] = sums[at].Add(scheme.Scale(v, f[u*size+i]))
						ext[at] = ext[at].Add(v.Mul(g[u*size+i]))
					}
					weights[at] = coeffs[c].Mul(first.Eval(boolean[E](u, fold)))
				}
				for i := range size {
					folded[i] = folded[i].Add(scheme.Scale(eq[u], f[u*size+i]))
				}
			}
			got := up(make([]E, len(sums)))
			equal("blockSums", got.Host(), sums, do.blockSums(got, stride, column, fb, up(all), fold))
			equal("blockSumsExt", got.Host(), ext, do.blockSumsExt(got, stride, column, up(g), up(all), fold))
			got = up(make([]E, len(sums)))
			equal("blockWeights", got.Host(), weights, do.blockWeights(got, stride, column, up(all), up(coeffs), fold, vars))
			out := up(make([]E, size))
			equal("foldBlocks", out.Host(), folded, do.foldBlocks(out, fb, up(points[0][:fold])))
			var dot E
			for u := range 1 << fold {
				dot = dot.Add(sums[u*stride+column].Mul(weights[u*stride+column]))
			}
			one := up(make([]E, 1))
			equal("dot", one.Host(), []E{dot}, do.dot(one, up(sums), up(weights), stride, column))
		}

		// One round, with and without a folding before it.
		round := func(g, w []E) []E {
			h := len(g) / 2
			m := make([]E, 2)
			for i := range h {
				m[0] = m[0].Add(g[i].Mul(w[i]))
				m[1] = m[1].Add(g[h+i].Sub(g[i]).Mul(w[h+i].Sub(w[i])))
			}
			return m
		}
		bound := func(t []E) []E {
			h := len(t) / 2
			out := make([]E, h)
			for i := range out {
				out[i] = one.Sub(x[0]).Mul(t[i]).Add(x[0].Mul(t[h+i]))
			}
			return out
		}
		msg := up(make([]E, 2))
		gb, wb := up(g), up(w)
		equal("round", msg.Host(), round(g, w), do.rounds(gb, wb, device.Buffer[E]{}, msg, nil, device.Buffer[E]{}))
		if vars > 1 {
			equal("folded round", msg.Host(), round(bound(g), bound(w)), do.rounds(gb, wb, up(x), msg, nil, device.Buffer[E]{}))
			equal("its table", gb.Slice(0, n/2).Host(), bound(g), nil)
		}
		gb, wb = up(g), up(w)
		equal("fold", gb.Slice(0, n/2).Host(), bound(g), do.fold(gb, wb, up(x)))
		equal("fold's other table", wb.Slice(0, n/2).Host(), bound(w), nil)
	}
}
