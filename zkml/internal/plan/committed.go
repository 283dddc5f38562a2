package plan

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Commits says which tensors of a statement are committed instead of public.
// The zero value is none.
type Commits struct {
	Inputs, Outputs []int // numbers of the program's inputs and outputs, increasing
}

// Empty says that everything is public.
func (c Commits) Empty() bool { return len(c.Inputs)+len(c.Outputs) == 0 }

// Clone is a copy that shares nothing.
func (c Commits) Clone() Commits {
	return Commits{Inputs: slices.Clone(c.Inputs), Outputs: slices.Clone(c.Outputs)}
}

// check refuses what a program does not have.
func (c Commits) check(p *graph.Program) error {
	if n := len(c.Inputs) + len(c.Outputs); n > MaxCommitted {
		return fmt.Errorf("%d committed tensors, at most %d", n, MaxCommitted)
	}
	for _, side := range []struct {
		name string
		list []int
		of   []graph.TensorID
	}{{"input", c.Inputs, p.Inputs}, {"output", c.Outputs, p.Outputs}} {
		last := -1
		for _, i := range side.list {
			if i <= last || i >= len(side.of) {
				return fmt.Errorf("committed %ss %v, expected increasing numbers below %d", side.name, side.list, len(side.of))
			}
			last = i
		}
	}
	return nil
}

// Committed is a tensor of the statement that is committed.
type Committed struct {
	Output bool
	Index  int // of the program's inputs or outputs
	Tensor int // the program's tensor
	Poly   int // the committed polynomial: an input itself, a copy of an output
	// Ranges are windows that hold every entry of an input: their intersection
	// is the tensor's bounds. Outputs have none, since their values are those of
	// a tensor that has its bounds.
	Ranges []Range
}

// Range says that every entry is in [First, First + 2^Bits): it is looked up in
// a table of that size or, if Limbs is not empty, is First plus the sum of its
// limbs, least significant first.
type Range struct {
	First   int64
	Bits    int
	Limbs   []int // polynomials
	Bitwise bool  // limbs are of one bit each, not of Limbs(Bits)
}

// CommittedAs is the tensor of the statement that has a home, nil if none has.
func (p *Plan) CommittedAs(h Home) *Committed {
	if i := int(h) - int(FirstCommitted); i >= 0 && i < len(p.Committed) {
		return &p.Committed[i]
	}
	return nil
}

// Widths are the bits of the tables that a range is looked up in: of its limbs,
// or its own.
func (r *Range) Widths() []int {
	switch {
	case r.Bitwise:
		return slices.Repeat([]int{1}, r.Bits)
	case r.Limbs != nil:
		return Limbs(r.Bits)
	}
	return []int{r.Bits}
}

// Commitments of a statement's tensors are salted: the upper half of the stack
// is the salt. MinSaltedVars is the least size of a stack, so that its code's
// rows may have MinSaltedFold variables.
const (
	MinSaltedVars = 9
	// MinSaltedFold is the least number of variables that the first round binds.
	// A row of the code has 2^(fold-1) entries that depend on the salt alone, each
	// uniform over 62 bits: 248 bits of salt in every hashed row.
	MinSaltedFold = 3
)

// SaltedVars is the size of the stack of a committed tensor of 2^vars entries.
func SaltedVars(vars int) int { return max(vars+1, MinSaltedVars) }

// commit gives committed inputs a home of their own, and adds the copies of
// committed outputs and the limbs of inputs' ranges.
func (b *builder) commit(p *graph.Program, c Commits) {
	for _, i := range c.Inputs {
		id := int(p.Inputs[i])
		b.Polys[id].Home = FirstCommitted + Home(len(b.Committed))
		b.Committed = append(b.Committed, Committed{Index: i, Tensor: id, Poly: id})
	}
	for _, i := range c.Outputs {
		t := p.Tensor(p.Outputs[i])
		copied := b.poly(Poly{Name: t.Name + ": committed", Home: FirstCommitted + Home(len(b.Committed)), Shape: t.Shape})
		b.Committed = append(b.Committed, Committed{Output: true, Index: i, Tensor: int(p.Outputs[i]), Poly: copied})
	}
	for i := range c.Inputs {
		b.Committed[i].Ranges = b.ranges(p.Tensor(p.Inputs[c.Inputs[i]]))
		b.tokens(p, &b.Committed[i])
	}
}

