package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// opLayout is what the forward pass needs to know of an operation beside its
// tensors. One of the fields is used.
type opLayout struct {
	linear    linearLayout
	move      moveLayout
	einsum    *einsumLayout
	rearrange rearrangeLayout
	steps     int        // of a threshold: place of the table's thresholds
	tokens    axesLayout // of an embedding
}

// linearLayout is an operation's terms.
type linearLayout struct{ at, n int }

// moveLayout is the shapes between which a reshape moves.
type moveLayout struct{ from, to axesLayout }

// operations writes the descriptors of operations.
func (l *layout) operations(p *graph.Program) {
	l.ops = make([]opLayout, len(p.Ops))
	steps := map[int]int{}
	for i, op := range p.Ops {
		o := &l.ops[i]
		switch op := op.(type) {
		case graph.Linear:
			var terms words
			for _, t := range op.Terms {
				segs := segments(&l.plan.Polys[op.Out], &l.plan.Polys[t.T])
				terms.add(uint64(l.polys[t.T]), uint64(m31.FromInt(t.Coef)), uint64(l.desc.add(segs...)), uint64(len(segs)/3))
			}
			o.linear = linearLayout{l.desc.add(terms...), len(op.Terms)}
		case graph.Reshape:
			o.move = moveLayout{l.desc.axes(l.plan.Polys[op.X].Shape), l.desc.axes(l.plan.Polys[op.Out].Shape)}
		case graph.Einsum:
			o.einsum = l.einsum(p, op)
		case graph.Rearrange:
			o.rearrange = l.rearrange(p, op)
		case graph.Threshold:
			at, ok := steps[op.Table]
			if !ok {
				at = l.desc.packed(p.Tables[op.Table].Lo)
				steps[op.Table] = at
			}
			o.steps = at
		case graph.Embed:
			o.tokens = l.desc.axes(l.plan.Polys[op.Tokens].Shape)
		}
	}
}

// packed adds 32-bit values, two a word.
func (w *words) packed(v []int32) (at int) {
	at = len(*w)
	for i := 0; i < len(v); i += 2 {
		x := uint64(uint32(v[i]))
		if i+1 < len(v) {
			x |= uint64(uint32(v[i+1])) << 32
		}
		w.add(x)
	}
	return at
}

// rearrangeLayout says where an entry of the result comes from: axes that stay
// as they are move by segments; the indices of a mapped group of axes, put
// together by segments, choose from a list of places. Places add up.
type rearrangeLayout struct {
	at     int // the descriptor: the number of maps, then the lists
	stay   []uint64
	groups []groupLayout
}

type groupLayout struct {
	segs []uint64
	from []int32 // -1 for zero
}

func (l *layout) rearrange(p *graph.Program, op graph.Rearrange) rearrangeLayout {
	var r rearrangeLayout
	in := p.Tensor(op.X).Shape
	var vars []int // of the axes before the permutation
	for _, m := range op.Maps {
		v, _ := plan.AxisVars(m.Shape)
		vars = append(vars, v...)
	}
	// Where each of those axes begins in an index of the result.
	begin, at := make([]int, len(vars)), 0
	for i := len(vars) - 1; i >= 0; i-- {
		axis := i
		if op.Perm != nil {
			axis = op.Perm[i]
		}
		begin[axis] = at
		at += vars[axis]
	}
	moves := op.Moves(in, true)
	for k, m := range op.Maps {
		n := len(m.Shape)
		own, places := vars[:n], begin[:n]
		vars, begin = vars[n:], begin[n:]
		if len(m.Index) == 0 {
			_, to := plan.AxisVars(in[m.Axis+1:])
			r.stay = segment(r.stay, places[0], to, own[0])
			continue
		}
		g := groupLayout{segs: []uint64{}}
		to := 0
		for a := n - 1; a >= 0; a-- {
			g.segs = segment(g.segs, places[a], to, own[a])
			to += own[a]
		}
		for _, from := range moves[k].From {
			g.from = append(g.from, int32(from))
		}
		r.groups = append(r.groups, g)
	}
	head := words{uint64(l.desc.add(r.stay...)), uint64(len(r.stay) / 3), uint64(len(r.groups))}
	for _, g := range r.groups {
		head.add(uint64(l.desc.add(g.segs...)), uint64(len(g.segs)/3), uint64(l.desc.packed(g.from)))
	}
	r.at = l.desc.add(head...)
	return r
}
