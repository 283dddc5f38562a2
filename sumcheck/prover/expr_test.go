package prover_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
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
