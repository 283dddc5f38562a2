package merkle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

func random(r *rand.Rand, n int) []m31.Element {
	out := make([]m31.Element, n)
	for i := range out {
		out[i] = m31.Element(1 + r.Uint64N(m31.P-1))
	}
	return out
}

// naive is the root by recursion from the top, with the hashes spelt out.
func naive(words []m31.Element, s Shape, lo, n, height int) Digest {
	arities := s.Arities()
	if height == 0 {
		var st [16]m31.Element
		st[8] = m31.Element(65536 + s.RowWords)
		for i, w := range words[lo*s.RowWords : (lo+1)*s.RowWords] {
			if i > 0 && i%8 == 0 {
				poseidon2.Permute16(&st)
			}
			st[i%8] = w
		}
		poseidon2.Permute16(&st)
		return Digest(st[:8])
	}
	a := arities[height-1]
	var children []m31.Element
	for c := range a {
		d := naive(words, s, lo+c*n/a, n/a, height-1)
		children = append(children, d[:]...)
	}
	if a == 2 {
		st := [16]m31.Element(children)
		poseidon2.Permute16(&st)
		return Digest(st[:8])
	}
	var st [24]m31.Element
	st[16] = m31.Element(131072 + a)
	for i := 0; i < len(children); i += 16 {
		copy(st[:16], children[i:i+16])
		poseidon2.Permute24(&st)
	}
	return Digest(st[:8])
}

func shapes() []Shape {
	var out []Shape
	for _, a := range []int{2, 4, 8} {
		for k := range 8 {
			out = append(out, Shape{Rows: 1 << k, RowWords: []int{1, 3, 7, 8, 9, 16, 20}[k%7], Arity: a})
		}
	}
	return out
}

func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for _, s := range shapes() {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			words := random(r, s.Rows*s.RowWords)
			tree, err := Build(words, s, RowMajor())
			if err != nil {
				t.Fatal(err)
			}
			root, err := Root(words, s, RowMajor())
			if err != nil {
				t.Fatal(err)
			}
			if want := naive(words, s, 0, s.Rows, s.Depth()); tree.Root() != want || root != want {
				t.Fatalf("roots %v and %v, want %v", tree.Root(), root, want)
			}
			again, err := FromLevels(s, tree.levels)
			if err != nil || again.Root() != root {
				t.Fatalf("from levels: %v", err)
			}
			for _, n := range []int{0, 1, 2, 5, s.Rows, 3 * s.Rows} {
				indices := make([]int, n)
				for i := range indices {
					indices[i] = r.IntN(s.Rows)
				}
				o, err := tree.Open(words, RowMajor(), indices)
				if err != nil {
					t.Fatal(err)
				}
				rows, err := s.Verify(root, indices, o)
				if err != nil {
					t.Fatalf("indices %v: %v", indices, err)
				}
				for k, i := range indices {
					if !slices.Equal(rows[k], words[i*s.RowWords:(i+1)*s.RowWords]) {
						t.Fatalf("row %d is not that of index %d", k, i)
					}
				}
			}
		})
	}
}

// Column-major matrices of every symbol size have the roots and openings of
// their transposes.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	s := Shape{Rows: 32, RowWords: 12, Arity: 4}
	words := random(r, s.Rows*s.RowWords)
	want, err := Root(words, s, RowMajor())
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range []int{1, 2, 4} {
		l := ColumnMajor(symbol)
		cols := make([]m31.Element, len(words))
		for i := range cols {
			k, rest := i%symbol, i/symbol
			row, c := rest%s.Rows, rest/s.Rows
			cols[i] = words[row*s.RowWords+c*symbol+k]
		}
		tree, err := Build(cols, s, l)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Root() != want {
			t.Errorf("symbols of %d words: another root", symbol)
		}
		o, err := tree.Open(cols, l, []int{7, 3, 7})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Verify(want, []int{7, 3, 7}, o); err != nil {
			t.Error(err)
		}
	}
}

