package whir

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field"
)

// Weight is a linear form on tables that the verifier can evaluate: a table w
// of 2^Vars challenges, given by its multilinear extension.
type Weight[E any] interface {
	// Vars is the number of variables.
	Vars() int
	// Words are what the transcript absorbs in place of the weight: its kind
	// and all that determines it, as words below the base field's modulus.
	Words() []uint32
	// Eval evaluates the multilinear extension at a point of Vars coordinates.
	Eval(point []E) E
}

// Kinds of weights, the first of their Words. Those of callers' own weights
// start at KindUser.
const (
	KindEq   = 1
	KindSel  = 2
	KindPart = 3
	KindUser = 16
)

// Eq is the weight of an evaluation claim f(Point) = v.
type Eq[E field.Element[E]] struct{ Point []E }

// Vars is the number of coordinates.
func (w Eq[E]) Vars() int { return len(w.Point) }

// Words are KindEq and the coordinates.
func (w Eq[E]) Words() []uint32 { return appendPoint([]uint32{KindEq}, w.Point) }

// Eval returns prod_j a_j r_j + (1-a_j)(1-r_j).
func (w Eq[E]) Eval(r []E) E {
	var zero E
	v, one := zero.One(), zero.One()
	for j, a := range w.Point {
		t := a.Mul(r[j])
		v = v.Mul(t.Double().Add(one).Sub(a).Sub(r[j]))
	}
	return v
}

// Sel is the weight of a claim about the univariate polynomial whose
// coefficients are f's table: with Point = Powers(x, m) the claim is
// sum_b f[b] x^b = v.
type Sel[E field.Element[E]] struct{ Point []E }

// Vars is the number of coordinates.
func (w Sel[E]) Vars() int { return len(w.Point) }

// Words are KindSel and the coordinates.
func (w Sel[E]) Words() []uint32 { return appendPoint([]uint32{KindSel}, w.Point) }

// Eval returns prod_j 1 - r_j + r_j a_j.
func (w Sel[E]) Eval(r []E) E {
	var zero E
	v, one := zero.One(), zero.One()
	for j, a := range w.Point {
		v = v.Mul(one.Add(r[j].Mul(a.Sub(one))))
	}
	return v
}

// Powers is the point (x^(2^(m-1)), ..., x^2, x).
func Powers[E field.Element[E]](x E, m int) []E {
	out := make([]E, m)
	for j := m - 1; j >= 0; j-- {
		out[j] = x
		x = x.Square()
	}
	return out
}

func appendPoint[E field.Element[E]](w []uint32, point []E) []uint32 {
	for _, a := range point {
		w = a.AppendWords(w)
	}
	return w
}

// Claim says that a committed table f satisfies sum_b Weight[b] f[b] = Value.
type Claim[E any] struct {
	Weight Weight[E]
	Value  E
}

// BatchClaim says that all committed tables f_a satisfy
// sum_b Weight[b] f_a[b] = Values[a].
type BatchClaim[E any] struct {
	Weight Weight[E]
	Values []E
}

// Statement is a list of claims together with the words by which a transcript
// absorbs them.
type Statement[W field.Base[W], E any] struct {
	words  []W
	claims []BatchClaim[E]
	worst  uint32 // the largest of the words before they became elements
}

// NewStatement is the statement of claims about one table.
func NewStatement[W field.Base[W], E field.Element[E]](claims []Claim[E]) Statement[W, E] {
	batch := make([]BatchClaim[E], len(claims))
	for i, c := range claims {
		batch[i] = BatchClaim[E]{c.Weight, []E{c.Value}}
	}
	return NewBatchStatement[W](batch)
}

// NewBatchStatement is the statement of claims about a batch of tables.
func NewBatchStatement[W field.Base[W], E field.Element[E]](claims []BatchClaim[E]) Statement[W, E] {
	s := Statement[W, E]{claims: append([]BatchClaim[E](nil), claims...)}
	s.add(uint32(len(claims)))
	for _, c := range claims {
		w := slices.Clone(c.Weight.Words())
		s.add(uint32(len(w)))
		for _, v := range c.Values {
			w = v.AppendWords(w)
		}
		s.add(w...)
	}
	return s
}

// add appends to the words of the statement.
func (s *Statement[W, E]) add(words ...uint32) {
	var zero W
	for _, w := range words {
		s.worst = max(s.worst, w)
		s.words = append(s.words, zero.FromUint64(uint64(w)))
	}
}

// FreshPower is the power of gamma that is the coefficient of the first claim
// that a round after round 0 adds to the carried claim; the next ones follow with
// a factor of gamma each. The carried claim has coefficient 1, so that this must
// not be the 0th power: a wrong answer could cancel a wrong carried claim,
// whatever gamma is.
const FreshPower = 1

// Words is the list that transcripts absorb for the statement.
func (s Statement[W, E]) Words() []W { return s.words }

// Claims of the statement.
func (s Statement[W, E]) Claims() []BatchClaim[E] { return s.claims }

// Check fails if the claims are too many for p, of a wrong number of variables
// or values, or not in canonical words.
func (s Statement[W, E]) Check(p *Params) error {
	if len(s.claims) > p.c.Claims {
		return fmt.Errorf("%d claims, parameters allow %d", len(s.claims), p.c.Claims)
	}
	if uint64(s.worst) >= p.c.Spec.Modulus {
		return fmt.Errorf("word %#x is not canonical", s.worst)
	}
	for i, c := range s.claims {
		if n := c.Weight.Vars(); n != p.c.Vars {
			return fmt.Errorf("claim %d has %d variables, want %d", i, n, p.c.Vars)
		}
		if n := len(c.Values); n != p.c.Batch {
			return fmt.Errorf("claim %d has %d values, want %d", i, n, p.c.Batch)
		}
	}
	return nil
}
