package onnx

import (
	"math"
	"slices"
)

// Coded says that a constant was made from integers: element i is (Ints[i]) * Scale. The zero point is subtracted already.
type Coded struct {
	Ints []int64
	// Scale has the constant's rank; its axes have the constant's lengths, or 1 where all scales along them are equal.
	Scale *Tensor
}

// axisScale is a tensor of scales along one axis of a shape, or one number.
func axisScale(rank int, attr Attr) *Tensor {
	shape := slices.Repeat([]int{1}, rank)
	if len(attr.Scale) > 1 {
		shape[attr.Axis] = len(attr.Scale)
	}
	return compressed(&Tensor{Shape: shape, Real: attr.Scale})
}

// compressed cuts axes along which nothing changes to length 1.
func compressed(t *Tensor) *Tensor {
	for axis := range t.Shape {
		n, run := t.Shape[axis], elements(t.Shape[axis+1:])
		if n == 1 {
			continue
		}
		same := true
		for i, v := range t.Real {
			if i/run%n > 0 && v != t.Real[i-run] {
				same = false
				break
			}
		}
		if !same {
			continue
		}
		cut := &Tensor{Shape: slices.Clone(t.Shape)}
		cut.Shape[axis] = 1
		for i, v := range t.Real {
			if i/run%n == 0 {
				cut.Real = append(cut.Real, v)
			}
		}
		t = cut
	}
	return t
}

// spread repeats a tensor of scales to a shape of the same rank.
func spread(t *Tensor, shape []int) *Tensor {
	if slices.Equal(t.Shape, shape) {
		return t
	}
	out := &Tensor{Shape: shape, Real: make([]float32, elements(shape))}
	r := newRows(shape, t.Shape)
	r.each(func(start int, offsets []int) {
		for i := range r.length {
			out.Real[start+i] = t.Real[offsets[0]+i*r.inner[0]]
		}
	})
	return out
}

// scaleAfter is the tensor of scales of a result of a node that only moves elements, given that of its operand of the given shape.
// It is nil where elements are filled in or scales mix.
func (n *Node) scaleAfter(scale *Tensor, from, to []int) *Tensor {
	switch n.Op {
	case OpReshape:
		if len(scale.Real) == 1 {
			return &Tensor{Shape: slices.Repeat([]int{1}, len(to)), Real: scale.Real}
		}
		return compressed(&Tensor{Shape: to, Real: spread(scale, from).Real})
	case OpRearrange:
		if n.Attr.Fill != 0 {
			return nil
		}
		if len(scale.Real) == 1 {
			return &Tensor{Shape: slices.Repeat([]int{1}, len(to)), Real: scale.Real}
		}
		out := &Tensor{Shape: to, Real: make([]float32, elements(to))}
		evaluateRearrange(&n.Attr, spread(scale, from), out)
		if slices.Contains(out.Real, 0) {
			return nil
		}
		return compressed(out)
	}
	return nil
}

// carry gives the result of a folded node the codes of its operand, if the node only moves elements.
func (t *translation) carry(n *Node, id int) {
	if t.err != nil || id < 0 || n.Op != OpReshape && n.Op != OpRearrange {
		return
	}
	from, to := &t.im.m.Values[n.Inputs[0]], &t.im.m.Values[id]
	if from.Coded == nil {
		return
	}
	scale := n.scaleAfter(from.Coded.Scale, from.Shape, to.Shape)
	if scale == nil {
		return
	}
	moved, err := n.evaluate([]*Tensor{{Shape: from.Shape, Ints: from.Coded.Ints}}, &Value{Shape: to.Shape, Int: true})
	if err == nil {
		to.Coded = &Coded{Ints: moved.Ints, Scale: scale}
	}
}

// noteCodes keeps what a constant was made from by a DequantizeLinear.
func (t *translation) noteCodes(y int, attr Attr) {
	if t.err != nil || t.value(0).Const == nil || y < t.first {
		return
	}
	v, codes := &t.im.m.Values[y], slices.Clone(t.value(0).Const.Ints)
	attr.perAxis(v.Shape, func(lo, hi int, _ float32, zero int64) {
		for i := lo; i < hi; i++ {
			codes[i] -= zero
		}
	})
	v.Coded = &Coded{Ints: codes, Scale: axisScale(len(v.Shape), attr)}
}

// nearlyEqual reports whether two scales are the same but for rounding: the scale of a bias is the product of two others, rounded by
// whoever wrote the file.
func nearlyEqual(a, b float32) bool {
	return math.Abs(float64(a)-float64(b)) <= 1e-6*math.Abs(float64(b))
}
