// Package chunks proves a program in parts, for programs that are larger than a device or than one commitment.
//
// Cut divides the operations of an integer program into parts, each a program of its own whose inputs are what it needs of earlier parts. A
// boundary is public or committed: a chain of proofs is one proof a part with the values at the boundaries, or the roots of commitments to them, and
// Verify takes every input of a part from the statement or from the outputs of an earlier part, so that the parts cannot disagree.
// docs/chunks.md is the full account.
package chunks

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
)

// Source says where an input of a part comes from, or an output of the chain.
type Source struct {
	Part  int // -1: an input of the chain
	Index int // of the part's outputs, or of the chain's inputs
}

// Part is a piece of a program.
type Part struct {
	Program *graph.Program
	Weights *graph.Weights
	Inputs  []Source // one for each of the program's inputs
	// Commits says which of its inputs and outputs are committed; CommitBoundaries, CommitInput and CommitOutput keep both ends of a wire alike.
	Commits zkml.Commits
}

// Cutting is a program in parts.
type Cutting struct {
	Parts   []Part
	Outputs []Source // of the chain, in the order of the program's outputs
}

// Cut divides a program before each of the given operations, which are positions in p.Ops in increasing order. Parts have the numbers of the
// program: the same tensors, bounds, scales, tables and weights. It is an error if a value that crosses a boundary cannot be an input.
func Cut(p *graph.Program, w *graph.Weights, before []int) (*Cutting, error) {
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}, given.Arg{Name: "weights", Given: w != nil}); err != nil {
		return nil, fmt.Errorf("cut: %w", err)
	}
	c := &cutter{p: p, w: w, madeBy: make([]int, len(p.Tensors)), readBy: make([]int, len(p.Tensors))}
	for i, at := range before {
		if at <= 0 || at >= len(p.Ops) || i > 0 && at <= before[i-1] {
			return nil, fmt.Errorf("cut before the operations %v, expected increasing positions within 1..%d", before, len(p.Ops)-1)
		}
	}
	bounds := append(slices.Clone(before), len(p.Ops))
	for id := range p.Tensors {
		c.madeBy[id], c.readBy[id] = -1, -1
	}
	first := 0
	for k, end := range bounds {
		for _, op := range p.Ops[first:end] {
			for _, id := range op.Inputs() {
				c.readBy[id] = k
			}
			for _, id := range op.Outputs() {
				c.madeBy[id] = k
			}
		}
		first = end
	}
	for _, id := range p.Outputs {
		c.readBy[id] = len(bounds) // whoever reads the answer
	}
	first = 0
	for k, end := range bounds {
		if err := c.part(k, len(bounds), first, end); err != nil {
			return nil, fmt.Errorf("part %d: %w", k+1, err)
		}
		first = end
	}
	for _, id := range p.Outputs {
		c.out.Outputs = append(c.out.Outputs, c.source[id])
	}
	return &c.out, nil
}

// cutter is the state of a Cut.
type cutter struct {
	p              *graph.Program
	w              *graph.Weights
	madeBy, readBy []int // by tensor: the part that defines it, the last that reads it; -1 for none
	source         map[graph.TensorID]Source
	out            Cutting
}

