package llm

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	chain "github.com/zkwarp/zkwarp/zkml/chunks/prover"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// TestLayerByLayer proves a decoder of which no more than one layer is ever in memory: each layer is calibrated on what the one before gives, and
// takes its codes as they are.
func TestLayerByLayer(t *testing.T) {
	if testing.Short() {
		t.Skip("proves a transformer")
	}
	c, e := open(t, "qwen3")
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	var x []int32
	for _, v := range e.Tokens {
		x = append(x, int32(v))
	}
	sample := make([]float64, len(x))
	for i, v := range x {
		sample[i] = float64(v)
	}
	codes, format := x, quant.Format{}
	var vks []*zkml.VerifyingKey
	var pks []*prover.ProvingKey
	wiring := [][]chunks.Source{{{Part: -1}}, {{Part: 0}}}
	for layer := range c.Config().Layers {
		m := build(t, c, Options{Tokens: len(x), From: layer, To: layer + 1})
		calibration, _, err := quant.Calibrate(m, [][]float64{sample}, quant.Options{ResidualBits: 16, OutputBits: 14, Given: []quant.Format{format}})
		if err != nil {
			t.Fatal(err)
		}
		p, w, err := quant.Build(m, calibration)
		if err != nil {
			t.Fatal(err)
		}
		values, err := graph.Run(p, w, codes)
		if err != nil {
			t.Fatal(err)
		}
		codes = p.OutputOf(values)
		out := p.Tensor(p.Outputs[0])
		format = quant.Format{Lo: out.Lo, Hi: out.Hi, Scale: out.Scale}
		sample = make([]float64, len(codes))
		for i, v := range codes {
			sample[i] = float64(v) * out.Scale
		}
		// Two proofs' errors add up: one bit more for each.
		vk, pk, err := prover.Setup(q, p, w, &prover.SetupOptions{Security: zkml.MinSecurity + 1})
		if err != nil {
			t.Fatal(err)
		}
		vks, pks = append(vks, vk), append(pks, pk)
	}
	if d := distance(t, sample, e.Logits); d > 0.1 {
		t.Errorf("logits differ by %.3f of their reach", d)
	} else {
		t.Logf("logits differ by %.3f of their reach", d)
	}
	key, err := chunks.NewChain(vks, wiring, []chunks.Source{{Part: 1}})
	if err != nil {
		t.Fatal(err)
	}
	devices := []*device.Device{devicetest.Open(t, "cpu"), devicetest.Open(t, "cpu")}
	r, err := chain.Prove(t.Context(), devices, key, pks, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := chunks.Verify(key, x, r.Y, r.Proof, nil); err != nil {
		t.Error(err)
	}
	x[3] ^= 1
	if err := chunks.Verify(key, x, r.Y, r.Proof, nil); err == nil {
		t.Error("the chain holds for another text")
	}
}
