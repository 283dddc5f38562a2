package gf2

import (
	_ "embed"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field"
)

//go:embed testdata/binary-tower.json
var vectorsText []byte

// vectors of binary-tower.json: elements are hexadecimal numbers.
type vectorFile struct {
	Levels map[string]struct {
		Bits       int
		Products   [][]Element
		Squares    [][]Element
		Inverses   [][]Element
		MulByX     [][]Element `json:"mul_by_X"`
		GeneratorX Element     `json:"generator_X"`
	}
	Isomorphisms map[string]json.RawMessage
}

func (a *Element) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*a = parse(s)
	return nil
}

// parse reads a hexadecimal number.
func parse(s string) Element {
	var e Element
	for _, c := range s {
		e.Hi = e.Hi<<4 | e.Lo>>60
		e.Lo = e.Lo<<4 | uint64(strings.IndexRune("0123456789abcdef", c))
	}
	return e
}

func load(t testing.TB) vectorFile {
	t.Helper()
	var v vectorFile
	if err := json.Unmarshal(vectorsText, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Generic code may use the field.
var _ = field.BatchInverse[Element]

func random(r *rand.Rand) Element { return Element{r.Uint64(), r.Uint64()} }

func TestVectors(t *testing.T) {
	v := load(t)
	if len(v.Levels) != 7 {
		t.Fatalf("%d levels, want 7", len(v.Levels))
	}
	for name, l := range v.Levels {
		for _, p := range l.Products {
			if got, plain := p[0].Mul(p[1]), p[0].mul(p[1]); got != p[2] || plain != p[2] {
				t.Errorf("%s: %v * %v = %v and %v, want %v", name, p[0], p[1], got, plain, p[2])
			}
		}
		for _, p := range l.Squares {
			if got := p[0].Square(); got != p[1] {
				t.Errorf("%s: %v^2 = %v, want %v", name, p[0], got, p[1])
			}
		}
		for _, p := range l.Inverses {
			if got := p[0].Inverse(); got != p[1] {
				t.Errorf("%s: 1/%v = %v, want %v", name, p[0], got, p[1])
			}
		}
		for _, p := range l.MulByX {
			if got := p[0].Mul(l.GeneratorX); got != p[1] {
				t.Errorf("%s: %v * X = %v, want %v", name, p[0], got, p[1])
			}
			if l.Bits == 128 && p[0].MulX() != p[1] {
				t.Errorf("%s: MulX of %v = %v, want %v", name, p[0], p[0].MulX(), p[1])
			}
		}
	}
}

// definition multiplies by the rule of the tower alone, on polynomials in the X_j:
// every bit pair is a product of generators, whose squares are replaced one by one.
func definition(a, b Element) Element {
	var r Element
	for i := range 128 {
		for j := range 128 {
			if a.Bit(i)&b.Bit(j) == 1 {
				r = r.Add(monomials(i, j))
			}
		}
	}
	return r
}

// monomials is the product of two basis elements.
func monomials(i, j int) Element {
	if i&j == 0 {
		return Basis(i | j)
	}
	k := 0 // the highest generator in both
	for x := i & j; x > 1; x >>= 1 {
		k++
	}
	i, j = i&^(1<<k), j&^(1<<k)
	// X_k^2 = X_k X_(k-1) + 1, times the rest of both.
	rest := monomials(i, j)
	r := rest
	for m := range 128 {
		if rest.Bit(m) == 0 {
			continue
		}
		// m times X_k X_(k-1); m has no X_k, but may have X_(k-1).
		with := Basis(m | 1<<k)
		if k > 0 {
			with = Element{}
			lower := monomials(m, 1<<(k-1))
			for q := range 128 {
				if lower.Bit(q) == 1 {
					with = with.Add(monomials(q, 1<<k))
				}
			}
		}
		r = r.Add(with)
	}
	return r
}

func TestDefinition(t *testing.T) {
	for i := range 128 {
		for j := range 128 {
			if got, want := Basis(i).mul(Basis(j)), monomials(i, j); got != want {
				t.Fatalf("basis %d * %d = %v, want %v", i, j, got, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		a, b := random(r), random(r)
		if got, want := a.mul(b), definition(a, b); got != want {
			t.Fatalf("%v * %v = %v, want %v", a, b, got, want)
		}
	}
}

func TestAlgebra(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a, b, c := random(r), random(r), random(r)
		switch {
		case a.Mul(b) != a.mul(b):
			t.Fatal("the product through POLYVAL's basis is another")
		case a.Polyval().Mul(b.Polyval()) != a.Polyval().mul(b.Polyval()):
			t.Fatal("the product by instructions is another")
		case a.Mul(b) != b.Mul(a):
			t.Fatal("not commutative")
		case a.Mul(b).Mul(c) != a.Mul(b.Mul(c)):
			t.Fatal("not associative")
		case a.Mul(b.Add(c)) != a.Mul(b).Add(a.Mul(c)):
			t.Fatal("not distributive")
		case a.Square() != a.Mul(a):
			t.Fatal("the square is another")
		case a.Mul(a.Inverse()) != One():
			t.Fatal("the inverse is none")
		case a.MulX() != a.Mul(Basis(64)):
			t.Fatal("MulX is not the product with X_6")
		case a.Exp(5) != a.Mul(a.Square().Square()) || a.Exp(0) != One():
			t.Fatal("powers are wrong")
		case FromBytes(a.Bytes()) != a:
			t.Fatal("bytes do not come back")
		}
		// x^(2^128) = x, and in a subfield sooner.
		f := a
		for range 128 {
			f = f.Square()
		}
		if f != a {
			t.Fatal("Frobenius is of another order than 128")
		}
	}
	if !(Element{}).Inverse().IsZero() {
		t.Error("the inverse of 0 is not 0")
	}
	if w, w2 := (Element{Lo: 2}), (Element{Lo: 3}); w.Square() != w2 || w.Mul(w2) != One() {
		t.Error("2 is not a cube root of 1 with the square 3")
	}
}

// Subfields are closed, the same in every field above, and no larger than they should be.
func TestSubfields(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for k := range 8 {
		size := 1 << k // bits
		cut := func(a Element) Element {
			switch {
			case size == 128:
				return a
			case size == 64:
				return Number(a.Lo)
			}
			return Number(a.Lo & (1<<size - 1))
		}
		for range 40 {
			a, b := cut(random(r)), cut(random(r))
			for _, c := range []Element{a.Mul(b), a.Square(), a.Inverse(), a.Add(b)} {
				if c.Level() > k {
					t.Fatalf("%v and %v of GF(2^%d) make %v", a, b, size, c)
				}
			}
			// The elements of GF(2^size) are those that as many squarings leave alone.
			f := a
			for range size {
				f = f.Square()
			}
			if f != a {
				t.Fatalf("%d squarings of %v make %v", size, a, f)
			}
		}
		top := Basis(size - 1)
		if top.Level() != k || size < 128 && Basis(size).Level() != k+1 {
			t.Errorf("levels of bits %d and %d are %d and %d", size-1, size, top.Level(), Basis(size).Level())
		}
		if k > 0 {
			f := top
			for range size / 2 {
				f = f.Square()
			}
			if f == top {
				t.Errorf("%v is in a smaller field than GF(2^%d)", top, size)
			}
		}
	}
	if (Element{}).Level() != 0 || One().Level() != 0 {
		t.Error("0 and 1 are not in GF(2)")
	}
}

func TestWords(t *testing.T) {
	a := Element{0x0123456789abcdef, 0xfedcba9876543210}
	w := a.AppendWords([]uint32{7})
	if want := []uint32{7, 0x89abcdef, 0x01234567, 0x76543210, 0xfedcba98}; !slices.Equal(w, want) {
		t.Errorf("words %x, want %x", w, want)
	}
	if b, err := a.SetWords(w[1:]); err != nil || b != a {
		t.Errorf("words make %v, %v", b, err)
	}
	if _, err := a.SetWords(w); err == nil {
		t.Error("five words make an element")
	}
	if got := a.Bytes(); got[0] != 0xef || got[15] != 0xfe {
		t.Errorf("bytes %x are not little-endian", got)
	}
	if a.String() != "fedcba98765432100123456789abcdef" || parse(a.String()) != a {
		t.Errorf("printed as %v", a)
	}
}

func TestColumns(t *testing.T) {
	for vars, want := range []int{1, 1, 1, 1, 1, 1, 2, 4} {
		column := make([]uint32, BitWords(vars))
		if len(column) != want {
			t.Fatalf("%d variables are %d words, want %d", vars, len(column), want)
		}
		for x := range 1 << vars {
			SetBit(column, x, uint(x%3))
		}
		for x := range 1 << vars {
			if Bit(column, x) != uint(x%3)&1 {
				t.Fatalf("%d variables: bit %d is %d", vars, x, Bit(column, x))
			}
		}
		if err := CheckColumn(column, vars); err != nil {
			t.Error(err)
		}
		var words *WordsError
		if err := CheckColumn(append(column, 0), vars); !errors.As(err, &words) || words.Want != want || words.Got != want+1 {
			t.Errorf("a word more: %v", err)
		}
		if vars < 5 {
			column[0] |= 1 << (1 << vars)
			var padding *PaddingError
			if err := CheckColumn(column, vars); !errors.As(err, &padding) {
				t.Errorf("a bit above: %v", err)
			}
		}
	}
	var v *VarsError
	if err := CheckColumn(nil, -1); !errors.As(err, &v) {
		t.Errorf("-1 variables: %v", err)
	}
	if err := CheckColumn(nil, 63); !errors.As(err, &v) {
		t.Errorf("63 variables: %v", err)
	}
}

// One product after another.
func BenchmarkMul(b *testing.B) {
	eachVariantOf(b, func(b *testing.B) {
		r := rand.New(rand.NewPCG(5, 6))
		x, y := random(r), random(r)
		for range b.N {
			x = x.Mul(y)
		}
		if x.IsZero() {
			b.Fatal("zero")
		}
	})
}
