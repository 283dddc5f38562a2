package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// This file holds what translations of operators emit primitive operations with. Each function returns the index of the result. The first
// error sticks in t.err; after it, and for an operand that is -1, they do nothing and return -1.

// emit adds an operation, or evaluates it at once if all its operands are constant.
func (t *translation) emit(op Op, attr Attr, inputs ...int) int {
	if t.err != nil || slices.Contains(inputs, -1) {
		return -1
	}
	m := t.im.m
	n := Node{Name: t.name(), Origin: t.proto.OpType, Op: op, Inputs: inputs, Attr: attr}
	v, err := m.infer(&n)
	if err != nil {
		if errors.As(err, new(refused)) {
			return t.fail(t.unsupported("%w", err))
		}
		return t.fail(t.malformed("%w", err))
	}
	constant := true
	for _, id := range inputs {
		constant = constant && m.Values[id].Const != nil
	}
	if constant {
		return t.fold(&n, v)
	}
	if elements(v.Shape) == 0 {
		return t.fail(t.unsupported("a computed tensor without elements (shape %v)", v.Shape))
	}
	if err := n.checkConstants(m); err != nil {
		return t.fail(t.unsupported("%w", err))
	}
	switch kind := m.Values[inputs[0]].Type; op {
	case OpReshape, OpRearrange, OpConcat, OpSelect, OpMin, OpMax, OpReduceMax:
		if narrow(kind) { // arithmetic on what is moved stays modulo 2^8 or 2^16
			v.Type = kind
		}
	}
	n.Output = t.addValue(v)
	m.Nodes = append(m.Nodes, n)
	return n.Output
}

// fail records the first error.
func (t *translation) fail(err error) int {
	if t.err == nil {
		t.err = err
	}
	return -1
}

// name is the node's name, or one made of operator and position.
func (t *translation) name() string {
	if t.proto.Name != "" {
		return t.proto.Name
	}
	return fmt.Sprintf("%s_%d", t.proto.OpType, t.position)
}

// addValue appends a value with a provisional name.
func (t *translation) addValue(v Value) int {
	m := t.im.m
	v.Name = fmt.Sprintf("%s/%d", t.proto.Output[0], len(m.Values)-t.first)
	m.Values = append(m.Values, v)
	return len(m.Values) - 1
}

// maxFolded bounds the elements that are computed from constants, beyond a multiple of what the file holds itself: otherwise a small file
// could fill the memory.
const (
	maxFolded   = 1 << 26
	foldedTimes = 8
	// productsPerElement is how many products of an Einsum count as one element.
	productsPerElement = 16
)

// charge counts elements computed from constants.
func (t *translation) charge(n int) error {
	t.im.folded += n
	if limit := maxFolded + foldedTimes*t.im.given; t.im.folded > limit {
		return t.unsupported("evaluating it on constants: %d elements so far, expected at most %d for %d in the file", t.im.folded, limit, t.im.given)
	}
	return nil
}

// fold evaluates an operation on constants.
func (t *translation) fold(n *Node, v Value) int {
	in := make([]*Tensor, len(n.Inputs))
	for k, id := range n.Inputs {
		in[k] = t.im.m.Values[id].Const
	}
	if n.Op != OpReshape {
		size := elements(v.Shape)
		if n.Op == OpEinsum { // a small result may take long
			size = max(size, t.im.m.Work(n)/productsPerElement)
		}
		if err := t.charge(size); err != nil {
			return t.fail(err)
		}
	}
	c, err := n.evaluateExact(in, &v)
	if err != nil {
		return t.fail(t.unsupported("evaluating it on constants: %w", err))
	}
	id := t.constTensor(c)
	t.carry(n, id)
	if order, ok := n.order(); ok && id >= 0 {
		if t.im.m.turned == nil {
			t.im.m.turned = map[int]turned{}
		}
		t.im.m.turned[id] = turned{n.Inputs[0], order}
	}
	return id
}

// constTensor adds a constant.
func (t *translation) constTensor(c *Tensor) int {
	if t.err != nil {
		return -1
	}
	return t.addValue(constantValue(c))
}

