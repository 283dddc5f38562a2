package onnx_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// base is x[batch, 6] -> MatMul -> Add -> Relu -> output.
func base() *onnxtest.File {
	f := onnxtest.New(17, "x", 0, 6)
	m := f.Node("MatMul", []string{"x", f.Random(1, "w", 1, 6, 4)})
	a := f.Node("Add", []string{m, f.Random(2, "b", 1, 4)})
	return f.Output(f.Node("Relu", []string{a}))
}

// single is x[1, 6] -> one operator -> output.
func single(opset int64, op string, inputs []string, attrs ...*onnxpb.AttributeProto) func() *onnxtest.File {
	return func() *onnxtest.File {
		f := onnxtest.New(opset, "x", 1, 6)
		f.Random(1, "w", 1, 6, 4)
		f.Floats("c", []float32{2}, 1)
		f.Ints("i", 6)
		f.Proto.Graph.Initializer = keep(f.Proto.Graph.Initializer, inputs)
		return f.Output(f.Node(op, inputs, attrs...))
	}
}

func keep(all []*onnxpb.TensorProto, names []string) (out []*onnxpb.TensorProto) {
	for _, t := range all {
		for _, n := range names {
			if t.Name == n {
				out = append(out, t)
				break
			}
		}
	}
	return out
}

// changed is base with something changed.
func changed(change func(f *onnxtest.File, g *onnxpb.GraphProto)) func() *onnxtest.File {
	return func() *onnxtest.File {
		f := base()
		change(f, f.Proto.Graph)
		return f
	}
}

