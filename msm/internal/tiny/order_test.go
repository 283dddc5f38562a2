package tiny

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

// Points of small order, and few different ones, among whose sums infinity, equal and
// opposite points are everywhere.
func TestCoincidences(t *testing.T) {
	r := devicetest.Rand(29)
	tasks := map[string]*task{}
	// Scalars are below half of the order: those above would count for less the order.
	number := func(f func() uint64, g *curve.Group) func(int) *big.Int {
		return func(int) *big.Int {
			v := new(big.Int)
			for range g.Scalar.Limbs {
				v.Lsh(v, 32).Or(v, new(big.Int).SetUint64(f()))
			}
			return v.Rsh(v, uint(max(0, v.BitLen()-g.Scalar.Bits()+2)))
		}
	}
	words := map[string]func() uint64{
		"any":  func() uint64 { return uint64(r.U32()) },
		"few":  func() uint64 { return []uint64{0, 1, 0x80000000, 0xffffffff, 0x7fffffff}[r.Intn(5)] },
		"half": func() uint64 { return uint64(r.Intn(2)) * 0x77777777 },
	}
	for name, f := range words {
		for _, n := range []int{40, 700} {
			tasks[fmt.Sprint("toy ", name, n)] = newTask(curve.Toy61, n, func(int) int { return r.Intn(5) - 2 }, number(f, curve.Toy61))
		}
	}
	if g := curve.BLS12377G1; slices.Contains(tested(), g) {
		// y² = x³ + 1 has (2, 3) of order 6.
		p := curvetest.Point{X: []*big.Int{big.NewInt(2)}, Y: []*big.Int{big.NewInt(3)}}
		tasks[g.Name] = newMultiples(g, p, 60, func(int) int { return r.Intn(6) }, number(words["any"], g))
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for name, x := range tasks {
			t.Run(name, func(t *testing.T) {
				if x.c.Group != curve.Toy61 {
					x.check(t, q, x.c.Group, x.c.Scalar.Bits()/4, 2, 1)
					return
				}
				for _, shape := range [][2]int{{8, 1}, {11, 7}, {29, 2}} {
					x.check(t, q, curve.Toy61, shape[0], shape[1], 1)
				}
			})
		}
	})
}
