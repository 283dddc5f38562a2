package chunks

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

// MaxParts bounds the parts of a chain.
const MaxParts = 1 << 12

// Chain is the key of a chain of proofs: one key a part, and how the parts are wired. It is immutable.
type Chain struct {
	keys    []*zkml.VerifyingKey
	ends    []ends // by part
	inputs  [][]Source
	outputs []Source
	given   []*graph.Tensor         // the chain's inputs
	givenAs []*zkml.CommittedTensor // how they are committed, nil where they are public
	digest  [32]byte
}

// ends says which inputs and outputs of a part are committed, and how; nil where they are public.
type ends struct{ in, out []*zkml.CommittedTensor }

func endsOf(vk *zkml.VerifyingKey) ends {
	p := vk.Program()
	e := ends{make([]*zkml.CommittedTensor, len(p.Inputs)), make([]*zkml.CommittedTensor, len(p.Outputs))}
	for _, t := range vk.Committed() {
		if t.Output {
			e.out[t.Index] = &t
		} else {
			e.in[t.Index] = &t
		}
	}
	return e
}

// NewChain makes a chain. It checks that every input of a part comes from the statement or from an output of an earlier part, that both ends
// agree on shape and scale, and that the reader takes every value within the bounds of what it reads. Of each wire either both ends are public
// or both are committed in one format, and so are all parts' inputs that are one input of the chain. No output may be listed twice.
func NewChain(keys []*zkml.VerifyingKey, inputs [][]Source, outputs []Source) (*Chain, error) {
	c := &Chain{keys: slices.Clone(keys), outputs: slices.Clone(outputs)}
	if len(keys) == 0 || len(keys) > MaxParts || len(keys) != len(inputs) {
		return nil, fmt.Errorf("chain: %d keys and wiring of %d parts, expected 1 to %d of both", len(keys), len(inputs), MaxParts)
	}
	for k, list := range inputs {
		if err := given.Check(given.Arg{Name: fmt.Sprintf("key of part %d", k+1), Given: keys[k] != nil}); err != nil {
			return nil, fmt.Errorf("chain: %w", err)
		}
		p := keys[k].Program()
		if len(list) != len(p.Inputs) {
			return nil, fmt.Errorf("chain: part %d: wiring of %d inputs, its program has %d", k+1, len(list), len(p.Inputs))
		}
		c.inputs = append(c.inputs, slices.Clone(list))
		c.ends = append(c.ends, endsOf(keys[k]))
		for i, s := range list {
			if err := c.wire(k, i, s); err != nil {
				return nil, fmt.Errorf("chain: part %d, input %d: %w", k+1, i, err)
			}
		}
	}
	for i, t := range c.given {
		if t == nil {
			return nil, fmt.Errorf("chain: no part reads input %d", i)
		}
	}
	if len(outputs) == 0 {
		return nil, errors.New("chain: no outputs")
	}
	stated := map[Source]bool{} // once each: y is no longer than what the parts give
	for i, s := range outputs {
		if s.Part < 0 || s.Part >= len(keys) || s.Index < 0 || s.Index >= len(keys[s.Part].Program().Outputs) {
			return nil, fmt.Errorf("chain: output %d is output %d of part %d, which does not exist", i, s.Index, s.Part+1)
		}
		if stated[s] {
			return nil, fmt.Errorf("chain: output %d of part %d is listed twice among the outputs", s.Index, s.Part+1)
		}
		stated[s] = true
	}
	c.digest = sha256.Sum256(c.encodeWiring([]byte("zkwarp chain of proofs\n")))
	return c, nil
}

