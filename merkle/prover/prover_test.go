package prover

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/merkle"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

// elements are n random ones, none of them zero.
func elements[W field.Base[W]](n int) []W {
	var zero W
	v := make([]W, n)
	devicetest.Fill(devicetest.Rand(uint64(n)), v, zero.Modulus())
	return v
}

type matrixCase struct {
	s merkle.Shape
	l merkle.Layout
}

// cases covers all arities and layouts, odd widths, one row, shapes whose root
// has fewer children, levels of which one block hashes a part, and levels
// beyond what merkle_top starts from.
func cases() (out []matrixCase) {
	add := func(rows, width, arity int, l merkle.Layout) {
		out = append(out, matrixCase{merkle.Shape{Rows: rows, RowWords: width, Arity: arity}, l})
	}
	add(1<<16, 1, 2, merkle.RowMajor())
	add(1<<16, 4, 4, merkle.RowMajor())
	for _, arity := range []int{2, 4, 8} {
		for k, width := range []int{1, 3, 7, 8, 9, 16, 33} {
			add(1<<k, width, arity, merkle.RowMajor())
		}
		add(4096, 5, arity, merkle.RowMajor())
		add(2048, 2, arity, merkle.ColumnMajor(2))
		add(64, 11, arity, merkle.ColumnMajor(1))
		add(128, 12, arity, merkle.ColumnMajor(2))
		add(32, 20, arity, merkle.ColumnMajor(4))
		add(64, 15, arity, merkle.ColumnMajor(5).Reverse())
		add(256, 3, arity, merkle.ColumnMajor(1).Reverse())
		add(16, 8, arity, merkle.RowMajor().Reverse())
		add(1, 8, arity, merkle.RowMajor().Reverse())
	}
	return out
}

// someCases is fewer, for other hashes in the same kernels: with rows of one, two,
// four and six chunks of BLAKE3, and around its blocks' lengths and SHA-256's.
func someCases() (out []matrixCase) {
	add := func(rows, width, arity int, l merkle.Layout) {
		out = append(out, matrixCase{merkle.Shape{Rows: rows, RowWords: width, Arity: arity}, l})
	}
	for k, width := range []int{1, 12, 13, 15, 16, 17, 31, 256} {
		add(1<<k, width, []int{8, 4, 2}[k%3], merkle.RowMajor())
	}
	add(1<<16, 1, 2, merkle.RowMajor())
	add(1<<16, 1, 4, merkle.RowMajor())
	add(1, 257, 2, merkle.RowMajor())
	add(2, 1023, 2, merkle.ColumnMajor(1))
	add(2, 1300, 2, merkle.ColumnMajor(5).Reverse())
	add(128, 16, 2, merkle.ColumnMajor(1).Reverse())
	add(128, 12, 4, merkle.ColumnMajor(2).Reverse())
	add(128, 12, 8, merkle.ColumnMajor(4))
	return out
}

// Trees, roots and openings equal those of package merkle on every device.
func TestTree(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		t.Run("m31", func(t *testing.T) { testTrees(t, q, merkle.M31(), cases()) })
		t.Run("babybear", func(t *testing.T) { testTrees(t, q, merkle.Poseidon2(poseidon2.BabyBear()), someCases()) })
		t.Run("koalabear", func(t *testing.T) { testTrees(t, q, merkle.Poseidon2(poseidon2.KoalaBear()), someCases()) })
		t.Run("blake3", func(t *testing.T) { testTrees(t, q, merkle.BLAKE3[babybear.Element](), someCases()) })
		t.Run("sha256", func(t *testing.T) { testTrees(t, q, merkle.SHA256[koalabear.Element](), someCases()) })
		t.Run("blake3/m31", func(t *testing.T) { testTrees(t, q, merkle.BLAKE3[m31.Element](), someCases()[:3]) })
	})
}

