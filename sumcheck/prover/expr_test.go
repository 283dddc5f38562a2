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
		if !q.OnHost() {
			t.Skip("on the CPU only")
		}
		rng := rand.New(rand.NewPCG(41, 41))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			for range 4 { // other tables are over the prime field each time
				compare(t, q, rng, name, all[name])
			}
		}
	})
}

// TestRandomExpr: whatever the expression and the kinds of its tables.
func TestRandomExpr(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if !q.OnHost() {
			t.Skip("on the CPU only")
		}
		rng := rand.New(rand.NewPCG(42, 42))
		for i := range 60 {
			e := sumchecktest.RandomExpr(rng, 1+i%sumcheck.MaxExprDegree)
			compare(t, q, rng, fmt.Sprint(e), []sumcheck.Shape{e.Shape(rng.IntN(6)), sumcheck.EqProduct(3, 2)})
		}
		e := sumchecktest.RandomExpr(rng, 4)
		compare(t, q, rng, fmt.Sprint(e), []sumcheck.Shape{e.Shape(11)}) // more than one block of entries
	})
}