// wire checks the source of input i of part k.
func (c *Chain) wire(k, i int, s Source) error {
	p := c.keys[k].Program()
	t, as := p.Tensor(p.Inputs[i]), c.ends[k].in[i]
	switch {
	case s.Part == -1 && s.Index >= 0 && s.Index < graph.MaxTensors:
		for len(c.given) <= s.Index {
			c.given, c.givenAs = append(c.given, nil), append(c.givenAs, nil)
		}
		if c.given[s.Index] == nil {
			c.given[s.Index], c.givenAs[s.Index] = t, as
			return nil
		}
		if err := agree(t, c.given[s.Index]); err != nil {
			return err
		}
		return alike(t, as, c.givenAs[s.Index], fmt.Sprintf("which an earlier part reads as %q", c.given[s.Index].Name))
	case s.Part >= 0 && s.Part < k:
		from := c.keys[s.Part].Program()
		if s.Index >= 0 && s.Index < len(from.Outputs) {
			out := from.Tensor(from.Outputs[s.Index])
			if err := takes(t, out); err != nil {
				return err
			}
			return alike(t, as, c.ends[s.Part].out[s.Index], fmt.Sprintf("which is output %q of part %d", out.Name, s.Part+1))
		}
	}
	return fmt.Errorf("it is output %d of part %d, which does not exist before it", s.Index, s.Part+1)
}

// agree checks that the same integers mean the same in two inputs.
func agree(a, b *graph.Tensor) error {
	if !slices.Equal(a.Shape, b.Shape) || a.Lo != b.Lo || a.Hi != b.Hi || a.Scale != b.Scale {
		return differ(a, b, "")
	}
	return nil
}

// takes checks that an input can be any value of an output, and that integers mean the same in both. Bounds of an output are what its program can
// give, which may be less than what the next one was calibrated to take.
func takes(in, out *graph.Tensor) error {
	if !slices.Equal(in.Shape, out.Shape) || out.Lo < in.Lo || out.Hi > in.Hi || in.Scale != out.Scale {
		return differ(in, out, "at least ")
	}
	return nil
}

// alike checks that the reader of a tensor and its source, of which what tells, both have it public, or committed in such a way that equal roots
// mean equal values.
func alike(t *graph.Tensor, reader, source *zkml.CommittedTensor, what string) error {
	switch {
	case reader == nil && source == nil:
		return nil
	case source == nil:
		return fmt.Errorf("%q, %s, is committed here and public there", t.Name, what)
	case reader == nil:
		return fmt.Errorf("%q, %s, is public here and committed there", t.Name, what)
	case reader.Format != source.Format:
		return fmt.Errorf("%q, %s, is committed in the format %x... here and %x... there: both keys must be made with the same options for commitments",
			t.Name, what, reader.Format[:4], source.Format[:4])
	}
	return nil
}

func differ(a, b *graph.Tensor, least string) error {
	return fmt.Errorf("shape %v, bounds [%d, %d], scale %g, expected %v, %s[%d, %d], %g as %q has", a.Shape, a.Lo, a.Hi, a.Scale, b.Shape, least, b.Lo, b.Hi, b.Scale, b.Name)
}

// encodeWiring appends everything that the digest is of: the digests of the keys in place of the keys.
func (c *Chain) encodeWiring(b []byte) []byte {
	number := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	sources := func(list []Source) {
		number(len(list))
		for _, s := range list {
			number(s.Part + 1)
			number(s.Index)
		}
	}
	number(len(c.keys))
	for k, vk := range c.keys {
		d := vk.Digest()
		b = append(b, d[:]...)
		sources(c.inputs[k])
	}
	sources(c.outputs)
	return b
}

// Digest identifies the chain. Every proof of a part is bound to it.
func (c *Chain) Digest() [32]byte { return c.digest }

// Keys returns the parts' keys in order.
func (c *Chain) Keys() []*zkml.VerifyingKey { return slices.Clone(c.keys) }

// Security is -log2 of the sum of the parts' errors: of all error terms of all proofs of a chain together.
func (c *Chain) Security() float64 {
	sum := 0.0
	for _, vk := range c.keys {
		sum += math.Exp2(-zkml.Security(vk).Sum)
	}
	return -math.Log2(sum)
}

// Context is what the proof of part k is bound to beside its statement: the chain, the place in it, and the caller's own context.
func (c *Chain) Context(k int, context []byte) []byte {
	b := append([]byte("zkwarp part of a chain\n"), c.digest[:]...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(k)), context...)
}

