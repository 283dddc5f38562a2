package groth16_test

import (
	"bytes"
	"os"
	"testing"

	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// mixed has wires in every combination of the queries A, B and K, in runs and mixed: products,
// bits, wires on one side only, and some that are committed to.
type mixed struct {
	X, Y  frontend.Variable
	Z     frontend.Variable `gnark:",public"`
	count int
}

func (c *mixed) Define(api frontend.API) error {
	x, y := c.X, c.Y
	var commit []frontend.Variable
	for i := range c.count / 8 {
		x, y = api.Mul(x, api.Add(y, i)), api.Mul(api.Add(x, 1), y)
		bit := api.IsZero(api.Sub(c.X, i))
		z := api.Mul(x, c.Z) // x on one side only
		w := api.Mul(api.Add(z, bit), api.Add(z, bit))
		api.AssertIsBoolean(bit)
		api.AssertIsDifferent(w, i)
		if i%1000 == 17 {
			commit = append(commit, w, bit)
		}
	}
	v, err := api.(frontend.Committer).Commit(commit...)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(v, y)
	return nil
}

// Circuits so large that sums share digits, for which a query's points are padded, over all
// curves.
func TestLarge(t *testing.T) {
	if os.Getenv("ZKWARP_TEST_DEVICES") == "" {
		t.Skip("takes minutes on two cores; ZKWARP_TEST_DEVICES=cuda asks for it")
	}
	for _, id := range curves {
		t.Run(id.String(), func(t *testing.T) {
			d := devicetest.Open(t, "cuda")
			r := setUp(t, id, example{circuit: &mixed{count: 1 << 17}, right: &mixed{X: 1, Y: 2, Z: 3}, commitments: 1})
			var want []byte
			blind(t, func() {
				proof, err := gnark.Prove(r.ccs, r.pk, r.right)
				if err != nil {
					t.Fatal(err)
				}
				want = encode(t, proof)
			})
			idle := d.InUse()
			for _, memory := range []int64{0, 20 << 20, 1} {
				blind(t, func() {
					p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk), groth16.WithMemory(memory))
					if err != nil {
						t.Fatal(err)
					}
					defer p.Close()
					proof, err := p.Prove(t.Context(), r.ccs, r.right)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(encode(t, proof), want) {
						t.Errorf("%d constraints, memory %d: the proof is not gnark's", r.ccs.GetNbConstraints(), memory)
					}
					t.Logf("%d constraints, memory %d: %d bytes of points", r.ccs.GetNbConstraints(), memory, p.Bytes())
				})
				if n := settled(d, idle); n != idle {
					t.Errorf("memory %d: %d bytes are left in use", memory, n-idle)
				}
			}
		})
	}
}
