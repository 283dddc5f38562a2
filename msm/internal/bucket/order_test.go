package bucket

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

// few is bases among whose sums infinity, equal and opposite points are everywhere.
func few(g *curve.Group) bases {
	if i := slices.Index([]*curve.Group{curve.BLS12377G1, curve.BW6761G1}, g); i >= 0 {
		// y² = x³ + 1 has (2, 3) of order 6, y² = x³ - 1 has (1, 0) of order 2.
		xy := [][2]int64{{2, 3}, {1, 0}}[i]
		p := curvetest.Point{X: []*big.Int{big.NewInt(xy[0])}, Y: []*big.Int{big.NewInt(xy[1])}}
		return newMultiples(g, p, []int{0, 1, 2, 3, 4, 5})
	}
	return newBases(g, []int{0, 1, 1, -1, 2, -2})
}

// Lengths around those of chunks, of which every other one has no entries, over points
// that are hardly ever different.
func TestCoincidences(t *testing.T) {
	groups := []*curve.Group{curve.Toy61}
	if slices.Contains(wide(), curve.BW6761G1) {
		groups = append(groups, curve.BLS12377G1, curve.BW6761G1, curve.BLS12377Edwards)
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, g := range groups {
			t.Run(g.Name, func(t *testing.T) {
				r, b, trials := devicetest.Rand(17), few(g), 12
				if g != curve.Toy61 {
					trials = 2
				}
				for trial := range trials {
					least := 1 + r.Intn(9)
					var l lists
					for range 10 + r.Intn(60) {
						n := max(0, []int{0, 1, 2, least, 2 * least, 3 * least, 4 * least, 5 * least, r.Intn(9 * least)}[r.Intn(9)]+r.Intn(3)-1)
						l = append(l, random(r, len(b.factor), n))
						if r.Intn(2) == 0 {
							l = append(l, nil)
						}
					}
					t.Run(fmt.Sprint(trial), func(t *testing.T) { b.run(t, q, l, shape{threads: 1 + r.Intn(400), least: least}) })
				}
			})
		}
	})
}
