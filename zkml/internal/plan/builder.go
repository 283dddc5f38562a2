package plan

import (
	"encoding/binary"
)

// builder accumulates a plan.
type builder struct {
	Plan
	ids  map[string]int // of evaluations, by polynomial and point
	hots map[int]OneHot // by polynomial
}

func newBuilder() *builder { return &builder{ids: map[string]int{}, hots: map[int]OneHot{}} }

func (b *builder) poly(p Poly) int {
	p.Axes, p.Vars = AxisVars(p.Shape)
	b.Polys = append(b.Polys, p)
	return len(b.Polys) - 1
}

// eval returns the number of the evaluation of poly at point, and whether it
// is new.
func (b *builder) eval(poly int, point Point) (id int, fresh bool) {
	key := make([]byte, 0, 4*len(point)+4)
	key = binary.LittleEndian.AppendUint32(key, uint32(poly))
	for _, c := range point {
		key = binary.LittleEndian.AppendUint32(key, uint32(c))
	}
	if id, ok := b.ids[string(key)]; ok {
		return id, false
	}
	id = len(b.Evals)
	b.Evals = append(b.Evals, Eval{Poly: poly, Point: point})
	b.ids[string(key)] = id
	switch p := &b.Polys[poly]; p.Home {
	case Public:
		b.Inputs = append(b.Inputs, id)
	case Virtual:
	default:
		s := &b.Stacks[p.Home]
		s.Evals = append(s.Evals, id)
	}
	return id, true
}

// stack lays out all commitments.
func (b *builder) stack() {
	b.Stacks = make([]Stack, int(FirstCommitted)+len(b.Committed))
	for h := range b.Stacks {
		s := stack(Home(h), b.Polys)
		if Home(h) >= FirstCommitted {
			s.Vars = SaltedVars(b.Polys[s.Polys[0]].Vars)
		}
		b.Stacks[h] = s
	}
}

// coords hands out n fresh challenge coordinates.
func (b *builder) coords(n int) int {
	first := b.Coords
	b.Coords += n
	return first
}

// span is the point of the coordinates first..first+n-1.
func span(first, n int) Point {
	p := make(Point, n)
	for i := range p {
		p[i] = int32(first + i)
	}
	return p
}

// tree places the leaf blocks, hands out the coordinates of the leaf point and
// lists the evaluations that each block needs. Blocks of equal size share one
// point: the last coordinates of the leaf point.
func (b *builder) tree() (fresh []int) {
	b.TreeVars = place(b.Leaves)
	b.coords(b.TreeVars)
	for i := range b.Leaves {
		l := &b.Leaves[i]
		at := span(b.TreeVars-l.Vars, l.Vars)
		need := func(poly int) int {
			id, isNew := b.eval(poly, at)
			if isNew {
				b.LeafSent = append(b.LeafSent, id)
				fresh = append(fresh, id)
			}
			return id
		}
		l.AtMult = -1
		if l.Rows {
			l.AtMult = need(b.Tables[l.Table].Mult)
			continue
		}
		for _, c := range l.C {
			at := Affine{Const: c.Const, Index: c.Index}
			for _, t := range c.Terms {
				at.Terms = append(at.Terms, Term{Coef: t.Coef, Of: need(t.Of)})
			}
			l.At = append(l.At, at)
		}
	}
	return fresh
}

// table appends a table with its column of multiplicities.
func (b *builder) table(t Table) int {
	t.Tag = uint32(len(b.Tables) + 1)
	t.Mult = b.poly(Poly{Name: t.Name, Home: Multiplicities, Shape: []int{1 << t.Bits}})
	b.Tables = append(b.Tables, t)
	return len(b.Tables) - 1
}

// rangeTable appends the table of the 2^bits numbers from first on.
func (b *builder) rangeTable(name string, first int64, bits int) int {
	return b.table(Table{Name: name, Bits: bits, Columns: []Column{{First: first, Vars: bits}}, Row: []RowPart{{First: first, Vars: bits}}})
}

// look appends lookups of tuples.
func (b *builder) look(table, vars int, tuple ...Affine) {
	b.Leaves = append(b.Leaves, Leaves{Table: table, C: tuple, Vars: vars})
}

// column is a polynomial as a column of lookups.
func column(poly int) Affine { return Affine{Terms: []Term{{Coef: 1, Of: poly}}} }

// rows appends the leaves of all tables, after the lookups.
func (b *builder) rows() {
	for i, t := range b.Tables {
		b.Leaves = append(b.Leaves, Leaves{Table: i, Rows: true, Vars: t.Bits})
	}
}

func (b *builder) finish() (*Plan, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return &b.Plan, nil
}
