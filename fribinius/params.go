// Package fribinius commits to 2^n bits, the values of a multilinear polynomial over
// GF(2) on the cube, and opens it at a point over GF(2^128): FRI-Binius.
//
// The bits are packed, 128 of them to an element of the tower field, which costs
// nothing: packing is a matter of view. The elements are encoded by Reed and Solomon
// with the additive NTT, and a hash tree over the codeword is the commitment. An opening
// reduces the claim about the bits to one about the elements (ring switching), which a
// sum-check reduces to one evaluation; the sum-check's challenges fold the codeword
// besides (binary BaseFold), down to a short message. docs/fribinius.md has the
// protocol, the proof of its soundness with every error term, and the formats.
//
// Source: B. Diamond, J. Posen, "Polylogarithmic proofs for multilinears over binary
// towers" (ePrint 2024/504), sections 3 (ring switching) and 4 (binary BaseFold). Words
// are decoded uniquely throughout, where everything is proven.
package fribinius

import (
	"fmt"
	"math"
	"strings"

	"github.com/zkwarp/zkwarp/merkle"
)

// Packing is kappa: 2^7 bits are an element.
const Packing = 7

// Limits of parameters.
const (
	MinVars       = Packing
	MaxVars       = 34
	MaxLogInvRate = 3
	MinBits       = 100
)

// fieldBits is log2 of the size of the field that challenges are from.
const fieldBits = 128

const (
	// maxFold is how many variables a layer folds: 16 elements, 256 bytes, are a
	// leaf. More of them make leaves longer than the paths that they save.
	maxFold = 4
	// maxFinal is the largest number of variables of the message that is sent in
	// full: 64 elements, less than the openings of a layer more.
	maxFinal = 6
)

// ParamsError is a parameter out of range. Where Max is less than Min nothing is in
// range, whatever was asked for.
type ParamsError struct {
	What     string
	Min, Max int
	Got      int
}

func (e *ParamsError) Error() string {
	if e.Max < e.Min {
		return fmt.Sprintf("fribinius: %s is at most %d, want at least %d", e.What, e.Max, e.Min)
	}
	return fmt.Sprintf("fribinius: %s is %d, want %d to %d", e.What, e.Got, e.Min, e.Max)
}

// Layer is a committed word: the codeword of a message of 2^Vars elements, of which
// 2^Fold symbols, those that folding takes to one, are a leaf of its tree.
type Layer struct{ Vars, Fold int }

// Params is what prover and verifier agree on. It is made by New and does not change.
type Params struct {
	vars, rate, bits int
	layers           []Layer
	final            int
	queries          int
	report           Report
}

// Line is the soundness error of one step, in bits.
type Line struct {
	Name string
	Bits float64
	Note string
}

// Report is the soundness error of an opening: Min is the weakest line (round by
// round, what counts for the non-interactive proof up to the prover's number of
// hashes), Sum is minus log2 of the sum of all errors.
type Report struct {
	Lines    []Line
	Min, Sum float64
}

func newReport(lines []Line) Report {
	r := Report{Lines: lines, Min: math.Inf(1)}
	total := 0.0
	for _, l := range lines {
		r.Min = math.Min(r.Min, l.Bits)
		total += math.Exp2(-l.Bits)
	}
	r.Sum = -math.Log2(total)
	return r
}

func (r Report) String() string {
	var b strings.Builder
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-28s %8.2f  %s\n", l.Name, l.Bits, l.Note)
	}
	fmt.Fprintf(&b, "%-28s %8.2f\n%-28s %8.2f\n", "bits (weakest line)", r.Min, "bits-sum (all lines)", r.Sum)
	return b.String()
}

// New makes the parameters for 2^vars bits, a code of rate 2^-logInvRate, and a
// soundness error of at most 2^-bits as the sum over all steps: vars from MinVars to
// MaxVars, logInvRate from 1 to MaxLogInvRate, bits from MinBits to what challenges of
// 128 bits leave. Other parameters are a *ParamsError.
func New(vars, logInvRate, bits int) (*Params, error) {
	switch {
	case vars < MinVars || vars > MaxVars:
		return nil, &ParamsError{"the number of variables", MinVars, MaxVars, vars}
	case logInvRate < 1 || logInvRate > MaxLogInvRate:
		return nil, &ParamsError{"-log2 of the rate", 1, MaxLogInvRate, logInvRate}
	}
	p := &Params{vars: vars, rate: logInvRate, bits: bits, final: vars - Packing}
	for len(p.layers) == 0 || p.final > maxFinal {
		fold := min(maxFold, p.final)
		p.layers = append(p.layers, Layer{p.final, fold})
		p.final -= fold
	}
	// What the field leaves decides what can be reached, and queries make up the rest.
	limit := newReport(p.algebra())
	most := int(math.Ceil(limit.Sum)) - 1
	if bits < MinBits || bits > most {
		return nil, &ParamsError{fmt.Sprintf("the security level of 2^%d bits at rate 2^-%d", vars, logInvRate), MinBits, most, bits}
	}
	rest := math.Exp2(-float64(bits)) - math.Exp2(-limit.Sum)
	p.queries = int(math.Ceil(-math.Log2(rest) / p.queryBits()))
	for {
		if p.report = newReport(p.lines()); p.report.Sum >= float64(bits) {
			return p, nil
		}
		p.queries++ // where rounding was against us
	}
}

