package ntt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

// random is n elements without zeros.
func random[T field.Element[T]](seed uint64, n int, p uint32) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	var z T
	out := make([]T, n)
	for i := range out {
		words := make([]uint32, z.Degree())
		for k := range words {
			words[k] = 1 + r.Uint32N(p-1)
		}
		out[i], _ = z.SetWords(words)
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
	if got, want := (BabyBear{}).Root(27), babybear.New(31).Exp(15); got != want || got.Uint32() != 440564289 {
		t.Errorf("BabyBear: root of order 2^27 %v, want %v", got, want)
	}
	if got, want := (KoalaBear{}).Root(24), koalabear.New(3).Exp(127); got != want || got.Uint32() != 1791270792 {
		t.Errorf("KoalaBear: root of order 2^24 %v, want %v", got, want)
	}
	testRoots(t, BabyBear{})
	testRoots(t, KoalaBear{})
	testRoots(t, CM31{})
}

func testRoots[T field.Element[T]](t *testing.T, f Transform[T]) {
	t.Helper()
	for n := range f.MaxLog() {
		if f.Root(n+1).Square() != f.Root(n) {
			t.Fatalf("%T: roots do not square to each other", f)
		}
	}
	var z T
	if one := z.One(); f.Root(0) != one || f.Root(1) != one.Neg() {
		t.Fatalf("%T: small roots", f)
	}
}

// horner evaluates the polynomial at x.
func horner[T field.Element[T]](c []T, x T) (v T) {
	for i := len(c) - 1; i >= 0; i-- {
		v = v.Mul(x).Add(c[i])
	}
	return v
}

// transforms runs a test over each field.
func transforms(t *testing.T, babyBear, koalaBear, cm31 func(t *testing.T)) {
	t.Run("BabyBear", babyBear)
	t.Run("KoalaBear", koalaBear)
	t.Run("CM31", cm31)
}

func TestForwardAgainstHorner(t *testing.T) {
	transforms(t,
		func(t *testing.T) { testForward(t, BabyBear{}, babybear.P) },
		func(t *testing.T) { testForward(t, KoalaBear{}, koalabear.P) },
		func(t *testing.T) { testForward(t, CM31{}, m31.P) })
}

func testForward[T field.Element[T]](t *testing.T, f Transform[T], p uint32) {
	for n := 0; n <= 18; n++ {
		for _, batch := range []int{1, 3} {
			data := random[T](uint64(n), batch<<n, p)
			got := slices.Clone(data)
			if err := f.Forward(got, n); err != nil {
				t.Fatal(err)
			}
			step := 1
			if n > 7 { // a sample of the points, ends included
				step = (1<<n - 1) / 3
			}
			for c := range batch {
				for j := 0; j < 1<<n; j += step {
					x := f.Root(n).Exp(uint64(j))
					if want := horner(data[c<<n:(c+1)<<n], x); got[c<<n+j] != want {
						t.Fatalf("n=%d batch %d/%d: value %d is %v, want %v", n, c, batch, j, got[c<<n+j], want)
					}
				}
			}
			if err := f.Inverse(got, n); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, data) {
				t.Fatalf("n=%d batch %d: inverse differs", n, batch)
			}
		}
	}
}

func TestLinear(t *testing.T) {
	transforms(t,
		func(t *testing.T) { testLinear(t, BabyBear{}, babybear.P) },
		func(t *testing.T) { testLinear(t, KoalaBear{}, koalabear.P) },
		func(t *testing.T) { testLinear(t, CM31{}, m31.P) })
}

// testLinear compares the transform of a + c b with those of a and b, for words at the
// ends of their range too.
func testLinear[T field.Element[T]](t *testing.T, f Transform[T], p uint32) {
	for _, n := range []int{1, 4, 7, 13} {
		a, b, c := random[T](1, 1<<n, p), random[T](2, 1<<n, p), random[T](3, 1, p)[0]
		for i := range a {
			if i%3 == 0 {
				a[i] = a[i].One().Neg()
			}
		}
		sum := make([]T, 1<<n)
		for i := range sum {
			sum[i] = a[i].Add(c.Mul(b[i]))
		}
		for _, v := range [][]T{a, b, sum} {
			if err := f.ForwardReversed(v, n, n); err != nil {
				t.Fatal(err)
			}
		}
		for i := range sum {
			if want := a[i].Add(c.Mul(b[i])); sum[i] != want {
				t.Fatalf("n=%d: at %d %v, want %v", n, i, sum[i], want)
			}
		}
	}
}

