package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// expected is what testdata/make.py computed.
type expected struct {
	Tokens  []int64   `json:"tokens"`
	Hidden1 []float64 `json:"hidden1"`
	Logits  []float64 `json:"logits"`
}

var families = []string{"llama", "qwen2", "qwen3"}

func open(t *testing.T, name string) (*Checkpoint, *expected) {
	t.Helper()
	c, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(filepath.Join("testdata", name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	e := new(expected)
	if err := json.Unmarshal(data, e); err != nil {
		t.Fatal(err)
	}
	return c, e
}

func build(t *testing.T, c *Checkpoint, o Options) *onnx.Model {
	t.Helper()
	m, err := Build(c.Config(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// output runs a model and returns its one output.
func output(t *testing.T, m *onnx.Model, in *onnx.Tensor) []float64 {
	t.Helper()
	values, err := m.Run([]*onnx.Tensor{in})
	if err != nil {
		t.Fatal(err)
	}
	return values[m.Outputs[0]].Float64s()
}

// distance is the greatest difference, relative to the greatest expected value.
func distance(t *testing.T, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, expected %d", len(got), len(want))
	}
	worst, reach := 0.0, 0.0
	for i := range want {
		worst, reach = max(worst, math.Abs(got[i]-want[i])), max(reach, math.Abs(want[i]))
	}
	return worst / reach
}

// TestDecoders compares each family with logits computed elsewhere: whole, by pieces of layers, and for the last token.
func TestDecoders(t *testing.T) {
	for _, name := range families {
		t.Run(name, func(t *testing.T) {
			c, e := open(t, name)
			n := len(e.Tokens)
			tokens := &onnx.Tensor{Shape: []int{n}, Ints: e.Tokens}
			if d := distance(t, output(t, build(t, c, Options{Tokens: n}), tokens), e.Logits); d > 1e-5 {
				t.Errorf("logits differ by %g", d)
			}
			for _, least := range []int{1, 1000} { // blocks of all matrices, and of the larger ones
				if d := distance(t, output(t, build(t, c, Options{Tokens: n, Blocks: least}), tokens), e.Logits); d > 1e-5 {
					t.Errorf("logits in blocks from %d elements on differ by %g", least, d)
				}
			}
			first := output(t, build(t, c, Options{Tokens: n, To: 1}), tokens)
			if d := distance(t, first, e.Hidden1); d > 1e-5 {
				t.Errorf("the hidden state differs by %g", d)
			}
			second := build(t, c, Options{Tokens: n, From: 1, LastToken: true})
			x := second.Values[second.Inputs[0]].Tensor(first)
			if d := distance(t, output(t, second, x), e.Logits[len(e.Logits)-c.Config().Vocabulary:]); d > 1e-5 {
				t.Errorf("the last token's logits differ by %g", d)
			}
		})
	}
}

// TestIdentity sees that a model's identity depends on tokens, layers and weights, and on nothing else.
func TestIdentity(t *testing.T) {
	c, _ := open(t, "qwen3")
	l, _ := open(t, "llama")
	seen := map[[32]byte]string{}
	for _, k := range []struct {
		c *Checkpoint
		o Options
	}{{c, Options{Tokens: 4}}, {c, Options{Tokens: 5}}, {c, Options{Tokens: 4, To: 1}}, {c, Options{Tokens: 4, LastToken: true}}, {l, Options{Tokens: 4}}} {
		name := fmt.Sprint(k.c.Config().Family, k.o)
		a, b := build(t, k.c, k.o), build(t, k.c, k.o)
		if a.SHA256 != b.SHA256 {
			t.Errorf("%s has two identities", name)
		}
		if other, ok := seen[a.SHA256]; ok {
			t.Errorf("%s and %s have one identity", name, other)
		}
		seen[a.SHA256] = name
	}
}

// TestProve compares the integers of decoders with their floats, and proves the logits of one, whose tokens are committed.
func TestProve(t *testing.T) {
	least := map[string]int{"qwen3": 1} // that one in blocks
	for _, name := range families {
		t.Run(name, func(t *testing.T) {
			c, e := open(t, name)
			m := build(t, c, Options{Tokens: len(e.Tokens), Blocks: least[name]})
			x := make([]float64, len(e.Tokens))
			for i, v := range e.Tokens {
				x[i] = float64(v)
			}
			calibration, report, err := quant.Calibrate(m, [][]float64{x}, quant.Options{ResidualBits: 16})
			if err != nil {
				t.Fatal(err)
			}
			reach := 0.0
			for _, v := range e.Logits {
				reach = max(reach, math.Abs(v))
			}
			if report.MeanError > 0.03*reach {
				t.Errorf("the integers' mean error is %.3f of the greatest logit", report.MeanError/reach)
			}
			if report.Agreement < 0.8 { // rows with two logits that nearly tie
				t.Errorf("the integers agree with the floats in %.2f of the positions", report.Agreement)
			}
			t.Logf("agreement %.2f, mean error %.3g, max %.3g", report.Agreement, report.MeanError, report.MaxError)
			if name != "qwen3" || testing.Short() {
				return
			}
			p, w, err := quant.Build(m, calibration)
			if err != nil {
				t.Fatal(err)
			}
			codes, err := quant.QuantizeInput(p, x)
			if err != nil {
				t.Fatal(err)
			}
			q, err := devicetest.Open(t, "cpu").NewQueue(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			vk, pk, err := prover.Setup(q, p, w, &prover.SetupOptions{Commits: zkml.Commits{Inputs: []int{0}}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := prover.Prove(q, pk, codes, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Statement.X) != 0 || !slices.Equal(r.Openings[0].Values, codes) {
				t.Errorf("public are %d tokens, the opening has %v, want %v", len(r.Statement.X), r.Openings[0].Values, codes)
			}
			if err := zkml.VerifyStatement(vk, &r.Statement, r.Proof, nil); err != nil {
				t.Error(err)
			}
			r.Openings[0].Values[0] ^= 1
			other, err := prover.Commit(q, vk, 0, r.Openings[0])
			if err != nil {
				t.Fatal(err)
			}
			r.Statement.Commitments[0] = *other
			if err := zkml.VerifyStatement(vk, &r.Statement, r.Proof, nil); zkml.FailedCheck(err) != zkml.CheckInputBind {
				t.Errorf("the proof for another text: %v", err)
			}
		})
	}
}

// TestNarrowWeights: with 8 bits and scales by channels every matrix (all else has at most 11 x 16 constants) of a decoder has one byte a weight, and logits lose little. A second in all.
func TestNarrowWeights(t *testing.T) {
	for _, name := range families {
		t.Run(name, func(t *testing.T) {
			c, e := open(t, name)
			m := build(t, c, Options{Tokens: len(e.Tokens), Blocks: 1})
			x := make([]float64, len(e.Tokens))
			for i, v := range e.Tokens {
				x[i] = float64(v)
			}
			snr := map[quant.WeightScales]float64{}
			for _, o := range []quant.Options{{WeightBits: 12}, {WeightBits: 8}, {WeightBits: 8, WeightScales: quant.TensorScales}} {
				o.ResidualBits, o.ActivationBits, o.OutputBits = 16, 12, 16
				calibration, report, err := quant.Calibrate(m, [][]float64{x}, o)
				if err != nil {
					t.Fatal(err)
				}
				if o.WeightScales == "" && o.WeightBits == 8 {
					o.WeightScales = quant.ChannelScales
					p, _, err := quant.Build(m, calibration)
					if err != nil {
						t.Fatal(err)
					}
					for _, op := range p.Ops {
						if e, ok := op.(graph.Einsum); ok && e.B != graph.None {
							if w := p.Tensor(e.B); w.Kind == graph.Param && w.Lo < -128 && !strings.Contains(w.Name, ".rare") && w.Len() > 176 {
								t.Errorf("weights %s of shape %v are within [%d, %d]", w.Name, w.Shape, w.Lo, w.Hi)
							}
						}
					}
				}
				snr[o.WeightScales] = report.SNR
			}
			t.Logf("12 bits %.1f dB, 8 by channels %.1f, 8 of one scale %.1f", snr[""], snr[quant.ChannelScales], snr[quant.TensorScales])
			if snr[quant.ChannelScales] < snr[quant.TensorScales] || snr[quant.ChannelScales] < 25 {
				t.Errorf("8 bits by channels give %.1f dB", snr[quant.ChannelScales])
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	for n, want := range map[int][]int{1: {1}, 3: {2, 1}, 5: {4, 1}, 64: {64}, 63: {63}, 5120: {4096, 1024}, 17408: {16384, 1024}, 11008: {8192, 2048, 768}, 151936: {131072, 16384, 4480}} {
		at := 0
		var got []int
		for _, s := range blocks(n) {
			if s.at != at {
				t.Errorf("%d: a block at %d, expected %d", n, s.at, at)
			}
			at += s.n
			got = append(got, s.n)
		}
		if at != n || !slices.Equal(got, want) {
			t.Errorf("%d is cut into %v, expected %v", n, got, want)
		}
	}
}
