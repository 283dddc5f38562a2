// Package bn254 is the Groth16 prover over BN254. It is the text that the
// provers over the other curves are made from.
package bn254

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	gnark "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/zkwarp/zkwarp/gnark/groth16/internal/resident"
	group "github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/pick"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

type pointsG1 = resident.Points[curve.G1Affine, fr.Element]

// committed are the points of a commitment: its basis, and the basis of its proof of
// knowledge.
type committed struct{ basis, sigma *pointsG1 }

// Key is a proving key whose queries are resident. It is safe for concurrent proofs.
type Key struct {
	pk      *gnark.ProvingKey
	place   *resident.Place
	setup   [3]curve.G1Affine // its α, β and δ
	bytes   int64
	whole   bool // all points are resident
	related bool // β and δ are the same in G1 and G2, and proofs are checked for that

	queries     *resident.Key[curve.G1Affine, curve.G2Affine, fr.Element]
	commitments []committed

	last atomic.Pointer[circuit] // that a proof was made of
}

// NewKey puts a key to a place. The key must not change before Close.
func NewKey(pk *gnark.ProvingKey, place *resident.Place) (*Key, error) {
	if err := wellFormed(pk); err != nil {
		return nil, err
	}
	k := &Key{pk: pk, place: place, setup: [...]curve.G1Affine{pk.G1.Alpha, pk.G1.Beta, pk.G1.Delta}}
	if err := place.Preload(slices.Concat(group.G1.Units(), group.G2.Units(), scalar.Units(group.G1.Group.Scalar), pick.Sources())...); err != nil {
		return nil, err
	}
	if err := k.load(place); err != nil {
		k.Close()
		return nil, err
	}
	k.bytes, k.whole = place.Bytes(), place.Whole()
	if !place.OnCPU() && !place.Verified {
		// A key that is not, from a setup of another kind, has no proofs to check.
		var err error
		if k.related, err = related(pk, &pk.G1.Beta, &pk.G2.Beta); err != nil {
			k.Close()
			return nil, err
		}
	}
	return k, nil
}

// load uploads the queries, and then what commitments need.
func (k *Key) load(place *resident.Place) (err error) {
	pk := k.pk
	domain := &pk.Domain
	var generator, coset big.Int
	domain.Generator.BigInt(&generator)
	domain.FrMultiplicativeGen.BigInt(&coset)
	q := resident.Queries[curve.G1Affine, curve.G2Affine, fr.Element]{
		G1: group.G1, G2: group.G2,
		A: pk.G1.A, B: pk.G1.B, B2: pk.G2.B, K: pk.G1.K, Z: pk.G1.Z,
		InfinityA: pk.InfinityA, InfinityB: pk.InfinityB,
		N: domain.Cardinality, Generator: &generator, Coset: &coset,
	}
	if wires := len(pk.InfinityA); len(pk.CommitmentKeys) == 0 && len(pk.G1.K) <= wires {
		all := resident.All(wires-len(pk.G1.K), wires)
		q.KnownK = &all
	}
	if k.queries, err = resident.Load[*curve.G1Affine, *curve.G2Affine](place, q); err != nil {
		return err
	}
	for i := range pk.CommitmentKeys {
		var c committed
		if c.basis, err = resident.New(place, group.G1, pk.CommitmentKeys[i].Basis); err == nil {
			k.commitments = append(k.commitments, c)
			c.sigma, err = resident.New(place, group.G1, pk.CommitmentKeys[i].BasisExpSigma)
		}
		if err != nil {
			return fmt.Errorf("commitment key %d: %w", i, err)
		}
		k.commitments[i] = c
	}
	return nil
}

// Close gives the devices' memory back. No proof may be under way.
func (k *Key) Close() {
	k.queries.Close()
	for _, c := range k.commitments {
		c.basis.Close()
		c.sigma.Close()
	}
}

// Current says whether the key is what was put to its place: not read into again, which
// may use the memory of the points that were there, nor pointed elsewhere.
func (k *Key) Current() bool {
	pk := k.pk
	if k.setup != [...]curve.G1Affine{pk.G1.Alpha, pk.G1.Beta, pk.G1.Delta} || len(pk.CommitmentKeys) != len(k.commitments) {
		return false
	}
	for i, c := range k.commitments {
		if !c.basis.Are(pk.CommitmentKeys[i].Basis) || !c.sigma.Are(pk.CommitmentKeys[i].BasisExpSigma) {
			return false
		}
	}
	return k.queries.Are(pk.G1.A, pk.G1.B, pk.G1.K, pk.G1.Z, pk.G2.B)
}

// Whole says whether all of the key's points are resident.
func (k *Key) Whole() bool { return k.whole }

// Bytes is how much of each device's memory the key's points take.
func (k *Key) Bytes() int64 { return k.bytes }

