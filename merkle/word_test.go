package merkle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Trees over words hash any words, those that are no field's elements too, and hash
// a field's elements as trees over the field do.
func TestWordTrees(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	s := Shape{Rows: 16, RowWords: 12, Arity: 2}
	words, elements := make([]Word, 16*12), make([]m31.Element, 16*12)
	for i := range words {
		words[i] = Word(g.Uint32() | 1<<31)
		elements[i] = m31.Element(g.Uint32() >> 2)
	}
	for _, h := range []*Hash[Word]{BLAKE3[Word](), SHA256[Word]()} {
		tree, err := h.Build(words, s, RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		indices := []int{3, 9, 3, 15}
		o, err := tree.Open(words, RowMajor(), indices)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := h.Verify(s, tree.Root(), indices, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range indices {
			if !slices.Equal(rows[i], words[12*at:12*at+12]) {
				t.Errorf("%s: row %d", h.Name(), at)
			}
		}
		o.Rows[5] ^= 1 << 31
		if _, err := h.Verify(s, tree.Root(), indices, o); err == nil {
			t.Errorf("%s: a row with another top bit was accepted", h.Name())
		}
	}
	for i, e := range elements {
		words[i] = Word(e.Uint32())
	}
	a, err := BLAKE3[Word]().Build(words, s, RowMajor())
	if err != nil {
		t.Fatal(err)
	}
	b, err := BLAKE3[m31.Element]().Build(elements, s, RowMajor())
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range b.Root() {
		if a.Root()[i] != Word(w) {
			t.Fatal("the roots over words and over a field differ")
		}
	}
}

func TestWordRing(t *testing.T) {
	for _, w := range []Word{1, 3, 0xdeadbeef, 1<<32 - 1} {
		if w.Mul(w.Inverse()) != w.One() || w.Exp(3) != w.Square().Mul(w) || w.Add(w) != w.Double() || !w.Sub(w).IsZero() || w.Neg().Add(w) != 0 {
			t.Errorf("%#x", w)
		}
		if v, err := w.SetWords(w.AppendWords(nil)); v != w || err != nil {
			t.Errorf("%#x as words: %#x, %v", w, v, err)
		}
	}
	if Word(6).Inverse() != 0 {
		t.Error("an even word has no inverse")
	}
	if _, err := Word(0).SetWords(nil); err == nil {
		t.Error("an element of no words")
	}
	if Word(7).FromUint64(1<<32+5) != 5 {
		t.Error("FromUint64")
	}
}
