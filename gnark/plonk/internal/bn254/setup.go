// Package bn254 makes keys of PLONK over BN254. It is the text that the
// packages of the other curves are made from.
package bn254

import (
	"context"
	"fmt"
	"io"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	srs "github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	gnark "github.com/consensys/gnark/backend/plonk/bn254"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/zkwarp/zkwarp/gnark/kzg"
	committer "github.com/zkwarp/zkwarp/gnark/kzg/bn254"
)

// Setup is plonk.SetupContext. The strings are not empty.
func Setup(ctx context.Context, spr *cs.SparseR1CS, monomial, lagrange *srs.SRS, opts []kzg.Option) (*gnark.ProvingKey, *gnark.VerifyingKey, error) {
	if spr == nil {
		return nil, nil, fmt.Errorf("%w: no constraint system", kzg.ErrInput)
	}
	if spr.Type != constraint.SystemSparseR1CS {
		return nil, nil, fmt.Errorf("%w: the constraint system is no SparseR1CS", kzg.ErrInput)
	}
	info, ok := spr.CommitmentInfo.(constraint.PlonkCommitments)
	if !ok {
		return nil, nil, fmt.Errorf("%w: commitments of type %T, want those of PLONK", kzg.ErrInput, spr.CommitmentInfo)
	}
	public := len(spr.Public)
	n := uint64(spr.GetNbConstraints() + public)
	if n < 2 {
		return nil, nil, fmt.Errorf("%w: a circuit of %d constraints, public inputs among them; 2 are wanted", kzg.ErrInput, n)
	}
	if _, err := fft.Generator(n); err != nil {
		return nil, nil, fmt.Errorf("%w: there is no domain for %d constraints: %w", kzg.ErrInput, n, err)
	}
	domain := fft.NewDomain(n, fft.WithoutPrecompute())
	size := int(domain.Cardinality)
	// The prover opens polynomials with up to three more coefficients, which blind them.
	if have, want := len(monomial.Pk.G1), size+3; have < want {
		return nil, nil, fmt.Errorf("%w: the reference string in monomial form has %d points, %d are wanted", kzg.ErrInput, have, want)
	}
	if have := len(lagrange.Pk.G1); have != size {
		return nil, nil, fmt.Errorf("%w: the reference string in Lagrange form has %d points, %d are wanted", kzg.ErrInput, have, size)
	}
	vk := &gnark.VerifyingKey{
		Size:                        domain.Cardinality,
		Generator:                   domain.Generator,
		NbPublicVariables:           uint64(public),
		Kzg:                         monomial.Vk,
		CosetShift:                  domain.FrMultiplicativeGen,
		CommitmentConstraintIndexes: make([]uint64, len(info)),
	}
	vk.SizeInv.SetUint64(vk.Size).Inverse(&vk.SizeInv)
	for i, at := range info.CommitmentIndexes() {
		vk.CommitmentConstraintIndexes[i] = uint64(at)
	}
	trace := gnark.NewTrace(spr, domain)
	polynomials := [][]fr.Element{
		trace.Ql.Coefficients(), trace.Qr.Coefficients(), trace.Qm.Coefficients(), trace.Qo.Coefficients(), trace.Qk.Coefficients(),
		trace.S1.Coefficients(), trace.S2.Coefficients(), trace.S3.Coefficients(),
	}
	fixed := len(polynomials)
	for _, q := range trace.Qcp {
		polynomials = append(polynomials, q.Coefficients())
	}
	// A key that is wrong would be noticed by nobody before its proofs, if then.
	c, err := committer.New(lagrange.Pk, append([]kzg.Option{kzg.WithCheck()}, opts...)...)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	digests, err := c.CommitMany(ctx, polynomials)
	if err != nil {
		return nil, nil, fmt.Errorf("commitments to the circuit: %w", err)
	}
	vk.Ql, vk.Qr, vk.Qm, vk.Qo, vk.Qk = digests[0], digests[1], digests[2], digests[3], digests[4]
	copy(vk.S[:], digests[5:fixed])
	vk.Qcp = digests[fixed:]
	// The key's version, which is not exported, is set by writing it.
	if _, err := vk.WriteTo(io.Discard); err != nil {
		return nil, nil, fmt.Errorf("verifying key: %w", err)
	}
	pk := &gnark.ProvingKey{Kzg: srs.ProvingKey{G1: monomial.Pk.G1[:size+3]}, KzgLagrange: lagrange.Pk, Vk: vk}
	return pk, vk, nil
}
