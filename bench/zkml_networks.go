package bench

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/llm/llmtest"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// The ONNX files of these networks are made up when they are measured: their shapes are those of known networks, their weights random with
// the spreads of trained ones. What a proof costs depends on shapes and on formats, not on values.

// nanoGPT is a decoder of 0.25 million parameters over characters.
var nanoGPT = onnxtest.Transformer{Vocabulary: 62, Tokens: 64, Width: 64, Heads: 4, Layers: 5, Hidden: 256, Seed: 1}

// decoderNetwork is a network of GPT-2's form with token numbers as input.
func decoderNetwork(c onnxtest.Transformer) network {
	return func(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
		return fromFile(e, onnxtest.GPT2(c), tokenSamples(e.Rand, c, 2))
	}
}

// encoderNetwork is a network of BERT's form.
func encoderNetwork(c onnxtest.Transformer) network {
	return func(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
		return fromFile(e, onnxtest.BERT(c), tokenSamples(e.Rand, c, 2))
	}
}

func tokenSamples(rng *rand.Rand, c onnxtest.Transformer, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for range c.Tokens {
			out[i] = append(out[i], float64(rng.IntN(c.Vocabulary)))
		}
	}
	return out
}

// convolutional is a network for colour pictures of 32 x 32 pixels: three convolutions, each with ReLU and the greatest of 2 x 2, then two
// dense layers; 264 866 parameters.
func convolutional(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
	f := onnxtest.New(17, "pixels", 1, 3, 32, 32)
	seed := uint64(100)
	random := func(name string, spread float64, dims ...int64) string {
		seed++
		return f.Random(seed, name, spread, dims...)
	}
	x := "pixels"
	for i, l := range []struct{ from, to, kernel int64 }{{3, 32, 5}, {32, 64, 3}, {64, 64, 3}} {
		name, pad := fmt.Sprintf("conv%d", i+1), l.kernel/2
		w := random(name+".weight", math.Sqrt(2/float64(l.from*l.kernel*l.kernel)), l.to, l.from, l.kernel, l.kernel)
		x = f.Node("Conv", []string{x, w, random(name+".bias", 0.05, l.to)}, onnxtest.List("kernel_shape", l.kernel, l.kernel), onnxtest.List("pads", pad, pad, pad, pad))
		x = f.Node("MaxPool", []string{f.Node("Relu", []string{x})}, onnxtest.List("kernel_shape", 2, 2), onnxtest.List("strides", 2, 2))
	}
	x = f.Node("Flatten", []string{x})
	dense := func(name string, from, to int64) string {
		w := random(name+".weight", math.Sqrt(2/float64(from)), to, from)
		return f.Node("Gemm", []string{x, w, random(name+".bias", 0.05, to)}, onnxtest.Int("transB", 1))
	}
	x = f.Node("Relu", []string{dense("fc1", 64*4*4, 200)})
	f.Output(dense("fc2", 200, 10))
	samples := make([][]float64, 4)
	for i := range samples {
		for range 3 * 32 * 32 {
			samples[i] = append(samples[i], float64(e.Rand.IntN(256))/255)
		}
	}
	return fromFile(e, f, samples)
}

// qwenLayer is one layer of a decoder of 14 billion weights, from hidden states to hidden states, with 330 million weights of its own.
func qwenLayer(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
	const tokens = 64
	e.step("make the layer")
	c := llmtest.Qwen3Shape()
	m, err := llm.Build(c, llmtest.Random{Seed: e.Seed}, llm.Options{Tokens: tokens, From: 1, To: 2})
	if err != nil {
		return nil, nil, nil, err
	}
	samples := make([][]float64, 2)
	for i := range samples {
		for range tokens * c.Hidden {
			samples[i] = append(samples[i], e.Rand.NormFloat64())
		}
	}
	return fromModel(e, m, samples)
}

// fromFile reads a file and makes it a program of integers; the last sample is the input that is proved.
func fromFile(e *Env, f *onnxtest.File, samples [][]float64) (*graph.Program, *graph.Weights, []int32, error) {
	e.step("read the file")
	m, err := onnx.Parse(f.Bytes(), onnx.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	return fromModel(e, m, samples)
}

func fromModel(e *Env, m *onnx.Model, samples [][]float64) (*graph.Program, *graph.Weights, []int32, error) {
	e.step("calibrate on %d samples", len(samples)-1)
	c, _, err := quant.Calibrate(m, samples[:len(samples)-1], quant.Options{ActivationBits: 8, WeightBits: e.weightBits}) // what would be chosen, without trying
	if err != nil {
		return nil, nil, nil, err
	}
	e.step("build the program")
	p, w, err := quant.Build(m, c)
	if err != nil {
		return nil, nil, nil, err
	}
	x, err := quant.QuantizeInput(p, samples[len(samples)-1])
	return p, w, x, err
}
