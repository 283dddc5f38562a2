package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// infer checks a node against its operands and returns its result without name: shape, kind and bounds. It is the one place that says
// what a primitive operation accepts.
func (m *Model) infer(n *Node) (Value, error) {
	in := make([]*Value, len(n.Inputs))
	for i, id := range n.Inputs {
		in[i] = &m.Values[id]
	}
	v, err := n.infer(in)
	if err != nil {
		return v, err
	}
	return v, checkSize(v.Shape)
}

func (n *Node) infer(in []*Value) (Value, error) {
	switch n.Op {
	case OpEinsum:
		return n.inferEinsum(in)
	case OpAdd, OpSub, OpMul, OpDiv, OpMin, OpMax:
		return n.inferPair(in)
	case OpUnary:
		v := Value{Shape: in[0].Shape}
		if n.Attr.Func == FuncPositive || n.Attr.Func == FuncZero {
			v.setWhole(false, bounds{0, 1})
		}
		return v, needReal(in[0])
	case OpSelect:
		return n.inferSelect(in)
	case OpRearrange:
		return n.inferRearrange(in[0])
	case OpConcat:
		return n.inferConcat(in)
	case OpReshape:
		if elements(n.Attr.Shape) != elements(in[0].Shape) {
			return Value{}, fmt.Errorf("shape %v becomes %v, which has another number of elements", in[0].Shape, n.Attr.Shape)
		}
		return Value{Shape: n.Attr.Shape, Int: in[0].Int, Whole: in[0].Whole, Lo: in[0].Lo, Hi: in[0].Hi}, nil
	case OpReduceSum, OpReduceMax:
		return n.inferReduce(in[0])
	case OpSoftmax, OpNorm:
		if err := checkAxes(n.Attr.Axes, len(in[0].Shape)); err != nil {
			return Value{}, err
		}
		return Value{Shape: in[0].Shape}, needReal(in[0])
	case OpEmbed:
		return n.inferEmbed(in)
	case OpQuantise, OpDequantise:
		return n.inferQuantise(in[0])
	case OpArgMax:
		return n.inferArgMax(in[0])
	case OpTable:
		return n.inferTable(in)
	}
	return Value{}, fmt.Errorf("operation %s does not exist", n.Op)
}

// refused is an error about operands that make sense, but not here.
type refused struct{ error }

func needReal(in ...*Value) error {
	for _, v := range in {
		if v.Int {
			return fmt.Errorf("tensor %s has integer elements, expected a float type", Quote(v.Name))
		}
	}
	return nil
}

// sameKind checks that operands are all integers or all real, and returns which.
func sameKind(in []*Value) (bool, error) {
	for _, v := range in[1:] {
		if v.Int != in[0].Int {
			return false, fmt.Errorf("tensors %s and %s are of different types (integers and real numbers)", Quote(in[0].Name), Quote(v.Name))
		}
	}
	return in[0].Int, nil
}

// checkAxes wants increasing axes of a tensor of that rank.
func checkAxes(axes []int, rank int) error {
	for i, a := range axes {
		if a < 0 || a >= rank || i > 0 && a <= axes[i-1] {
			return fmt.Errorf("axes %v, expected increasing numbers below the rank %d", axes, rank)
		}
	}
	return nil
}

// broadcast returns the common shape of operands under the usual right-aligned rule.
func broadcast(shapes ...[]int) ([]int, bool) {
	shape := slices.Clone(shapes[0])
	for _, s := range shapes[1:] {
		if len(s) > len(shape) {
			shape = append(slices.Repeat([]int{1}, len(s)-len(shape)), shape...)
		}
		offset := len(shape) - len(s)
		for i, d := range s {
			switch e := shape[offset+i]; {
			case d == e || d == 1:
			case e == 1:
				shape[offset+i] = d
			default:
				return nil, false
			}
		}
	}
	return shape, true
}

// bounds is an interval of whole numbers that saturates far beyond what any program could hold.
type bounds struct{ lo, hi int64 }

const boundLimit = 1 << 52

func saturated(lo, hi float64) bounds {
	return bounds{int64(max(lo, -boundLimit)), int64(min(hi, boundLimit))}
}

