package merkle

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

// OpeningOf is a proof of some rows of a tree: the distinct rows in ascending
// order, one after the other, and the digests that the verifier lacks, level by
// level from the leaves up, each level from left to right.
type OpeningOf[W field.Base[W]] struct {
	Rows     []W
	Siblings []DigestOf[W]
}

// Opening is one of a Poseidon2 tree over Mersenne-31.
type Opening = OpeningOf[m31.Element]

// Verify is that of M31.
func (s Shape) Verify(root Digest, indices []int, o *Opening) ([][]m31.Element, error) {
	return m31Hash.Verify(s, root, indices, o)
}

// Verify checks that o holds the rows at the given indices, which may repeat
// and come in any order, of the tree of this shape with this root. It returns
// one row for each index, in the order given; they share o's memory. What the
// opening must consist of follows from shape and indices alone: nothing may be
// missing or left over. With no indices only an empty opening is accepted.
func (h *Hash[W]) Verify(s Shape, root DigestOf[W], indices []int, o *OpeningOf[W]) ([][]W, error) {
	if err := s.check(indices); err != nil {
		return nil, err
	}
	known := Distinct(indices)
	missing := s.countMissing(known)
	if len(o.Rows) != len(known)*s.RowWords {
		return nil, fmt.Errorf("%w: %d for %d rows of %d", ErrRows, len(o.Rows), len(known), s.RowWords)
	}
	if len(o.Siblings) != missing {
		return nil, fmt.Errorf("%w: %d, want %d", ErrSiblings, len(o.Siblings), missing)
	}
	if err := checkCanonical(o.Rows); err != nil {
		return nil, fmt.Errorf("%w: rows: %w", ErrWords, err)
	}
	if !h.raw {
		if err := checkCanonical(Words(o.Siblings)); err != nil {
			return nil, fmt.Errorf("%w: siblings: %w", ErrWords, err)
		}
	}
	if len(known) == 0 {
		return [][]W{}, nil
	}

	out := make([][]W, len(indices))
	for i, index := range indices {
		at, _ := slices.BinarySearch(known, index)
		out[i] = o.Rows[at*s.RowWords : (at+1)*s.RowWords : (at+1)*s.RowWords]
	}
	if h.rootOf(s, known, o) != root {
		return nil, ErrRoot
	}
	return out, nil
}

// rootOf is the root that the rows of known indices and the siblings hash to. It
// overwrites known.
func (h *Hash[W]) rootOf(s Shape, known []int, o *OpeningOf[W]) DigestOf[W] {
	digests := make([]DigestOf[W], len(known))
	h.engine.rows(digests, matrix[W]{o.Rows, Shape{Rows: len(known), RowWords: s.RowWords}, RowMajor()}, 0)
	rest := o.Siblings
	var children []DigestOf[W]
	for _, a := range s.Arities() {
		children = children[:0]
		known = walk(known, a, func(parent, lo, hi int) {
			members := known[lo:hi]
			for c := parent * a; c < (parent+1)*a; c++ {
				if len(members) > 0 && members[0] == c {
					children = append(children, digests[hi-len(members)])
					members = members[1:]
				} else {
					children = append(children, rest[0])
					rest = rest[1:]
				}
			}
		})
		digests = digests[:len(known)]
		h.engine.nodes(digests, children, a)
	}
	return digests[0]
}
