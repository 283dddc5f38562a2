package binary

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// The checks that Verify and DecodeProof make.
var (
	ErrLength = errors.New("sumcheck/binary: proof length")
	ErrFinal  = errors.New("sumcheck/binary: final evaluations")
)

// magic and version stand in front of a statement that is absorbed and of an encoded
// proof.
const (
	magic   = 'Z' | 'B'<<8 | 'S'<<16 | 'C'<<24
	version = 1
)

// words are the shape as it is absorbed.
func (s Shape) words() []uint32 {
	return []uint32{magic, version, uint32(s.Kind), uint32(s.Vars), uint32(s.Degree)}
}

// Absorb takes the claim into a transcript: its shape, z if there is one, and the value.
// Verify begins with it, and so must provers.
func (c Claim) Absorb(tr *tower.Transcript) {
	tr.AbsorbWords(c.words())
	if c.Kind == EqBits {
		tr.Absorb(c.Z)
	}
	tr.Absorb([]gf2.Element{c.Value})
}

// Verify reduces the claim to evaluations of its polynomials. The polynomials must be
// fixed by what tr has absorbed before, by commitments for instance; the claim, with z,
// the round messages and the final evaluations are absorbed here. A nil error means: if
// the returned evaluations are the polynomials' true ones then, up to
// ErrorNumerator/2^128, the claim is true.
func Verify(tr *tower.Transcript, c Claim, proof *Proof) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := proof.Check(c.Shape); err != nil {
		return nil, err
	}
	c.Absorb(tr)
	running := c.Value
	point := make([]gf2.Element, c.Vars)
	at := make([]gf2.Element, c.Degree+1)
	for i, message := range proof.Rounds {
		tr.Absorb(message)
		point[i] = tr.Challenge()
		at[0], at[1] = message[0], running.Add(message[0])
		copy(at[2:], message[1:])
		running = Interpolate(at, point[i])
	}
	tr.Absorb(proof.Evals)
	if product := c.product(point, proof.Evals); product != running {
		return nil, fmt.Errorf("%w: their product is %v, want %v, the last round polynomial's value", ErrFinal, product, running)
	}
	return &Result{Point: point, Evals: append([]gf2.Element(nil), proof.Evals...), Value: running}, nil
}

// product is that of all polynomials at the point.
func (c Claim) product(point, evals []gf2.Element) gf2.Element {
	product := gf2.One()
	if c.Kind == EqBits {
		product = EqEval(c.Z, point)
	}
	for _, e := range evals {
		product = product.Mul(e)
	}
	return product
}

// EqEval is eq(z, point), the multilinear polynomial of the point that is 1 at z and 0 at
// all other points of the cube where z is one: the product of 1 + z_i + point_i, which is
// what z_i point_i + (1 + z_i)(1 + point_i) is in characteristic 2. Both have the same
// length.
func EqEval(z, point []gf2.Element) gf2.Element {
	product := gf2.One()
	for i := range z {
		product = product.Mul(gf2.One().Add(z[i]).Add(point[i]))
	}
	return product
}

// Check says whether the proof has the lengths of the shape, which must be a sound one:
// nil or a *LengthError.
func (p *Proof) Check(s Shape) error {
	bad := func(what string, want, got int) error {
		return &LengthError{What: what, Want: want, Got: got, class: ErrLength}
	}
	if p == nil {
		return bad("proofs", 1, 0)
	}
	if len(p.Rounds) != s.Vars {
		return bad("rounds", s.Vars, len(p.Rounds))
	}
	for i, m := range p.Rounds {
		if len(m) != s.Points() {
			return bad(fmt.Sprintf("elements of round %d", i), s.Points(), len(m))
		}
	}
	if len(p.Evals) != s.Evals() {
		return bad("evaluations", s.Evals(), len(p.Evals))
	}
	return nil
}
