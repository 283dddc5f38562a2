package quant

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// TestTiedTable: a language model's table of words and its logits read one parameter, and the logits are as good as what they are made of.
func TestTiedTable(t *testing.T) {
	shape := onnxtest.Transformer{Vocabulary: 101, Tokens: 16, Width: 48, Heads: 4, Layers: 2, Hidden: 96, Seed: 3}
	m, err := onnx.Parse(onnxtest.GPT2(shape).Bytes(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sample := make([]float64, shape.Tokens)
	for i := range sample {
		sample[i] = float64(i * i * 7 % shape.Vocabulary)
	}
	c, report, err := Calibrate(m, [][]float64{sample}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	var tables []graph.TensorID
	for _, id := range p.Params() {
		if s := p.Tensor(id).Shape; len(s) == 2 && slices.Contains(s, shape.Vocabulary) {
			tables = append(tables, id)
		}
	}
	if len(tables) != 1 {
		t.Fatalf("%d parameters of the size of the table", len(tables))
	}
	readers := 0
	for _, op := range p.Ops {
		switch op := op.(type) {
		case graph.Embed:
			if op.W == tables[0] {
				readers++
			}
		case graph.Einsum:
			if op.A == tables[0] || op.B == tables[0] {
				readers++
			}
		}
	}
	if readers != 2 {
		t.Errorf("%d operations read the table", readers)
	}
	last := report.Layers[len(report.Layers)-1]
	if before := report.Layers[len(report.Layers)-2]; last.SNR < before.SNR-1 {
		t.Errorf("the logits have %.1f dB, what they are made of %.1f dB", last.SNR, before.SNR)
	}
}
