package merkle

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Opening is a proof of some rows of a tree: the distinct rows in ascending
// order, one after the other, and the digests that the verifier lacks, level by
// level from the leaves up, each level from left to right.
type Opening struct {
	Rows     []m31.Element
	Siblings []Digest
}

// Verify checks that o holds the rows at the given indices, which may repeat
// and come in any order, of the tree of this shape with this root. It returns
// one row for each index, in the order given; they share o's memory. What the
// opening must consist of follows from shape and indices alone: nothing may be
// missing or left over. With no indices only an empty opening is accepted.
func (s Shape) Verify(root Digest, indices []int, o *Opening) ([][]m31.Element, error) {
	missing, err := s.Missing(indices)
	if err != nil {
		return nil, err
	}
	known := Distinct(indices)
	if len(o.Rows) != len(known)*s.RowWords {
		return nil, fmt.Errorf("%w: %d for %d rows of %d", ErrRows, len(o.Rows), len(known), s.RowWords)
	}
	if len(o.Siblings) != len(missing) {
		return nil, fmt.Errorf("%w: %d, want %d", ErrSiblings, len(o.Siblings), len(missing))
	}
	if err := m31.CheckCanonical(o.Rows); err != nil {
		return nil, fmt.Errorf("%w: rows: %w", ErrWords, err)
	}
	for i := range o.Siblings {
		if err := m31.CheckCanonical(o.Siblings[i][:]); err != nil {
			return nil, fmt.Errorf("%w: sibling %d: %w", ErrWords, i, err)
		}
	}
	if len(known) == 0 {
		return [][]m31.Element{}, nil
	}

	rowOf := make(map[int][]m31.Element, len(known))
	digests := make([]Digest, len(known))
	for i, index := range known {
		row := o.Rows[i*s.RowWords : (i+1)*s.RowWords : (i+1)*s.RowWords]
		rowOf[index] = row
		digests[i] = HashRow(row)
	}
	rest := o.Siblings
	var group [8]Digest
	for _, a := range s.Arities() {
		at := 0
		// parents are written behind what is still to be read: at <= lo.
		known = walk(known, a, func(parent, lo, hi int) {
			for c := range a {
				if lo < hi && known[lo] == parent*a+c {
					group[c] = digests[lo]
					lo++
				} else {
					group[c], rest = rest[0], rest[1:]
				}
			}
			digests[at] = HashNode(group[:a])
			at++
		})
		digests = digests[:at]
	}
	if digests[0] != root {
		return nil, ErrRoot
	}
	out := make([][]m31.Element, len(indices))
	for i, index := range indices {
		out[i] = rowOf[index]
	}
	return out, nil
}
