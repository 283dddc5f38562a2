package onnx_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// TestHostileNodes changes one or two things in the models of the node suite: attributes, inputs, shapes, element types, operators. Whatever
// comes of it is a model or an error of the two kinds, never a panic, and every model that is read can be run or says why not.
func TestHostileNodes(t *testing.T) {
	tests, err := onnxtest.ReadSuite("testdata/node.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	quantised, err := onnxtest.ReadSuite("testdata/quantised.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	tests = append(tests, quantised...)
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 2000
	if testing.Short() {
		rounds = 600
	}
	read, refused := 0, 0
	for range rounds {
		n := &tests[rng.IntN(len(tests))]
		data, _, err := n.File(false)
		if err != nil {
			continue
		}
		model := &onnxpb.ModelProto{}
		if err := proto.Unmarshal(data, model); err != nil {
			t.Fatal(err)
		}
		what := ""
		for range 1 + rng.IntN(2) {
			what += mutate(rng, model.Graph) + "; "
		}
		if data, err = proto.Marshal(model); err != nil {
			continue // a string that is no text
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s (%s): panic %v\n%s", n.Name, what, r, debug.Stack())
				}
			}()
			m, err := onnx.Parse(data, onnx.Options{})
			switch {
			case err == nil:
				read++
				runZeros(m)
			case errors.Is(err, onnx.ErrMalformed) || errors.Is(err, onnx.ErrUnsupported):
				refused++
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%s (%s): an error of several lines: %q", n.Name, what, err)
				}
			default:
				t.Errorf("%s (%s): error of no kind: %v", n.Name, what, err)
			}
		}()
	}
	t.Logf("%d models read, %d refused", read, refused)
	if read < rounds/20 || refused < rounds/20 {
		t.Errorf("%d models read, %d refused: the changes are too harmless or too coarse", read, refused)
	}
}

// runZeros runs a model on the least allowed integers and on zeros.
func runZeros(m *onnx.Model) {
	var inputs []*onnx.Tensor
	total := 0
	for _, id := range m.Inputs {
		v := &m.Values[id]
		n := 1
		for _, d := range v.Shape {
			n *= d
		}
		x := make([]float64, n)
		for i := range x {
			if v.Int {
				x[i] = float64(v.Lo)
			}
		}
		total += n
		inputs = append(inputs, v.Tensor(x))
	}
	for i := range m.Values {
		n := 1
		for _, d := range m.Values[i].Shape {
			n *= d
		}
		total += n
	}
	if total > 1<<22 {
		return
	}
	_, _ = m.Run(inputs) // not a number, or infinite
}

var extremes = []int64{-1, 0, 1, 2, 3, 5, -2, -3, 7, 16, 1 << 14, 1 << 24, 1 << 28, 1<<31 - 1, 1 << 31, 1 << 40, math.MaxInt64, math.MinInt64}

func mutate(rng *rand.Rand, g *onnxpb.GraphProto) string {
	node := g.Node[rng.IntN(len(g.Node))]
	pick := func() int64 { return extremes[rng.IntN(len(extremes))] }
	switch rng.IntN(9) {
	case 0, 1, 2: // an attribute
		if len(node.Attribute) == 0 {
			return "nothing"
		}
		a := node.Attribute[rng.IntN(len(node.Attribute))]
		switch a.Type {
		case onnxpb.AttributeProto_INT:
			a.I = pick()
		case onnxpb.AttributeProto_INTS:
			if len(a.Ints) > 0 && rng.IntN(3) > 0 {
				a.Ints[rng.IntN(len(a.Ints))] = pick()
			} else {
				a.Ints = append(a.Ints, pick())
			}
		case onnxpb.AttributeProto_FLOAT:
			a.F = []float32{0, -1, float32(math.Inf(1)), float32(math.NaN()), 1e38, -1e-38}[rng.IntN(6)]
		case onnxpb.AttributeProto_STRING:
			a.S = []byte([]string{"", "SAME_UPPER", "reflect", "linear", "x\x1b[2J"}[rng.IntN(5)])
		case onnxpb.AttributeProto_STRINGS:
			a.Strings = a.Strings[:rng.IntN(len(a.Strings)+1)]
		default:
			node.Attribute = nil
		}
		return "attribute " + a.Name
	case 3: // an input of a node
		if len(node.Input) == 0 {
			return "nothing"
		}
		k := rng.IntN(len(node.Input))
		switch rng.IntN(3) {
		case 0:
			node.Input = append(node.Input[:k:k], node.Input[k+1:]...)
		case 1:
			node.Input[k] = node.Input[rng.IntN(len(node.Input))]
		default:
			node.Input[k] = ""
		}
		return "input of a node"
	case 4, 5: // a constant
		if len(g.Initializer) == 0 {
			return "nothing"
		}
		c := g.Initializer[rng.IntN(len(g.Initializer))]
		if rng.IntN(2) == 0 && len(c.Dims) > 0 {
			c.Dims[rng.IntN(len(c.Dims))] = pick()
			return "shape of " + c.Name
		}
		if len(c.RawData) > 0 {
			for range 1 + rng.IntN(8) {
				c.RawData[rng.IntN(len(c.RawData))] = []byte{0, 1, 0x7f, 0x80, 0xff}[rng.IntN(5)]
			}
		}
		return "elements of " + c.Name
	case 6: // the shape of an input
		if len(g.Input) == 0 {
			return "nothing"
		}
		t := g.Input[rng.IntN(len(g.Input))].GetType().GetTensorType()
		if t == nil || t.Shape == nil {
			return "nothing"
		}
		if len(t.Shape.Dim) == 0 || rng.IntN(4) == 0 {
			t.Shape.Dim = append(t.Shape.Dim, &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: pick()}})
		} else {
			t.Shape.Dim[rng.IntN(len(t.Shape.Dim))].Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: pick()}
		}
		return "shape of an input"
	case 7: // an element type
		if len(g.Input) > 0 && rng.IntN(2) == 0 {
			if t := g.Input[rng.IntN(len(g.Input))].GetType().GetTensorType(); t != nil {
				t.ElemType = int32(rng.IntN(24))
			}
		} else if len(g.Initializer) > 0 {
			g.Initializer[rng.IntN(len(g.Initializer))].DataType = int32(rng.IntN(24))
		}
		return "element type"
	}
	ops := []string{"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LSTM", "GRU", "Resize", "Pad", "ReduceSum", "Concat", "Transpose", "Gemm", "MatMul",
		"QLinearConv", "QLinearMatMul", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "Where", "Gather",
		"Slice", "Split", "Trilu", "PRelu", "BatchNormalization", "GroupNormalization", "DepthToSpace", "Einsum", "Expand", "Tile", "Flatten"}
	node.OpType = ops[rng.IntN(len(ops))]
	return "operator " + node.OpType
}
