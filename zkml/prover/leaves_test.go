package prover

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// lookupPlan is a plan of lookups alone: tables of one to four columns, small and
// large, and blocks of every kind of column. Polynomials 0 to 5 are tensors of
// each number of variables in vars.
func lookupPlan(rng *rand.Rand, vars []int) *plan.Plan {
	random := func(bits uint8) plan.Column {
		y := make([]int32, 1<<bits)
		for i := range y {
			y[i] = int32(rng.IntN(2001) - 1000)
		}
		return plan.Column{Table: &graph.Table{Bits: bits, Y: y}}
	}
	pl := &plan.Plan{Stacks: make([]plan.Stack, plan.FirstCommitted), Tables: []plan.Table{
		{Bits: 5, Columns: []plan.Column{{Vars: 5}}, Row: []plan.RowPart{{Vars: 5}}},
		{Bits: 6, Columns: []plan.Column{{First: -32, Vars: 6}, random(6)}, Row: []plan.RowPart{{First: -32, Vars: 6}}},
		{Bits: 13, Columns: []plan.Column{{First: -16, Shift: 8, Vars: 5}, {First: -128, Vars: 8}, random(13)},
			Row: []plan.RowPart{{First: -16, Vars: 5, Shift: 8}, {Column: 1, First: -128, Vars: 8}}},
		{Bits: 5, Columns: []plan.Column{{Shift: 3, Vars: 2}, random(5), {Table: &graph.Table{Bits: 5, YLo: -9, YHi: 4, Clamp: true}}, random(5)},
			Row: []plan.RowPart{{Vars: 2, Shift: 3}, {Column: 1, First: -4, Vars: 3}}},
	}}
	polys := map[int]int{} // by number of variables: the first of six
	for _, v := range vars {
		polys[v] = len(pl.Polys)
		for range 6 {
			pl.Polys = append(pl.Polys, plan.Poly{Home: plan.Public, Vars: v})
		}
	}
	for i := range pl.Tables {
		t := &pl.Tables[i]
		t.Tag, t.Mult = uint32(i+1), len(pl.Polys)
		pl.Polys = append(pl.Polys, plan.Poly{Home: plan.Public, Vars: t.Bits})
	}
	affine := func(c int64, index plan.AxisIndex, terms ...plan.Term) plan.Affine {
		return plan.Affine{Const: m31.FromInt(c), Index: index, Terms: terms}
	}
	for _, v := range vars {
		p := polys[v]
		of := func(coef int64, k int) plan.Term { return plan.Term{Coef: m31.FromInt(coef), Of: p + k} }
		none := plan.AxisIndex{}
		pl.Leaves = append(pl.Leaves,
			plan.Leaves{Table: 0, Vars: v, C: []plan.Affine{affine(0, none, of(1, 0))}},
			plan.Leaves{Table: 1, Vars: v, C: []plan.Affine{affine(-9, none, of(1, 0), of(-2, 1)), affine(0, none, of(1, 2))}},
			plan.Leaves{Table: 2, Vars: v, C: []plan.Affine{affine(-20, none, of(1, 0)), affine(-130, none, of(9, 1)), affine(0, none, of(1, 2))}},
			plan.Leaves{Table: 3, Vars: v, C: []plan.Affine{
				affine(0, plan.AxisIndex{Coef: 1, Shift: v / 3, Vars: 2}), affine(-5, none, of(1, 3)),
				affine(0, none, of(1, 0), of(-1, 3), of(-1<<16, 4)), affine(1, none, of(1, 0), of(1, 1), of(1<<16, 5))}},
			plan.Leaves{Table: 0, Vars: v, C: []plan.Affine{affine(3, plan.AxisIndex{Coef: m31.FromInt(-2), Vars: min(v, 4)}, of(1, 1))}},
		)
	}
	for i, t := range pl.Tables {
		pl.Leaves = append(pl.Leaves, plan.Leaves{Table: i, Rows: true, Vars: t.Bits})
	}
	slices.SortStableFunc(pl.Leaves, func(a, b plan.Leaves) int { return b.Vars - a.Vars })
	end := 0
	for i := range pl.Leaves {
		pl.Leaves[i].Offset = end
		end += 1 << pl.Leaves[i].Vars
	}
	for 1<<pl.TreeVars < end {
		pl.TreeVars++
	}
	return pl
}

