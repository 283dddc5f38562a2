package quant

import (
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// prepare rewrites operations that have no integer form of their own into ones that have, as nodes of the float graph, so that calibration sees
// every value on the way. Values of the model keep their numbers.
//
//	a / b        = a * (1 / b)            for a computed b; a constant b becomes its reciprocal
//	max(a, b)    = b + relu(a - b)        unless one is a constant of one element
//	min(a, b)    = a - relu(a - b)
//
// Products that are read in pieces are taken apart.
func prepare(m *onnx.Model) *onnx.Model {
	out := *m
	out.Values = slices.Clone(m.Values)
	apart(&out)
	nodes := out.Nodes
	out.Nodes = make([]onnx.Node, 0, len(nodes))
	r := &rewriter{&out}
	for _, n := range nodes {
		v := &out.Values[n.Output]
		switch {
		case v.Int || v.Whole:
			r.add(n)
		case n.Op == onnx.OpDiv:
			r.divide(n)
		case (n.Op == onnx.OpMax || n.Op == onnx.OpMin) && !r.scalar(n.Inputs[0]) && !r.scalar(n.Inputs[1]):
			r.extreme(n)
		default:
			r.add(n)
		}
	}
	return &out
}

type rewriter struct{ m *onnx.Model }

func (r *rewriter) add(n onnx.Node) { r.m.Nodes = append(r.m.Nodes, n) }

func (r *rewriter) scalar(v int) bool {
	c := r.m.Values[v].Const
	return c != nil && c.Len() == 1
}

// value adds a value that a rewritten node needs.
func (r *rewriter) value(of *onnx.Node, suffix string, shape []int) int {
	r.m.Values = append(r.m.Values, onnx.Value{Name: r.m.Values[of.Output].Name + suffix, Shape: shape})
	return len(r.m.Values) - 1
}

// node adds an operation that stems from another one.
func (r *rewriter) node(of *onnx.Node, op onnx.Op, out int, inputs ...int) *onnx.Node {
	r.add(onnx.Node{Name: of.Name, Origin: of.Origin, Op: op, Inputs: inputs, Output: out})
	return &r.m.Nodes[len(r.m.Nodes)-1]
}

func (r *rewriter) divide(n onnx.Node) {
	b := n.Inputs[1]
	inverse := r.value(&n, ".inverse", r.m.Values[b].Shape)
	if c := r.m.Values[b].Const; c != nil {
		w := &onnx.Tensor{Shape: c.Shape, Real: make([]float32, c.Len())}
		for i := range w.Real {
			w.Real[i] = float32(1 / c.At(i))
		}
		r.m.Values[inverse].Const = w
	} else {
		r.node(&n, onnx.OpUnary, inverse, b).Attr.Func = onnx.FuncReciprocal
	}
	if c := r.m.Values[n.Inputs[0]].Const; c != nil && c.Len() == 1 && c.At(0) == 1 && slices.Equal(r.m.Values[b].Shape, r.m.Values[n.Output].Shape) {
		last := &r.m.Nodes[len(r.m.Nodes)-1] // one over a tensor
		last.Output = n.Output
		return
	}
	r.node(&n, onnx.OpMul, n.Output, n.Inputs[0], inverse)
}

func (r *rewriter) extreme(n onnx.Node) {
	shape := r.m.Values[n.Output].Shape
	above, excess := r.value(&n, ".above", shape), r.value(&n, ".excess", shape)
	a, b := n.Inputs[0], n.Inputs[1]
	r.node(&n, onnx.OpSub, above, a, b)
	r.node(&n, onnx.OpUnary, excess, above).Attr.Func = onnx.FuncRelu
	if n.Op == onnx.OpMax {
		r.node(&n, onnx.OpAdd, n.Output, b, excess)
		return
	}
	r.node(&n, onnx.OpSub, n.Output, a, excess)
}
