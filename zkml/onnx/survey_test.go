package onnx_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

func TestSurvey(t *testing.T) {
	f := onnxtest.New(17, "x", 1, 4)
	a := f.Node("Relu", []string{"x"})
	a = f.Node("Relu", []string{a})
	a = f.Node("Sinhoid", []string{a})
	a = f.Node("FastGelu", []string{a})
	f.Last().Domain = "com.microsoft"
	got, err := onnx.Survey(f.Output(f.Node("Sinhoid", []string{a})).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []onnx.OperatorUse{{Name: "Relu", Nodes: 2, Supported: true}, {Name: "Sinhoid", Nodes: 2}, {Name: "com.microsoft.FastGelu", Nodes: 1, Supported: true}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := onnx.Survey([]byte("text")); !errors.Is(err, onnx.ErrMalformed) {
		t.Errorf("text: %v", err)
	}
}
