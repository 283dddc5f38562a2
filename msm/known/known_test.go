package known_test

import (
	"context"
	"testing"

	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/known"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

func check[P comparable, S any](t *testing.T, c *msm.Curve[P, S], b *known.Bases[P, S]) {
	t.Helper()
	n := len(b.Points)
	if err := c.Host.Check(b.Points, true); err != nil {
		t.Fatal(err)
	}
	for _, kind := range known.Kinds() {
		s, err := b.Scalars(kind, 5, n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Host.Sum(context.Background(), b.Points, s)
		if err != nil {
			t.Fatal(err)
		}
		if want := b.Expected(s); got != want {
			t.Errorf("%s, %d points: another sum", kind, n)
		}
	}
	if _, err := b.Scalars("even", 5, n); err == nil {
		t.Error("an unknown kind of scalars")
	}
}

func TestBases(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1<<14 + 3} {
		check(t, msmtest.Toy61, known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, 1, n))
	}
	check(t, bn254.G1, known.New[bn254g.G1Affine, bn254fr.Element, bn254fp.Element](bn254.G1, 1, 100))
	few, more := known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, 1, 1<<14), known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, 1, 1<<15)
	other := known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, 2, 1<<14)
	seen := map[toy61.G1Affine]bool{}
	for i, p := range more.Points {
		if seen[p] {
			t.Fatalf("point %d is there twice", i)
		}
		seen[p] = true
		if i < len(few.Points) && few.Points[i] != p {
			t.Fatalf("point %d depends on their number", i)
		}
		if i < len(few.Points) && other.Points[i] == p {
			t.Fatalf("point %d does not depend on the seed", i)
		}
	}
}

// The kinds are what they say.
func TestKinds(t *testing.T) {
	b := known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, 1, 1)
	count := func(kind string) map[uint64]int {
		s, err := b.Scalars(kind, 3, 10000)
		if err != nil {
			t.Fatal(err)
		}
		out := map[uint64]int{}
		for i := range s {
			out[s[i].Bits()[0]]++
		}
		return out
	}
	if c := count("uniform"); len(c) < 9990 {
		t.Errorf("uniform: %d values", len(c))
	}
	if c := count("equal"); len(c) != 1 {
		t.Errorf("equal: %d values", len(c))
	}
	if c := count("zero-one"); len(c) != 2 || c[0] < 4500 || c[1] < 4500 {
		t.Errorf("zero-one: %v", c)
	}
	most := 0
	c := count("half")
	for _, n := range c {
		most = max(most, n)
	}
	if most < 4500 || most > 5500 || len(c) < 4000 {
		t.Errorf("half: %d values, the most frequent %d times", len(c), most)
	}
	w := known.New[bn254g.G1Affine, bn254fr.Element, bn254fp.Element](bn254.G1, 1, 1)
	s, err := w.Scalars("hot-window", 3, 1000)
	if err != nil {
		t.Fatal(err)
	}
	first := s[0].Bits()
	for i := range s {
		v := s[i].Bits()
		if (v[1]^first[1])&(1<<51-1) != 0 {
			t.Fatalf("hot-window: scalar %d differs", i)
		}
		if i > 0 && (v[0] == first[0] || v[2] == first[2]) {
			t.Errorf("hot-window: scalar %d is like the first elsewhere", i)
		}
	}
	s, err = w.Scalars("bits64", 3, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s {
		if v := s[i].Bits(); v[1]|v[2]|v[3] != 0 || v[0] == 0 {
			t.Errorf("bits64: %x", v)
		}
	}
}