// TestLookupKernels counts lookups and makes the leaves of tables of every width,
// on every device, and compares them with the definition.
func TestLookupKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, vars := range [][]int{{0, 1, 5}, {13, 8, 3}} {
		pl := lookupPlan(rng, vars)
		l := newLayoutOfLeaves(pl)
		values := make([][]m31.Element, len(pl.Polys))
		for i, p := range pl.Polys {
			values[i] = make([]m31.Element, 1<<p.Vars)
			for k := range values[i] {
				// Some outside of the tables, and many that are equal.
				values[i][k] = m31.New(uint64(rng.IntN(36) * (i % 3)))
			}
		}
		for _, t := range pl.Tables {
			clear(values[t.Mult])
		}
		ch := randomExt(rng, 2)
		counted := slowCounts(pl, values)
		num, den := slowLeaves(pl, values, counted, ch)
		devicetest.Each(t, func(t *testing.T, q *device.Queue) {
			s := &session{layout: l, q: q, key: new(keyMemory)}
			live, fixed := make([]m31.Element, l.live), make([]m31.Element, l.fixed)
			for i, at := range l.polys {
				copy(live[at:], values[i])
			}
			for i, columns := range l.tables {
				for k, at := range columns {
					if at != nowhere {
						pl.Tables[i].Columns[k].Write(fixed[at&^fixedBit:][:1<<pl.Tables[i].Bits], 0)
					}
				}
			}
			s.live, s.key.words = devicetest.Upload(t, q, live), devicetest.Upload(t, q, fixed)
			if !q.OnHost() {
				s.key.desc = devicetest.Upload(t, q, []uint64(l.desc))
			}
			for i, at := range l.polys {
				s.polys = append(s.polys, s.at(at, 1<<pl.Polys[i].Vars))
			}
			if err := s.count(); err != nil {
				t.Fatal(err)
			}
			for i, table := range pl.Tables {
				got, err := s.polys[table.Mult].Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, counted[i]) {
					t.Errorf("table %d: counted %v, want %v", i, got, counted[i])
				}
			}
			n := devicetest.Upload(t, q, make([]m31.Element, len(num)))
			d := devicetest.Upload(t, q, make([]m31.QM31, len(den)))
			if err := s.fractions(n, d, devicetest.Upload(t, q, ch)); err != nil {
				t.Fatal(err)
			}
			gotNum, err := n.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			gotDen, err := d.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range pl.Leaves {
				b := &pl.Leaves[i]
				end := b.Offset + 1<<b.Vars
				if !slices.Equal(gotNum[b.Offset:end], num[b.Offset:end]) || !slices.Equal(gotDen[b.Offset:end], den[b.Offset:end]) {
					t.Errorf("block %d of table %d (rows: %v, %d variables): wrong", i, b.Table, b.Rows, b.Vars)
				}
			}
			if !slices.Equal(gotNum, num) || !slices.Equal(gotDen, den) {
				t.Error("leaves are wrong")
			}
		})
	}
}

func newLayoutOfLeaves(pl *plan.Plan) *layout {
	l := &layout{plan: pl}
	l.placeWords(nil)
	l.lookups()
	return l
}

// tuple is entry i of a block, by definition.
func tuple(pl *plan.Plan, b *plan.Leaves, values [][]m31.Element, i int) (out []m31.Element) {
	if b.Rows {
		for _, c := range pl.Tables[b.Table].Columns {
			var entry [1]m31.Element
			c.Write(entry[:], i)
			out = append(out, entry[0])
		}
		return out
	}
	for _, c := range b.C {
		v := c.Const.Add(c.Index.Coef.Mul(m31.New(uint64(i >> c.Index.Shift % (1 << c.Index.Vars)))))
		for _, t := range c.Terms {
			v = v.Add(t.Coef.Mul(values[t.Of][i]))
		}
		out = append(out, v)
	}
	return out
}

// slowCounts goes through a table's rows for every lookup, and compares the
// columns that tell rows apart.
func slowCounts(pl *plan.Plan, values [][]m31.Element) (out [][]m31.Element) {
	for i := range pl.Tables {
		out = append(out, make([]m31.Element, 1<<pl.Tables[i].Bits))
	}
	for k := range pl.Leaves {
		b := &pl.Leaves[k]
		if b.Rows {
			continue
		}
		t := &pl.Tables[b.Table]
		for i := range 1 << b.Vars {
			c := tuple(pl, b, values, i)
			for row := range out[b.Table] {
				same := true
				for _, p := range t.Row {
					same = same && c[p.Column] == m31.FromInt(p.First+int64(row>>p.Shift%(1<<p.Vars)))
				}
				if same {
					out[b.Table][row]++
				}
			}
		}
	}
	return out
}

func slowLeaves(pl *plan.Plan, values, counted [][]m31.Element, ch []m31.QM31) (num []m31.Element, den []m31.QM31) {
	num, den = make([]m31.Element, 1<<pl.TreeVars), make([]m31.QM31, 1<<pl.TreeVars)
	for i := range den {
		den[i] = m31.OneQM31()
	}
	for k := range pl.Leaves {
		b := &pl.Leaves[k]
		for i := range 1 << b.Vars {
			d := ch[0].Sub(m31.Lift(m31.Element(pl.Tables[b.Table].Tag)))
			for j, c := range tuple(pl, b, values, i) {
				d = d.Sub(ch[1].Exp(uint64(j + 1)).MulBase(c))
			}
			num[b.Offset+i], den[b.Offset+i] = 1, d
			if b.Rows {
				num[b.Offset+i] = counted[b.Table][i].Neg()
			}
		}
	}
	return num, den
}
