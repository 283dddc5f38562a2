package mle

import (
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

func random(rng *rand.Rand, n int) []m31.QM31 {
	v := make([]m31.QM31, n)
	for i, w := range m31.Words(v) {
		_ = w
		m31.Words(v)[i] = m31.New(rng.Uint64())
	}
	return v
}

// naive evaluates by the definition, one product of weights an entry.
func naive(table, point []m31.QM31) (s m31.QM31) {
	for x, v := range table {
		for i, r := range point {
			if x>>(len(point)-1-i)&1 == 0 {
				r = m31.OneQM31().Sub(r)
			}
			v = v.Mul(r)
		}
		s = s.Add(v)
	}
	return s
}

func TestEvaluate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 11 {
		for _, size := range []int{0, 1, 2, 3, 1<<n - 1, 1 << n} {
			if size < 0 || size > 1<<n {
				continue
			}
			table, point := random(rng, size), random(rng, n)
			want := naive(table, point)
			if got := Evaluate(table, point); got != want {
				t.Fatalf("n %d, %d entries: got %v, want %v", n, size, got, want)
			}
			base := make([]m31.Element, size)
			for i := range base {
				base[i] = m31.New(rng.Uint64())
				table[i] = m31.Lift(base[i])
			}
			if got, want := EvaluateBase(base, point), naive(table, point); got != want {
				t.Fatalf("base, n %d, %d entries: got %v, want %v", n, size, got, want)
			}
			// Entries beyond the cube do not count.
			if got := Evaluate(append(table, random(rng, 5)...)[:min(size+5, 1<<n+5)], point); size == 1<<n && got != naive(table, point) {
				t.Fatalf("n %d: entries beyond the cube changed the value", n)
			}
		}
	}
}

func TestEq(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 8 {
		a, b, scale := random(rng, n), random(rng, n), random(rng, 1)[0]
		ta, tb := EqTable(a), EqTable(b)
		var dot m31.QM31
		for x := range ta {
			if ta[x] != EqIndex(a, uint64(x)) {
				t.Fatalf("n %d: EqIndex(%d)", n, x)
			}
			if ScaledEqTable(a, scale)[x] != ta[x].Mul(scale) {
				t.Fatalf("n %d: scaled table at %d", n, x)
			}
			dot = dot.Add(ta[x].Mul(tb[x]))
			at := make([]m31.QM31, n)
			for i := range at {
				at[i] = m31.Lift(m31.Element(x >> (n - 1 - i) & 1))
			}
			if EqEval(a, at) != ta[x] || EqEval(at, a) != ta[x] {
				t.Fatalf("n %d: EqEval at vertex %d", n, x)
			}
		}
		// eq is multilinear in both arguments: it reproduces itself.
		if got := EqEval(a, b); got != dot {
			t.Fatalf("n %d: EqEval %v, sum of products of tables %v", n, got, dot)
		}
		if !EqIndex(a, 1<<n).IsZero() {
			t.Fatalf("n %d: weight of an index beyond the cube", n)
		}
		if !EqEval(a, append(b, one)).IsZero() {
			t.Fatal("eq of points of different lengths")
		}
	}
}

func TestLT(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 7 {
		point := random(rng, n)
		for k := -1; k <= 1<<n+1; k++ {
			table := make([]m31.QM31, 1<<n)
			for x := range table {
				if x < k {
					table[x] = one
				}
			}
			if got, want := LT(k, point), naive(table, point); got != want {
				t.Fatalf("LT(%d) over %d variables: got %v, want %v", k, n, got, want)
			}
		}
	}
}

func TestLog(t *testing.T) {
	for k, want := range []int{0, 0, 1, 2, 2, 3, 3, 3, 3, 4} {
		if Log(k) != want {
			t.Errorf("Log(%d) = %d", k, Log(k))
		}
	}
}
