package prover

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
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
	digester := zkml.NewDigester(x, p.OutputLen())
	defer digester.Digests()
	err = s.prove(digester.Output, func(output []int32) (*transcript.Transcript, error) {
		y = output
		if opts.Output != nil {
			opts.Output(slices.Clone(y))
		}
		if d = digester.Digests(); s.hooks.statement != nil {
			x, y = s.hooks.statement(s, slices.Clone(x), y)
			if err := s.restate(p, y); err != nil {
				return nil, fmt.Errorf("output: %w", err)
			}
			d = zkml.DigestsOf(x, y)
		}
		if s.hooks.digests != nil {
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

// state takes an output to what the argument says of it: its residues with zeros for
// padding, whatever the forward pass has there, and its real elements as integers.
func (s *session) state(o *outputLayout) error {
	x, y := s.polys[o.poly], s.live.Slice(s.integers+o.at, s.integers+o.at+o.n)
	stated := s.at(place(s.y+s.outputAt[o.poly]), x.Len())
	if !s.q.OnHost() {
		return s.launch(Source, "zkml_state", x.Len(), stated.Arg(), y.Arg(), x.Arg(), s.axesArg(o.axes), device.U32(o.axes.n), device.U32(x.Len()))
	}
	from, to, values := x.Host(), stated.Host(), device.View[int32](y).Host()
	clear(to)
	outer, n := []int(nil), 1
	if last := len(o.shape) - 1; last >= 0 {
		outer, n = o.shape[:last], o.shape[last]
	}
	return s.q.Parallel(graph.Elements(outer), max(1, 1<<13/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := graph.PaddedIndex(outer, i) * graph.Pow2(n)
			copy(to[at:at+n], from[at:at+n])
			for k, v := range from[at : at+n] {
				values[i*n+k] = signed(v)
			}
		}
	})
}

// restate states other outputs.
func (s *session) restate(p *graph.Program, y []int32) error {
	for i, v := range p.SplitOutput(y) {
		o := &s.outputs[i]
		stated := plan.Embed(graph.Pad(o.shape, v))
		if err := s.at(place(s.y+s.outputAt[o.poly]), len(stated)).CopyFrom(s.q, stated); err != nil {
			return err
		}
	}
	return nil
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
