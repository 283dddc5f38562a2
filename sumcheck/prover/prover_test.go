package prover_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

func newTranscript() *transcript.Transcript {
	tr := transcript.New(transcript.TagTest)
	tr.Absorb([]m31.Element{2, 7})
	return tr
}

// instances uploads a batch. Tables whose values are in the prime field go up
// as such; some go up interleaved with others, as a strided table.
func instances(t testing.TB, q *device.Queue, rng *rand.Rand, b *sumchecktest.Batch) []prover.Instance {
	t.Helper()
	out := make([]prover.Instance, len(b.Claims))
	for j, c := range b.Claims {
		in := prover.Instance{Shape: c.Shape, Point: devicetest.Upload(t, q, c.Point), Coeffs: devicetest.Upload(t, q, c.Coeffs)}
		for k, values := range b.Tables[j] {
			stride, offset := 1, 0
			if rng.IntN(3) == 0 {
				stride = 2 + rng.IntN(2)
				offset = rng.IntN(stride)
			}
			wide := sumchecktest.Random(rng, len(values)*stride)
			for x, v := range values {
				wide[x*stride+offset] = v
			}
			if b.IsBase[j][k] {
				words := make([]m31.Element, len(wide))
				for i, v := range wide {
					words[i] = v.A.Re
				}
				buf := devicetest.Upload(t, q, words)
				in.Tables = append(in.Tables, prover.Table{Base: buf.Slice(offset, len(words)), Stride: stride})
			} else {
				buf := devicetest.Upload(t, q, wide)
				in.Tables = append(in.Tables, prover.Table{Ext: buf.Slice(offset, len(wide)), Stride: stride})
			}
		}
		out[j] = in
	}
	return out
}

func values(b *sumchecktest.Batch) []m31.QM31 {
	v := make([]m31.QM31, len(b.Claims))
	for j, c := range b.Claims {
		v[j] = c.Value
	}
	return v
}

// compare proves a batch, compares every word with the reference prover's, and
// verifies.
func compare(t *testing.T, q *device.Queue, rng *rand.Rand, name string, shapes []sumcheck.Shape) {
	t.Helper()
	compareWith(t, q, rng, name, shapes, prover.Prove)
}

type proves func(*device.Queue, *tprover.Transcript, []prover.Instance, []m31.QM31) (*sumcheck.Proof, *sumcheck.Result, error)

func compareWith(t *testing.T, q *device.Queue, rng *rand.Rand, name string, shapes []sumcheck.Shape, prove proves) {
	t.Helper()
	compareBatch(t, q, rng, name, sumchecktest.NewBatch(rng, shapes), prove)
}

func compareBatch(t *testing.T, q *device.Queue, rng *rand.Rand, name string, b *sumchecktest.Batch, prove proves) {
	t.Helper()
	shapes := make([]sumcheck.Shape, len(b.Claims))
	for j, c := range b.Claims {
		shapes[j] = c.Shape
	}
	ins := instances(t, q, rng, b)
	wantTr := newTranscript()
	want := sumchecktest.Prove(wantTr, b.Claims, b.Tables, sumchecktest.Cheat{})
	tr, err := tprover.FromHost(q, newTranscript())
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Free()
	got, r, err := prove(q, tr, ins, values(b))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	d := sumcheck.Degree(shapes)
	for i := range want.Rounds {
		if got.Rounds[i] != want.Rounds[i] {
			t.Fatalf("%s: round %d: value %d differs from the definition's", name, i/d, i%d)
		}
	}
	if !slices.Equal(got.Evals, want.Evals) {
		t.Fatalf("%s: final evaluations differ from the definition's", name)
	}
	after, err := tr.Host()
	if err != nil {
		t.Fatal(err)
	}
	if after.State() != wantTr.State() {
		t.Fatalf("%s: transcripts ended in different states", name)
	}
	v, err := sumcheck.Verify(newTranscript(), b.Claims, got)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !slices.Equal(v.Point, r.Point) || !slices.EqualFunc(v.Evals, r.Evals, slices.Equal) {
		t.Fatalf("%s: prover and verifier disagree on the result", name)
	}
}

func TestAgainstDefinition(t *testing.T) {
	all := sumchecktest.Batches()
	names := slices.Sorted(maps.Keys(all))
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(7, 7))
		for _, name := range names {
			compare(t, q, rng, name, all[name])
		}
	})
}

