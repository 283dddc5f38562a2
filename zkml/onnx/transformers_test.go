package onnx_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// TestMadeUpTransformers reads generated files of GPT-2's and BERT's form. The expected outputs are onnxruntime's for the same files.
func TestMadeUpTransformers(t *testing.T) {
	shape := onnxtest.Transformer{Vocabulary: 100, Tokens: 16, Width: 48, Heads: 4, Layers: 2, Hidden: 96, Seed: 3}
	cases := []struct {
		name string
		make func(onnxtest.Transformer) *onnxtest.File
		bert bool
		want []float64
	}{
		{"GPT2", onnxtest.GPT2, false, []float64{0.585646, 0.110265, 1.100883, 0.051106, -0.250899, 1.406597}},
		{"BERT", onnxtest.BERT, true, []float64{1.694762, 0.259661, 1.066864, 0.704417, 1.160494, -0.114978}},
	}
	for _, c := range cases {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", c.name, whole), func(t *testing.T) {
				shape.WholeNorm = whole
				f := c.make(shape)
				weights := 0
				for _, i := range f.Proto.Graph.Initializer {
					if len(i.Dims) > 1 || len(i.RawData) > 4 {
						weights += len(i.RawData) / 4
					}
				}
				if weights != shape.Parameters(c.bert) {
					t.Errorf("%d weights in the file, Parameters says %d", weights, shape.Parameters(c.bert))
				}
				m, err := onnx.Parse(f.Bytes(), onnx.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tokens := &onnx.Tensor{Shape: []int{1, 16}}
				for i := range 16 {
					tokens.Ints = append(tokens.Ints, int64(i*i*7%100))
				}
				out, err := m.Run([]*onnx.Tensor{tokens})
				if err != nil {
					t.Fatal(err)
				}
				y := out[m.Outputs[0]].Real
				for i, want := range c.want {
					if got := float64(y[i]); math.Abs(got-want) > 2e-5 {
						t.Errorf("output %d is %v, onnxruntime says %v", i, got, want)
					}
				}
				for id, v := range m.Values {
					if v.Const == nil && out[id].Real != nil {
						checkSpread(t, v.Name, out[id].Real)
					}
				}
			})
		}
	}
}

// checkSpread fails if a tensor is trivial: all elements nearly alike, or some of them huge.
func checkSpread(t *testing.T, name string, x []float32) {
	t.Helper()
	var sum, squares, most float64
	for _, v := range x {
		if float64(v) > -1e30 { // not a masked score
			sum, squares, most = sum+float64(v), squares+float64(v)*float64(v), max(most, math.Abs(float64(v)))
		}
	}
	mean := sum / float64(len(x))
	if spread := math.Sqrt(squares/float64(len(x)) - mean*mean); spread < 0.02 || most > 50 {
		t.Errorf("%s spreads by %v and reaches %v", onnx.Quote(name), spread, most)
	}
}

// TestShapesOfKnownNetworks compares the numbers of weights with the published ones (which count 1024 and 512 positions).
func TestShapesOfKnownNetworks(t *testing.T) {
	if got := onnxtest.GPT2Small(1024).Parameters(false); got != 124_439_808 {
		t.Errorf("GPT-2 has %d weights, published: 124439808", got)
	}
	// all-MiniLM-L6-v2 has 22713216 with two types of tokens and a pooling layer of 384 x 384 + 384 that its embeddings do not use.
	if got := onnxtest.MiniLM(512).Parameters(true); got != 22_713_216-384-384*384-384 {
		t.Errorf("MiniLM has %d weights, published: %d", got, 22_713_216-384-384*384-384)
	}
}
