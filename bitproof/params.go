package bitproof

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

// MinBits is the least sum of all errors of a proof, in bits: every statement's
// proofs have at least as many.
const MinBits = 100

// logInvRate is -log2 of the rate of the commitment's code.
const logInvRate = 2

// leastCommitted is the least number of variables of a committed table: 2^7 bits
// are one element of GF(2^128).
const leastCommitted = 7

// Params are the sizes of a statement's proofs. They follow from the statement.
type Params struct {
	statement Statement
	digest    [32]byte
	commit    *fribinius.Params
}

// NewParams checks the statement, and chooses the commitment's parameters so
// that Report has at least MinBits in sum. An error wraps ErrStatement: also where the
// columns' table would be larger than fribinius.MaxVars allows, or the AND gates' than
// sumcheck/binary's MaxVars does.
func NewParams(s *Statement) (*Params, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	p := &Params{statement: *s, digest: s.Digest()}
	p.statement.Names = append([]string(nil), s.Names...)
	p.statement.Ands = append([]And(nil), s.Ands...)
	p.statement.Zeros = append([]Combination(nil), s.Zeros...)
	vars := s.ColumnVars() + s.Vars
	// Rows may be so many with few columns and gates only.
	if vars > fribinius.MaxVars {
		return nil, fmt.Errorf("%w: %d columns of 2^%d bits are a table of 2^%d, want at most 2^%d", ErrStatement, len(s.Names), s.Vars, vars, fribinius.MaxVars)
	}
	if n := s.GateVars() + s.Vars; len(s.Ands) > 0 && n > binary.MaxVars {
		return nil, fmt.Errorf("%w: %d AND gates in 2^%d rows are a zero-check of %d variables, want at most %d", ErrStatement, len(s.Ands), s.Vars, n, binary.MaxVars)
	}
	// The errors outside of the commitment are so small that one bit makes up for them.
	for bits := MinBits; bits <= MinBits+1; bits++ {
		c, err := fribinius.New(vars, logInvRate, bits)
		if err != nil {
			return nil, fmt.Errorf("bitproof: a commitment to 2^%d bits: %w", vars, err)
		}
		p.commit = c
		if p.Report().Sum >= MinBits {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: %.2f bits of soundness, want at least %d", ErrStatement, p.Report().Sum, MinBits)
}

// Statement that the parameters are for; it must not be changed.
func (p *Params) Statement() *Statement { return &p.statement }

// Digest of the statement.
func (p *Params) Digest() [32]byte { return p.digest }

// Commitment is the parameters of the commitment to all columns.
func (p *Params) Commitment() *fribinius.Params { return p.commit }

// gateShape is that of the zero-check of the AND gates: sum over the gates g and
// rows x of eq(z, (g, x)) a(g, x) b(g, x).
func (p *Params) gateShape() binary.Shape {
	s := &p.statement
	return binary.Shape{Vars: s.GateVars() + s.Vars, Degree: 3, Kind: binary.EqBits}
}

// joinShape is that of the sum-check that brings two points together: sum over the
// rows x of w(x) t(rho, x).
func (p *Params) joinShape() binary.Shape {
	return binary.Shape{Vars: p.statement.Vars, Degree: 2, Kind: binary.AllExt}
}

// GateShape and JoinShape are the sum-checks of a proof; there are none without
// AND gates.
func (p *Params) GateShape() (binary.Shape, bool) { return p.gateShape(), p.hasAnds() }

// JoinShape is described with GateShape.
func (p *Params) JoinShape() (binary.Shape, bool) { return p.joinShape(), p.hasAnds() }

func (p *Params) hasAnds() bool { return len(p.statement.Ands) > 0 }

// Report is the soundness budget of a proof: the error of every step, in protocol
// order, in bits. Min is the weakest step, which bounds round-by-round soundness;
// Sum is -log2 of the sum of all errors.
type Report struct {
	Lines    []Line
	Min, Sum float64
}

// Line is the soundness error of one step.
type Line struct {
	Name string
	Bits float64
	Note string
}

// Report lists every error term; docs/bitproof.md derives them.
func (p *Params) Report() Report {
	const field = 128
	s := &p.statement
	var r Report
	add := func(numerator int, name, note string) {
		r.Lines = append(r.Lines, Line{name, field - math.Log2(float64(numerator)), note})
	}
	n, g := s.Vars, s.GateVars()
	add(n+g, "gates: zero-check", fmt.Sprintf("%d rows and gates' variables", n+g))
	if p.hasAnds() {
		add(3*(n+g), "gates: sum-check", fmt.Sprintf("%d rounds of degree 3", n+g))
	}
	if l := s.ColumnVars(); l > 0 {
		add(l, "columns: batching", fmt.Sprintf("%d columns", len(s.Names)))
	}
	if p.hasAnds() {
		add(1, "points: batching", "2 points")
		add(2*n, "points: sum-check", fmt.Sprintf("%d rounds of degree 2", n))
	}
	for _, l := range p.commit.Report().Lines {
		r.Lines = append(r.Lines, Line{"opening: " + l.Name, l.Bits, l.Note})
	}
	r.Min = math.Inf(1)
	var total float64
	for _, l := range r.Lines {
		r.Min = min(r.Min, l.Bits)
		total += math.Exp2(-l.Bits)
	}
	r.Sum = -math.Log2(total)
	return r
}
