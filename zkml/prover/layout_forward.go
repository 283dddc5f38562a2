package prover

import (
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// opLayout is what the forward pass needs to know of an operation beside its
// tensors, if it is one of these.
type opLayout struct {
	einsum    *einsumLayout
	rearrange rearrangeLayout
}

// operations lays operations out, and divides them among launches.
func (l *layout) operations(p *graph.Program) {
	l.ops = make([]opLayout, len(p.Ops))
	for i, op := range p.Ops {
		switch op := op.(type) {
		case graph.Einsum:
			l.ops[i].einsum = l.einsum(p, op)
		case graph.Rearrange:
			l.ops[i].rearrange = l.rearrange(p, op)
		}
	}
	l.schedule(p)
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
	return r
}
