package groth16

import (
	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
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

// Setup is gnark's: it makes the keys of a circuit, on the CPU. Whoever knows its
// randomness can forge proofs.
func Setup(r1cs constraint.ConstraintSystem) (ProvingKey, VerifyingKey, error) {
	return gnark.Setup(r1cs)
}

// DummySetup is gnark's: a key of random points, whose proofs do not verify, for
// benchmarks.
func DummySetup(r1cs constraint.ConstraintSystem) (ProvingKey, error) {
	return gnark.DummySetup(r1cs)
}

// Verify is gnark's.
func Verify(proof Proof, vk VerifyingKey, publicWitness witness.Witness, opts ...backend.VerifierOption) error {
	return gnark.Verify(proof, vk, publicWitness, opts...)
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
