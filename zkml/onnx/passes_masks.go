package onnx

import (
	"math"
	"slices"
)

// masking is the number below which an element of a sum counts as "leave this out": its exponential is zero next to any other.
const masking = -1e4

// maskRule turns the sum before a Softmax of scores and a tensor that is 0 or very negative into a selection of scores by a mask. Adding
// large numbers would leave nothing of the scores in integers.
//
// The two differ in rows that are masked throughout and only if the number is not so large that it swallows the scores: such a row of a
// constant mask is left as it is.
func (r *rewriter) maskRule(n *Node) bool {
	if n.Op != OpSoftmax {
		return false
	}
	sum := r.nodeOf(n.Inputs[0], OpAdd)
	if sum == nil {
		return false
	}
	for _, k := range []int{1, 0} {
		scores := sum.Inputs[1-k]
		shape := r.shape(sum.Output)
		if !r.openRows(sum.Inputs[k], n.Attr.Axes, len(shape)) {
			continue
		}
		keep, c, ok := r.mask(n, sum.Inputs[k], 8)
		if !ok || r.m.Values[scores].Const != nil {
			continue
		}
		if s, fits := broadcast(r.shape(scores), r.shape(keep)); !fits || !slices.Equal(s, shape) {
			continue
		}
		x := r.emit(n, OpSelect, Attr{}, scores, keep, r.scalar(&Value{}, c))
		if x < 0 {
			continue
		}
		return n.replace(OpSoftmax, n.Attr, x)
	}
	return false
}

// openRows reports whether every row of a constant has an element 0, or masks with so much that it does not matter. What is computed
// passes: a model has no use for rows that inputs mask throughout.
func (r *rewriter) openRows(id int, axes []int, rank int) bool {
	c := r.m.Values[id].Const
	if c == nil {
		return true
	}
	const swallows = -1e30
	own := []int{}
	for _, a := range axes {
		if a -= rank - len(c.Shape); a >= 0 {
			own = append(own, a)
		}
	}
	along, starts := split(c.Shape, own)
	for _, s := range starts {
		open := false
		for _, o := range along {
			open = open || c.At(s+o) == 0 || c.At(s+o) < swallows
		}
		if !open {
			return false
		}
	}
	return true
}

// mask recognises a tensor that is 0 where a mask is 1 and c <= masking where it is 0.
func (r *rewriter) mask(at *Node, id, depth int) (keep int, c float64, ok bool) {
	if r.m.Values[id].Const != nil {
		return r.constantMask(id)
	}
	n := r.node(id)
	if n == nil || depth == 0 {
		return 0, 0, false
	}
	switch n.Op {
	case OpMul:
		for k, m := range n.Inputs {
			c, ok := r.constant(n.Inputs[1-k])
			if ok && c <= masking && r.m.Values[m].IsMask() && slices.Equal(r.shape(m), r.shape(id)) {
				keep := r.not(at, m)
				return keep, c, keep >= 0
			}
		}
	case OpSelect:
		return r.selectedMask(at, n)
	case OpAdd:
		a, ca, okA := r.mask(at, n.Inputs[0], depth-1)
		b, cb, okB := r.mask(at, n.Inputs[1], depth-1)
		if okA && okB && r.m.Values[a].Int == r.m.Values[b].Int {
			keep := r.emit(at, OpMul, Attr{}, a, b)
			return keep, max(ca, cb), keep >= 0
		}
	case OpMax:
		for k, other := range n.Inputs {
			if low, constant := r.constant(other); constant && low <= masking {
				keep, c, ok := r.mask(at, n.Inputs[1-k], depth-1)
				return keep, max(c, low), ok
			}
		}
	case OpReshape, OpRearrange:
		keep, c, ok := r.mask(at, n.Inputs[0], depth-1)
		if !ok || isFilled(n.Attr.Maps) || !slices.Equal(r.shape(keep), r.shape(n.Inputs[0])) {
			return 0, 0, false
		}
		keep = r.emit(at, n.Op, n.Attr, keep)
		return keep, c, keep >= 0
	}
	return 0, 0, false
}

func (r *rewriter) constantMask(id int) (keep int, c float64, ok bool) {
	v := &r.m.Values[id]
	if v.Int || v.Const.Len() == 0 {
		return 0, 0, false
	}
	out := &Tensor{Shape: v.Shape, Ints: make([]int64, v.Const.Len())}
	c = math.Inf(-1)
	masked := false
	for i, x := range v.Const.Real {
		switch {
		case x == 0:
			out.Ints[i] = 1
		case x <= masking:
			c, masked = max(c, float64(x)), true
		default:
			return 0, 0, false
		}
	}
	m := constantValue(out)
	m.Name = v.Name + "/mask"
	r.m.Values = append(r.m.Values, m)
	return len(r.m.Values) - 1, c, masked
}

// selectedMask takes selections between 0 and a very negative number, in either order; 0 may also be a mask that is 0 wherever it is
// selected.
func (r *rewriter) selectedMask(at, n *Node) (keep int, c float64, ok bool) {
	x, m := n.Inputs[0], n.Inputs[1]
	low, okLow := r.constant(n.Inputs[2])
	if !okLow || !slices.Equal(r.shape(m), r.shape(n.Output)) {
		return 0, 0, false
	}
	if low <= masking && (r.isConstant(x, 0) || r.opposite(x, m)) {
		return m, low, true
	}
	if c, ok := r.constant(x); ok && c <= masking && low == 0 {
		keep := r.not(at, m)
		return keep, c, keep >= 0
	}
	return 0, 0, false
}

// bare strips conversions between integers and real numbers.
func (r *rewriter) bare(id int) int {
	for {
		n := r.node(id)
		if n == nil || n.Op != OpDequantise && n.Op != OpQuantise || len(n.Attr.Scale) != 1 || n.Attr.Scale[0] != 1 || n.Attr.Zero[0] != 0 {
			return id
		}
		id = n.Inputs[0]
	}
}

// opposite reports whether one value is 1 minus another.
func (r *rewriter) opposite(a, b int) bool {
	for range 2 {
		if n := r.nodeOf(r.bare(a), OpSub); n != nil && r.isConstant(n.Inputs[0], 1) && r.bare(n.Inputs[1]) == r.bare(b) {
			return true
		}
		a, b = b, a
	}
	return false
}

// not turns a mask over, taking back what turned it over before.
func (r *rewriter) not(at *Node, m int) int {
	if n := r.nodeOf(m, OpSub); n != nil && r.isConstant(n.Inputs[0], 1) && slices.Equal(r.shape(n.Inputs[1]), r.shape(m)) {
		return n.Inputs[1]
	}
	return r.emit(at, OpSub, Attr{}, r.scalar(&r.m.Values[m], 1), m)
}
