package plan

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// AxisKind says what a part of a public factor is.
type AxisKind uint8

// Kinds of parts.
const (
	// AxisGuard: [z < Extent], times eq(At, z) if there is a point.
	AxisGuard AxisKind = iota
	// AxisMap: the sum over the elements o of Shape with Index[o] = z of eq(At, o).
	AxisMap
	// AxisTokens: the sum over the elements i of the input Tokens, which has the
	// shape Shape and is z there, of eq(At, i).
	AxisTokens
	// AxisMoved: eq(At, index in the layout of Shape) of the element whose index
	// in the layout of From is z, 0 if there is none.
	AxisMoved
)

// Axis is one part of a public factor: a function of a group of neighbouring
// variables. Indices of elements are those of the padded layout.
type Axis struct {
	Kind   AxisKind
	Vars   int
	At     Point
	Extent int
	Shape  []int
	Index  []int32
	From   []int
	Tokens int
}

// moved is the number of elements that a verifier goes through.
func (a *Axis) moved() int {
	if a.Kind == AxisGuard {
		return 0
	}
	return graph.Elements(a.Shape)
}

// PublicEval is the extension of an instance's public factor at point. inputs
// are the real elements of the inputs by polynomial. Cost: a few products for
// every element of a map and for every variable.
func (v *Values) PublicEval(in *Instance, inputs [][]int32, point []m31.QM31) m31.QM31 {
	if in.Kind == ZeroPadding {
		return one.Sub(v.Plan.Polys[v.Plan.Evals[in.Factors[0]].Poly].Valid(point))
	}
	e := one
	for i := range in.Public {
		a := &in.Public[i]
		e = e.Mul(a.eval(v.Point(a.At), inputs, point[:a.Vars]))
		point = point[a.Vars:]
	}
	return e
}

func (a *Axis) eval(r []m31.QM31, inputs [][]int32, z []m31.QM31) m31.QM31 {
	if a.Kind == AxisGuard {
		if a.At == nil {
			return mle.LT(a.Extent, z)
		}
		return prefixEq(a.Extent, r, z)
	}
	to, from := splitEqTable(r), splitEqTable(z)
	token := func(e, _ int) int { return int(inputs[a.Tokens][e]) }
	return sums(a.moved(), 1<<12, func(lo, hi int) (sum m31.QM31) {
		a.each(lo, hi, token, func(x, o int) { sum = sum.Add(to.at(o).Mul(from.at(x))) })
		return sum
	})
}

// each calls f with the padded indices that elements lo to hi of a map relate: z
// of the source and o of what At is a point of. token tells a token from its
// index among the elements, and from that in the padded layout.
func (a *Axis) each(lo, hi int, token func(e, o int) int, f func(z, o int)) {
	for e := lo; e < hi; e++ {
		o := graph.PaddedIndex(a.Shape, e)
		switch a.Kind {
		case AxisMap:
			if x := a.Index[e]; x >= 0 {
				f(int(x), o)
			}
		case AxisTokens:
			f(token(e, o), o)
		case AxisMoved:
			f(graph.PaddedIndex(a.From, e), o)
		}
	}
}

// Table is the axis's part over the hypercube, from eq(At, .). inputs are the
// padded public inputs by polynomial.
func (a *Axis) Table(eq []m31.QM31, inputs [][]m31.Element) []m31.QM31 {
	t := make([]m31.QM31, 1<<a.Vars)
	if a.Kind != AxisGuard {
		token := func(_, o int) int { return int(inputs[a.Tokens][o]) }
		a.each(0, a.moved(), token, func(z, o int) { t[z] = t[z].Add(eq[o]) })
		return t
	}
	for z := range min(a.Extent, len(t)) {
		if t[z] = one; a.At != nil {
			t[z] = eq[z]
		}
	}
	return t
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