func (v *Value) bounds() bounds { return bounds{v.Lo, v.Hi} }

// pairBounds is interval arithmetic.
func pairBounds(op Op, a, b bounds) bounds {
	al, ah, bl, bh := float64(a.lo), float64(a.hi), float64(b.lo), float64(b.hi)
	switch op {
	case OpAdd:
		return saturated(al+bl, ah+bh)
	case OpSub:
		return saturated(al-bh, ah-bl)
	case OpMin:
		return bounds{min(a.lo, b.lo), min(a.hi, b.hi)}
	case OpMax:
		return bounds{max(a.lo, b.lo), max(a.hi, b.hi)}
	}
	return saturated(min(al*bl, al*bh, ah*bl, ah*bh), max(al*bl, al*bh, ah*bl, ah*bh))
}

// setWhole marks a result as whole numbers within bounds, as integers or as real numbers that float32 holds exactly.
func (v *Value) setWhole(integer bool, b bounds) {
	if !integer && (b.lo < -1<<24 || b.hi > 1<<24) {
		return
	}
	v.Int, v.Whole, v.Lo, v.Hi = integer, !integer, b.lo, b.hi
}

func (v *Value) isWhole() bool { return v.Int || v.Whole }

func (n *Node) inferPair(in []*Value) (Value, error) {
	shape, ok := broadcast(in[0].Shape, in[1].Shape)
	if !ok {
		return Value{}, fmt.Errorf("shapes %v and %v do not broadcast", in[0].Shape, in[1].Shape)
	}
	v := Value{Shape: shape}
	integer, err := sameKind(in)
	if err != nil {
		return v, err
	}
	if n.Op == OpDiv && integer {
		return v, refused{errors.New("division of computed integers")}
	}
	if n.Op != OpDiv && in[0].isWhole() && in[1].isWhole() {
		v.setWhole(integer, pairBounds(n.Op, in[0].bounds(), in[1].bounds()))
	}
	return v, nil
}

func (n *Node) inferSelect(in []*Value) (Value, error) {
	shape, ok := broadcast(in[0].Shape, in[1].Shape, in[2].Shape)
	v := Value{Shape: shape}
	if !ok {
		return v, fmt.Errorf("shapes %v, %v and %v do not broadcast", in[0].Shape, in[1].Shape, in[2].Shape)
	}
	if !in[1].IsMask() {
		return v, refused{fmt.Errorf("the condition %s is not known to be 0 or 1 (bounds %d and %d)", Quote(in[1].Name), in[1].Lo, in[1].Hi)}
	}
	if in[2].Const == nil {
		return v, refused{fmt.Errorf("the replacement %s is computed, expected a constant", Quote(in[2].Name))}
	}
	integer, err := sameKind([]*Value{in[0], in[2]})
	if err == nil && in[0].isWhole() && in[2].isWhole() {
		v.setWhole(integer, bounds{min(in[0].Lo, in[2].Lo), max(in[0].Hi, in[2].Hi)})
	}
	return v, err
}

// inferEinsum checks labels: none repeats within an operand, lengths agree, and every label that the result drops is in all operands.
func (n *Node) inferEinsum(in []*Value) (Value, error) {
	labels := n.Attr.Labels
	if len(in) < 1 || len(in) > 2 || len(labels) != len(in)+1 {
		return Value{}, fmt.Errorf("%d operands with %d lists of labels", len(in), len(labels))
	}
	extent := map[uint8]int{}
	count := map[uint8]int{}
	for i, v := range in {
		if len(labels[i]) != len(v.Shape) {
			return Value{}, fmt.Errorf("%d labels for tensor %s of shape %v", len(labels[i]), Quote(v.Name), v.Shape)
		}
		for axis, l := range labels[i] {
			if slices.Contains(labels[i][:axis], l) {
				return Value{}, refused{fmt.Errorf("tensor %s: label %d names two axes", Quote(v.Name), l)}
			}
			if d, seen := extent[l]; seen && d != v.Shape[axis] {
				return Value{}, fmt.Errorf("shapes %v and %v do not contract", in[0].Shape, v.Shape)
			}
			extent[l] = v.Shape[axis]
			count[l]++
		}
	}
	out := labels[len(in)]
	shape := make([]int, len(out))
	for i, l := range out {
		d, ok := extent[l]
		if !ok || slices.Contains(out[:i], l) {
			return Value{}, fmt.Errorf("label %d of the result is in no operand, or twice in the result", l)
		}
		shape[i] = d
	}
	terms := 1
	for l, d := range extent {
		if slices.Contains(out, l) {
			continue
		}
		if count[l] != len(in) {
			return Value{}, fmt.Errorf("label %d is summed and not in both operands", l)
		}
		terms *= d
	}
	v := Value{Shape: shape}
	integer, err := sameKind(in)
	if err != nil {
		return v, err
	}
	b := in[0].bounds()
	whole := in[0].isWhole()
	if len(in) == 2 {
		b, whole = pairBounds(OpMul, b, in[1].bounds()), whole && in[1].isWhole()
	}
	if whole {
		v.setWhole(integer, pairBounds(OpMul, b, bounds{int64(terms), int64(terms)}))
	}
	return v, nil
}