// InputLen returns the number of values of all inputs of the chain, committed ones too.
func (c *Chain) InputLen() int {
	n := 0
	for _, t := range c.given {
		n += t.Len()
	}
	return n
}

// PartInput gathers the input of part k for whoever runs it: x is the values of all inputs of the chain, y those of all outputs of each of the
// parts before, committed or not.
func (c *Chain) PartInput(k int, x []int32, y [][]int32) ([]int32, error) {
	if len(x) != c.InputLen() {
		return nil, fmt.Errorf("%d values, expected %d for the chain's %d inputs", len(x), c.InputLen(), len(c.given))
	}
	var out []int32
	for i, s := range c.inputs[k] {
		v, err := c.at(s, x, y)
		if err != nil {
			return nil, fmt.Errorf("part %d, input %d: %w", k+1, i, err)
		}
		out = append(out, v...)
	}
	return out, nil
}

// Reads returns the parts whose outputs part k reads, in increasing order.
func (c *Chain) Reads(k int) []int {
	var parts []int
	for _, s := range c.inputs[k] {
		if s.Part >= 0 {
			parts = append(parts, s.Part)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// Output gathers the values of the chain's outputs, committed or not, from those of all outputs of its parts.
func (c *Chain) Output(y [][]int32) ([]int32, error) {
	var out []int32
	for i, s := range c.outputs {
		v, err := c.at(s, nil, y)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		out = append(out, v...)
	}
	return out, nil
}

// at returns the values of a source.
func (c *Chain) at(s Source, x []int32, y [][]int32) ([]int32, error) {
	if s.Part < 0 {
		first := 0
		for _, t := range c.given[:s.Index] {
			first += t.Len()
		}
		return x[first:][:c.given[s.Index].Len()], nil
	}
	p := c.keys[s.Part].Program()
	if s.Part >= len(y) || len(y[s.Part]) != p.OutputLen() {
		return nil, fmt.Errorf("part %d does not have its %d output values", s.Part+1, p.OutputLen())
	}
	return p.SplitOutput(y[s.Part])[s.Index], nil
}

// Magic strings and version of the encodings.
const (
	MagicChain = "ZKWCHKY\n"
	MagicProof = "ZKWCHPR\n"
	Version    = 2
)

// Encode is the chain's canonical encoding.
func (c *Chain) Encode() []byte {
	w := wire.NewWriter(MagicChain, Version)
	w.U32(uint32(len(c.keys)))
	for k, vk := range c.keys {
		data := vk.Encode()
		w.U32(uint32(len(data)))
		w.B = append(w.B, data...)
		writeSources(w, c.inputs[k])
	}
	writeSources(w, c.outputs)
	return w.B
}

func writeSources(w *wire.Writer, list []Source) {
	w.U32(uint32(len(list)))
	for _, s := range list {
		w.Uvarint(uint32(s.Part + 1))
		w.Uvarint(uint32(s.Index))
	}
}

func readSources(r *wire.Reader, what string) []Source {
	list := make([]Source, r.Count(graph.MaxTensors, 2, what))
	for i := range list {
		list[i] = Source{Part: int(r.Uvarint(what)) - 1, Index: int(r.Uvarint(what))}
	}
	return list
}

// DecodeChain reads a chain.
func DecodeChain(data []byte) (*Chain, error) {
	r := wire.NewReader(data, MagicChain, Version, "key of a chain")
	n := r.Count(MaxParts, 8, "parts")
	var keys []*zkml.VerifyingKey
	var inputs [][]Source
	for range n {
		b := r.Take(int(r.U32("key")), "key")
		list := readSources(r, "wiring")
		if r.Err() != nil {
			return nil, r.Err()
		}
		vk, err := zkml.DecodeVerifyingKey(b)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(keys)+1, err)
		}
		keys, inputs = append(keys, vk), append(inputs, list)
	}
	outputs := readSources(r, "outputs")
	if err := r.Done(); err != nil {
		return nil, err
	}
	return NewChain(keys, inputs, outputs)
}
