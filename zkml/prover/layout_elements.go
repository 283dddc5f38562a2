package prover

import (
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// layerLayout is where a layer's messages lie, and how they come about.
type layerLayout struct {
	step          step
	sent          int
	rounds, evals int
	claims        int // the claimed values
	gather        int // the list of their places
	instances     []instanceLayout
}

// instanceLayout is the tables of eq that an instance's factors are made with.
type instanceLayout struct {
	rows, cols int     // whole tables, for the factors of a product
	public     splitEq // for a public factor
	point      int     // of a zero check
	from, to   axesLayout
}

// placer hands out places in the elements of a proof.
type placer struct {
	*layout
	next  int
	given int // where the stated output's value at the binding point goes, or -1
}

func (p *placer) take(n int) int {
	p.next += n
	return p.next - n
}

// arise notes where an evaluation is, unless it has arisen before.
func (p *placer) arise(id, at int) {
	if p.values[id] < 0 {
		p.values[id] = at
	}
}

// stated evaluates the output as stated.
func (p *placer) stated(st *step, point plan.Point, to int) { st.add(p.layout, place(p.y), point, to) }

func (l *layout) placeElements() {
	pl := l.plan
	p := &placer{layout: l, next: pl.Coords, given: -1}
	l.values = make([]int, len(pl.Evals))
	for i := range l.values {
		l.values[i] = -1
	}
	l.gamma, l.alpha = p.take(1), p.take(2)
	if len(pl.Leaves) > 0 {
		l.sums = p.take(logupprover.Elements(pl.TreeVars))
	}
	l.sentLeaves = p.send(&l.leafStep, pl.LeafSent)
	l.leafStep.finish(l)
	if pl.Given >= 0 && l.values[pl.Given] < 0 {
		p.given = p.take(1)
		p.arise(pl.Given, p.given)
	}
	for i := range pl.Layers {
		l.layers = append(l.layers, p.layer(&pl.Layers[i], i == 0))
	}
	if len(pl.Layers) == 0 && p.given >= 0 {
		p.stated(&l.mergeStep, pl.Evals[pl.Given].Point, p.given)
	}
	p.merge()
	l.nonce = p.take(nonceElements)
	l.roots = p.take(rootElements * int(plan.Stacks))
	l.messages = p.next
}

// send places evaluations that are sent, and has the step make them.
func (p *placer) send(st *step, ids []int) (at int) {
	at = p.take(len(ids))
	for i, id := range ids {
		p.arise(id, at+i)
		st.evaluate(p.layout, id, at+i)
	}
	return at
}

func (p *placer) layer(ly *plan.Layer, first bool) (o layerLayout) {
	o.sent = p.send(&o.step, ly.Sent)
	if first && p.given >= 0 {
		p.stated(&o.step, p.plan.Evals[p.plan.Given].Point, p.given)
	}
	shapes := ly.Shapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	o.rounds, o.evals, o.claims = p.take(n*d), p.take(sumcheck.Evaluations(shapes)), p.take(len(shapes))
	var from []int
	for k := range ly.Instances {
		in := &ly.Instances[k]
		il, value := p.instance(&o.step, in)
		o.instances, from = append(o.instances, il), append(from, value)
		x := o.evals + 2*k + 1 // after the public factor
		if in.Kind == plan.Contract {
			p.arise(in.W, x)
			x--
		}
		p.arise(in.X, x)
	}
	o.gather = p.desc.list(from)
	o.step.finish(p.layout)
	return o
}

// instance is the tables of an instance's factors, and where its claimed value
// is: -1 for 0.
func (p *placer) instance(st *step, in *plan.Instance) (il instanceLayout, value int) {
	l, pl := p.layout, p.plan
	il, value = instanceLayout{rows: -1, cols: -1}, -1
	if in.Out >= 0 {
		value = p.values[in.Out]
	}
	switch in.Kind {
	case plan.Contract:
		x, w := pl.Evals[in.X].Point, pl.Evals[in.W].Point
		if rows := x[:len(x)-in.Vars]; len(rows) > 0 {
			il.rows = st.table(l, rows, 0)
		}
		cols := w[in.Vars:]
		if in.Trans {
			cols = w[:len(w)-in.Vars]
		}
		if len(cols) > 0 {
			il.cols = st.table(l, cols, 0)
		}
	case plan.Rearrange:
		il.public = st.split(l, pl.Evals[in.Out].Point, 0)
		il.from, il.to = l.desc.axes(in.From), l.desc.axes(in.To)
	case plan.Output:
		il.public = st.split(l, in.At, 0)
		il.from = l.desc.axes(pl.Polys[pl.OutputPoly].Shape)
		value = p.take(1)
		p.stated(st, in.At, value)
	case plan.ZeroPadding:
		il.point = int(in.At[0])
		il.from = l.desc.axes(pl.Polys[pl.Evals[in.X].Poly].Shape)
	}
	return il, value
}