// TestRandomBatches: whatever the terms and sizes, all devices do what the
// definition says.
func TestRandomBatches(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(5, 5))
		for i := range 25 {
			compare(t, q, rng, fmt.Sprint("batch ", i), sumchecktest.RandomShapes(rng, 9, 7))
		}
	})
}

// TestBeyondOneBlock: batches with rounds that take more than one block, and
// instances that join before and after one block takes over.
func TestBeyondOneBlock(t *testing.T) {
	gkr := sumcheck.Shape{Vars: 12, Factors: 4, Terms: [][]int{{0, 3}, {1, 2}, {2, 3}}, Eq: true}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(6, 6))
		compare(t, q, rng, "one instance", []sumcheck.Shape{gkr})
		compare(t, q, rng, "unequal instances", []sumcheck.Shape{
			sumcheck.Product(3, 1), sumcheck.EqProduct(11, 3), sumcheck.Product(13, 2), gkr, sumcheck.EqProduct(5, 2), sumcheck.Product(12, 1),
		})
	})
}

// TestInputsUntouched: the caller's tables survive a proof.
func TestInputsUntouched(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(8, 8))
		b := sumchecktest.NewBatch(rng, []sumcheck.Shape{sumcheck.Product(5, 3), sumcheck.EqProduct(4, 2)})
		ins := instances(t, q, rng, b)
		var want []*sumcheck.Proof
		for range 2 {
			tr, err := tprover.FromHost(q, newTranscript())
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := prover.Prove(q, tr, ins, values(b))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, p)
		}
		if !slices.Equal(want[0].Rounds, want[1].Rounds) || !slices.Equal(want[0].Evals, want[1].Evals) {
			t.Fatal("proving twice gave two proofs")
		}
	})
}

func TestBadInstances(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		z := devicetest.Upload(t, q, make([]m31.QM31, 8))
		w := devicetest.Upload(t, q, make([]m31.Element, 8))
		good := prover.Instance{Shape: sumcheck.Product(3, 2), Tables: []prover.Table{prover.Ext(z), prover.Base(w)}}
		for name, change := range map[string]func(*prover.Instance){
			"short table":   func(in *prover.Instance) { in.Tables[1] = prover.Base(w.Slice(0, 7)) },
			"long table":    func(in *prover.Instance) { in.Vars = 2 },
			"stride":        func(in *prover.Instance) { in.Tables[0].Stride = 2 },
			"huge stride":   func(in *prover.Instance) { in.Tables[0].Stride = 1<<61 + 1 }, // 8 times it is 8
			"both kinds":    func(in *prover.Instance) { in.Tables[0].Base = w },
			"neither kind":  func(in *prover.Instance) { in.Tables[0] = prover.Table{} },
			"missing table": func(in *prover.Instance) { in.Tables = in.Tables[:1] },
			"point":         func(in *prover.Instance) { in.Point = z.Slice(0, 3) },
			"no point":      func(in *prover.Instance) { in.Eq = true },
			"coefficients":  func(in *prover.Instance) { in.Coeffs = z.Slice(0, 2) },
			"shape":         func(in *prover.Instance) { in.Factors = 0 },
			"factors":       func(in *prover.Instance) { in.Factors = -1 },
			"variables":     func(in *prover.Instance) { in.Vars = 1 << 40 },
		} {
			in := good
			in.Tables = slices.Clone(good.Tables)
			change(&in)
			tr, err := tprover.FromHost(q, newTranscript())
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := prover.Prove(q, tr, []prover.Instance{in}, make([]m31.QM31, 1)); !errors.Is(err, sumcheck.ErrShape) {
				t.Errorf("%s: %v", name, err)
			}
		}
		tr, err := tprover.FromHost(q, newTranscript())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := prover.Prove(q, tr, nil, nil); !errors.Is(err, sumcheck.ErrShape) {
			t.Errorf("empty batch: %v", err)
		}
		for name, b := range devicetest.Strange[m31.QM31](t, q, 8) {
			for what, in := range map[string]prover.Instance{
				"table":        {Shape: sumcheck.Product(3, 2), Tables: []prover.Table{prover.Ext(z), prover.Ext(b)}},
				"words":        {Shape: sumcheck.Product(3, 1), Tables: []prover.Table{prover.Base(device.View[m31.Element](b.Slice(0, 2)))}},
				"point":        {Shape: sumcheck.EqProduct(3, 1), Tables: []prover.Table{prover.Ext(z)}, Point: b.Slice(0, 3)},
				"coefficients": {Shape: sumcheck.Product(3, 1), Tables: []prover.Table{prover.Ext(z)}, Coeffs: b.Slice(0, 1)},
			} {
				if _, _, err := prover.Prove(q, tr, []prover.Instance{in}, make([]m31.QM31, 1)); !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
			good := prover.Instance{Shape: sumcheck.Product(3, 1), Tables: []prover.Table{prover.Ext(z)}}
			out := prover.Output{Rounds: z.Slice(0, 3), Evals: z.Slice(3, 4), Point: z.Slice(4, 7)}
			if err := prover.Run(q, tr, []prover.Instance{good}, b.Slice(0, 1), out); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s values: %v", name, err)
			}
			if err := prover.Run(q, nil, []prover.Instance{good}, z.Slice(7, 8), out); !errors.Is(err, device.ErrUsage) {
				t.Errorf("no transcript: %v", err)
			}
			out.Point = b.Slice(0, 3)
			if err := prover.Run(q, tr, []prover.Instance{good}, z.Slice(7, 8), out); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s output: %v", name, err)
			}
		}
	})
}