func testTrees[W field.Base[W]](t *testing.T, q *device.Queue, h *merkle.Hash[W], cases []matrixCase) {
	for _, c := range cases {
		t.Run(fmt.Sprint(c.s, c.l), func(t *testing.T) {
			words := elements[W](c.s.Rows * c.s.RowWords)
			want, err := h.Build(words, c.s, c.l)
			if err != nil {
				t.Fatal(err)
			}
			b, err := device.Upload(q, words)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Free()
			tree, err := Build(q, h, b, c.s, c.l)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Free()
			check := func(what string, b device.Buffer[W]) {
				t.Helper()
				got, err := b.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if root := want.Root(); merkle.DigestOf[W](got) != root {
					t.Fatalf("%s %v, want %v", what, got, root)
				}
			}
			check("root of the tree", tree.Root())
			root, err := device.Alloc[W](q, 8)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Free()
			if err := Root(q, h, root, b, c.s, c.l); err != nil {
				t.Fatal(err)
			}
			check("root alone", root)

			g := devicetest.Rand(uint64(c.s.Rows))
			for _, n := range []int{0, 1, 13} {
				indices := make([]int, n)
				for i := range indices {
					indices[i] = g.Intn(c.s.Rows)
				}
				got, err := tree.Open(b, c.l, indices)
				if err != nil {
					t.Fatal(err)
				}
				o, err := want.Open(words, c.l, indices)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Rows, o.Rows) || !slices.Equal(got.Siblings, o.Siblings) {
					t.Fatalf("opening of %v differs", indices)
				}
				if _, err := h.Verify(c.s, want.Root(), indices, got); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Openings of several trees are gathered before the first is read, and by another
// queue.
func TestGather(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		h, s, l := merkle.BLAKE3[babybear.Element](), merkle.Shape{Rows: 64, RowWords: 5, Arity: 4}, merkle.ColumnMajor(5).Reverse()
		indices := []int{9, 63, 9, 0}
		other := devicetest.Queue(t, q.Device())
		var pending []*Pending[babybear.Element]
		var want []*merkle.OpeningOf[babybear.Element]
		for n := range 3 {
			words := elements[babybear.Element](64*5 + n)[n:]
			b := devicetest.Upload(t, q, words)
			tree, err := Build(q, h, b, s, l)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Free()
			if err := q.Sync(); err != nil {
				t.Fatal(err)
			}
			before := other.Stats().Syncs
			p, err := tree.Gather(other, b, l, indices[n:])
			if err != nil {
				t.Fatal(err)
			}
			if waited := other.Stats().Syncs - before; waited != 0 {
				t.Errorf("gathering waited %d times", waited)
			}
			pending = append(pending, p)
			host, err := h.Build(words, s, l)
			if err != nil {
				t.Fatal(err)
			}
			o, err := host.Open(words, l, indices[n:])
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, o)
		}
		for n, p := range pending {
			got, err := p.Opening(other)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want[n]) {
				t.Errorf("opening %d differs", n)
			}
		}
	})
}

// Several trees are opened by one copy back, trees of different shapes and one without
// any rows among them.
func TestOpenAll(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		h := merkle.BLAKE3[babybear.Element]()
		var requests []Request[babybear.Element]
		var want []*merkle.OpeningOf[babybear.Element]
		for n, s := range []merkle.Shape{{Rows: 64, RowWords: 5, Arity: 4}, {Rows: 1, RowWords: 3, Arity: 2}, {Rows: 128, RowWords: 8, Arity: 2}, {Rows: 32, RowWords: 64, Arity: 8}} {
			words := elements[babybear.Element](s.Rows * s.RowWords)
			b := devicetest.Upload(t, q, words)
			tree, err := Build(q, h, b, s, merkle.RowMajor())
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Free()
			var indices []int
			for i := range 5 * (n % 3) {
				indices = append(indices, i*i*7%s.Rows)
			}
			requests = append(requests, Request[babybear.Element]{tree, b, merkle.RowMajor(), indices})
			o, err := tree.Open(b, merkle.RowMajor(), indices)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, o)
		}
		before := q.Stats().Syncs
		got, err := OpenAll(q, requests)
		if err != nil {
			t.Fatal(err)
		}
		if waited := q.Stats().Syncs - before; waited > 1 {
			t.Errorf("waited %d times", waited)
		}
		if !reflect.DeepEqual(got, want) {
			t.Error("the openings differ from those of single trees")
		}
		if got, err := OpenAll[babybear.Element](q, nil); err != nil || len(got) != 0 {
			t.Errorf("no trees: %v, %v", got, err)
		}
		if got, err := OpenAll(q, requests[:1]); err != nil || !reflect.DeepEqual(got, want[:1]) {
			t.Errorf("no rows: %v, %v", got, err)
		}
		bad := slices.Clone(requests)
		bad[2].Indices = []int{128}
		if _, err := OpenAll(q, bad); !errors.Is(err, merkle.ErrIndex) {
			t.Errorf("a row that is not there: %v", err)
		}
		for name, b := range devicetest.Strange[babybear.Element](t, q, 32*64) {
			bad := slices.Clone(requests)
			bad[3].Words = b
			if _, err := OpenAll(q, bad); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A permutation that no kernel knows is refused where kernels are needed.
func TestUnknownHash(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		p := *poseidon2.M31Permutation()
		p.Name = "mine"
		b := devicetest.Upload(t, q, elements[m31.Element](8))
		if _, err := Build(q, merkle.Poseidon2(&p), b, merkle.Shape{Rows: 2, RowWords: 4, Arity: 2}, merkle.RowMajor()); !errors.Is(err, device.ErrUsage) {
			t.Error(err)
		}
	})
}

