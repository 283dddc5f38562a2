package plan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

func random(rng *rand.Rand, n int) []m31.QM31 {
	out := make([]m31.QM31, n)
	for i := range out {
		var w [4]m31.Element
		for j := range w {
			w[j] = m31.Element(rng.Uint64N(m31.P))
		}
		out[i] = m31.FromWords(w)
	}
	return out
}

func embed(v []int32) []m31.Element {
	out := make([]m31.Element, len(v))
	for i, x := range v {
		out[i] = m31.FromInt(int64(x))
	}
	return out
}

// tables are the true values of a plan's polynomials, by definition.
type tables struct {
	t    *testing.T
	p    *plan.Plan
	data [][]m31.Element
}

// tuple is a row of a table or what a lookup looks up; columns that there are
// not are zero.
type tuple [plan.MaxColumns]m31.Element

// count fills in multiplicities from the lookups, row by row.
func (x *tables) count() {
	rows := make([]map[tuple]int, len(x.p.Tables))
	for i, t := range x.p.Tables {
		rows[i] = map[tuple]int{}
		x.data[t.Mult] = make([]m31.Element, 1<<t.Bits)
		for j := range 1 << t.Bits {
			rows[i][row(&x.p.Tables[i], j)] = j
		}
	}
	for i := range x.p.Leaves {
		if l := &x.p.Leaves[i]; !l.Rows {
			t := &x.p.Tables[l.Table]
			m := x.data[t.Mult]
			for j := range 1 << l.Vars {
				key := x.leaf(l, j)
				found, ok := rows[l.Table][key]
				if !ok {
					x.t.Fatalf("%v is not in table %q", key, t.Name)
				}
				// Rows may repeat one another; which of them counts is the prover's rule.
				named := 0
				for _, p := range t.Row {
					named += int(key[p.Column].Sub(m31.FromInt(p.First))) << p.Shift
				}
				if row(t, named) != key {
					x.t.Fatalf("%v is row %d of table %q, and row %d is another one", key, found, t.Name, named)
				}
				m[named] = m[named].Add(1)
			}
		}
	}
}

func row(t *plan.Table, j int) (key tuple) {
	for k := range t.Columns {
		t.Columns[k].Write(key[k:k+1], j)
	}
	return key
}

func (x *tables) leaf(l *plan.Leaves, j int) (key tuple) {
	if l.Rows {
		return row(&x.p.Tables[l.Table], j)
	}
	for k, c := range l.C {
		key[k] = c.Const
		for _, t := range c.Terms {
			key[k] = key[k].Add(t.Coef.Mul(x.data[t.Of][j]))
		}
		key[k] = key[k].Add(c.Index.Coef.Mul(m31.Element(j >> c.Index.Shift & (1<<c.Index.Vars - 1))))
	}
	return key
}

