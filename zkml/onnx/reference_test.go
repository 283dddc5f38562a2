package onnx_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// vector is what testdata/make.py stores beside a model.
type vector struct {
	Input  []float64 `json:"input"`
	Shape  []int     `json:"shape"`
	Output []float64 `json:"output"`
}

// dims are the symbolic axes of the models in testdata.
var dims = map[string]map[string]int{"gemm13": {"batch": 3}}

// TestReference compares the executor with what ONNX's reference evaluator computed for files made by ONNX's own tools.
func TestReference(t *testing.T) {
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d models in testdata (%v)", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".onnx")])
		t.Run(name, func(t *testing.T) {
			m, err := onnx.Load(file, onnx.Options{Dims: dims[name]})
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			data, err := os.ReadFile("testdata/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			values, err := m.RunOne(v.Input)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Values[m.Outputs[0]].Shape; !slices.Equal(got, v.Shape) {
				t.Fatalf("output shape %v, expected %v", got, v.Shape)
			}
			for i, want := range v.Output {
				if got := values[m.Outputs[0]][i]; math.Abs(got-want) > 2e-6*(1+math.Abs(want)) {
					t.Fatalf("output %d is %g, expected %g", i, got, want)
				}
			}
		})
	}
}
