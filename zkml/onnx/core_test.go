package onnx_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// listed is a tensor in a file of vectors.
type listed struct {
	Shape  []int     `json:"shape"`
	Values []float64 `json:"values"`
}

// coreCase is a model of testdata/core.py with inputs and the outputs of onnxruntime.
type coreCase struct {
	Name    string         `json:"name"`
	Model   []byte         `json:"model"`
	Dims    map[string]int `json:"dims"`
	Inputs  []listed       `json:"inputs"`
	Outputs []listed       `json:"outputs"`
	Ops     []string       `json:"ops"` // operations that must remain, in any order
}

func coreCases(t testing.TB) []coreCase {
	t.Helper()
	f, err := os.Open("testdata/core.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var cases []coreCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestCore compares the executor with onnxruntime, and the primitive operations that patterns become with the expected ones.
func TestCore(t *testing.T) {
	cases := coreCases(t)
	if len(cases) < 100 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m, err := onnx.Parse(c.Model, onnx.Options{Dims: c.Dims})
			if err != nil {
				t.Fatal(err)
			}
			inputs := make([]*onnx.Tensor, len(c.Inputs))
			for i, in := range c.Inputs {
				inputs[i] = m.Values[m.Inputs[i]].Tensor(in.Values)
			}
			values, err := m.Run(inputs)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.Outputs {
				v := &m.Values[m.Outputs[i]]
				if !slices.Equal(v.Shape, want.Shape) {
					t.Fatalf("output %d has shape %v, expected %v", i, v.Shape, want.Shape)
				}
				for j, x := range want.Values {
					if got := values[m.Outputs[i]].At(j); math.Abs(got-x) > 1e-5*(1+math.Abs(x)) {
						t.Fatalf("output %d, element %d is %g, expected %g", i, j, got, x)
					}
				}
			}
			checkOps(t, m, c.Ops)
		})
	}
}

// checkOps wants each operation somewhere, and without mention of Einsum (in which case the list is of what matters only) no others but
// those that only change the shape.
func checkOps(t *testing.T, m *onnx.Model, want []string) {
	t.Helper()
	var got []string
	for _, n := range m.Nodes {
		op := n.Op.String()
		if n.Op == onnx.OpUnary {
			op = n.Attr.Func.String()
		}
		got = append(got, op)
	}
	for _, op := range want {
		if !slices.Contains(got, op) {
			t.Errorf("operations %s, expected %s among them", strings.Join(got, " "), op)
		}
	}
	if len(want) > 0 && strings.HasPrefix(t.Name(), "TestCore/pattern") {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("operations %s, expected %s", strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}
