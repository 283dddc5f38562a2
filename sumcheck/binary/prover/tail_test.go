package prover_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

// TestTail: rounds over elements from every point where a window may end, in every
// way that the kernels split the work.
func TestTail(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, kind := range kinds {
			for d := 2; d <= 5; d++ {
				sizes := []int{1, 5, 9}
				if q.Device().Kind() == device.CUDA {
					sizes = append(sizes, 12, 14)
				}
				for _, n := range sizes {
					r := refer(uint64(n+100*d), binary.Shape{Vars: n, Degree: d, Kind: kind})
					tables := r.in.Tables()
					for i, c := range []prover.TailCase{
						{Last: 10, Units: 132, Log: 30},
						{Done: 3, Last: 2, Units: 1, Log: 1, Polyval: true},
						{Done: 4, Last: 1, Units: 2, Log: 3, Few: 3},
						{Done: 2, Last: 3, Units: 132, Log: 30, Polyval: true, Few: 5},
						{Done: 0, Last: 2, Units: 1, Log: 4, Claim: 5, Masks: 30, Levels: 6},
						{Done: 1, Levels: 30, Last: 4, Units: 2, Log: 30, Claim: 7, Few: 5},
						{Done: 2, Last: 1, Units: 1, Log: 5, Polyval: true},
						{Done: 3, Last: 1, Units: 1, Log: 5, Polyval: true, Masks: 6, Pairs: 30},
						{Done: 0, Last: 1, Units: 132, Log: 30, Polyval: true, Few: 4},
					} {
						// The emulator takes one case a shape, the largest ones in turn.
						if c.Done >= n || q.Device().Kind() == device.SIMT && n > 1 && i != (d+n+int(kind)+6)%9 {
							continue
						}
						if kind == binary.AllExt && c.Done > 0 {
							c.Done = 0
						}
						name := fmt.Sprintf("%v-n%d-d%d-%+v", kind, n, d, c)
						tr := newTranscript()
						r.in.Claim.Absorb(tr)
						got, err := prover.ProveTail(q, tr, r.in.Claim, r.proof, tables, r.in.Bits, &c)
						if err != nil {
							t.Fatal(name, err)
						}
						if !reflect.DeepEqual(got, r.proof) {
							t.Errorf("%s: another proof than by definition", name)
						}
						if most := int64(max(n-c.Done-min(c.Last, 8), 0) + 2); c.Launches > most {
							t.Errorf("%s: %d launches, want at most %d", name, c.Launches, most)
						}
					}
				}
			}
		}
	})
}
