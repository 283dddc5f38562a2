package prover

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// channelled is two layers, a depthwise convolution and a matrix, whose channels have weights of very different sizes, in 8 bits by channels.
func channelled(t testing.TB) *keyed {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 15))
	spread := func(channels, each int) []float32 {
		w := make([]float32, channels*each)
		for i := range w {
			w[i] = float32(rng.NormFloat64() * math.Exp2(-float64(i/each%5)))
		}
		return w
	}
	f := onnxtest.New(17, "x", 1, 6, 5)
	c := f.Node("Conv", []string{"x", f.Floats("filters", spread(6, 3), 6, 1, 3), f.Random(1, "b", 0.3, 6)}, onnxtest.Int("group", 6))
	flat := f.Node("Flatten", []string{f.Node("Relu", []string{c})})
	y := f.Node("Gemm", []string{flat, f.Floats("rows", spread(7, 18), 7, 18), f.Random(2, "b2", 0.3, 7)}, onnxtest.Int("transB", 1))
	m, err := onnx.Parse(f.Output(y).Bytes(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples := make([][]float64, 4)
	for i := range samples {
		for range 30 {
			samples[i] = append(samples[i], rng.NormFloat64())
		}
	}
	o := quant.Options{InputBits: 12, ActivationBits: 12, WeightBits: 8, WeightScales: quant.ChannelScales, OutputBits: 14, TableBits: 14}
	calibration, _, err := quant.Calibrate(m, samples, o)
	if err != nil {
		t.Fatal(err)
	}
	p, w, err := quant.Build(m, calibration)
	if err != nil {
		t.Fatal(err)
	}
	x, err := quant.QuantizeInput(p, samples[0])
	if err != nil {
		t.Fatal(err)
	}
	return once(func() *zkmltest.Case { return &zkmltest.Case{Name: "channels", Program: p, Weights: w, X: x} })(t)
}

// TestChannelScales has provers that use another scale for one channel of the weights: as the parameter that it is, or in what they compute from
// honest parameters. Everything else follows from it. It takes a second.
func TestChannelScales(t *testing.T) {
	k := channelled(t)
	if err := zkml.Verify(k.vk, k.X, k.Output(), k.prove(t, hooks{}).Proof, nil); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, id := range k.Program.Params() {
		if !strings.HasSuffix(k.Program.Tensor(id).Name, ".scales") {
			continue
		}
		found++
		// The channel of the largest scale, and half of it.
		scales := k.Weights.Of(id).Ints()
		at, other := slices.Index(scales, slices.Min(scales)), slices.Clone(scales)
		if other[at] /= 2; other[at] == 0 || scales[at] == slices.Max(scales) {
			t.Fatalf("scales %v", scales)
		}
		weights := &graph.Weights{Data: slices.Clone(k.Weights.Data)}
		weights.Data[id] = graph.NewValues(other)
		values, err := graph.RunPadded(k.Program, weights, k.X)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(k.Program.Tensor(id).Name, func(t *testing.T) {
			k.refused(t, k.prove(t, hooks{
				input: func(s *session) error {
					return edit(s.q, s.stacks[plan.Parameters], func(v []m31.Element) {
						v[k.vk.Inference().Plan.Polys[id].Offset+at] = m31.FromInt(int64(other[at]))
					})
				},
				open: func(s *session, h plan.Home, c whir.M31Claim) whir.M31Claim {
					if h == plan.Parameters {
						c.Value = mle.EvaluateBase(k.stack(), c.Point)
					}
					return c
				},
			}), zkml.CheckOpenParams)
			k.refused(t, k.prove(t, hooks{witness: func(s *session) error {
				for i, v := range values {
					if kind := k.Program.Tensors[i].Kind; kind == graph.Param || kind == graph.Input {
						continue
					}
					err := set(graph.TensorID(i), func(_ *session, words []m31.Element) {
						for j := range min(len(words), len(v)) {
							words[j] = m31.FromInt(int64(v[j]))
						}
					})(s)
					if err != nil {
						return err
					}
				}
				return nil
			}, statement: func(_ *session, x, _ []int32) ([]int32, []int32) {
				y, err := graph.Output(k.Program, weights, x)
				if err != nil {
					t.Fatal(err)
				}
				return x, y
			}}), zkml.CheckSumcheck)
		})
	}
	if found != 2 {
		t.Errorf("%d products have scales by channels, expected 2", found)
	}
}
