package merkle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

func random[W field.Base[W]](r *rand.Rand, n int) []W {
	var zero W
	out := make([]W, n)
	for i := range out {
		out[i] = zero.FromUint64(1 + r.Uint64N(uint64(zero.Modulus())-1))
	}
	return out
}

// naive is the root by recursion from the top, with the hashes spelt out.
func (x suiteOf[W]) naive(words []W, s Shape, lo, n, height int) DigestOf[W] {
	arities := s.Arities()
	if height == 0 {
		return x.row(words[lo*s.RowWords : (lo+1)*s.RowWords])
	}
	a := arities[height-1]
	var children []DigestOf[W]
	for c := range a {
		children = append(children, x.naive(words, s, lo+c*n/a, n/a, height-1))
	}
	return x.node(children)
}

func shapes() []Shape {
	var out []Shape
	for _, a := range []int{2, 4, 8} {
		for k := range 8 {
			out = append(out, Shape{Rows: 1 << k, RowWords: []int{1, 3, 7, 8, 9, 16, 20}[k%7], Arity: a})
		}
	}
	return append(out, Shape{Rows: 4, RowWords: 256, Arity: 2}, Shape{Rows: 2, RowWords: 257, Arity: 2}, Shape{Rows: 2, RowWords: 1300, Arity: 2}, Shape{Rows: 1, RowWords: MaxRowWords, Arity: 2})
}

func TestTree(t *testing.T) { each(t, suite.tree) }

