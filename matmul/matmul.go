// Package matmul reduces claims about products of matrices to claims about
// their factors: the statement, the proof and the verifier. Package
// matmul/prover makes the proofs.
//
// For C = A*B with A of m x k and B of k x n entries, a claim says that the
// extension of C has some value at a point (ri, rj). Since C~(ri, rj) =
// sum_x A~(ri, x) B~(x, rj) over x in {0,1}^log k, one sum-check over log k
// variables leaves one value of A~ and one of B~. Many claims, about matrices of
// any shapes, share one batch of sum-checks and its challenges.
//
// Axes are padded to powers of two by zeros that nobody stores: a product of
// padded matrices is the padded product.
//
// Sources: Thaler, "Time-optimal interactive proofs for circuit evaluation"
// (CRYPTO 2013), section 5.
package matmul

import (
	"errors"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/transcript"
)

// MaxSide bounds each of a Shape's three sizes.
const MaxSide = 1 << 30

// ErrShape is the class of errors for statements that make no sense, whatever
// the proof.
var ErrShape = errors.New("matmul: bad statement")

// Shape of a product: A is M x K, B is K x N. It comes from a key, never from a
// proof.
type Shape struct{ M, K, N int }

// Check says what is wrong with s, nil if nothing is.
func (s Shape) Check() error {
	for _, side := range [...]int{s.M, s.K, s.N} {
		if side < 1 || side > MaxSide {
			return fmt.Errorf("%w: %d x %d by %d x %d, want sides of 1 to %d", ErrShape, s.M, s.K, s.K, s.N, MaxSide)
		}
	}
	return nil
}

// Sumcheck is the shape of the claim's sum-check.
func (s Shape) Sumcheck() sumcheck.Shape { return sumcheck.Product(mle.Log(s.K), 2) }

// batch is the shapes of the sum-checks of a batch.
func batch(shapes []Shape) ([]sumcheck.Shape, error) {
	if len(shapes) == 0 {
		return nil, fmt.Errorf("%w: no claims", ErrShape)
	}
	out := make([]sumcheck.Shape, len(shapes))
	for i, s := range shapes {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("claim %d: %w", i, err)
		}
		out[i] = s.Sumcheck()
	}
	return out, nil
}

// Claim is one claim: the extension of an M x N product has Value at the point
// whose first coordinates, Row, are the row's and whose last, Col, the column's.
type Claim struct {
	Shape
	Row   []m31.QM31 // log M coordinates
	Col   []m31.QM31 // log N coordinates
	Value m31.QM31
}

// Check says what is wrong with c, nil if nothing is.
func (c Claim) Check() error {
	if err := c.Shape.Check(); err != nil {
		return err
	}
	if m, n := mle.Log(c.M), mle.Log(c.N); len(c.Row) != m || len(c.Col) != n {
		return fmt.Errorf("%w: point of %d and %d coordinates for a product of %d x %d, want %d and %d", ErrShape, len(c.Row), len(c.Col), c.M, c.N, m, n)
	}
	return nil
}

// Evaluation says that the extension of a matrix has Value at Point, whose first
// coordinates are the row's.
type Evaluation struct {
	Point []m31.QM31
	Value m31.QM31
}

// Reduced is what a claim was reduced to.
type Reduced struct{ A, B Evaluation }

// Proof of a batch of claims. Its lengths follow from their shapes.
type Proof struct{ Batch *sumcheck.Proof }

// Shapes of the claims.
func Shapes(claims []Claim) []Shape {
	s := make([]Shape, len(claims))
	for i, c := range claims {
		s[i] = c.Shape
	}
	return s
}

// Verify reduces claims to evaluations of their factors, in the claims' order.
// Shapes come from the key; points and values must be determined by what tr has
// absorbed or drawn before the call (Verify absorbs the values once more, as
// the sum-check does, but not the points). Both factors must be fixed as well
// before the first challenge that Verify draws.
//
// The evaluations prove nothing until the caller has checked each of them. If
// they are true then so are the claims, up to ErrorNumerator/|QM31|. Errors are
// ErrShape, and those of package sumcheck for the check that failed.
func Verify(tr *transcript.Transcript, claims []Claim, proof *Proof) ([]Reduced, error) {
	shapes, err := batch(Shapes(claims))
	if err != nil {
		return nil, err
	}
	sums := make([]sumcheck.Claim, len(claims))
	for i, c := range claims {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("claim %d: %w", i, err)
		}
		sums[i] = sumcheck.Claim{Shape: shapes[i], Value: c.Value}
	}
	if proof == nil {
		return nil, fmt.Errorf("matmul: %w: no proof", sumcheck.ErrLength)
	}
	res, err := sumcheck.Verify(tr, sums, proof.Batch)
	if err != nil {
		return nil, fmt.Errorf("matmul: %w", err)
	}
	return Reduce(claims, res), nil
}

// Reduce arranges the result of the claims' batch of sum-checks, in their order.
func Reduce(claims []Claim, res *sumcheck.Result) []Reduced {
	out := make([]Reduced, len(claims))
	for i, c := range claims {
		r := res.PointOf(mle.Log(c.K))
		out[i] = Reduced{
			A: Evaluation{Point: join(c.Row, r), Value: res.Evals[i][0]},
			B: Evaluation{Point: join(r, c.Col), Value: res.Evals[i][1]},
		}
	}
	return out
}

func join(a, b []m31.QM31) []m31.QM31 {
	return append(append(make([]m31.QM31, 0, len(a)+len(b)), a...), b...)
}

// ErrorNumerator bounds the soundness error of a batch, times |QM31|: that of
// its sum-checks. It does not count the checks of the evaluations. There is no
// bound, +Inf, for shapes that Verify refuses.
func ErrorNumerator(shapes []Shape) float64 {
	s, err := batch(shapes)
	if err != nil {
		return math.Inf(1)
	}
	return sumcheck.ErrorNumerator(s)
}

// AppendBinary appends the proof's words, little-endian, as package sumcheck
// encodes them.
func (p *Proof) AppendBinary(b []byte) ([]byte, error) {
	if p == nil || p.Batch == nil {
		return b, fmt.Errorf("matmul: %w: no proof", sumcheck.ErrLength)
	}
	return p.Batch.AppendBinary(b)
}

// DecodeProof reads the proof of a batch of the given shapes from exactly data.
func DecodeProof(shapes []Shape, data []byte) (*Proof, error) {
	s, err := batch(shapes)
	if err != nil {
		return nil, err
	}
	p, err := sumcheck.DecodeProof(s, data)
	if err != nil {
		return nil, fmt.Errorf("matmul: %w", err)
	}
	return &Proof{Batch: p}, nil
}