// Roots of digests equal those of the trees whose leaves they are, and the
// digests stay.
func TestRootOfDigests(t *testing.T) {
	h := merkle.M31()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, c := range []struct{ n, arity int }{{1, 2}, {2, 2}, {256, 2}, {512, 2}, {1 << 13, 2}, {1 << 16, 2}, {32, 4}, {2048, 4}, {64, 8}, {8192, 8}} {
			s := merkle.Shape{Rows: c.n, RowWords: 3, Arity: c.arity}
			words := elements[m31.Element](c.n * s.RowWords)
			leaves := make([]merkle.Digest, c.n)
			if err := merkle.Leaves(leaves, words, s, merkle.RowMajor()); err != nil {
				t.Fatal(err)
			}
			want, err := merkle.Root(words, s, merkle.RowMajor())
			if err != nil {
				t.Fatal(err)
			}
			in, err := device.Upload(q, leaves)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Free()
			root, err := device.Alloc[m31.Element](q, 8)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Free()
			if err := RootOfDigests(q, h, root, in, c.arity); err != nil {
				t.Fatal(err)
			}
			got, err := root.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			if merkle.Digest(got) != want {
				t.Errorf("%d digests, arity %d: root %v, want %v", c.n, c.arity, got, want)
			}
			if after, err := in.Read(q); err != nil || !reflect.DeepEqual(after, leaves) {
				t.Errorf("%d digests, arity %d: they changed (%v)", c.n, c.arity, err)
			}
			if err := RootOfDigests(q, h, root.Slice(1, 8), in, c.arity); !errors.Is(err, merkle.ErrShape) {
				t.Errorf("root of seven words: %v", err)
			}
			if err := RootOfDigests(q, h, root, in, 3); !errors.Is(err, merkle.ErrShape) {
				t.Errorf("arity 3: %v", err)
			}
			if c.n > 2 {
				if err := RootOfDigests(q, h, root, in.Slice(0, c.n-1), c.arity); !errors.Is(err, merkle.ErrShape) {
					t.Errorf("%d digests: %v", c.n-1, err)
				}
			}
		}
	})
}

// A matrix that does not start at 16 bytes has the same root.
func TestUnaligned(t *testing.T) {
	h := merkle.M31()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := merkle.Shape{Rows: 64, RowWords: 12, Arity: 2}
		words := elements[m31.Element](s.Rows*s.RowWords + 3)
		b, err := device.Upload(q, words)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		root, err := device.Alloc[m31.Element](q, 8)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Free()
		for _, l := range []merkle.Layout{merkle.RowMajor(), merkle.ColumnMajor(4)} {
			for start := range 4 {
				n := start + s.Rows*s.RowWords
				if err := Root(q, h, root, b.Slice(start, n), s, l); err != nil {
					t.Fatal(err)
				}
				want, err := merkle.Root(words[start:n], s, l)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := root.Read(q); err != nil || merkle.Digest(got) != want {
					t.Errorf("%v from word %d: root %v, want %v (%v)", l, start, got, want, err)
				}
			}
		}
	})
}

