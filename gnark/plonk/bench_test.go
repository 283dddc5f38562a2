package plonk_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/test/unsafekzg"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/plonk"
)

// chain has about 2^log constraints, each product of the one before and itself.
type chain struct {
	X   frontend.Variable
	Y   frontend.Variable `gnark:",public"`
	log int
}

func (c *chain) Define(api frontend.API) error {
	x := c.X
	for i := range 1<<(c.log-1) - 100 {
		x = api.Add(api.Mul(x, x), i)
	}
	api.AssertIsDifferent(x, c.Y)
	return nil
}

// BenchmarkSetup is setups by gnark and on the device that ZKWARP_DEVICE names, or the first
// GPU.
func BenchmarkSetup(b *testing.B) {
	for _, log := range []int{16, 18, 20} {
		b.Run(fmt.Sprintf("2^%d", log), func(b *testing.B) {
			ccs, err := frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder, &chain{log: log})
			if err != nil {
				b.Fatal(err)
			}
			monomial, lagrange, err := unsafekzg.NewSRS(ccs)
			if err != nil {
				b.Fatal(err)
			}
			d, err := device.Open("auto")
			if err != nil {
				b.Fatal(err)
			}
			var theirs, ours plonk.VerifyingKey
			b.Run("gnark", func(b *testing.B) {
				for b.Loop() {
					if _, theirs, err = gnark.Setup(ccs, monomial, lagrange); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(d.Name(), func(b *testing.B) {
				for b.Loop() {
					if _, ours, err = plonk.SetupContext(b.Context(), ccs, monomial, lagrange, kzg.WithDevice(d.Name())); err != nil {
						b.Fatal(err)
					}
				}
			})
			if theirs != nil && ours != nil && !reflect.DeepEqual(theirs, ours) {
				b.Error("the keys differ")
			}
		})
	}
}
