package bench

import (
	"math/rand/v2"
	"testing"

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
