// Package onnx reads ONNX models into a small typed graph with static shapes, and evaluates that graph in floating point as the
// reference that quantised programs are compared with.
//
// It accepts operator sets 9 to 21 of the standard domain and the operators listed by Operators. Whatever a file contains beyond that
// (an operator, an attribute, a type, a field of the format, a dead node) is an error that names it. docs/onnx.md is the full account.
package onnx

// Oldest and newest operator set of the standard domain that is understood.
const (
	MinOpset = 9
	MaxOpset = 21
)

// Model is a network with one input and one output. Every shape is static, every constant sub-expression has been evaluated, and
// nodes are in an order in which each one's inputs come first.
type Model struct {
	Name     string
	Producer string
	IR       int64
	Opset    int
	SHA256   [32]byte       // of the file
	Dims     map[string]int // values given to the symbolic axes of the input
	Values   []Value
	Nodes    []Node
	Input    int // index into Values
	Output   int // index into Values
}

// Value is one tensor of the graph.
type Value struct {
	Name  string
	Shape []int
	Const *Tensor // its elements if they are known before any input is
	Int   bool    // elements are integers (shapes, ArgMax); otherwise real numbers
}

// Tensor holds constant elements in row-major order: Real or Ints, as the value's Int says.
type Tensor struct {
	Shape []int
	Real  []float64
	Ints  []int64
}

// Len returns the number of elements.
func (t *Tensor) Len() int { return len(t.Real) + len(t.Ints) }

// Node is one operator with its attributes resolved.
type Node struct {
	Name   string // from the file, or made of operator and position
	Op     string // the ONNX operator
	Inputs []int  // indices into Values, optional inputs already turned into fields
	Output int
	Attr   Attr
}

// Attr holds the attributes of all operators after defaults; each operator uses the fields that its name suggests.
type Attr struct {
	Alpha, Beta    float64 // Gemm
	TransA, TransB bool    // Gemm
	Lo, Hi         float64 // Clip, infinite where absent
	Axis, Span     int     // Softmax and ArgMax: the axes [Axis, Axis+Span)
	KeepDims       bool    // ArgMax
	Last           bool    // ArgMax takes the last of equal maxima
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

// Uses returns, for every value, the indices of the nodes that read it (with repetition), and counts the model's output as a use by
// node len(Nodes).
func (m *Model) Uses() [][]int {
	uses := make([][]int, len(m.Values))
	for i, n := range m.Nodes {
		for _, v := range n.Inputs {
			uses[v] = append(uses[v], i)
		}
	}
	uses[m.Output] = append(uses[m.Output], len(m.Nodes))
	return uses
}