// Check says whether p is from New: those made otherwise have no layers, and are a
// *ParamsError.
func (p *Params) Check() error {
	if p == nil || len(p.layers) == 0 {
		return &ParamsError{"the number of variables (of parameters that are not New's)", MinVars, MaxVars, 0}
	}
	return nil
}

// queryBits is the error of one query: a word outside of the radius of unique
// decoding, (1-rho)/2, passes with probability (1+rho)/2.
func (p *Params) queryBits() float64 {
	return 1 - math.Log2(1+math.Exp2(-float64(p.rate)))
}

// algebra lists the errors of challenges.
func (p *Params) algebra() []Line {
	lines := []Line{{"ring switching", fieldBits - math.Log2(Packing), "128 claims combined by 7 challenges"}}
	if n := p.MessageVars(); n > 0 {
		lines = append(lines, Line{"sum-check", fieldBits - math.Log2(float64(2*n)), fmt.Sprintf("%d rounds of degree 2", n)})
	}
	for i, l := range p.layers {
		if l.Fold > 0 {
			dim := l.Vars - l.Fold + p.rate
			lines = append(lines, Line{fmt.Sprintf("layer %d: folding", i), fieldBits - float64(dim) - math.Log2(float64(l.Fold)),
				fmt.Sprintf("%d folds, words of 2^%d symbols", l.Fold, dim)})
		}
	}
	return lines
}

func (p *Params) lines() []Line {
	return append(p.algebra(), Line{"queries", float64(p.queries) * p.queryBits(),
		fmt.Sprintf("%d queries, rate 2^-%d, unique decoding", p.queries, p.rate)})
}

// Vars is the number of variables: there are 2^Vars bits.
func (p *Params) Vars() int { return p.vars }

// MessageVars is the number of variables of the packed polynomial, Vars - Packing.
func (p *Params) MessageVars() int { return p.vars - Packing }

// LogInvRate is -log2 of the code's rate.
func (p *Params) LogInvRate() int { return p.rate }

// Bits is the security level asked for.
func (p *Params) Bits() int { return p.bits }

// Queries is how many leaves of each tree are asked for, counted with repetition.
func (p *Params) Queries() int { return p.queries }

// Layers are the words that are committed to, the first one at Commit.
func (p *Params) Layers() []Layer { return append([]Layer(nil), p.layers...) }

// FinalVars is the number of variables of the message that is sent in full.
func (p *Params) FinalVars() int { return p.final }

// Report is the soundness error, step by step.
func (p *Params) Report() Report {
	r := p.report
	r.Lines = append([]Line(nil), r.Lines...)
	return r
}

func (p *Params) String() string {
	layers := fmt.Sprintf("%d layers", len(p.layers))
	if len(p.layers) == 1 {
		layers = "1 layer"
	}
	return fmt.Sprintf("FRI-Binius: 2^%d bits, rate 2^-%d, %s, %d queries, %.2f bits", p.vars, p.rate, layers, p.queries, p.report.Sum)
}

// Hash of the trees: keyed BLAKE3 over words, with a key for each length of rows and
// one for nodes.
func Hash() *merkle.Hash[merkle.Word] { return hash }

var hash = merkle.BLAKE3[merkle.Word]()

// LogLeaves is log2 of the number of leaves of a layer's tree.
func (p *Params) LogLeaves(layer int) int {
	l := p.layers[layer]
	return l.Vars - l.Fold + p.rate
}

// Tree is the shape of a layer's tree.
func (p *Params) Tree(layer int) merkle.Shape {
	return merkle.Shape{Rows: 1 << p.LogLeaves(layer), RowWords: 4 << p.layers[layer].Fold, Arity: 2}
}

// maxRows is the largest number of distinct rows that are opened in a layer's tree.
func (p *Params) maxRows(layer int) int { return min(p.queries, 1<<p.LogLeaves(layer)) }