func BenchmarkProduct(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	q := devicetest.Queue(b, d)
	rng := rand.New(rand.NewPCG(9, 9))
	const n = 20
	ext := [2]device.Buffer[m31.QM31]{devicetest.Upload(b, q, sumchecktest.Random(rng, 1<<n)), devicetest.Upload(b, q, sumchecktest.Random(rng, 1<<n))}
	base := [2]device.Buffer[m31.Element]{
		devicetest.Upload(b, q, m31.Words(sumchecktest.Random(rng, 1<<(n-2)))),
		devicetest.Upload(b, q, m31.Words(sumchecktest.Random(rng, 1<<(n-2)))),
	}
	point := devicetest.Upload(b, q, sumchecktest.Random(rng, n))
	for _, c := range []struct {
		name string
		in   prover.Instance
	}{
		{"base-base", prover.Instance{Shape: sumcheck.Product(n, 2), Tables: []prover.Table{prover.Base(base[0]), prover.Base(base[1])}}},
		{"base-ext", prover.Instance{Shape: sumcheck.Product(n, 2), Tables: []prover.Table{prover.Base(base[0]), prover.Ext(ext[1])}}},
		{"ext-ext", prover.Instance{Shape: sumcheck.Product(n, 2), Tables: []prover.Table{prover.Ext(ext[0]), prover.Ext(ext[1])}}},
		{"eq-ext-ext", prover.Instance{Shape: sumcheck.EqProduct(n, 2), Point: point, Tables: []prover.Table{prover.Ext(ext[0]), prover.Ext(ext[1])}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				tr, err := tprover.FromHost(q, newTranscript())
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := prover.Prove(q, tr, []prover.Instance{c.in}, make([]m31.QM31, 1)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(int(1)<<n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mentries/s")
		})
	}
}

// TestBaseTables: instances all of whose tables are over the prime field, which
// have ways of their own through the first rounds.
func TestBaseTables(t *testing.T) {
	square := sumcheck.Shape{Vars: 10, Factors: 1, Terms: [][]int{{0, 0}}}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(10, 10))
		for i, shapes := range [][]sumcheck.Shape{
			{sumcheck.Product(9, 2)}, {sumcheck.Product(10, 2)}, {sumcheck.Product(11, 2)},
			{sumcheck.Product(10, 1)}, {sumcheck.Product(10, 3)}, {square},
			{sumcheck.Product(12, 1), sumcheck.Product(10, 2), sumcheck.EqProduct(12, 2), square, sumcheck.Product(3, 2)},
		} {
			for try := range 3 { // some tables are strided
				b := sumchecktest.NewBatch(rng, shapes)
				for j := range b.Claims {
					b.Claims[j].Coeffs = nil
					for k, table := range b.Tables[j] {
						b.IsBase[j][k] = true
						for x, v := range table {
							table[x] = m31.Lift(v.A.Re)
						}
					}
					b.Claims[j].Value = sumchecktest.Sum(b.Claims[j], b.Tables[j])
				}
				compareBatch(t, q, rng, fmt.Sprintf("batch %d, try %d", i, try), b, prover.Prove)
			}
		}
	})
}
