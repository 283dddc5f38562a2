package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// linearLayout is an operation's terms.
type linearLayout struct{ at, n int }

// moveLayout is the shapes between which a reshape moves.
type moveLayout struct{ from, to axesLayout }

// operations writes the descriptors of operations.
func (l *layout) operations(p *graph.Program) {
	l.linear, l.moves = make([]linearLayout, len(p.Ops)), make([]moveLayout, len(p.Ops))
	for i, op := range p.Ops {
		switch op := op.(type) {
		case graph.Linear:
			var terms words
			for _, t := range op.Terms {
				segs := segments(&l.plan.Polys[op.Out], &l.plan.Polys[t.T])
				terms.add(uint64(l.polys[t.T]), uint64(m31.FromInt(t.Coef)), uint64(l.desc.add(segs...)), uint64(len(segs)/3))
			}
			l.linear[i] = linearLayout{l.desc.add(terms...), len(op.Terms)}
		case graph.Reshape:
			l.moves[i] = moveLayout{l.desc.axes(l.plan.Polys[op.X].Shape), l.desc.axes(l.plan.Polys[op.Out].Shape)}
		}
	}
}
