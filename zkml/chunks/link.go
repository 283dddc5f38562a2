package chunks

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
)

// Link makes a chain of keys that were made one by one, for pieces of a model in their order. An input of a piece is the output of that name
// of the last piece before it that has one, or else an input of the chain; outputs that no later piece reads are the chain's, in order. No two
// of them have one name. The result is that of NewChain with that wiring.
func Link(keys []*zkml.VerifyingKey) (*Chain, error) {
	type output struct {
		at   Source
		read bool
	}
	var made []output // in order
	last := map[string]int{}
	first := map[string]int{}
	var inputs [][]Source
	for k, vk := range keys {
		if err := given.Check(given.Arg{Name: fmt.Sprintf("key of part %d", k+1), Given: vk != nil}); err != nil {
			return nil, fmt.Errorf("chain: %w", err)
		}
		p := vk.Program()
		var list []Source
		for _, id := range p.Inputs {
			name := p.Tensor(id).Name
			if i, ok := last[name]; ok {
				made[i].read = true
				list = append(list, made[i].at)
				continue
			}
			if _, ok := first[name]; !ok {
				first[name] = len(first)
			}
			list = append(list, Source{Part: -1, Index: first[name]})
		}
		for i, id := range p.Outputs {
			name := p.Tensor(id).Name
			if at, ok := last[name]; ok && !made[at].read {
				return nil, fmt.Errorf("chain: output %q of part %d is given again by part %d, and no part between reads it", name, made[at].at.Part+1, k+1)
			}
			last[name] = len(made)
			made = append(made, output{at: Source{Part: k, Index: i}})
		}
		inputs = append(inputs, list)
	}
	var outputs []Source
	for _, o := range made {
		if !o.read {
			outputs = append(outputs, o.at)
		}
	}
	return NewChain(keys, inputs, outputs)
}

// PartSecurity is the least security that each of n parts' keys must have, in bits of its union sum, for the chain to have at least bits.
func PartSecurity(bits, n int) int { return bits + graph.Log2(n) }

// Inputs returns the tensors that the chain's x consists of, one after the other. They must not be changed.
func (c *Chain) Inputs() []*graph.Tensor { return slices.Clone(c.given) }

// Outputs returns where the chain's outputs come from.
func (c *Chain) Outputs() []Source { return slices.Clone(c.outputs) }

// Wiring returns where the inputs of part k come from.
func (c *Chain) Wiring(k int) []Source { return slices.Clone(c.inputs[k]) }

// PartName names part k for people: its number from 1, and what it computes from what.
func (c *Chain) PartName(k int) string {
	p := c.keys[k].Program()
	ends := func(ids []graph.TensorID) string {
		if len(ids) == 0 {
			return "nothing"
		}
		text := fmt.Sprintf("%q", p.Tensor(ids[0]).Name)
		if len(ids) > 1 {
			text += fmt.Sprintf(" and %d more", len(ids)-1)
		}
		return text
	}
	return fmt.Sprintf("part %d of %d (%s from %s)", k+1, len(c.keys), ends(p.Outputs), ends(p.Inputs))
}
