package bn254

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
)

// checkRange is how many points one sum of check has: enough to fill a card.
const checkRange = 1 << 22

// check compares points that a device made with their logarithms: for random numbers r_i of
// 64 bits the sum of r_i P_i has to be that of r_i s_i times the base, which one wrong
// point passes once in 2^64 times. The sums are the device's as well, by kernels that
// share little with those that made the points but for the addition. What differs is a fault of the
// device's, ErrFault.
func check[P comparable](ctx context.Context, dev *device.Device, c *msm.Curve[P, fr.Element], base P, name string, points []P, scalars func(to []fr.Element, from int) error) error {
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		return err
	}
	room := min(len(points), checkRange)
	numbers, logs := make([]fr.Element, room), make([]fr.Element, room)
	for from := 0; from < len(points); from += checkRange {
		n := min(len(points)-from, checkRange)
		if err := scalars(logs[:n], from); err != nil {
			return err
		}
		log := combine(numbers[:n], logs[:n], seed, uint64(from))
		got, err := msm.Sum(ctx, dev, c, points[from:from+n], numbers[:n], msm.Options{Subgroup: msm.Asserted})
		if err != nil {
			return err
		}
		want, err := c.Host.Sum(ctx, []P{base}, []fr.Element{log})
		if err != nil {
			return err
		}
		if got != want {
			return &device.Error{Device: dev.Name(), Op: "setup", Class: device.ErrFault,
				Text: fmt.Sprintf("query %s: a sum of points %d to %d is not what their logarithms say", name, from, from+n)}
		}
	}
	return nil
}

// combine sets numbers to random ones, and returns the sum of their products with logs. Each
// piece has a generator of its own.
func combine(numbers, logs []fr.Element, seed [32]byte, stream uint64) fr.Element {
	const piece = 1 << 12
	var total fr.Element
	var mu sync.Mutex
	parallel.For((len(numbers)+piece-1)/piece, 1, func(lo, hi int) {
		var sum, product fr.Element
		for p := lo; p < hi; p++ {
			own := seed
			for i, v := 0, stream+uint64(p)*piece; v > 0; i, v = i+1, v>>8 {
				own[i] ^= byte(v)
			}
			r := rand.NewChaCha8(own)
			for i := p * piece; i < min((p+1)*piece, len(numbers)); i++ {
				numbers[i].SetUint64(r.Uint64())
				sum.Add(&sum, product.Mul(&numbers[i], &logs[i]))
			}
		}
		mu.Lock()
		total.Add(&total, &sum)
		mu.Unlock()
	})
	return total
}
