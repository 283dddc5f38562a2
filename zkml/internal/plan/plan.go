// Package plan turns a program into the list of what a proof about it says:
// which polynomials are committed and where they lie in their stacks, which
// leaves the fractional-sum tree has, which evaluations the prover sends and
// in which order, and which sum-checks reduce them to the commitments.
//
// A plan is a function of the verifying key alone. Prover and verifier walk
// the same plan, so neither the number nor the order nor the meaning of
// anything in a proof is ever read from the proof.
package plan

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Home says how a polynomial is bound.
type Home uint8

// Homes. Those below Public are commitments, each the number of its stack. From
// FirstCommitted on there is one for each tensor of the statement that is
// committed.
const (
	Parameters     Home = iota // committed once, in the key
	Witness                    // committed before the lookup challenges
	Multiplicities             // committed after the witness, before the challenges
	FirstCommitted             // part of the statement
	Public         Home = 254  // known to the verifier: the program's inputs
	Virtual        Home = 255  // determined by others; never committed
)

// MaxCommitted is the most tensors of a statement that are committed.
const MaxCommitted = 64

func (h Home) String() string {
	switch {
	case h < FirstCommitted:
		return [...]string{"parameters", "witness", "multiplicities"}[h]
	case h == Public:
		return "public"
	case h == Virtual:
		return "virtual"
	}
	return fmt.Sprintf("committed tensor %d", h-FirstCommitted)
}

// Poly is one multilinear polynomial: a tensor whose axes are padded to powers
// of two, or a column of multiplicities.
type Poly struct {
	Name   string
	Home   Home
	Shape  []int // real extents
	Axes   []int // variables of each axis, first axis first
	Vars   int   // sum of Axes
	Offset int   // of its block in the stack of its home, if that is a commitment
	// Implied says that the polynomial is never in memory: all its evaluations
	// arise as those of factors that a prover makes of something else.
	Implied bool
}

// Point is the place where a polynomial is evaluated: one challenge
// coordinate, by number, for each variable.
type Point []int32

// Eval is one evaluation. A plan holds each pair of polynomial and point once;
// everything that needs the value refers to the same Eval.
type Eval struct {
	Poly  int
	Point Point
}

// Term is Coef times a polynomial or an evaluation, as the context says.
type Term struct {
	Coef m31.Element
	Of   int
}

// Affine is Const plus a sum of terms over polynomials of equal shape, plus a
// multiple of the index along one axis.
type Affine struct {
	Const m31.Element
	Terms []Term
	Index AxisIndex
}

// AxisIndex is Coef times a part of a block's index: for entry i
// Coef * (i >> Shift & (2^Vars - 1)). Without Vars it is 0.
type AxisIndex struct {
	Coef        m31.Element
	Shift, Vars int
}

// MaxColumns is the most columns of a table.
const MaxColumns = 4

// Column is one column of a table. Row j has First + (j >> Shift & (2^Vars - 1)),
// or if there is a Table, what that has in row j: the value, or the Part of a
// table of steps. A plan has no entries of its own.
type Column struct {
	First       int64
	Shift, Vars int
	Table       *graph.Table
	Part        graph.StepPart
}

// Read writes the entries from row `at` on to out. The column must have a Table.
func (c *Column) Read(out []int32, at int) {
	if c.Table.Kind == graph.Steps {
		c.Table.ReadSteps(c.Part, out, at)
		return
	}
	c.Table.Read(out, at)
}

// Write writes the entries from row `at` on to out as field elements.
func (c *Column) Write(out []m31.Element, at int) {
	if c.Table == nil {
		for i := range out {
			out[i] = m31.FromInt(c.First + int64((at+i)>>c.Shift&(1<<c.Vars-1)))
		}
		return
	}
	var block [512]int32
	for len(out) > 0 {
		part := block[:min(len(out), len(block))]
		c.Read(part, at)
		for i, v := range part {
			out[i] = m31.FromInt(int64(v))
		}
		out, at = out[len(part):], at+len(part)
	}
}

