package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/whir"
)

// Each operation against its definition.
func TestBackend(t *testing.T) {
	var b cm31
	s := newSource(3)
	for _, vars := range []int{0, 1, 2, 3, 7, 12} {
		n := 1 << vars
		coeff, x := s.qm31(), s.qm31()
		equal := func(name string, got, want []m31.QM31) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("2^%d: %s differs from its definition", vars, name)
			}
		}
		// Weights: against the verifier's evaluation at boolean points.
		point := many(vars, s.qm31)
		w := many(n, s.qm31)
		got := slices.Clone(w)
		b.addEq(got, point, coeff)
		want := slices.Clone(w)
		for i := range want {
			want[i] = want[i].Add(coeff.Mul(whir.Eq[m31.QM31]{Point: point}.Eval(boolean(i, vars))))
		}
		equal("addEq", got, want)

		got = slices.Clone(w)
		addSel(got, point, coeff)
		for i := range want {
			want[i] = w[i].Add(coeff.Mul(whir.Sel[m31.QM31]{Point: point}.Eval(boolean(i, vars))))
		}
		equal("addSel", got, want)

		for _, logLeaves := range []int{vars, vars + 1, vars + 5} {
			for _, queries := range []int{1, 3, 200} {
				indices := many(queries, func() int { return s.IntN(1 << logLeaves) })
				coeffs := many(queries, s.qm31)
				got = slices.Clone(w)
				if err := b.addPoints(got, logLeaves, indices, coeffs); err != nil {
					t.Fatal(err)
				}
				copy(want, w)
				omega := ntt.CM31{}.Root(logLeaves)
				for j, index := range indices {
					x := omega.Exp(uint64(index))
					p := coeffs[j]
					for i := range want {
						want[i] = want[i].Add(p)
						p = p.MulCM31(x)
					}
				}
				equal("addPoints", got, want)
			}
		}

		f, g := many(n, s.cm31), many(n, s.qm31)
		if b.evaluateSymbols(f, point) != mle.Evaluate(lift(f), point) || b.evaluateChallenges(g, point) != mle.Evaluate(g, point) {
			t.Errorf("2^%d: evaluation differs from its definition", vars)
		}
		for fold := range vars + 1 {
			size := n >> fold
			eq := eqTable(point[fold:])
			if !slices.Equal(eq, mle.EqTable(point[fold:])) {
				t.Fatalf("2^%d: eq table", vars-fold)
			}
			weights := many(1<<fold, s.qm31)
			sums, folded := make([]m31.QM31, 1<<fold), make([]m31.QM31, size)
			for u := range sums {
				for i, v := range f[u*size : (u+1)*size] {
					sums[u] = sums[u].Add(eq[i].MulCM31(v))
					folded[i] = folded[i].Add(weights[u].MulCM31(v))
				}
			}
			equal("blockSums", b.blockSums(f, fold, point[fold:]), sums)
			equal("foldBlocks", b.foldBlocks(f, weights), folded)
		}
		if vars == 0 {
			continue
		}
		h := n / 2
		for name, table := range map[string][]m31.QM31{"symbols": lift(f), "challenges": g} {
			var zero, lead m31.QM31
			folded := make([]m31.QM31, h)
			for i := range h {
				zero = zero.Add(table[i].Mul(w[i]))
				lead = lead.Add(table[h+i].Sub(table[i]).Mul(w[h+i].Sub(w[i])))
				folded[i] = m31.OneQM31().Sub(x).Mul(table[i]).Add(x.Mul(table[h+i]))
			}
			a, l := b.roundChallenges(table, w)
			got := slices.Clone(table)
			if name == "symbols" {
				a, l = b.roundSymbols(f, w)
				got = b.foldSymbols(f, x)
			} else {
				got = b.foldChallenges(got, x)
			}
			if a != zero || l != lead {
				t.Errorf("2^%d: round of %s differs from its definition", vars, name)
			}
			equal("fold of "+name, got, folded)
		}
	}
}

func lift(f []m31.CM31) []m31.QM31 {
	out := make([]m31.QM31, len(f))
	for i, v := range f {
		out[i] = m31.LiftPair(v)
	}
	return out
}

// univariate is the polynomial with coefficients f at x.
func univariate(f []m31.QM31, x m31.QM31) (v m31.QM31) {
	for i := len(f) - 1; i >= 0; i-- {
		v = v.Mul(x).Add(f[i])
	}
	return v
}

func boolean(i, vars int) []m31.QM31 {
	out := make([]m31.QM31, vars)
	for j := range out {
		out[j] = m31.Lift(m31.Element(i >> (vars - 1 - j) & 1))
	}
	return out
}

// A row holds the values of the table's blocks at one point of the domain.
func TestEncode(t *testing.T) {
	var b cm31
	s := newSource(4)
	for _, tc := range []struct{ vars, fold, logLeaves int }{{1, 1, 1}, {3, 1, 4}, {5, 3, 2}, {5, 3, 6}, {9, 2, 8}, {12, 4, 9}, {3, 1, longColumn}} {
		f, f2, g := many(1<<tc.vars, s.cm31), many(1<<tc.vars, s.cm31), many(1<<tc.vars, s.qm31)
		rf, err := b.encodeSymbols([][]m31.CM31{f, f2}, tc.fold, tc.logLeaves)
		if err != nil {
			t.Fatal(err)
		}
		rg, err := b.encodeChallenges(g, tc.fold, tc.logLeaves)
		if err != nil {
			t.Fatal(err)
		}
		width, block := 1<<tc.fold, 1<<(tc.vars-tc.fold)
		for j := range 1 << tc.logLeaves {
			x := m31.LiftPair(ntt.CM31{}.Root(tc.logLeaves).Exp(uint64(j)))
			for c := range width {
				for a, f := range [][]m31.CM31{f, f2} {
					if got, want := m31.Pairs(rf)[(2*j+a)*width+c], univariate(lift(f[c*block:(c+1)*block]), x); m31.LiftPair(got) != want {
						t.Fatalf("%+v: symbol %d of row %d, table %d", tc, c, j, a)
					}
				}
				if got, want := m31.Quads(rg)[j*width+c], univariate(g[c*block:(c+1)*block], x); got != want {
					t.Fatalf("%+v: challenge %d of row %d", tc, c, j)
				}
			}
		}
	}
}
