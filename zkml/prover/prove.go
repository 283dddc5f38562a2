package prover

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
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
	// Salts of the key's committed inputs and outputs, in the order of
	// VerifyingKey.Committed; fresh ones if nil. For an input that has been
	// committed already it is that of its opening. Equal salts and values give
	// equal commitments. A salt of zeros is refused, and one for two tensors of
	// different values or formats.
	Salts [][32]byte

	hooks hooks
}

// Result is a proof with what it is about.
type Result struct {
	// Y is the program's outputs: the real elements of each in row-major order.
	Y []int32
	// Statement is what verifiers get: public inputs and outputs, commitments to
	// the others. Openings are the secrets behind its commitments.
	Statement zkml.Statement
	Openings  []*zkml.Opening
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
	if err := given.Check(given.Arg{Name: "queue", Given: q != nil}, given.Arg{Name: "proving key", Given: pk != nil}); err != nil {
		return nil, fmt.Errorf("zkml: prove: %w", err)
	}
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
	if s.salts, err = saltsFor(pk.vk, opts.Salts); err != nil {
		return nil, err
	}
	r, digests, err := s.infer(x, opts)
	if err != nil {
		return nil, err
	}
	if r.Proof, err = zkml.EncodeProof(pk.vk, digests, s.proof); err != nil {
		return nil, err
	}
	s.enter("")
	r.Timings = s.timings
	return r, nil
}

// infer is the forward pass, the statement and the argument. It returns the result
// without the proof's encoding, and the digests of the statement.
func (s *session) infer(x []int32, opts *Options) (r *Result, d zkml.Digests, err error) {
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
	if err := s.salt(); err != nil {
		return nil, d, err
	}
	if err := s.oneHots(); err != nil {
		return nil, d, fmt.Errorf("committed tokens: %w", err)
	}
	run := p
	if s.hooks.program != nil {
		run = s.hooks.program(p)
	}
	if err := s.forward(run); err != nil {
		return nil, d, fmt.Errorf("forward pass: %w", err)
	}
	// Where everything is public, outputs are hashed while they arrive.
	var digester *zkml.Digester
	part := func([]int32) {}
	if len(s.plan.Committed) == 0 {
		digester = zkml.NewDigester(x, p.OutputLen())
		defer digester.Digests()
		part = digester.Output
	}
	r = new(Result)
	err = s.prove(part, func(output []int32) (*transcript.Transcript, error) {
		r.Y = output
		if opts.Output != nil {
			opts.Output(slices.Clone(r.Y))
		}
		if s.hooks.statement != nil {
			x, r.Y = s.hooks.statement(s, slices.Clone(x), r.Y)
			if err := s.restate(p, r.Y); err != nil {
				return nil, fmt.Errorf("output: %w", err)
			}
		}
		if err := s.copyOutputs(); err != nil {
			return nil, fmt.Errorf("committed output: %w", err)
		}
		if err := s.openings(r, x); err != nil {
			return nil, err
		}
		if digester != nil && s.hooks.statement == nil {
			d = digester.Digests()
		} else {
			d = zkml.DigestsOf(r.Statement.X, r.Statement.Y)
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
	d.Roots = s.statementRoots
	for i, root := range s.statementRoots {
		r.Statement.Commitments = append(r.Statement.Commitments, zkml.Commitment{Format: r.Openings[i].Format, Root: root})
	}
	if s.hooks.proof != nil {
		s.hooks.proof(s, s.proof)
	}
	return r, d, nil
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
