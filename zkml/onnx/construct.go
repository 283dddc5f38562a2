package onnx

import (
	"fmt"
	"slices"
)

// Graph makes a model of primitive operations without a file, for networks whose structure is known from elsewhere. Every operation is
// checked as an imported one is. The first error sticks: after it nothing is added, results are -1, and Finish returns it.
type Graph struct {
	m   *Model
	err error
}

// NewGraph begins a model.
func NewGraph(name, producer string) *Graph {
	return &Graph{m: &Model{Name: name, Producer: producer, Dims: map[string]int{}}}
}

// Input adds an input of real numbers.
func (g *Graph) Input(name string, shape ...int) int {
	return g.input(Value{Name: name, Shape: shape})
}

// IntInput adds an input of integers within bounds.
func (g *Graph) IntInput(name string, lo, hi int64, shape ...int) int {
	if g.err == nil && (lo > hi || lo < -boundLimit || hi >= boundLimit) {
		g.err = fmt.Errorf("input %s: bounds [%d, %d] are empty or too wide", Quote(name), lo, hi)
	}
	return g.input(Value{Name: name, Shape: shape, Int: true, Lo: lo, Hi: hi})
}

func (g *Graph) input(v Value) int {
	if g.err == nil && elements(v.Shape) == 0 {
		g.err = fmt.Errorf("input %s: shape %v has no elements", Quote(v.Name), v.Shape)
	}
	id := g.add(v)
	if id >= 0 {
		g.m.Inputs = append(g.m.Inputs, id)
	}
	return id
}

// Const adds a constant.
func (g *Graph) Const(name string, t *Tensor) int {
	if g.err == nil && t.Len() != elements(t.Shape) {
		g.err = fmt.Errorf("constant %s: %d elements, expected %d for shape %v", Quote(name), t.Len(), elements(t.Shape), t.Shape)
	}
	v := constantValue(t)
	v.Name = name
	return g.add(v)
}

// Scalar adds a real constant of rank 0.
func (g *Graph) Scalar(name string, x float64) int {
	return g.Const(name, &Tensor{Shape: []int{}, Real: []float32{float32(x)}})
}

func (g *Graph) add(v Value) int {
	if g.err != nil {
		return -1
	}
	if err := checkSize(v.Shape); err != nil {
		g.err = fmt.Errorf("tensor %s has %w", Quote(v.Name), err)
		return -1
	}
	g.m.Values = append(g.m.Values, v)
	return len(g.m.Values) - 1
}

// Node adds an operation; name is that of its result too.
func (g *Graph) Node(name string, op Op, attr Attr, inputs ...int) int {
	if g.err != nil {
		return -1
	}
	n := Node{Name: name, Origin: op.String(), Op: op, Inputs: slices.Clone(inputs), Attr: attr}
	for _, id := range inputs {
		if id < 0 || id >= len(g.m.Values) {
			g.err = fmt.Errorf("node %s (%s): operand %d does not exist", Quote(name), op, id)
			return -1
		}
	}
	if !op.takes(len(inputs)) {
		g.err = fmt.Errorf("node %s (%s): %d operands", Quote(name), op, len(inputs))
		return -1
	}
	v, err := g.m.infer(&n)
	if err == nil {
		err = n.checkConstants(g.m)
	}
	if err != nil {
		g.err = fmt.Errorf("node %s (%s): %w", Quote(name), op, err)
		return -1
	}
	v.Name = name
	if n.Output = g.add(v); n.Output >= 0 {
		g.m.Nodes = append(g.m.Nodes, n)
	}
	return n.Output
}

// takes reports whether an operation can have so many operands.
func (o Op) takes(n int) bool {
	switch o {
	case OpConcat:
		return n > 0
	case OpEinsum, OpTable:
		return n == 1 || n == 2
	case OpAdd, OpSub, OpMul, OpDiv, OpMin, OpMax, OpEmbed:
		return n == 2
	case OpSelect:
		return n == 3
	}
	return n == 1
}

// Shape returns the shape of a value, nil for -1.
func (g *Graph) Shape(id int) []int {
	if id < 0 {
		return nil
	}
	return g.m.Values[id].Shape
}

// Finish returns the model. The identity is what its constants and structure come from: calibrations name it.
func (g *Graph) Finish(identity [32]byte, outputs ...int) (*Model, error) {
	if g.err != nil {
		return nil, g.err
	}
	for _, id := range outputs {
		if id < 0 || id >= len(g.m.Values) || g.m.Values[id].Const != nil || slices.Contains(g.m.Inputs, id) {
			return nil, fmt.Errorf("output %d is not a computed value", id)
		}
	}
	g.m.Outputs, g.m.SHA256 = slices.Clone(outputs), identity
	return g.m, g.m.prune()
}
