package prover

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
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
	// Output, if set, is called with the program's outputs when they are known,
	// before they are proved.
	Output func(y []int32)

	hooks hooks
}

// Result is a proof with what it is about.
type Result struct {
	// Y is the program's outputs: the real elements of each in row-major order.
	Y []int32
	// Proof is the encoding that zkml.Verify reads.
	Proof []byte
	// Timings of the stages.
	Timings []Timing
}

// Prove runs the program on x, the real elements of all inputs, each in
// row-major order, and proves the outputs. The proof does not depend on q's device. What depends
// on the key alone goes to the device for this one proof; for more, see
// [ProvingKey.Load].
func Prove(q *device.Queue, pk *ProvingKey, x []int32, opts *Options) (*Result, error) {
	r := &Resident{pk: pk, dev: q.Device()}
	result, err := r.Prove(q, x, opts)
	r.Evict()
	return result, err
}

// prove is a proof for an input within its bounds, on memory that may be there.
func prove(q *device.Queue, pk *ProvingKey, l *layout, key *keyMemory, x []int32, opts *Options) (*Result, error) {
	s, err := newSession(q, pk, pk.vk.Inference(), l, key, opts.Progress)
	if err != nil {
		return nil, err
	}
	defer s.free()
	s.hooks = opts.hooks
	y, digests, err := s.infer(x, opts)
	if err != nil {
		return nil, err
	}
	data, err := zkml.EncodeProof(pk.vk, digests, s.proof)
	if err != nil {
		return nil, err
	}
	s.enter("")
	return &Result{Y: y, Proof: data, Timings: s.timings}, nil
}

// infer is the forward pass, the statement and the argument. It returns the
// outputs, and the digests of the statement.
func (s *session) infer(x []int32, opts *Options) (y []int32, d zkml.Digests, err error) {
	s.enter(StageForward)
	p := s.pk.vk.Program()
	if err := s.input(p, x); err != nil {
		return nil, d, err
	}
	if s.hooks.input != nil {
		if err := s.hooks.input(s); err != nil {
			return nil, d, err
		}
	}
	run := p
	if s.hooks.program != nil {
		run = s.hooks.program(p)
	}
	if err := s.forward(run); err != nil {
		return nil, d, fmt.Errorf("forward pass: %w", err)
	}
	err = s.prove(func(output []m31.Element) (*transcript.Transcript, error) {
		y = make([]int32, 0, p.OutputLen())
		stated := make([]m31.Element, len(output))
		for _, id := range p.Outputs {
			at, n := s.outputAt[int(id)], s.polys[id].Len()
			y = s.state(p.Tensor(id).Shape, y, stated[at:at+n], output[at:at+n])
		}
		if opts.Output != nil {
			opts.Output(slices.Clone(y))
		}
		if s.hooks.statement != nil {
			x, y = s.hooks.statement(s, slices.Clone(x), y)
			for i, v := range p.SplitOutput(y) {
				id := p.Outputs[i]
				copy(stated[s.outputAt[int(id)]:], plan.Embed(graph.Pad(p.Tensor(id).Shape, v)))
			}
		}
		if err := s.at(place(s.y), len(stated)).CopyFrom(s.q, stated); err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		if d = zkml.DigestsOf(x, y); s.hooks.digests != nil {
			d = s.hooks.digests(d)
		}
		tr, _, err := s.arg.Begin(s.pk.vk.Digest(), s.pk.vk.Root())
		if err != nil {
			return nil, err
		}
		zkml.AbsorbStatement(tr, d, opts.Context)
		return tr, nil
	})
	if err != nil {
		return nil, d, err
	}
	if s.hooks.proof != nil {
		s.hooks.proof(s, s.proof)
	}
	return y, d, nil
}

// state appends an output's real elements, given with its padding, to y, and
// copies them alone to where the proof reads what is stated.
func (s *session) state(shape []int, y []int32, stated, output []m31.Element) []int32 {
	graph.Rows(shape, func(_, at, n int) {
		for _, v := range output[at : at+n] {
			y = append(y, signed(v))
		}
		copy(stated[at:at+n], output[at:at+n])
	})
	return y
}

// input pads the inputs.
func (s *session) input(p *graph.Program, x []int32) error {
	for i, v := range p.SplitInput(x) {
		id := p.Inputs[i]
		if err := s.polys[id].CopyFrom(s.q, plan.Embed(graph.Pad(p.Tensor(id).Shape, v))); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	return nil
}
