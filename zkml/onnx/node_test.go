package onnx_test

import (
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

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

var update = flag.Bool("update", false, "write docs/onnx-operators.md instead of comparing it")

const operatorPage = "../../docs/onnx-operators.md"

// Tolerances of the node suite, relative to the larger of 1 and the expected value. Operators that only move elements, compare them or
// compute with integers must be exact.
const usual = 2e-6

var tolerances = map[string]float64{
	"Cast": 1e-3, "CastLike": 1e-3, // conversions to 16-bit floats are not rounded
	"Gelu": 1e-5, "Gelu (expanded)": 1e-5, "ReduceLogSumExp": 1e-5, "Pow": 1e-5, "Exp": 1e-5,
}

var exact = strings.Fields(`
	ArgMax ArgMin Clip Concat ConstantOfShape ConvInteger DepthToSpace DequantizeLinear Expand Flatten Gather Identity If MatMulInteger Max MaxPool
	GlobalMaxPool Min Neg Abs Sign Floor Ceil Round Pad QLinearConv QLinearMatMul QuantizeLinear Range ReduceMax ReduceMin Relu Reshape Shape Size Slice
	SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze Upsample Where Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not Dropout`)

func tolerance(operator string) float64 {
	if slices.Contains(exact, operator) {
		return 0
	}
	if t, ok := tolerances[operator]; ok {
		return t
	}
	return usual
}

// verdict is the outcome of one test.
type verdict struct {
	folded  bool    // it was run on constants
	refused string  // reason, if the model is not supported
	failure string  // reason, if the model was read
	worst   float64 // largest error, relative to the larger of 1 and the expected value
	most    float64 // largest error
	differ  int     // elements that differ
}

// judge tries a test as it is, then, where an operator is not understood on computed integers or leaves nothing to compute, on constants.
func judge(n *onnxtest.Test) verdict {
	v := try(n, false)
	for _, reason := range []string{"has no input", "does not depend on an input", "integer", ", expected 0 to 1", "conversion of the computed", "condition", "comparison of", "the exponent", "power of real"} {
		if strings.Contains(v.refused+v.failure, reason) {
			w := try(n, true)
			if w.refused == "" {
				w.folded = true
				return w
			}
			if reason == "has no input" {
				return w
			}
		}
	}
	return v
}

func try(n *onnxtest.Test, fold bool) verdict {
	data, given, err := n.File(fold)
	if err != nil {
		return verdict{refused: err.Error()}
	}
	m, err := onnx.Parse(data, onnx.Options{})
	if errors.Is(err, onnx.ErrUnsupported) {
		return verdict{refused: err.Error()}
	}
	if err != nil {
		return verdict{failure: err.Error()}
	}
	if len(n.Outputs) == 0 {
		return verdict{failure: "there are no data for a model that is read"}
	}
	inputs := make([]*onnx.Tensor, len(given))
	for i, t := range given {
		if inputs[i], err = onnx.DecodeTensor(t); err != nil {
			return verdict{refused: err.Error()} // not a number, or no type that is read
		}
	}
	values, err := m.Run(inputs)
	if err != nil {
		return verdict{failure: err.Error()}
	}
	var v verdict
	for i, id := range m.Outputs {
		want, err := onnx.DecodeTensor(n.Outputs[i])
		if err != nil {
			return verdict{refused: err.Error()}
		}
		got := values[id]
		if !slices.Equal(got.Shape, want.Shape) {
			return verdict{failure: fmt.Sprintf("output %d has shape %v, expected %v", i, got.Shape, want.Shape)}
		}
		for k := range want.Len() {
			if d := math.Abs(got.At(k) - want.At(k)); d != 0 {
				v.differ++
				v.worst = max(v.worst, d/max(1, math.Abs(want.At(k))))
				v.most = max(v.most, d)
			}
		}
	}
	return v
}

// row is a line of the page of operators.
type row struct {
	passed, folded, refused int
	reasons                 map[string]int
}

// TestNodeSuite runs ONNX's own tests of the operators that are read, and compares the account of them with the page in docs.
func TestNodeSuite(t *testing.T) {
	tests, err := onnxtest.ReadSuite("testdata/node.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]*row{}
	for i := range tests {
		n := &tests[i]
		op := n.Operator()
		r := rows[op]
		if r == nil {
			r = &row{reasons: map[string]int{}}
			rows[op] = r
		}
		switch v := judge(n); {
		case v.failure != "":
			t.Errorf("%s: %s", n.Name, v.failure)
		case v.refused != "":
			r.refused++
			r.reasons[shortened(v.refused)]++
		case v.worst > tolerance(op):
			t.Errorf("%s: error %.3g, expected at most %g", n.Name, v.worst, tolerance(op))
		default:
			r.passed++
			if v.folded {
				r.folded++
			}
		}
	}
	page := operatorTable(rows)
	if *update {
		if err := os.WriteFile(operatorPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(operatorPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != page {
		t.Errorf("%s is not what the tests give; run go test ./zkml/onnx -run TestNodeSuite -update", operatorPage)
	}
}

var (
	errorKind  = regexp.MustCompile(`^(model not supported|malformed ONNX file): `)
	nodeLabel  = regexp.MustCompile(`node ("[^"]*"(\.\.\.)?|\d+) \(\w+\): `)
	tensorName = regexp.MustCompile(`(input|output|initializer|tensor|condition|constant|limit|scale|zero point) "[^"]*"(\.\.\.)?`)
	numbers    = regexp.MustCompile(` \(shape \[[^\]]*\]\)`)
)

// shortened is a reason without the names of one file.
func shortened(reason string) string {
	reason = errorKind.ReplaceAllString(reason, "")
	reason = nodeLabel.ReplaceAllString(reason, "")
	reason = tensorName.ReplaceAllString(reason, "$1")
	reason = numbers.ReplaceAllString(reason, "")
	return strings.ReplaceAll(reason, "|", `\|`)
}

func operatorTable(rows map[string]*row) string {
	var b strings.Builder
	var all row
	for _, r := range rows {
		all.passed, all.folded, all.refused = all.passed+r.passed, all.folded+r.folded, all.refused+r.refused
	}
	fmt.Fprintf(&b, `# Operators and ONNX's node tests

This page is written by a test (go test ./zkml/onnx -run TestNodeSuite -update), which also compares it.

ONNX's project publishes tests of single operators with inputs and expected outputs. Those of the operators that an integer program can
come from, up to operator set 21, and of the expansions of its functions, are in zkml/onnx/testdata (node.py says where they are taken
from and how). Inputs that determine shapes, and parameters that every real file stores, are made constants of the model; what is left are its inputs.
Operators on integers that are only understood in arithmetic on constants, such as comparisons in the computation of a shape, and models that
compute nothing, are run on constants. The float executor's results are compared with the expected ones: the error is relative to the larger of 1
and the expected value, and "exact" allows none.

Of %d tests %d pass (%d of them on constants), %d are refused with an error that names the node, none fails.

| operator | passed | on constants | refused | tolerance | why refused |
|---|---|---|---|---|---|
`, all.passed+all.refused, all.passed, all.folded, all.refused)
	for _, op := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		r := rows[op]
		limit := "-"
		if r.passed > 0 {
			limit = "exact"
			if tol := tolerance(op); tol > 0 {
				limit = fmt.Sprint(tol)
			}
		}
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(r.reasons)) {
			reasons = append(reasons, fmt.Sprintf("%s (%d)", reason, r.reasons[reason]))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s |\n", strings.ReplaceAll(op, "*", `\*`), r.passed, r.folded, r.refused, limit, strings.Join(reasons, "; "))
	}
	return b.String()
}

// ties are the tests with average pools in which the average lies between two codes up to the rounding of onnxruntime's float sum, which
// depends on its order: how many codes differ, by one.
var ties = map[string]int{"QLinearAveragePool_1_2": 2, "QLinearAveragePool_3_2": 1, "qdq_averagepool_pads_2": 1, "quantised_qdq_uint8_1": 1}

// TestRuntime compares with onnxruntime: quantised operators, pairs of QuantizeLinear and DequantizeLinear, and networks that its quantiser
// wrote, bit by bit; forms of float operators that the node suite lacks within float32's precision.
func TestRuntime(t *testing.T) {
	for file, least := range map[string]int{"quantised": 240, "runtime": 250} {
		tests, err := onnxtest.ReadSuite("testdata/" + file + ".tar.bz2")
		if err != nil {
			t.Fatal(err)
		}
		if len(tests) < least {
			t.Fatalf("%d tests in %s", len(tests), file)
		}
		for i := range tests {
			n := &tests[i]
			v := try(n, false)
			limit := 1e-5
			switch {
			case n.Name == "dynamic":
				limit = 0.02 // activations keep the precision that onnxruntime rounds away
			case strings.HasPrefix(n.Name, "QGemm_3"):
				limit = 1e-6 // its results are real numbers
			case ties[n.Name] > 0 && v.differ <= ties[n.Name] && v.most <= 1:
				limit = 1
			case file == "quantised" || strings.HasPrefix(n.Name, "quantised"):
				limit = 0
			}
			if v.refused+v.failure != "" || v.worst > limit {
				t.Errorf("%s: %s%s %d elements differ, by %g at most", n.Name, v.refused, v.failure, v.differ, v.worst)
			}
		}
	}
}
