package plan

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Factors of an instance's product, in order: the public one first if there is
// one (the map, the weight, the guard), then the tensor, then the parameter.

// Shape is the instance's sum-check.
func (in *Instance) Shape() sumcheck.Shape {
	if in.Kind == ZeroPadding {
		return sumcheck.EqProduct(in.Vars, 2)
	}
	return sumcheck.Product(in.Vars, 2)
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
// claims, a product of the stack and of a public weight.
func (p *Plan) MergeShapes() []sumcheck.Shape {
	var out []sumcheck.Shape
	for i := range p.Stacks {
		if s := &p.Stacks[i]; len(s.Evals) > 0 {
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

// ValidEq is sum over the real elements z of eq(r, z) eq(s, z): the extension
// at s of the weight of the output binding.
func (p *Poly) ValidEq(r, s []m31.QM31) m31.QM31 {
	v := one
	for a, n := range p.Axes {
		v = v.Mul(prefixEq(p.Shape[a], r[:n], s[:n]))
		r, s = r[n:], s[n:]
	}
	return v
}

// prefixEq is sum over x < k of eq(r, x) eq(s, x), k <= 2^len(r). It walks k's
// bits from the top: at a 1 bit the numbers with a 0 there are below k
// whatever follows.
func prefixEq(k int, r, s []m31.QM31) (sum m31.QM31) {
	n := len(r)
	if k >= 1<<n {
		return mle.EqEval(r, s)
	}
	prefix := one
	for i := range r {
		hi := r[i].Mul(s[i])
		lo := one.Sub(r[i]).Mul(one.Sub(s[i]))
		if k>>(n-1-i)&1 == 1 {
			sum = sum.Add(prefix.Mul(lo).Mul(mle.EqEval(r[i+1:], s[i+1:])))
			prefix = prefix.Mul(hi)
		} else {
			prefix = prefix.Mul(lo)
		}
	}
	return sum
}

// MapEval is the extension of a rearrangement's matrix at (out, in).
// Cost: three products for every element, memory for the square root of their
// number.
func (in *Instance) MapEval(to, from []m31.QM31) (sum m31.QM31) {
	t, f := splitEqTable(to), splitEqTable(from)
	for e := range graph.Elements(in.From) {
		sum = sum.Add(t.at(graph.PaddedIndex(in.To, e)).Mul(f.at(graph.PaddedIndex(in.From, e))))
	}
	return sum
}

// splitEq is eq of a point as a product: the tables of its first and of its
// last coordinates.
type splitEq struct {
	high, low []m31.QM31
	bits      int // of an index into low
}

func splitEqTable(point []m31.QM31) splitEq {
	n := len(point) / 2
	return splitEq{mle.EqTable(point[:n]), mle.EqTable(point[n:]), len(point) - n}
}

func (s *splitEq) at(i int) m31.QM31 { return s.high[i>>s.bits].Mul(s.low[i&(1<<s.bits-1)]) }

// MapTable is the rearrangement's matrix with its first index bound to a
// point: at the padded index of every real element of the source, eq of to
// with its index in the result; zero in padding.
func (in *Instance) MapTable(to []m31.QM31) []m31.QM31 {
	t := mle.EqTable(to)
	out := make([]m31.QM31, 1<<in.Vars)
	for e := range graph.Elements(in.From) {
		out[graph.PaddedIndex(in.From, e)] = t[graph.PaddedIndex(in.To, e)]
	}
	return out
}

// StackEq is eq of a claim's point, as a point of its stack, with at: the
// block's index is a fixed prefix.
func (p *Plan) StackEq(s *Stack, c *Claim, at []m31.QM31) m31.QM31 {
	n := s.Vars - len(c.Point)
	prefix := uint64(p.Polys[c.Poly].Offset) >> len(c.Point)
	return mle.EqIndex(at[:n], prefix).Mul(mle.EqEval(c.Point, at[n:]))
}

// Extensions are the extensions of a table's columns at point; c1 is zero if
// there is no second column. Cost: a product for every row.
func (t *Table) Extensions(point []m31.QM31) (c0, c1 m31.QM31) {
	c0 = m31.Lift(m31.FromInt(t.First))
	for i, r := range point {
		c0 = c0.Add(r.MulBase(m31.New(1 << (len(point) - 1 - i))))
	}
	if t.Y != nil {
		y := make([]m31.Element, len(t.Y))
		for j, v := range t.Y {
			y[j] = m31.FromInt(int64(v))
		}
		c1 = mle.EvaluateBase(y, point)
	}
	return c0, c1
}

// LeafClaims are the extensions of the leaves' numerators and denominators at
// the leaf point, from the evaluations sent: lookups have numerator 1, rows
// minus their multiplicity, and the leaves beyond the last block are 0/1.
// Denominators are alpha - tag - beta c0 - beta^2 c1.
func (v *Values) LeafClaims(alpha, beta m31.QM31) (num, den m31.QM31, err error) {
	p := v.Plan
	rho := v.coords[:p.TreeVars]
	rest := one
	square := beta.Square()
	for i := range p.Leaves {
		l := &p.Leaves[i]
		t := &p.Tables[l.Table]
		prefix := mle.EqIndex(rho[:p.TreeVars-l.Vars], uint64(l.Offset)>>l.Vars)
		rest = rest.Sub(prefix)
		var n, c0, c1 m31.QM31
		if l.Rows {
			m, e := v.Get(l.AtMult)
			if e != nil {
				return num, den, e
			}
			n = m.Neg()
			c0, c1 = t.Extensions(rho[p.TreeVars-l.Vars:])
		} else {
			n = one
			if c0, err = v.Affine(l.AtC0); err != nil {
				return num, den, err
			}
			if l.AtC1 >= 0 {
				if c1, err = v.Get(l.AtC1); err != nil {
					return num, den, err
				}
			}
		}
		d := alpha.Sub(m31.Lift(m31.Element(t.Tag))).Sub(beta.Mul(c0)).Sub(square.Mul(c1))
		num = num.Add(prefix.Mul(n))
		den = den.Add(prefix.Mul(d))
	}
	return num, den.Add(rest), nil
}
