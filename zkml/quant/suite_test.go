package quant_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
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
func integerProgram(t *testing.T, m *onnx.Model, x []float64, inputBits, weightBits int) outcome {
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
	c, _, err := quant.Calibrate(m, [][]float64{x}, quant.Options{InputBits: inputBits, ActivationBits: 12, OutputBits: 16, WeightBits: weightBits})
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

// inputBitsOf is the width that a test's inputs get: 12 bits, but 22 where scores of a softmax differ by thousands in one row and by ones in another.
func inputBitsOf(name string) int {
	if strings.Contains(name, "softmax_large_number") {
		return 22
	}
	return 12
}

// passed allows for an error: three hundredths of the greatest element of real numbers, nothing for integers. A quantised network with a real
// input may take some elements of it for the code beside theirs, and a recurrence adds up the errors of its steps.
func (o *outcome) passed(name string) bool {
	switch {
	case strings.HasPrefix(name, "quantised_"), strings.HasPrefix(name, "RNN_"), strings.HasPrefix(name, "LSTM_"), strings.HasPrefix(name, "GRU_"):
		return o.error <= 0.05
	case !o.exact:
		return o.error <= 0.03
	}
	return o.error == 0
}

var update = flag.Bool("update", false, "write docs/onnx-integers.md instead of comparing it")

const integerPage = "../../docs/onnx-integers.md"

// account is a line of the page of operators as integer programs.
type account struct {
	exact, near, failed, refused int
	worst                        float64 // of near
	reasons                      map[string]int
}

// TestNodeSuite turns ONNX's own tests of operators, and the models that onnxruntime ran, into integer programs, and compares the account
// with the page in docs.
func TestNodeSuite(t *testing.T) {
	rows := map[string]*account{}
	for _, file := range []string{"node", "quantised", "runtime"} {
		tests, err := onnxtest.ReadSuite("../onnx/testdata/" + file + ".tar.bz2")
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
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
			m = ranged(t, data, m, x)
			op := n.Operator()
			if op == "several operators" {
				op = "networks and pairs of QuantizeLinear and DequantizeLinear"
			}
			r := rows[op]
			if r == nil {
				r = &account{reasons: map[string]int{}}
				rows[op] = r
			}
			tried++
			if op == "LSTM" || op == "GRU" { // whose sums are the most unequal: half a second in all
				t.Run(n.Name+" with weights of 8 bits", func(t *testing.T) {
					if o := integerProgram(t, m, x, inputBitsOf(n.Name), 8); o.refused != "" || !o.passed(n.Name) {
						t.Errorf("error %.4f of the greatest element, refused for %q", o.error, o.refused)
					}
				})
			}
			t.Run(n.Name, func(t *testing.T) {
				o := integerProgram(t, m, x, inputBitsOf(n.Name), 12)
				switch {
				case o.refused != "":
					r.refused++
					r.reasons[shortened(o.refused)]++
				case o.passed(n.Name) && o.error == 0:
					r.exact++
				case o.passed(n.Name):
					r.near++
					r.worst = max(r.worst, o.error)
				default:
					r.failed++
					t.Errorf("error %.4f of the greatest element", o.error)
				}
			})
		}
		if tried < 200 {
			t.Errorf("%s: only %d tests were tried", file, tried)
		}
	}
	page := integerTable(rows)
	if *update {
		if err := os.WriteFile(integerPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(integerPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != page {
		t.Errorf("%s is not what the tests give; run go test ./zkml/quant -run TestNodeSuite -update", integerPage)
	}
}

// ranged reads a model again with the ranges of integer inputs that are no masks, as --range gives them.
func ranged(t *testing.T, data []byte, m *onnx.Model, x []float64) *onnx.Model {
	t.Helper()
	ranges := map[string][2]int64{}
	for _, id := range m.Inputs {
		v := &m.Values[id]
		n := graph.Elements(v.Shape)
		if v.Int && n > 0 {
			if lo, hi := slices.Min(x[:n]), slices.Max(x[:n]); lo < float64(v.Lo) || hi > float64(v.Hi) {
				ranges[v.Name] = [2]int64{int64(lo), int64(hi)}
			}
		}
		x = x[n:]
	}
	if len(ranges) == 0 {
		return m
	}
	again, err := onnx.Parse(data, onnx.Options{Ranges: ranges})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

var noMask = regexp.MustCompile(`.*model input .* expected 0 to 1`)

var namesAndNumbers = regexp.MustCompile(`model not supported: |node "[^"]*"(\.\.\.)? \(\w+\): |model input "[^"]*", element \d+ is -?\d+, | "[^"]*"(\.\.\.)?|calibration sample 0: |calibration: `)

// shortened is a reason without the names of one file.
func shortened(reason string) string {
	reason = noMask.ReplaceAllString(reason, "integers of 32 bits or more that are an input and no mask")
	return strings.ReplaceAll(namesAndNumbers.ReplaceAllString(reason, ""), "|", `\|`)
}

func integerTable(rows map[string]*account) string {
	var b strings.Builder
	var all account
	for _, r := range rows {
		all.exact, all.near, all.failed, all.refused = all.exact+r.exact, all.near+r.near, all.failed+r.failed, all.refused+r.refused
	}
	fmt.Fprintf(&b, `# Operators as integer programs

This page is written by a test (go test ./zkml/quant -run TestNodeSuite -update), which also compares it.

Every model of ONNX's node tests that is read ([operators](onnx-operators.md)) and has an input, and the models that onnxruntime ran
([quantised files](onnx-quantised.md)), is calibrated on its one input, whose range is given where it has wide integers, with inputs, activations and weights of 12 bits and outputs of 16, and the integer
program is compared with the float executor. Real results must be within 3 %% of the greatest element; integers must be exact; 5 %% are
allowed for quantised networks with a real input and for recurrences. Inputs of Softmax and
LogSoftmax whose scores are thousands in one row and ones in another get 22 bits.

Of %d models %d are exact, %d within the tolerance, %d failed, %d refused.

| operator | exact | within tolerance | largest error | failed | refused | why refused |
|---|---|---|---|---|---|---|
`, all.exact+all.near+all.failed+all.refused, all.exact, all.near, all.failed, all.refused)
	for _, op := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		r := rows[op]
		worst := "-"
		if r.near > 0 {
			worst = fmt.Sprintf("%.1f %%", math.Ceil(1000*r.worst)/10)
		}
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(r.reasons)) {
			reasons = append(reasons, fmt.Sprintf("%s (%d)", reason, r.reasons[reason]))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %d | %d | %s |\n", strings.ReplaceAll(op, "*", `\*`), r.exact, r.near, worst, r.failed, r.refused, strings.Join(reasons, "; "))
	}
	return b.String()
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
			o := integerProgram(t, m, x, 12, 12)
			if o.refused != "" {
				t.Error(o.refused)
			}
			if !o.passed(c.Name) {
				t.Errorf("error %.4f of the greatest element", o.error)
			}
		})
	}
}
