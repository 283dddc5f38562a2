// Package graph defines the integer program: the object that a zkwarp proof is about.
//
// A Program is a pure function from integer input tensors to integer output tensors. It is a list of operations over tensors whose
// bounds are known before any data is seen, so that nothing can overflow or wrap. The floating-point model it came from is only an
// origin; what is proved, interpreted and verified is the Program.
//
// The package holds the types, Validate (every rule that makes a program total), a Builder that derives shapes and bounds, the
// normative interpreter (Run), the padded layout that provers use (PaddedShape, RunPadded), and the canonical binary encodings with
// their digests. docs/integer-program.md describes all of it in words.
package graph

import "fmt"

// Version is the version of the program semantics and of both encodings.
const Version = 2

// Limits of a valid program.
const (
	MaxRank      = 8       // axes of a tensor
	MaxElements  = 1 << 28 // padded elements of a tensor
	MaxTensors   = 1 << 16 // tensors, and also operations
	MaxTables    = 1 << 10 // lookup tables
	MaxTableRows = 1 << 23 // rows of all tables together
	MaxTerms     = 1 << 10 // terms of a Linear
	MaxName      = 256     // bytes of a name or label
	MaxTableBits = 18      // log2 of the rows of a lookup table
	MaxLabels    = 26      // labels of an Einsum are smaller
	MaxShift     = 16      // bits dropped by a Lookup
	MaxWindow    = 30      // Shift + Bits of a Lookup: 2^30 < p keeps quotient and remainder unique
	BoundLimit   = 1 << 29 // every tensor value is smaller than this in absolute value
)

// TensorID is the index of a tensor in Program.Tensors.
type TensorID int32

// None is the TensorID of an absent tensor (the Rem of a Lookup with Shift 0).
const None TensorID = -1

// Kind says where the values of a tensor come from and how a proof binds them.
type Kind uint8

const (
	Input   Kind = iota // given: public, or committed in the statement
	Param               // constants committed in the key; zero in padding
	Column              // what a table says of other tensors, and remainders: committed by the prover
	Virtual             // sums of products of other tensors: never committed
	kinds
)

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return [...]string{"input", "param", "column", "virtual"}[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Tensor describes one tensor of a program.
type Tensor struct {
	Name   string
	Kind   Kind
	Shape  []int   // real (unpadded) axis lengths, each at least 1; elements are in row-major order
	Lo, Hi int64   // proven inclusive bounds of every element, padding included
	Scale  float64 // real value = integer * Scale; informative, but part of the digest
}

// Len returns the number of real elements.
func (t *Tensor) Len() int { return Elements(t.Shape) }

// PostKind says what is computed in the clear from the public output.
type PostKind uint8

const (
	PostNone PostKind = iota
	PostSoftmax
	PostArgMax
	postKinds
)

// String returns the kind's name.
func (k PostKind) String() string {
	if k < postKinds {
		return [...]string{"none", "softmax", "argmax"}[k]
	}
	return fmt.Sprintf("post %d", uint8(k))
}

// Post is the last step of a model that needs no proof, because whoever has the public output can compute it.
type Post struct {
	Kind PostKind
	Axis int // axis of the output tensor, from 0; -1 when Kind is PostNone
	// Span is the number of axes, starting at Axis, that Softmax normalises together: 1 in the modern operator, all remaining axes in
	// ONNX before opset 13. It is 1 for ArgMax and 0 when Kind is PostNone.
	Span     int
	KeepDims bool // ArgMax keeps the reduced axis with length 1
	Last     bool // ArgMax prefers the last of equal maxima instead of the first
}

// Program is an integer program. Tensors are defined once: inputs and parameters by being listed, all others by one operation that
// precedes their uses.
type Program struct {
	Name    string
	Tensors []Tensor
	Ops     []Op
	Tables  []Table
	Inputs  []TensorID // every tensor of kind Input, in the order of the statement
	Outputs []TensorID // at least one, none twice, in the order of the statement
	Post    Post       // of the output, if there is one only
	Labels  []string   // names of the output classes; optional
}

// Weights are the values of a program's Param tensors.
type Weights struct {
	Data []Values // indexed by TensorID; none for tensors that are no Params
}

// Tensor returns the tensor with that id.
func (p *Program) Tensor(id TensorID) *Tensor { return &p.Tensors[id] }

// Params returns the ids of the Param tensors in increasing order.
func (p *Program) Params() []TensorID { return p.ofKind(Param) }

// Columns returns the ids of the Column tensors in increasing order.
func (p *Program) Columns() []TensorID { return p.ofKind(Column) }

func (p *Program) ofKind(k Kind) []TensorID {
	var ids []TensorID
	for i := range p.Tensors {
		if p.Tensors[i].Kind == k {
			ids = append(ids, TensorID(i))
		}
	}
	return ids
}
