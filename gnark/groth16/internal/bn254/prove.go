package bn254

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/hash_to_field"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	gnark "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	frontend "github.com/consensys/gnark/frontend/cs"

	"github.com/zkwarp/zkwarp/gnark/groth16/internal/resident"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/single"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Solved is a satisfied constraint system: what proofs are made of.
type Solved struct {
	circuit     *circuit
	commitments []curve.G1Affine
	private     [][]fr.Element // what each commits to
	solution    *cs.R1CSSolution
}

// Solve computes the wires of a constraint system, and commitments. Its errors are the
// solver's own where the witness does not satisfy the system.
func (k *Key) Solve(ctx context.Context, ccs constraint.ConstraintSystem, full witness.Witness, opt backend.ProverConfig) (any, error) {
	r1cs, ok := ccs.(*cs.R1CS)
	if !ok || r1cs == nil {
		return nil, fmt.Errorf("%w: the proving key is over %s, the constraint system is %s", resident.ErrInput, curve.ID, resident.Describe(ccs))
	}
	c, err := k.describe(r1cs)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", resident.ErrInput, err)
	}
	if full == nil {
		return nil, witness.ErrInvalidWitness
	}
	if _, ok := full.Vector().(fr.Vector); !ok {
		return nil, witness.ErrInvalidWitness
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Solved{circuit: c}
	if err := k.solve(ctx, r1cs, full, opt, s); err != nil {
		return nil, err
	}
	return s, nil
}

// Finish makes a proof of what Solve returned, for the last time unless it says again. The
// blinding r and s is taken from random, in this order.
func (k *Key) Finish(ctx context.Context, solved any, random io.Reader, again bool) (groth16.Proof, error) {
	x, ok := solved.(*Solved)
	if !ok {
		return nil, fmt.Errorf("a solution of type %T", solved)
	}
	proof := &gnark.Proof{Commitments: slices.Clone(x.commitments)}
	wires := []fr.Element(x.solution.W)
	if err := k.proveKnowledge(ctx, x.circuit, wires, x.private, proof); err != nil {
		return nil, err
	}
	r, err := element(random)
	if err != nil {
		return nil, fmt.Errorf("blinding: %w", err)
	}
	s, err := element(random)
	if err != nil {
		return nil, fmt.Errorf("blinding: %w", err)
	}
	blind := sync.OnceValue(func() *blinding { return k.blind(&r, &s) })
	go blind()    // beside the sums
	defer blind() // which reads the key
	v := resident.Values[fr.Element]{Wires: wires, K: &x.circuit.inK, A: x.solution.A, B: x.solution.B, C: x.solution.C}
	var b1 curve.G1Affine
	sums, err := k.queries.Sum(ctx, v, func() ([]fr.Element, error) { return k.quotientOf(ctx, x.solution, again) },
		func(b curve.G1Affine, b2 curve.G2Affine) error {
			b1, proof.Bs = k.assembleB(blind(), &b, &b2)
			return k.check(&b1, &proof.Bs)
		})
	if err != nil {
		return nil, err
	}
	defer k.place.Trace.Stage("assemble")()
	proof.Ar, proof.Krs = k.assemble(blind(), sums, &b1)
	return proof, nil
}

// check says whether B is the same in both groups, where that is to be looked at.
func (k *Key) check(b *curve.G1Affine, b2 *curve.G2Affine) error {
	if !k.related {
		return nil
	}
	defer k.place.Trace.Stage("check")()
	same, err := related(k.pk, b, b2)
	if err == nil && !same {
		err = fmt.Errorf("%w: B differs between G1 and G2", resident.ErrWrong)
	}
	return err
}

