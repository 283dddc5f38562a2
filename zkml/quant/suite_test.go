package quant_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// outcome is what a model with one sample came to.
type outcome struct {
	refused string  // reason
	error   float64 // greatest error of an output, in shares of its greatest element
	exact   bool    // all outputs are integers
}

// integerProgram calibrates a model on one sample and compares the program's outputs on it with the executor's.
func integerProgram(t *testing.T, m *onnx.Model, x []float64) outcome {
	t.Helper()
	var inputs []*onnx.Tensor
	integer := true // all inputs are
	for at, i := 0, 0; i < len(m.Inputs); i++ {
		v := &m.Values[m.Inputs[i]]
		n := graph.Elements(v.Shape)
		inputs = append(inputs, v.Tensor(x[at:at+n]))
		integer = integer && v.Int
		at += n
	}
	want, err := m.Run(inputs)
	if err != nil {
		return outcome{refused: err.Error()} // integers that are no masks
	}
	c, _, err := quant.Calibrate(m, [][]float64{x}, quant.Options{InputBits: 12, ActivationBits: 12, OutputBits: 16, WeightBits: 12})
	if errors.Is(err, onnx.ErrUnsupported) {
		return outcome{refused: err.Error()}
	}
	if err != nil {
		t.Error(err)
		return outcome{refused: err.Error()}
	}
	p, w, err := quant.Build(m, c)
	if err != nil {
		t.Error(err)
		return outcome{refused: err.Error()}
	}
	q, err := quant.QuantizeInput(p, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := graph.RunPadded(p, w, q)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{exact: integer}
	for i, id := range p.Outputs {
		v := m.Outputs[i]
		o.exact = o.exact && m.Values[v].Int
		out := p.Tensor(id)
		y := graph.Unpad(out.Shape, got[id])
		real := make([]float64, len(y))
		for k := range y {
			real[k] = float64(y[k]) * out.Scale
		}
		if p.Post.Kind != graph.PostNone {
			answer, err := p.Answer(y)
			if err != nil {
				t.Fatal(err)
			}
			real = answer.Values
		}
		worst, most := 0.0, 1e-9
		for k := range real {
			worst, most = max(worst, math.Abs(real[k]-want[v].At(k))), max(most, math.Abs(want[v].At(k)))
		}
		o.error = max(o.error, worst/most)
	}
	return o
}

// limits are tests whose operands span more than integers resolve, or that jump where operands are rounded: softmax of scores that differ
// by thousands, sums of exponentials of such numbers, steps.
func limits(name string) bool {
	return strings.Contains(name, "softmax_large_number") || strings.HasPrefix(name, "reduce_log_sum_exp") && strings.Contains(name, "expanded") ||
		name == "round" || name == "thresholdedrelu_example"
}

// passed allows for an error: three hundredths of the greatest element of real numbers, nothing for integers, and one code for a
// softmax between codes, which is no function of few bits.
func (o *outcome) passed(name string) bool {
	switch {
	case !o.exact:
		return o.error <= 0.03
	case strings.Contains(strings.ToLower(name), "softmax"):
		return o.error <= 0.009
	}
	return o.error == 0
}

// TestNodeSuite turns ONNX's own tests of operators into integer programs.
func TestNodeSuite(t *testing.T) {
	for _, file := range []string{"node.tar.bz2", "quantised.tar.bz2"} {
		tests, err := onnxtest.ReadSuite("../onnx/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		passed, refused, reasons := 0, 0, map[string]int{}
		for i := range tests {
			n := &tests[i]
			data, given, err := n.File(false)
			if err != nil {
				continue
			}
			m, err := onnx.Parse(data, onnx.Options{})
			if err != nil {
				continue // TestNodeSuite of onnx accounts for these
			}
			var x []float64
			for _, g := range given {
				in, err := onnx.DecodeTensor(g)
				if err != nil {
					t.Fatal(err)
				}
				x = append(x, in.Float64s()...)
			}
			t.Run(n.Name, func(t *testing.T) {
				o := integerProgram(t, m, x)
				switch {
				case o.refused != "":
					refused++
					reasons[o.refused]++
					t.Log(o.refused)
				case !o.passed(n.Name) && !limits(n.Name):
					t.Errorf("error %.4f of the greatest element", o.error)
				default:
					passed++
				}
			})
		}
		t.Logf("%s: %d passed, %d refused", file, passed, refused)
		if passed < 200 {
			t.Errorf("%s: only %d tests were tried", file, passed)
		}
		for r, n := range reasons {
			t.Logf("  %3d %s", n, r)
		}
	}
}

// TestCoreModels turns the models that onnx is compared with onnxruntime on into integer programs.
func TestCoreModels(t *testing.T) {
	f, err := os.Open("../onnx/testdata/core.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name   string         `json:"name"`
		Model  []byte         `json:"model"`
		Dims   map[string]int `json:"dims"`
		Inputs []struct {
			Values []float64 `json:"values"`
		} `json:"inputs"`
	}
	if err := json.NewDecoder(z).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m, err := onnx.Parse(c.Model, onnx.Options{Dims: c.Dims})
			if err != nil {
				t.Fatal(err)
			}
			var x []float64
			for _, in := range c.Inputs {
				x = append(x, in.Values...)
			}
			o := integerProgram(t, m, x)
			if o.refused != "" {
				t.Error(o.refused)
			}
			if !o.passed(c.Name) {
				t.Errorf("error %.4f of the greatest element", o.error)
			}
		})
	}
}
