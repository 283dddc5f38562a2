package plan

import (
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// points cuts a point of p into those of its axes.
func (p *Poly) points(at Point) []Point {
	out := make([]Point, len(p.Axes))
	for a, v := range p.Axes {
		out[a], at = at[:v:v], at[v:]
	}
	return out
}

// contract adds the sum-check of an Einsum. Its variables are the labels that
// both operands and the result have, in A's order, then the summed ones, in A's
// order; all other labels are bound by the claim's point.
//
// The sum runs over real elements: where padding is not known to be zero,
// because no operand with the label is a parameter, a guard leaves it out.
func (l *layerBuilder) contract(id int, op graph.Einsum) {
	out, a := &l.Polys[l.Evals[id].Poly], &l.Polys[op.A]
	at := map[uint8]Point{} // by label
	for i, p := range out.points(l.Evals[id].Point) {
		at[op.OL[i]] = p
	}
	in := Instance{Kind: Contract, Name: out.Name, Out: id}
	roles := op.Roles()
	public := op.B == graph.None || len(roles.Batch) > 0 && len(roles.Sum) > 0
	axes := []Axis{}
	for _, label := range slices.Concat(roles.Batch, roles.Sum) {
		i := slices.Index(op.AL, label)
		axis := Axis{Vars: a.Axes[i], Extent: 1 << a.Axes[i]}
		if p, batch := at[label]; batch {
			axis.At = p
			in.At = append(in.At, p...)
		} else if a.Shape[i] < axis.Extent && a.Home != Parameters && (op.B == graph.None || l.Polys[op.B].Home != Parameters) {
			axis.Extent, public = a.Shape[i], true
		}
		at[label] = variables(in.Vars, axis.Vars)
		in.Vars += axis.Vars
		axes = append(axes, axis)
	}
	if public {
		in.Public = axes
	}
	// Where all variables are of batch labels the sum-check's own eq takes the
	// place of a public factor.
	if in.Eq = len(roles.Batch) > 0 && len(roles.Sum) == 0; !in.Eq {
		in.At = nil
	}
	factors := []factor{{int(op.A), pointOf(op.AL, at)}}
	if op.B != graph.None {
		factors = append(factors, factor{int(op.B), pointOf(op.BL, at)})
	}
	l.add(in, factors...)
}

// pointOf is the point of a tensor whose axes have labels.
func pointOf(labels []uint8, at map[uint8]Point) (p Point) {
	for _, label := range labels {
		p = append(p, at[label]...)
	}
	return p
}

// rearrange adds the sum-check of a Rearrange, over the axes that are mapped.
// The point of any other axis is that of the axis that it becomes; if that is
// all, there is a relation instead.
func (l *layerBuilder) rearrange(id int, op graph.Rearrange) (fresh []int) {
	out, x := &l.Polys[l.Evals[id].Poly], &l.Polys[op.X]
	after := out.points(l.Evals[id].Point)
	before := make([]Point, len(after))
	for i, p := range after {
		k := i
		if op.Perm != nil {
			k = op.Perm[i]
		}
		before[k] = p
	}
	groups := make([]Point, len(op.Maps)) // by axis of x
	maps := make([]*graph.AxisMap, len(op.Maps))
	for i := range op.Maps {
		m := &op.Maps[i]
		n := len(m.Shape)
		groups[m.Axis], maps[m.Axis] = slices.Concat(before[:n]...), m
		before = before[n:]
	}
	in := Instance{Kind: Rearrange, Name: out.Name, Out: id}
	var point Point
	for a, m := range maps {
		if len(m.Index) == 0 {
			point = append(point, groups[a]...)
			continue
		}
		in.Public = append(in.Public, Axis{Kind: AxisMap, Vars: x.Axes[a], At: groups[a], Shape: m.Shape, Index: m.Index})
		point = append(point, variables(in.Vars, x.Axes[a])...)
		in.Vars += x.Axes[a]
	}
	if in.Public == nil {
		return l.relate(id, 0, []m31.Element{1}, []factor{{int(op.X), point}})
	}
	l.add(in, factor{int(op.X), point})
	return nil
}

// embed adds the sum-check of an Embed, over the rows of the table.
func (l *layerBuilder) embed(id int, op graph.Embed) {
	at := l.Evals[id].Point
	tokens, w := &l.Polys[op.Tokens], &l.Polys[op.W]
	rows := w.Axes[0]
	in := Instance{Kind: Embedding, Name: l.Polys[l.Evals[id].Poly].Name, Vars: rows, Out: id}
	own := at[:tokens.Vars:tokens.Vars]
	in.Public = []Axis{{Kind: AxisTokens, Vars: rows, At: own, Shape: tokens.Shape, Tokens: int(op.Tokens)}}
	var factors []factor
	if tokens.Home != Public {
		if rows > 0 {
			in.Secret = true
			factors = append(factors, factor{l.find(OneHot{Tokens: int(op.Tokens), Bits: rows, Real: true}), append(own, variables(0, rows)...)})
		} else { // all tokens are 0
			in.Public[0].Kind, in.Public[0].Index = AxisMap, make([]int32, graph.Elements(tokens.Shape))
		}
	}
	l.add(in, append(factors, factor{int(op.W), append(variables(0, rows), at[tokens.Vars:]...)})...)
}

// reshape adds the sum-check of a Reshape, whose public factor has a part for
// each group of axes that keep to themselves. Padding of the result is zero.
func (l *layerBuilder) reshape(id int, op graph.Reshape) {
	x := &l.Polys[op.X]
	in := Instance{Kind: Rearrange, Name: l.Polys[l.Evals[id].Poly].Name, Vars: x.Vars, Out: id, Public: []Axis{}}
	at := l.Evals[id].Point
	for _, g := range groups(l.program.Tensors[op.X].Shape, l.program.Tensors[op.Out].Shape) {
		from, to := graph.Vars(g.from), graph.Vars(g.to)
		axis := Axis{Vars: from, At: at[:to:to]}
		at = at[to:]
		switch {
		case from == 0:
			continue
		case dense(g.from) && dense(g.to):
			axis.Extent = graph.Elements(g.from)
		default:
			axis.Kind, axis.From, axis.Shape = AxisMoved, g.from, g.to
		}
		in.Public = append(in.Public, axis)
	}
	l.add(in, factor{int(op.X), variables(0, x.Vars)})
}

// group is axes that a reshape turns into others.
type group struct{ from, to []int }

// dense says whether the padded layout of a shape has no padding between its
// elements.
func dense(shape []int) bool {
	for _, n := range shape[min(1, len(shape)):] {
		if n&(n-1) != 0 {
			return false
		}
	}
	return true
}

// groups cuts two shapes of equal size into the smallest groups of equal size.
func groups(from, to []int) (out []group) {
	for len(from) > 0 || len(to) > 0 {
		i, j, m, n := 0, 0, 1, 1
		for i == 0 && j == 0 || m != n {
			if i < len(from) && (m <= n || j == len(to)) {
				m *= from[i]
				i++
			} else {
				n *= to[j]
				j++
			}
		}
		out = append(out, group{from[:i], to[:j]})
		from, to = from[i:], to[j:]
	}
	return out
}
