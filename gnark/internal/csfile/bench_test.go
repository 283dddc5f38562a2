package csfile

import (
	"bytes"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
)

// squares squares X.
type squares struct {
	X     frontend.Variable
	Y     frontend.Variable `gnark:",public"`
	Times int
}

func (c *squares) Define(api frontend.API) error {
	x := c.X
	for i := range c.Times {
		x = api.Add(api.Mul(x, x), i)
	}
	api.AssertIsDifferent(x, c.Y)
	return nil
}

// BenchmarkRead reads a system of 2^18 constraints as gnark does and as Read does.
func BenchmarkRead(b *testing.B) {
	x := compile(b, ecc.BN254, &squares{Times: 1 << 18}, &squares{X: 1, Y: 1})
	b.Run("gnark", func(b *testing.B) {
		b.SetBytes(int64(len(x.file)))
		for b.Loop() {
			if _, err := groth16.NewCS(ecc.BN254).ReadFrom(bytes.NewReader(x.file)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("checked", func(b *testing.B) {
		b.SetBytes(int64(len(x.file)))
		for b.Loop() {
			if _, _, err := Read(ecc.BN254, x.file, wires(x.ccs)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
