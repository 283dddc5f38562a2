package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// SetupOptions of Setup; nil means the defaults.
type SetupOptions struct {
	// Mode says whether the key commits to the weights (default) or verifiers
	// have them.
	Mode zkml.Mode
	// Commits says which inputs and outputs are committed instead of public.
	// Proofs then say that there are values behind the commitments in their
	// statements; see zkml.VerifyStatement. They are not zero-knowledge.
	Commits zkml.Commits
	// Security is the least union sum in bits; default and minimum
	// zkml.MinSecurity.
	Security int
	// Commitment guides the choice of the commitments' parameters: what to make
	// small, how much proof of work, tree arity, bounds. The security level
	// follows from Security.
	Commitment whir.Options
	// Progress, if set, is called when a stage begins (done false) and ends.
	Progress func(stage Stage, done bool)
	// Uploader, if set, is used to load the weights.
	Uploader *Uploader

	hooks hooks
}

// Setup makes the keys of a program with its weights. The same program,
// weights and options give the same keys, on every device. In committed mode
// the key carries a proof that every weight is within its tensor's bounds.
func Setup(q *device.Queue, p *graph.Program, w *graph.Weights, opts *SetupOptions) (*zkml.VerifyingKey, *ProvingKey, error) {
	if opts == nil {
		opts = new(SetupOptions)
	}
	vk, pk, err := setup(q, p, w, opts)
	if err != nil {
		return nil, nil, fmt.Errorf("zkml: setup: %w", err)
	}
	return vk, pk, nil
}

func setup(q *device.Queue, p *graph.Program, w *graph.Weights, opts *SetupOptions) (*zkml.VerifyingKey, *ProvingKey, error) {
	if err := given.Check(given.Arg{Name: "queue", Given: q != nil}, given.Arg{Name: "program", Given: p != nil}, given.Arg{Name: "weights", Given: w != nil}); err != nil {
		return nil, nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	parts := zkml.KeyParts{Program: p, Mode: opts.Mode, Commits: opts.Commits}
	var err error
	if parts.WeightsDigest, err = w.Digest(p); err != nil {
		return nil, nil, err
	}
	if parts.Settings, err = zkml.Choose(p, opts.Mode, opts.Commits, max(opts.Security, zkml.MinSecurity), opts.Commitment); err != nil {
		return nil, nil, err
	}
	main, err := plan.ForProgram(p, opts.Commits)
	if err != nil {
		return nil, nil, err
	}
	pk := &ProvingKey{weights: w, of: p}
	if opts.hooks.params != nil {
		pk.stack = main.StackParams(p, w)
		opts.hooks.params(main, pk.stack)
	}
	if params := parts.Settings.Inference.Commitments[plan.Parameters]; params != nil {
		if parts.Root, err = pk.newRoot(q, main, params, opts.Uploader); err != nil {
			return nil, nil, fmt.Errorf("commit to the parameters: %w", err)
		}
	}
	if pk.vk, err = zkml.NewVerifyingKey(parts); err != nil {
		return nil, nil, err
	}
	if arg := pk.vk.WeightsArgument(); arg != nil {
		proof, err := proveWeights(q, pk, arg, opts)
		if err != nil {
			return nil, nil, fmt.Errorf("prove the weights well formed: %w", err)
		}
		if pk.vk, err = pk.vk.WithWeightsProof(proof); err != nil {
			return nil, nil, err
		}
	}
	return pk.vk, pk, nil
}

// newRoot commits to the stacked parameters. On the host the key keeps the
// commitment.
func (pk *ProvingKey) newRoot(q *device.Queue, pl *plan.Plan, params *whir.M31Params, via *Uploader) (root [8]m31.Element, err error) {
	table, err := device.Alloc[m31.Element](q, 1<<params.Vars())
	if err != nil {
		return root, err
	}
	defer table.Free()
	if err := pk.params(q, pl, table, via); err != nil {
		return root, err
	}
	if q.OnHost() {
		c, err := whirprover.CommitM31(q, params, table.Host())
		if err != nil {
			return root, err
		}
		pk.committed = finished(c)
		return c.Root()
	}
	c, err := whirprover.CommitTableM31(q, params, table)
	if err != nil {
		return root, err
	}
	defer c.Free()
	return c.Root()
}

// proveWeights makes the key's own proof: every parameter within its bounds,
// zero in padding.
func proveWeights(q *device.Queue, pk *ProvingKey, arg *zkml.Argument, opts *SetupOptions) ([]byte, error) {
	l, err := newLayout(arg.Plan, nil)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(q, l, false, true); err != nil {
		return nil, err
	}
	key, err := pk.load(q, l, opts.Uploader, Wide)
	if err != nil {
		return nil, err
	}
	defer key.free()
	s, err := newSession(q, pk, arg, l, key, opts.Progress)
	if err != nil {
		return nil, err
	}
	defer s.free()
	s.hooks = opts.hooks
	s.enter(StageForward)
	p := pk.vk.Program()
	for i, id := range p.Params() {
		if err := s.limbs(i, p.Tensor(id)); err != nil {
			return nil, fmt.Errorf("limbs: %w", err)
		}
	}
	if err := s.prove(nil, func([]int32) (*transcript.Transcript, error) {
		tr, _, err := arg.Begin(pk.vk.Digest(), pk.vk.Root())
		return tr, err
	}); err != nil {
		return nil, err
	}
	if s.hooks.proof != nil {
		s.hooks.proof(s, s.proof)
	}
	s.enter("")
	return arg.AppendProof(nil, s.proof)
}

// limbs writes the limbs of v - Lo for parameter i.
func (s *session) limbs(i int, t *graph.Tensor) error {
	ids := s.plan.Limbs[i]
	if len(ids) == 0 {
		return nil
	}
	return s.cut(s.polys[i], t.Lo, plan.Limbs(graph.Log2(int(t.Hi-t.Lo+1))), ids)
}

// cut writes the limbs of v - first, which have so many bits each.
func (s *session) cut(v device.Buffer[m31.Element], first int64, widths []int, ids []int) error {
	lo, shift := m31.FromInt(first), 0
	for k, id := range ids {
		w, out := widths[k], s.polys[id]
		if !s.q.OnHost() {
			if err := s.launch(Source, "zkml_limb", v.Len(), out.Arg(), v.Arg(), device.U32(lo), device.U32(shift), device.U32(w), device.U32(v.Len())); err != nil {
				return err
			}
		} else {
			a, o, sh, mask := v.Host(), out.Host(), shift, m31.Element(1<<w-1)
			if err := s.q.Parallel(len(a), 1<<13, func(from, to int) {
				for j := from; j < to; j++ {
					o[j] = a[j].Sub(lo) >> sh & mask
				}
			}); err != nil {
				return err
			}
		}
		shift += w
	}
	return nil
}
