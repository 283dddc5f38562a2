// Package onnx reads ONNX models into a small typed graph of primitive operations with static shapes, and evaluates that graph in
// floating point as the reference that quantised programs are compared with.
//
// It accepts operator sets 9 to 23 of the standard domain, and the operators in docs/onnx.md. Whatever a file contains beyond that
// (an operator, an attribute, a type, a field of the format, a dead node) is an error that names it. docs/onnx.md is the full account.
package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Oldest and newest operator set of the standard domain that is understood.
const (
	MinOpset = 9
	MaxOpset = 23
)

// Model is a network. Every shape is static, every constant sub-expression has been evaluated, and nodes are in an order in which each
// one's inputs come first.
type Model struct {
	Name     string
	Producer string
	IR       int64
	Opset    int
	SHA256   [32]byte       // of the file, and of what it keeps in other files
	Dims     map[string]int // values given to the symbolic axes of the inputs
	Choices  Choices        // what else the importer was told
	Values   []Value
	Nodes    []Node
	Dropped  []string // nodes of the file that no output depends on
	Inputs   []int    // indices into Values
	Outputs  []int    // indices into Values
	// Dynamic lists the values that the file quantises by their own range (DynamicQuantizeLinear); a program gives them a fixed one.
	Dynamic []int
	// turned says of constants that are others with their axes permuted; passes may go back to those.
	turned map[int]turned
}

// Choices are the options of an importer, beside lengths of axes, that another program comes of: Fix, Ranges and Outputs of Options.
type Choices struct {
	Fix     map[string]float64
	Ranges  map[string][2]int64
	Outputs []string
}

// Equal says whether both are the same, fixed numbers to the bit.
func (c *Choices) Equal(d *Choices) bool {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	return maps.EqualFunc(c.Fix, d.Fix, same) && maps.Equal(c.Ranges, d.Ranges) && slices.Equal(c.Outputs, d.Outputs)
}

// String lists the choices, such as `"mask" fixed to 1, "on" within 0:9, outputs "y"`, or says that there are none.
func (c *Choices) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.Fix)) {
		list = append(list, fmt.Sprintf("%s fixed to %v", Quote(name), c.Fix[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Ranges)) {
		list = append(list, fmt.Sprintf("%s within %d:%d", Quote(name), c.Ranges[name][0], c.Ranges[name][1]))
	}
	if len(c.Outputs) > 0 {
		var names []string
		for _, name := range c.Outputs {
			names = append(names, Quote(name))
		}
		list = append(list, "outputs "+strings.Join(names, " "))
	}
	if len(list) == 0 {
		return "no choices"
	}
	return strings.Join(list, ", ")
}

// Value is one tensor of the graph.
type Value struct {
	Name  string
	Shape []int
	Const *Tensor // its elements if they are known before any input is
	// Int says that the elements are integers and exact (token numbers, masks, quantised codes, indices); otherwise they are real
	// numbers. Whole marks real numbers that are whole nevertheless, because they were converted from integers.
	Int, Whole bool
	// Coded says which integers a constant was made from, if it was.
	Coded *Coded
	// Lo and Hi bound the elements of Int and Whole values.
	Lo, Hi int64
	Type   int32 // element type in the ONNX file (a TensorProto.DataType); 0 where nothing says
}

// turned is a constant whose axis i is axis order[i] of another one.
type turned struct {
	from  int
	order []int
}

// IsMask reports whether the elements are known to be 0 or 1.
func (v *Value) IsMask() bool { return (v.Int || v.Whole) && v.Lo >= 0 && v.Hi <= 1 }

// Tensor holds elements in row-major order: Ints when the value's Int says so, otherwise Real.
type Tensor struct {
	Shape []int
	Real  []float32
	Ints  []int64
}

// Len returns the number of elements.
func (t *Tensor) Len() int { return len(t.Real) + len(t.Ints) }

// At returns element i as a real number.
func (t *Tensor) At(i int) float64 {
	if t.Real != nil {
		return float64(t.Real[i])
	}
	return float64(t.Ints[i])
}

// Float64s returns the elements as real numbers.
func (t *Tensor) Float64s() []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.At(i)
	}
	return out
}

// Tensor makes a tensor of the value's shape and kind from real numbers: rounded to float32, or for integers to the nearest integer.
func (v *Value) Tensor(x []float64) *Tensor {
	t := v.blank(len(x))
	for i, e := range x {
		if v.Int {
			t.Ints[i] = int64(math.RoundToEven(e))
		} else {
			t.Real[i] = float32(e)
		}
	}
	return t
}

// blank is a tensor of the value's shape and kind with n zeros.
func (v *Value) blank(n int) *Tensor {
	if v.Int {
		return &Tensor{Shape: v.Shape, Ints: make([]int64, n)}
	}
	return &Tensor{Shape: v.Shape, Real: make([]float32, n)}
}

// elements returns the product of a shape that has been checked before.
func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Weights returns the number of real constants that nodes read.
func (m *Model) Weights() int {
	n := 0
	for _, v := range m.Values {
		if v.Const != nil && !v.Int {
			n += v.Const.Len()
		}
	}
	return n
}

// Work returns the number of products that an Einsum adds up.
func (m *Model) Work(n *Node) int {
	extent := map[uint8]int{}
	for k, id := range n.Inputs {
		for axis, l := range n.Attr.Labels[k] {
			extent[l] = m.Values[id].Shape[axis]
		}
	}
	work := 1
	for _, d := range extent {
		work *= d
	}
	return work
}

// Uses returns, for every value, the indices of the nodes that read it (with repetition); an output of the model counts as a use by node
// len(Nodes).
func (m *Model) Uses() [][]int {
	uses := make([][]int, len(m.Values))
	for i, n := range m.Nodes {
		for _, v := range n.Inputs {
			uses[v] = append(uses[v], i)
		}
	}
	for _, v := range m.Outputs {
		uses[v] = append(uses[v], len(m.Nodes))
	}
	return uses
}
