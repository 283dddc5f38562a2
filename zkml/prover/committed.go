package prover

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Commit makes the commitment of an opening, which is to the key's committed
// tensor number i (zkml.VerifyingKey.Committed). It does not depend on q's
// device, nor on anything of the key but the tensor's format.
func Commit(q *device.Queue, vk *zkml.VerifyingKey, i int, o *zkml.Opening) (*zkml.Commitment, error) {
	if err := given.Check(given.Arg{Name: "queue", Given: q != nil}, given.Arg{Name: "verifying key", Given: vk != nil}); err != nil {
		return nil, fmt.Errorf("zkml: commit: %w", err)
	}
	list := vk.Committed()
	if i < 0 || i >= len(list) {
		return nil, fmt.Errorf("zkml: commit: tensor %d, the key has %d that are committed", i, len(list))
	}
	if err := list[i].Check(o); err != nil {
		return nil, fmt.Errorf("zkml: commit: %w", err)
	}
	if err := preload(q); err != nil {
		return nil, fmt.Errorf("zkml: commit: %w", err)
	}
	params := vk.Inference().Commitments[plan.FirstCommitted+plan.Home(i)]
	stack := plan.SaltedStack(plan.Embed(graph.Pad(list[i].Shape, o.Values)), params.Vars(), o.Salt)
	c, err := whirprover.CommitM31(q, params, stack)
	if err != nil {
		return nil, fmt.Errorf("zkml: commit to %s: %w", &list[i], err)
	}
	defer c.Free()
	root, err := c.Root()
	if err != nil {
		return nil, fmt.Errorf("zkml: commit to %s: %w", &list[i], err)
	}
	return &zkml.Commitment{Format: o.Format, Root: root}, nil
}

// saltsFor are the given salts, or fresh ones, for all committed tensors of a
// key.
func saltsFor(vk *zkml.VerifyingKey, given [][32]byte) ([][32]byte, error) {
	n := len(vk.Inference().Plan.Committed)
	if given != nil {
		if len(given) != n {
			return nil, fmt.Errorf("%d salts, expected %d for the committed tensors", len(given), n)
		}
		for i, salt := range given {
			if salt == ([32]byte{}) {
				return nil, fmt.Errorf("the salt of %s is zero, expected 32 random bytes", &vk.Committed()[i])
			}
		}
		return given, nil
	}
	out := make([][32]byte, n)
	for i := range out {
		var err error
		if out[i], err = zkml.Salt(); err != nil {
			return nil, fmt.Errorf("salt: %w", err)
		}
	}
	return out, nil
}

// salt writes the salts of committed tensors, and the limbs of committed inputs.
func (s *session) salt() error {
	for i := range s.plan.Committed {
		c := &s.plan.Committed[i]
		stack := s.stacks[s.plan.Polys[c.Poly].Home]
		words := make([]m31.Element, stack.Len()/2)
		plan.Salt(s.salts[i], words)
		if err := stack.Slice(len(words), stack.Len()).CopyFrom(s.q, words); err != nil {
			return fmt.Errorf("salt: %w", err)
		}
		for _, r := range c.Ranges {
			if err := s.cut(s.polys[c.Poly], r.First, r.Widths(), r.Limbs); err != nil {
				return fmt.Errorf("limbs: %w", err)
			}
		}
	}
	return nil
}

// oneHots writes the one-hot polynomials of committed tokens that are factors of
// sum-checks.
func (s *session) oneHots() error {
	for _, h := range s.plan.OneHots {
		if s.plan.Polys[h.Poly].Implied {
			continue
		}
		tokens, out := s.polys[h.Tokens], s.polys[h.Poly]
		if !s.q.OnHost() {
			if err := s.launch(Source, "zkml_one_hot", out.Len(), out.Arg(), tokens.Arg(), device.U32(h.First), device.U32(h.Bits), device.U32(out.Len())); err != nil {
				return err
			}
			continue
		}
		t, to, mask := tokens.Host(), out.Host(), m31.Element(1)<<h.Bits-1
		if err := s.q.Parallel(len(t), max(1, 1<<13>>h.Bits), func(lo, hi int) {
			clear(to[lo<<h.Bits : hi<<h.Bits])
			for i, v := range t[lo:hi] {
				to[(lo+i)<<h.Bits|int(v>>h.First&mask)] = 1
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// copyOutputs takes committed outputs, as stated, to their stacks.
func (s *session) copyOutputs() error {
	for i := range s.plan.Committed {
		c := &s.plan.Committed[i]
		if !c.Output {
			continue
		}
		to := s.polys[c.Poly]
		if err := device.Copy(s.q, to, s.at(place(s.y+s.outputAt[c.Tensor]), to.Len())); err != nil {
			return err
		}
	}
	return nil
}

// openings are the public part of a statement and the openings of what is
// committed, from all inputs and the outputs.
func (s *session) openings(r *Result, x []int32) (err error) {
	vk := s.pk.vk
	if r.Statement.X, r.Statement.Y, err = vk.Public(x, r.Y); err != nil {
		return err
	}
	in, out := vk.Program().SplitInput(x), vk.Program().SplitOutput(r.Y)
	for i, t := range vk.Committed() {
		o := &zkml.Opening{Format: t.Format, Salt: s.salts[i]}
		if t.Output {
			o.Values = slices.Clone(out[t.Index])
		} else {
			o.Values = slices.Clone(in[t.Index])
		}
		r.Openings = append(r.Openings, o)
	}
	return distinct(vk.Committed(), r.Openings)
}

// distinct refuses a salt that two openings have, unless they are the same one: who
// is shown one of them could guess what the other commitment is to.
func distinct(list []zkml.CommittedTensor, openings []*zkml.Opening) error {
	first := map[[32]byte]int{}
	for i, o := range openings {
		k, seen := first[o.Salt]
		if !seen {
			first[o.Salt] = i
		} else if other := openings[k]; o.Format != other.Format || !slices.Equal(o.Values, other.Values) {
			return fmt.Errorf("%s has the salt of %s and other values: each needs its own", &list[i], &list[k])
		}
	}
	return nil
}
