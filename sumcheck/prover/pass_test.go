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
