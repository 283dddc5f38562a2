package llmtest

import (
	"math"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

func TestRandom(t *testing.T) {
	r := Random{Seed: 1}
	a, err := r.Tensor("a.weight", 300, 400)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Tensor("a.weight", 300, 400)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Random{Seed: 2}.Tensor("a.weight", 300, 400)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Real, b.Real) || slices.Equal(a.Real, other.Real) {
		t.Error("weights do not depend on the seed alone")
	}
	power := 0.0
	for _, v := range a.Real {
		power += float64(v) * float64(v)
	}
	if power /= 300; math.Abs(power-1) > 0.02 {
		t.Errorf("a row has the power %g, expected about 1", power)
	}
}

// TestLayer runs a layer of odd widths, in blocks and whole: the same numbers, and of about the operands' size.
func TestLayer(t *testing.T) {
	c := &llm.Config{Family: "qwen3", Hidden: 40, Layers: 3, Heads: 10, KVHeads: 2, HeadDim: 8, Intermediate: 136, Vocabulary: 99, Positions: 64,
		Epsilon: 1e-6, Theta: 1e6, QKNorm: true}
	x := &onnx.Tensor{Shape: []int{6, 40}, Real: make([]float32, 240)}
	for i := range x.Real {
		x.Real[i] = float32(i*7%11-5) / 5
	}
	var results [][]float64
	for _, least := range []int{1, 1 << 20} {
		m, err := llm.Build(c, Random{3}, llm.Options{Tokens: 6, From: 1, To: 2, Blocks: least})
		if err != nil {
			t.Fatal(err)
		}
		values, err := m.Run([]*onnx.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, values[m.Outputs[0]].Float64s())
	}
	reach := 0.0
	for i, v := range results[0] {
		reach = max(reach, math.Abs(v))
		if math.Abs(v-results[1][i]) > 1e-5 {
			t.Errorf("element %d: %g in blocks, %g whole", i, v, results[1][i])
		}
	}
	if reach < 0.5 || reach > 20 {
		t.Errorf("results reach %g", reach)
	}
}
