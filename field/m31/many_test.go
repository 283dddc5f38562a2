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

func TestTranspose8(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(42, 43))
		for stride := range 40 {
			src := newGuarded(r, 8*(7*stride+8), r.IntN(17)).v
			rows := make([][8]Element, 7*stride+1)
			for i := range rows {
				copy(rows[i][:], src[8*i:])
			}
			var a, b [10][8]Element // rows 0 and 9 must not change
			Transpose8Words((*[8][8]Element)(a[1:9]), src, stride)
			Transpose8((*[8][8]Element)(b[1:9]), rows, stride)
			for j := range 8 {
				for k := range 8 {
					if got, want := a[1+k][j], src[j*stride+k]; got != want {
						t.Fatalf("stride %d: row %d, column %d is %d, want %d", stride, k, j, got, want)
					}
					if got, want := b[1+k][j], rows[j*stride][k]; got != want {
						t.Fatalf("step %d: row %d, column %d is %d, want %d", stride, k, j, got, want)
					}
				}
			}
			var zero [8]Element
			if a[0] != zero || a[9] != zero || b[0] != zero || b[9] != zero {
				t.Fatalf("stride %d: wrote outside of dst", stride)
			}
		}
	})
}
