package onnx

import "fmt"

// Op is a primitive operation. ONNX operators are translated into these.
type Op uint8

const (
	// OpEinsum sums products over labelled axes: one operand, or two of which every summed label is in both.
	OpEinsum Op = iota
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMin
	OpMax
	// OpUnary applies Attr.Func to every element.
	OpUnary
	// OpSelect has the inputs x, mask and c: x where the mask is 1, the constant c where it is 0.
	OpSelect
	// OpRearrange sends every axis through a map, then permutes the axes.
	OpRearrange
	OpConcat
	OpReshape
	// OpReduceSum and OpReduceMax drop Attr.Axes.
	OpReduceSum
	OpReduceMax
	OpSoftmax
	// OpNorm divides by the root of the mean square over Attr.Axes plus Attr.Epsilon, having subtracted the mean if Attr.Centre.
	OpNorm
	// OpEmbed has the inputs indices (an input of the model) and a constant table: rows of the table.
	OpEmbed
	// OpQuantise makes integers: saturate(round(x / Scale) + Zero). An integer operand is multiplied by Scale instead.
	OpQuantise
	// OpDequantise makes real numbers: (x - Zero) * Scale.
	OpDequantise
	OpArgMax
	// OpTable is a function of one or two integers, given by Attr.Table.
	OpTable
	numOps
)

var opNames = [numOps]string{
	"Einsum", "Add", "Sub", "Mul", "Div", "Min", "Max", "Unary", "Select", "Rearrange", "Concat", "Reshape", "ReduceSum", "ReduceMax",
	"Softmax", "Norm", "Embed", "Quantise", "Dequantise", "ArgMax", "Table",
}

func (o Op) String() string {
	if o < numOps {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Node is one primitive operation.
type Node struct {
	Name   string // the ONNX node it comes from: its name, or made of operator and position
	Origin string // that node's operator
	Op     Op
	Inputs []int // indices into Values
	Output int
	Attr   Attr
}

// Attr holds the attributes of all operations; each uses the fields named for it.
type Attr struct {
	Labels [][]uint8 // Einsum: of each operand's axes, then of the result's; small numbers
	Func   Func      // Unary
	A, B   float64   // Unary: parameters of the function
	Maps   []AxisMap // Rearrange: each axis of the operand once
	Perm   []int     // Rearrange: axis i of the result is axis Perm[i] of those that Maps makes; nil is the identity
	Fill   float64   // Rearrange: value where an index is -1
	Shape  []int     // Reshape
	Axis   int       // Concat, ArgMax; Quantise and Dequantise with several scales
	Axes   []int     // ReduceSum, ReduceMax, Softmax, Norm: increasing
	// KeepDims keeps the axis of an ArgMax with length 1; Last takes the last of equal maxima.
	KeepDims, Last bool
	Epsilon        float64   // Norm
	Centre         bool      // Norm
	Scale          []float32 // Quantise, Dequantise: one, or one for every index along Axis
	Zero           []int64   // Quantise, Dequantise: as many as Scale
	Lo, Hi         int64     // Quantise: the integer type's range
	Table          *Table    // Table
}

// Func is a function of one real number.
type Func uint8

const (
	FuncRelu Func = iota
	FuncLeakyRelu
	FuncElu
	FuncSelu
	FuncSigmoid
	FuncHardSigmoid
	FuncTanh
	FuncHardSwish
	FuncGelu
	FuncGeluTanh
	FuncSilu
	FuncErf
	FuncExp
	FuncLog
	FuncSqrt
	FuncReciprocal
	FuncRsqrt
	FuncAbs
	FuncNeg
	FuncSign
	FuncFloor
	FuncCeil
	FuncRound
	FuncSoftplus
	FuncSoftsign
	FuncMish
	FuncClip
	FuncPow
	FuncSin
	FuncCos
	FuncThresholdedRelu
	FuncPositive // 1 above zero, else 0
	FuncZero     // 1 at zero, else 0
	numFuncs
)