// TestRejects gives files with one thing that cannot be translated each; the error names it.
func TestRejects(t *testing.T) {
	if _, err := onnx.Parse(base().Bytes(), onnx.Options{}); err != nil {
		t.Fatal(err)
	}
	s := onnx.ErrUnsupported
	m := onnx.ErrMalformed
	cases := []struct {
		name string
		kind error
		want []string
		file func() *onnxtest.File
	}{
		{"unknown operator", s, []string{`node "DeformConv0" (DeformConv)`, "unknown operator"}, single(17, "DeformConv", []string{"x", "w"})},
		{"hostile operator name", s, []string{`("\x1b[2J")`, "unknown operator"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Node[2].OpType = "\x1b[2J"
			g.Node[2].Name = ""
		})},
		{"hostile node name", s, []string{`\x1b[2J`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Node[2].Name, g.Node[2].OpType = "\x1b[2J", "DeformConv"
		})},
		{"constants that grow", s, []string{"evaluating it on constants", "18000 in the file"}, func() *onnxtest.File {
			f := onnxtest.New(17, "x", 1, 9000)
			c := f.Node("Add", []string{f.Floats("column", make([]float32, 9000), 9000, 1), f.Floats("row", make([]float32, 9000), 1, 9000)})
			return f.Output(f.Node("MatMul", []string{"x", c}))
		}},
		{"constants that take long", s, []string{"evaluating it on constants"}, func() *onnxtest.File {
			f := onnxtest.New(17, "x", 1, 5000)
			c := f.Node("Add", []string{f.Floats("column", make([]float32, 5000), 5000, 1), f.Floats("row", make([]float32, 5000), 1, 5000)})
			return f.Output(f.Node("MatMul", []string{"x", f.Node("MatMul", []string{c, c})}))
		}},
		{"constants that grow step by step", s, []string{"evaluating it on constants"}, func() *onnxtest.File {
			f := onnxtest.New(17, "x", 1, 4000)
			c := f.Node("Add", []string{f.Floats("column", make([]float32, 4000), 4000, 1), f.Floats("row", make([]float32, 4000), 1, 4000)})
			for range 5 {
				c = f.Node("Relu", []string{c})
			}
			return f.Output(f.Node("MatMul", []string{"x", c}))
		}},
		{"unknown attribute", s, []string{`node "Relu0" (Relu)`, `unknown attribute "slope"`}, single(17, "Relu", []string{"x"}, onnxtest.Float("slope", 1))},
		{"attribute type", s, []string{`attribute "axis" has type FLOAT`}, single(17, "Flatten", []string{"x"}, onnxtest.Float("axis", 1))},
		{"attribute twice", m, []string{`"axis" is given twice`}, single(17, "Flatten", []string{"x"}, onnxtest.Int("axis", 1), onnxtest.Int("axis", 1))},
		{"function attribute", s, []string{"function"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Node[2].Attribute = []*onnxpb.AttributeProto{{Name: "alpha", RefAttrName: "alpha"}}
		})},
		{"domain", s, []string{`node "Relu2" (Relu)`, "com.microsoft"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[2].Domain = "com.microsoft" })},
		{"overload", s, []string{"overload"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[2].Overload = "v2" })},
		{"operator set 8", s, []string{"operator set 8", "9 to 23"}, single(8, "Relu", []string{"x"})},
		{"operator set 24", s, []string{"operator set 24"}, single(24, "Relu", []string{"x"})},
		{"no operator set", m, []string{"not imported"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Proto.OpsetImport[0].Domain = "x.y" })},
		{"two operator sets", m, []string{"imported twice"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) {
			f.Proto.OpsetImport = append(f.Proto.OpsetImport, f.Proto.OpsetImport[0])
		})},
		{"format version", s, []string{"version 99"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Proto.IrVersion = 99 })},
		{"no graph", m, []string{"no graph"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Proto.Graph = nil })},
		{"no nodes", m, []string{"no nodes"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node = nil })},
		{"functions", s, []string{"functions"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Proto.Functions = [][]byte{{}} })},
		{"training", s, []string{"training"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Proto.TrainingInfo = [][]byte{{}} })},
		{"sparse", s, []string{"sparse"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.SparseInitializer = [][]byte{{}} })},
		{"annotations", s, []string{"quantisation"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.QuantizationAnnotation = [][]byte{{}} })},
		{"missing input", m, []string{`node "Relu2" (Relu)`, `"ghost"`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[2].Input[0] = "ghost" })},
		{"empty input name", m, []string{"input 0 is missing"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Node[2].Input[0] = ""
			g.Node = append(g.Node, &onnxpb.NodeProto{OpType: "Add", Input: []string{"Add1.out", "Relu2.out"}, Output: []string{"end"}})
			g.Output[0].Name = "end"
		})},
		{"cycle", m, []string{"cycle"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[0].Input[0] = "Relu2.out" })},
		{"dead input", s, []string{"input"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) { g.Node[0].Input[0] = f.Random(1, "x2", 1, 3, 6) })},
		{"duplicate node name", m, []string{`two nodes are named "MatMul0"`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[2].Name = "MatMul0" })},
		{"duplicate tensor", m, []string{"defined twice"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[2].Output[0] = "Add1.out" })},
		{"tensor shadows constant", m, []string{"defined twice"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Node[2].Output[0] = "w" })},
		{"duplicate initializer", m, []string{`"w" is defined twice`}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Random(1, "w", 1, 6, 4) })},
		{"input that nothing reads", s, []string{`no output depends on graph input "x2"`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Input = append(g.Input, onnxtest.Info("x2", onnxpb.TensorProto_FLOAT, 1))
		})},
		{"input twice", m, []string{"listed twice"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Input = append(g.Input, g.Input[0]) })},
		{"input of strings", s, []string{"STRING"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_STRING, 1, 6)
		})},
		{"integer input", s, []string{`node "MatMul0" (MatMul)`, `input "x" has integer elements`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_INT64, 1, 6)
		})},
		{"input without type", s, []string{"not a tensor"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Input[0].Type = nil })},
		{"symbolic inner axis", s, []string{"axis 1", `"batch"`, "--dim"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_FLOAT, 1, 0)
		})},
		{"negative axis length", m, []string{"-3"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_FLOAT, -3, 6)
		})},
		{"huge input", s, []string{"2^28"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_FLOAT, 1<<40, 1<<40)
		})},
		{"no output", m, []string{"no output"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Output = nil })},
		{"one output twice", s, []string{`"Relu2.out"`, "another output"}, changed(func(f *onnxtest.File, _ *onnxpb.GraphProto) { f.Output("Relu2.out") })},
		{"missing output", m, []string{`"ghost"`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output[0].Name = "ghost"
		})},
		{"declared shape", m, []string{`"Relu2.out"`, "length 5"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output[0] = onnxtest.Info("Relu2.out", onnxpb.TensorProto_FLOAT, 0, 5)
		})},
		{"declared rank", m, []string{"rank 1"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.ValueInfo = append(g.ValueInfo, onnxtest.Info("Add1.out", onnxpb.TensorProto_FLOAT, 4))
		})},
		{"declared type", m, []string{"INT64"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output[0] = onnxtest.Info("Relu2.out", onnxpb.TensorProto_INT64, 0, 4)
		})},
		{"string constant", s, []string{"STRING"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Initializer[0].DataType = 8 })},
		{"unknown type number", s, []string{"has type 77"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Initializer[0].DataType = 77 })},
		{"short data", m, []string{"95 bytes", "expected 96"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Initializer[0].RawData = g.Initializer[0].RawData[1:]
		})},
		{"huge constant shape", s, []string{"2^28"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Initializer[0].Dims = []int64{1 << 50, 1 << 50} })},
		{"no data", m, []string{"0 elements"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Initializer[0].RawData = nil })},
		{"raw and typed data", m, []string{"both raw and typed"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) { g.Initializer[0].FloatData = []float32{1} })},
		{"typed data in the wrong field", m, []string{"1 in others"}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Initializer[1].RawData, g.Initializer[1].FloatData, g.Initializer[1].DoubleData = nil, make([]float32, 4), []float64{1}
		})},
		{"NaN weight", s, []string{`initializer "b", element 0 is NaN`}, changed(func(_ *onnxtest.File, g *onnxpb.GraphProto) {
			g.Initializer[1].RawData = []byte{0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		})},
		{"infinite weight", s, []string{"infinite"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Initializer = g.Initializer[:1]
			f.Floats("b", []float32{float32(math.Inf(1)), 0, 0, 0}, 4)
		})},
		{"transB of 2", s, []string{`"transB" is 2`}, single(17, "Gemm", []string{"x", "w"}, onnxtest.Int("transB", 2))},
		{"alpha NaN", s, []string{`"alpha" is NaN`}, single(17, "Gemm", []string{"x", "w"}, onnxtest.Float("alpha", float32(math.NaN())))},
		{"Gemm without C in set 10", m, []string{"input C is missing"}, single(10, "Gemm", []string{"x", "w"})},
		{"contraction of MatMul", m, []string{`node "MatMul0" (MatMul)`, "do not contract"}, single(17, "MatMul", []string{"x", "x"})},
		{"batches", m, []string{"do not broadcast"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			a := f.Node("Reshape", []string{"Relu2.out", f.Ints("s", 2, 2, 1)})
			f.Output(f.Node("MatMul", []string{a, f.Random(1, "v", 1, 3, 1, 5)}))
		})},
		{"contraction", m, []string{"do not contract"}, single(17, "Gemm", []string{"x", "w"}, onnxtest.Int("transB", 1))},
		{"integer operand", m, []string{"of different types"}, single(17, "Add", []string{"x", "i"})},
		{"Clip limits computed", s, []string{"not a constant real number"}, single(17, "Clip", []string{"x", "x"})},
		{"Clip limits as inputs in set 10", m, []string{"set 11"}, single(10, "Clip", []string{"x", "c"})},
		{"Clip limits as attributes in set 11", s, []string{`unknown attribute "min"`}, single(11, "Clip", []string{"x"}, onnxtest.Float("min", 0))},
		{"Clip empty", s, []string{"are empty"}, single(9, "Clip", []string{"x"}, onnxtest.Float("min", 1), onnxtest.Float("max", 0))},
		{"Flatten axis", m, []string{`"axis" is 3`}, single(17, "Flatten", []string{"x"}, onnxtest.Int("axis", 3))},
		{"Flatten negative axis in set 9", m, []string{`"axis" is -1`}, single(9, "Flatten", []string{"x"}, onnxtest.Int("axis", -1))},
		{"Reshape computed shape", s, []string{"computed, expected a constant"}, single(17, "Reshape", []string{"x", "x"})},
		{"Reshape allowzero in set 13", s, []string{`unknown attribute "allowzero"`}, single(13, "Reshape", []string{"x", "i"}, onnxtest.Int("allowzero", 0))},
		{"Reshape count", m, []string{"does not fit"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			f.Output(f.Node("Reshape", []string{"Relu2.out", f.Ints("s", 3, -1)}))
		})},
		{"Reshape two unknowns", m, []string{"not possible"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			f.Output(f.Node("Reshape", []string{"Relu2.out", f.Ints("s", -1, -1)}))
		})},
		{"Reshape empty", m, []string{"would be empty"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			f.Output(f.Node("Reshape", []string{"Relu2.out", f.Ints("s", 0, 4)}, onnxtest.Int("allowzero", 1)))
		})},
		{"Reshape overflow", m, []string{"does not fit"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			f.Output(f.Node("Reshape", []string{"Relu2.out", f.Ints("s", 1<<28, 1<<28, 1<<28)}))
		})},
		{"Cast to integers", s, []string{`tensor "x"`, "INT64"}, single(17, "Cast", []string{"x"}, onnxtest.Int("to", 7))},
		{"Cast without type", m, []string{`"to" is missing`}, single(17, "Cast", []string{"x"})},
		{"Dropout in training", s, []string{"training_mode"}, single(17, "Dropout", []string{"x", "", "c"})},
		{"Dropout mask", s, []string{"mask of", "Dropout"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			d := f.Node("Dropout", []string{"Relu2.out"})
			f.Last().Output = append(f.Last().Output, "mask")
			f.Output(f.Node("Add", []string{d, "mask"}))
		})},
		{"ArgMax last in set 11", s, []string{"select_last_index"}, single(11, "ArgMax", []string{"x"}, onnxtest.Int("select_last_index", 0))},
		{"Constant with two values", m, []string{"2 attributes"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			c := f.Node("Constant", nil, onnxtest.Float("value_float", 1), onnxtest.Int("value_int", 1))
			f.Output(f.Node("Add", []string{"Relu2.out", c}))
		})},
		{"Constant string", s, []string{"value_string"}, changed(func(f *onnxtest.File, g *onnxpb.GraphProto) {
			g.Output = nil
			c := f.Node("Constant", nil, &onnxpb.AttributeProto{Name: "value_string", Type: onnxpb.AttributeProto_STRING})
			f.Output(f.Node("Add", []string{"Relu2.out", c}))
		})},
		{"too many inputs", m, []string{"2 inputs"}, single(17, "Relu", []string{"x", "c"})},
		{"only an Identity", s, []string{"does not depend"}, single(17, "Identity", []string{"x"})},
	}
	for _, c := range cases {
		_, err := onnx.Parse(c.file().Bytes(), onnx.Options{})
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want an error of kind %q", c.name, err, c.kind)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not mention %q", c.name, err, w)
			}
		}
		if strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: the error has control characters: %q", c.name, err)
		}
	}
	t.Logf("%d files refused", len(cases))
}