// wellFormed says whether the parts of a key fit one another.
func wellFormed(pk *gnark.ProvingKey) error {
	n := pk.Domain.Cardinality
	switch {
	case n == 0:
		return errors.New("proving key: it is empty, as before it is read and after its file is closed")
	case n&(n-1) != 0:
		return fmt.Errorf("proving key: a domain of %d elements, a power of two is wanted", n)
	case uint64(len(pk.G1.Z)) != n-1:
		return fmt.Errorf("proving key: %d points in query Z, %d are wanted for a domain of %d", len(pk.G1.Z), n-1, n)
	case len(pk.InfinityA) != len(pk.InfinityB):
		return fmt.Errorf("proving key: InfinityA is for %d wires and InfinityB for %d", len(pk.InfinityA), len(pk.InfinityB))
	case finite(pk.InfinityA) != len(pk.G1.A) || len(pk.InfinityA)-len(pk.G1.A) != int(pk.NbInfinityA):
		return fmt.Errorf("proving key: %d points in query A, and %d wires of %d at infinity", len(pk.G1.A), pk.NbInfinityA, len(pk.InfinityA))
	case finite(pk.InfinityB) != len(pk.G1.B) || len(pk.InfinityB)-len(pk.G1.B) != int(pk.NbInfinityB):
		return fmt.Errorf("proving key: %d points in query B, and %d wires of %d at infinity", len(pk.G1.B), pk.NbInfinityB, len(pk.InfinityB))
	case len(pk.G1.B) != len(pk.G2.B):
		return fmt.Errorf("proving key: %d points in query B of G1 and %d in that of G2", len(pk.G1.B), len(pk.G2.B))
	}
	for i, c := range pk.CommitmentKeys {
		if len(c.Basis) != len(c.BasisExpSigma) {
			return fmt.Errorf("proving key: commitment key %d has %d and %d points", i, len(c.Basis), len(c.BasisExpSigma))
		}
	}
	return nil
}

func finite(infinity []bool) (n int) {
	for _, at := range infinity {
		if !at {
			n++
		}
	}
	return n
}

// circuit is what proofs need to know of a constraint system.
type circuit struct {
	of          weak.Pointer[cs.R1CS]
	public      int // wires, the constant one included
	commitments constraint.Groth16Commitments
	// inK are the wires in query K: those that are neither public, nor a commitment, nor
	// committed to.
	inK resident.List
	// stateful: solving it writes to it.
	stateful bool
}

// describe says whether the key is for the constraint system, as far as sizes tell, and
// what the system is like.
func (k *Key) describe(r1cs *cs.R1CS) (*circuit, error) {
	if r1cs.Type != constraint.SystemR1CS {
		return nil, fmt.Errorf("constraint system: not an R1CS")
	}
	commitments, ok := r1cs.CommitmentInfo.(constraint.Groth16Commitments)
	if !ok {
		return nil, fmt.Errorf("constraint system: commitments of type %T", r1cs.CommitmentInfo)
	}
	public := r1cs.GetNbPublicVariables()
	wires := public + r1cs.GetNbSecretVariables() + r1cs.NbInternalVariables
	if wires != len(k.pk.InfinityA) {
		return nil, fmt.Errorf("the proving key is of another circuit: for %d wires, the constraint system has %d", len(k.pk.InfinityA), wires)
	}
	if n := ecc.NextPowerOfTwo(uint64(r1cs.GetNbConstraints())); n != k.pk.Domain.Cardinality {
		return nil, fmt.Errorf("the proving key is of another circuit: for a domain of %d, the constraint system has %d constraints",
			k.pk.Domain.Cardinality, r1cs.GetNbConstraints())
	}
	if len(commitments) != len(k.commitments) {
		return nil, fmt.Errorf("the proving key is of another circuit: with %d commitments, the constraint system has %d", len(k.commitments), len(commitments))
	}
	of := weak.Make(r1cs)
	if c := k.last.Load(); c != nil && c.of == of && c.public == public && sameCommitments(c.commitments, commitments) {
		return c, nil
	}
	c := &circuit{of: of, public: public, commitments: commitments}
	for _, b := range r1cs.Blueprints {
		if _, ok := b.(constraint.BlueprintStateful[constraint.U64]); ok {
			c.stateful = true
		}
	}
	var out []int // of K
	for i, x := range commitments {
		if n := k.commitments[i].basis.Len(); n != len(x.PrivateCommitted) {
			return nil, fmt.Errorf("the proving key is of another circuit: its commitment %d is to %d wires, the constraint system's to %d", i, n, len(x.PrivateCommitted))
		}
		for _, wire := range append(x.PrivateCommitted[:len(x.PrivateCommitted):len(x.PrivateCommitted)], x.CommitmentIndex) {
			if wire < 0 || wire >= wires {
				return nil, fmt.Errorf("constraint system: a commitment to wire %d of %d", wire, wires)
			}
			if wire >= public {
				out = append(out, wire)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if n := wires - public - len(out); n != len(k.pk.G1.K) {
		return nil, fmt.Errorf("the proving key is of another circuit: %d points in query K, %d wires of the constraint system are neither public nor committed to", len(k.pk.G1.K), n)
	}
	c.inK = resident.All(public, wires)
	if len(out) > 0 {
		c.inK = resident.Except(public, wires, out)
	}
	k.last.Store(c)
	return c, nil
}

// sameCommitments says whether commitments are to wires in the same memory, which is that
// of one constraint system: its author does not write to it.
func sameCommitments(a, b constraint.Groth16Commitments) bool {
	return slices.EqualFunc(a, b, func(x, y constraint.Groth16Commitment) bool {
		return x.CommitmentIndex == y.CommitmentIndex && len(x.PrivateCommitted) == len(y.PrivateCommitted) &&
			unsafe.SliceData(x.PrivateCommitted) == unsafe.SliceData(y.PrivateCommitted)
	})
}
