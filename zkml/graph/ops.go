package graph

import "fmt"

// OpKind identifies the type of an operation in the binary encoding.
type OpKind uint8

const (
	KindMatMul  OpKind = 1
	KindLinear  OpKind = 2
	KindLookup  OpKind = 3
	KindReshape OpKind = 4
)

// String returns the operation's name.
func (k OpKind) String() string {
	switch k {
	case KindMatMul:
		return "matmul"
	case KindLinear:
		return "linear"
	case KindLookup:
		return "lookup"
	case KindReshape:
		return "reshape"
	}
	return fmt.Sprintf("operation %d", uint8(k))
}

// Op is one operation of a program: MatMul, Linear, Lookup or Reshape (as values, not pointers).
type Op interface {
	Kind() OpKind
	Inputs() []TensorID  // tensors read, in a fixed order
	Outputs() []TensorID // tensors defined, in a fixed order
}

// MatMul is Out[..., j] = sum_k X[..., k] * W[k, j], or with W[j, k] when TransW is set. W is a Param of rank 2, X any other tensor.
type MatMul struct {
	X, W, Out TensorID
	TransW    bool
}

// Term is one summand of a Linear.
type Term struct {
	Coef int64
	T    TensorID
}

// Linear is Out = Const + sum_i Coef_i * T_i, element by element. Param terms broadcast to the shape of Out (right-aligned, axes of
// length 1 repeat); other terms have exactly that shape. Const is added to padding entries too.
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

// Reshape gives the elements of X another shape; row-major order is kept.
type Reshape struct{ X, Out TensorID }

func (MatMul) Kind() OpKind  { return KindMatMul }
func (Linear) Kind() OpKind  { return KindLinear }
func (Lookup) Kind() OpKind  { return KindLookup }
func (Reshape) Kind() OpKind { return KindReshape }

func (o MatMul) Inputs() []TensorID   { return []TensorID{o.X, o.W} }
func (o MatMul) Outputs() []TensorID  { return []TensorID{o.Out} }
func (o Linear) Outputs() []TensorID  { return []TensorID{o.Out} }
func (o Lookup) Inputs() []TensorID   { return []TensorID{o.X} }
func (o Reshape) Inputs() []TensorID  { return []TensorID{o.X} }
func (o Reshape) Outputs() []TensorID { return []TensorID{o.Out} }

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
