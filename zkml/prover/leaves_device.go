package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Entries that a block of leaves.cu does.
const (
	leavesTile = 1024
	countTile  = 4096
)

// maxTerms is the most tensors of a column of lookups.
const maxTerms = 3

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

// lookups writes the descriptors of the blocks of leaves: the structures of
// leaves.cu.
func (l *layout) lookups() {
	pl, o := l.plan, &l.leaves
	if len(pl.Leaves) == 0 {
		return
	}
	// What a table says about its rows, and its own columns.
	parts, columns := make([]int, len(pl.Tables)), make([]int, len(pl.Tables))
	for i := range pl.Tables {
		t := &pl.Tables[i]
		parts[i] = len(l.desc)
		for _, p := range t.Row {
			l.desc.add(uint64(p.Column), uint64(m31.FromInt(p.First)), uint64(p.Vars), uint64(p.Shift))
		}
		columns[i] = len(l.desc)
		for k, c := range t.Columns {
			if at := l.tables[i][k]; at != nowhere {
				l.desc.leafColumn(0, plan.AxisIndex{}, []uint64{uint64(at)}, []uint64{1})
			} else {
				l.desc.leafColumn(m31.FromInt(c.First), plan.AxisIndex{Coef: 1, Shift: c.Shift, Vars: c.Vars}, nil, nil)
			}
		}
	}
	var blocks words
	var counted, lengths []int
	end := 0
	for i := range pl.Leaves {
		b := &pl.Leaves[i]
		t := &pl.Tables[b.Table]
		n, kind, at, lookups := 1<<b.Vars, leafRows, columns[b.Table], 0
		if !b.Rows {
			kind, at, lookups = leafLookups, len(l.desc), n
			for _, c := range b.C {
				var places, coefs []uint64
				for _, term := range c.Terms {
					places, coefs = append(places, uint64(l.polys[term.Of])), append(coefs, uint64(term.Coef))
				}
				l.desc.leafColumn(c.Const, c.Index, places, coefs)
			}
		}
		blocks.add(uint64(b.Offset), uint64(n), uint64(l.polys[t.Mult]), uint64(t.Tag), uint64(kind),
			uint64(at), uint64(len(t.Columns)), uint64(parts[b.Table]), uint64(len(t.Row)), 1<<t.Bits)
		counted, lengths = append(counted, lookups), append(lengths, n)
		end = b.Offset + n
	}
	if rest := 1<<pl.TreeVars - end; rest > 0 {
		blocks.add(uint64(end), uint64(rest), 0, 0, leafUnused, 0, 0, 0, 0, 0)
		lengths = append(lengths, rest)
	}
	o.blocks = l.desc.add(blocks...)
	o.countAt, o.counts = l.desc.tiles(counted, countTile)
	o.leavesAt, o.leaves = l.desc.tiles(lengths, leavesTile)
}

// leafColumn adds struct leaf_column: a constant, a multiple of a part of the
// index, and up to maxTerms tensors with their coefficients.
func (w *words) leafColumn(c m31.Element, index plan.AxisIndex, places, coefs []uint64) {
	d := [5 + 2*maxTerms]uint64{uint64(c), uint64(len(places)), uint64(index.Coef), uint64(index.Shift), 1<<index.Vars - 1}
	copy(d[5:], places)
	copy(d[5+maxTerms:], coefs)
	w.add(d[:]...)
}

// countOnDevice is count of all lookups in one launch.
func (s *session) countOnDevice() error {
	o := &s.leaves
	if o.counts == 0 {
		return nil
	}
	return s.blocks(LeavesSource, "zkml_count", o.counts, s.live.Arg(), s.key.words.Arg(), s.key.desc.Arg(), device.U32(o.blocks), device.U32(o.countAt))
}

// fractionsOnDevice is fractions of all leaves in one launch.
func (s *session) fractionsOnDevice(num device.Buffer[m31.Element], den, ch device.Buffer[m31.QM31]) error {
	o := &s.leaves
	return s.blocks(LeavesSource, "zkml_leaves", o.leaves, num.Arg(), den.Arg(), ch.Arg(), s.key.words.Arg(), s.live.Arg(), s.key.desc.Arg(),
		device.U32(o.blocks), device.U32(o.leavesAt))
}
