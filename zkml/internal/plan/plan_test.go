package plan_test

import (
	"math/rand/v2"
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

// count fills in multiplicities from the lookups, row by row.
func (x *tables) count() {
	rows := make([]map[[2]m31.Element]int, len(x.p.Tables))
	for i, t := range x.p.Tables {
		rows[i] = map[[2]m31.Element]int{}
		x.data[t.Mult] = make([]m31.Element, 1<<t.Bits)
		for j := range 1 << t.Bits {
			key := [2]m31.Element{m31.FromInt(t.First + int64(j))}
			if t.Y != nil {
				key[1] = m31.FromInt(int64(t.Y[j]))
			}
			rows[i][key] = j
		}
	}
	for i := range x.p.Leaves {
		if l := &x.p.Leaves[i]; !l.Rows {
			m := x.data[x.p.Tables[l.Table].Mult]
			for j := range 1 << l.Vars {
				key := x.leaf(l, j)
				row, ok := rows[l.Table][key]
				if !ok {
					x.t.Fatalf("%v is not in table %q", key, x.p.Tables[l.Table].Name)
				}
				m[row] = m[row].Add(1)
			}
		}
	}
}

func (x *tables) leaf(l *plan.Leaves, j int) (key [2]m31.Element) {
	if l.Rows {
		t := &x.p.Tables[l.Table]
		key[0] = m31.FromInt(t.First + int64(j))
		if t.Y != nil {
			key[1] = m31.FromInt(int64(t.Y[j]))
		}
		return key
	}
	key[0] = l.C0.Const
	for _, t := range l.C0.Terms {
		key[0] = key[0].Add(t.Coef.Mul(x.data[t.Of][j]))
	}
	if l.C1 >= 0 {
		key[1] = x.data[l.C1][j]
	}
	return key
}

// check draws random coordinates and confirms that every identity of the plan
// holds for the true polynomials.
func (x *tables) check(y []m31.Element) {
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
			sent[in.X]++
			if in.W >= 0 {
				sent[in.W]++
			}
			x.checkInstance(v, l, in, y)
		}
	}
	if p.Given >= 0 {
		sent[p.Given]++
		out, _ := v.Get(p.Given)
		if out != mle.EvaluateBase(y, v.At(p.Given)) {
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
			d := ch[0].Sub(m31.Lift(m31.Element(p.Tables[l.Table].Tag))).Sub(ch[1].MulBase(k[0])).Sub(ch[1].Square().MulBase(k[1]))
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

func (x *tables) checkInstance(v *plan.Values, l *plan.Layer, in *plan.Instance, y []m31.Element) {
	p := x.p
	at := v.Point(l.Bound(in))
	tensor := &p.Polys[p.Evals[in.X].Poly]
	data := x.data[p.Evals[in.X].Poly]
	var sum, want m31.QM31
	switch in.Kind {
	case plan.Contract:
		// The two evaluations at points that share their contracted part.
		out := &p.Evals[in.Out]
		n := p.Polys[out.Poly].Axes
		cols := out.Point[len(out.Point)-n[len(n)-1]:]
		rows := out.Point[:len(out.Point)-len(cols)]
		w := p.Evals[in.W]
		for k := range 1 << in.Vars {
			bits := boolean(k, in.Vars)
			xp := append(v.Point(rows), bits...)
			wp := append(append([]m31.QM31{}, bits...), v.Point(cols)...)
			if in.Trans {
				wp = append(v.Point(cols), bits...)
			}
			sum = sum.Add(mle.EvaluateBase(data, xp).Mul(mle.EvaluateBase(x.data[w.Poly], wp)))
		}
		want, _ = v.Get(in.Out)
	case plan.Rearrange:
		m := in.MapTable(v.At(in.Out))
		for z, e := range data {
			sum = sum.Add(m[z].MulBase(e))
		}
		want, _ = v.Get(in.Out)
		if mle.Evaluate(m, at) != in.MapEval(v.At(in.Out), at) {
			x.t.Error("the map's extension is not its table's")
		}
	case plan.Output:
		r := v.Point(in.At)
		weight := make([]m31.QM31, len(data))
		eq := mle.EqTable(r)
		for e := range graph.Elements(tensor.Shape) {
			z := graph.PaddedIndex(tensor.Shape, e)
			weight[z] = eq[z]
			sum = sum.Add(eq[z].MulBase(data[z]))
		}
		want = mle.EvaluateBase(y, r)
		if mle.Evaluate(weight, at) != tensor.ValidEq(r, at) {
			x.t.Error("the output's weight is not its table's")
		}
	case plan.ZeroPadding:
		guard := make([]m31.QM31, len(data))
		for z := range guard {
			guard[z] = m31.OneQM31()
		}
		for e := range graph.Elements(tensor.Shape) {
			guard[graph.PaddedIndex(tensor.Shape, e)] = m31.QM31{}
		}
		for z, g := range guard {
			sum = sum.Add(g.MulBase(data[z]))
		}
		if mle.Evaluate(guard, at) != m31.OneQM31().Sub(tensor.Valid(at)) {
			x.t.Error("the padding guard is not its table's")
		}
	}
	if sum != want {
		x.t.Errorf("the sum of %q (kind %d) is not its claim", in.Name, in.Kind)
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
		all = append(all, zkmltest.Random(seed))
	}
	return all
}

func TestProgramIdentities(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			p, err := plan.ForProgram(c.Program)
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
			out := c.Program.Tensor(c.Program.Outputs[0])
			x.check(embed(graph.Pad(out.Shape, c.Output())))
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
				padded := graph.Pad(tensor.Shape, c.Weights.Of(id))
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
			main, err := plan.ForProgram(c.Program)
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
