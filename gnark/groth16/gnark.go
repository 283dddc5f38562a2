package groth16

import (
	"context"
	"slices"

	"github.com/consensys/gnark-crypto/ecc"
	bls12377 "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bw6761 "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"

	"github.com/zkwarp/zkwarp/gnark/internal/setup"
)

// Gnark's own types.
type (
	// Proof is gnark's.
	Proof = gnark.Proof
	// ProvingKey is gnark's.
	ProvingKey = gnark.ProvingKey
	// VerifyingKey is gnark's.
	VerifyingKey = gnark.VerifyingKey
)

// Setup makes the keys of a circuit, as gnark's does, on the device that "auto" stands for,
// with randomness from crypto/rand: on the CPU if the domain is below 2^12, or if the GPU
// has too little memory or fails. From the same randomness the keys are gnark's, byte for byte.
//
// Whoever runs it, or can read the process's memory meanwhile, knows the trapdoor and can
// forge proofs. Keys that others are to trust come from a ceremony of several parties.
func Setup(r1cs constraint.ConstraintSystem) (ProvingKey, VerifyingKey, error) {
	return setup.Run(context.Background(), r1cs, setup.Options{})
}

// DummySetup is gnark's: a key of random points, whose proofs do not verify, for
// benchmarks.
func DummySetup(r1cs constraint.ConstraintSystem) (ProvingKey, error) {
	return gnark.DummySetup(r1cs)
}

// Verify is gnark's, which may be called several times at once for one public witness here.
func Verify(proof Proof, vk VerifyingKey, publicWitness witness.Witness, opts ...backend.VerifierOption) error {
	if publicWitness != nil {
		publicWitness = clipped{publicWitness}
	}
	return gnark.Verify(proof, vk, publicWitness, opts...)
}

// clipped is a witness without room behind its values: gnark's Verify appends the hashes of
// commitments to them. In one array, that of another proof could be taken for a proof's own,
// which would be rejected, or would not depend on what it commits to.
type clipped struct{ witness.Witness }

func (c clipped) Vector() any {
	switch v := c.Witness.Vector().(type) {
	case bn254.Vector:
		return slices.Clip(v)
	case bls12377.Vector:
		return slices.Clip(v)
	case bls12381.Vector:
		return slices.Clip(v)
	case bw6761.Vector:
		return slices.Clip(v)
	default:
		return v
	}
}

// NewProvingKey is gnark's: an empty key, to be read into. It panics where gnark has no
// Groth16 over the curve, as do the other three.
func NewProvingKey(curveID ecc.ID) ProvingKey { return gnark.NewProvingKey(curveID) }

// NewVerifyingKey is gnark's: an empty key, to be read into.
func NewVerifyingKey(curveID ecc.ID) VerifyingKey { return gnark.NewVerifyingKey(curveID) }

// NewProof is gnark's: an empty proof, to be read into.
func NewProof(curveID ecc.ID) Proof { return gnark.NewProof(curveID) }

// NewCS is gnark's: an empty constraint system, to be read into.
func NewCS(curveID ecc.ID) constraint.ConstraintSystem { return gnark.NewCS(curveID) }
