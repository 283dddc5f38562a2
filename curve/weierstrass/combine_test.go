package weierstrass_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-377/fp"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/mnt4753"
	mntfp "github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
)

// Combine is Horner's scheme in any order of parts, with points of small order, infinity
// in any form and equal shifts, also where the doublings are in Jacobian coordinates.
func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	c := weierstrass.New[fp.Element](curve.BLS12377G1)
	var six weierstrass.Affine[fp.Element]
	six.X.SetUint64(2)
	six.Y.SetUint64(3)
	m := mnt4753.G1
	for trial := range 60 {
		n := r.IntN(1 + r.IntN(200))
		shifts := 1 + r.IntN(1+r.IntN(300))
		base := six
		if trial%3 == 0 {
			base = c.Generator
		}
		var parts []weierstrass.Part[fp.Element]
		var others []weierstrass.Part[mntfp.Element]
		total := new(big.Int)
		for range n {
			k, shift := int64(r.IntN(13)-6), r.IntN(shifts)
			total.Add(total, new(big.Int).Lsh(big.NewInt(k), uint(shift)))
			p := c.Mul(base, big.NewInt(k))
			x := c.FromAffine(&p)
			q := m.Mul(m.Generator, big.NewInt(k))
			y := m.FromAffine(&q)
			if k == 0 {
				x.X.SetUint64(r.Uint64())
				x.Y.SetUint64(r.Uint64())
			} else if r.IntN(2) == 0 {
				// Another representation, by an addition.
				c.Double(&x)
				p = c.Neg(p)
				c.Accumulate(&x, &p)
			}
			parts = append(parts, weierstrass.Part[fp.Element]{Shift: shift, Sum: x})
			others = append(others, weierstrass.Part[mntfp.Element]{Shift: shift, Sum: y})
		}
		if got, want := c.Combine(parts), c.Mul(base, total); got != want {
			t.Fatalf("%d parts in %d shifts: %v, not %v", n, shifts, got, want)
		}
		if trial%20 == 0 {
			if got, want := m.Combine(others), m.Mul(m.Generator, total); got != want {
				t.Fatalf("mnt4753, %d parts in %d shifts: %v, not %v", n, shifts, got, want)
			}
		}
	}
}
