package prover_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matmul"
	"github.com/zkwarp/zkwarp/matmul/matmultest"
	"github.com/zkwarp/zkwarp/matmul/prover"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storage is how a test stores a factor.
type storage struct{ bytes, host, transposed bool }

func storages() (all []storage) {
	for i := range 8 {
		all = append(all, storage{bytes: i&1 != 0, host: i&2 != 0, transposed: i&4 != 0})
	}
	return all
}

func (s storage) store(t testing.TB, q *device.Queue, v []m31.Element, rows, cols int) (m prover.Matrix) {
	m.Transposed = s.transposed
	if s.transposed {
		v = matmultest.Transpose(v, rows, cols)
	}
	switch {
	case s.bytes && s.host:
		m.HostBytes = matmultest.Bytes(v)
	case s.bytes:
		m.Bytes = devicetest.Upload(t, q, matmultest.Bytes(v))
	case s.host:
		m.HostWords = v
	default:
		m.Words = devicetest.Upload(t, q, v)
	}
	return m
}

// prove proves a batch whose factors are stored as `of` says, and checks the
// result against the verifier and the factors.
func prove(t testing.TB, q *device.Queue, b *matmultest.Batch, of func(factor int) storage) []byte {
	t.Helper()
	var factors []prover.Factors
	for j, c := range b.Claims {
		factors = append(factors, prover.Factors{
			A: of(2*j).store(t, q, b.A[j], c.M, c.K),
			B: of(2*j+1).store(t, q, b.B[j], c.K, c.N),
		})
	}
	tr, err := transprover.New(q, transcript.TagTest)
	must(t, err)
	defer tr.Free()
	proof, got, err := prover.Prove(q, tr, b.Claims, factors)
	must(t, err)
	r, err := matmul.Verify(transcript.New(transcript.TagTest), b.Claims, proof)
	must(t, err)
	for j := range r {
		if left, right := b.True(j, r[j]); !left || !right {
			t.Fatalf("claim %d: A true: %v, B true: %v", j, left, right)
		}
		if !slices.Equal(got[j].A.Point, r[j].A.Point) || !slices.Equal(got[j].B.Point, r[j].B.Point) || got[j].A.Value != r[j].A.Value || got[j].B.Value != r[j].B.Value {
			t.Fatalf("claim %d: the prover's evaluations are not the verifier's", j)
		}
	}
	data, err := proof.AppendBinary(nil)
	must(t, err)
	return data
}

// The proof does not depend on the device, nor on how factors are stored, and is
// the one that the definition gives.
func TestStorages(t *testing.T) {
	b := matmultest.NewBatch(rand.New(rand.NewPCG(1, 2)), matmultest.Shapes(), true)
	want, err := b.Prove(transcript.New(transcript.TagTest), sumchecktest.Cheat{}).AppendBinary(nil)
	must(t, err)
	all := storages()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for i := range all {
			if got := prove(t, q, b, func(f int) storage { return all[(i+3*f)%len(all)] }); !bytes.Equal(got, want) {
				t.Errorf("storages from %d on: another proof than by definition", i)
			}
		}
	})
}

// Words of full range, and sizes beyond a block's tile.
func TestSame(t *testing.T) {
	b := matmultest.NewBatch(rand.New(rand.NewPCG(3, 4)), []matmul.Shape{{M: 3, K: 1100, N: 2}, {M: 1, K: 260, N: 33}, {M: 40, K: 1, N: 1}, {M: 1, K: 1024, N: 1}}, false)
	devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
		return prove(t, q, b, func(f int) storage { return storage{transposed: f%3 == 0} })
	})
}

// Launches do not grow with the number of claims, and nothing waits for the
// device before the proof is read.
func TestLaunches(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		launches := func(count int) int64 {
			var shapes []matmul.Shape
			for i := range count {
				shapes = append(shapes, matmul.Shape{M: 1, K: 20 + i%5, N: 3})
			}
			b := matmultest.NewBatch(rand.New(rand.NewPCG(5, 6)), shapes, true)
			before := q.Stats()
			prove(t, q, b, func(f int) storage { return storage{bytes: f%2 == 1} })
			if n := q.Stats().Syncs - before.Syncs; n != 1 {
				t.Errorf("%d claims: %d waits, want one for the proof", count, n)
			}
			return q.Stats().Launches - before.Launches
		}
		// Small sums are left to one block, so that few claims take fewer.
		if few, many := launches(4), launches(40); many > few+3 {
			t.Errorf("4 claims take %d launches, 40 take %d", few, many)
		}
	})
}

