package prover_test

import (
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
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

func TestExprAgainstDefinition(t *testing.T) {
	all := sumchecktest.ExprBatches()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(41, 41))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			for range 4 { // other tables are over the prime field each time
				compare(t, q, rng, name, all[name])
			}
		}
	})
}

// TestExprPasses: batches that usually are all tail, by passes of every kind.
func TestExprPasses(t *testing.T) {
	all := sumchecktest.ExprBatches()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("the CPU has no passes")
		}
		rng := rand.New(rand.NewPCG(43, 43))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			for _, l := range every() {
				compareWith(t, q, rng, fmt.Sprint(name, " within ", l), all[name], within(l))
			}
		}
	})
}

// TestRandomExpr: whatever the expression and the kinds of its tables. Where each
// has kernels to be compiled there are fewer.
func TestRandomExpr(t *testing.T) {
	count := map[device.Kind]int{device.CPU: 60, device.CUDA: 6, device.SIMT: 2}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(42, 42))
		n := count[q.Device().Kind()]
		for i := range n {
			e := sumchecktest.RandomExpr(rng, 1+i*sumcheck.MaxExprDegree/n)
			compare(t, q, rng, fmt.Sprint(e), []sumcheck.Shape{e.Shape(rng.IntN(6))})
			compare(t, q, rng, fmt.Sprint(e), []sumcheck.Shape{e.Shape(9 + i%3), e.Shape(3)}) // more than a block of entries
		}
	})
}

// TestExprLaunches: an expression takes no more launches than a product, but one
// for values of scalars alone, and the host does not wait in between.
func TestExprLaunches(t *testing.T) {
	gate := sumchecktest.Examples()[0]
	squared := sumcheck.MustCompile("a + lambda*(b + lambda*a*(1-b))", sumcheck.Scalars("lambda")) // of its own kernels
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(45, 45))
		launches := func(shape sumcheck.Shape) int64 {
			const n = 12
			b := sumchecktest.NewBatch(rng, []sumcheck.Shape{shape})
			in := prover.Instance{Shape: shape, Point: devicetest.Upload(t, q, b.Claims[0].Point), Coeffs: devicetest.Upload(t, q, b.Claims[0].Coeffs)}
			for range shape.Factors {
				in.Tables = append(in.Tables, prover.Base(devicetest.Upload(t, q, m31.Words(sumchecktest.Random(rng, 1<<(n-2))))))
			}
			d := shape.Degree()
			all := devicetest.Upload(t, q, make([]m31.QM31, 1+n*d+shape.Factors+n))
			tr, err := tprover.FromHost(q, newTranscript())
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Free()
			before := q.Stats()
			err = prover.Run(q, tr, []prover.Instance{in}, all.Slice(0, 1), prover.Output{
				Rounds: all.Slice(1, 1+n*d), Evals: all.Slice(1+n*d, 1+n*d+shape.Factors), Point: all.Slice(1+n*d+shape.Factors, all.Len()),
			})
			if err != nil {
				t.Fatal(err)
			}
			if waits := q.Stats().Syncs - before.Syncs; waits != 0 {
				t.Errorf("%v: the host waited %d times", shape.Expr, waits)
			}
			return q.Stats().Launches - before.Launches
		}
		if got, most := launches(gate.Shape(12)), launches(sumcheck.EqProduct(12, 3)); got > most {
			t.Errorf("%v: %d launches, an eq product of three tables takes %d", gate, got, most)
		}
		if got, most := launches(squared.Shape(12)), launches(sumcheck.Product(12, 2))+1; got > most {
			t.Errorf("%v: %d launches, a product of two tables takes %d", squared, got, most)
		}
	})
}

// BenchmarkExpr compares ways to make an expression's kernels:
//
//	go test -bench Expr -run '^$' ./sumcheck/prover
func BenchmarkExpr(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	q := devicetest.Queue(b, d)
	rng := rand.New(rand.NewPCG(44, 44))
	n := 20
	if d.Kind() == device.CUDA {
		n = 24
	}
	tables := make([]prover.Table, 4)
	for k := range tables {
		tables[k] = prover.Base(devicetest.Upload(b, q, m31.Words(sumchecktest.Random(rng, 1<<(n-2)))))
	}
	point := devicetest.Upload(b, q, sumchecktest.Random(rng, n))
	for text, list := range map[string][]prover.Tuning{
		"eq*(a*b-c)":   {{}, {false, 1, 1, true, 4}, {false, 2, 1, false, 4}, {false, 2, 1, true, 3}, {false, 2, 1, true, 5}, {false, 2, 2, true, 2}, {true, 1, 1, false, 8}},
		"eq*a*b":       {{}, {false, 2, 1, true, 4}, {false, 2, 2, false, 3}, {false, 2, 2, true, 2}, {false, 2, 2, true, 3}},
		"a*b-c":        {{}, {false, 2, 1, true, 4}, {false, 3, 1, false, 4}, {false, 3, 1, true, 3}},
		"eq*(a*b*c-d)": {{}, {false, 1, 1, true, 4}, {false, 2, 1, false, 3}, {false, 2, 1, true, 3}},
	} {
		for _, tune := range list {
			e := sumcheck.MustCompile(text)
			if tune.First > 0 {
				prover.Tune(e, tune)
			}
			in := prover.Instance{Shape: e.Shape(n), Tables: tables[:len(e.Columns())]}
			if e.Eq() {
				in.Point = point
			}
			b.Run(fmt.Sprintf("%s/%+v", text, tune), func(b *testing.B) { proveAgain(b, q, in) })
		}
	}
	for k := 1; k <= 3; k++ {
		in := prover.Instance{Shape: sumcheck.EqProduct(n, k), Tables: tables[:k], Point: point}
		b.Run(fmt.Sprintf("built-in eq product of %d", k), func(b *testing.B) { proveAgain(b, q, in) })
	}
}

func proveAgain(b *testing.B, q *device.Queue, in prover.Instance) {
	for range 2 { // the first time compiles
		proveOnce(b, q, in)
	}
	for b.Loop() {
		proveOnce(b, q, in)
	}
}

func proveOnce(b *testing.B, q *device.Queue, in prover.Instance) {
	tr, err := tprover.FromHost(q, newTranscript())
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err := prover.Prove(q, tr, []prover.Instance{in}, make([]m31.QM31, 1)); err != nil {
		b.Fatal(err)
	}
}
