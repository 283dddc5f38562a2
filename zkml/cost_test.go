package zkml_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func digitsProgram(t *testing.T) *graph.Program {
	t.Helper()
	m, err := onnx.Parse(digits.Model, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := digits.Samples()
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := quant.Calibrate(m, samples[:4], quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The estimates for the digits are within a factor of three of what was measured (bench/results, suite zkml).
func TestCostOfDigits(t *testing.T) {
	p := digitsProgram(t)
	c, err := zkml.CostOf(p, zkml.Committed, zkml.Commits{}, zkml.MinSecurity, whir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const weights = 784*128 + 128 + 128*10 + 10
	within := func(what string, got, measured float64) {
		t.Helper()
		t.Logf("%s: %.4g, measured %.4g", what, got, measured)
		if got > 3*measured || 3*got < measured {
			t.Errorf("%s: estimated %.4g, measured %.4g", what, got, measured)
		}
	}
	within("ms on 16 threads", zkml.RatesCPU.Milliseconds(c, weights, 16), 32.8)
	within("ms on an H100", zkml.RatesGPU.Milliseconds(c, weights, 1), 5.82)
	within("bytes of proof", float64(c.ProofBytes), 221*1024)
	if c.Sum < zkml.MinSecurity || c.Min < c.Sum {
		t.Errorf("%.2f bits, weakest step %.2f", c.Sum, c.Min)
	}
	// The first matrix alone is padded to 1024 x 128.
	if s := c.Stacks[0]; s.Name != "parameters" || s.Words < 1<<17 || 1<<s.Vars < s.Words || s.Proof == 0 {
		t.Errorf("commitment of the parameters: %+v", s)
	}
	if leaves := c.Leaves; leaves == 0 || leaves > 1<<c.TreeVars || c.Blocks == 0 || c.Evaluations == 0 || c.Claims == 0 || c.SumChecks < 2 {
		t.Errorf("%+v", c)
	}
	if _, err := zkml.CostOf(p, zkml.Committed, zkml.Commits{}, 10, whir.Options{}); err == nil {
		t.Error("10 bits are enough")
	}
}