// ranges are windows whose intersection is a tensor's bounds: one if their size
// is a power of two, else one from the lower bound and one to the upper. For n
// values in windows of 2^k the two cover 2^(k+1) - n integers, where n > 2^(k-1) or
// n = k = 1, and k <= 30. That is fewer than the prime: what is in both modulo the
// prime is in both.
func (b *builder) ranges(t *graph.Tensor) []Range {
	bits := max(graph.Log2(int(t.Hi-t.Lo+1)), 1)
	out := []Range{{First: t.Lo, Bits: bits}}
	if last := t.Hi - 1<<bits + 1; last != t.Lo {
		out = append(out, Range{First: last, Bits: bits})
	}
	for i := range out {
		if direct(bits, graph.Vars(t.Shape)) {
			continue
		}
		for k := range Limbs(bits) {
			out[i].Limbs = append(out[i].Limbs, b.poly(Poly{Name: fmt.Sprintf("%s: limb %d from %d", t.Name, k, out[i].First), Home: Witness, Shape: t.Shape}))
		}
	}
	return out
}

// committed looks every entry of committed inputs up in the tables of its
// ranges.
func (l *looker) committed() {
	for i := range l.Committed {
		c := &l.Committed[i]
		vars := l.Polys[c.Poly].Vars
		for _, r := range c.Ranges {
			if r.Limbs == nil {
				entry := column(c.Poly)
				entry.Const = m31.FromInt(-r.First)
				l.look(l.ranges[r.Bits], vars, entry)
				continue
			}
			for k, bits := range r.Widths() {
				l.look(l.ranges[bits], vars, column(r.Limbs[k]))
			}
		}
	}
}

// InputSize is what committing a tensor as an input adds to a plan beside its own stack.
type InputSize struct {
	Limbs  int64 // entries of the witness
	Leaves int64 // without the tables' rows
	Widths []int // bits of the tables, each of which may be there already
}

// SizeOfInput is that of a tensor of a program. Where it is tokens, all Embeds count that read them.
func SizeOfInput(p *graph.Program, id graph.TensorID) (s InputSize) {
	b := newBuilder()
	t := p.Tensor(id)
	c := Committed{Tensor: int(id), Poly: b.poly(Poly{Name: t.Name, Home: FirstCommitted, Shape: t.Shape})}
	c.Ranges = b.ranges(t)
	b.tokens(p, &c)
	n := int64(1) << graph.Vars(t.Shape)
	for _, r := range c.Ranges {
		s.Limbs += n * int64(len(r.Limbs))
		s.Widths = append(s.Widths, r.Widths()...)
	}
	s.Leaves = n * int64(len(s.Widths))
	slices.Sort(s.Widths)
	s.Widths = slices.Compact(s.Widths)
	return s
}

// copyOf is the committed copy of an output, -1 if the output is public.
func (b *builder) copyOf(output int) int {
	for i := range b.Committed {
		if c := &b.Committed[i]; c.Output && c.Tensor == output {
			return c.Poly
		}
	}
	return -1
}

// statement begins the first layer. Outputs with padding are bound by
// sum-checks, committed ones to the evaluation of their copy at the binding
// point; that of an output without padding is the copy's. Then every committed
// tensor: an input's entries are the sums of their limbs, and padding is zero.
func (l *layerBuilder) statement() (fresh []int) {
	for i, o := range l.OutputPolys {
		out := &l.Polys[o]
		stated := -1
		if copied := l.copyOf(o); copied >= 0 {
			stated, _ = l.eval(copied, l.bindAt(out))
			l.Sent = append(l.Sent, stated)
		}
		switch {
		case l.Given[i] >= 0:
		case out.Padded():
			l.output(o, stated)
		default:
			fresh = append(fresh, l.relate(stated, 0, []m31.Element{1}, []factor{{o, l.bindAt(out)}})...)
		}
	}
	for i := range l.Committed {
		c := &l.Committed[i]
		q := &l.Polys[c.Poly]
		for _, r := range c.Ranges {
			if r.Limbs != nil {
				l.sumOfLimbs(c.Poly, span(l.TreeVars-q.Vars, q.Vars), &r)
			}
		}
		if q.Padded() {
			l.add(Instance{Kind: ZeroPadding, Name: q.Name, Vars: q.Vars, Out: -1, Eq: true, At: l.bindAt(q)}, factor{c.Poly, variables(0, q.Vars)})
		}
	}
	return fresh
}

// sumOfLimbs adds the relation between a polynomial and the limbs of a range
// that holds its entries, at the leaf point.
func (l *layerBuilder) sumOfLimbs(poly int, at Point, r *Range) {
	id, isNew := l.eval(poly, at)
	if isNew {
		l.Sent = append(l.Sent, id)
	}
	var coefs []m31.Element
	var terms []factor
	shift := 0
	for k, bits := range r.Widths() {
		coefs, terms = append(coefs, m31.New(1<<shift)), append(terms, factor{r.Limbs[k], at})
		shift += bits
	}
	l.relate(id, m31.FromInt(r.First), coefs, terms) // limbs are known from the leaves
}
