package plan

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// ForProgram plans the proof that a program maps inputs to outputs under the
// committed parameters; those that c names are committed, all others public. The
// program must be valid. Polynomials 0..len(p.Tensors)-1 are the program's
// tensors.
func ForProgram(p *graph.Program, c Commits) (*Plan, error) {
	if err := c.check(p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	b := newBuilder()
	defs := make([]graph.Op, len(p.Tensors))
	for _, op := range p.Ops {
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
	b.InputPolys, b.OutputPolys = numbers(p.Inputs), numbers(p.Outputs)
	b.commit(p, c)
	w := walker{builder: b, program: p, defs: defs, sources: sources(p)}
	w.lookups()
	b.stack()
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
	moved   int        // elements of all public maps
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
func (w *walker) source(tensor int) int {
	if tensor < len(w.sources) {
		return w.sources[tensor]
	}
	return tensor // a polynomial that is no tensor of the program
}

func numbers(ids []graph.TensorID) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}

// bind hands out the binding point and, for outputs without padding, their
// evaluations there. A padded output goes through a sum-check of the first
// layer, since its padding is not public.
func (w *walker) bind() (fresh []int) {
	for _, o := range w.OutputPolys {
		w.BindVars = max(w.BindVars, w.Polys[o].Vars)
	}
	for i := range w.Committed {
		if q := &w.Polys[w.Committed[i].Poly]; q.Padded() {
			w.BindVars = max(w.BindVars, q.Vars)
		}
	}
	w.Bind = w.coords(w.BindVars)
	for _, o := range w.OutputPolys {
		given := -1
		if out := &w.Polys[o]; !out.Padded() && w.copyOf(o) < 0 {
			var isNew bool
			if given, isNew = w.eval(w.source(o), w.bindAt(out)); isNew {
				fresh = append(fresh, given)
			}
		}
		w.Given = append(w.Given, given)
	}
	return fresh
}

// bindAt is the last coordinates of the binding point, as many as p has.
func (b *builder) bindAt(p *Poly) Point { return span(b.Bind+b.BindVars-p.Vars, p.Vars) }

// reduce adds layers until every evaluation is one of a commitment or of a
// public input.
func (w *walker) reduce(fresh []int) error {
	for first := true; ; first = false {
		layer := &layerBuilder{walker: w}
		if first {
			fresh = append(fresh, layer.statement()...)
		}
		for len(fresh) > 0 {
			id := fresh[0]
			fresh = fresh[1:]
			more, err := layer.expand(id)
			if err != nil {
				return err
			}
			fresh = append(fresh, more...)
			if len(w.Evals) > MaxEvals || w.terms > MaxTerms || w.moved > MaxMoved {
				return fmt.Errorf("plan: more than %d evaluations, %d summands or %d elements of public maps: too many uses of tensors that are not committed", MaxEvals, MaxTerms, MaxMoved)
			}
		}
		if len(layer.Relations) == 0 && len(layer.Instances) == 0 {
			return nil
		}
		fresh = layer.batch()
		w.Layers = append(w.Layers, layer.Layer)
	}
}

// layerBuilder accumulates a layer.
type layerBuilder struct {
	*walker
	Layer
	factors [][]factor // by instance
}

// factor is a tensor in a sum-check, and where its point comes from: the
// instance's variables and coordinates that are known.
type factor struct {
	tensor int
	point  Point // variable k of the sum-check is -1 - k
}

// add appends a sum-check.
func (l *layerBuilder) add(in Instance, factors ...factor) {
	if !in.Secret {
		for i := range in.Public {
			l.moved += in.Public[i].moved()
		}
	}
	l.Instances, l.factors = append(l.Instances, in), append(l.factors, factors)
}

// variables are the variables first..first+n-1 of a sum-check.
func variables(first, n int) Point {
	p := make(Point, n)
	for i := range p {
		p[i] = int32(-1 - first - i)
	}
	return p
}

// batch hands out the challenges of the layer's sum-checks and lists the
// evaluations of the factors that result.
func (l *layerBuilder) batch() (fresh []int) {
	for i := range l.Instances {
		l.Rounds = max(l.Rounds, l.Instances[i].Vars)
	}
	l.First = l.coords(l.Rounds)
	for i := range l.Instances {
		in := &l.Instances[i]
		begin := int32(l.First + l.Rounds - in.Vars)
		for _, f := range l.factors[i] {
			for k, c := range f.point {
				if c < 0 {
					f.point[k] = begin + (-1 - c)
				}
			}
			id, isNew := l.eval(l.source(f.tensor), f.point)
			if isNew {
				fresh = append(fresh, id)
			}
			in.Factors = append(in.Factors, id)
		}
	}
	return fresh
}

// output binds a padded output to its stated values, or to a committed copy's
// evaluation.
func (l *layerBuilder) output(o, stated int) {
	out := &l.Polys[o]
	at := l.bindAt(out)
	in := Instance{Kind: Output, Name: out.Name, Vars: out.Vars, Out: stated, OutPoly: o, At: at, Public: make([]Axis, 0, len(out.Axes))}
	for a, v := range out.Axes {
		in.Public = append(in.Public, Axis{Vars: v, At: at[:v:v], Extent: out.Shape[a]})
		at = at[v:]
	}
	l.add(in, factor{o, variables(0, out.Vars)})
}

// expand replaces an evaluation of a virtual tensor by what defines it.
func (l *layerBuilder) expand(id int) (fresh []int, err error) {
	e := l.Evals[id]
	p := &l.Polys[e.Poly]
	if p.Home != Virtual {
		return nil, nil
	}
	if h, ok := l.hots[e.Poly]; ok {
		return l.oneHot(id, h), nil
	}
	switch op := l.defs[e.Poly].(type) {
	case graph.Linear:
		terms := make([]factor, len(op.Terms))
		coefs := make([]m31.Element, len(op.Terms))
		for i, t := range op.Terms {
			terms[i], coefs[i] = factor{int(t.T), broadcast(p, &l.Polys[t.T], e.Point)}, m31.FromInt(t.Coef)
		}
		return l.relate(id, m31.FromInt(op.Const), coefs, terms), nil
	case graph.Einsum:
		l.contract(id, op)
	case graph.Rearrange:
		return l.rearrange(id, op), nil
	case graph.Embed:
		l.embed(id, op)
	case graph.Reshape: // free ones never get here: see source
		l.reshape(id, op)
	default:
		return nil, fmt.Errorf("plan: virtual tensor %q is defined by %T", p.Name, op)
	}
	return fresh, nil
}

// relate adds the relation that evaluation id is a sum of terms.
func (l *layerBuilder) relate(id int, constant m31.Element, coefs []m31.Element, terms []factor) (fresh []int) {
	l.terms += len(terms)
	r := Relation{Name: l.Polys[l.Evals[id].Poly].Name, Out: id, Const: constant}
	for i, t := range terms {
		in, isNew := l.eval(l.source(t.tensor), t.point)
		r.Terms = append(r.Terms, Term{Coef: coefs[i], Of: in})
		if isNew {
			l.Sent = append(l.Sent, in)
			fresh = append(fresh, in)
		}
	}
	l.Relations = append(l.Relations, r)
	return fresh
}

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
