package m31

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEightArrays(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(40, 41))
		for n := range 75 {
			stride, lo := n+r.IntN(5), r.IntN(n+1)
			a, b := newGuarded(r, 8*stride, r.IntN(17)).v, newGuarded(r, 8*stride, r.IntN(17)).v
			if n%5 == 0 { // the largest words: sums are as large as they get
				for i := range a {
					a[i], b[i] = P-1, P-1
				}
			}
			var c CrossSums
			mid := lo + r.IntN(n-lo+1)
			c.Add(a, b, stride, lo, mid)
			c.Add(a, b, stride, mid, n)
			v := c.Values()
			for i := range v {
				for j := range v[i] {
					var want Element
					for x := lo; x < n; x++ {
						want = want.Add(a[i*stride+x].Mul(b[j*stride+x]))
					}
					if v[i][j] != want {
						t.Fatalf("arrays %d and %d, words %d to %d: %d, want %d", i, j, lo, n, v[i][j], want)
					}
				}
			}
			s := (*[8]QM31)(Quads(randomWords(r, 32)))
			g := newGuarded(r, 4*(n-lo), r.IntN(17))
			before := g.clone()
			CombineBase(Quads(g.v), a, stride, lo, s)
			want := make([]QM31, n-lo)
			for x := range want {
				for k := range s {
					want[x] = want[x].Add(s[k].MulBase(a[k*stride+lo+x]))
				}
			}
			if !slices.Equal(Quads(g.v), want) || g.changedAround(before) {
				t.Fatalf("combination of words %d to %d differs", lo, n)
			}
		}
	})
}
