package onnx_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// FuzzParse checks that no input makes the reader or the executor panic, and that every error is classified.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.onnx")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(base().Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := onnx.Parse(data, onnx.Options{})
		if err != nil {
			if !errors.Is(err, onnx.ErrMalformed) && !errors.Is(err, onnx.ErrUnsupported) {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		work := 1
		for _, v := range m.Values {
			work += count(v.Shape)
		}
		if work > 1<<16 {
			return
		}
		if values, err := m.RunOne(make([]float64, count(m.Values[m.Inputs[0]].Shape))); err == nil {
			if got := len(values[m.Outputs[0]]); got != count(m.Values[m.Outputs[0]].Shape) {
				t.Fatalf("%d output elements for shape %v", got, m.Values[m.Outputs[0]].Shape)
			}
		}
	})
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