// check draws random coordinates and confirms that every identity of the plan
// holds for the true polynomials.
func (x *tables) check(y [][]m31.Element) {
	t, p := x.t, x.p
	rng := rand.New(rand.NewPCG(1, 2))
	coords := random(rng, p.Coords)
	v := plan.NewValues(p)
	if err := v.Draw(coords); err != nil {
		t.Fatal(err)
	}
	for id, e := range p.Evals {
		if err := v.Set(id, mle.EvaluateBase(x.data[e.Poly], v.At(id))); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Complete(); err != nil {
		t.Fatal(err)
	}
	sent := map[int]int{}
	for _, id := range p.LeafSent {
		sent[id]++
	}
	x.checkLeaves(v, random(rng, 2))
	for i := range p.Layers {
		l := &p.Layers[i]
		for _, id := range l.Sent {
			sent[id]++
		}
		for _, r := range l.Relations {
			out, _ := v.Get(r.Out)
			want, _ := v.Affine(plan.Affine{Const: r.Const, Terms: r.Terms})
			if out != want {
				t.Errorf("relation of %q does not hold", r.Name)
			}
		}
		for k := range l.Instances {
			in := &l.Instances[k]
			for _, id := range in.Factors {
				sent[id]++
			}
			x.checkInstance(v, l, in, y)
		}
	}
	for i, id := range p.Given {
		if id < 0 {
			continue
		}
		sent[id]++
		out, _ := v.Get(id)
		if out != mle.EvaluateBase(y[p.OutputPolys[i]], v.At(id)) {
			t.Error("the output is not its own tensor")
		}
	}
	for id := range p.Evals {
		if sent[id] == 0 {
			t.Errorf("evaluation %d has no source", id)
		}
	}
}

func (x *tables) checkLeaves(v *plan.Values, ch []m31.QM31) {
	p := x.p
	if len(p.Leaves) == 0 {
		return
	}
	num, den := make([]m31.QM31, 1<<p.TreeVars), make([]m31.QM31, 1<<p.TreeVars)
	for i := range den {
		den[i] = m31.OneQM31()
	}
	sum := m31.QM31{}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		for j := range 1 << l.Vars {
			k := x.leaf(l, j)
			n := m31.OneQM31()
			if l.Rows {
				n = m31.Lift(x.data[p.Tables[l.Table].Mult][j].Neg())
			}
			d := ch[0].Sub(m31.Lift(m31.Element(p.Tables[l.Table].Tag)))
			for c, power := 0, ch[1]; c < plan.MaxColumns; c, power = c+1, power.Mul(ch[1]) {
				d = d.Sub(power.MulBase(k[c]))
			}
			num[l.Offset+j], den[l.Offset+j] = n, d
			sum = sum.Add(n.Mul(d.Inverse()))
		}
	}
	if !sum.IsZero() {
		x.t.Error("the fractions do not sum to zero")
	}
	gotNum, gotDen, err := v.LeafClaims(ch[0], ch[1])
	if err != nil {
		x.t.Fatal(err)
	}
	at := v.Point(first(p.TreeVars))
	if gotNum != mle.Evaluate(num, at) || gotDen != mle.Evaluate(den, at) {
		x.t.Error("leaf claims differ from the leaves")
	}
}

func first(n int) plan.Point {
	at := make(plan.Point, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}

// checkInstance compares the claim with the sum over the hypercube, and the
// public factor's extension with its table's.
func (x *tables) checkInstance(v *plan.Values, l *plan.Layer, in *plan.Instance, y [][]m31.Element) {
	p := x.p
	bound := l.Bound(in)
	inputs := make([][]m31.Element, len(p.Polys))
	for _, i := range p.InputPolys {
		inputs[i] = x.data[i]
	}
	values := make([][]int32, len(p.Polys))
	for _, i := range p.InputPolys {
		for _, v := range graph.Unpad(p.Polys[i].Shape, inputs[i]) {
			values[i] = append(values[i], int32(v.Int()))
		}
	}
	public := make([]m31.QM31, 1<<in.Vars)
	var sum, want m31.QM31
	for z := range public {
		bits := boolean(z, in.Vars)
		term := m31.OneQM31()
		if in.HasPublic() {
			public[z] = v.PublicEval(in, values, bits)
			term = public[z]
		}
		if in.Eq {
			term = term.Mul(mle.EqEval(v.Point(in.At), bits))
		}
		for _, id := range in.Factors {
			e := &p.Evals[id]
			at := v.Point(e.Point)
			for i, c := range e.Point {
				if k := slices.Index(bound, c); k >= 0 {
					at[i] = bits[k]
				}
			}
			term = term.Mul(mle.EvaluateBase(x.data[e.Poly], at))
		}
		sum = sum.Add(term)
	}
	switch in.Kind {
	case plan.Output:
		want = mle.EvaluateBase(y[in.OutPoly], v.Point(in.At))
	case plan.ZeroPadding:
	default:
		want, _ = v.Get(in.Out)
	}
	if sum != want {
		x.t.Errorf("the sum of %q (kind %d) is not its claim", in.Name, in.Kind)
	}
	if in.HasPublic() && mle.Evaluate(public, v.Point(bound)) != v.PublicEval(in, values, v.Point(bound)) {
		x.t.Errorf("the public factor of %q is not multilinear", in.Name)
	}
	// The parts' tables are what provers use.
	if in.Public != nil {
		table := []m31.QM31{m31.OneQM31()}
		for i := range in.Public {
			a := &in.Public[i]
			var next []m31.QM31
			part := a.Table(mle.EqTable(v.Point(a.At)), inputs)
			for _, u := range table {
				for _, w := range part {
					next = append(next, u.Mul(w))
				}
			}
			table = next
		}
		if !slices.Equal(table, public) {
			x.t.Errorf("the tables of the public factor of %q are not what it is", in.Name)
		}
	}
}

func boolean(k, n int) []m31.QM31 {
	out := make([]m31.QM31, n)
	for i := range out {
		out[i] = m31.Lift(m31.Element(k >> (n - 1 - i) & 1))
	}
	return out
}

// cases are the fixed programs and random ones.
func cases() []*zkmltest.Case {
	all := zkmltest.Cases()
	for seed := range uint64(60) {
		all = append(all, zkmltest.Random(seed), zkmltest.Wide(seed))
	}
	return all
}

func TestProgramIdentities(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			p, err := plan.ForProgram(c.Program, plan.Commits{})
			if err != nil {
				t.Fatal(err)
			}
			values, err := graph.RunPadded(c.Program, c.Weights, c.X)
			if err != nil {
				t.Fatal(err)
			}
			x := &tables{t: t, p: p, data: make([][]m31.Element, len(p.Polys))}
			for i, v := range values {
				x.data[i] = embed(v)
			}
			x.count()
			y := make([][]m31.Element, len(p.Polys))
			for i, v := range c.Program.SplitOutput(c.Output()) {
				id := c.Program.Outputs[i]
				y[id] = embed(graph.Pad(c.Program.Tensor(id).Shape, v))
			}
			x.check(y)
			stacks(t, p)
		})
	}
}

