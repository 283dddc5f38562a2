package groth16_test

import (
	"crypto/sha256"
	"hash"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// beside has commitments that do not depend on one another, among so many constraints that
// the solver gives them to several goroutines.
type beside struct {
	X [400]frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *beside) Define(api frontend.API) error {
	for i := range c.X {
		if i%100 == 0 {
			v, err := api.(frontend.Committer).Commit(c.X[i], c.X[i+1])
			if err != nil {
				return err
			}
			api.AssertIsDifferent(v, c.Y)
		}
		api.Mul(api.Mul(c.X[i], c.X[(i+1)%len(c.X)]), c.X[i])
	}
	return nil
}

// slow is a hash that takes its time, in which another would write to it.
type slow struct{ hash.Hash }

func (s slow) Write(p []byte) (int, error) {
	n, err := s.Hash.Write(p)
	time.Sleep(time.Millisecond)
	return n, err
}

// Hashes of commitments are of one commitment each, although the solver computes several at
// the same time.
func TestCommitmentsAtTheSameTime(t *testing.T) {
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &beside{})
	if err != nil {
		t.Fatal(err)
	}
	assignment := &beside{Y: 5}
	for i := range assignment.X {
		assignment.X[i] = i + 3
	}
	full, err := frontend.NewWitness(assignment, field)
	if err != nil {
		t.Fatal(err)
	}
	public, err := full.Public()
	if err != nil {
		t.Fatal(err)
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	p, err := groth16.NewProver(pk, groth16.WithDevice("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 5 {
		proof, err := p.Prove(t.Context(), ccs, full, backend.WithProverHashToFieldFunction(slow{sha256.New()}))
		if err != nil {
			t.Fatal(err)
		}
		if err := groth16.Verify(proof, vk, public, backend.WithVerifierHashToFieldFunction(sha256.New())); err != nil {
			t.Fatal(err)
		}
	}
}