// part makes the program of the operations [first, end).
func (c *cutter) part(k, parts, first, end int) error {
	if c.source == nil {
		c.source = map[graph.TensorID]Source{}
		for i, id := range c.p.Inputs {
			c.source[id] = Source{Part: -1, Index: i}
		}
	}
	ops := c.p.Ops[first:end]
	used := make([]bool, len(c.p.Tensors))
	tables := make([]bool, len(c.p.Tables))
	for _, op := range ops {
		for _, id := range slices.Concat(op.Inputs(), op.Outputs()) {
			used[id] = true
		}
		if t, ok := graph.TableOf(op); ok {
			tables[t] = true
		}
	}
	q := &graph.Program{Name: partName(c.p.Name, k, parts), Post: graph.NoPost}
	weights := &graph.Weights{}
	m := mapping{tensors: make([]graph.TensorID, len(used)), tables: make([]int, len(tables))}
	var inputs []Source
	for i := range used {
		if !used[i] {
			continue
		}
		id := graph.TensorID(i)
		t := *c.p.Tensor(id)
		t.Shape = slices.Clone(t.Shape)
		m.tensors[id] = graph.TensorID(len(q.Tensors))
		switch {
		case t.Kind == graph.Param || c.madeBy[id] == k:
		case t.Kind != graph.Input && (t.Lo > 0 || t.Hi < 0):
			return fmt.Errorf("tensor %q has the bounds [%d, %d]; what crosses a boundary must be able to be 0", t.Name, t.Lo, t.Hi)
		default:
			t.Kind = graph.Input
			q.Inputs = append(q.Inputs, m.tensors[id])
			inputs = append(inputs, c.source[id])
		}
		if c.madeBy[id] == k && c.readBy[id] > k {
			c.source[id] = Source{Part: k, Index: len(q.Outputs)}
			q.Outputs = append(q.Outputs, m.tensors[id])
		}
		q.Tensors = append(q.Tensors, t)
		weights.Data = append(weights.Data, c.w.Of(id))
	}
	for i, t := range c.p.Tables {
		if tables[i] {
			m.tables[i] = len(q.Tables)
			q.Tables = append(q.Tables, t)
		}
	}
	for _, op := range ops {
		q.Ops = append(q.Ops, m.op(op))
	}
	if len(c.p.Outputs) == 1 && len(q.Outputs) == 1 && c.madeBy[c.p.Outputs[0]] == k {
		q.Post, q.Labels = c.p.Post, slices.Clone(c.p.Labels)
	}
	if err := q.Validate(); err != nil {
		return err
	}
	c.out.Parts = append(c.out.Parts, Part{Program: q, Weights: weights, Inputs: inputs})
	return nil
}

// partName is the name of a part, whose number must not be lost where the name is long.
func partName(name string, k, parts int) string {
	suffix := fmt.Sprintf(" (part %d of %d)", k+1, parts)
	for len(name)+len(suffix) > graph.MaxName {
		r := []rune(name)
		name = string(r[:len(r)-1])
	}
	return name + suffix
}

// mapping renumbers tensors and tables.
type mapping struct {
	tensors []graph.TensorID
	tables  []int
}

func (m *mapping) id(id graph.TensorID) graph.TensorID {
	if id == graph.None {
		return id
	}
	return m.tensors[id]
}

func (m *mapping) ids(ids [2]graph.TensorID) [2]graph.TensorID {
	return [2]graph.TensorID{m.id(ids[0]), m.id(ids[1])}
}

// op returns an operation with its numbers changed.
func (m *mapping) op(op graph.Op) graph.Op {
	switch o := op.(type) {
	case graph.Einsum:
		o.A, o.B, o.Out = m.id(o.A), m.id(o.B), m.id(o.Out)
		return o
	case graph.Linear:
		o.Terms = slices.Clone(o.Terms)
		for i := range o.Terms {
			o.Terms[i].T = m.id(o.Terms[i].T)
		}
		o.Out = m.id(o.Out)
		return o
	case graph.Lookup:
		o.X, o.Y, o.Rem, o.Table = m.id(o.X), m.id(o.Y), m.id(o.Rem), m.tables[o.Table]
		return o
	case graph.Pair:
		o.A, o.B, o.Y, o.Table = m.id(o.A), m.id(o.B), m.id(o.Y), m.tables[o.Table]
		return o
	case graph.Threshold:
		o.X, o.Y, o.D, o.E, o.Table = m.id(o.X), m.id(o.Y), m.ids(o.D), m.ids(o.E), m.tables[o.Table]
		return o
	case graph.Rearrange:
		o.X, o.Out = m.id(o.X), m.id(o.Out)
		return o
	case graph.Embed:
		o.Tokens, o.W, o.Out = m.id(o.Tokens), m.id(o.W), m.id(o.Out)
		return o
	case graph.Reshape:
		o.X, o.Out = m.id(o.X), m.id(o.Out)
		return o
	}
	return op // Validate refuses what it does not know
}
