package prover

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Options of Prove; nil means none.
type Options struct {
	// Context is absorbed with the statement; verifiers must use the same
	// bytes.
	Context []byte
	// Progress, if set, is called when a stage begins (done false) and ends.
	Progress func(stage Stage, done bool)

	hooks hooks
}

// Result is a proof with what it is about.
type Result struct {
	// Y is the program's output: the real elements in row-major order.
	Y []int32
	// Proof is the encoding that zkml.Verify reads.
	Proof []byte
	// Timings of the stages.
	Timings []Timing
}

// Prove runs the program on x, the input's real elements in row-major order,
// and proves the output. The proof does not depend on q's device.
func Prove(q *device.Queue, pk *ProvingKey, x []int32, opts *Options) (*Result, error) {
	if opts == nil {
		opts = new(Options)
	}
	p := pk.vk.Program()
	if err := p.CheckInput(x); err != nil {
		return nil, fmt.Errorf("zkml: prove: input: %w", err)
	}
	if err := q.Device().CheckMemory(leastMemory(pk.vk.Inference().Plan)); err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	return prove(q, pk, x, opts)
}

// prove is Prove for an input within its bounds and a device that may have the
// memory.
func prove(q *device.Queue, pk *ProvingKey, x []int32, opts *Options) (*Result, error) {
	s, err := newSession(q, pk, pk.vk.Inference(), opts.Progress)
	if err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	defer s.free()
	s.hooks = opts.hooks
	x, y, err := s.infer(pk, x, opts.Context)
	if err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	data, err := zkml.EncodeProof(pk.vk, x, y, s.proof)
	if err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
	s.enter("")
	return &Result{Y: y, Proof: data, Timings: s.timings}, nil
}

// infer is the forward pass, the statement and the argument. It returns the
// statement.
func (s *session) infer(pk *ProvingKey, x []int32, context []byte) (x2, y []int32, err error) {
	s.enter(StageForward)
	p := pk.vk.Program()
	if stack := pk.parameters(); stack != nil {
		if err := s.stacks[plan.Parameters].CopyFrom(s.q, stack); err != nil {
			return nil, nil, fmt.Errorf("parameters: %w", err)
		}
	}
	in := p.Tensor(p.Input)
	if err := s.polys[p.Input].CopyFrom(s.q, plan.Embed(graph.Pad(in.Shape, x))); err != nil {
		return nil, nil, fmt.Errorf("input: %w", err)
	}
	if s.hooks.input != nil {
		if err := s.hooks.input(s); err != nil {
			return nil, nil, err
		}
	}
	run := p
	if s.hooks.program != nil {
		run = s.hooks.program(p)
	}
	if err := s.forward(run); err != nil {
		return nil, nil, fmt.Errorf("forward pass: %w", err)
	}
	y, err = s.output(p)
	if err != nil {
		return nil, nil, fmt.Errorf("output: %w", err)
	}
	if s.hooks.statement != nil {
		x, y = s.hooks.statement(s, slices.Clone(x), y)
	}
	s.y = plan.Embed(graph.Pad(p.Tensor(p.Output).Shape, y))
	tr, _, err := s.arg.Begin(pk.vk.Digest(), pk.vk.Root())
	if err != nil {
		return nil, nil, err
	}
	zkml.AbsorbStatement(tr, x, y, context)
	if err := s.prove(tr); err != nil {
		return nil, nil, err
	}
	if s.hooks.proof != nil {
		s.hooks.proof(s, s.proof)
	}
	return x, y, nil
}

// output reads the output's real elements.
func (s *session) output(p *graph.Program) ([]int32, error) {
	padded, err := s.polys[p.Output].Read(s.q)
	if err != nil {
		return nil, err
	}
	real := graph.Unpad(p.Tensor(p.Output).Shape, padded)
	y := make([]int32, len(real))
	for i, v := range real {
		y[i] = signed(v)
	}
	return y, nil
}
