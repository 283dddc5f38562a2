package onnx

import (
	"math"
	"slices"
)

// sum returns the integer form of a value that is computed from codes by sums, products and moves.
func (f *fuser) sum(id int) *sum {
	s, seen := f.sums[id]
	if !seen {
		s = f.findSum(id)
		if s != nil && s.id < 0 {
			s = nil
		}
		f.sums[id] = s
	}
	return s
}

func (f *fuser) findSum(id int) *sum {
	v, n := &f.m.Values[id], f.node(id)
	if v.Coded != nil {
		return &sum{f.constant(v.Coded.Ints, v.Shape), v.Coded.Scale, 1}
	}
	if n == nil {
		return nil
	}
	switch n.Op {
	case OpDequantise:
		return f.centred(n, f.resolve(n.Inputs[0]), n.Attr)
	case OpEinsum:
		return f.sumEinsum(n)
	case OpAdd, OpSub:
		return f.sumPair(n)
	case OpMul:
		return f.sumScaled(n)
	case OpReshape, OpRearrange:
		s := f.sum(n.Inputs[0])
		if s == nil {
			return nil
		}
		scale := n.scaleAfter(s.scale, f.m.Values[n.Inputs[0]].Shape, v.Shape)
		if scale == nil {
			return nil
		}
		return &sum{f.emit(n, n.Op, n.Attr, s.id), scale, s.over}
	case OpReduceSum, OpReduceMax:
		s := f.sum(n.Inputs[0])
		if s == nil {
			return nil
		}
		scale := &Tensor{Shape: []int{}, Real: s.scale.Real}
		for a, d := range s.scale.Shape {
			switch {
			case !slices.Contains(n.Attr.Axes, a):
				scale.Shape = append(scale.Shape, d)
			case d > 1:
				return nil
			}
		}
		return &sum{f.emit(n, n.Op, n.Attr, s.id), scale, s.over}
	case OpEmbed, OpConcat, OpMax, OpMin:
		if q := f.moved(id); q != nil {
			return f.centred(n, q.id, Attr{Scale: []float32{q.scale}, Zero: []int64{q.zero}})
		}
	}
	return nil
}

// centred subtracts zero points from codes.
func (f *fuser) centred(n *Node, x int, attr Attr) *sum {
	rank := len(f.m.Values[x].Shape)
	s := &sum{x, axisScale(rank, attr), 1}
	switch zero := attr.Zero; {
	case !slices.ContainsFunc(zero, func(z int64) bool { return z != 0 }):
	case len(zero) == 1:
		s.id = f.emit(n, OpSub, Attr{}, x, f.constant(zero, []int{}))
	default:
		shape := slices.Repeat([]int{1}, rank)
		shape[attr.Axis] = len(zero)
		s.id = f.emit(n, OpSub, Attr{}, x, f.constant(zero, shape))
	}
	return s
}

// sumEinsum needs scales that do not change along the summed axes.
func (f *fuser) sumEinsum(n *Node) *sum {
	out := n.Attr.Labels[len(n.Inputs)]
	over := int64(1)
	var ids []int
	scale := &Tensor{Shape: slices.Repeat([]int{1}, len(out)), Real: []float32{1}}
	for k, in := range n.Inputs {
		s := f.sum(in)
		if s == nil {
			return nil
		}
		own := aligned(s.scale, n.Attr.Labels[k], out)
		if own == nil || s.over > 1<<20 || over > 1<<20 {
			return nil
		}
		scale = product(scale, own)
		over *= s.over
		ids = append(ids, s.id)
	}
	return &sum{f.emit(n, OpEinsum, n.Attr, ids...), compressed(scale), over}
}

