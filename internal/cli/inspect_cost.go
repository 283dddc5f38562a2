package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// estimate says how inspect finds out what proofs of a model cost.
type estimate struct {
	calibration string
	exact       *quant.Calibration // what that file holds
	always      bool
}

// What a model may have to be estimated without being asked to: it takes a few seconds then.
const (
	freeWork    = 2e9 // multiply-adds
	freeWeights = 2e7
)

// addOperators lists the operators of the file itself; its nodes become others on import.
func (v *view) addOperators(uses []onnx.OperatorUse) {
	t := table{Name: "operators", Columns: []string{"operator of the file", "nodes"}}
	for _, u := range uses {
		t.Rows = append(t.Rows, []any{u.Name, u.Nodes})
	}
	v.Tables = append([]table{t}, v.Tables...)
}

// unknownOperators names what an unsupported file has beyond the operators that are known.
func unknownOperators(uses []onnx.OperatorUse) string {
	var names []string
	for _, u := range uses {
		if !u.Supported {
			names = append(names, fmt.Sprintf("%s (%d)", tensorio.Name(u.Name), u.Nodes))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; operators that are not supported, with their nodes: " + strings.Join(names, ", ")
}

// addEstimate adds what proofs of a model will cost: exactly with its calibration, else by a calibration on one made-up input, whose scales
// mean nothing but whose operations and sizes are about those of a real one.
func (a *app) addEstimate(v *view, path string, m *onnx.Model, e *estimate) error {
	work := int64(0)
	for i := range m.Nodes {
		if m.Nodes[i].Op == onnx.OpEinsum {
			work += int64(m.Work(&m.Nodes[i]))
		}
	}
	c, from := e.exact, "exact, by calibration "+e.calibration
	var err error
	if c == nil {
		from = "an estimate, by a calibration on one made-up input; --calibration gives exact numbers"
		if !e.always && (float64(work) > freeWork || m.Weights()+codes(m) > freeWeights) {
			v.fact("costs", fmt.Sprintf("not estimated, as that runs the model once (%s multiply-adds, %s weights; up to %s and %s are estimated unasked): pass --estimate, or --calibration",
				grouped(work), grouped(int64(m.Weights()+codes(m))), grouped(freeWork), grouped(freeWeights)))
			return nil
		}
		if err := a.enough("model "+path, modelBytes(m)); err != nil {
			return err
		}
		for _, least := range []float64{-1, 0.1} { // logarithms and roots take no negative numbers
			if c, _, err = quant.Calibrate(m, [][]float64{madeUp(m, least)}, quant.Options{ActivationBits: 8}); err == nil || errors.Is(err, onnx.ErrUnsupported) {
				break
			}
		}
	}
	var p *graph.Program
	if err == nil {
		p, _, err = quant.Build(m, c)
	}
	var cost *zkml.Cost
	if err == nil {
		cost, err = zkml.CostOf(p, zkml.Committed, zkml.Commits{}, zkml.MinSecurity, whir.Options{})
	}
	switch {
	case err != nil && (e.always || e.exact != nil):
		return modelError(path, err)
	case errors.Is(err, onnx.ErrUnsupported): // the model can be described all the same
		v.fact("integer program", oneLine(err.Error()))
		v.refused = modelError(path, fmt.Errorf("on a made-up input: %w", err))
		return nil
	case err != nil: // which may be the made-up input's fault
		v.fact("costs", fmt.Sprintf("not estimated: on a made-up input, %s; pass --calibration", oneLine(err.Error())))
		return nil
	}
	v.fact("costs", from)
	v.addCost(p, cost)
	v.nodes = nil // the program's are closer to what costs
	v.addProgram(p)
	return nil
}

// madeUp is an input of numbers between least and 1, and of integers within their bounds.
func madeUp(m *onnx.Model, least float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	var x []float64
	for _, id := range m.Inputs {
		in := &m.Values[id]
		for range tensorio.Elements(in.Shape) {
			switch {
			case in.IsMask():
				x = append(x, 1)
			case in.Int:
				x = append(x, float64(in.Lo+rng.Int64N(min(in.Hi-in.Lo, 1<<20)+1)))
			default:
				x = append(x, least+(1-least)*rng.Float64())
			}
		}
	}
	return x
}

// addCost adds what a proof of the program consists of, and how long it should take.
func (v *view) addCost(p *graph.Program, c *zkml.Cost) {
	macs, lookups, tensors := int64(0), 0, int64(0)
	for _, op := range p.Ops {
		if _, ok := graph.TableOf(op); ok {
			lookups += p.Tensor(op.Outputs()[0]).Len()
		} else {
			macs += int64(opWork(p, op))
		}
	}
	for i := range p.Tensors {
		tensors += 4 << graph.Vars(p.Tensors[i].Shape)
	}
	v.fact("operations", fmt.Sprintf("%d; %s multiply-adds, %s look-ups in %d tables", len(p.Ops), grouped(macs), grouped(int64(lookups)), len(p.Tables)))
	v.fact("leaves", fmt.Sprintf("%s in %d blocks, a tree of depth %d", grouped(int64(c.Leaves)), c.Blocks, c.TreeVars))
	v.fact("sum-checks", fmt.Sprintf("%d in %d layers, %s summands; %s evaluations are sent, openings settle %s", c.SumChecks, c.Layers, grouped(int64(c.Products)),
		grouped(int64(c.Evaluations)), grouped(int64(c.Claims))))
	v.fact("proof", fmt.Sprintf("about %s, %.1f bits (union), weakest step %.1f; binding, not zero-knowledge", sizeText(int64(c.ProofBytes)), c.Sum, c.Min))
	stacks := table{Name: "commitments", Columns: []string{"commitment", "tensors", "words", "words with padding", "bytes of its opening"}}
	for _, s := range c.Stacks {
		stacks.Rows = append(stacks.Rows, []any{s.Name, s.Tensors, s.Words, 1 << s.Vars, s.Proof})
	}
	threads := runtime.GOMAXPROCS(0)
	times := table{Name: "estimates", Columns: []string{"machine", "proving, ms", "memory, MiB", "note"}}
	memory := float64(tensors+c.Memory()) / (1 << 20)
	const note = "from rates of measured rows, right to a factor of about three"
	times.Rows = append(times.Rows,
		[]any{fmt.Sprintf("this CPU, %d threads", threads), zkml.RatesCPU.Milliseconds(c, macs, threads), memory, note},
		[]any{"a Xeon with AVX-512, 16 threads", zkml.RatesCPU.Milliseconds(c, macs, 16), memory, note},
		[]any{"NVIDIA H100 or H200", zkml.RatesGPU.Milliseconds(c, macs, 1), memory, note})
	v.Tables = append(v.Tables, stacks, times)
}
