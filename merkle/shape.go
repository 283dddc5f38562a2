// Package merkle is hash trees: the leaves are the rows of a matrix over a prime
// field of 31 bits, a power of two of them, and nodes have 2, 4 or 8 children. A Hash
// says by what they are hashed: Poseidon2 over the field, BLAKE3 or SHA-256. What
// takes no Hash is Poseidon2 over Mersenne-31.
//
// If the number of levels below the root is not a multiple of the arity's
// logarithm, the root alone has fewer children (2 or 4), and is hashed as a node
// of that arity.
//
// Rows are opened many at a time by one pruned proof, from which everything is
// left out that the verifier works out by itself.
package merkle

import (
	"errors"
	"fmt"
	"slices"
)

// Errors for errors.Is. ErrShape and ErrIndex are the caller's, the others say
// which check of a proof failed.
var (
	ErrShape    = errors.New("merkle: impossible shape")
	ErrIndex    = errors.New("merkle: index out of range")
	ErrRows     = errors.New("merkle: wrong number of row words")
	ErrSiblings = errors.New("merkle: wrong number of siblings")
	ErrWords    = errors.New("merkle: word not canonical")
	ErrRoot     = errors.New("merkle: rows do not hash to the root")
)

// MaxRowWords is the largest width of a row.
const MaxRowWords = 1<<16 - 1

// Shape is what prover and verifier agree on before: 2^k rows of RowWords words
// and the arity 2, 4 or 8.
type Shape struct{ Rows, RowWords, Arity int }

// Check says what is wrong with the shape, if anything.
func (s Shape) Check() error {
	switch {
	case s.Rows < 1 || s.Rows&(s.Rows-1) != 0 || s.Rows > 1<<30:
		return fmt.Errorf("%w: %d rows, want a power of two", ErrShape, s.Rows)
	case s.RowWords < 1 || s.RowWords > MaxRowWords:
		return fmt.Errorf("%w: rows of %d words", ErrShape, s.RowWords)
	case s.Arity != 2 && s.Arity != 4 && s.Arity != 8:
		return fmt.Errorf("%w: arity %d, want 2, 4 or 8", ErrShape, s.Arity)
	}
	return nil
}

// Arities lists the arity of each level of nodes, from the one above the
// leaves up to the root; it is empty when there is one row.
func (s Shape) Arities() []int {
	var out []int
	for n := s.Rows; n > 1; {
		a := min(s.Arity, n)
		out = append(out, a)
		n /= a
	}
	return out
}

// Depth is the number of levels of nodes above the leaves.
func (s Shape) Depth() int { return len(s.Arities()) }

// Distinct is the indices that an opening has rows of: ascending, each once.
func Distinct(indices []int) []int {
	d := slices.Clone(indices)
	slices.Sort(d)
	return slices.Compact(d)
}

// check also fails for indices that do not exist.
func (s Shape) check(indices []int) error {
	if err := s.Check(); err != nil {
		return err
	}
	for _, i := range indices {
		if i < 0 || i >= s.Rows {
			return fmt.Errorf("%w: row %d of %d", ErrIndex, i, s.Rows)
		}
	}
	return nil
}

// walk visits the groups of children that the known nodes of one level belong
// to. known is ascending and is replaced by the parents. visit gets the group
// and the position in known of its first member and after its last.
func walk(known []int, arity int, visit func(parent, lo, hi int)) []int {
	out := known[:0]
	for lo := 0; lo < len(known); {
		parent := known[lo] / arity
		hi := lo + 1
		for hi < len(known) && known[hi]/arity == parent {
			hi++
		}
		visit(parent, lo, hi)
		out = append(out, parent)
		lo = hi
	}
	return out
}

// Node is one node of a tree: level 0 is the leaves, and index counts from the
// left.
type Node struct{ Level, Index int }

// countMissing is how many nodes Missing lists for distinct indices, ascending.
func (s Shape) countMissing(known []int) int {
	n := 0
	known = slices.Clone(known)
	for _, a := range s.Arities() {
		known = walk(known, a, func(_, lo, hi int) { n += a - (hi - lo) })
	}
	return n
}

// Missing lists the nodes whose digests an opening of these rows carries, in
// its order: level by level from the leaves up, each from left to right.
func (s Shape) Missing(indices []int) ([]Node, error) {
	if err := s.check(indices); err != nil {
		return nil, err
	}
	known := Distinct(indices)
	out := make([]Node, 0, len(known)*s.Depth())
	for level, a := range s.Arities() {
		known = walk(known, a, func(parent, lo, hi int) {
			for c := parent * a; c < (parent+1)*a; c++ {
				if lo < hi && known[lo] == c {
					lo++
				} else {
					out = append(out, Node{level, c})
				}
			}
		})
	}
	return out, nil
}
