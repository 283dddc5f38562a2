package zkml

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// CommittedTensor is an input or output that a key has committed instead of
// public.
type CommittedTensor struct {
	Name   string
	Output bool
	Index  int // among the program's inputs, or its outputs
	Shape  []int
	Lo, Hi int64 // bounds of its values
	// Format identifies shape and code: equal values under equal salts have equal
	// roots exactly where the formats are equal, whatever the keys.
	Format [32]byte
}

func (t *CommittedTensor) String() string {
	if t.Output {
		return fmt.Sprintf("output %q", t.Name)
	}
	return fmt.Sprintf("input %q", t.Name)
}

// Committed lists the committed tensors, inputs before outputs, both in the
// program's order: the order of commitments in statements.
func (vk *VerifyingKey) Committed() []CommittedTensor {
	p := vk.inference.Plan
	out := make([]CommittedTensor, len(p.Committed))
	for i := range out {
		c := &p.Committed[i]
		t := &vk.program.Tensors[c.Tensor]
		out[i] = CommittedTensor{
			Name: t.Name, Output: c.Output, Index: c.Index, Shape: append([]int(nil), t.Shape...), Lo: t.Lo, Hi: t.Hi,
			Format: format(t.Shape, vk.inference.Commitments[plan.FirstCommitted+plan.Home(i)]),
		}
	}
	return out
}

// format is SHA-256 of everything that the root depends on beside values and
// salt: the size of the stack, rate and first fold of the code, arity of the
// tree, and the shape, as 32-bit integers.
func format(shape []int, p *whir.M31Params) [32]byte {
	c := p.Inner().Config()
	b := []byte("zkwarp zkml committed tensor 1\n")
	for _, n := range append([]int{p.Vars(), c.LogInvRate, c.Rounds[0].Fold, c.Arity, len(shape)}, shape...) {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return sha256.Sum256(b)
}

// Commitment stands for a tensor's values in a statement. It hides them, see
// docs/zkml.md, and binds whoever made it to them.
type Commitment struct {
	Format [32]byte // of the CommittedTensor
	Root   merkle.Digest
}

// Opening is what a commitment is made of. It is the committer's secret.
type Opening struct {
	Format [32]byte
	Salt   [32]byte
	Values []int32 // real elements in row-major order
}

// Salt draws a fresh salt. A salt must not be used for two tensors.
func Salt() (salt [32]byte, err error) {
	_, err = io.ReadFull(rand.Reader, salt[:])
	return salt, err
}

// Open is the opening of values and a salt for a committed tensor.
func (t *CommittedTensor) Open(values []int32, salt [32]byte) (*Opening, error) {
	o := &Opening{Format: t.Format, Salt: salt, Values: values}
	if err := t.Check(o); err != nil {
		return nil, err
	}
	return o, nil
}

// Check checks that an opening is one of this tensor: of its format, with a
// value within bounds for each element.
func (t *CommittedTensor) Check(o *Opening) error {
	if err := given.Check(given.Arg{Name: "opening", Given: o != nil}); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	if o.Format != t.Format {
		return fmt.Errorf("%s: an opening of format %x..., expected %x...", t, o.Format[:4], t.Format[:4])
	}
	if n := graph.Elements(t.Shape); len(o.Values) != n {
		return fmt.Errorf("%s: an opening of %d values, expected %d", t, len(o.Values), n)
	}
	for i, v := range o.Values {
		if int64(v) < t.Lo || int64(v) > t.Hi {
			return fmt.Errorf("%s: value %d is %d, expected within [%d, %d]", t, i, v, t.Lo, t.Hi)
		}
	}
	return nil
}

// Magic strings of commitments and openings.
const (
	MagicCommitment = "ZKWCOMM\n"
	MagicOpening    = "ZKWOPEN\n"
)

// Encode is the commitment's canonical encoding.
func (c *Commitment) Encode() []byte {
	return m31.AppendBytes(header(MagicCommitment, c.Format), c.Root[:])
}

// DecodeCommitment reads a commitment from exactly data.
func DecodeCommitment(data []byte) (*Commitment, error) {
	const what = "commitment"
	c := new(Commitment)
	var rest []byte
	var err error
	if c.Format, rest, err = readHeader(data, MagicCommitment, what); err != nil {
		return nil, err
	}
	r := &cursor{data: rest}
	r.words("root", c.Root[:])
	if err := r.done(); err != nil {
		return nil, formatf("%s: %w", what, err)
	}
	return c, nil
}

// Encode is the opening's canonical encoding.
func (o *Opening) Encode() []byte {
	b := append(header(MagicOpening, o.Format), o.Salt[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(o.Values)))
	for _, v := range o.Values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// DecodeOpening reads an opening from exactly data.
func DecodeOpening(data []byte) (*Opening, error) {
	const what = "opening"
	o := new(Opening)
	var rest []byte
	var err error
	if o.Format, rest, err = readHeader(data, MagicOpening, what); err != nil {
		return nil, err
	}
	r := &cursor{data: rest}
	copy(o.Salt[:], r.take("salt", 32))
	n := r.u32("number of values")
	if v := r.take("values", int(min(int64(n)*4, math.MaxInt))); v != nil {
		o.Values = make([]int32, n)
		for i := range o.Values {
			o.Values[i] = int32(binary.LittleEndian.Uint32(v[4*i:]))
		}
	}
	if err := r.done(); err != nil {
		return nil, formatf("%s: %w", what, err)
	}
	return o, nil
}
