package chunks

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Proof is a proof of a chain: for each part its outputs and its proof.
type Proof struct {
	Y      [][]int32         // the values of public outputs
	Roots  [][]merkle.Digest // of the commitments to the others, in order
	Proofs [][]byte
}

// Options of Verify; nil means none.
type Options struct {
	Context []byte // what the caller ties the proof to
	// Weights are the parts' weights; needed for parts in public-weights mode.
	Weights []*graph.Weights
}

// Verify checks that proof shows y to be the outputs of the chain on x, where all inputs and outputs of the chain are public. What is between its
// parts may be committed. It returns nil, or an error naming the part and the check that failed.
func Verify(c *Chain, x, y []int32, proof *Proof, opts *Options) error {
	return VerifyStatement(c, &zkml.Statement{X: x, Y: y}, proof, opts)
}

// VerifyStatement is Verify for chains that have some of their own inputs or outputs committed; the statement's commitments are in the order of
// Committed. Each part is verified on inputs, values and roots, that come from the statement and from the outputs of earlier parts, never from the
// proof of the part itself. It returns nil, or an error naming the part and the check that failed.
func VerifyStatement(c *Chain, s *zkml.Statement, proof *Proof, opts *Options) error {
	if err := given.Check(given.Arg{Name: "chain", Given: c != nil}, given.Arg{Name: "statement", Given: s != nil}); err != nil {
		return fmt.Errorf("chain: verify: %w", err)
	}
	if opts == nil {
		opts = new(Options)
	}
	n := len(c.keys)
	if proof == nil || len(proof.Y) != n || len(proof.Roots) != n || len(proof.Proofs) != n {
		return reject(zkml.CheckFormat, fmt.Errorf("not one proof and one list of outputs for each of %d parts", n))
	}
	if opts.Weights != nil && len(opts.Weights) != n {
		return fmt.Errorf("chain: weights of %d parts, expected %d", len(opts.Weights), n)
	}
	if bits := c.Security(); !(bits >= zkml.MinSecurity) {
		return reject(zkml.CheckSecurity, fmt.Errorf("%.2f bits for all %d parts together, want %d", bits, n, zkml.MinSecurity))
	}
	if err := c.checkStatement(s); err != nil {
		return err
	}
	for k, vk := range c.keys {
		if err := vk.Program().CheckValues(vk.PublicOutputs(), proof.Y[k]); err != nil {
			return fmt.Errorf("chain: part %d: %w", k+1, reject(zkml.CheckOutput, err))
		}
		if _, err := c.roots(k, proof); err != nil {
			return fmt.Errorf("chain: %w", reject(zkml.CheckFormat, err))
		}
	}
	if err := c.checkOutputs(s, proof); err != nil {
		return err
	}
	return c.verifyParts(s, proof, opts)
}

// mostWeights is the number of words that public weights of parts may take at once, unless those of one part are more: 2 GiB.
const mostWeights = 1 << plan.MaxVars

// atOnce is how many parts may be verified side by side: public weights become words of the field, and all parts' together may not fit the memory.
func (c *Chain) atOnce() int {
	most := int64(1)
	for _, vk := range c.keys {
		if vk.Mode() != zkml.PublicWeights {
			continue
		}
		words := int64(0)
		for _, id := range vk.Program().Params() {
			words += int64(1) << graph.Vars(vk.Program().Tensor(id).Shape)
		}
		most = max(most, int64(graph.Pow2(int(words))))
	}
	return int(min(max(1, mostWeights/most), int64(len(c.keys))))
}