// Every word of an opening matters, and so do root, indices and shape.
func TestTampering(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	for _, s := range []Shape{{64, 5, 2}, {64, 8, 4}, {32, 3, 4}, {128, 9, 8}} {
		words := random(r, s.Rows*s.RowWords)
		tree, err := Build(words, s, RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		root := tree.Root()
		indices := []int{s.Rows - 1, 5, 4, 17, 5}
		good, err := tree.Open(words, RowMajor(), indices)
		if err != nil {
			t.Fatal(err)
		}
		reject := func(what string, want error, root Digest, s Shape, indices []int, change func(o *Opening)) {
			t.Helper()
			o := &Opening{Rows: slices.Clone(good.Rows), Siblings: slices.Clone(good.Siblings)}
			change(o)
			if _, err := s.Verify(root, indices, o); !errors.Is(err, want) {
				t.Errorf("%v: %s: got %v, want %v", s, what, err, want)
			}
		}
		same := func(*Opening) {}
		for i := range good.Rows {
			reject("row word", ErrRoot, root, s, indices, func(o *Opening) { o.Rows[i] = o.Rows[i].Add(1) })
			reject("row word + P", ErrWords, root, s, indices, func(o *Opening) { o.Rows[i] += m31.P })
		}
		for i := range good.Siblings {
			for w := range 8 {
				reject("sibling word", ErrRoot, root, s, indices, func(o *Opening) { o.Siblings[i][w] = o.Siblings[i][w].Add(1) })
			}
			reject("sibling word + P", ErrWords, root, s, indices, func(o *Opening) { o.Siblings[i][3] += m31.P })
			reject("sibling dropped", ErrSiblings, root, s, indices, func(o *Opening) { o.Siblings = slices.Delete(o.Siblings, i, i+1) })
		}
		for w := range root {
			bad := root
			bad[w] = bad[w].Add(1)
			reject("root word", ErrRoot, bad, s, indices, same)
		}
		reject("one sibling more", ErrSiblings, root, s, indices, func(o *Opening) { o.Siblings = append(o.Siblings, Digest{}) })
		reject("one row more", ErrRows, root, s, indices, func(o *Opening) { o.Rows = append(o.Rows, o.Rows[:s.RowWords]...) })
		reject("one word less", ErrRows, root, s, indices, func(o *Opening) { o.Rows = o.Rows[1:] })
		reject("rows swapped", ErrRoot, root, s, indices, func(o *Opening) {
			for k := range s.RowWords {
				o.Rows[k], o.Rows[s.RowWords+k] = o.Rows[s.RowWords+k], o.Rows[k]
			}
		})
		reject("siblings swapped", ErrRoot, root, s, indices, func(o *Opening) {
			o.Siblings[0], o.Siblings[1] = o.Siblings[1], o.Siblings[0]
		})
		reject("other index, same groups", ErrRoot, root, s, []int{s.Rows - 2, 5, 4, 17, 5}, same)
		reject("index too large", ErrIndex, root, s, []int{s.Rows, 5, 4, 17, 5}, same)
		reject("index negative", ErrIndex, root, s, []int{-1, 5, 4, 17, 5}, same)
		reject("fewer indices", ErrRows, root, s, indices[:2], same)
		reject("no index", ErrRows, root, s, nil, same)
		wide := s
		wide.RowWords++
		reject("wider rows", ErrRows, root, wide, indices, same)
		for _, bad := range []Shape{{s.Rows, s.RowWords, 3}, {s.Rows - 1, s.RowWords, s.Arity}, {0, 1, 2}, {s.Rows, 0, s.Arity}, {s.Rows, MaxRowWords + 1, s.Arity}} {
			reject("bad shape", ErrShape, root, bad, indices, same)
		}
	}
}

// A matrix of another width or arity has another root even if all words agree.
func TestDomains(t *testing.T) {
	words := random(rand.New(rand.NewPCG(12, 13)), 64)
	seen := map[Digest]Shape{}
	for _, s := range []Shape{{64, 1, 2}, {64, 1, 4}, {64, 1, 8}, {32, 2, 2}, {16, 4, 4}, {8, 8, 8}, {4, 16, 2}, {1, 64, 2}} {
		root, err := Root(words, s, RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := seen[root]; ok {
			t.Errorf("%v and %v share a root", s, o)
		}
		seen[root] = s
	}
	if HashRow([]m31.Element{1, 2}) == HashRow([]m31.Element{1, 2, 0}) {
		t.Error("a trailing zero does not count")
	}
	// The capacity word, not only the words read, differs between an inner row
	// and a row of two digests.
	two := []Digest{{1}, {2}}
	if HashNode(two) == HashRow(Words(two)) {
		t.Error("a node equals the leaf of its children")
	}
	if _, err := Build(words, Shape{32, 1, 2}, RowMajor()); !errors.Is(err, ErrShape) {
		t.Errorf("too many words: %v", err)
	}
	if _, err := Build(words, Shape{64, 1, 2}, ColumnMajor(2)); !errors.Is(err, ErrShape) {
		t.Errorf("half a symbol: %v", err)
	}
	if _, err := FromLevels(Shape{4, 1, 2}, [][]Digest{make([]Digest, 4), make([]Digest, 2)}); !errors.Is(err, ErrShape) {
		t.Errorf("a level missing: %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	s := Shape{Rows: 16, RowWords: 2, Arity: 4}
	words := random(rand.New(rand.NewPCG(14, 15)), 32)
	tree, err := Build(words, s, RowMajor())
	if err != nil {
		f.Fatal(err)
	}
	good, err := tree.Open(words, RowMajor(), []int{3, 9})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(3), byte(9), m31.AppendBytes(nil, append(slices.Clone(good.Rows), Words(good.Siblings)...)))
	f.Add(byte(3), byte(3), []byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, i, j byte, data []byte) {
		w := make([]m31.Element, len(data)/4)
		if m31.Decode(w, data[:4*len(w)]) != nil {
			return
		}
		n := min(len(w), 2*s.RowWords)
		o := &Opening{Rows: w[:n]}
		for k := n; k+8 <= len(w); k += 8 {
			o.Siblings = append(o.Siblings, Digest(w[k:]))
		}
		indices := []int{int(i), int(j)}
		rows, err := s.Verify(tree.Root(), indices, o)
		if err != nil {
			return
		}
		for k, x := range indices {
			if !slices.Equal(rows[k], words[2*x:2*x+2]) {
				t.Fatalf("accepted row %v for index %d", rows[k], x)
			}
		}
	})
}

func BenchmarkRoot(b *testing.B) {
	for _, arity := range []int{2, 4, 8} {
		b.Run(fmt.Sprintf("arity%d/rows2^14x16", arity), func(b *testing.B) {
			s := Shape{Rows: 1 << 14, RowWords: 16, Arity: arity}
			words := random(rand.New(rand.NewPCG(1, 1)), s.Rows*s.RowWords)
			b.SetBytes(int64(4 * len(words)))
			for b.Loop() {
				if _, err := Root(words, s, RowMajor()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
