// Package logup proves sums of fractions, the core of a lookup argument: given
// tables p and q of 2^n entries, that sum_x p(x)/q(x) = 0 with no q(x) zero.
// It is the statement, the proof and the verifier; package logup/prover makes
// the proofs.
//
// The fractions are added pairwise in a tree by (p0/q0) + (p1/q1) =
// (p0 q1 + p1 q0)/(q0 q1), and the tree is proved from its root to its leaves
// by one sum-check a layer (GKR). Verify ends with a claim on the extensions of
// the leaves' numerators and denominators, which the caller must check.
//
// Sources: Haboeck, ePrint 2022/1530 (logarithmic derivatives); Papini and
// Haboeck, ePrint 2023/1284 (the tree).
package logup

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/transcript"
)

// MaxVars bounds a tree's depth.
const MaxVars = sumcheck.MaxVars - 1

// The checks that Verify and DecodeProof make, besides package sumcheck's.
var (
	ErrDepth       = errors.New("logup: bad depth")
	ErrLength      = errors.New("logup: proof length")
	ErrCanonical   = errors.New("logup: word out of range")
	ErrNumerator   = errors.New("logup: root numerator is not zero")
	ErrDenominator = errors.New("logup: root denominator is zero")
)

// Proof of a tree of depth n: the root fraction and n layers. Layer k's
// sum-check runs over k variables.
type Proof struct {
	P, Q   m31.QM31
	Layers []*sumcheck.Proof
}

// Claim is what a proof reduces to: the extensions of the leaves' numerators
// and denominators have the values P and Q at Point.
type Claim struct {
	Point []m31.QM31
	P, Q  m31.QM31
}

// LayerShape is the sum-check of layer k of a tree, whose nodes are the 2^k
// sums of pairs of layer k+1. Factors are p(x,0), p(x,1), q(x,0), q(x,1); the
// terms' coefficients are 1, 1, lambda.
func LayerShape(k int) sumcheck.Shape {
	return sumcheck.Shape{Vars: k, Factors: 4, Terms: [][]int{{0, 3}, {1, 2}, {2, 3}}, Eq: true}
}

// Words is the length of an encoded proof of depth n in field words.
func Words(n int) int {
	w := 8
	for k := range n {
		w += sumcheck.Words([]sumcheck.Shape{LayerShape(k)})
	}
	return w
}

// ErrorNumerator bounds the soundness error of a tree of depth n, times |QM31|:
// each layer adds 1 for lambda, 3k for its sum-check, 1 for tau.
func ErrorNumerator(n int) float64 {
	e := 0.0
	for k := range n {
		e += 2 + sumcheck.ErrorNumerator([]sumcheck.Shape{LayerShape(k)})
	}
	return e
}

// IdentityErrorNumerator bounds, times |QM31|, the chance over alpha and beta
// that a tree's fractions sum to zero although some looked-up tuple is not in
// its table: clearing denominators leaves a nonzero polynomial of degree at
// most leaves*(width+1), where a fingerprint has degree width in beta. It needs
// fewer than 2^31-1 lookups into any one table.
func IdentityErrorNumerator(leaves float64, width int) float64 {
	return leaves * float64(width+1)
}

// Verify checks the proof of a tree of 2^n leaves. The tables p and q must be
// fixed by what tr has absorbed before; everything else is absorbed here.
func Verify(tr *transcript.Transcript, n int, proof *Proof) (*Claim, error) {
	if n < 0 || n > MaxVars {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrDepth, n, MaxVars)
	}
	if proof == nil || len(proof.Layers) != n {
		return nil, fmt.Errorf("%w: want %d layers", ErrLength, n)
	}
	root := []m31.QM31{proof.P, proof.Q}
	for _, w := range m31.Words(root) {
		if w >= m31.P {
			return nil, ErrCanonical
		}
	}
	if !proof.P.IsZero() {
		return nil, ErrNumerator
	}
	if proof.Q.IsZero() {
		return nil, ErrDenominator
	}
	tr.AbsorbExt(root)

	c := &Claim{P: proof.P, Q: proof.Q}
	for k, layer := range proof.Layers {
		lambda := tr.Challenge()
		r, err := sumcheck.Verify(tr, []sumcheck.Claim{{
			Shape:  LayerShape(k),
			Value:  c.P.Add(lambda.Mul(c.Q)),
			Point:  c.Point,
			Coeffs: []m31.QM31{m31.OneQM31(), m31.OneQM31(), lambda},
		}}, layer)
		if err != nil {
			return nil, fmt.Errorf("logup: layer %d: %w", k, err)
		}
		tau := tr.Challenge()
		e := r.Evals[0]
		c.P = e[0].Add(tau.Mul(e[1].Sub(e[0])))
		c.Q = e[2].Add(tau.Mul(e[3].Sub(e[2])))
		c.Point = append(r.Point, tau)
	}
	return c, nil
}

// AppendBinary appends the proof's words, little-endian: the root, then the
// layers from the root down.
func (p *Proof) AppendBinary(b []byte) ([]byte, error) {
	b = sumcheck.AppendWords(b, []m31.QM31{p.P, p.Q})
	for _, l := range p.Layers {
		var err error
		if b, err = l.AppendBinary(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// DecodeProof reads the proof of a tree of depth n from exactly data.
func DecodeProof(n int, data []byte) (*Proof, error) {
	if n < 0 || n > MaxVars {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrDepth, n, MaxVars)
	}
	if want := 4 * Words(n); len(data) != want {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrLength, len(data), want)
	}
	root, err := sumcheck.ReadWords(data[:32], 2)
	if err != nil {
		return nil, fmt.Errorf("logup: root: %w", err)
	}
	p := &Proof{P: root[0], Q: root[1], Layers: make([]*sumcheck.Proof, n)}
	data = data[32:]
	for k := range n {
		shapes := []sumcheck.Shape{LayerShape(k)}
		size := 4 * sumcheck.Words(shapes)
		if p.Layers[k], err = sumcheck.DecodeProof(shapes, data[:size]); err != nil {
			return nil, fmt.Errorf("logup: layer %d: %w", k, err)
		}
		data = data[size:]
	}
	return p, nil
}
