package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Run evaluates the model on one input (row-major, as many elements as the input's shape has) and returns the elements of every value,
// indexed like Model.Values. Each result is computed in float64 and rounded to float32, as a float32 runtime with exact inner sums
// would. Indices (ArgMax) come as whole numbers. No operation here depends on fused multiply-add, so sums agree on all machines.
func (m *Model) Run(x []float64) ([][]float64, error) {
	in := m.Values[m.Input]
	if len(x) != elements(in.Shape) {
		return nil, fmt.Errorf("model input %s: %d values, expected %d for shape %v", Quote(in.Name), len(x), elements(in.Shape), in.Shape)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("model input %s, element %d is %g", Quote(in.Name), i, v)
		}
	}
	values := make([][]float64, len(m.Values))
	values[m.Input] = slices.Clone(x)
	for i := range m.Nodes {
		n := &m.Nodes[i]
		operands := make([]*Tensor, len(n.Inputs))
		for k, id := range n.Inputs {
			v := &m.Values[id]
			if operands[k] = v.Const; v.Const == nil {
				operands[k] = &Tensor{Shape: v.Shape, Real: values[id]}
			}
		}
		out, err := evaluate(n, operands, m.Values[n.Output].Shape)
		if err != nil {
			return nil, fmt.Errorf("node %s (%s): %w", Quote(n.Name), n.Op, err)
		}
		values[n.Output] = out
	}
	return values, nil
}

// evaluate computes one node.
func evaluate(n *Node, in []*Tensor, shape []int) ([]float64, error) {
	out := make([]float64, elements(shape))
	switch n.Op {
	case "Gemm", "MatMul":
		product(n, in, shape, out)
	case "Add", "Sub", "Mul", "Div":
		pairwise(n.Op, in[0], in[1], shape, out)
	case "Relu", "Clip", "Sigmoid", "Tanh":
		for i, v := range in[0].Real {
			out[i] = n.unary(v)
		}
	case "Reshape", "Flatten":
		copy(out, in[0].Real)
	case "Softmax":
		copy(out, in[0].Real)
		graph.Softmax(out, in[0].Shape, n.Attr.Axis, n.Attr.Span)
	case "ArgMax":
		out = graph.ArgMax(in[0].Real, in[0].Shape, n.Attr.Axis, n.Attr.Last)
	default:
		return nil, fmt.Errorf("operator %s has no evaluation", n.Op)
	}
	for i, v := range out {
		out[i] = float64(float32(v))
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, errors.New("the result is not finite in float32")
		}
	}
	return out, nil
}

// unary is the function of an activation node.
func (n *Node) unary(v float64) float64 {
	switch n.Op {
	case "Relu":
		return max(v, 0)
	case "Clip":
		return min(max(v, n.Attr.Lo), n.Attr.Hi)
	case "Sigmoid":
		return 1 / (1 + math.Exp(-v))
	}
	return math.Tanh(v)
}

// product computes alpha * A * B + beta * C (without C for MatMul); all leading axes of A count as rows.
func product(n *Node, in []*Tensor, shape []int, out []float64) {
	a, b := in[0], in[1]
	cols := shape[len(shape)-1]
	rows := len(out) / cols
	k := a.Len() / rows
	rowStep, stepA := k, 1
	if n.Attr.TransA {
		rowStep, stepA = 1, rows
	}
	stepK, stepJ := cols, 1
	if n.Attr.TransB {
		stepK, stepJ = 1, k
	}
	for r := range rows {
		for j := range cols {
			sum := 0.0
			for i := range k {
				sum += float64(a.Real[r*rowStep+i*stepA] * b.Real[i*stepK+j*stepJ])
			}
			out[r*cols+j] = float64(n.Attr.Alpha * sum)
		}
	}
	if len(in) == 3 {
		for i := range out {
			out[i] += float64(n.Attr.Beta * in[2].Real[in[2].at(i, shape)])
		}
	}
}

// at returns the position in t of element i of a tensor of the given shape, to which t broadcasts.
func (t *Tensor) at(i int, shape []int) int {
	if t.Len() == 1 {
		return 0
	}
	index, step := 0, 1
	for a := len(shape) - 1; a >= 0; a-- {
		if own := a - len(shape) + len(t.Shape); own >= 0 {
			if t.Shape[own] != 1 {
				index += i % shape[a] * step
			}
			step *= t.Shape[own]
		}
		i /= shape[a]
	}
	return index
}

func pairwise(op string, a, b *Tensor, shape []int, out []float64) {
	for i := range out {
		x, y := a.Real[a.at(i, shape)], b.Real[b.at(i, shape)]
		switch op {
		case "Add":
			out[i] = x + y
		case "Sub":
			out[i] = x - y
		case "Mul":
			out[i] = x * y
		default:
			out[i] = x / y
		}
	}
}
