package reduce

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// walk chooses buckets, from the last to the first, so that running sums R and the sums T
// of their values are often infinity, or equal or opposite to each other or to the next
// bucket, all multiples of a point of some order.
func walk(r *devicetest.Gen, n, segment, order int) []int {
	out := make([]int, n)
	run, sum := 0, 0
	for i := n - 1; i >= 0; i-- {
		if (i+1)%segment == 0 || i == n-1 {
			run, sum = 0, 0
		} else {
			sum += run
		}
		run, sum = run%order, sum%order
		v := []int{0, 0, run, -run, sum - run, -sum - run, 1, -1, 2, r.Intn(7) - 3}[r.Intn(10)]
		if max(v, -v) > 15 {
			v = 0
		}
		out[i] = v
		run += v
	}
	return out
}

func TestCoincidences(t *testing.T) {
	groups := []*curve.Group{curve.Toy61}
	if slices.Contains(tested(), curve.BLS12377G1) {
		groups = append(groups, curve.BLS12377G1)
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, g := range groups {
			r, trials, order := devicetest.Rand(23), 14, 1<<30
			if g != curve.Toy61 {
				trials, order = 10, 6
			}
			for trial := range trials {
				log := trial % 7
				var sizes []int
				for range 1 + r.Intn(4) {
					sizes = append(sizes, 1+r.Intn(1+r.Intn(200)))
				}
				w := windows(sizes...)
				n := w[len(w)-1].Base + sizes[len(sizes)-1]
				values := walk(r, n, 1<<log, order)
				p := curvetest.Curve{Group: g}.Generator()
				if g == curve.BLS12377G1 {
					// y² = x³ + 1 has (2, 3) of order 6.
					p = curvetest.Point{X: []*big.Int{big.NewInt(2)}, Y: []*big.Int{big.NewInt(3)}}
				}
				s := newMultiples(g, p, n, func(i int) int { return values[i] })
				t.Run(fmt.Sprint(g.Name, trial), func(t *testing.T) {
					low := r.Intn(n)
					high := low + 1 + r.Intn(n-low)
					s.check(t, q, w, 0, n, log, 1+r.Intn(60), r.Intn(200))
					s.check(t, q, w, low, high, log, 1+r.Intn(60), r.Intn(200))
				})
			}
		}
	})
}