func TestLivePrefix(t *testing.T) {
	transforms(t,
		func(t *testing.T) { testLive(t, BabyBear{}, babybear.P) },
		func(t *testing.T) { testLive(t, KoalaBear{}, koalabear.P) },
		func(t *testing.T) { testLive(t, CM31{}, m31.P) })
}

func testLive[T field.Element[T]](t *testing.T, f Transform[T], p uint32) {
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
					a := make([]T, batch<<n)
					for c := range batch {
						copy(a[c<<n:], random[T](uint64(c), 1<<live, p))
					}
					b := slices.Clone(a)
					if err := f.ForwardReversed(a, n, live); err != nil {
						t.Fatal(err)
					}
					if err := f.Forward(b, n); err != nil {
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

// Coordinates that lie side by side are transformed like columns of their own.
func TestForwardWide(t *testing.T) {
	transforms(t,
		func(t *testing.T) { testWide(t, BabyBear{}, babybear.P) },
		func(t *testing.T) { testWide(t, KoalaBear{}, koalabear.P) },
		func(t *testing.T) { testWide(t, CM31{}, m31.P) })
}

func testWide[T field.Element[T]](t *testing.T, f Transform[T], p uint32) {
	for _, tc := range []struct{ columns, width, n, live int }{{3, 1, 4, 4}, {2, 4, 0, 0}, {5, 5, 3, 1}, {1, 2, 7, 7}, {3, 4, 9, 8}, {2, 5, 12, 9}, {3, 4, 18, 17}} {
		wide := make([]T, tc.columns*tc.width<<tc.n)
		apart := make([]T, len(wide))
		for i, v := range random[T](7, tc.columns*tc.width<<tc.live, p) {
			k, j := i%tc.width, i/tc.width
			c, j := j>>tc.live, j&(1<<tc.live-1)
			wide[(c<<tc.n+j)*tc.width+k] = v
			apart[(c*tc.width+k)<<tc.n+j] = v
		}
		if err := f.ForwardWide(wide, tc.width, tc.n, tc.live); err != nil {
			t.Fatal(err)
		}
		if err := f.ForwardReversed(apart, tc.n, tc.live); err != nil {
			t.Fatal(err)
		}
		for i, v := range wide {
			k, j := i%tc.width, i/tc.width
			c, j := j>>tc.n, j&(1<<tc.n-1)
			if want := apart[(c*tc.width+k)<<tc.n+j]; v != want {
				t.Fatalf("%+v: coordinate %d of value %d of column %d is %v, want %v", tc, k, j, c, v, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	data := make([]m31.CM31, 12)
	words := make([]babybear.Element, 12)
	for name, err := range map[string]error{
		"length":        CM31{}.Forward(data, 3),
		"negative":      CM31{}.Forward(data, -1),
		"too long":      CM31{}.Inverse(nil, MaxLogCM31+1),
		"live":          CM31{}.ForwardReversed(data, 2, 3),
		"too many":      BabyBear{}.Forward(nil, 28),
		"even more":     KoalaBear{}.Forward(nil, 25),
		"width":         BabyBear{}.ForwardWide(words, 5, 1, 1),
		"no width":      BabyBear{}.ForwardWide(words, 0, 1, 1),
		"width, length": BabyBear{}.ForwardWide(words, 4, 1, 1),
		"width, live":   KoalaBear{}.ForwardWide(make([]koalabear.Element, 8), 4, 1, 2),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkForwardReversed(b *testing.B) {
	for _, s := range []struct{ n, batch int }{{13, 64}, {20, 1}, {20, 16}} {
		name := fmt.Sprintf("%dx2^%d", s.batch, s.n)
		b.Run("BabyBear/"+name, func(b *testing.B) {
			data := random[babybear.Element](1, s.batch<<s.n, babybear.P)
			b.SetBytes(int64(len(data) * 4))
			for b.Loop() {
				_ = BabyBear{}.ForwardReversed(data, s.n, s.n)
			}
		})
		b.Run("CM31/"+name, func(b *testing.B) {
			data := random[m31.CM31](1, s.batch<<s.n, m31.P)
			b.SetBytes(int64(len(data) * 8))
			for b.Loop() {
				_ = CM31{}.ForwardReversed(data, s.n, s.n)
			}
		})
	}
}
