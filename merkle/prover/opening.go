package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/merkle"
)

// Pending is an opening that is being gathered on the device.
type Pending[W field.Base[W]] struct {
	opening *merkle.OpeningOf[W] // on the host already, or of the right lengths
	found   device.Buffer[W]     // the rows, and then the digests
}

// Open is Gather and Opening on the tree's own queue.
func (t *TreeOf[W]) Open(words device.Buffer[W], l merkle.Layout, indices []int) (*merkle.OpeningOf[W], error) {
	p, err := t.Gather(t.q, words, l, indices)
	if err != nil {
		return nil, err
	}
	return p.Opening(t.q)
}

// Gather enqueues the collection of the opening of the rows at the given indices,
// which may repeat; words and l are what the tree was built from. Nothing waits.
func (t *TreeOf[W]) Gather(q *device.Queue, words device.Buffer[W], l merkle.Layout, indices []int) (*Pending[W], error) {
	if err := l.Check(t.shape, words.Len()); err != nil {
		return nil, err
	}
	missing, err := t.shape.Missing(indices)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(words.Use(q), t.digests.Use(q)); err != nil {
		return nil, err
	}
	known := merkle.Distinct(indices)
	p := &Pending[W]{opening: &merkle.OpeningOf[W]{
		Rows:     make([]W, len(known)*t.shape.RowWords),
		Siblings: make([]merkle.DigestOf[W], len(missing)),
	}}
	if q.OnHost() {
		for i, r := range known {
			merkle.AppendRow(p.opening.Rows[:i*t.shape.RowWords], words.Host(), t.shape, l, r)
		}
		for i, n := range missing {
			p.opening.Siblings[i] = t.level(n.Level).Host()[n.Index]
		}
		return p, nil
	}
	if len(known) == 0 {
		return p, nil
	}
	positions := make([]uint64, 0, len(known)+len(missing))
	for _, r := range known {
		positions = append(positions, uint64(l.Index(t.shape, r)))
	}
	for _, n := range missing {
		positions = append(positions, uint64(t.starts[n.Level]+n.Index))
	}
	if p.found, err = t.gather(q, words, l, positions, len(known)); err != nil {
		return nil, fmt.Errorf("open %d rows: %w", len(known), err)
	}
	return p, nil
}

// gather collects rows at the first n positions and digests at the others.
func (t *TreeOf[W]) gather(q *device.Queue, words device.Buffer[W], l merkle.Layout, positions []uint64, n int) (device.Buffer[W], error) {
	digests := len(positions) - n
	found, err := device.Alloc[W](q, n*t.shape.RowWords+digests*digestWords)
	if err != nil {
		return found, err
	}
	at, err := device.Upload(q, positions)
	if err != nil {
		found.Free()
		return found, err
	}
	defer at.Free()
	err = q.Launch(device.Kernel{Source: gatherer, Name: "merkle_gather"}, device.D1(device.Blocks(found.Len(), threads)), device.D1(threads), 0,
		found.Arg(), words.Arg(), t.digests.Arg(), at.Arg(), device.U64(n), device.U64(digests),
		device.U64(t.shape.Rows), device.U32(t.shape.RowWords), device.U32(symbolOf(l)))
	if err != nil {
		found.Free()
	}
	return found, err
}

// Opening waits for the queue, by one copy to the host, and returns the opening. It
// may be called once.
func (p *Pending[W]) Opening(q *device.Queue) (*merkle.OpeningOf[W], error) {
	if p.found.Len() == 0 {
		return p.opening, q.Err()
	}
	defer p.found.Free()
	all, err := p.found.Read(q)
	if err != nil {
		return nil, fmt.Errorf("open rows: %w", err)
	}
	copy(merkle.Words(p.opening.Siblings), all[copy(p.opening.Rows, all):])
	return p.opening, nil
}

// Free gives the memory of an opening that nobody asks for back.
func (p *Pending[W]) Free() { p.found.Free() }
