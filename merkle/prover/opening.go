package prover

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
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
	known, missing, err := t.check(q, words, l, indices)
	if err != nil {
		return nil, err
	}
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
	if p.found, err = t.gather(q, words, l, t.positions(nil, l, known, missing), len(known)); err != nil {
		return nil, fmt.Errorf("open %d rows: %w", len(known), err)
	}
	return p, nil
}

// Request is rows of a tree to be opened, as in Gather.
type Request[W field.Base[W]] struct {
	Tree    *TreeOf[W]
	Words   device.Buffer[W]
	Layout  merkle.Layout
	Indices []int
}

// OpenAll opens rows of several trees, which are on q's device, by one copy of positions
// to it and one of all rows and digests back.
func OpenAll[W field.Base[W]](q *device.Queue, requests []Request[W]) ([]*merkle.OpeningOf[W], error) {
	out := make([]*merkle.OpeningOf[W], len(requests))
	if q.OnHost() {
		for i, r := range requests {
			p, err := r.Tree.Gather(q, r.Words, r.Layout, r.Indices)
			if err != nil {
				return nil, err
			}
			out[i] = p.opening
		}
		return out, q.Err()
	}
	rows, parts, errs := make([]int, len(requests)), make([][]uint64, len(requests)), make([]error, len(requests))
	parallel.For(len(requests), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := &requests[i]
			known, missing, err := r.Tree.check(q, r.Words, r.Layout, r.Indices)
			if err != nil {
				errs[i] = err
				continue
			}
			rows[i] = len(known)
			out[i] = &merkle.OpeningOf[W]{Rows: make([]W, len(known)*r.Tree.shape.RowWords), Siblings: make([]merkle.DigestOf[W], len(missing))}
			parts[i] = r.Tree.positions(make([]uint64, 0, len(known)+len(missing)), r.Layout, known, missing)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	positions, total := slices.Concat(parts...), 0
	for _, o := range out {
		total += len(o.Rows) + digestWords*len(o.Siblings)
	}
	if total == 0 {
		return out, q.Err()
	}
	found, err := device.Alloc[W](q, total)
	if err != nil {
		return nil, fmt.Errorf("open rows of %d trees: %w", len(requests), err)
	}
	defer found.Free()
	at, err := device.Upload(q, positions)
	if err != nil {
		return nil, fmt.Errorf("open rows of %d trees: %w", len(requests), err)
	}
	defer at.Free()
	word, position := 0, 0
	for i, r := range requests {
		words := len(out[i].Rows) + digestWords*len(out[i].Siblings)
		n := rows[i] + len(out[i].Siblings)
		if n > 0 {
			if err := r.Tree.launchGather(q, found.Slice(word, word+words), r.Words, r.Layout, at.Slice(position, position+n), rows[i]); err != nil {
				return nil, fmt.Errorf("open %d rows: %w", rows[i], err)
			}
		}
		word += words
		position += n
	}
	all, err := found.Read(q)
	if err != nil {
		return nil, fmt.Errorf("open rows of %d trees: %w", len(requests), err)
	}
	for _, o := range out {
		all = all[copy(o.Rows, all):]
		all = all[copy(merkle.Words(o.Siblings), all):]
	}
	return out, nil
}

// check is what Gather and OpenAll want to hold: it returns the distinct rows and the
// missing nodes.
func (t *TreeOf[W]) check(q *device.Queue, words device.Buffer[W], l merkle.Layout, indices []int) (known []int, missing []merkle.Node, err error) {
	if err := l.Check(t.shape, words.Len()); err != nil {
		return nil, nil, err
	}
	if missing, err = t.shape.Missing(indices); err != nil {
		return nil, nil, err
	}
	return merkle.Distinct(indices), missing, errors.Join(words.Use(q), t.digests.Use(q))
}

// positions appends where rows lie in a matrix, and nodes in the tree.
func (t *TreeOf[W]) positions(dst []uint64, l merkle.Layout, known []int, missing []merkle.Node) []uint64 {
	for _, r := range known {
		dst = append(dst, uint64(l.Index(t.shape, r)))
	}
	for _, n := range missing {
		dst = append(dst, uint64(t.starts[n.Level]+n.Index))
	}
	return dst
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
	err = t.launchGather(q, found, words, l, at, n)
	if err != nil {
		found.Free()
	}
	return found, err
}

// launchGather enqueues the kernel: of the positions the first n are rows'.
func (t *TreeOf[W]) launchGather(q *device.Queue, found, words device.Buffer[W], l merkle.Layout, at device.Buffer[uint64], n int) error {
	return q.Launch(device.Kernel{Source: gatherer, Name: "merkle_gather"}, device.D1(device.Blocks(found.Len(), threads)), device.D1(threads), 0,
		found.Arg(), words.Arg(), t.digests.Arg(), at.Arg(), device.U64(n), device.U64(at.Len()-n),
		device.U64(t.shape.Rows), device.U32(t.shape.RowWords), device.U32(symbolOf(l)))
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
