package prover

import (
	"math/bits"

	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// layerLayout is where a layer's messages lie, and how they come about.
type layerLayout struct {
	step             step
	sent             int
	rounds, evals    int
	claims           int // the claimed values, and the points of eq behind them
	gather, gathered int // the list of their places, and how many there are
	instances        []instanceLayout
}

// instanceLayout is what the factors of a sum-check are made with.
type instanceLayout struct {
	axes    []axisPart
	factors []factorLayout
	public  bool       // there is a public factor of those parts
	point   int        // of eq, if there is one
	from    axesLayout // of a parameter whose padding is checked
}

// tables is the number of factors that have to be made, but for those over the
// prime field.
func (il *instanceLayout) tables() int {
	n := 0
	if il.public {
		n++
	}
	for i := range il.factors {
		if !il.factors[i].whole {
			n++
		}
	}
	return n
}

// axisPart is a part of a public factor: the place of the table of eq, -1 if
// there is none, and what kernels follow.
type axisPart struct {
	eq    int
	lists axisLists
}

// factorLayout says how a factor arises from its tensor, see factorJob.
type factorLayout struct {
	whole      bool // as it is
	keep, free []uint64
	freeVars   int
	eq         int
}

// placer hands out places in the elements of a proof.
type placer struct {
	*layout
	next  int
	given []int // where the stated outputs' values at the binding point go, or -1
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

// stated evaluates output poly as stated.
func (p *placer) stated(st *step, poly int, point plan.Point, to int) {
	st.add(p.layout, place(p.y+p.outputAt[poly]), point, to)
}

// bind evaluates the outputs as stated where their evaluations are given.
func (p *placer) bind(st *step) {
	for i, at := range p.given {
		if at >= 0 {
			p.stated(st, p.plan.OutputPolys[i], p.plan.Evals[p.plan.Given[i]].Point, at)
		}
	}
}

func (l *layout) placeElements() error {
	pl := l.plan
	p := &placer{layout: l, next: pl.Coords}
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
	for _, id := range pl.Given {
		at := -1
		if id >= 0 && l.values[id] < 0 {
			at = p.take(1)
			p.arise(id, at)
		}
		p.given = append(p.given, at)
	}
	for i := range pl.Layers {
		l.layers = append(l.layers, p.layer(&pl.Layers[i], i == 0))
	}
	if len(pl.Layers) == 0 {
		p.bind(&l.mergeStep)
	}
	if err := p.merge(); err != nil {
		return err
	}
	l.nonce = p.take(nonceElements)
	l.roots = p.take(rootElements * len(pl.Stacks))
	l.messages = p.next
	return nil
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
	if first {
		p.bind(&o.step)
	}
	shapes := ly.Shapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	o.rounds, o.evals = p.take(n*d), p.take(sumcheck.Evaluations(shapes))
	var claims, points []int
	x := o.evals
	for k := range ly.Instances {
		in := &ly.Instances[k]
		il, value := p.instance(&o.step, ly, in)
		claims = append(claims, value)
		if in.Eq {
			il.point = len(points) // as yet
			for _, c := range in.At {
				points = append(points, int(c))
			}
		}
		o.instances = append(o.instances, il)
		if in.HasPublic() {
			x++
		}
		for i, id := range in.Factors {
			p.arise(id, x+i)
		}
		x += len(in.Factors)
	}
	o.gathered = len(claims) + len(points)
	o.claims = p.take(o.gathered)
	for k := range o.instances {
		o.instances[k].point += o.claims + len(claims)
	}
	o.gather = p.desc.list(append(claims, points...))
	o.step.finish(p.layout)
	return o
}

// instance is what an instance's factors are made with, and where its claimed
// value is: -1 for 0.
func (p *placer) instance(st *step, ly *plan.Layer, in *plan.Instance) (il instanceLayout, value int) {
	l, pl := p.layout, p.plan
	il.public = in.Public != nil
	for i := range in.Public {
		part := axisPart{eq: -1, lists: l.axisLists(&in.Public[i])}
		if a := &in.Public[i]; a.At != nil || a.Kind != plan.AxisGuard {
			part.eq = st.table(a.At)
		}
		il.axes = append(il.axes, part)
	}
	for _, id := range in.Tensors() {
		il.factors = append(il.factors, p.factor(st, pl.Evals[id].Point, ly.Bound(in)))
	}
	switch {
	case in.Kind == plan.Output && in.Out < 0:
		value = p.take(1)
		p.stated(st, in.OutPoly, in.At, value)
	case in.Kind == plan.ZeroPadding:
		value = -1
		il.from = l.desc.axes(pl.Polys[pl.Evals[in.Factors[0]].Poly].Shape)
	default:
		value = p.values[in.Out]
	}
	return il, value
}

// factor is how a tensor becomes a factor over the variables whose challenges
// are bound; its point says which of its own variables they are.
func (p *placer) factor(st *step, point, bound plan.Point) (f factorLayout) {
	var free plan.Point
	for _, c := range point {
		if !in(bound, c) {
			free = append(free, c)
		}
	}
	f.eq, f.freeVars = -1, len(free)
	kept := 0
	for to := range point { // from the last variable, the lowest bit
		c := point[len(point)-1-to]
		if in(bound, c) {
			f.keep = moveBit(f.keep, len(bound)-1-int(c-bound[0]), to)
		} else {
			f.free = moveBit(f.free, kept, to)
			kept++
		}
	}
	if f.freeVars > 0 {
		f.eq = st.table(free)
	}
	f.whole = f.freeVars == 0 && shifts(f.keep, len(bound), 0)
	return f
}

// in says whether a list of successive coordinates has c.
func in(bound plan.Point, c int32) bool {
	return len(bound) > 0 && c >= bound[0] && c <= bound[len(bound)-1]
}

// moveBit adds to segments that bit `from` of an index goes to bit `to`.
func moveBit(segs []uint64, from, to int) []uint64 {
	if k := len(segs) - 3; k >= 0 {
		n := bits.Len64(segs[k+1])
		if int(segs[k])+n == from && int(segs[k+2])+n == to {
			segs[k+1] = segs[k+1]<<1 | 1
			return segs
		}
	}
	return append(segs, uint64(from), 1, uint64(to))
}
