package bench

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// The plain prover and the fast one agree, on every device.
func TestSumcheckAgainstLoop(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		e := &Env{Ctx: t.Context(), Queue: q, Rand: rand.New(rand.NewPCG(1, 2)), Samples: 2}
		for _, vars := range []int{1, 2, 9} {
			found, err := sumcheckAgainstLoop(e, vars)
			if err != nil {
				t.Fatalf("2^%d: %v", vars, err)
			}
			if len(found) != 3 || len(found[2].Samples) != e.Samples {
				t.Fatalf("2^%d: %+v", vars, found)
			}
		}
	})
}

// Cases about the processor are not offered to a GPU.
func TestProcessorCases(t *testing.T) {
	for kind, want := range map[device.Kind]bool{device.CPU: true, device.CUDA: false, device.SIMT: false} {
		cases, err := Select(Options{Suite: "m31"}, kind)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(cases, func(c Case) bool { return c.CPU }); got != want {
			t.Errorf("%v: processor cases are selected: %v", kind, got)
		}
	}
}
