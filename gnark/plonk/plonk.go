// Package plonk is gnark's backend/plonk with the setup of zkwarp, which commits to the
// circuit on NVIDIA GPUs where there are any. A program of gnark's changes its import,
//
//	import "github.com/zkwarp/zkwarp/gnark/plonk" // "github.com/consensys/gnark/backend/plonk"
//
// and nothing else: all names of gnark's package are here, and constraint systems, keys,
// witnesses and proofs are gnark's own.
//
// Proofs are made by gnark's own prover on the CPU: that of gnark v0.16.1 has no place for
// another way to commit or to transform. docs/kzg.md says which of its functions would need
// one.
package plonk

//go:generate go run ../kzg/internal/gen internal

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	kzg377 "github.com/consensys/gnark-crypto/ecc/bls12-377/kzg"
	kzg381 "github.com/consensys/gnark-crypto/ecc/bls12-381/kzg"
	kzg254 "github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	kzg761 "github.com/consensys/gnark-crypto/ecc/bw6-761/kzg"
	srs "github.com/consensys/gnark-crypto/kzg"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs377 "github.com/consensys/gnark/constraint/bls12-377"
	cs381 "github.com/consensys/gnark/constraint/bls12-381"
	cs254 "github.com/consensys/gnark/constraint/bn254"
	cs761 "github.com/consensys/gnark/constraint/bw6-761"

	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/plonk/internal/bls12377"
	"github.com/zkwarp/zkwarp/gnark/plonk/internal/bls12381"
	"github.com/zkwarp/zkwarp/gnark/plonk/internal/bn254"
	"github.com/zkwarp/zkwarp/gnark/plonk/internal/bw6761"
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

// Setup makes the keys of a circuit, as gnark's does, on the device that "auto" stands for
// ([kzg.WithDevice]). The reference string comes in monomial form, three points longer than
// the domain, and in Lagrange form, as long as the domain (SRSSize). The keys are gnark's,
// byte for byte. Where gnark's panics, for a string over another curve, there is an error.
func Setup(ccs constraint.ConstraintSystem, kzgSrs, kzgSrsLagrange srs.SRS) (ProvingKey, VerifyingKey, error) {
	return SetupContext(context.Background(), ccs, kzgSrs, kzgSrsLagrange)
}

// SetupContext is Setup until ctx ends, with options of package kzg.
func SetupContext(ctx context.Context, ccs constraint.ConstraintSystem, kzgSrs, kzgSrsLagrange srs.SRS, opts ...kzg.Option) (pk ProvingKey, vk VerifyingKey, err error) {
	// Only keys that are there go into the interfaces.
	switch ccs := ccs.(type) {
	case *cs254.SparseR1CS:
		var monomial, lagrange *kzg254.SRS
		if monomial, lagrange, err = both[*kzg254.SRS](kzgSrs, kzgSrsLagrange); err == nil {
			pk, vk, err = bn254.Setup(ctx, ccs, monomial, lagrange, opts)
		}
	case *cs377.SparseR1CS:
		var monomial, lagrange *kzg377.SRS
		if monomial, lagrange, err = both[*kzg377.SRS](kzgSrs, kzgSrsLagrange); err == nil {
			pk, vk, err = bls12377.Setup(ctx, ccs, monomial, lagrange, opts)
		}
	case *cs381.SparseR1CS:
		var monomial, lagrange *kzg381.SRS
		if monomial, lagrange, err = both[*kzg381.SRS](kzgSrs, kzgSrsLagrange); err == nil {
			pk, vk, err = bls12381.Setup(ctx, ccs, monomial, lagrange, opts)
		}
	case *cs761.SparseR1CS:
		var monomial, lagrange *kzg761.SRS
		if monomial, lagrange, err = both[*kzg761.SRS](kzgSrs, kzgSrsLagrange); err == nil {
			pk, vk, err = bw6761.Setup(ctx, ccs, monomial, lagrange, opts)
		}
	default:
		err = fmt.Errorf("%w: a constraint system of type %T, want a SparseR1CS over BN254, BLS12-377, BLS12-381 or BW6-761", kzg.ErrInput, ccs)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("plonk: setup: %w", err)
	}
	return pk, vk, nil
}

// both is the two forms of a reference string by their type, that of the circuit's curve.
func both[S interface {
	comparable
	srs.SRS
}](monomial, lagrange srs.SRS) (m, l S, err error) {
	var none S
	m, ok := monomial.(S)
	l, also := lagrange.(S)
	if !ok || !also || m == none || l == none {
		err = fmt.Errorf("%w: reference strings of type %T and %T, the circuit's curve has %T", kzg.ErrInput, monomial, lagrange, none)
	}
	return m, l, err
}

// Prove is gnark's: it makes a proof, on the CPU.
func Prove(ccs constraint.ConstraintSystem, pk ProvingKey, fullWitness witness.Witness, opts ...backend.ProverOption) (Proof, error) {
	return gnark.Prove(ccs, pk, fullWitness, opts...)
}

// Verify is gnark's.
func Verify(proof Proof, vk VerifyingKey, publicWitness witness.Witness, opts ...backend.VerifierOption) error {
	return gnark.Verify(proof, vk, publicWitness, opts...)
}

// NewCS is gnark's: an empty constraint system, to be read into. It panics where gnark has
// no PLONK over the curve, as do the other three.
func NewCS(curveID ecc.ID) constraint.ConstraintSystem { return gnark.NewCS(curveID) }

// NewProvingKey is gnark's: an empty key, to be read into.
func NewProvingKey(curveID ecc.ID) ProvingKey { return gnark.NewProvingKey(curveID) }

// NewProof is gnark's: an empty proof, to be read into.
func NewProof(curveID ecc.ID) Proof { return gnark.NewProof(curveID) }

// NewVerifyingKey is gnark's: an empty key, to be read into.
func NewVerifyingKey(curveID ecc.ID) VerifyingKey { return gnark.NewVerifyingKey(curveID) }

// SRSSize is gnark's: how many points the reference string of a circuit needs in monomial
// and in Lagrange form.
func SRSSize(ccs constraint.ConstraintSystem) (sizeCanonical, sizeLagrange int) {
	return gnark.SRSSize(ccs)
}