func TestWeightIdentities(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			p, err := plan.ForWeights(c.Program)
			if err != nil {
				t.Fatal(err)
			}
			x := &tables{t: t, p: p, data: make([][]m31.Element, len(p.Polys))}
			for i, id := range c.Program.Params() {
				tensor := c.Program.Tensor(id)
				padded := graph.Pad(tensor.Shape, c.Weights.Of(id).Ints())
				x.data[i] = embed(padded)
				shift := 0
				for k, w := range plan.Limbs(graph.Log2(int(tensor.Hi - tensor.Lo + 1))) {
					if p.Limbs[i] == nil {
						break
					}
					limb := make([]m31.Element, len(padded))
					for j, v := range padded {
						limb[j] = m31.Element((int64(v) - tensor.Lo) >> shift & (1<<w - 1))
					}
					x.data[p.Limbs[i][k]] = limb
					shift += w
				}
			}
			x.count()
			x.check(nil)
			stacks(t, p)
			main, err := plan.ForProgram(c.Program, plan.Commits{})
			if err != nil {
				t.Fatal(err)
			}
			a, b := main.Stacks[plan.Parameters], p.Stacks[plan.Parameters]
			if a.Vars != b.Vars || len(a.Polys) != len(b.Polys) {
				t.Fatal("the two plans stack the parameters differently")
			}
			for i := range a.Polys {
				if main.Polys[a.Polys[i]].Offset != p.Polys[b.Polys[i]].Offset || main.Polys[a.Polys[i]].Name != p.Polys[b.Polys[i]].Name {
					t.Error("the two plans stack the parameters differently")
				}
			}
		})
	}
}

// stacks checks that blocks are aligned and disjoint, within their stack.
func stacks(t *testing.T, p *plan.Plan) {
	for i := range p.Stacks {
		s := &p.Stacks[i]
		end := 0
		for _, k := range s.Polys {
			q := &p.Polys[k]
			if q.Offset < end || q.Offset%(1<<q.Vars) != 0 {
				t.Errorf("%s: block %q at %d", s.Home, q.Name, q.Offset)
			}
			end = q.Offset + 1<<q.Vars
		}
		if end > 1<<s.Vars {
			t.Errorf("%s: %d entries in 2^%d", s.Home, end, s.Vars)
		}
	}
	end := 0
	for i := range p.Leaves {
		l := &p.Leaves[i]
		if l.Offset != end {
			t.Errorf("leaves %d at %d, want %d", i, l.Offset, end)
		}
		end += 1 << l.Vars
	}
}