// Budgets that leave room for less and less of the matrices give the same bytes
// until the smallest tile does not fit.
func TestTiles(t *testing.T) {
	b := matmultest.NewBatch(rand.New(rand.NewPCG(7, 8)), []matmul.Shape{{M: 9, K: 1000, N: 30}, {M: 1, K: 513, N: 16}}, true)
	all := storages()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		defer d.SetBudget(0)
		used := d.InUse()
		host := func(f int) storage { s := all[f%len(all)]; s.host = true; return s }
		want := prove(t, q, b, host)
		tiled := 0
		for _, room := range []int64{1 << 22, 150 << 10, 120 << 10, 100 << 10} {
			d.SetBudget(used + room)
			for i := range all {
				before := d.Launches()
				if got := prove(t, q, b, func(f int) storage { return host(f + i) }); !bytes.Equal(got, want) {
					t.Errorf("%d bytes, storage %d: another proof", room, i)
				}
				ran := int64(0)
				for name, n := range d.LaunchesSince(before) {
					if strings.HasPrefix(name, "mle_restrict_") && name != "mle_restrict_sum" {
						ran += n
					}
				}
				if room == 1<<22 && !q.OnHost() && ran != 4 {
					t.Errorf("%d restrictions of four matrices that fit", ran)
				}
				if ran > 4 {
					tiled++
				}
			}
		}
		if tiled == 0 && !q.OnHost() {
			t.Error("no budget led to tiles")
		}
		d.SetBudget(used + 1<<16)
		claims, factors := b.Claims[:1], []prover.Factors{{A: host(0).store(t, q, b.A[0], 9, 1000), B: host(1).store(t, q, b.B[0], 1000, 30)}}
		tr, err := transprover.New(q, transcript.TagTest)
		must(t, err)
		defer tr.Free()
		wide := matmultest.NewBatch(rand.New(rand.NewPCG(9, 9)), []matmul.Shape{{M: 1, K: 70, N: 1000}}, true)
		var tile *prover.TileError
		_, _, err = prover.Prove(q, tr, wide.Claims, []prover.Factors{{A: host(0).store(t, q, wide.A[0], 1, 70), B: host(1).store(t, q, wide.B[0], 70, 1000)}})
		if !errors.As(err, &tile) || !errors.Is(err, device.ErrNoMemory) || tile.Tile != prover.MinTile || tile.Bytes <= tile.Available {
			t.Errorf("no room for a tile: %v", err)
		}
		d.SetBudget(used + 1<<12)
		if _, _, err := prover.Prove(q, tr, claims, factors); !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("no room for the tables: %v", err)
		}
	})
}

func TestTilesFor(t *testing.T) {
	need := func(tile int) int64 { return 10 * int64(tile) }
	for _, c := range []struct{ k, available, want int }{
		{1000, 10000, 1000}, {1000, 9999, 512}, {1000, 5120, 512}, {1000, 5119, 256}, {1000, 640, 64}, {1, 10, 1}, {64, 640, 64}, {65, 649, 64}, {5120, 51199, 2560},
	} {
		if got, err := prover.TilesFor(c.k, need, int64(c.available)); err != nil || got != c.want {
			t.Errorf("%d entries, %d bytes: tile %d, %v; want %d", c.k, c.available, got, err, c.want)
		}
	}
	for k, want := range map[int]int{1000: 64, 64: 64, 7: 7} {
		_, err := prover.TilesFor(k, need, int64(10*want-1))
		var e *prover.TileError
		if !errors.As(err, &e) || e.Tile != want || e.Bytes != int64(10*want) || e.Available != int64(10*want-1) || !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("%d entries: %v", k, err)
		}
	}
}

func TestWrong(t *testing.T) {
	b := matmultest.NewBatch(rand.New(rand.NewPCG(10, 10)), []matmul.Shape{{M: 2, K: 3, N: 4}}, true)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for name, spoil := range map[string]func(c *matmul.Claim, f *prover.Factors){
			"short A":        func(_ *matmul.Claim, f *prover.Factors) { f.A.Words = f.A.Words.Slice(0, 5) },
			"no B":           func(_ *matmul.Claim, f *prover.Factors) { f.B = prover.Matrix{} },
			"two storages":   func(_ *matmul.Claim, f *prover.Factors) { f.B.HostBytes = make([]int8, 12) },
			"short point":    func(c *matmul.Claim, _ *prover.Factors) { c.Col = c.Col[1:] },
			"other rows":     func(c *matmul.Claim, _ *prover.Factors) { c.M, c.Row = 1, nil },
			"no inner sides": func(c *matmul.Claim, _ *prover.Factors) { c.K = 0 },
		} {
			claims := slices.Clone(b.Claims)
			f := []prover.Factors{{A: storage{}.store(t, q, b.A[0], 2, 3), B: storage{}.store(t, q, b.B[0], 3, 4)}}
			spoil(&claims[0], &f[0])
			tr, err := transprover.New(q, transcript.TagTest)
			must(t, err)
			if _, _, err := prover.Prove(q, tr, claims, f); !errors.Is(err, matmul.ErrShape) {
				t.Errorf("%s: %v", name, err)
			}
			if _, _, err := prover.Prove(q, tr, claims, nil); !errors.Is(err, matmul.ErrShape) {
				t.Errorf("%s, no factors: %v", name, err)
			}
			tr.Free()
		}
	})
}

func ExampleProve() {
	d, err := device.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	b := matmultest.NewBatch(rand.New(rand.NewPCG(11, 11)), []matmul.Shape{{M: 1, K: 100, N: 30}}, true)
	factors := []prover.Factors{{A: prover.Matrix{HostWords: b.A[0]}, B: prover.Matrix{HostBytes: matmultest.Bytes(b.B[0])}}}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	tr, err := transprover.New(q, transcript.TagTest)
	if err != nil {
		fmt.Println(err)
		return
	}
	proof, _, err := prover.Prove(q, tr, b.Claims, factors)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := matmul.Verify(transcript.New(transcript.TagTest), b.Claims, proof)
	fmt.Println(len(r[0].A.Point), len(r[0].B.Point), len(r[0].B.Point)-mle.Log(30), err)
	// Output: 7 12 7 <nil>
}
