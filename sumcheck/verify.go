package sumcheck

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
)

// The checks that Verify and DecodeProof make.
var (
	ErrLength    = errors.New("sumcheck: proof length")
	ErrCanonical = errors.New("sumcheck: word out of range")
	ErrFinal     = errors.New("sumcheck: final evaluations")
)

// Proof of a batch. Its lengths follow from the batch's shapes.
type Proof struct {
	// Rounds are the round messages one after the other: the combined round
	// polynomial's values at 0, 2, 3, ..., Degree.
	Rounds []m31.QM31
	// Evals are the factors' values at the end of the point, claim by claim.
	Evals []m31.QM31
}

// Result is what a batch was reduced to.
type Result struct {
	// Point is the batch's challenges, one a round. A claim over n variables
	// binds the last n of them.
	Point []m31.QM31
	// Evals[j][k] is what factor k of claim j must evaluate to at PointOf(j).
	Evals [][]m31.QM31
}

// PointOf is the part of the point that a claim over vars variables binds.
func (r *Result) PointOf(vars int) []m31.QM31 { return r.Point[len(r.Point)-vars:] }

// NewResult arranges flat evaluations by the claims' factors.
func NewResult(shapes []Shape, point, evals []m31.QM31) *Result {
	r := &Result{Point: point, Evals: make([][]m31.QM31, len(shapes))}
	for j, s := range shapes {
		r.Evals[j], evals = evals[:s.Factors:s.Factors], evals[s.Factors:]
	}
	return r
}

// Verify reduces the claims to evaluations of their factors. Shapes, eq points
// and coefficients must be fixed by what tr has absorbed or drawn before; the
// claimed values, the round messages and the final evaluations are absorbed
// here. A nil error means: if the returned evaluations are the factors' true
// ones then, up to ErrorNumerator/|QM31|, all claims are true.
func Verify(tr *transcript.Transcript, claims []Claim, proof *Proof) (*Result, error) {
	if len(claims) == 0 {
		return nil, fmt.Errorf("%w: no claims", ErrShape)
	}
	for j, c := range claims {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("claim %d: %w", j, err)
		}
	}
	shapes := Shapes(claims)
	n, d := Rounds(shapes), Degree(shapes)
	if err := proof.check(shapes); err != nil {
		return nil, err
	}

	values := make([]m31.QM31, len(claims))
	for j, c := range claims {
		values[j] = c.Value
	}
	tr.AbsorbExt(values)
	gamma := tr.Challenge()
	running := combine(claims, gamma, n)

	point := make([]m31.QM31, n)
	at := make([]m31.QM31, d+1)
	for i := range point {
		message := proof.Rounds[i*d : (i+1)*d]
		tr.AbsorbExt(message)
		point[i] = tr.Challenge()
		at[0], at[1] = message[0], running.Sub(message[0])
		copy(at[2:], message[1:])
		running = Interpolate(at, point[i])
	}

	tr.AbsorbExt(proof.Evals)
	r := NewResult(shapes, point, proof.Evals)
	if final(claims, gamma, r) != running {
		return nil, ErrFinal
	}
	return r, nil
}

// combine is sum_j gamma^j 2^(n-n_j) v_j: a claim over n_j variables counts as
// one over n variables that does not depend on the first n-n_j.
func combine(claims []Claim, gamma m31.QM31, n int) (sum m31.QM31) {
	weight := m31.OneQM31()
	for _, c := range claims {
		v := c.Value.Mul(weight)
		for range n - c.Vars {
			v = v.Double()
		}
		sum = sum.Add(v)
		weight = weight.Mul(gamma)
	}
	return sum
}

// final is the combined summand at the point, from the proof's evaluations.
func final(claims []Claim, gamma m31.QM31, r *Result) (sum m31.QM31) {
	weight := m31.OneQM31()
	for j, c := range claims {
		v := c.Inner(r.Evals[j])
		if c.Eq {
			v = v.Mul(mle.EqEval(c.Point, r.PointOf(c.Vars)))
		}
		sum = sum.Add(v.Mul(weight))
		weight = weight.Mul(gamma)
	}
	return sum
}

// Interpolate is p(r) for the polynomial p of degree at most len(at)-1 <= 9
// with p(i) = at[i]. It overwrites at.
func Interpolate(at []m31.QM31, r m31.QM31) m31.QM31 {
	// Newton's forward differences: p(r) = sum_k (Delta^k p)(0) binomial(r, k).
	sum, binomial := at[0], m31.OneQM31()
	for k := 1; k < len(at); k++ {
		for i := range len(at) - k {
			at[i] = at[i+1].Sub(at[i])
		}
		binomial = binomial.Mul(r.Sub(m31.Lift(m31.Element(k - 1)))).MulBase(inverses[k])
		sum = sum.Add(at[0].Mul(binomial))
	}
	return sum
}

// inverses of 1..9 mod p (entry 0 is unused).
var inverses = [MaxExprDegree + 2]m31.Element{0, 1, 1 << 30, 1431655765, 1 << 29, 858993459, 1789569706, 1840700269, 1 << 28, 1908874353}

func (p *Proof) check(shapes []Shape) error {
	if p == nil {
		return fmt.Errorf("%w: no proof", ErrLength)
	}
	if want := Rounds(shapes) * Degree(shapes); len(p.Rounds) != want {
		return fmt.Errorf("%w: %d elements of round messages, want %d", ErrLength, len(p.Rounds), want)
	}
	if want := Evaluations(shapes); len(p.Evals) != want {
		return fmt.Errorf("%w: %d evaluations, want %d", ErrLength, len(p.Evals), want)
	}
	for _, list := range [][]m31.QM31{p.Rounds, p.Evals} {
		for i, w := range m31.Words(list) {
			if w >= m31.P {
				return fmt.Errorf("%w: word %d", ErrCanonical, i)
			}
		}
	}
	return nil
}