// verifyParts verifies the proofs of all parts, on all processors as far as memory allows. What it returns is the failure of the first part that has
// one: once it is known, later ones are not begun.
func (c *Chain) verifyParts(s *zkml.Statement, proof *Proof, opts *Options) error {
	errs := make([]error, len(c.keys))
	var first atomic.Int64 // of those that failed
	first.Store(int64(len(errs)))
	n := c.atOnce()
	parallel.For(len(errs), (len(errs)+n-1)/n, func(lo, hi int) {
		for k := lo; k < hi && int64(k) < first.Load(); k++ {
			if errs[k] = c.verifyPart(k, s, proof, opts); errs[k] == nil {
				continue
			}
			for was := first.Load(); int64(k) < was && !first.CompareAndSwap(was, int64(k)); was = first.Load() {
			}
		}
	})
	if k := int(first.Load()); k < len(errs) {
		return errs[k]
	}
	return nil
}

func (c *Chain) verifyPart(k int, s *zkml.Statement, proof *Proof, opts *Options) error {
	part, err := c.PartStatement(k, s, proof)
	if err != nil {
		return reject(zkml.CheckInput, err)
	}
	o := &zkml.Options{Context: c.Context(k, opts.Context)}
	if opts.Weights != nil {
		o.Weights = opts.Weights[k]
	}
	if err := zkml.VerifyStatement(c.keys[k], part, proof.Proofs[k], o); err != nil {
		return fmt.Errorf("chain: part %d of %d: %w", k+1, len(c.keys), err)
	}
	return nil
}

// checkStatement checks that the statement has as many public inputs and commitments as the chain, and commitments in its formats.
func (c *Chain) checkStatement(s *zkml.Statement) error {
	public := c.PublicInputs()
	n := 0
	for _, i := range public {
		n += c.given[i].Len()
	}
	if len(s.X) != n {
		return reject(zkml.CheckInput, fmt.Errorf("%d values, expected %d for the chain's %d public inputs", len(s.X), n, len(public)))
	}
	committed := c.Committed()
	if len(s.Commitments) != len(committed) {
		check := zkml.CheckInput
		if len(public) == len(c.given) && len(committed) > 0 {
			check = zkml.CheckOutput
		}
		return reject(check, fmt.Errorf("%d commitments, want %d for the chain's committed inputs and outputs", len(s.Commitments), len(committed)))
	}
	for i := range committed {
		t := &committed[i]
		if s.Commitments[i].Format != t.Format {
			check := zkml.CheckInput
			if t.Output {
				check = zkml.CheckOutput
			}
			return reject(check, fmt.Errorf("%s: a commitment of format %x..., want %x...", t, s.Commitments[i].Format[:4], t.Format[:4]))
		}
	}
	return nil
}

// checkOutputs compares the statement's outputs, values and commitments, with those that the parts' proofs are to be for.
func (c *Chain) checkOutputs(s *zkml.Statement, proof *Proof) error {
	y, same := s.Y, true // what is left of y, and whether all before is as it should be
	rest := s.Commitments[commitments(c.givenAs):]
	for i, source := range c.outputs {
		t := c.ends[source.Part].out[source.Index]
		if t == nil {
			v, err := c.public(source, s, proof)
			if err != nil {
				return reject(zkml.CheckFormat, fmt.Errorf("output %d: %w", i, err))
			}
			same = same && len(v) <= len(y) && equal(v, y[:len(v)])
			y = y[min(len(v), len(y)):]
			continue
		}
		root, err := c.root(source, s, proof)
		if err != nil {
			return reject(zkml.CheckFormat, fmt.Errorf("output %d: %w", i, err))
		}
		if rest[0].Root != root {
			return reject(zkml.CheckOutputBind, fmt.Errorf("%s: part %d's proof is for another commitment", t, source.Part+1))
		}
		rest = rest[1:]
	}
	if !same || len(y) > 0 {
		return reject(zkml.CheckOutputBind, errors.New("the parts' outputs are not the chain's"))
	}
	return nil
}

// equal is slices.Equal on all processors.
func equal(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	var other atomic.Bool
	parallel.For(len(a), 1<<16, func(lo, hi int) {
		if !slices.Equal(a[lo:hi], b[lo:hi]) {
			other.Store(true)
		}
	})
	return !other.Load()
}

func reject(check string, err error) error { return &zkml.Rejection{Check: check, Err: err} }
