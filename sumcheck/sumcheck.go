// Package sumcheck is the sum-check protocol for a batch of sums of products
// of multilinear polynomials under shared challenges: the statement, the proof
// and the verifier. Package sumcheck/prover makes the proofs.
//
// One claim of a batch says
//
//	value = sum over x in {0,1}^n of [eq(z, x)] * sum_t coeff_t prod_{k in t} f_k(x)
//
// for multilinear f_k that the verifier does not hold. Verify reduces all
// claims to one evaluation of each f_k at the end of one shared point. The
// caller must go on to check those evaluations; the batch proves nothing
// otherwise.
//
// Sources: Lund, Fortnow, Karloff, Nisan, "Algebraic methods for interactive
// proof systems" (1992); the batching of unequal sizes as in Gruen, ePrint
// 2024/108, section 4.
package sumcheck

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Limits of a Shape. They bound what a verifier allocates; keys that exceed
// them are invalid.
const (
	MaxVars    = 40
	MaxFactors = 64
	MaxTerms   = 64
	MaxDegree  = 3 // factors in a term, without eq
)

// Shape is the public form of one claim. It comes from a key, never from a
// proof.
type Shape struct {
	Vars    int     // n: the sum runs over {0,1}^n
	Factors int     // number of multilinear f_k
	Terms   [][]int // each term is a product of these factors; nil is one term, all factors
	Eq      bool    // the summand is multiplied by eq(z, x)

	// Expr, if not nil, is the summand instead of Terms; see Expr.Shape.
	Expr *Expr
}

// Product is the shape of the sum of the product of k multilinear factors.
func Product(vars, k int) Shape { return Shape{Vars: vars, Factors: k} }

// EqProduct is Product times eq(z, x).
func EqProduct(vars, k int) Shape { return Shape{Vars: vars, Factors: k, Eq: true} }

// ErrShape is the class of errors for statements that make no sense, whatever
// the proof.
var ErrShape = errors.New("sumcheck: bad statement")

// Check says what is wrong with s, nil if nothing is.
func (s Shape) Check() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: %s", ErrShape, fmt.Sprintf(format, a...))
	}
	if s.Vars < 0 || s.Vars > MaxVars {
		return bad("%d variables, at most %d", s.Vars, MaxVars)
	}
	if s.Factors < 1 || s.Factors > MaxFactors {
		return bad("%d factors, want 1 to %d", s.Factors, MaxFactors)
	}
	if s.Expr != nil {
		if s.Factors != len(s.Expr.columns) || s.Eq != s.Expr.eq || s.Terms != nil {
			return bad("%d factors, %d terms and eq %t where the expression %v has %d columns, eq %t and no terms",
				s.Factors, len(s.Terms), s.Eq, s.Expr, len(s.Expr.columns), s.Expr.eq)
		}
		return nil
	}
	if s.Terms == nil {
		if s.Factors > MaxDegree {
			return bad("product of %d factors, at most %d", s.Factors, MaxDegree)
		}
		return nil
	}
	if len(s.Terms) == 0 || len(s.Terms) > MaxTerms {
		return bad("%d terms, want 1 to %d", len(s.Terms), MaxTerms)
	}
	used := make([]bool, s.Factors)
	for i, t := range s.Terms {
		if len(t) < 1 || len(t) > MaxDegree {
			return bad("term %d has %d factors, want 1 to %d", i, len(t), MaxDegree)
		}
		for _, k := range t {
			if k < 0 || k >= s.Factors {
				return bad("term %d names factor %d of %d", i, k, s.Factors)
			}
			used[k] = true
		}
	}
	for k, u := range used {
		if !u { // its evaluation would be free
			return bad("no term uses factor %d", k)
		}
	}
	return nil
}

// NumTerms is the number of terms; an expression counts as one.
func (s Shape) NumTerms() int { return max(1, len(s.Terms)) }

