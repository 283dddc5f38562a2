package graph

import (
	"fmt"
	"slices"
)

// OpKind identifies the type of an operation in the binary encoding.
type OpKind uint8

const (
	KindEinsum OpKind = 1 + iota
	KindLinear
	KindLookup
	KindReshape
	KindPair
	KindThreshold
	KindRearrange
	KindEmbed
	opKinds
)

// String returns the operation's name.
func (k OpKind) String() string {
	if k >= KindEinsum && k < opKinds {
		return [...]string{"einsum", "linear", "lookup", "reshape", "pair", "threshold", "rearrange", "embed"}[k-1]
	}
	return fmt.Sprintf("operation %d", uint8(k))
}

// Op is one operation of a program: one of the types of this file, as a value.
type Op interface {
	Kind() OpKind
	Inputs() []TensorID  // tensors read, in a fixed order
	Outputs() []TensorID // tensors defined, in a fixed order
}

// Einsum is Out[OL] = the sum over all labels that are not in OL of A[AL] * B[BL], or of A[AL] if B is None. Labels name axes; none occurs
// twice in a list, and a label has one extent. Every label of OL is in AL or BL, and with B every other label is in both. At most one operand
// is a Param. Sums run over real extents; entries in padding of Out are sums of entries in padding of the operands.
type Einsum struct {
	A, B, Out  TensorID
	AL, BL, OL []uint8
}

// Term is one summand of a Linear.
type Term struct {
	Coef int64
	T    TensorID
}

// Linear is Out = Const + sum_i Coef_i * T_i, element by element. Terms broadcast to the least common shape: aligned at the last axis,
// missing axes and those of length 1 repeat. Const is added to padding entries too.
type Linear struct {
	Terms []Term
	Const int64
	Out   TensorID
}

// Lookup requantises X and applies a table. With h = 2^(Shift-1) (0 when Shift is 0), X + h = 2^Shift * q + r with 0 <= r < 2^Shift;
// then Rem = r and Y = Tables[Table].At(q). Rem is None when Shift is 0. Hence q is X / 2^Shift rounded to nearest, halves upwards.
type Lookup struct {
	X, Y, Rem TensorID
	Shift     uint8
	Table     int
}

// Half returns the rounding constant that is added before the shift.
func (o Lookup) Half() int64 {
	if o.Shift == 0 {
		return 0
	}
	return 1 << (o.Shift - 1)
}

// Pair is Y = Tables[Table].AtPair(A, B), element by element. A and B have one shape and are within the table's domains; at most one is a
// Param.
type Pair struct {
	A, B, Y TensorID
	Table   int
}

// Threshold is Y = the y with Lo[ch][y] <= X < Lo[ch][y+1] in Tables[Table], ch being the index along axis Axis of X, or 0 if Axis is -1.
// D and E are the low 16 and the next 14 bits of X - Lo[ch][y] and of Lo[ch][y+1] - 1 - X.
type Threshold struct {
	X, Y  TensorID
	D, E  [2]TensorID
	Axis  int
	Table int
}

// LimbBits are the bits of the limbs of a Threshold, low ones first.
var LimbBits = [2]uint8{16, 14}

// AxisMap says what a Rearrange makes of one axis of its operand: axes of shape Shape, entry e of which (in row-major order) is entry
// Index[e] of the axis, or 0 if Index[e] is -1. Shape may be empty: then one entry is selected. With an Index, padding holds 0; without
// one the axis stays as it is, its padding included, and Shape is its extent.
type AxisMap struct {
	Axis  int
	Shape []int
	Index []int32
}

// Rearrange sends every axis of X through a public map and permutes the resulting axes. Maps holds each axis of X once, in any order; the
// axes of all Shapes, one after the other, are the axes before Perm. Axis i of Out is axis Perm[i] of those; Perm is nil for the identity.
type Rearrange struct {
	X, Out TensorID
	Maps   []AxisMap
	Perm   []int
}

// Embed is Out[t..., d] = W[Tokens[t...], d]. Tokens is an input within [0, rows of W - 1], W a Param of rank 2. Padding of Out is 0.
type Embed struct{ Tokens, W, Out TensorID }

// Reshape gives the elements of X another shape; row-major order is kept.
type Reshape struct{ X, Out TensorID }

func (Einsum) Kind() OpKind    { return KindEinsum }
func (Linear) Kind() OpKind    { return KindLinear }
func (Lookup) Kind() OpKind    { return KindLookup }
func (Pair) Kind() OpKind      { return KindPair }
func (Threshold) Kind() OpKind { return KindThreshold }
func (Rearrange) Kind() OpKind { return KindRearrange }
func (Embed) Kind() OpKind     { return KindEmbed }
func (Reshape) Kind() OpKind   { return KindReshape }

func (o Einsum) Outputs() []TensorID    { return []TensorID{o.Out} }
func (o Linear) Outputs() []TensorID    { return []TensorID{o.Out} }
func (o Lookup) Inputs() []TensorID     { return []TensorID{o.X} }
func (o Pair) Inputs() []TensorID       { return []TensorID{o.A, o.B} }
func (o Pair) Outputs() []TensorID      { return []TensorID{o.Y} }
func (o Threshold) Inputs() []TensorID  { return []TensorID{o.X} }
func (o Rearrange) Inputs() []TensorID  { return []TensorID{o.X} }
func (o Rearrange) Outputs() []TensorID { return []TensorID{o.Out} }
func (o Embed) Inputs() []TensorID      { return []TensorID{o.Tokens, o.W} }
func (o Embed) Outputs() []TensorID     { return []TensorID{o.Out} }
func (o Reshape) Inputs() []TensorID    { return []TensorID{o.X} }
func (o Reshape) Outputs() []TensorID   { return []TensorID{o.Out} }

// Inputs returns A, then B if there is one.
func (o Einsum) Inputs() []TensorID {
	if o.B == None {
		return []TensorID{o.A}
	}
	return []TensorID{o.A, o.B}
}

// Inputs returns the tensors of the terms in order.
func (o Linear) Inputs() []TensorID {
	ids := make([]TensorID, len(o.Terms))
	for i, t := range o.Terms {
		ids[i] = t.T
	}
	return ids
}

// Outputs returns Y, then Rem when there is one.
func (o Lookup) Outputs() []TensorID {
	if o.Rem == None {
		return []TensorID{o.Y}
	}
	return []TensorID{o.Y, o.Rem}
}

// Outputs returns Y, then the limbs of D and of E, low ones first.
func (o Threshold) Outputs() []TensorID {
	return []TensorID{o.Y, o.D[0], o.D[1], o.E[0], o.E[1]}
}

// known reports whether op is a value of one of the types above, so that its methods can be called.
func known(op Op) bool {
	switch op.(type) {
	case Einsum, Linear, Lookup, Pair, Threshold, Rearrange, Embed, Reshape:
		return true
	}
	return false
}

// TableOf returns the table that an operation looks up, if it does.
func TableOf(op Op) (table int, ok bool) {
	switch op := op.(type) {
	case Lookup:
		return op.Table, true
	case Pair:
		return op.Table, true
	case Threshold:
		return op.Table, true
	}
	return 0, false
}

// clone copies the lists of an operation, so that its maker may change them.
func (o Rearrange) clone() Rearrange {
	o.Maps = slices.Clone(o.Maps)
	for i := range o.Maps {
		o.Maps[i].Shape, o.Maps[i].Index = append([]int{}, o.Maps[i].Shape...), slices.Clone(o.Maps[i].Index)
	}
	o.Perm = slices.Clone(o.Perm)
	return o
}
