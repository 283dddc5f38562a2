// Package llmtest makes decoders of any shape with random weights, for tests and benchmarks.
package llmtest

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Qwen3Shape is the shape of a decoder of 14 billion weights.
func Qwen3Shape() *llm.Config {
	return &llm.Config{
		Family: "qwen3", Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 8, HeadDim: 128, Intermediate: 17408, Vocabulary: 151936, Positions: 40960,
		Epsilon: 1e-6, Theta: 1e6, QKNorm: true,
	}
}

// Random gives weights that depend on the tensor's name and a seed alone: gains around 1, small offsets, and matrices whose products have about
// the scale of their operands.
type Random struct{ Seed uint64 }

// Prefetch does nothing.
func (Random) Prefetch(...string) error { return nil }

// Tensor makes a tensor.
func (r Random) Tensor(name string, shape ...int) (*onnx.Tensor, error) {
	h := fnv.New64a()
	if _, err := h.Write([]byte(name)); err != nil {
		return nil, err
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	middle, reach := 0.0, 0.05
	switch {
	case strings.HasSuffix(name, "norm.weight"):
		middle, reach = 1, 0.2
	case strings.Contains(name, "embed_tokens"):
		reach = 1
	case len(shape) == 2:
		reach = math.Sqrt(3 / float64(shape[1]))
	}
	t := &onnx.Tensor{Shape: shape, Real: make([]float32, n)}
	const block = 1 << 16 // each with a generator of its own
	parallel.For((n+block-1)/block, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			rng := rand.New(rand.NewPCG(r.Seed^h.Sum64(), uint64(b)))
			for i := b * block; i < min((b+1)*block, n); i++ {
				t.Real[i] = float32(middle + reach*(2*float64(rng.Uint32())/(1<<32)-1))
			}
		}
	})
	return t, nil
}
