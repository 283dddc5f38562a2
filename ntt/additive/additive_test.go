package additive

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
)

func random(seed uint64, n int) []gf2.Element {
	g := rand.New(rand.NewPCG(seed, 1))
	v := make([]gf2.Element, n)
	for i := range v {
		v[i] = gf2.Element{Lo: g.Uint64(), Hi: g.Uint64() | 1}
	}
	return v
}

func phi(x gf2.Element) gf2.Element { return x.Square().Add(x) }

// Cantor's basis has the properties that everything else rests on.
func TestBasis(t *testing.T) {
	if Basis(0) != gf2.One() {
		t.Fatalf("gamma_0 is %v", Basis(0))
	}
	for i := 1; i < MaxDim; i++ {
		g := Basis(i)
		if phi(g) != Basis(i-1) {
			t.Errorf("phi(gamma_%d) is %v, want %v", i, phi(g), Basis(i-1))
		}
		if g.Bit(0) != 0 {
			t.Errorf("gamma_%d = %v has bit 0", i, g)
		}
		// In the smallest field of the tower that has room for it.
		for width := 2; width <= 32; width *= 2 {
			if i < width && (g.Hi != 0 || g.Lo>>width != 0) {
				t.Errorf("gamma_%d = %v is not in GF(2^%d)", i, g, width)
				break
			}
		}
	}
	// A basis: no sum of them is zero.
	rows := []uint64{}
	for i := range MaxDim {
		v := Basis(i).Lo
		for _, r := range rows {
			v = min(v, v^r)
		}
		if v == 0 {
			t.Fatalf("gamma_%d depends on those before it", i)
		}
		rows = append(rows, v)
		slices.SortFunc(rows, func(a, b uint64) int {
			if a > b {
				return -1
			}
			return 1
		})
	}
	for _, k := range []uint32{1, 2, 3, 77, 1 << 20, 0xdeadbeef} {
		if phi(Point(k)) != Point(k>>1) {
			t.Errorf("phi of point %d is not point %d", k, k>>1)
		}
	}
	tw := newTwiddles(5)
	for b := uint32(5); b < 300; b++ {
		if tw.value != Twiddle(b) {
			t.Fatalf("twiddle of block %d", b)
		}
		tw.next()
	}
}

// basisAt is X_j(x) by the product of the definition, phi^i being the vanishing
// polynomial itself.
func basisAt(j int, x gf2.Element) gf2.Element {
	v := gf2.One()
	for i := 0; j>>i != 0; i++ {
		if j>>i&1 == 0 {
			continue
		}
		for k := range uint32(1) << i {
			v = v.Mul(x.Add(Point(k)))
		}
	}
	return v
}

func TestForwardNaive(t *testing.T) {
	for d := range 7 {
		for _, coset := range []uint32{0, 1, 6, 1<<(MaxDim-d-1) - 1} {
			a := random(uint64(d), 1<<d)
			got := slices.Clone(a)
			if err := Forward(got, coset); err != nil {
				t.Fatal(err)
			}
			for j := range got {
				x := Point(coset<<d + uint32(j))
				var want gf2.Element
				for k := range a {
					want = want.Add(a[k].Mul(basisAt(k, x)))
				}
				if got[j] != want {
					t.Fatalf("dimension %d, coset %d: value %d is %v, want %v", d, coset, j, got[j], want)
				}
				if e := Evaluate(a, x); e != want {
					t.Fatalf("dimension %d, coset %d: Evaluate at point %d is %v, want %v", d, coset, j, e, want)
				}
			}
		}
	}
}

// Sizes on both sides of what a core takes at a time, against single values.
func TestForwardLarge(t *testing.T) {
	for _, d := range []int{blockDim - 1, blockDim, blockDim + 1, blockDim + 3} {
		const coset = 5
		a := random(uint64(d), 1<<d)
		got := slices.Clone(a)
		if err := Forward(got, coset); err != nil {
			t.Fatal(err)
		}
		for _, j := range []int{0, 1, 1 << (d - 1), 1<<d - 1, 777} {
			if want := Evaluate(a, Point(coset<<d+uint32(j))); got[j] != want {
				t.Errorf("dimension %d: value %d is %v, want %v", d, j, got[j], want)
			}
		}
		if err := Inverse(got, coset); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, a) {
			t.Errorf("dimension %d: the inverse of the transform is not the input", d)
		}
	}
}

