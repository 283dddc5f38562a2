package bench

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	chain "github.com/zkwarp/zkwarp/zkml/chunks/prover"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

func partsEnv(t *testing.T) *Env {
	return &Env{Ctx: t.Context(), Queue: devicetest.Queue(t, devicetest.Open(t, "cpu")), Seed: 1, Samples: 1, Rand: rand.New(rand.NewPCG(1, 0))}
}

// TestGPT2Parts measures a tiny network in parts.
func TestGPT2Parts(t *testing.T) {
	c := onnxtest.Transformer{Vocabulary: 11, Tokens: 4, Width: 8, Heads: 2, Layers: 2, Hidden: 16, Seed: 1}
	found, err := chainCase(gpt2Parts(c, 1<<12), 1)(partsEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, m := range found {
		if len(m.Samples) != 1 || m.Samples[0] <= 0 {
			t.Errorf("%s: samples %v", m.Metric, m.Samples)
		}
		values[m.Metric] = m.Samples[0]
		r := row()
		r.Suite, r.Case, r.Metric, r.Unit = "zkml", "gpt2-tiny", m.Metric, m.Unit
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", m.Metric, err)
		}
	}
	if values["parts"] < 2 || values["bits-sum"] < 96 || values["boundary-kib"] == 0 || values["stage-openings-ms"] == 0 {
		t.Errorf("rows %v", values)
	}
}

// TestDecoderParts proves a decoder of three layers whose vocabulary is in parts, first with all keys in memory, then with room for few: the same
// proof. No two layers have the same weights.
func TestDecoderParts(t *testing.T) {
	e := partsEnv(t)
	c := &llm.Config{Family: "qwen3", Hidden: 20, Layers: 3, Heads: 4, KVHeads: 2, HeadDim: 4, Intermediate: 24, Vocabulary: 300, Positions: 64,
		Epsilon: 1e-6, Theta: 1e6, QKNorm: true}
	cutting, x, _, err := decoderParts(c, 2)(e)
	if err != nil {
		t.Fatal(err)
	}
	if len(cutting.Parts) != 7 || len(cutting.Outputs) != 2 || cutting.Parts[3].Program != cutting.Parts[4].Program {
		t.Fatalf("%d parts, %d outputs", len(cutting.Parts), len(cutting.Outputs))
	}
	for _, id := range cutting.Parts[3].Program.Params() {
		name := cutting.Parts[3].Program.Tensor(id).Name
		if a, b := cutting.Parts[3].Weights.Of(id), cutting.Parts[4].Weights.Of(id); a.Len() >= ownWeights && bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("two layers have the same %s", name)
		}
	}
	key, pks, err := chain.Setup(e.Queue, cutting, nil)
	if err != nil {
		t.Fatal(err)
	}
	dev := e.Queue.Device()
	all, err := chain.Prove(e.Ctx, []*device.Device{dev}, key, pks, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := chunks.Verify(key, x, all.Y, all.Proof, nil); err != nil {
		t.Fatal(err)
	}
	for _, pk := range pks {
		pk.Forget()
	}
	plan, err := chain.PlanMemory([]*device.Device{dev}, pks)
	if err != nil {
		t.Fatal(err)
	}
	dev.SetBudget(plan.Devices[0].Need - 1)
	few, err := chain.On([]*device.Device{dev}, key, pks)
	dev.SetBudget(0) // estimates are for GPUs; the CPU takes more
	if err != nil {
		t.Fatal(err)
	}
	stay := 0
	for _, p := range few.Memory().Parts {
		if p.Stays {
			stay++
		}
	}
	if stay == len(pks) {
		t.Errorf("all %d keys stay in too little memory", stay)
	}
	got, err := few.Prove(e.Ctx, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Proof.Encode(), all.Proof.Encode()) {
		t.Error("another proof where keys are loaded in turn")
	}
	if err := few.Close(); err != nil {
		t.Error(err)
	}
}
