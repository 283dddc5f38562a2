package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// leafLayout is the descriptors of the leaves.
type leafLayout struct {
	blocks           int
	countAt, counts  int // tiles of lookups
	leavesAt, leaves int // tiles of all blocks, the unused leaves among them
}

// Kinds of blocks of leaves.
const (
	leafLookups = iota
	leafRows
	leafUnused
)

// lookups writes the descriptors of the blocks of leaves: struct leaves of
// zkml.cu.
func (l *layout) lookups() error {
	pl, o := l.plan, &l.leaves
	if len(pl.Leaves) == 0 {
		return nil
	}
	var blocks words
	var counted, lengths []int
	end := 0
	for i := range pl.Leaves {
		b := &pl.Leaves[i]
		t := &pl.Tables[b.Table]
		n := 1 << b.Vars
		d := [...]uint64{0: uint64(b.Offset), 1: uint64(n), 2: uint64(nowhere), 3: uint64(nowhere), 4: uint64(nowhere),
			5: uint64(l.polys[t.Mult]), 9: uint64(m31.FromInt(t.First)), 10: 1 << t.Bits, 11: uint64(t.Tag), 12: leafRows}
		lookups := 0
		switch {
		case b.Rows:
			if t.Y != nil {
				d[4] = uint64(l.tables[b.Table])
			}
		case len(b.C0.Terms) == 0 || len(b.C0.Terms) > 2:
			return fmt.Errorf("a lookup of %d terms", len(b.C0.Terms))
		default:
			lookups, d[12] = n, leafLookups
			for k, term := range b.C0.Terms {
				d[2+k], d[6+k] = uint64(l.polys[term.Of]), uint64(term.Coef)
			}
			d[8] = uint64(b.C0.Const)
			if b.C1 >= 0 {
				d[4] = uint64(l.polys[b.C1])
			}
		}
		blocks.add(d[:]...)
		counted, lengths = append(counted, lookups), append(lengths, n)
		end = b.Offset + n
	}
	if rest := 1<<pl.TreeVars - end; rest > 0 {
		d := [13]uint64{0: uint64(end), 1: uint64(rest), 12: leafUnused}
		blocks.add(d[:]...)
		lengths = append(lengths, rest)
	}
	o.blocks = l.desc.add(blocks...)
	o.countAt, o.counts = l.desc.tiles(counted, threads)
	o.leavesAt, o.leaves = l.desc.tiles(lengths, threads)
	return nil
}

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