// The vectors' way against the levels one by one, in every element.
func TestForwardPolyval(t *testing.T) {
	for _, d := range []int{blockDim, blockDim + 2} {
		const coset = 9
		got := random(uint64(d), 1<<d)
		want := slices.Clone(got)
		for i := d - 1; i >= 0; i-- {
			levelOf(want, coset<<(d-1-i), i, butterfly)
		}
		if err := Forward(got, coset); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("dimension %d", d)
		}
	}
}

func TestInverse(t *testing.T) {
	for d := range 8 {
		a := random(uint64(d), 1<<d)
		b := slices.Clone(a)
		if err := errors.Join(Inverse(b, 3), Forward(b, 3)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a, b) {
			t.Errorf("dimension %d", d)
		}
	}
}

func TestEncodeAndFold(t *testing.T) {
	r := random(99, 5)
	for _, rate := range []int{0, 1, 2, 3} {
		message := random(7, 32)
		word := make([]gf2.Element, 32<<rate)
		if err := Encode(word, message); err != nil {
			t.Fatal(err)
		}
		for j := range word {
			if want := Evaluate(message, Point(uint32(j))); word[j] != want {
				t.Fatalf("rate 2^-%d: symbol %d is %v, want %v", rate, j, word[j], want)
			}
		}
		// Folding commutes with encoding.
		for _, x := range r {
			for k := range len(word) / 2 {
				word[k] = Fold(word[2*k], word[2*k+1], Twiddle(uint32(k)), x)
			}
			for k := range len(message) / 2 {
				message[k] = message[2*k].Add(x.Mul(message[2*k].Add(message[2*k+1])))
			}
			word, message = word[:len(word)/2], message[:len(message)/2]
			want := make([]gf2.Element, len(word))
			if err := Encode(want, message); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(word, want) {
				t.Fatalf("rate 2^-%d: the folded word of %d is not the folded message's", rate, len(word))
			}
		}
	}
}

func TestErrors(t *testing.T) {
	var length *LengthError
	for _, n := range []int{0, 3, 12} {
		if err := Forward(make([]gf2.Element, n), 0); !errors.As(err, &length) || length.Got != n {
			t.Errorf("a transform of %d: %v", n, err)
		}
		if err := Encode(make([]gf2.Element, n), make([]gf2.Element, 1)); !errors.As(err, &length) || length.Got != n {
			t.Errorf("a codeword of %d: %v", n, err)
		}
	}
	if err := Encode(make([]gf2.Element, 4), make([]gf2.Element, 8)); !errors.As(err, &length) || length.Want != 8 || length.Got != 4 {
		t.Errorf("a codeword shorter than its message: %v", err)
	}
	var coset *CosetError
	if err := Inverse(make([]gf2.Element, 4), 1<<30); !errors.As(err, &coset) || coset.Coset != 1<<30 {
		t.Errorf("a coset too far: %v", err)
	}
	var dim *DimError
	if _, err := Dim("a codeword", 1<<33); !errors.As(err, &dim) || dim.Got != 33 {
		t.Errorf("33 dimensions: %v", err)
	}
}

func TestEncodeStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	message := random(1, 1<<blockDim)
	if err := EncodeContext(ctx, make([]gf2.Element, 2<<blockDim), message); !errors.Is(err, context.Canceled) {
		t.Errorf("an encoding after the context's end: %v", err)
	}
}

func BenchmarkForward(b *testing.B) {
	v := random(1, 1<<16)
	b.SetBytes(16 << 16)
	for b.Loop() {
		if err := Forward(v, 1); err != nil {
			b.Fatal(err)
		}
	}
}