// constantValue describes a constant, with the bounds of whole numbers.
func constantValue(c *Tensor) Value {
	v := Value{Shape: c.Shape, Const: c, Int: c.Ints != nil}
	if v.Int {
		if len(c.Ints) > 0 {
			v.Lo, v.Hi = slices.Min(c.Ints), slices.Max(c.Ints)
		}
		return v
	}
	for _, x := range c.Real {
		if y := float64(x); y != math.Trunc(y) || math.Abs(y) > 1<<24 {
			return v
		}
	}
	if v.Whole = len(c.Real) > 0; v.Whole {
		v.Lo, v.Hi = int64(slices.Min(c.Real)), int64(slices.Max(c.Real))
	}
	return v
}

// scalar adds a real constant of rank 0.
func (t *translation) scalar(x float64) int {
	return t.constTensor(&Tensor{Shape: []int{}, Real: []float32{float32(x)}})
}

// integer adds an integer constant of rank 0.
func (t *translation) integer(x int64) int {
	return t.constTensor(&Tensor{Shape: []int{}, Ints: []int64{x}})
}

// one adds the number one in the kind of another value.
func (t *translation) one(like int) int {
	if like >= 0 && t.im.m.Values[like].Int {
		return t.integer(1)
	}
	return t.scalar(1)
}

func (t *translation) einsum(labels [][]uint8, ids ...int) int {
	return t.emit(OpEinsum, Attr{Labels: renamed(labels)}, ids...)
}

// renamed numbers labels in the order of their first appearance.
func renamed(labels [][]uint8) [][]uint8 {
	number := map[uint8]uint8{}
	out := make([][]uint8, len(labels))
	for k, list := range labels {
		out[k] = make([]uint8, len(list))
		for i, l := range list {
			n, seen := number[l]
			if !seen {
				n = uint8(len(number))
				number[l] = n
			}
			out[k][i] = n
		}
	}
	return out
}

func (t *translation) add(a, b int) int { return t.emit(OpAdd, Attr{}, a, b) }
func (t *translation) sub(a, b int) int { return t.emit(OpSub, Attr{}, a, b) }
func (t *translation) mul(a, b int) int { return t.emit(OpMul, Attr{}, a, b) }
func (t *translation) min(a, b int) int { return t.emit(OpMin, Attr{}, a, b) }
func (t *translation) max(a, b int) int { return t.emit(OpMax, Attr{}, a, b) }

func (t *translation) unary(f Func, x int, params ...float64) int {
	if len(params) != f.Params() {
		return t.fail(fmt.Errorf("%s: function %s with %d parameters", t.label, f, len(params)))
	}
	attr := Attr{Func: f}
	for i, p := range []*float64{&attr.A, &attr.B} {
		if i < len(params) {
			*p = params[i]
		}
	}
	return t.emit(OpUnary, attr, x)
}

// sel is x where the mask is 1 and the constant c where it is 0.
func (t *translation) sel(x, mask, c int) int { return t.emit(OpSelect, Attr{}, x, mask, c) }

// not turns a mask over.
func (t *translation) not(mask int) int { return t.sub(t.one(mask), mask) }

// shape returns a value's shape, nil after an error.
func (t *translation) shape(id int) []int {
	if t.err != nil || id < 0 {
		return nil
	}
	return t.im.m.Values[id].Shape
}

// rearrange drops itself when it changes nothing.
func (t *translation) rearrange(x int, maps []AxisMap, perm []int, fill float64) int {
	if t.err != nil || x < 0 {
		return -1
	}
	maps = slices.Clone(maps)
	same := true
	for i := range maps {
		m := &maps[i]
		if m.Index != nil && len(m.Shape) == 1 && m.Axis < len(t.shape(x)) && isIota(m.Index, t.shape(x)[m.Axis]) {
			m.Index = nil
		}
		same = same && m.Index == nil && m.Axis == i
	}
	for i, p := range perm {
		same = same && p == i
	}
	if same && len(maps) == len(t.shape(x)) {
		return x
	}
	return t.emit(OpRearrange, Attr{Maps: maps, Perm: perm, Fill: fill}, x)
}

func isIota(index []int32, n int) bool {
	if len(index) != n {
		return false
	}
	for i, v := range index {
		if int(v) != i {
			return false
		}
	}
	return true
}

// keep maps every axis of a shape to itself.
func keep(shape []int) []AxisMap {
	maps := make([]AxisMap, len(shape))
	for i, d := range shape {
		maps[i] = AxisMap{Axis: i, Shape: []int{d}}
	}
	return maps
}

