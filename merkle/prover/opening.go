package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
)

// Open waits for the queue and returns the opening of the rows at the given
// indices; words and l are what the tree was built from. One gather and one
// copy each bring rows and digests to the host.
func (t *Tree) Open(words device.Buffer[m31.Element], l merkle.Layout, indices []int) (*merkle.Opening, error) {
	if err := l.Check(t.shape, words.Len()); err != nil {
		return nil, err
	}
	missing, err := t.shape.Missing(indices)
	if err != nil {
		return nil, err
	}
	known := merkle.Distinct(indices)
	o := &merkle.Opening{
		Rows:     make([]m31.Element, len(known)*t.shape.RowWords),
		Siblings: make([]merkle.Digest, len(missing)),
	}
	if t.q.OnHost() {
		if err := errors.Join(words.Use(t.q), t.digests.Use(t.q)); err != nil {
			return nil, err
		}
		for i, r := range known {
			merkle.AppendRow(o.Rows[:i*t.shape.RowWords], words.Host(), t.shape, l, r)
		}
		for i, n := range missing {
			o.Siblings[i] = t.level(n.Level).Host()[n.Index]
		}
		return o, nil
	}
	positions := make([]uint64, 0, len(known)+len(missing))
	for _, r := range known {
		positions = append(positions, uint64(l.Index(t.shape, r)))
	}
	for _, n := range missing {
		positions = append(positions, uint64(t.starts[n.Level]+n.Index))
	}
	if err := t.gather(o, words, l, positions, len(known)); err != nil {
		return nil, fmt.Errorf("open %d rows: %w", len(known), err)
	}
	return o, nil
}

// gather fetches rows at the first n positions and digests at the others.
func (t *Tree) gather(o *merkle.Opening, words device.Buffer[m31.Element], l merkle.Layout, positions []uint64, n int) error {
	q := t.q
	if n == 0 {
		return q.Err()
	}
	at, err := device.Upload(q, positions)
	if err != nil {
		return err
	}
	defer at.Free()
	rows, err := device.Alloc[m31.Element](q, len(o.Rows))
	if err != nil {
		return err
	}
	defer rows.Free()
	args := append([]device.Arg{rows.Arg(), words.Arg(), at.Arg(), device.U64(n)}, layoutArgs(t.shape, l)...)
	if err := launch(q, "merkle_gather_rows", len(o.Rows), args...); err != nil {
		return err
	}
	if m := len(o.Siblings); m > 0 {
		digests, err := device.Alloc[merkle.Digest](q, m)
		if err != nil {
			return err
		}
		defer digests.Free()
		if err := launch(q, "merkle_gather_digests", m, digests.Arg(), t.digests.Arg(), at.Slice(n, n+m).Arg(), device.U64(m)); err != nil {
			return err
		}
		if err := digests.CopyTo(q, o.Siblings); err != nil {
			return err
		}
	}
	return rows.CopyTo(q, o.Rows)
}
