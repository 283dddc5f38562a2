package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/merkle"
)

const digestWords = len(merkle.Digest{})

// Root enqueues the hashing of a matrix to its root, which goes to dst, of
// eight words. Inner levels are not kept: it takes memory for the digests of
// the leaves and of the level above them.
func Root[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst, words device.Buffer[W], s merkle.Shape, l merkle.Layout) error {
	if err := l.Check(s, words.Len()); err != nil {
		return err
	}
	if err := checkRoot(dst); err != nil {
		return err
	}
	if err := root(q, h, dst, words, s, l); err != nil {
		return fmt.Errorf("hash root of %d rows: %w", s.Rows, err)
	}
	return nil
}

func checkRoot[W field.Base[W]](dst device.Buffer[W]) error {
	if dst.Len() != digestWords {
		return fmt.Errorf("%w: a root has %d words, the buffer %d", merkle.ErrShape, digestWords, dst.Len())
	}
	return nil
}

func root[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst, words device.Buffer[W], s merkle.Shape, l merkle.Layout) error {
	if q.OnHost() {
		if err := errors.Join(dst.Use(q), words.Use(q)); err != nil {
			return err
		}
		d, err := h.Root(words.Host(), s, l)
		copy(dst.Host(), d[:])
		return err
	}
	digests, err := device.Alloc[merkle.DigestOf[W]](q, s.Rows)
	if err != nil {
		return err
	}
	defer digests.Free()
	if err := leaves(q, h, digests, words, device.Buffer[uint32]{}, s, l); err != nil {
		return err
	}
	return climb(q, h, dst, digests, s)
}

// RootOfDigests enqueues the hashing of a power of two of digests, as the leaves
// of a tree of that arity, to its root, which goes to dst, of eight words. The
// digests stay as they are.
func RootOfDigests[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst device.Buffer[W], digests device.Buffer[merkle.DigestOf[W]], arity int) error {
	s := merkle.Shape{Rows: digests.Len(), RowWords: digestWords, Arity: arity}
	if err := s.Check(); err != nil {
		return err
	}
	if err := checkRoot(dst); err != nil {
		return err
	}
	if err := rootOfDigests(q, h, dst, digests, s); err != nil {
		return fmt.Errorf("hash root of %d digests: %w", s.Rows, err)
	}
	return nil
}

func rootOfDigests[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst device.Buffer[W], digests device.Buffer[merkle.DigestOf[W]], s merkle.Shape) error {
	if !q.OnHost() {
		return climb(q, h, dst, digests, s)
	}
	if err := errors.Join(dst.Use(q), digests.Use(q)); err != nil {
		return err
	}
	level := digests.Host()
	for _, a := range s.Arities() {
		if err := q.Err(); err != nil {
			return err
		}
		up := make([]merkle.DigestOf[W], len(level)/a)
		h.Level(up, level, a)
		level = up
	}
	copy(dst.Host(), level[0][:])
	return nil
}

// climb hashes the digests of the rows of s to the root, without changing them.
func climb[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst device.Buffer[W], digests device.Buffer[merkle.DigestOf[W]], s merkle.Shape) error {
	var held device.Buffer[merkle.DigestOf[W]] // digests, but for the caller's own
	defer func() { held.Free() }()
	up := func(n int, hash func(out device.Buffer[merkle.DigestOf[W]]) error) error {
		out, err := device.Alloc[merkle.DigestOf[W]](q, n)
		if err != nil {
			return err
		}
		err = hash(out)
		held.Free() // what is enqueued still finds it
		held, digests = out, out
		return err
	}
	for _, a := range s.Arities() {
		if digests.Len() <= topDigests {
			break
		}
		if err := up(digests.Len()/a, func(out device.Buffer[merkle.DigestOf[W]]) error { return level(q, h, out, digests, a) }); err != nil {
			return err
		}
	}
	if n := digests.Len(); n > 1 {
		starts := levelStarts(merkle.Shape{Rows: n, RowWords: 1, Arity: s.Arity})
		if err := up(starts[len(starts)-1]-n, func(out device.Buffer[merkle.DigestOf[W]]) error {
			return top(q, h, out, digests, device.Buffer[uint32]{}, s.Arity)
		}); err != nil {
			return err
		}
	}
	n := digests.Len()
	return device.Copy(q, dst, device.View[W](digests.Slice(n-1, n)))
}