// pick replaces one axis by a list of its indices, -1 for the fill value.
func (t *translation) pick(x, axis int, index []int32, fill float64) int {
	if t.err != nil || x < 0 {
		return -1
	}
	maps := keep(t.shape(x))
	maps[axis] = AxisMap{Axis: axis, Shape: []int{len(index)}, Index: index}
	return t.rearrange(x, maps, nil, fill)
}

func (t *translation) transpose(x int, perm []int) int {
	return t.rearrange(x, keep(t.shape(x)), perm, 0)
}

func (t *translation) reshape(x int, shape []int) int {
	if slices.Equal(t.shape(x), shape) && t.err == nil {
		return x
	}
	return t.emit(OpReshape, Attr{Shape: slices.Clone(shape)}, x)
}

// expand repeats axes of length 1, as many as the target shape asks for.
func (t *translation) expand(x int, target []int) int {
	if t.err != nil || x < 0 {
		return -1
	}
	shape, ok := broadcast(t.shape(x), target)
	if !ok {
		return t.fail(malformed("%s: shape %v does not broadcast to %v", t.label, t.shape(x), target))
	}
	if err := checkSize(shape); err != nil {
		return t.fail(t.unsupported("a tensor with %w", err))
	}
	own := append(slices.Repeat([]int{1}, len(shape)-len(t.shape(x))), t.shape(x)...)
	x = t.reshape(x, own)
	maps := keep(own)
	for i, d := range shape {
		if own[i] != d {
			maps[i] = AxisMap{Axis: i, Shape: []int{d}, Index: make([]int32, d)}
		}
	}
	return t.rearrange(x, maps, nil, 0)
}

func (t *translation) concat(axis int, ids ...int) int {
	if len(ids) == 1 {
		return ids[0]
	}
	return t.emit(OpConcat, Attr{Axis: axis}, ids...)
}

// reduce drops axes or keeps them with length 1.
func (t *translation) reduce(op Op, x int, axes []int, keepDims bool) int {
	shape := slices.Clone(t.shape(x))
	y := x
	if len(axes) > 0 {
		y = t.emit(op, Attr{Axes: axes}, x)
	}
	if !keepDims || t.err != nil {
		return y
	}
	for _, a := range axes {
		shape[a] = 1
	}
	return t.reshape(y, shape)
}

func (t *translation) softmax(x int, axes []int) int {
	return t.emit(OpSoftmax, Attr{Axes: axes}, x)
}

func (t *translation) norm(x int, axes []int, epsilon float64, centre bool) int {
	return t.emit(OpNorm, Attr{Axes: axes, Epsilon: epsilon, Centre: centre}, x)
}

func (t *translation) quantise(x int, a Attr) int   { return t.emit(OpQuantise, a, x) }
func (t *translation) dequantise(x int, a Attr) int { return t.emit(OpDequantise, a, x) }

// toReal turns integers into real numbers.
func (t *translation) toReal(x int) int {
	if t.err != nil || x < 0 || !t.im.m.Values[x].Int {
		return x
	}
	return t.dequantise(x, Attr{Scale: []float32{1}, Zero: []int64{0}})
}

func (t *translation) argMax(x, axis int, keepDims, last bool) int {
	return t.emit(OpArgMax, Attr{Axis: axis, KeepDims: keepDims, Last: last}, x)
}

// result makes a value the node's k-th output.
func (t *translation) result(k, id int) error {
	if t.err != nil {
		return t.err
	}
	if k >= len(t.proto.Output) || t.proto.Output[k] == "" {
		return nil
	}
	name := t.proto.Output[k]
	if id >= t.first && !t.named[id] { // made by this node
		t.im.m.Values[id].Name = name
		t.named[id] = true
	}
	t.im.ids[name] = id
	return nil
}

// checkConstants refuses infinite constants where the operation would make them a result: only masks may be infinite, and only
// downwards in sums.
func (n *Node) checkConstants(m *Model) error {
	for k, id := range n.Inputs {
		c := m.Values[id].Const
		if c == nil {
			continue
		}
		for _, x := range c.Real {
			if x-x == 0 {
				continue
			}
			switch {
			case n.Op == OpAdd && x < 0, n.Op == OpSelect && k != 1, n.Op == OpMin, n.Op == OpMax, n.Op == OpConcat:
				continue
			}
			return fmt.Errorf("the constant %s has an infinite element", Quote(m.Values[id].Name))
		}
	}
	return nil
}