func (n *Node) inferRearrange(x *Value) (Value, error) {
	seen := make([]bool, len(x.Shape))
	var shape []int
	filled := false
	for _, m := range n.Attr.Maps {
		if m.Axis < 0 || m.Axis >= len(seen) || seen[m.Axis] {
			return Value{}, fmt.Errorf("axis %d of shape %v is mapped twice or does not exist", m.Axis, x.Shape)
		}
		seen[m.Axis] = true
		d := x.Shape[m.Axis]
		shape = append(shape, m.Shape...)
		if m.Index == nil {
			if len(m.Shape) != 1 || m.Shape[0] != d {
				return Value{}, fmt.Errorf("axis %d of length %d is kept with shape %v", m.Axis, d, m.Shape)
			}
			continue
		}
		if len(m.Index) != elements(m.Shape) {
			return Value{}, fmt.Errorf("axis %d: %d indices for shape %v", m.Axis, len(m.Index), m.Shape)
		}
		for _, i := range m.Index {
			if i < -1 || int(i) >= d {
				return Value{}, fmt.Errorf("axis %d: index %d, expected -1 to %d", m.Axis, i, d-1)
			}
			filled = filled || i < 0
		}
	}
	if slices.Contains(seen, false) {
		return Value{}, fmt.Errorf("an axis of shape %v is mapped nowhere", x.Shape)
	}
	v := Value{Shape: shape, Int: x.Int, Whole: x.Whole, Lo: x.Lo, Hi: x.Hi}
	if n.Attr.Perm != nil {
		if err := checkPerm(n.Attr.Perm, len(shape)); err != nil {
			return v, err
		}
		v.Shape = permuted(shape, n.Attr.Perm)
	}
	if filled && x.isWhole() {
		if f := n.Attr.Fill; f == math.Trunc(f) && math.Abs(f) < 1<<24 {
			v.Lo, v.Hi = min(v.Lo, int64(f)), max(v.Hi, int64(f))
		} else if v.Whole, v.Lo, v.Hi = false, 0, 0; v.Int {
			return v, fmt.Errorf("integers are filled up with %g", f)
		}
	}
	return v, nil
}

func checkPerm(perm []int, rank int) error {
	seen := make([]bool, rank)
	if len(perm) != rank {
		return fmt.Errorf("permutation %v of %d axes", perm, rank)
	}
	for _, p := range perm {
		if p < 0 || p >= rank || seen[p] {
			return fmt.Errorf("permutation %v of %d axes", perm, rank)
		}
		seen[p] = true
	}
	return nil
}

func permuted(shape, perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[i] = shape[p]
	}
	return out
}

func (n *Node) inferConcat(in []*Value) (Value, error) {
	axis := n.Attr.Axis
	if axis < 0 || axis >= len(in[0].Shape) {
		return Value{}, fmt.Errorf("axis %d of shape %v", axis, in[0].Shape)
	}
	integer, err := sameKind(in)
	if err != nil {
		return Value{}, err
	}
	shape := slices.Clone(in[0].Shape)
	b, whole := in[0].bounds(), in[0].isWhole()
	for _, v := range in[1:] {
		if len(v.Shape) != len(shape) || !slices.Equal(v.Shape[:axis], shape[:axis]) || !slices.Equal(v.Shape[axis+1:], shape[axis+1:]) {
			return Value{}, fmt.Errorf("shapes %v and %v do not join along axis %d", in[0].Shape, v.Shape, axis)
		}
		shape[axis] += v.Shape[axis]
		b, whole = bounds{min(b.lo, v.Lo), max(b.hi, v.Hi)}, whole && v.isWhole()
	}
	v := Value{Shape: shape}
	if whole {
		v.setWhole(integer, b)
	}
	return v, nil
}

