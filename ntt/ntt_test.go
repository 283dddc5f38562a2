package ntt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

func random(seed uint64, n int) []m31.CM31 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]m31.CM31, n)
	for i := range out {
		out[i] = m31.CM31{Re: m31.Element(1 + r.Uint32N(m31.P-1)), Im: m31.Element(1 + r.Uint32N(m31.P-1))}
	}
	return out
}

func TestRoots(t *testing.T) {
	// (P^2-1)/2^32 = 2^30-1.
	if got := (m31.CM31{Re: 2, Im: 1}).Exp(1<<30 - 1); got != root32 {
		t.Fatalf("root of order 2^32: %v, want %v", root32, got)
	}
	minusOne := m31.CM31{Re: m31.P - 1}
	if root32.Exp(1<<31) != minusOne {
		t.Fatal("the root's order is not exactly 2^32")
	}
	if root31 := root32.Square(); root31.Norm() != 1 {
		t.Fatal("the root of order 2^31 does not have norm 1")
	}
	if (CM31{}).Root(2) != m31.I() {
		t.Fatalf("fourth root of unity %v: the butterflies take it to be i", CM31{}.Root(2))
	}
	for n := range MaxLogCM31 {
		if (CM31{}).Root(n+1).Square() != (CM31{}).Root(n) {
			t.Fatal("roots do not square to each other")
		}
	}
	if !(CM31{}).Root(0).Sub(minusOne.Square()).IsZero() || (CM31{}).Root(1) != minusOne {
		t.Fatal("small roots")
	}
}

// horner evaluates the polynomial at x.
func horner(c []m31.CM31, x m31.CM31) (v m31.CM31) {
	for i := len(c) - 1; i >= 0; i-- {
		v = v.Mul(x).Add(c[i])
	}
	return v
}

func TestForwardAgainstHorner(t *testing.T) {
	for n := 0; n <= 18; n++ {
		for _, batch := range []int{1, 3} {
			data := random(uint64(n), batch<<n)
			got := slices.Clone(data)
			if err := (CM31{}).Forward(got, n); err != nil {
				t.Fatal(err)
			}
			step := 1
			if n > 7 { // a sample of the points, ends included
				step = (1<<n - 1) / 5
			}
			for c := range batch {
				for j := 0; j < 1<<n; j += step {
					x := CM31{}.Root(n).Exp(uint64(j))
					if want := horner(data[c<<n:(c+1)<<n], x); got[c<<n+j] != want {
						t.Fatalf("n=%d batch %d/%d: value %d is %v, want %v", n, c, batch, j, got[c<<n+j], want)
					}
				}
			}
			if err := (CM31{}).Inverse(got, n); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, data) {
				t.Fatalf("n=%d batch %d: inverse differs", n, batch)
			}
		}
	}
}

func TestLivePrefix(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 13, 15, 17} {
		for live := 0; live <= n; live++ {
			if n > 10 && live%5 != n%5 && live < n-3 {
				continue
			}
			for _, batch := range []int{1, 2, 9} {
				if n > 13 && batch > 2 {
					continue
				}
				t.Run(fmt.Sprint(n, live, batch), func(t *testing.T) {
					a := make([]m31.CM31, batch<<n)
					for c := range batch {
						copy(a[c<<n:], random(uint64(c), 1<<live))
					}
					b := slices.Clone(a)
					if err := (CM31{}).ForwardReversed(a, n, live); err != nil {
						t.Fatal(err)
					}
					if err := (CM31{}).Forward(b, n); err != nil {
						t.Fatal(err)
					}
					for i := range b {
						if c, j := i>>n, i&(1<<n-1); b[i] != a[c<<n+Reverse(j, n)] {
							t.Fatalf("value %d of column %d", j, c)
						}
					}
				})
			}
		}
	}
}

func TestErrors(t *testing.T) {
	data := make([]m31.CM31, 12)
	for name, err := range map[string]error{
		"length":   CM31{}.Forward(data, 3),
		"negative": CM31{}.Forward(data, -1),
		"too long": CM31{}.Inverse(nil, MaxLogCM31+1),
		"live":     CM31{}.ForwardReversed(data, 2, 3),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkForwardReversed(b *testing.B) {
	for _, s := range []struct{ n, batch int }{{13, 64}, {20, 1}, {20, 16}} {
		b.Run(fmt.Sprintf("%dx2^%d", s.batch, s.n), func(b *testing.B) {
			data := random(1, s.batch<<s.n)
			b.SetBytes(int64(len(data) * 8))
			for b.Loop() {
				_ = CM31{}.ForwardReversed(data, s.n, s.n)
			}
		})
	}
}
