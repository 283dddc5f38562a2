// Package prover commits to bits and opens the polynomial that they are the values of:
// the proving half of package fribinius.
package prover

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/merkle"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
	additive "github.com/zkwarp/zkwarp/ntt/additive/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// LengthError is a buffer or a point of the wrong length.
type LengthError struct {
	What      string
	Want, Got int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("fribinius: %s: length %d, want %d", e.What, e.Got, e.Want)
}

// AlignmentError is a buffer of bits that does not start at a multiple of 16 bytes, as
// the elements that the bits are packed to must.
type AlignmentError struct{ Got uint64 }

func (e *AlignmentError) Error() string {
	return fmt.Sprintf("fribinius: bits start %d bytes after a multiple of 16, want 0", e.Got)
}

// Committed is bits, their codeword and its hash tree, in a device's memory.
type Committed struct {
	q       *device.Queue
	p       *fribinius.Params
	message device.Buffer[gf2.Element] // the caller's bits
	encoder *additive.Encoder
	word    device.Buffer[gf2.Element]
	tree    *tree
	root    fribinius.Root
}

type tree = merkleprover.TreeOf[merkle.Word]

// Commit encodes 2^Vars bits, packed into words with the lowest bits first, hashes the
// codeword, and waits for the root. The buffer of bits is kept, not copied: it must
// stay as it is until Free.
func Commit(ctx context.Context, q *device.Queue, p *fribinius.Params, bits device.Buffer[uint32]) (*Committed, fribinius.Root, error) {
	if err := p.Check(); err != nil {
		return nil, fribinius.Root{}, err
	}
	if want := 1 << (p.Vars() - 5); bits.Len() != want {
		return nil, fribinius.Root{}, &LengthError{fmt.Sprintf("words of 2^%d bits", p.Vars()), want, bits.Len()}
	}
	if err := errors.Join(ctx.Err(), bits.Use(q)); err != nil {
		return nil, fribinius.Root{}, fmt.Errorf("commit to 2^%d bits: %w", p.Vars(), err)
	}
	if off := misaligned(bits); off != 0 {
		return nil, fribinius.Root{}, &AlignmentError{off}
	}
	c := &Committed{q: q, p: p, message: device.View[gf2.Element](bits)}
	if err := c.commit(ctx); err != nil {
		c.Free()
		return nil, fribinius.Root{}, fmt.Errorf("commit to 2^%d bits: %w", p.Vars(), err)
	}
	return c, c.root, nil
}

func (c *Committed) commit(ctx context.Context) (err error) {
	if c.word, err = device.Alloc[gf2.Element](c.q, c.message.Len()<<c.p.LogInvRate()); err != nil {
		return err
	}
	if c.encoder, err = additive.NewEncoder(c.q); err != nil {
		return err
	}
	if err := c.encoder.Encode(c.word, c.message); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.tree, err = hashTree(c.q, c.p, 0, c.word); err != nil {
		return err
	}
	c.root, err = readRoot(c.q, c.tree)
	return err
}

// hashTree hashes a layer's word.
func hashTree(q *device.Queue, p *fribinius.Params, layer int, word device.Buffer[gf2.Element]) (*tree, error) {
	return merkleprover.Build(q, fribinius.Hash(), device.View[merkle.Word](word), p.Tree(layer), merkle.RowMajor())
}

func readRoot(q *device.Queue, t *tree) (r fribinius.Root, err error) {
	words, err := t.Root().Read(q)
	for i, w := range words {
		r[i] = uint32(w)
	}
	return r, err
}

// Root is the commitment.
func (c *Committed) Root() fribinius.Root { return c.root }

// Params that the bits are committed to with.
func (c *Committed) Params() *fribinius.Params { return c.p }

// Free gives the memory of the codeword and its tree back. The bits stay the caller's.
func (c *Committed) Free() {
	c.word.Free()
	if c.encoder != nil {
		c.encoder.Free()
	}
	if c.tree != nil {
		c.tree.Free()
	}
}

// Open proves the value of the polynomial at a point, whose first coordinate belongs
// to the top bit of a bit's index, and returns it. The statement is absorbed here, as
// fribinius.Verify does; after an error the transcript is as it was. A Committed may be
// opened any number of times.
func (c *Committed) Open(ctx context.Context, tr *tower.Transcript, point []gf2.Element) (*fribinius.Proof, gf2.Element, error) {
	if len(point) != c.p.Vars() {
		return nil, gf2.Element{}, &LengthError{"coordinates of a point", c.p.Vars(), len(point)}
	}
	if err := errors.Join(ctx.Err(), c.message.Use(c.q), c.word.Use(c.q)); err != nil {
		return nil, gf2.Element{}, fmt.Errorf("open 2^%d bits: %w", c.p.Vars(), err)
	}
	o := &opening{ctx: ctx, q: c.q, p: c.p, c: c, tr: tr.Clone(), point: point}
	defer o.free()
	if err := o.run(); err != nil {
		return nil, gf2.Element{}, fmt.Errorf("open 2^%d bits: %w", c.p.Vars(), err)
	}
	*tr = *o.tr
	return o.proof, o.value, nil
}