func (n *Node) inferReduce(x *Value) (Value, error) {
	if err := checkAxes(n.Attr.Axes, len(x.Shape)); err != nil {
		return Value{}, err
	}
	shape := []int{}
	terms := 1
	for i, d := range x.Shape {
		if slices.Contains(n.Attr.Axes, i) {
			terms *= d
		} else {
			shape = append(shape, d)
		}
	}
	v := Value{Shape: shape}
	if terms == 0 {
		return v, errors.New("a reduction of nothing")
	}
	if x.isWhole() {
		b := x.bounds()
		if n.Op == OpReduceSum {
			b = pairBounds(OpMul, b, bounds{int64(terms), int64(terms)})
		}
		v.setWhole(x.Int, b)
	}
	return v, nil
}

func (n *Node) inferEmbed(in []*Value) (Value, error) {
	ids, table := in[0], in[1]
	switch {
	case !ids.Int || table.Const == nil || len(table.Shape) != 2:
		return Value{}, refused{fmt.Errorf("indices %s and table %s, expected computed integers and a constant matrix", Quote(ids.Name), Quote(table.Name))}
	case ids.Lo < 0 || ids.Hi >= int64(table.Shape[0]):
		return Value{}, fmt.Errorf("indices %s between %d and %d, the table has %d rows", Quote(ids.Name), ids.Lo, ids.Hi, table.Shape[0])
	}
	v := Value{Shape: append(slices.Clone(ids.Shape), table.Shape[1])}
	if table.isWhole() {
		v.setWhole(table.Int, table.bounds())
	}
	return v, nil
}

func (n *Node) inferQuantise(x *Value) (Value, error) {
	a := &n.Attr
	v := Value{Shape: x.Shape}
	if len(a.Scale) != len(a.Zero) || len(a.Scale) == 0 {
		return v, fmt.Errorf("%d scales and %d zero points", len(a.Scale), len(a.Zero))
	}
	if len(a.Scale) > 1 && (a.Axis < 0 || a.Axis >= len(x.Shape) || x.Shape[a.Axis] != len(a.Scale)) {
		return v, fmt.Errorf("%d scales for axis %d of shape %v", len(a.Scale), a.Axis, x.Shape)
	}
	for _, s := range a.Scale {
		if !(s > 0) || math.IsInf(float64(s), 0) {
			return v, fmt.Errorf("scale %g, expected a positive number", s)
		}
	}
	if n.Op == OpQuantise {
		if a.Lo >= a.Hi {
			return v, fmt.Errorf("range [%d, %d] is empty", a.Lo, a.Hi)
		}
		v.setWhole(true, bounds{a.Lo, a.Hi})
		return v, nil
	}
	if !x.Int {
		return v, fmt.Errorf("tensor %s has real elements, expected integers", Quote(x.Name))
	}
	if len(a.Scale) == 1 && a.Scale[0] == 1 {
		v.setWhole(false, pairBounds(OpSub, x.bounds(), bounds{a.Zero[0], a.Zero[0]}))
	}
	return v, nil
}

func (n *Node) inferArgMax(x *Value) (Value, error) {
	axis := n.Attr.Axis
	if axis < 0 || axis >= len(x.Shape) || x.Shape[axis] == 0 {
		return Value{}, fmt.Errorf("axis %d of shape %v", axis, x.Shape)
	}
	v := Value{Shape: slices.Clone(x.Shape)}
	if n.Attr.KeepDims {
		v.Shape[axis] = 1
	} else {
		v.Shape = slices.Delete(v.Shape, axis, axis+1)
	}
	v.setWhole(true, bounds{0, int64(x.Shape[axis] - 1)})
	return v, nil
}
