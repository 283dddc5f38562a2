package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// TestNetworks makes the files of suite zkml, transformers with fewer weights, and checks that the programs are whole and their inputs fit.
func TestNetworks(t *testing.T) {
	small := onnxtest.Transformer{Vocabulary: 11, Tokens: 4, Width: 8, Heads: 2, Layers: 1, Hidden: 16, Seed: 1}
	for name, c := range map[string]struct {
		build   network
		weights int // at least
	}{
		"convolutional": {convolutional, 264866},
		"decoder":       {decoderNetwork(small), small.Parameters(false)},
		"encoder":       {encoderNetwork(small), small.Parameters(true)},
	} {
		t.Run(name, func(t *testing.T) {
			steps := 0
			p, w, x, err := c.build(&Env{Rand: rand.New(rand.NewPCG(1, 0)), Step: func(string) { steps++ }})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.CheckInput(x); err != nil {
				t.Error(err)
			}
			if n := w.Count(); n < c.weights*9/10 {
				t.Errorf("%d weights in the program, %d in the file", n, c.weights)
			}
			if steps != 3 {
				t.Errorf("%d steps were told", steps)
			}
		})
	}
}

// TestNarrowNetworks: with weights of 8 bits every matrix that is multiplied with takes a byte a weight, in a file's program and in a decoder's layer,
// but for tables that rows are selected of. It takes half a second.
func TestNarrowNetworks(t *testing.T) {
	small := onnxtest.Transformer{Vocabulary: 50, Tokens: 4, Width: 16, Heads: 2, Layers: 1, Hidden: 32, Seed: 1}
	check := func(name string, p *graph.Program, w *graph.Weights, least int) {
		t.Helper()
		matrices := 0
		for _, op := range p.Ops {
			e, ok := op.(graph.Einsum)
			if !ok || e.B == graph.None || len(p.Tensor(e.B).Shape) < 2 || p.Tensor(e.B).Kind != graph.Param || p.Tensor(e.B).Shape[0] == small.Vocabulary {
				continue
			}
			if matrices++; w.Of(e.B).Width() != 1 && w.Of(e.B).Len() > 64 { // rotary angles are smaller
				t.Errorf("%s: %s of shape %v has %d bytes a weight", name, p.Tensor(e.B).Name, p.Tensor(e.B).Shape, w.Of(e.B).Width())
			}
		}
		if matrices < least {
			t.Errorf("%s: %d matrices, expected at least %d", name, matrices, least)
		}
	}
	for name, n := range map[string]network{"decoder": decoderNetwork(small), "encoder": encoderNetwork(small)} {
		p, w, _, err := n.narrow()(&Env{Rand: rand.New(rand.NewPCG(1, 0))})
		if err != nil {
			t.Fatal(err)
		}
		check(name, p, w, 6)
	}
	c := &llm.Config{Family: "qwen3", Hidden: 20, Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 4, Intermediate: 24, Vocabulary: 300, Positions: 64,
		Epsilon: 1e-6, Theta: 1e6, QKNorm: true}
	cutting, _, _, err := decoderParts(c, 2)((&Env{Ctx: t.Context(), Rand: rand.New(rand.NewPCG(1, 0))}).narrow())
	if err != nil {
		t.Fatal(err)
	}
	layer := &cutting.Parts[len(cutting.Parts)-3]
	check("layer", layer.Program, layer.Weights, 7)
}
