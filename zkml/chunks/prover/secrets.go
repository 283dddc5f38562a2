package prover

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// secrets are the salts of all commitments of one proof of a chain.
type secrets struct {
	chain *chunks.Chain
	given map[int][32]byte   // by number of the chain's committed inputs
	made  []map[int][32]byte // of each part, by number of its committed outputs
}

// newSecrets takes the salts of given openings, and derives the others.
func newSecrets(c *chunks.Chain, x []int32, opts *Options) (*secrets, error) {
	if n := c.InputLen(); len(x) != n {
		return nil, fmt.Errorf("%d values, expected %d for the chain's %d inputs", len(x), n, len(c.Inputs()))
	}
	keys := c.Keys()
	s := &secrets{chain: c, given: map[int][32]byte{}, made: make([]map[int][32]byte, len(keys))}
	var seed [32]byte
	if opts.Seed != nil {
		seed = *opts.Seed
	} else {
		var err error
		if seed, err = zkml.Salt(); err != nil {
			return nil, fmt.Errorf("salts: %w", err)
		}
	}
	var inputs []zkml.CommittedTensor
	for _, t := range c.Committed() {
		if !t.Output {
			inputs = append(inputs, t)
		}
	}
	if len(opts.Openings) > 0 && len(opts.Openings) != len(inputs) {
		return nil, fmt.Errorf("%d openings, expected one for each of %d committed inputs", len(opts.Openings), len(inputs))
	}
	derive := derivation(seed, c.Digest(), x)
	first := map[[32]byte]int{} // of those that have a salt
	for i := range inputs {
		t := &inputs[i]
		if len(opts.Openings) == 0 || opts.Openings[i] == nil {
			s.given[t.Index] = derive(0, t.Index)
			continue
		}
		o := opts.Openings[i]
		if err := t.Check(o); err != nil {
			return nil, err
		}
		if !slices.Equal(o.Values, input(c, x, t.Index)) {
			return nil, fmt.Errorf("%s: the opening has other values than the input", t)
		}
		if o.Salt == ([32]byte{}) {
			return nil, fmt.Errorf("the salt of %s is zero, expected 32 random bytes", t)
		}
		// Parts may read one of them each, and see nothing of the other.
		if k, seen := first[o.Salt]; !seen {
			first[o.Salt] = i
		} else if other := opts.Openings[k]; o.Format != other.Format || !slices.Equal(o.Values, other.Values) {
			return nil, fmt.Errorf("%s has the salt of %s and other values: each needs its own", t, &inputs[k])
		}
		s.given[t.Index] = o.Salt
	}
	for k, vk := range keys {
		s.made[k] = map[int][32]byte{}
		for _, i := range vk.Commits().Outputs {
			s.made[k][i] = derive(k+1, i)
		}
	}
	return s, nil
}

// derivation is how salts come from a seed: each is SHA-256 of `zkwarp salt of a chain` and a line feed, the seed, the digest of the chain, SHA-256
// of all input values as 32-bit words, the number of the part from 1, 0 for inputs of the chain, and the number among its outputs or the chain's
// inputs, both as 32-bit words. So no two tensors have the same salt under one seed, nor one tensor for two inputs.
func derivation(seed, chain [32]byte, x []int32) func(part, index int) [32]byte {
	h := sha256.New()
	var word [4]byte
	for _, v := range x {
		binary.LittleEndian.PutUint32(word[:], uint32(v))
		h.Write(word[:])
	}
	prefix := slices.Concat([]byte("zkwarp salt of a chain\n"), seed[:], chain[:], h.Sum(nil))
	return func(part, index int) [32]byte {
		b := binary.LittleEndian.AppendUint32(slices.Clone(prefix), uint32(part))
		return sha256.Sum256(binary.LittleEndian.AppendUint32(b, uint32(index)))
	}
}

// input is the values of one input of the chain.
func input(c *chunks.Chain, x []int32, i int) []int32 {
	inputs := c.Inputs()
	for _, t := range inputs[:i] {
		x = x[t.Len():]
	}
	return x[:inputs[i].Len()]
}

// of are the salts of part k's committed tensors, in their order.
func (s *secrets) of(k int) [][32]byte {
	out := [][32]byte{}
	for _, t := range s.chain.Keys()[k].Committed() {
		if t.Output {
			out = append(out, s.made[k][t.Index])
			continue
		}
		if from := s.chain.Wiring(k)[t.Index]; from.Part < 0 {
			out = append(out, s.given[from.Index])
		} else {
			out = append(out, s.made[from.Part][from.Index])
		}
	}
	return out
}

// keep takes the proof of a part from an earlier run, with the salts of its outputs for those that read them.
func (r *run) keep(k int, p *chunks.PartProof, openings []*zkml.Opening) {
	r.proofs[k] = p
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, index := range r.keys[k].Key().VerifyingKey().Commits().Outputs {
		r.secrets.made[k][index] = openings[i].Salt
	}
}

