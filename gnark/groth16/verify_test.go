package groth16_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// seventeen public inputs are a number for which a vector that is read has room for more.
type seventeen struct {
	X frontend.Variable
	Y [17]frontend.Variable `gnark:",public"`
}

func (c *seventeen) Define(api frontend.API) error {
	v, err := api.(frontend.Committer).Commit(c.X)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(v, c.X)
	for i := range c.Y {
		api.AssertIsEqual(c.Y[i], api.Mul(c.X, i))
	}
	return nil
}

// Proofs of one statement can be verified at the same time: gnark's Verify appends to the
// public witness, where there may be room behind it.
func TestVerifyAtTheSameTime(t *testing.T) {
	for _, id := range []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761} {
		field := id.ScalarField()
		ccs, err := frontend.Compile(field, r1cs.NewBuilder, &seventeen{})
		if err != nil {
			t.Fatal(err)
		}
		pk, vk, err := groth16.Setup(ccs)
		if err != nil {
			t.Fatal(err)
		}
		defer groth16.Forget(pk)
		assignment := &seventeen{X: 3}
		for i := range assignment.Y {
			assignment.Y[i] = 3 * i
		}
		full, err := frontend.NewWitness(assignment, field)
		if err != nil {
			t.Fatal(err)
		}
		first, err := full.Public()
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := first.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		public, err := witness.New(field)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := public.ReadFrom(&file); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			proof, err := groth16.Prove(ccs, pk, full)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for range 10 {
					if err := groth16.Verify(proof, vk, public); err != nil {
						t.Errorf("%s: %v", id, err)
					}
				}
			})
		}
		wg.Wait()
	}
}