// RowPart is what one column of a tuple says about the row that holds it:
// (c - First) << Shift, where c - First is below 2^Vars.
type RowPart struct {
	Column      int
	First       int64
	Vars, Shift int
}

// Table is the public table that some leaves are looked up in.
type Table struct {
	Name    string
	Tag     uint32 // distinct within a plan, never 0
	Bits    int    // 2^Bits rows
	Columns []Column
	Row     []RowPart // the parts add up to the number of a tuple's row
	Mult    int       // the polynomial of its multiplicities
}

// Leaves is an aligned block of 2^Vars leaves of the fractional-sum tree:
// either lookups of tuples C in a table, each with numerator 1, or the rows of
// the table itself with numerator minus its multiplicity.
type Leaves struct {
	Table  int
	Rows   bool     // the table's own rows
	C      []Affine // one a column
	Vars   int
	Offset int
	// What the block is at the leaf point: C over evaluations, or the
	// evaluation of the multiplicities.
	At     []Affine
	AtMult int
}

// Relation says that evaluation Out is Const plus the sum of Terms over
// evaluations. If Choice is set it says instead that Out is 1 - x - c + 2 c x,
// x the evaluation of the only term and c coordinate By: 1 - x for c = 0, x for
// c = 1.
type Relation struct {
	Name   string
	Out    int
	Const  m31.Element
	Terms  []Term
	Choice bool
	By     int32
}

// InstanceKind says what a sum-check is about.
type InstanceKind uint8

// Kinds of sum-check. All are products of up to three multilinear factors.
const (
	// Contract: out~(r) = sum_z P(z) a~(...) b~(...), an Einsum.
	Contract InstanceKind = iota
	// Rearrange: out~(r) = sum_z P(z) x~(...), P a public 0/1 matrix bound to r.
	Rearrange
	// Embedding: out~(r) = sum_z P(z) w~(z, ...), P counts the tokens that are z.
	Embedding
	// Output: y~(r) = sum_z eq(r, z) valid(z) out~(z), y a public output or a
	// committed one.
	Output
	// ZeroPadding: 0 = sum_z eq(r, z) (1 - valid(z)) w~(z).
	ZeroPadding
)

// Instance is one sum-check of a batch. Its factors are, in order, the public
// one if there is one, then those of Factors.
type Instance struct {
	Kind InstanceKind
	Name string
	Vars int
	// Out is the claimed evaluation; -1 for ZeroPadding and for an Output that is
	// public.
	Out int
	// OutPoly is the output that is bound (Output).
	OutPoly int
	// Eq says that the sum-check has an eq, with the point At. At is the point
	// of Output too.
	Eq bool
	At Point
	// Public is the public factor, a product over groups of the variables; nil
	// if there is none, or if it is that of ZeroPadding.
	Public []Axis
	// Secret says that only the prover knows what Public is made of. The first of
	// Factors is its evaluation, as one of an implied polynomial.
	Secret bool
	// Factors are one or two evaluations that result.
	Factors []int
}

// Layer is one step of the reduction: evaluations that the prover sends,
// linear relations that they satisfy, then one batch of sum-checks under
// shared challenges.
type Layer struct {
	Sent      []int
	Relations []Relation
	First     int // coordinate of the batch's first challenge
	Rounds    int
	Instances []Instance
}

// Stack is one commitment: blocks of power-of-two size, large first, ties in
// the order of Polys, each at an offset that is a multiple of its size; zero
// beyond.
type Stack struct {
	Home  Home
	Vars  int
	Polys []int // block order
	Evals []int // the claims that the opening must settle, in plan order
}

// Empty says that nothing is committed.
func (s *Stack) Empty() bool { return len(s.Polys) == 0 }

