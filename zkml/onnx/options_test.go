package onnx_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// switched has two inputs and three outputs, one of which is an input passed on, and a node of an unknown operator behind another output.
func switched() *onnxtest.File {
	f := onnxtest.New(17, "x", 0, 6)
	f.Proto.Graph.Input = append(f.Proto.Graph.Input, onnxtest.Info("on", onnxpb.TensorProto_INT64, 6))
	gate := f.Node("Cast", []string{"on"}, onnxtest.Int("to", int64(onnxpb.TensorProto_FLOAT)))
	y := f.Node("Mul", []string{"x", gate})
	f.Output(y)
	f.Output(f.Node("Identity", []string{"x"}))
	return f.Output(f.Node("Mystery", []string{"x"}))
}

// TestChosenOutputs leaves out what the wanted outputs do not depend on, and says so.
func TestChosenOutputs(t *testing.T) {
	file := switched().Bytes()
	if _, err := onnx.Parse(file, onnx.Options{}); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), "Mystery") {
		t.Fatalf("with all outputs: %v", err)
	}
	m, err := onnx.Parse(file, onnx.Options{Outputs: []string{"Mul1.out"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Outputs) != 1 || len(m.Inputs) != 2 || len(m.Dropped) != 2 || !strings.Contains(m.Dropped[1], "Mystery") {
		t.Errorf("%d outputs, %d inputs, dropped %q", len(m.Outputs), len(m.Inputs), m.Dropped)
	}
	if _, err := onnx.Parse(file, onnx.Options{Outputs: []string{"Identity2.out"}}); err == nil || !strings.Contains(err.Error(), "does not depend on an input") {
		t.Errorf("an input passed on: %v", err)
	}
	if _, err := onnx.Parse(file, onnx.Options{Outputs: []string{"x"}}); !errors.Is(err, onnx.ErrOption) || !strings.Contains(err.Error(), `no output is named "x" (asked for); there are "Mul1.out", "Identity2.out", "Mystery3.out"`) {
		t.Errorf("an output that is none: %v", err)
	}
}

// TestFixedInputs makes inputs constants; the model is then another one.
func TestFixedInputs(t *testing.T) {
	file := switched().Bytes()
	read := func(fix map[string]float64, outputs ...string) (*onnx.Model, error) {
		return onnx.Parse(file, onnx.Options{Fix: fix, Outputs: outputs})
	}
	open, err := read(nil, "Mul1.out")
	if err != nil {
		t.Fatal(err)
	}
	two, err := read(map[string]float64{"on": 2}, "Mul1.out")
	if err != nil {
		t.Fatal(err)
	}
	three, err := read(map[string]float64{"on": 3}, "Mul1.out")
	if err != nil {
		t.Fatal(err)
	}
	if open.SHA256 == two.SHA256 || two.SHA256 == three.SHA256 {
		t.Error("the digest does not tell fixed inputs apart")
	}
	values, err := two.RunOne([]float64{1, 2, 3, 4, 5, -6})
	if err != nil {
		t.Fatal(err)
	}
	if got := values[two.Outputs[0]]; !slices.Equal(got, []float64{2, 4, 6, 8, 10, -12}) {
		t.Errorf("twice the input is %v", got)
	}
	for name, c := range map[string]struct {
		fix  map[string]float64
		want string
	}{
		"no such input":  {map[string]float64{"off": 1}, `no input is named "off"`},
		"half":           {map[string]float64{"on": 0.5}, "cannot be fixed to 0.5"},
		"everything":     {map[string]float64{"on": 1, "x": 1}, "no input"},
		"out of its way": {map[string]float64{"on": 1e30}, "cannot be fixed"},
	} {
		if _, err := read(c.fix, "Mul1.out"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An integer input that nothing but arithmetic reads is a mask: other numbers are refused when it runs.
	x := &onnx.Tensor{Shape: []int{1, 6}, Real: make([]float32, 6)}
	if _, err := open.Run([]*onnx.Tensor{x, {Shape: []int{6}, Ints: []int64{0, 1, 1, 0, 2, 0}}}); err == nil || !strings.Contains(err.Error(), "element 4 is 2, expected 0 to 1") {
		t.Errorf("a mask of 2: %v", err)
	}
}

// TestRanges bounds an integer input that is no mask.
func TestRanges(t *testing.T) {
	file := switched().Bytes()
	read := func(ranges map[string][2]int64) (*onnx.Model, error) {
		return onnx.Parse(file, onnx.Options{Ranges: ranges, Outputs: []string{"Mul1.out"}})
	}
	m, err := read(map[string][2]int64{"on": {-3, 9}})
	if err != nil {
		t.Fatal(err)
	}
	x := &onnx.Tensor{Shape: []int{1, 6}, Real: []float32{1, 1, 1, 1, 1, 1}}
	values, err := m.Run([]*onnx.Tensor{x, {Shape: []int{6}, Ints: []int64{-3, 0, 1, 2, 9, 4}}})
	if err != nil || !slices.Equal(values[m.Outputs[0]].Real, []float32{-3, 0, 1, 2, 9, 4}) {
		t.Errorf("%v (%v)", values, err)
	}
	if _, err := m.Run([]*onnx.Tensor{x, {Shape: []int{6}, Ints: []int64{-4, 0, 1, 2, 9, 4}}}); err == nil {
		t.Error("a number below the range was taken")
	}
	other, err := read(map[string][2]int64{"on": {-3, 8}})
	if err != nil || other.SHA256 == m.SHA256 {
		t.Errorf("another range is the same model (%v)", err)
	}
	for _, ranges := range []map[string][2]int64{{"on": {3, 3}}, {"on": {0, 1 << 60}}, {"x": {0, 1}}, {"y": {0, 1}}} {
		want, text := onnx.ErrUnsupported, ""
		if _, on := ranges["on"]; !on {
			want, text = onnx.ErrOption, `there is "on"`
		}
		if _, err := read(ranges); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v", ranges, err)
		}
	}
}

// A number for an input that is none is refused, with the inputs there are, fixed ones among them.
func TestFixedUnknown(t *testing.T) {
	_, err := onnx.Parse(switched().Bytes(), onnx.Options{Outputs: []string{"Mul1.out"}, Fix: map[string]float64{"on": 1, "onn": 1}})
	if !errors.Is(err, onnx.ErrOption) || errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), `no input is named "onn" (given as fixed); there are "x", "on"`) {
		t.Error(err)
	}
}

