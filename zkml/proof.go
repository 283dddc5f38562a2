package zkml

import (
	"encoding/binary"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Proof is the prover's messages of one argument, in the order in which they
// are sent. Parts that the plan does not have are zero or nil.
type Proof struct {
	// Roots of the witness and of the multiplicities; the parameters' root is
	// in the key, those of committed inputs and outputs in the statement.
	Roots    [plan.FirstCommitted]merkle.Digest
	Nonce    transcript.Nonce // of the work before the lookup challenges
	Tree     *logup.Proof
	Leaves   []m31.QM31 // evaluations at the leaf point
	Layers   []LayerProof
	Merge    *sumcheck.Proof
	Openings []*whir.M31Proof // by home
}

// LayerProof is the messages of one layer.
type LayerProof struct {
	Sent  []m31.QM31
	Batch *sumcheck.Proof // nil if the layer has no sum-checks
}

// sent are the stacks whose roots are part of a proof.
func (a *Argument) sent() (out []plan.Home) {
	for _, h := range []plan.Home{plan.Witness, plan.Multiplicities} {
		if a.Commitments[h] != nil {
			out = append(out, h)
		}
	}
	return out
}

// AppendProof appends the proof's encoding: field words as little-endian
// 32-bit integers, openings preceded by their length in bytes.
func (a *Argument) AppendProof(b []byte, p *Proof) ([]byte, error) {
	for _, h := range a.sent() {
		b = m31.AppendBytes(b, p.Roots[h][:])
	}
	if a.Work > 0 {
		b = m31.AppendBytes(b, p.Nonce[:])
	}
	var err error
	if p.Tree != nil {
		if b, err = p.Tree.AppendBinary(b); err != nil {
			return nil, err
		}
	}
	b = sumcheck.AppendWords(b, p.Leaves)
	for _, l := range p.Layers {
		b = sumcheck.AppendWords(b, l.Sent)
		if l.Batch != nil {
			if b, err = l.Batch.AppendBinary(b); err != nil {
				return nil, err
			}
		}
	}
	if p.Merge != nil {
		if b, err = p.Merge.AppendBinary(b); err != nil {
			return nil, err
		}
	}
	for _, h := range a.Plan.Order() {
		if int(h) >= len(p.Openings) || p.Openings[h] == nil {
			continue
		}
		o := p.Openings[h]
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		if b, err = a.Commitments[h].AppendProof(b, o); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	return b, nil
}

// cursor reads a proof; the first error sticks.
type cursor struct {
	data []byte
	err  error
}

func (c *cursor) take(what string, n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > len(c.data) {
		c.err = fmt.Errorf("%s: truncated: %d bytes left, want %d", what, len(c.data), n)
		return nil
	}
	out := c.data[:n]
	c.data = c.data[n:]
	return out
}

func (c *cursor) fail(what string, err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("%s: %w", what, err)
	}
}

func (c *cursor) words(what string, dst []m31.Element) {
	if b := c.take(what, 4*len(dst)); b != nil {
		c.fail(what, m31.Decode(dst, b))
	}
}

func (c *cursor) elements(what string, n int) []m31.QM31 {
	b := c.take(what, 16*n)
	if b == nil {
		return nil
	}
	v, err := sumcheck.ReadWords(b, n)
	c.fail(what, err)
	return v
}

func (c *cursor) batch(what string, shapes []sumcheck.Shape) *sumcheck.Proof {
	b := c.take(what, 4*sumcheck.Words(shapes))
	if b == nil {
		return nil
	}
	p, err := sumcheck.DecodeProof(shapes, b)
	c.fail(what, err)
	return p
}

// DecodeProof reads a proof from exactly data. All lengths but those of the
// openings' hash paths follow from the argument.
func (a *Argument) DecodeProof(data []byte) (*Proof, error) {
	c := &cursor{data: data}
	p := &Proof{Openings: make([]*whir.M31Proof, len(a.Commitments))}
	for _, h := range a.sent() {
		c.words("root of "+h.String(), p.Roots[h][:])
	}
	if a.Work > 0 {
		c.words("nonce", p.Nonce[:])
	}
	if len(a.Plan.Leaves) > 0 {
		n := a.Plan.TreeVars
		if b := c.take("lookups", 4*logup.Words(n)); b != nil {
			var err error
			p.Tree, err = logup.DecodeProof(n, b)
			c.fail("lookups", err)
		}
		p.Leaves = c.elements("leaf evaluations", len(a.Plan.LeafSent))
	}
	for i := range a.Plan.Layers {
		l := &a.Plan.Layers[i]
		what := fmt.Sprintf("layer %d", i)
		lp := LayerProof{Sent: c.elements(what, len(l.Sent))}
		if len(l.Instances) > 0 {
			lp.Batch = c.batch(what, l.Shapes())
		}
		p.Layers = append(p.Layers, lp)
	}
	if shapes := a.Plan.MergeShapes(); len(shapes) > 0 {
		p.Merge = c.batch(CheckMerge, shapes)
	}
	for _, h := range a.Plan.Order() {
		params := a.Commitments[h]
		if params == nil {
			continue
		}
		what := openingCheck(a.Plan, h)
		size := c.take(what, 4)
		if size == nil {
			break
		}
		if b := c.take(what, int(binary.LittleEndian.Uint32(size))); b != nil {
			var err error
			p.Openings[h], err = params.DecodeProof(1, b)
			c.fail(what, err)
		}
	}
	if c.err == nil && len(c.data) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.data))
	}
	if c.err != nil {
		return nil, reject(CheckFormat, c.err)
	}
	return p, nil
}
