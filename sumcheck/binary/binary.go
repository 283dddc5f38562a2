// Package binary is the sum-check protocol for a product of multilinear polynomials over
// the binary tower field GF(2^128), most of which have bits as values: the statement, the
// proof and the verifier. Package sumcheck/binary/prover makes the proofs.
//
// A claim says
//
//	value = sum over x in {0,1}^n of p_1(x) p_2(x) ... p_d(x)
//
// for multilinear p_j that the verifier does not hold. Verify reduces it to one
// evaluation of each p_j at one point. The caller must go on to check those evaluations;
// the proof proves nothing otherwise.
//
// Sources: Lund, Fortnow, Karloff, Nisan, "Algebraic methods for interactive proof
// systems" (1992); the setting and the points of interpolation are those of Fan, Han, Wu,
// Arafin, "GPU Acceleration of the Sum-Check Protocol Over Towers of Binary Fields for
// Verifiable Computing", sections II.D and III. docs/binary.md is the full description.
package binary

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// Limits of a Shape. They bound what a verifier allocates.
const (
	MinVars   = 1
	MaxVars   = 40
	MinDegree = 2
	MaxDegree = 5
)

// Kind says where the values of the polynomials lie.
type Kind int

// Kinds.
const (
	// ExtBits has p_1 over GF(2^128) and bits for p_2, ..., p_d.
	ExtBits Kind = iota
	// AllExt has all polynomials over GF(2^128).
	AllExt
	// EqBits has p_1(x) = eq(z, x) for a z that the verifier knows, and bits for p_2,
	// ..., p_d.
	EqBits
)

var kindNames = [...]string{"ext-bits", "all-ext", "eq-bits"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kindNames[k]
}

// ParseKind is the kind of that name: ext-bits, all-ext or eq-bits.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("%w: kind %q, want one of %q", ErrShape, name, kindNames)
}

// Shape is the public form of a claim. It comes from a key or a statement, never from a
// proof.
type Shape struct {
	Vars   int // n: the sum runs over {0,1}^n
	Degree int // d: the number of polynomials
	Kind   Kind
}

// ErrShape is the class of errors for statements that make no sense, whatever the proof.
var ErrShape = errors.New("sumcheck/binary: bad statement")

// RangeError is a part of a statement that is out of range. It is an ErrShape.
type RangeError struct {
	What          string
	Min, Max, Got int
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%v: %s is %d, want %d to %d", ErrShape, e.What, e.Got, e.Min, e.Max)
}

// Unwrap returns ErrShape.
func (e *RangeError) Unwrap() error { return ErrShape }

// Check says what is wrong with s, nil if nothing is: a *RangeError.
func (s Shape) Check() error {
	for _, r := range []RangeError{
		{"number of variables", MinVars, MaxVars, s.Vars},
		{"degree", MinDegree, MaxDegree, s.Degree},
		{"kind", 0, len(kindNames) - 1, int(s.Kind)},
	} {
		if r.Got < r.Min || r.Got > r.Max {
			return &r
		}
	}
	return nil
}

func (s Shape) String() string { return fmt.Sprintf("%v, n = %d, d = %d", s.Kind, s.Vars, s.Degree) }

// Points is the number of elements of a round's message: the round polynomial's values at
// 0, 2, 3, ..., Degree.
func (s Shape) Points() int { return s.Degree }

// Evals is the number of evaluations at the end of a proof. eq is not among them: the
// verifier computes it.
func (s Shape) Evals() int {
	if s.Kind == EqBits {
		return s.Degree - 1
	}
	return s.Degree
}

// Ext is the number of polynomials given by a table over GF(2^128).
func (s Shape) Ext() int {
	switch s.Kind {
	case ExtBits:
		return 1
	case AllExt:
		return s.Degree
	default:
		return 0
	}
}

// Bits is the number of polynomials given by a column of bits.
func (s Shape) Bits() int {
	if s.Kind == AllExt {
		return 0
	}
	return s.Degree - 1
}

// Words is the number of 32-bit words of a column of bits.
func (s Shape) Words() int { return gf2.BitWords(s.Vars) }

// ErrorNumerator bounds the soundness error, times 2^128: every round adds the degree of
// its polynomial (Schwartz-Zippel). It does not count the checks of the evaluations.
func (s Shape) ErrorNumerator() float64 { return float64(s.Degree) * float64(s.Vars) }

// Claim is a claim as the verifier knows it.
type Claim struct {
	Shape
	Value gf2.Element
	Z     []gf2.Element // Vars long for EqBits; else nil
}

// LengthError is a list that does not have the length that the statement gives it,
// or a table or column of another length than an operation takes.
type LengthError struct {
	Op        string // the operation, empty for lists of statements and proofs
	What      string // what is counted
	Bound     string // "at least " or "at most " where Want is that
	Want, Got int
	class     error
}

func (e *LengthError) Error() string {
	if e.class == nil {
		return fmt.Sprintf("binary sum-check: %s: %d %s, want %s%d", e.Op, e.Got, e.What, e.Bound, e.Want)
	}
	return fmt.Sprintf("%v: %s: got %d, want %s%d", e.class, e.What, e.Got, e.Bound, e.Want)
}

// Unwrap returns ErrShape for a statement's list, ErrLength for a proof's, and nothing
// for what an operation was given.
func (e *LengthError) Unwrap() error { return e.class }

// Check says what is wrong with c, nil if nothing is: a *RangeError or a *LengthError.
func (c Claim) Check() error {
	if err := c.Shape.Check(); err != nil {
		return err
	}
	want := 0
	if c.Kind == EqBits {
		want = c.Vars
	}
	if len(c.Z) != want {
		return &LengthError{What: "coordinates of z", Want: want, Got: len(c.Z), class: ErrShape}
	}
	return nil
}

// Proof of a claim. Its lengths follow from the claim's shape.
type Proof struct {
	// Rounds has a message for each variable, the first variable first: the round
	// polynomial's values at 0, 2, 3, ..., Degree, elements with these numbers as bits.
	Rounds [][]gf2.Element
	// Evals are the values of p_1, ..., p_d at the end; for EqBits of p_2, ..., p_d.
	Evals []gf2.Element
}

// Result is what a claim was reduced to.
type Result struct {
	// Point is the challenges. The first is for the first variable, which is the top bit
	// of an index.
	Point []gf2.Element
	// Evals[j] is what the polynomial must evaluate to at Point: p_1, ..., p_d, for
	// EqBits p_2, ..., p_d.
	Evals []gf2.Element
	// Value is the product of all polynomials at Point, eq among them.
	Value gf2.Element
}