// NumCoeffs is the number of a claim's coefficients: one a term, or one a scalar
// of the expression. Only those of terms may be left out.
func (s Shape) NumCoeffs() int {
	if s.Expr != nil {
		return len(s.Expr.scalars)
	}
	return s.NumTerms()
}

// Term lists the factors of term i.
func (s Shape) Term(i int) []int {
	if s.Terms != nil {
		return s.Terms[i]
	}
	all := make([]int, s.Factors)
	for k := range all {
		all[k] = k
	}
	return all
}

// InnerDegree is the degree of the round polynomials without eq's share.
func (s Shape) InnerDegree() int {
	if s.Expr != nil {
		return s.Expr.degree
	}
	if s.Terms == nil {
		return s.Factors
	}
	d := 0
	for _, t := range s.Terms {
		d = max(d, len(t))
	}
	return d
}

// Degree of the round polynomials.
func (s Shape) Degree() int {
	if s.Eq {
		return s.InnerDegree() + 1
	}
	return s.InnerDegree()
}

// Rounds is the number of rounds of a batch: the most variables of any shape.
func Rounds(shapes []Shape) int {
	n := 0
	for _, s := range shapes {
		n = max(n, s.Vars)
	}
	return n
}

// Degree is the degree of a batch's round polynomials, and so the number of
// field elements in a round's message.
func Degree(shapes []Shape) int {
	d := 0
	for _, s := range shapes {
		d = max(d, s.Degree())
	}
	return d
}

// Evaluations is the number of final evaluations of a batch: one a factor.
func Evaluations(shapes []Shape) int {
	n := 0
	for _, s := range shapes {
		n += s.Factors
	}
	return n
}

// Words is the length of a batch's encoded proof in field words.
func Words(shapes []Shape) int {
	return 4 * (Rounds(shapes)*Degree(shapes) + Evaluations(shapes))
}

// ErrorNumerator bounds the soundness error of a batch, times |QM31|: the
// batching coefficients gamma^j are a polynomial of degree L-1 in gamma, and
// every round adds its degree. It counts this batch only, not the checks of
// the final evaluations.
func ErrorNumerator(shapes []Shape) float64 {
	return float64(max(0, len(shapes)-1) + Rounds(shapes)*Degree(shapes))
}

// Claim is one claim of a batch, as the verifier knows it.
type Claim struct {
	Shape
	Value  m31.QM31
	Point  []m31.QM31 // z, Vars long, if Eq; else nil
	Coeffs []m31.QM31 // one a term, nil: all 1; or the scalars of Expr
}

// Check says what is wrong with c, nil if nothing is.
func (c Claim) Check() error {
	if err := c.Shape.Check(); err != nil {
		return err
	}
	want := 0
	if c.Eq {
		want = c.Vars
	}
	if len(c.Point) != want {
		return fmt.Errorf("%w: eq point of %d coordinates, want %d", ErrShape, len(c.Point), want)
	}
	if n, want := len(c.Coeffs), c.NumCoeffs(); n != want && (c.Coeffs != nil || c.Expr != nil) {
		return fmt.Errorf("%w: %d coefficients, want %d", ErrShape, n, want)
	}
	return nil
}

// Inner is the summand without eq: the expression at evals, or sum_t coeff_t
// prod_{k in t} evals[k].
func (c Claim) Inner(evals []m31.QM31) m31.QM31 {
	if c.Expr != nil {
		return c.Expr.eval(evals, c.Coeffs)
	}
	var s m31.QM31
	for i := range c.NumTerms() {
		t := c.Term(i)
		v := evals[t[0]]
		for _, k := range t[1:] {
			v = v.Mul(evals[k])
		}
		if c.Coeffs != nil {
			v = v.Mul(c.Coeffs[i])
		}
		s = s.Add(v)
	}
	return s
}

// Shapes of the claims.
func Shapes(claims []Claim) []Shape {
	s := make([]Shape, len(claims))
	for i, c := range claims {
		s[i] = c.Shape
	}
	return s
}