// Plan of a proof.
type Plan struct {
	Polys []Poly
	// Stacks are the commitments by their homes. Order says in which order they
	// are opened.
	Stacks []Stack
	// Committed are the tensors of the statement that are committed, inputs
	// before outputs, both in the program's order. The home of the i-th is
	// FirstCommitted + i.
	Committed []Committed
	// OneHots are what Embeds of committed tokens are reduced to.
	OneHots []OneHot
	Tables  []Table
	Leaves  []Leaves // in block order
	// TreeVars is the depth of the fractional-sum tree; its leaf point is the
	// coordinates 0..TreeVars-1. There is no tree if Leaves is empty.
	TreeVars int
	LeafSent []int // evaluations sent after the tree
	// Bind is the first of BindVars coordinates drawn after LeafSent: the
	// point of the output binding and of zero-checks. A smaller tensor is bound
	// at the last ones.
	Bind, BindVars int
	// Given is, for each output, its evaluation at the binding point, whose
	// value the verifier computes; -1 if the output is committed, or if it has
	// padding and is bound by a sum-check.
	Given  []int
	Layers []Layer
	Evals  []Eval
	Coords int
	// Inputs are the evaluations of public inputs, which the verifier
	// recomputes.
	Inputs []int
	// InputPolys and OutputPolys are the program's inputs and outputs.
	InputPolys, OutputPolys []int
	// Limbs are the witness polynomials of ForWeights: the limbs of each
	// parameter, least significant first; none where a table covers the bounds.
	Limbs [][]int
}

// Order is the homes that are commitments in the order of their openings:
// parameters, the statement's, witness, multiplicities.
func (p *Plan) Order() []Home {
	if p.Stacks == nil {
		return nil
	}
	order := []Home{Parameters}
	for i := range p.Committed {
		order = append(order, FirstCommitted+Home(i))
	}
	return append(order, Witness, Multiplicities)
}

// Bounds on a plan, whose size may be far beyond that of its program: the
// number of evaluations, of summands in all relations, of elements in all
// public maps, and of entries of public inputs in all their evaluations, each of
// which the verifier looks at.
const (
	MaxEvals = 1 << 16
	MaxTerms = 1 << 20
	MaxMoved = 1 << 28
	MaxRead  = 1 << 30
)

// MaxVars bounds the variables of any stack and of the tree, so that every
// count stays far below the characteristic.
const MaxVars = 29

// AxisVars is the number of variables of each axis, and their sum.
func AxisVars(shape []int) (axes []int, sum int) {
	axes = make([]int, len(shape))
	for i, n := range shape {
		axes[i] = graph.Log2(n)
		sum += axes[i]
	}
	return axes, sum
}

// Padded says whether p has padding entries.
func (p *Poly) Padded() bool {
	for i, n := range p.Shape {
		if 1<<p.Axes[i] != n {
			return true
		}
	}
	return false
}

// check refuses plans whose sizes leave the range that the soundness argument
// covers.
func (p *Plan) check() error {
	for i := range p.Stacks {
		if v := p.Stacks[i].Vars; v > MaxVars {
			return fmt.Errorf("plan: %s: 2^%d entries, at most 2^%d", p.Stacks[i].Home, v, MaxVars)
		}
	}
	if p.TreeVars > MaxVars {
		return fmt.Errorf("plan: lookups: 2^%d leaves, at most 2^%d", p.TreeVars, MaxVars)
	}
	for i := range p.Polys {
		if p.Polys[i].Vars > MaxVars && !p.Polys[i].Implied {
			return fmt.Errorf("plan: tensor %q: 2^%d entries, at most 2^%d", p.Polys[i].Name, p.Polys[i].Vars, MaxVars)
		}
	}
	if len(p.Evals) > MaxEvals {
		return fmt.Errorf("plan: more than %d evaluations", MaxEvals)
	}
	read := 0
	for _, id := range p.Inputs {
		if read += 1 << p.Polys[p.Evals[id].Poly].Vars; read > MaxRead {
			return fmt.Errorf("plan: inputs: %d evaluations go through more than %d entries", len(p.Inputs), MaxRead)
		}
	}
	return nil
}
