package chunks

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
)

// Committed lists the chain's own inputs and outputs that are committed, inputs before outputs: the order of commitments in statements. Index is
// among the chain's inputs, or its outputs.
func (c *Chain) Committed() []zkml.CommittedTensor {
	var out []zkml.CommittedTensor
	for i, t := range c.givenAs {
		if t != nil {
			own := *t
			own.Index = i
			out = append(out, own)
		}
	}
	for i, s := range c.outputs {
		if t := c.ends[s.Part].out[s.Index]; t != nil {
			own := *t
			own.Index = i
			out = append(out, own)
		}
	}
	return out
}

// CommittedIn says where tensor i of Committed is: in which part's key, and which of its committed tensors it is there. A commitment of one is a
// commitment of the other.
func (c *Chain) CommittedIn(i int) (part, tensor int) {
	t := c.Committed()[i]
	if t.Output {
		s := c.outputs[t.Index]
		return s.Part, commitments(c.ends[s.Part].in) + rank(c.ends[s.Part].out, s.Index)
	}
	for k := range c.inputs {
		if at := slices.Index(c.inputs[k], Source{Part: -1, Index: t.Index}); at >= 0 {
			return k, rank(c.ends[k].in, at)
		}
	}
	return -1, -1 // NewChain has seen a part read every input
}

// PublicInputs returns the numbers of the chain's inputs that are not committed, in order.
func (c *Chain) PublicInputs() (list []int) {
	for i, t := range c.givenAs {
		if t == nil {
			list = append(list, i)
		}
	}
	return list
}

// PublicOutputs returns the numbers of the chain's outputs that are not committed, in order.
func (c *Chain) PublicOutputs() (list []int) {
	for i, s := range c.outputs {
		if c.ends[s.Part].out[s.Index] == nil {
			list = append(list, i)
		}
	}
	return list
}

// Public picks the values of public inputs and outputs out of those of all inputs x and of all outputs y of the chain.
func (c *Chain) Public(x, y []int32) (px, py []int32, err error) {
	if len(x) != c.InputLen() {
		return nil, nil, fmt.Errorf("%d values, expected %d for the chain's %d inputs", len(x), c.InputLen(), len(c.given))
	}
	for i, t := range c.given {
		if c.givenAs[i] == nil {
			px = append(px, x[:t.Len()]...)
		}
		x = x[t.Len():]
	}
	for i, s := range c.outputs {
		n := c.output(s).Len()
		if len(y) < n {
			return nil, nil, fmt.Errorf("too few values for output %d of the chain", i)
		}
		if c.ends[s.Part].out[s.Index] == nil {
			py = append(py, y[:n]...)
		}
		y = y[n:]
	}
	if len(y) > 0 {
		return nil, nil, fmt.Errorf("%d values too many for the chain's %d outputs", len(y), len(c.outputs))
	}
	return px, py, nil
}

// output is the tensor of an output of a part.
func (c *Chain) output(s Source) *graph.Tensor {
	p := c.keys[s.Part].Program()
	return p.Tensor(p.Outputs[s.Index])
}

// rank is the place of a tensor among those before it that are committed as it is, or public as it is.
func rank(list []*zkml.CommittedTensor, i int) (n int) {
	for _, t := range list[:i] {
		if (t == nil) == (list[i] == nil) {
			n++
		}
	}
	return n
}

// commitments is the number of committed tensors of a list.
func commitments(list []*zkml.CommittedTensor) (n int) {
	for _, t := range list {
		if t != nil {
			n++
		}
	}
	return n
}

// PartStatement is what the proof of part k must be of: inputs from the chain's statement and from what the proofs of the parts before say of their
// outputs, outputs as the proof says. Values and roots of inputs are never those that the part's own proof names. Values share the memory of s and proof.
func (c *Chain) PartStatement(k int, s *zkml.Statement, proof *Proof) (*zkml.Statement, error) {
	if err := given.Check(given.Arg{Name: "statement", Given: s != nil}, given.Arg{Name: "proof", Given: proof != nil}); err != nil {
		return nil, err
	}
	out := &zkml.Statement{}
	fail := func(i int, err error) (*zkml.Statement, error) {
		return nil, fmt.Errorf("part %d, input %d: %w", k+1, i, err)
	}
	for i, source := range c.inputs[k] {
		if as := c.ends[k].in[i]; as != nil {
			root, err := c.root(source, s, proof)
			if err != nil {
				return fail(i, err)
			}
			out.Commitments = append(out.Commitments, zkml.Commitment{Format: as.Format, Root: root})
			continue
		}
		v, err := c.public(source, s, proof)
		if err != nil {
			return fail(i, err)
		}
		if out.X == nil { // mostly all there is: no copy
			out.X = v[:len(v):len(v)]
			continue
		}
		out.X = append(out.X, v...)
	}
	var err error
	if out.Y, err = c.publicOutputs(k, proof); err != nil {
		return nil, err
	}
	roots, err := c.roots(k, proof)
	if err != nil {
		return nil, err
	}
	for _, t := range c.ends[k].out {
		if t != nil {
			out.Commitments = append(out.Commitments, zkml.Commitment{Format: t.Format, Root: roots[0]})
			roots = roots[1:]
		}
	}
	return out, nil
}

// publicOutputs are the values of the public outputs of a part in a proof.
func (c *Chain) publicOutputs(k int, proof *Proof) ([]int32, error) {
	vk := c.keys[k]
	if n := vk.Program().Total(vk.PublicOutputs()); k >= len(proof.Y) || len(proof.Y[k]) != n {
		return nil, fmt.Errorf("part %d does not have its %d public output values", k+1, n)
	}
	return proof.Y[k], nil
}

// roots are those of the committed outputs of a part in a proof.
func (c *Chain) roots(k int, proof *Proof) ([]merkle.Digest, error) {
	if n := commitments(c.ends[k].out); k >= len(proof.Roots) || len(proof.Roots[k]) != n {
		return nil, fmt.Errorf("part %d does not have its %d roots of committed outputs", k+1, n)
	}
	return proof.Roots[k], nil
}

// public is the values of a source that is public.
func (c *Chain) public(source Source, s *zkml.Statement, proof *Proof) ([]int32, error) {
	if source.Part < 0 {
		first := 0
		for i, t := range c.given[:source.Index] {
			if c.givenAs[i] == nil {
				first += t.Len()
			}
		}
		n := c.given[source.Index].Len()
		if len(s.X) < first+n {
			return nil, fmt.Errorf("%d public input values, too few for input %d of the chain", len(s.X), source.Index)
		}
		return s.X[first:][:n], nil
	}
	y, err := c.publicOutputs(source.Part, proof)
	if err != nil {
		return nil, err
	}
	vk := c.keys[source.Part]
	return vk.Program().Split(vk.PublicOutputs(), y)[rank(c.ends[source.Part].out, source.Index)], nil
}

// root is that of a source that is committed.
func (c *Chain) root(source Source, s *zkml.Statement, proof *Proof) (root merkle.Digest, err error) {
	if source.Part < 0 {
		i := rank(c.givenAs, source.Index)
		if i >= len(s.Commitments) {
			return root, fmt.Errorf("%d commitments, too few for input %d of the chain", len(s.Commitments), source.Index)
		}
		return s.Commitments[i].Root, nil
	}
	roots, err := c.roots(source.Part, proof)
	if err != nil {
		return root, err
	}
	return roots[rank(c.ends[source.Part].out, source.Index)], nil
}
