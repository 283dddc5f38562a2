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

// within proves within limits.
func within(l prover.Limits) proves {
	return func(q *device.Queue, tr *tprover.Transcript, ins []prover.Instance, values []m31.QM31) (*sumcheck.Proof, *sumcheck.Result, error) {
		return prover.ProveWithin(q, tr, ins, values, l)
	}
}

// every limits: windows of each size, no tail or one that begins after passes,
// one multiprocessor or two.
func every() []prover.Limits {
	var out []prover.Limits
	for window := 1; window <= 3; window++ {
		for _, tail := range []int{0, 24} {
			out = append(out, prover.Limits{Window: window, Tail: tail, Units: 1 + window%2})
		}
	}
	return out
}

// TestPasses: batches that usually are all tail, by passes of every kind.
func TestPasses(t *testing.T) {
	all := sumchecktest.Batches()
	names := slices.Sorted(maps.Keys(all))
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("the CPU has no passes")
		}
		rng := rand.New(rand.NewPCG(11, 7))
		for _, name := range names {
			for _, l := range every() {
				compareWith(t, q, rng, fmt.Sprint(name, " within ", l), all[name], within(l))
			}
		}
	})
}

// TestRandomPasses: the same for random shapes, whose instances join in the
// middle of windows.
func TestRandomPasses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("the CPU has no passes")
		}
		rng := rand.New(rand.NewPCG(12, 5))
		for i := range 20 {
			l := every()[i%6]
			compareWith(t, q, rng, fmt.Sprint("batch ", i, " within ", l), sumchecktest.RandomShapes(rng, 9, 7), within(l))
		}
	})
}

// TestLinear: one table by its row sums, in both fields, with and without
// variables over.
func TestLinear(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(13, 5))
		for vars := 1; vars <= 12; vars++ {
			shapes := []sumcheck.Shape{sumcheck.Product(vars, 1)}
			if vars%4 == 1 { // one table as well, but not its plain sum
				shapes = append(shapes, sumcheck.MustCompile("a^2").Shape(vars), sumcheck.MustCompile("3*a+1").Shape(vars))
			}
			for _, s := range shapes {
				for range 4 { // of words, of elements, strided, with a coefficient
					compareWith(t, q, rng, fmt.Sprint(vars, " variables"), []sumcheck.Shape{s},
						within(prover.Limits{Window: 3, Tail: 64, Units: 2, Linear: 2}))
				}
			}
		}
	})
}

// TestLaunches: between its first and last kernel a batch does not wait for the
// device, and its launches do not grow with the number of instances.
func TestLaunches(t *testing.T) {
	two := func(vars ...int) (s []sumcheck.Shape) {
		for _, v := range vars {
			s = append(s, sumcheck.Product(v, 2))
		}
		return s
	}
	many := make([]int, 150)
	for i := range many {
		many[i] = i % 8
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("a test of kernels")
		}
		rng := rand.New(rand.NewPCG(14, 5))
		for _, c := range []struct {
			name   string
			shapes []sumcheck.Shape
			limits prover.Limits
			most   int64
		}{
			{"a tail alone", two(8), prover.Limits{Window: 3, Tail: 4096, Units: 2}, 1},
			{"two passes and a tail", two(11), prover.Limits{Window: 3, Tail: 256, Units: 2}, 4},
			{"many instances", two(many...), prover.Limits{Window: 3, Tail: 0, Units: 2}, 10},
			{"one table", []sumcheck.Shape{sumcheck.Product(9, 1)}, prover.Limits{Window: 3, Units: 2, Linear: 9}, 4},
		} {
			b := sumchecktest.NewBatch(rng, c.shapes)
			ins := instances(t, q, rng, b)
			tr, err := tprover.FromHost(q, newTranscript())
			if err != nil {
				t.Fatal(err)
			}
			before := q.Stats()
			if _, _, err := prover.ProveWithin(q, tr, ins, values(b), c.limits); err != nil {
				t.Fatal(err)
			}
			after := q.Stats()
			if n := after.Launches - before.Launches; n > c.most {
				t.Errorf("%s: %d launches, want at most %d", c.name, n, c.most)
			}
			if n := after.Syncs - before.Syncs; n != 1 { // to read the proof
				t.Errorf("%s: waited %d times for the device, want 1", c.name, n)
			}
		}
	})
}

// TestCoefficients: a product may have a coefficient, in any batch and on every
// path.
func TestCoefficients(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(15, 5))
		prove := prover.Prove
		for factors := 1; factors <= sumcheck.MaxDegree; factors++ {
			for _, eq := range []bool{false, true} {
				s := sumcheck.Shape{Vars: 7, Factors: factors, Eq: eq}
				b := sumchecktest.NewBatch(rng, []sumcheck.Shape{s, s})
				c := &b.Claims[1]
				c.Coeffs = sumchecktest.Random(rng, 1)
				c.Value = sumchecktest.Sum(*c, b.Tables[1])
				compareBatch(t, q, rng, fmt.Sprint(s), b, prove)
				b.Claims, b.Tables, b.IsBase = b.Claims[1:], b.Tables[1:], b.IsBase[1:]
				compareBatch(t, q, rng, fmt.Sprint("alone ", s), b, within(prover.Limits{Window: 3, Tail: 64, Units: 2, Linear: 2}))
			}
		}
	})
}