// TestAxesByPlace gives lengths to axes that the file names badly or not at all.
func TestAxesByPlace(t *testing.T) {
	f := onnxtest.New(17, "x", 0, 0, 0, 6)
	axes := f.Proto.Graph.Input[0].GetType().GetTensorType().Shape.Dim
	axes[1] = &onnxpb.TensorShapeProto_Dimension{}
	axes[2] = &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: -1}}
	file := f.Output(f.Node("Relu", []string{"x"})).Bytes()
	m, err := onnx.Parse(file, onnx.Options{Dims: map[string]int{"x:1": 3, "x:2": 5}})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Values[m.Inputs[0]].Shape; !slices.Equal(got, []int{1, 3, 5, 6}) || m.Dims["x:2"] != 5 {
		t.Errorf("shape %v, dimensions %v", got, m.Dims)
	}
	for _, dims := range []map[string]int{{"x:1": 3}, {"x:1": 3, "x:2": 0}, {"x:1": 3, "x:2": 5, "x:3": 6}, {"x:1": 3, "x:2": 5, "y:0": 1}} {
		if _, err := onnx.Parse(file, onnx.Options{Dims: dims}); !errors.Is(err, onnx.ErrUnsupported) && !errors.Is(err, onnx.ErrOption) {
			t.Errorf("%v: %v", dims, err)
		}
	}
}
