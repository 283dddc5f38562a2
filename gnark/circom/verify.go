package circom

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
)

// G1 is a point over the base field: x and y, both 0 for infinity.
type G1 []*big.Int

// G2 is a point over the quadratic extension: x and y, of each the coefficient of 1 and that
// of u; all 0 for infinity.
type G2 [2][]*big.Int

func g2(c []*big.Int) G2 { return G2{c[:2:2], c[2:4:4]} }

// VerifyingKey is what a proof is verified with. Points are not infinity, but for those of
// IC.
type VerifyingKey struct {
	Curve ecc.ID
	Alpha G1
	Beta  G2
	Gamma G2
	Delta G2
	// IC has a point for the constant 1 and one for each public signal.
	IC []G1
}

// Public is the values of a circuit's public signals: outputs, then public inputs.
type Public []Element

// Proof is a Groth16 proof.
type Proof struct {
	// Curve may be ecc.UNKNOWN where a file does not name it.
	Curve ecc.ID
	A     G1
	B     G2
	C     G1
}

// Verify returns nil if the proof shows that somebody knows a witness with these public
// signals. All points of key and proof are checked to be in their groups of prime order; what
// the key's points say is for the setup, with snarkjs zkey verify. Other errors are an
// ErrProof, an ErrKey, or an ErrMismatch.
//
// That e(A,B) = e(alpha,beta)·e(L,gamma)·e(C,delta), with L the sum of IC weighted by 1 and
// the public signals, is the equation of J. Groth, On the Size of Pairing-based
// Non-interactive Arguments, EUROCRYPT 2016, section 3.2.
func Verify(key *VerifyingKey, public Public, proof Proof) error {
	if key == nil {
		return fmt.Errorf("circom: %w: there is none", ErrKey)
	}
	s, err := systemOf(key.Curve)
	if err != nil {
		return fmt.Errorf("circom: %w: %w", ErrKey, err)
	}
	if proof.Curve != ecc.UNKNOWN && proof.Curve != key.Curve {
		return fmt.Errorf("circom: %w: the key is for %s, the proof for %s", ErrMismatch, key.Curve, proof.Curve)
	}
	if len(key.IC) != len(public)+1 {
		return fmt.Errorf("circom: %w: the key has %d public signals, not %d", ErrMismatch, len(key.IC)-1, len(public))
	}
	for i, v := range public {
		if !below(v[:], s.curve().rWords) {
			return fmt.Errorf("circom: %w: public signal %d is not below the field's order", ErrMismatch, i)
		}
	}
	return s.verify(key, public, &proof)
}

// pairs are the points of a verifying key.
type pairs[G, H any] struct {
	alpha              G
	beta, gamma, delta H
	ic                 []G
}

func (p *pairing[G, H, S]) one(x G1) (G, error) {
	if len(x) != 2 {
		var none G
		return none, fmt.Errorf("%d coordinates; a point has 2", len(x))
	}
	return p.g1.point(p.c, x...)
}

func (p *pairing[G, H, S]) two(x G2) (H, error) {
	if len(x[0]) != 2 || len(x[1]) != 2 {
		var none H
		return none, errors.New("a coordinate is not of two numbers")
	}
	return p.g2.point(p.c, x[0][0], x[0][1], x[1][0], x[1][1])
}

// key checks a verifying key.
func (p *pairing[G, H, S]) key(vk *VerifyingKey) (*pairs[G, H], error) {
	k := &pairs[G, H]{ic: make([]G, len(vk.IC))}
	var err error
	if k.alpha, err = p.one(vk.Alpha); err == nil {
		err = p.g1.check(&k.alpha)
	}
	if err != nil {
		return nil, fmt.Errorf("circom: %w: vk_alpha_1: %w", ErrKey, err)
	}
	for _, q := range []struct {
		name string
		from G2
		to   *H
	}{{"vk_beta_2", vk.Beta, &k.beta}, {"vk_gamma_2", vk.Gamma, &k.gamma}, {"vk_delta_2", vk.Delta, &k.delta}} {
		if *q.to, err = p.two(q.from); err == nil {
			err = p.g2.check(q.to)
		}
		if err != nil {
			return nil, fmt.Errorf("circom: %w: %s: %w", ErrKey, q.name, err)
		}
	}
	err = forEach(len(k.ic), func(i int) error {
		x, err := p.one(vk.IC[i])
		if err == nil && !p.g1.isInfinity(&x) {
			err = p.g1.check(&x)
		}
		if err != nil {
			return fmt.Errorf("circom: %w: IC[%d]: %w", ErrKey, i, err)
		}
		k.ic[i] = x
		return nil
	})
	return k, err
}

// checkKey implements system.
func (p *pairing[G, H, S]) checkKey(vk *VerifyingKey) error {
	if len(vk.IC) == 0 {
		return fmt.Errorf("circom: %w: IC is empty", ErrKey)
	}
	_, err := p.key(vk)
	return err
}

// verify implements system.
func (p *pairing[G, H, S]) verify(vk *VerifyingKey, public []Element, proof *Proof) error {
	k, err := p.key(vk)
	if err != nil {
		return err
	}
	a, err := p.one(proof.A)
	if err == nil {
		err = p.g1.check(&a)
	}
	if err != nil {
		return fmt.Errorf("circom: %w: pi_a: %w", ErrProof, err)
	}
	b, err := p.two(proof.B)
	if err == nil {
		err = p.g2.check(&b)
	}
	if err != nil {
		return fmt.Errorf("circom: %w: pi_b: %w", ErrProof, err)
	}
	c, err := p.one(proof.C)
	if err == nil && !p.g1.isInfinity(&c) {
		err = p.g1.check(&c)
	}
	if err != nil {
		return fmt.Errorf("circom: %w: pi_c: %w", ErrProof, err)
	}
	return p.equation(k, public, a, b, c)
}

// equation is Groth16's, for points of the right groups.
func (p *pairing[G, H, S]) equation(k *pairs[G, H], public []Element, a G, b H, c G) error {
	l := k.ic[0]
	if len(public) > 0 {
		sum, err := p.sum1.Host.Sum(context.Background(), k.ic[1:], p.montgomery(public))
		if err != nil {
			return fmt.Errorf("circom: public signals: %w", err)
		}
		l = p.g1.add(l, sum)
	}
	ok, err := p.holds([]G{p.g1.neg(a), k.alpha, l, c}, []H{b, k.beta, k.gamma, k.delta})
	if err != nil {
		return fmt.Errorf("circom: %w: pairing: %w", ErrProof, err)
	}
	if !ok {
		return fmt.Errorf("circom: %w: the pairing equation does not hold", ErrProof)
	}
	return nil
}

// alphaBeta implements system.
func (p *pairing[G, H, S]) alphaBeta(vk *VerifyingKey) ([]*big.Int, error) {
	k, err := p.key(vk)
	if err != nil {
		return nil, err
	}
	return p.pair(k.alpha, k.beta)
}