func TestBadShapes(t *testing.T) {
	h := merkle.M31()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		b, err := device.Upload(q, elements[m31.Element](12))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		root, err := device.Alloc[m31.Element](q, 7)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Free()
		if _, err := Build(q, h, b, merkle.Shape{Rows: 3, RowWords: 4, Arity: 2}, merkle.RowMajor()); !errors.Is(err, merkle.ErrShape) {
			t.Errorf("three rows: %v", err)
		}
		s := merkle.Shape{Rows: 4, RowWords: 3, Arity: 2}
		if err := Root(q, h, root, b, s, merkle.RowMajor()); !errors.Is(err, merkle.ErrShape) {
			t.Errorf("root of seven words: %v", err)
		}
		if err := Root(q, h, root, b, s, merkle.ColumnMajor(2)); !errors.Is(err, merkle.ErrShape) {
			t.Errorf("half a symbol: %v", err)
		}
		tree, err := Build(q, h, b, s, merkle.RowMajor())
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Free()
		eight := devicetest.Upload(t, q, make([]m31.Element, 8))
		for name, x := range devicetest.Strange[m31.Element](t, q, 32) {
			_, build := Build(q, h, x.Slice(0, 12), s, merkle.RowMajor())
			_, open := tree.Open(x.Slice(0, 12), merkle.RowMajor(), []int{1})
			for what, err := range map[string]error{
				"tree": build, "opening": open,
				"root of": Root(q, h, eight, x.Slice(0, 12), s, merkle.RowMajor()), "root to": Root(q, h, x.Slice(0, 8), b, s, merkle.RowMajor()),
				"digests": RootOfDigests(q, h, eight, device.View[merkle.Digest](x), 2), "root of digests": RootOfDigests(q, h, x.Slice(0, 8), device.View[merkle.Digest](eight), 2),
			} {
				if !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
		}
		if _, err := tree.Open(b, merkle.RowMajor(), []int{4}); !errors.Is(err, merkle.ErrIndex) {
			t.Errorf("row 4 of 4: %v", err)
		}
		if _, err := tree.Open(b.Slice(0, 9), merkle.RowMajor(), []int{1}); !errors.Is(err, merkle.ErrShape) {
			t.Errorf("a row less: %v", err)
		}
	})
}

func BenchmarkTree(b *testing.B) {
	for _, name := range []string{"cpu", "cuda"} {
		benchTree(b, name, "m31", merkle.M31())
		benchTree(b, name, "babybear", merkle.Poseidon2(poseidon2.BabyBear()))
		benchTree(b, name, "koalabear", merkle.Poseidon2(poseidon2.KoalaBear()))
		benchTree(b, name, "blake3", merkle.BLAKE3[babybear.Element]())
		benchTree(b, name, "sha256", merkle.SHA256[babybear.Element]())
	}
}

func benchTree[W field.Base[W]](b *testing.B, name, hash string, h *merkle.Hash[W]) {
	for _, arity := range []int{2, 4, 8} {
		for _, l := range []merkle.Layout{merkle.RowMajor(), merkle.ColumnMajor(1).Reverse()} {
			b.Run(fmt.Sprintf("%s/%s/arity%d/columns=%v", name, hash, arity, l.Columns), func(b *testing.B) {
				q := devicetest.Queue(b, devicetest.Open(b, name))
				s := merkle.Shape{Rows: 1 << 22, RowWords: 16, Arity: arity}
				if name == "cpu" {
					s.Rows = 1 << 14
				}
				words, err := device.Upload(q, elements[W](s.Rows*s.RowWords))
				if err != nil {
					b.Fatal(err)
				}
				defer words.Free()
				for b.Loop() {
					tree, err := Build(q, h, words, s, l)
					if err != nil {
						b.Fatal(err)
					}
					if err := q.Sync(); err != nil {
						b.Fatal(err)
					}
					tree.Free()
				}
				b.ReportMetric(float64(s.Rows), "rows")
			})
		}
	}
}
