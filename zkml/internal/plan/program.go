package plan

import (
	"fmt"
	"sort"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// ForProgram plans the proof that a program maps the public input to the
// public output under the committed parameters. The program must be valid.
// Polynomials 0..len(p.Tensors)-1 are the program's tensors.
func ForProgram(p *graph.Program) (*Plan, error) {
	b := &builder{ids: map[string]int{}}
	if len(p.Inputs) != 1 || len(p.Outputs) != 1 {
		return nil, fmt.Errorf("plan: %d inputs and %d outputs, one of each can be proved", len(p.Inputs), len(p.Outputs))
	}
	defs := make([]graph.Op, len(p.Tensors))
	for i, op := range p.Ops {
		switch op.(type) {
		case graph.MatMul, graph.Linear, graph.Lookup, graph.Reshape:
		default:
			return nil, fmt.Errorf("plan: operation %d (%s -> %q) cannot be proved yet", i, op.Kind(), p.Tensors[op.Outputs()[0]].Name)
		}
		for _, t := range op.Outputs() {
			defs[t] = op
		}
	}
	for i := range p.Tensors {
		t := &p.Tensors[i]
		home := [...]Home{graph.Input: Public, graph.Param: Parameters, graph.Column: Witness, graph.Virtual: Virtual}[t.Kind]
		if (t.Kind == graph.Param || t.Kind == graph.Input) && (t.Lo > 0 || t.Hi < 0) {
			return nil, fmt.Errorf("plan: tensor %q: bounds [%d, %d] exclude the padding value 0", t.Name, t.Lo, t.Hi)
		}
		b.poly(Poly{Name: t.Name, Home: home, Shape: t.Shape})
	}
	b.InputPoly, b.OutputPoly, b.Given = int(p.Inputs[0]), int(p.Outputs[0]), -1
	w := walker{builder: b, program: p, defs: defs, sources: sources(p)}
	w.lookups()
	for h := range b.Stacks {
		b.Stacks[h] = stack(Home(h), b.Polys)
	}
	var fresh []int
	if len(b.Leaves) > 0 {
		fresh = b.tree()
	}
	fresh = append(fresh, w.bind()...)
	if err := w.reduce(fresh); err != nil {
		return nil, err
	}
	return b.finish()
}

type walker struct {
	*builder
	program *graph.Program
	defs    []graph.Op // by tensor
	sources []int      // by tensor
	terms   int        // of all relations
	moved   int        // elements of all rearrangements
}

// sources follows, for every tensor, the reshapes before it that leave the
// padded layout alone.
func sources(p *graph.Program) []int {
	out := make([]int, len(p.Tensors))
	for i := range out {
		out[i] = i
	}
	for _, op := range p.Ops { // definitions precede uses
		if r, ok := op.(graph.Reshape); ok && graph.ReshapeIsFree(p.Tensors[r.X].Shape, p.Tensors[r.Out].Shape) {
			out[r.Out] = out[r.X]
		}
	}
	return out
}

// source is the tensor that a tensor is evaluated as.
func (w *walker) source(tensor int) int { return w.sources[tensor] }

// lookups lists tables in the program's order, then range tables by size, and
// the leaves of every lookup: (q, y) in the operation's table and r in
// [0, 2^s). The quotient q = (x + 2^(s-1) - r) / 2^s is affine in x and r.
func (w *walker) lookups() {
	tables, ranges := map[int]int{}, map[int]int{}
	var ops []graph.Lookup
	for _, op := range w.program.Ops {
		if l, ok := op.(graph.Lookup); ok {
			ops = append(ops, l)
			tables[l.Table] = -1
			if l.Shift > 0 {
				ranges[int(l.Shift)] = -1
			}
		}
	}
	for _, i := range sortedKeys(tables) {
		t := &w.program.Tables[i]
		half := int64(1) << (t.Bits - 1)
		tables[i] = w.table(Table{Name: t.Name, Bits: int(t.Bits), First: -half, Y: t.Y})
	}
	for _, s := range sortedKeys(ranges) {
		ranges[s] = w.table(Table{Name: fmt.Sprintf("range %d", s), Bits: s})
	}
	for _, l := range ops {
		x, vars := w.source(int(l.X)), w.Polys[l.Y].Vars
		inverse := m31.New(1 << l.Shift).Inverse()
		q := Affine{Const: m31.FromInt(l.Half()).Mul(inverse), Terms: []Term{{Coef: inverse, Of: x}}}
		if l.Shift > 0 {
			q.Terms = append(q.Terms, Term{Coef: inverse.Neg(), Of: int(l.Rem)})
		}
		w.Leaves = append(w.Leaves, Leaves{Table: tables[l.Table], C0: q, C1: int(l.Y), Vars: vars})
		if l.Shift > 0 {
			r := Affine{Terms: []Term{{Coef: 1, Of: int(l.Rem)}}}
			w.Leaves = append(w.Leaves, Leaves{Table: ranges[int(l.Shift)], C0: r, C1: -1, Vars: vars})
		}
	}
	w.rows()
}

func sortedKeys(m map[int]int) []int {
	var k []int
	for i := range m {
		k = append(k, i)
	}
	sort.Ints(k)
	return k
}

// bind hands out the binding point and, if the output has no padding, the
// evaluation of the output there. A padded output goes through a sum-check of
// the first layer, since its padding is not public.
func (w *walker) bind() (fresh []int) {
	out := &w.Polys[w.OutputPoly]
	w.BindVars = out.Vars
	w.Bind = w.coords(out.Vars)
	if out.Padded() {
		return nil
	}
	id, isNew := w.eval(w.source(w.OutputPoly), span(w.Bind, out.Vars))
	w.Given = id
	if isNew {
		fresh = append(fresh, id)
	}
	return fresh
}

// reduce adds layers until every evaluation is one of a commitment or of the
// public input.
func (w *walker) reduce(fresh []int) error {
	for first := true; ; first = false {
		var layer Layer
		if first && w.Given < 0 {
			out := &w.Polys[w.OutputPoly]
			layer.Instances = append(layer.Instances, Instance{Kind: Output, Name: out.Name, Vars: out.Vars, Out: -1, At: span(w.Bind, out.Vars), W: -1})
		}
		for len(fresh) > 0 {
			id := fresh[0]
			fresh = fresh[1:]
			more, err := w.expand(&layer, id)
			if err != nil {
				return err
			}
			fresh = append(fresh, more...)
			if len(w.Evals) > MaxEvals || w.terms > MaxTerms || w.moved > MaxMoved {
				return fmt.Errorf("plan: more than %d evaluations, %d summands or %d rearranged elements: too many uses of tensors that are not committed", MaxEvals, MaxTerms, MaxMoved)
			}
		}
		if len(layer.Relations) == 0 && len(layer.Instances) == 0 {
			return nil
		}
		fresh = w.batch(&layer)
		w.Layers = append(w.Layers, layer)
	}
}

// expand replaces an evaluation of a virtual tensor by what defines it.
func (w *walker) expand(layer *Layer, id int) (fresh []int, err error) {
	e := w.Evals[id]
	p := &w.Polys[e.Poly]
	if p.Home != Virtual {
		return nil, nil
	}
	switch op := w.defs[e.Poly].(type) {
	case graph.Linear:
		w.terms += len(op.Terms)
		r := Relation{Name: p.Name, Out: id, Const: m31.FromInt(op.Const)}
		for _, t := range op.Terms {
			x := w.source(int(t.T))
			in, isNew := w.eval(x, broadcast(p, &w.Polys[t.T], e.Point))
			r.Terms = append(r.Terms, Term{Coef: m31.FromInt(t.Coef), Of: in})
			if isNew {
				layer.Sent = append(layer.Sent, in)
				fresh = append(fresh, in)
			}
		}
		layer.Relations = append(layer.Relations, r)
	case graph.MatMul:
		x := &w.Polys[op.X]
		layer.Instances = append(layer.Instances, Instance{Kind: Contract, Name: p.Name, Vars: x.Axes[len(x.Axes)-1], Out: id, Trans: op.TransW, X: int(op.X), W: int(op.W)})
	case graph.Reshape: // free ones never get here: see source
		from, to := w.program.Tensors[op.X].Shape, w.program.Tensors[op.Out].Shape
		w.moved += graph.Elements(from)
		layer.Instances = append(layer.Instances, Instance{Kind: Rearrange, Name: p.Name, Vars: w.Polys[op.X].Vars, Out: id, X: int(op.X), W: -1, From: from, To: to})
	default:
		return nil, fmt.Errorf("plan: virtual tensor %q is defined by %T", p.Name, op)
	}
	return fresh, nil
}

// batch hands out the challenges of the layer's sum-checks and replaces the
// tensors in Instance.X and W by the evaluations that result.
func (w *walker) batch(layer *Layer) (fresh []int) {
	for i := range layer.Instances {
		layer.Rounds = max(layer.Rounds, layer.Instances[i].Vars)
	}
	layer.First = w.coords(layer.Rounds)
	result := func(tensor int, at Point) int {
		id, isNew := w.eval(w.source(tensor), at)
		if isNew {
			fresh = append(fresh, id)
		}
		return id
	}
	for i := range layer.Instances {
		in := &layer.Instances[i]
		bound := span(layer.First+layer.Rounds-in.Vars, in.Vars)
		switch in.Kind {
		case Contract:
			out := &w.Evals[in.Out]
			rows, cols := splitColumns(&w.Polys[out.Poly], out.Point)
			k := concat(bound, cols)
			if in.Trans {
				k = concat(cols, bound)
			}
			in.X, in.W = result(in.X, concat(rows, bound)), result(in.W, k)
		case Rearrange:
			in.X = result(in.X, bound)
		case Output:
			in.X = result(w.OutputPoly, bound)
		}
	}
	return fresh
}

// splitColumns cuts a point of p into the coordinates of all axes but the last
// and those of the last.
func splitColumns(p *Poly, at Point) (rows, cols Point) {
	n := p.Vars - p.Axes[len(p.Axes)-1]
	return at[:n:n], at[n:]
}

func concat(a, b Point) Point { return append(append(make(Point, 0, len(a)+len(b)), a...), b...) }

// broadcast is the point of a term of a linear operation: the coordinates of
// the axes that the term has, aligned from the right.
func broadcast(out, term *Poly, at Point) Point {
	skip := len(out.Axes) - len(term.Axes)
	p := make(Point, 0, term.Vars)
	begin := 0
	for a, v := range out.Axes {
		if a >= skip && term.Shape[a-skip] == out.Shape[a] {
			p = append(p, at[begin:begin+v]...)
		}
		begin += v
	}
	return p
}
