// Package prover hashes matrices to trees where they lie, on the device, with
// the digests of package merkle. Words are the field's as in Go's memory.
package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
)

// TreeOf is the digests of all nodes in device memory. It keeps no rows.
type TreeOf[W field.Base[W]] struct {
	q       *device.Queue
	hash    *merkle.Hash[W]
	shape   merkle.Shape
	digests device.Buffer[merkle.DigestOf[W]] // level after level, leaves first
	arrived device.Buffer[uint32]             // a word behind them, for the kernels
	starts  []int                             // of each level in digests
}

// Tree is one of Poseidon2 over Mersenne-31.
type Tree = TreeOf[m31.Element]

// levelStarts is where each level starts when they lie one after the other,
// and where the last one ends.
func levelStarts(s merkle.Shape) []int {
	starts := []int{0, s.Rows}
	n := s.Rows
	for _, a := range s.Arities() {
		n /= a
		starts = append(starts, starts[len(starts)-1]+n)
	}
	return starts
}

// Build enqueues the hashing of a matrix to a tree.
func Build[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], words device.Buffer[W], s merkle.Shape, l merkle.Layout) (*TreeOf[W], error) {
	if err := l.Check(s, words.Len()); err != nil {
		return nil, err
	}
	starts := levelStarts(s)
	n := starts[len(starts)-1]
	digests, err := device.Alloc[merkle.DigestOf[W]](q, n+1)
	if err != nil {
		return nil, fmt.Errorf("hash tree of %d rows: %w", s.Rows, err)
	}
	t := &TreeOf[W]{q: q, hash: h, shape: s, starts: starts,
		digests: digests.Slice(0, n), arrived: device.View[uint32](digests.Slice(n, n+1)).Slice(0, 1)}
	if err := t.build(words, l); err != nil {
		t.Free()
		return nil, fmt.Errorf("hash tree of %d rows: %w", s.Rows, err)
	}
	return t, nil
}

func (t *TreeOf[W]) level(k int) device.Buffer[merkle.DigestOf[W]] {
	return t.digests.Slice(t.starts[k], t.starts[k+1])
}

func (t *TreeOf[W]) build(words device.Buffer[W], l merkle.Layout) error {
	if t.q.OnHost() {
		if err := words.Use(t.q); err != nil {
			return err
		}
		if err := t.hash.Leaves(t.level(0).Host(), words.Host(), t.shape, l); err != nil {
			return err
		}
		for k, a := range t.shape.Arities() {
			if err := t.q.Err(); err != nil {
				return err
			}
			t.hash.Level(t.level(k+1).Host(), t.level(k).Host(), a)
		}
		return nil
	}
	if err := leaves(t.q, t.hash, t.level(0), words, t.arrived, t.shape, l); err != nil {
		return err
	}
	for k, a := range t.shape.Arities() {
		below := t.level(k)
		if below.Len() <= topDigests {
			return top(t.q, t.hash, t.digests.Slice(t.starts[k+1], t.digests.Len()), below, t.arrived, t.shape.Arity)
		}
		if err := level(t.q, t.hash, t.level(k+1), below, a); err != nil {
			return err
		}
	}
	return nil
}

// Root is the root's eight words in device memory, a part of the tree.
func (t *TreeOf[W]) Root() device.Buffer[W] {
	n := t.digests.Len()
	return device.View[W](t.digests.Slice(n-1, n))
}

// Shape of the tree.
func (t *TreeOf[W]) Shape() merkle.Shape { return t.shape }

// Free gives the tree's memory back.
func (t *TreeOf[W]) Free() { t.digests.Free() }
