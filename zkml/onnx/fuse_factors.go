package onnx

import (
	"math"
	"slices"
)

// fuseFactors takes constant factors behind a product with constant weights into the weights: those of a BatchNormalization behind a
// convolution, or of a scaled projection. The path between may add constants and reshape; every value on it has one reader.
func (m *Model) fuseFactors() {
	producer := slices.Repeat([]int{-1}, len(m.Values))
	for i, n := range m.Nodes {
		producer[n.Output] = i
	}
	uses := m.Uses()
	alias := map[int]int{}
	var nodes []Node
	for i := range m.Nodes {
		n := m.Nodes[i]
		for k, id := range n.Inputs {
			if to, ok := alias[id]; ok {
				n.Inputs[k] = to
			}
		}
		if n.Op == OpMul && !slices.Contains(m.Outputs, n.Output) {
			x, c := n.Inputs[0], n.Inputs[1]
			if m.Values[x].Const != nil {
				x, c = c, x
			}
			if m.Values[c].Const != nil && !m.Values[c].Int && m.foldFactor(x, m.Values[c].Const, m.Values[n.Output].Shape, producer, uses) {
				alias[n.Output] = x
				uses[x] = uses[n.Output]
				continue
			}
		}
		nodes = append(nodes, n)
	}
	m.Nodes = nodes
}

// foldFactor multiplies the weights and addends that make up value x by a constant, or changes nothing.
func (m *Model) foldFactor(x int, c *Tensor, shape []int, producer []int, uses [][]int) bool {
	if !slices.Equal(m.Values[x].Shape, shape) || slices.ContainsFunc(c.Real, func(v float32) bool { return !finite(v) }) {
		return false
	}
	factor := compressed(widened(c, len(shape)))
	type change struct{ node, operand, value int }
	var changes []change
	for id := x; ; {
		if id >= len(producer) || producer[id] < 0 || len(uses[id]) != 1 || slices.Contains(m.Outputs, id) {
			return false
		}
		n := &m.Nodes[producer[id]]
		constant := slices.IndexFunc(n.Inputs, func(in int) bool { return m.Values[in].Const != nil })
		switch n.Op {
		case OpReshape:
			factor = n.scaleAfter(factor, m.Values[id].Shape, m.Values[n.Inputs[0]].Shape)
			id = n.Inputs[0]
			continue
		case OpAdd, OpSub:
			if constant < 0 || !slices.Equal(m.Values[n.Inputs[1-constant]].Shape, m.Values[id].Shape) || constant == 0 && n.Op == OpSub {
				return false
			}
			scaled := scaledBy(m.Values[n.Inputs[constant]].Const, factor)
			if scaled == nil {
				return false
			}
			changes = append(changes, change{producer[id], constant, m.addConstant(n.Inputs[constant], scaled)})
			id = n.Inputs[1-constant]
			continue
		case OpEinsum:
			if constant < 0 || len(n.Inputs) != 2 || m.Values[id].Int {
				return false
			}
			own := aligned(factor, n.Attr.Labels[2], n.Attr.Labels[constant])
			if own == nil {
				return false
			}
			w := m.Values[n.Inputs[constant]].Const
			scaled := scaledBy(w, own)
			if scaled == nil || len(scaled.Real) != len(w.Real) {
				return false
			}
			changes = append(changes, change{producer[id], constant, m.addConstant(n.Inputs[constant], scaled)})
		default:
			return false
		}
		break
	}
	for _, ch := range changes {
		m.Nodes[ch.node].Inputs[ch.operand] = ch.value
	}
	return true
}

// addConstant adds a constant in place of another one.
func (m *Model) addConstant(of int, c *Tensor) int {
	v := constantValue(c)
	v.Name, v.Type = m.Values[of].Name, m.Values[of].Type
	m.Values = append(m.Values, v)
	return len(m.Values) - 1
}

// scaledBy multiplies a constant by factors, repeating either along axes of length 1; nil if a product leaves float32.
func scaledBy(c, factor *Tensor) *Tensor {
	rank := max(len(c.Shape), len(factor.Shape))
	a, b := widened(c, rank), widened(factor, rank)
	shape, ok := broadcast(a.Shape, b.Shape)
	if !ok || len(c.Real) == 0 {
		return nil
	}
	out := &Tensor{Shape: shape, Real: make([]float32, elements(shape))}
	pairwise(OpMul, a.Real, b.Real, out.Real, newRows(shape, a.Shape, b.Shape))
	for _, v := range out.Real {
		// A product too small for float32 would lose the factor.
		if !finite(v) || v != 0 && math.Abs(float64(v)) < 1e-30 {
			return nil
		}
	}
	return out
}
