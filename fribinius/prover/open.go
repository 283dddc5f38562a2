package prover

import (
	"context"
	"errors"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/merkle"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
	"github.com/zkwarp/zkwarp/ntt/additive"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// opening is one run of Open.
type opening struct {
	ctx   context.Context
	q     *device.Queue
	p     *fribinius.Params
	c     *Committed
	tr    *tower.Transcript
	point []gf2.Element

	value gf2.Element
	proof *fribinius.Proof

	eq     device.Buffer[gf2.Element] // eq(z, y), z being the point's first coordinates
	layers []layer
}

// layer is a committed word and its tree; the first one's are the Committed's.
type layer struct {
	word device.Buffer[gf2.Element]
	tree *tree
}

func (o *opening) err() error { return errors.Join(o.ctx.Err(), o.q.Err()) }

func (o *opening) free() {
	o.eq.Free()
	if len(o.layers) > 0 {
		for _, l := range o.layers[1:] {
			l.word.Free()
			if l.tree != nil {
				l.tree.Free()
			}
		}
	}
}

func (o *opening) run() error {
	o.layers = []layer{{o.c.word, o.c.tree}}
	o.proof = &fribinius.Proof{Roots: make([]fribinius.Root, len(o.p.Layers())-1)}
	batch, err := o.ringSwitch()
	if err != nil {
		return err
	}
	if o.q.OnHost() {
		err = o.foldHost(batch)
	} else {
		err = o.foldDevice(batch)
	}
	if err != nil {
		return err
	}
	return o.query()
}

// ringSwitch computes the partial evaluations, and with them the value, absorbs both,
// and draws the challenges that combine the 128 claims about the packed polynomial.
func (o *opening) ringSwitch() (batch []gf2.Element, err error) {
	defer o.q.Span("ring switching")()
	n := o.p.MessageVars()
	if o.eq, err = device.Alloc[gf2.Element](o.q, 1<<n); err != nil {
		return nil, err
	}
	if err := expand(o.q, o.eq, o.point[:n]); err != nil {
		return nil, err
	}
	if o.proof.Partial, err = partial(o.q, o.eq, o.c.message); err != nil {
		return nil, err
	}
	o.value = fribinius.Combine(o.proof.Partial, o.point[n:])
	o.p.AbsorbStatement(o.tr, o.c.root, o.point, o.value)
	o.tr.Absorb(o.proof.Partial)
	return o.tr.Challenges(fribinius.Packing), o.err()
}

// foldHost runs the sum-check on the tables of the weight and of the message, and
// encodes the message anew for each layer: that gives what folding the word before
// would, by fewer products.
func (o *opening) foldHost(batch []gf2.Element) (err error) {
	defer o.q.Span("sum-check")()
	message := o.c.message.Host()
	var t *tables
	rounds := func(n int) error {
		for range n {
			if err := o.err(); err != nil {
				return err
			}
			if t == nil {
				t, err = begin(o.q, o.eq.Host(), message, batch)
			} else {
				t, err = t.next(o.q)
			}
			if err != nil {
				return err
			}
			m, err := t.sums(o.q)
			if err != nil {
				return err
			}
			o.proof.Rounds = append(o.proof.Rounds, m)
			o.tr.Absorb([]gf2.Element{m.AtZero, m.Lead})
			if err := t.fold(o.q, o.tr.Challenge().Polyval()); err != nil {
				return err
			}
		}
		return nil
	}
	for i, l := range o.p.Layers() {
		if i > 0 {
			if err := o.layerHost(i, message); err != nil {
				return err
			}
		}
		if err := rounds(l.Fold); err != nil {
			return err
		}
		if t != nil {
			if message, err = t.folded(o.q); err != nil {
				return err
			}
		}
	}
	o.proof.Final = append([]gf2.Element(nil), message...)
	o.tr.Absorb(o.proof.Final)
	return rounds(o.p.FinalVars())
}

// layerHost commits to a layer.
func (o *opening) layerHost(i int, message []gf2.Element) error {
	word, err := device.Alloc[gf2.Element](o.q, len(message)<<o.p.LogInvRate())
	if err != nil {
		return err
	}
	o.layers = append(o.layers, layer{word: word})
	if err := additive.EncodeContext(o.ctx, word.Host(), message); err != nil {
		return err
	}
	if o.layers[i].tree, err = hashTree(o.q, o.p, i, word); err != nil {
		return err
	}
	root, err := readRoot(o.q, o.layers[i].tree)
	o.proof.Roots[i-1] = root
	o.tr.AbsorbWords(root[:])
	return err
}

// query opens all layers at random places.
func (o *opening) query() error {
	defer o.q.Span("queries")()
	sampled, err := o.tr.Indices(o.p.Queries(), o.p.LogLeaves(0))
	if err != nil {
		return err
	}
	indices := make([]int, len(sampled))
	for i, s := range sampled {
		indices[i] = int(s)
	}
	requests := make([]merkleprover.Request[merkle.Word], len(o.layers))
	for i, l := range o.p.Layers() {
		if i > 0 {
			indices = slices.Clone(indices)
			for k := range indices {
				indices[k] >>= l.Fold
			}
		}
		requests[i] = merkleprover.Request[merkle.Word]{Tree: o.layers[i].tree, Words: device.View[merkle.Word](o.layers[i].word), Layout: merkle.RowMajor(), Indices: indices}
	}
	opened, err := merkleprover.OpenAll(o.q, requests)
	if err != nil {
		return err
	}
	for _, opening := range opened {
		o.proof.Openings = append(o.proof.Openings, *opening)
	}
	return o.err()
}