func (x suiteOf[W]) tree(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for _, s := range shapes() {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			words := random[W](r, s.Rows*s.RowWords)
			tree, err := x.h.Build(words, s, RowMajor())
			if err != nil {
				t.Fatal(err)
			}
			root, err := x.h.Root(words, s, RowMajor())
			if err != nil {
				t.Fatal(err)
			}
			if want := x.naive(words, s, 0, s.Rows, s.Depth()); tree.Root() != want || root != want {
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
				rows, err := x.h.Verify(s, root, indices, o)
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

func TestColumns(t *testing.T) { each(t, suite.columns) }

// Column-major matrices of every symbol size, and those in reversed order, have the
// roots and openings of the rows one after the other.
func (x suiteOf[W]) columns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, rows := range []int{1, 32, 512} {
		s := Shape{Rows: rows, RowWords: 20, Arity: 4}
		words := random[W](r, s.Rows*s.RowWords)
		want, err := x.h.Root(words, s, RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		indices := []int{7 % rows, 3 % rows, 7 % rows}
		for _, l := range []Layout{RowMajor(), ColumnMajor(1), ColumnMajor(2), ColumnMajor(4), ColumnMajor(5)} {
			for _, l := range []Layout{l, l.Reverse()} {
				moved := make([]W, len(words))
				for row := range s.Rows {
					index := row
					if l.Reversed {
						index = 0
						for bit := 1; bit < s.Rows; bit *= 2 {
							index *= 2
							if row&bit != 0 {
								index++
							}
						}
					}
					for w, v := range words[row*s.RowWords : (row+1)*s.RowWords] {
						if l.Columns {
							c, k := w/l.Symbol, w%l.Symbol
							moved[(c*s.Rows+index)*l.Symbol+k] = v
						} else {
							moved[index*s.RowWords+w] = v
						}
					}
				}
				tree, err := x.h.Build(moved, s, l)
				if err != nil {
					t.Fatal(err)
				}
				if root, err := x.h.Root(moved, s, l); err != nil || tree.Root() != want || root != want {
					t.Errorf("%d rows, %+v: another root (%v)", rows, l, err)
				}
				o, err := tree.Open(moved, l, indices)
				if err != nil {
					t.Fatal(err)
				}
				got, err := x.h.Verify(s, want, indices, o)
				if err != nil || !slices.Equal(got[0], words[indices[0]*s.RowWords:][:s.RowWords]) {
					t.Errorf("%d rows, %+v: opening %v (%v)", rows, l, got, err)
				}
			}
		}
	}
	if err := ColumnMajor(3).Check(Shape{4, 3, 2}, 12); !errors.Is(err, ErrShape) {
		t.Errorf("symbols of three words: %v", err)
	}
}

func TestTampering(t *testing.T) { each(t, suite.tampering) }

// Every word of an opening matters, and so do root, indices and shape.
func (x suiteOf[W]) tampering(t *testing.T) {
	var zero W
	p := W(zero.Modulus())
	r := rand.New(rand.NewPCG(10, 11))
	for _, s := range []Shape{{64, 5, 2}, {64, 8, 4}, {32, 3, 4}, {128, 9, 8}} {
		words := random[W](r, s.Rows*s.RowWords)
		tree, err := x.h.Build(words, s, RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		root := tree.Root()
		indices := []int{s.Rows - 1, 5, 4, 17, 5}
		good, err := tree.Open(words, RowMajor(), indices)
		if err != nil {
			t.Fatal(err)
		}
		reject := func(what string, want error, root DigestOf[W], s Shape, indices []int, change func(o *OpeningOf[W])) {
			t.Helper()
			o := &OpeningOf[W]{Rows: slices.Clone(good.Rows), Siblings: slices.Clone(good.Siblings)}
			change(o)
			if _, err := x.h.Verify(s, root, indices, o); !errors.Is(err, want) {
				t.Errorf("%v: %s: got %v, want %v", s, what, err, want)
			}
		}
		// another is a different word: of digests of a byte hash, in its top bit.
		another := func(w W) W {
			if x.h.Raw() {
				return w ^ 1<<31
			}
			return w.Add(zero.One())
		}
		same := func(*OpeningOf[W]) {}
		for i := range good.Rows {
			reject("row word", ErrRoot, root, s, indices, func(o *OpeningOf[W]) { o.Rows[i] = o.Rows[i].Add(zero.One()) })
			reject("row word + P", ErrWords, root, s, indices, func(o *OpeningOf[W]) { o.Rows[i] += p })
		}
		for i := range good.Siblings {
			for w := range 8 {
				reject("sibling word", ErrRoot, root, s, indices, func(o *OpeningOf[W]) { o.Siblings[i][w] = another(o.Siblings[i][w]) })
			}
			beyond := ErrWords
			if x.h.Raw() {
				beyond = ErrRoot
			}
			reject("sibling word + P", beyond, root, s, indices, func(o *OpeningOf[W]) { o.Siblings[i][3] += p })
			reject("sibling dropped", ErrSiblings, root, s, indices, func(o *OpeningOf[W]) { o.Siblings = slices.Delete(o.Siblings, i, i+1) })
		}
		for w := range root {
			bad := root
			bad[w] = another(bad[w])
			reject("root word", ErrRoot, bad, s, indices, same)
		}
		reject("one sibling more", ErrSiblings, root, s, indices, func(o *OpeningOf[W]) { o.Siblings = append(o.Siblings, DigestOf[W]{}) })
		reject("one row more", ErrRows, root, s, indices, func(o *OpeningOf[W]) { o.Rows = append(o.Rows, o.Rows[:s.RowWords]...) })
		reject("one word less", ErrRows, root, s, indices, func(o *OpeningOf[W]) { o.Rows = o.Rows[1:] })
		reject("rows swapped", ErrRoot, root, s, indices, func(o *OpeningOf[W]) {
			for k := range s.RowWords {
				o.Rows[k], o.Rows[s.RowWords+k] = o.Rows[s.RowWords+k], o.Rows[k]
			}
		})
		reject("siblings swapped", ErrRoot, root, s, indices, func(o *OpeningOf[W]) {
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
		for _, other := range x.others {
			if _, err := other.Verify(s, root, indices, good); !errors.Is(err, ErrRoot) && !errors.Is(err, ErrWords) {
				t.Errorf("%v: verified by %s: %v", s, other.Name(), err)
			}
		}
	}
}

func TestDomains(t *testing.T) { each(t, suite.domains) }

// A matrix of another width or arity has another root even if all words agree.
func (x suiteOf[W]) domains(t *testing.T) {
	words := random[W](rand.New(rand.NewPCG(12, 13)), 64)
	seen := map[DigestOf[W]]Shape{}
	for _, s := range []Shape{{64, 1, 2}, {64, 1, 4}, {64, 1, 8}, {32, 2, 2}, {16, 4, 4}, {8, 8, 8}, {4, 16, 2}, {1, 64, 2}} {
		root, err := x.h.Root(words, s, RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := seen[root]; ok {
			t.Errorf("%v and %v share a root", s, o)
		}
		seen[root] = s
	}
	if x.h.Row([]W{1, 2}) == x.h.Row([]W{1, 2, 0}) {
		t.Error("a trailing zero does not count")
	}
	// Four zero digests are what eight start with, and a row of zeros is what
	// nodes of zeros take in: only domains tell them apart.
	zeros := make([]DigestOf[W], 8)
	row := make([]W, 64)
	digests := []DigestOf[W]{
		x.h.Node(zeros[:2]), x.h.Node(zeros[:4]), x.h.Node(zeros),
		x.h.Row(row[:16]), x.h.Row(row[:32]), x.h.Row(row), x.h.Row(row[:17]),
	}
	for i, d := range digests {
		if slices.Contains(digests[:i], d) {
			t.Errorf("digest %d of rows and nodes of zeros is there twice", i)
		}
	}
	if _, err := x.h.Build(words, Shape{32, 1, 2}, RowMajor()); !errors.Is(err, ErrShape) {
		t.Errorf("too many words: %v", err)
	}
	if _, err := x.h.Build(words, Shape{64, 1, 2}, ColumnMajor(2)); !errors.Is(err, ErrShape) {
		t.Errorf("half a symbol: %v", err)
	}
	if err := x.h.Leaves(make([]DigestOf[W], 63), words, Shape{64, 1, 2}, RowMajor()); !errors.Is(err, ErrShape) {
		t.Errorf("63 leaves of 64: %v", err)
	}
	if _, err := FromLevels(Shape{4, 1, 2}, [][]DigestOf[W]{make([]DigestOf[W], 4), make([]DigestOf[W], 2)}); !errors.Is(err, ErrShape) {
		t.Errorf("a level missing: %v", err)
	}
}

func TestDigestBytes(t *testing.T) { each(t, suite.digestBytes) }

// A digest survives its 32 bytes; those that no digest has are refused.
func (x suiteOf[W]) digestBytes(t *testing.T) {
	var zero W
	d := x.h.Row(random[W](rand.New(rand.NewPCG(16, 17)), 3))
	b := x.h.AppendDigest([]byte{7}, d)[1:]
	if got, err := x.h.SetDigest(b); err != nil || got != d || len(b) != DigestBytes {
		t.Errorf("%v came back as %v (%v)", d, got, err)
	}
	if x.bytes != nil {
		if want := x.bytes(d); !slices.Equal(b, want) {
			t.Errorf("bytes %x, want %x", b, want)
		}
	}
	if _, err := x.h.SetDigest(b[:31]); !errors.Is(err, ErrWords) {
		t.Errorf("31 bytes: %v", err)
	}
	p := zero.Modulus()
	b[28], b[29], b[30], b[31] = byte(p), byte(p>>8), byte(p>>16), byte(p>>24)
	if _, err := x.h.SetDigest(b); x.h.Raw() != (err == nil) || err != nil && !errors.Is(err, ErrWords) {
		t.Errorf("a word of %d: %v", p, err)
	}
}

func FuzzVerify(f *testing.F) {
	s := Shape{Rows: 16, RowWords: 2, Arity: 4}
	words := random[m31.Element](rand.New(rand.NewPCG(14, 15)), 32)
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

func BenchmarkRoot(b *testing.B) { eachBench(b, suite.benchRoot) }

func (x suiteOf[W]) benchRoot(b *testing.B) {
	for _, l := range []Layout{RowMajor(), ColumnMajor(1).Reverse()} {
		for _, arity := range []int{2, 4, 8} {
			b.Run(fmt.Sprintf("arity%d/rows2^14x16/columns=%v", arity, l.Columns), func(b *testing.B) {
				s := Shape{Rows: 1 << 14, RowWords: 16, Arity: arity}
				words := random[W](rand.New(rand.NewPCG(1, 1)), s.Rows*s.RowWords)
				b.SetBytes(int64(4 * len(words)))
				for b.Loop() {
					if _, err := x.h.Root(words, s, l); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkVerify(b *testing.B) { eachBench(b, suite.benchVerify) }

// 100 rows of 64 words of a tree of 2^16 rows.
func (x suiteOf[W]) benchVerify(b *testing.B) {
	r := rand.New(rand.NewPCG(2, 2))
	s := Shape{Rows: 1 << 16, RowWords: 64, Arity: 2}
	words := random[W](r, s.Rows*s.RowWords)
	tree, err := x.h.Build(words, s, RowMajor())
	if err != nil {
		b.Fatal(err)
	}
	indices := make([]int, 100)
	for i := range indices {
		indices[i] = r.IntN(s.Rows)
	}
	o, err := tree.Open(words, RowMajor(), indices)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.h.Verify(s, tree.Root(), indices, o); err != nil {
			b.Fatal(err)
		}
	}
}