// solve computes all wires, and the evaluations of A, B and C. A commitment is computed
// when the solver comes to its wire, whose value is the commitment's hash.
func (k *Key) solve(ctx context.Context, r1cs *cs.R1CS, full witness.Witness, opt backend.ProverConfig, x *Solved) error {
	c := x.circuit
	hash := opt.HashToFieldFn
	if hash == nil {
		hash = hash_to_field.New([]byte(constraint.CommitmentDst))
	}
	x.commitments = make([]curve.G1Affine, len(c.commitments))
	x.private = make([][]fr.Element, len(c.commitments))
	private := x.private
	// The solver computes commitments that do not depend on one another at the same time.
	var mu sync.Mutex // for the hash, and for
	var failed error  // the device's; the solver's is about the constraint
	commit := func(_ *big.Int, in, out []*big.Int) error {
		if len(in) == 0 || len(out) != 1 {
			return fmt.Errorf("a commitment of %d inputs and %d outputs", len(in), len(out))
		}
		i := int(in[0].Int64())
		if i < 0 || i >= len(private) {
			return fmt.Errorf("commitment %d of %d", i, len(private))
		}
		if len(in) < 1+len(c.commitments[i].PublicAndCommitmentCommitted) {
			return fmt.Errorf("commitment %d: %d inputs", i, len(in))
		}
		public := in[1 : 1+len(c.commitments[i].PublicAndCommitmentCommitted)]
		values := in[1+len(public):]
		private[i] = make([]fr.Element, len(values))
		for j, v := range values {
			private[i][j].SetBigInt(v)
		}
		sum, err := k.commitments[i].basis.Sum(ctx, private[i])
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = fmt.Errorf("commitment %d: %w", i, err)
			return failed
		}
		x.commitments[i] = sum
		hash.Write(constraint.SerializeCommitment(sum.Marshal(), public, fr.Bytes))
		digest := hash.Sum(nil)
		hash.Reset()
		var value fr.Element
		value.SetBytes(digest[:min(len(digest), fr.Bytes)])
		value.BigInt(out[0])
		return nil
	}
	options := append(opt.SolverOpts[:len(opt.SolverOpts):len(opt.SolverOpts)],
		solver.OverrideHint(solver.GetHintID(frontend.Bsb22CommitmentComputePlaceholder), commit))
	if c.stateful {
		leave, err := single.Solving.Take(ctx, r1cs)
		if err != nil {
			return err
		}
		defer leave()
	}
	solved, err := r1cs.Solve(full, options...)
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	var ok bool
	if x.solution, ok = solved.(*cs.R1CSSolution); !ok {
		return fmt.Errorf("the solver made a %T", solved)
	}
	return nil
}

// proveKnowledge proves for all commitments at once that their openings are known: the
// proofs' combination with powers of a challenge that all commitments go into.
func (k *Key) proveKnowledge(ctx context.Context, c *circuit, wires []fr.Element, private [][]fr.Element, proof *gnark.Proof) error {
	if len(private) == 0 {
		return nil
	}
	defer k.place.Trace.Stage("commitments")()
	proofs := make([]curve.G1Affine, len(private))
	var hashes []byte
	for i := range private {
		var err error
		if proofs[i], err = k.commitments[i].sigma.Sum(ctx, private[i]); err != nil {
			return fmt.Errorf("proof of knowledge of commitment %d: %w", i, err)
		}
		hashes = append(hashes, wires[c.commitments[i].CommitmentIndex].Marshal()...)
	}
	challenge, err := fr.Hash(hashes, []byte("G16-BSB22"), 1)
	if err != nil {
		return err
	}
	_, err = proof.CommitmentPok.Fold(proofs, challenge[0], ecc.MultiExpConfig{})
	return err
}

// quotientOf is the coefficients of h, computed on the CPU, in place of the solution's values
// unless they are wanted again.
func (k *Key) quotientOf(ctx context.Context, solution *cs.R1CSSolution, again bool) ([]fr.Element, error) {
	n := int(k.pk.Domain.Cardinality)
	a, b, c := solution.A, solution.B, solution.C
	if again {
		a, b, c = slices.Clone(a), slices.Clone(b), slices.Clone(c)
	}
	h, err := k.quotientOnCPU(ctx, pad(a, n), pad(b, n), pad(c, n))
	if err != nil {
		return nil, err
	}
	return h[:n-1], nil // its degree is n-2 at most
}

// blinding is what a proof's r and s make of δ.
type blinding struct {
	r, s   big.Int
	a, b   curve.G1Jac // r δ and s δ
	c      curve.G1Jac // -r s δ
	second curve.G2Jac // s δ
}

func (k *Key) blind(r, s *fr.Element) *blinding {
	var x blinding
	r.BigInt(&x.r)
	s.BigInt(&x.s)
	var product fr.Element
	var minus big.Int
	product.Mul(r, s).Neg(&product)
	product.BigInt(&minus)
	var delta curve.G1Jac
	delta.FromAffine(&k.pk.G1.Delta)
	x.a.ScalarMultiplication(&delta, &x.r)
	x.b.ScalarMultiplication(&delta, &x.s)
	x.c.ScalarMultiplication(&delta, &minus)
	var delta2 curve.G2Jac
	delta2.FromAffine(&k.pk.G2.Delta)
	x.second.ScalarMultiplication(&delta2, &x.s)
	return &x
}