// check verifies a proof of part k from an earlier run for the inputs x, which are committed with these salts, and that its openings are those of
// its outputs. It returns the values of all outputs.
func (r *run) check(q *device.Queue, k int, x []int32, salts [][32]byte, p *chunks.PartProof, openings []*zkml.Opening) ([]int32, error) {
	switch want := r.chain.Digest(); {
	case p.Chain != want:
		return nil, fmt.Errorf("it is of the chain %x..., this one is %x", p.Chain[:8], want[:8])
	case p.Part != k:
		return nil, fmt.Errorf("it is of part %d, want %d", p.Part+1, k+1)
	}
	pk := r.keys[k].Key()
	vk := pk.VerifyingKey()
	program, commits := vk.Program(), vk.Commits()
	if n := len(commits.Outputs); len(openings) != n || len(p.Roots) != n {
		return nil, fmt.Errorf("%d roots and %d openings of committed outputs, expected %d of both", len(p.Roots), len(openings), n)
	}
	if slices.Contains(openings, nil) {
		return nil, errors.New("an opening of its committed outputs is missing")
	}
	if n := program.Total(vk.PublicOutputs()); len(p.Y) != n {
		return nil, fmt.Errorf("%d public output values, expected %d", len(p.Y), n)
	}
	s := &zkml.Statement{Y: p.Y}
	for i, values := range program.SplitInput(x) {
		if !slices.Contains(commits.Inputs, i) {
			s.X = append(s.X, values...)
		}
	}
	for i, t := range vk.Committed() {
		var o *zkml.Opening
		var err error
		if t.Output {
			o = openings[i-len(commits.Inputs)]
		} else if o, err = t.Open(program.SplitInput(x)[t.Index], salts[i]); err != nil {
			return nil, err
		}
		c, err := prover.Commit(q, vk, i, o)
		if err != nil {
			return nil, err
		}
		if t.Output && c.Root != p.Roots[i-len(commits.Inputs)] {
			return nil, fmt.Errorf("%s: the opening is not that of the proof's root", &t)
		}
		s.Commitments = append(s.Commitments, *c)
	}
	if err := zkml.VerifyStatement(vk, s, p.Proof, &zkml.Options{Context: r.chain.Context(k, r.opts.Context), Weights: pk.Weights()}); err != nil {
		return nil, err
	}
	var y []int32
	public, secret := program.Split(vk.PublicOutputs(), p.Y), openings
	for i := range program.Outputs {
		if slices.Contains(commits.Outputs, i) {
			y, secret = append(y, secret[0].Values...), secret[1:]
		} else {
			y, public = append(y, public[0]...), public[1:]
		}
	}
	return y, nil
}

// state is the statement of a proof that was made, with the openings of its commitments.
func (r *run) state(result *Result) error {
	s := &result.Statement
	var err error
	if s.X, s.Y, err = r.chain.Public(r.x, result.Y); err != nil {
		return fmt.Errorf("chain: %w", err)
	}
	y := result.Y
	var outputs [][]int32
	for _, from := range r.chain.Outputs() {
		p := r.keys[from.Part].Key().VerifyingKey().Program()
		n := p.Tensor(p.Outputs[from.Index]).Len()
		outputs, y = append(outputs, y[:n]), y[n:]
	}
	committed := r.chain.Committed()
	for i := range committed {
		t := &committed[i]
		o, c := &zkml.Opening{Format: t.Format}, zkml.Commitment{Format: t.Format}
		if t.Output {
			from := r.chain.Outputs()[t.Index]
			o.Salt, o.Values = r.secrets.made[from.Part][from.Index], slices.Clone(outputs[t.Index])
			c.Root = r.proofs[from.Part].Roots[slices.Index(r.keys[from.Part].Key().VerifyingKey().Commits().Outputs, from.Index)]
		} else {
			o.Salt, o.Values = r.secrets.given[t.Index], slices.Clone(input(r.chain, r.x, t.Index))
			if c.Root, err = r.rootOf(t.Index); err != nil {
				return err
			}
		}
		result.Openings, s.Commitments = append(result.Openings, o), append(s.Commitments, c)
	}
	return nil
}

// rootOf is the root of a committed input of the chain, as the first part's proof that reads it has it.
func (r *run) rootOf(index int) (root merkle.Digest, err error) {
	for k := range r.keys {
		for at, i := range r.keys[k].Key().VerifyingKey().Commits().Inputs {
			if r.chain.Wiring(k)[i] != (chunks.Source{Part: -1, Index: index}) {
				continue
			}
			h, _, err := zkml.DecodeProofHeader(r.proofs[k].Proof)
			if err != nil {
				return root, fmt.Errorf("chain: part %d: %w", k+1, err)
			}
			return h.Roots[at], nil
		}
	}
	return root, fmt.Errorf("chain: no part reads input %d", index)
}