// TestNotONNX gives bytes that are no ONNX file at all.
func TestNotONNX(t *testing.T) {
	file := base().Bytes()
	for name, data := range map[string][]byte{
		"empty": {}, "zero": {0}, "text": []byte("hello, this is not a model"), "png": []byte("\x89PNG\r\n\x1a\n0000"),
		"zeros": make([]byte, 1000), "half": file[:len(file)/2], "unknown field": append(file, 0xfa, 0x3f, 1, 7),
	} {
		if _, err := onnx.Parse(data, onnx.Options{}); !errors.Is(err, onnx.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := onnx.Load(t.TempDir(), onnx.Options{}); !errors.Is(err, onnx.ErrMalformed) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := onnx.Load(t.TempDir()+"/none.onnx", onnx.Options{}); err == nil {
		t.Error("a missing file was read")
	}
}

func TestDims(t *testing.T) {
	m, err := onnx.Parse(base().Bytes(), onnx.Options{Dims: map[string]int{"batch": 5}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Values[m.Inputs[0]].Shape[0] != 5 || m.Dims["batch"] != 5 {
		t.Fatalf("shape %v, dimensions %v", m.Values[m.Inputs[0]].Shape, m.Dims)
	}
	for _, dims := range []map[string]int{{"sequence": 5}, {"batch": 0}, {"batch": -1}, {"batch": 5, "other": 2}} {
		if _, err := onnx.Parse(base().Bytes(), onnx.Options{Dims: dims}); !errors.Is(err, onnx.ErrUnsupported) && !errors.Is(err, onnx.ErrOption) {
			t.Errorf("%v: %v", dims, err)
		}
	}
}