// assembleB is β + Σ wᵢ Bᵢ + s δ in both groups (Groth16, section 3.2).
func (k *Key) assembleB(x *blinding, sum *curve.G1Affine, sum2 *curve.G2Affine) (b curve.G1Affine, b2 curve.G2Affine) {
	t := x.b
	t.AddMixed(&k.pk.G1.Beta)
	t.AddMixed(sum)
	b.FromJacobian(&t)
	t2 := x.second
	t2.AddMixed(&k.pk.G2.Beta)
	t2.AddMixed(sum2)
	b2.FromJacobian(&t2)
	return b, b2
}

// assemble is
//
//	A = α + Σ wᵢ Aᵢ + r δ
//	C = Σ wᵢ Kᵢ + Σ hᵢ Zᵢ + s A + r B - r s δ
func (k *Key) assemble(x *blinding, sums *resident.Sums[curve.G1Affine, curve.G2Affine], b1 *curve.G1Affine) (ar, krs curve.G1Affine) {
	var b, sA, rB curve.G1Jac
	b.FromAffine(b1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		rB.ScalarMultiplication(&b, &x.r)
	}()
	a := x.a
	a.AddMixed(&k.pk.G1.Alpha)
	a.AddMixed(&sums.A)
	ar.FromJacobian(&a)
	sA.ScalarMultiplication(&a, &x.s)
	c := x.c
	c.AddMixed(&sums.K)
	c.AddMixed(&sums.Z)
	c.AddAssign(&sA)
	<-done
	c.AddAssign(&rB)
	krs.FromJacobian(&c)
	return ar, krs
}

// related says whether two points are the same multiple of the groups' generators,
// supposing that the key's δ is: e(p, δ) = e(δ, q).
func related(pk *gnark.ProvingKey, p *curve.G1Affine, q *curve.G2Affine) (bool, error) {
	var minus curve.G1Affine
	minus.Neg(&pk.G1.Delta)
	return curve.PairingCheck([]curve.G1Affine{*p, minus}, []curve.G2Affine{pk.G2.Delta, *q})
}

// quotientOnCPU computes h, in place of a, from the evaluations of A, B and C over the
// domain, in their natural order and padded to its size: the coefficients of
// (A B - C) / (Xⁿ - 1), in bit-reversed order.
//
// It needs six transforms. On the coset gH, where Xⁿ = gⁿ, A B has the same
// values as a polynomial of degree below n, (A B) mod (Xⁿ - gⁿ). As A B = C + h (Xⁿ - 1)
// with C and h of degree below n, that is C + (gⁿ - 1) h: C itself need not go to the
// coset, and h comes of coefficients.
func (k *Key) quotientOnCPU(ctx context.Context, a, b, c []fr.Element) ([]fr.Element, error) {
	domain := &k.pk.Domain
	for _, v := range [][]fr.Element{a, b, c} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		domain.FFTInverse(v, fft.DIF)
	}
	domain.FFT(a, fft.DIT, fft.OnCoset())
	domain.FFT(b, fft.DIT, fft.OnCoset())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parallel.For(len(a), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a[i].Mul(&a[i], &b[i])
		}
	})
	domain.FFTInverse(a, fft.DIF, fft.OnCoset())
	var scale fr.Element
	one := fr.One()
	scale.Exp(domain.FrMultiplicativeGen, new(big.Int).SetUint64(domain.Cardinality))
	scale.Sub(&scale, &one).Inverse(&scale)
	parallel.For(len(a), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a[i].Sub(&a[i], &c[i]).Mul(&a[i], &scale)
		}
	})
	return a, nil
}

// pad appends zeros, in v's own memory if there is room.
func pad(v []fr.Element, n int) []fr.Element {
	return append(v, make([]fr.Element, n-len(v))...)
}

// element is a uniform element: an integer below the modulus, little-endian, that is
// taken for its Montgomery form, which is no less uniform. So does gnark-crypto, and
// proofs from the same random bytes are the same.
func element(random io.Reader) (fr.Element, error) {
	const size = (fr.Bits + 7) / 8
	for {
		var buf [size]byte
		if _, err := io.ReadFull(random, buf[:]); err != nil {
			return fr.Element{}, err
		}
		slices.Reverse(buf[:])
		buf[0] &= 1<<((fr.Bits-1)%8+1) - 1
		v := new(big.Int).SetBytes(buf[:])
		if v.Cmp(fr.Modulus()) >= 0 {
			continue
		}
		// v = e R for Montgomery's R: e = v / R, and 1 / R is what the words 1 stand for.
		e := fr.Element{1}
		e.Mul(&e, new(fr.Element).SetBigInt(v))
		return e, nil
	}
}
