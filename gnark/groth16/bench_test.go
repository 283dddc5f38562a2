package groth16_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// chain is 2^log - 2 products, each of the one before and itself.
type chain struct {
	X   frontend.Variable
	Y   frontend.Variable `gnark:",public"`
	log int
}

func (c *chain) Define(api frontend.API) error {
	x := c.X
	for i := range 1<<c.log - 2 {
		x = api.Add(api.Mul(x, x), i)
	}
	api.AssertIsDifferent(x, c.Y)
	return nil
}

// BenchmarkProve is proofs by gnark, and by a Prover on the device that ZKWARP_DEVICE
// names, or the first GPU; solving is part of both.
func BenchmarkProve(b *testing.B) {
	for _, log := range []int{12, 14, 16, 18, 20} {
		r := setUp(b, ecc.BN254, example{circuit: &chain{log: log}, right: &chain{X: 3, Y: 5}})
		b.Run(fmt.Sprintf("2^%d/solve", log), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.ccs.Solve(r.right); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("2^%d/gnark", log), func(b *testing.B) {
			for b.Loop() {
				if _, err := gnark.Prove(r.ccs, r.pk, r.right); err != nil {
					b.Fatal(err)
				}
			}
		})
		d, err := device.Open("auto")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("2^%d/%s", log, d.Name()), func(b *testing.B) {
			p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk))
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			if _, err := p.Prove(context.Background(), r.ccs, r.right); err != nil { // compiles kernels
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Prove(context.Background(), r.ccs, r.right); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("2^%d/%s/batch of 8", log, d.Name()), func(b *testing.B) {
			p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk))
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			for b.Loop() {
				if _, err := p.ProveBatch(context.Background(), r.ccs, slices.Repeat([]witness.Witness{r.right}, 8)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(8*b.N), "ms/proof")
		})
	}
}