// aligned moves the axes of a tensor of scales to the places of their labels in a result; nil if a summed axis has several scales.
func aligned(scale *Tensor, labels, out []uint8) *Tensor {
	to := &Tensor{Shape: slices.Repeat([]int{1}, len(out)), Real: make([]float32, len(scale.Real))}
	steps := make([]int, len(out)) // of the operand, by axis of the result
	step := 1
	for a := len(labels) - 1; a >= 0; a-- {
		d := scale.Shape[a]
		if d == 1 {
			continue
		}
		at := slices.Index(out, labels[a])
		if at < 0 {
			return nil
		}
		to.Shape[at], steps[at] = d, step
		step *= d
	}
	for i := range to.Real {
		from, rest := 0, i
		for a := len(out) - 1; a >= 0; a-- {
			from += rest % to.Shape[a] * steps[a]
			rest /= to.Shape[a]
		}
		to.Real[i] = scale.Real[from]
	}
	return to
}

// product multiplies two tensors of scales of one rank.
func product(a, b *Tensor) *Tensor {
	shape, _ := broadcast(a.Shape, b.Shape)
	out := &Tensor{Shape: shape, Real: make([]float32, elements(shape))}
	pairwise(OpMul, a.Real, b.Real, out.Real, newRows(shape, a.Shape, b.Shape))
	return out
}

// sumPair adds forms of one scale. The scale of the operand that is computed counts, as in runtimes: a bias is taken as integers.
func (f *fuser) sumPair(n *Node) *sum {
	a, b := f.sum(n.Inputs[0]), f.sum(n.Inputs[1])
	if a == nil || b == nil || a.over != b.over {
		return nil
	}
	rank := max(len(a.scale.Shape), len(b.scale.Shape))
	sa, sb := widened(a.scale, rank), widened(b.scale, rank)
	shape, ok := broadcast(sa.Shape, sb.Shape)
	if !ok {
		return nil
	}
	x, y := spread(sa, shape), spread(sb, shape)
	for i := range x.Real {
		if !nearlyEqual(x.Real[i], y.Real[i]) {
			return nil
		}
	}
	scale := x
	if f.m.Values[n.Inputs[0]].Const != nil {
		scale = y
	}
	return &sum{f.emit(n, n.Op, Attr{}, a.id, b.id), compressed(scale), a.over}
}

// widened puts axes of length 1 before the others.
func widened(t *Tensor, rank int) *Tensor {
	return &Tensor{Shape: append(slices.Repeat([]int{1}, rank-len(t.Shape)), t.Shape...), Real: t.Real}
}

// sumScaled takes constant factors out of a sum: whole divisors, as averages have them, or one positive number.
func (f *fuser) sumScaled(n *Node) *sum {
	x, c := n.Inputs[0], n.Inputs[1]
	if f.m.Values[c].Const == nil {
		x, c = c, x
	}
	constant := f.m.Values[c].Const
	if constant == nil || len(constant.Real) == 0 {
		return nil
	}
	s := f.sum(x)
	if s == nil || len(constant.Shape) > len(f.m.Values[x].Shape) {
		return nil
	}
	common := int64(1)
	divisors := make([]int64, len(constant.Real))
	for i, v := range constant.Real {
		d := math.Round(1 / float64(v))
		if !(v > 0) || d > 1<<16 || float32(1/d) != v {
			common = 0
			break
		}
		divisors[i] = int64(d)
		if common = common / gcd(common, int64(d)) * int64(d); common > 1<<16 {
			common = 0
			break
		}
	}
	switch {
	case common > 0 && s.over <= 1<<16:
		id := s.id
		if len(divisors) > 1 {
			for i, d := range divisors {
				divisors[i] = common / d
			}
			id = f.emit(n, OpMul, Attr{}, id, f.constant(divisors, constant.Shape))
		}
		return &sum{id, s.scale, s.over * common}
	case len(constant.Real) == 1 && constant.Real[0] > 0:
		return &sum{s.id, product(s.scale, &Tensor{Shape: slices.Repeat([]int{1}, len(s.scale.Shape)), Real: constant.Real}), s.over}
	}
	return nil
}
