package plan

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// Shape is the instance's sum-check.
func (in *Instance) Shape() sumcheck.Shape {
	if in.Eq {
		return sumcheck.EqProduct(in.Vars, in.first()+len(in.Factors))
	}
	return sumcheck.Product(in.Vars, in.first()+len(in.Factors))
}

// HasPublic says whether the first factor is public.
func (in *Instance) HasPublic() bool { return in.Public != nil && !in.Secret || in.Kind == ZeroPadding }

// Tensors are the evaluations of the factors that are tensors in memory.
func (in *Instance) Tensors() []int {
	if in.Secret {
		return in.Factors[1:]
	}
	return in.Factors
}

// first is the place of Factors among the factors.
func (in *Instance) first() int {
	if in.HasPublic() {
		return 1
	}
	return 0
}

// Shapes are the sum-checks of a layer's batch.
func (l *Layer) Shapes() []sumcheck.Shape {
	out := make([]sumcheck.Shape, len(l.Instances))
	for i := range l.Instances {
		out[i] = l.Instances[i].Shape()
	}
	return out
}

// Bound is the part of the batch's point that an instance binds.
func (l *Layer) Bound(in *Instance) Point {
	return span(l.First+l.Rounds-in.Vars, in.Vars)
}

// MergeShapes are the sum-checks of the claim merging: one for each stack with
// claims, in their order, a product of the stack and of a public weight.
func (p *Plan) MergeShapes() []sumcheck.Shape {
	var out []sumcheck.Shape
	for _, h := range p.Order() {
		if s := &p.Stacks[h]; len(s.Evals) > 0 {
			out = append(out, sumcheck.Product(s.Vars, 2))
		}
	}
	return out
}

var one = m31.OneQM31()

// Valid is the extension at point of the indicator of the real elements of a
// shape: a product over the axes.
func (p *Poly) Valid(point []m31.QM31) m31.QM31 {
	v := one
	for a, n := range p.Axes {
		v = v.Mul(mle.LT(p.Shape[a], point[:n]))
		point = point[n:]
	}
	return v
}

// StackEq is eq of a claim's point, as a point of its stack, with at: the
// block's index is a fixed prefix.
func (p *Plan) StackEq(s *Stack, c *Claim, at []m31.QM31) m31.QM31 {
	n := s.Vars - len(c.Point)
	prefix := uint64(p.Polys[c.Poly].Offset) >> len(c.Point)
	return mle.EqIndex(at[:n], prefix).Mul(mle.EqEval(c.Point, at[n:]))
}

// extensions are the extensions of a table's columns at point. Cost: a product
// for every entry of a column that has a Table, unless that is a clamp.
func (t *Table) extensions(point []m31.QM31, eq *rowTables) []m31.QM31 {
	out := make([]m31.QM31, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Table != nil {
			out[i] = eq.column(c, point)
			continue
		}
		out[i] = m31.Lift(m31.FromInt(c.First)).Add(index(c.Shift, c.Vars, point))
	}
	return out
}

// index is the extension of i >> shift & (2^vars - 1): a sum of coordinates
// times powers of two.
func index(shift, vars int, point []m31.QM31) (sum m31.QM31) {
	at := point[len(point)-shift-vars:]
	for k := range vars {
		sum = sum.Add(at[k].MulBase(m31.New(1 << (vars - 1 - k))))
	}
	return sum
}

// LeafClaims are the extensions of the leaves' numerators and denominators at
// the leaf point, from the evaluations sent: lookups have numerator 1, rows
// minus their multiplicity, and the leaves beyond the last block are 0/1.
// Denominators are alpha - tag - beta c_0 - beta^2 c_1 - ...
func (v *Values) LeafClaims(alpha, beta m31.QM31) (num, den m31.QM31, err error) {
	p := v.Plan
	rho := v.coords[:p.TreeVars]
	tables := v.tables(rho)
	rest := one
	for i := range p.Leaves {
		l := &p.Leaves[i]
		tag := p.Tables[l.Table].Tag
		at := rho[p.TreeVars-l.Vars:]
		prefix := mle.EqIndex(rho[:p.TreeVars-l.Vars], uint64(l.Offset)>>l.Vars)
		rest = rest.Sub(prefix)
		n, tuple := one, []m31.QM31(nil)
		if l.Rows {
			m, e := v.Get(l.AtMult)
			if e != nil {
				return num, den, e
			}
			n, tuple = m.Neg(), tables[l.Table]
		} else {
			for _, c := range l.At {
				x, e := v.Affine(c)
				if e != nil {
					return num, den, e
				}
				tuple = append(tuple, x.Add(index(c.Index.Shift, c.Index.Vars, at).MulBase(c.Index.Coef)))
			}
		}
		num = num.Add(prefix.Mul(n))
		den = den.Add(prefix.Mul(alpha.Sub(fingerprint(tag, tuple, beta))))
	}
	return num, den.Add(rest), nil
}

// tables are the columns' extensions of all tables at the last coordinates of
// rho, which every table's rows have as their point.
func (v *Values) tables(rho []m31.QM31) [][]m31.QM31 {
	out := make([][]m31.QM31, len(v.Plan.Tables))
	eq := new(rowTables)
	for i := range v.Plan.Tables {
		eq.need(v.Plan.Tables[i].Bits, rho)
	}
	parallel(len(out), func(i int) {
		t := &v.Plan.Tables[i]
		out[i] = t.extensions(rho[len(rho)-t.Bits:], eq)
	})
	return out
}

// fingerprint is tag + beta c_0 + beta^2 c_1 + ...
func fingerprint(tag uint32, tuple []m31.QM31, beta m31.QM31) (sum m31.QM31) {
	for i := len(tuple) - 1; i >= 0; i-- {
		sum = sum.Add(tuple[i]).Mul(beta)
	}
	return sum.Add(m31.Lift(m31.Element(tag)))
}

// Width is the most columns of a table.
func (p *Plan) Width() int {
	w := 0
	for i := range p.Tables {
		w = max(w, len(p.Tables[i].Columns))
	}
	return w
}
