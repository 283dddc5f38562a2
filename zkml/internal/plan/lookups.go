package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// lookups lists tables in the program's order, then range tables by size, and
// the leaves of every operation that looks something up.
func (w *walker) lookups() {
	l := looker{walker: w, tables: map[int]int{}, ranges: map[int]int{}}
	for _, op := range w.program.Ops {
		if t, ok := graph.TableOf(op); ok {
			l.tables[t] = -1
		}
		switch op := op.(type) {
		case graph.Lookup:
			if op.Shift > 0 {
				l.ranges[int(op.Shift)] = -1
			}
		case graph.Threshold:
			for _, b := range graph.LimbBits {
				l.ranges[int(b)] = -1
			}
		}
	}
	for i := range w.Committed {
		for _, r := range w.Committed[i].Ranges {
			for _, b := range r.Widths() {
				l.ranges[b] = -1
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(l.tables)) {
		l.tables[i] = w.table(tableOf(&w.program.Tables[i]))
	}
	for _, b := range slices.Sorted(maps.Keys(l.ranges)) {
		l.ranges[b] = w.rangeTable(fmt.Sprintf("range %d", b), 0, b)
	}
	for _, op := range w.program.Ops {
		switch op := op.(type) {
		case graph.Lookup:
			l.lookup(op)
		case graph.Pair:
			w.look(l.tables[op.Table], w.Polys[op.Y].Vars, w.columnOf(op.A), w.columnOf(op.B), w.columnOf(op.Y))
		case graph.Threshold:
			l.threshold(op)
		}
	}
	l.committed()
	w.rows()
}

// tableOf is a program's table as a proof has it.
func tableOf(t *graph.Table) Table {
	half := func(bits uint8) int64 { return int64(1) << (bits - 1) }
	a, b := int(t.Bits), int(t.Bits2)
	switch t.Kind {
	case graph.Binary:
		return Table{
			Name: t.Name, Bits: a + b,
			Columns: []Column{{First: -half(t.Bits), Shift: b, Vars: a}, {First: -half(t.Bits2), Vars: b}, {Table: t}},
			Row:     []RowPart{{Column: 0, First: -half(t.Bits), Vars: a, Shift: b}, {Column: 1, First: -half(t.Bits2), Vars: b}},
		}
	case graph.Steps:
		values, channels := graph.Log2(int(t.YHi-t.YLo)+1), graph.Log2(t.Channels)
		return Table{
			Name: t.Name, Bits: values + channels,
			Columns: []Column{{Shift: values, Vars: channels}, {Table: t, Part: graph.StepValue}, {Table: t, Part: graph.StepFirst}, {Table: t, Part: graph.StepEnd}},
			Row:     []RowPart{{Column: 0, Vars: channels, Shift: values}, {Column: 1, First: t.YLo, Vars: values}},
		}
	}
	return Table{
		Name: t.Name, Bits: a,
		Columns: []Column{{First: -half(t.Bits), Vars: a}, {Table: t}},
		Row:     []RowPart{{First: -half(t.Bits), Vars: a}},
	}
}

// looker adds the leaves of operations.
type looker struct {
	*walker
	tables, ranges map[int]int // by number in the program, by bits
}

func (w *walker) columnOf(t graph.TensorID) Affine { return column(w.source(int(t))) }

// lookup: (q, y) in the operation's table and r in [0, 2^s). The quotient
// q = (x + 2^(s-1) - r) / 2^s is affine in x and r.
func (l *looker) lookup(op graph.Lookup) {
	vars := l.Polys[op.Y].Vars
	inverse := m31.New(1 << op.Shift).Inverse()
	q := Affine{Const: m31.FromInt(op.Half()).Mul(inverse), Terms: []Term{{Coef: inverse, Of: l.source(int(op.X))}}}
	if op.Shift > 0 {
		q.Terms = append(q.Terms, Term{Coef: inverse.Neg(), Of: int(op.Rem)})
	}
	l.look(l.tables[op.Table], vars, q, column(int(op.Y)))
	if op.Shift > 0 {
		l.look(l.ranges[int(op.Shift)], vars, column(int(op.Rem)))
	}
}

// threshold: (channel, y, lo, hi) in the operation's table, where lo = x - d and
// hi = x + e + 1, and the limbs of d and e in their ranges.
func (l *looker) threshold(op graph.Threshold) {
	out := &l.Polys[op.Y]
	x := l.source(int(op.X))
	bound := func(limbs [2]graph.TensorID, sign, constant int64) Affine {
		return Affine{Const: m31.FromInt(constant), Terms: []Term{
			{Coef: 1, Of: x},
			{Coef: m31.FromInt(sign), Of: int(limbs[0])},
			{Coef: m31.FromInt(sign << graph.LimbBits[0]), Of: int(limbs[1])},
		}}
	}
	var channel Affine
	if op.Axis >= 0 {
		channel.Index = AxisIndex{Coef: 1, Vars: out.Axes[op.Axis]}
		for _, v := range out.Axes[op.Axis+1:] {
			channel.Index.Shift += v
		}
	}
	l.look(l.tables[op.Table], out.Vars, channel, column(int(op.Y)), bound(op.D, -1, 0), bound(op.E, 1, 1))
	for _, limbs := range [][2]graph.TensorID{op.D, op.E} {
		for i, id := range limbs {
			l.look(l.ranges[int(graph.LimbBits[i])], out.Vars, column(int(id)))
		}
	}
}
