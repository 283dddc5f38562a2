package merkle

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// TreeOf holds the digests of all nodes, on the host. It keeps no rows.
type TreeOf[W field.Base[W]] struct {
	shape  Shape
	levels [][]DigestOf[W] // leaves first, the root last
}

// Tree is one of Poseidon2 over Mersenne-31.
type Tree = TreeOf[m31.Element]

// grain is how many permutations are worth another core: some 50 microseconds.
const grain = 512

// maxParts is about how many subtrees Build shares out.
const maxParts = 128

// Leaves is that of M31.
func Leaves(dst []Digest, words []m31.Element, s Shape, l Layout) error {
	return m31Hash.Leaves(dst, words, s, l)
}

// Leaves hashes all rows of the matrix, on all cores.
func (h *Hash[W]) Leaves(dst []DigestOf[W], words []W, s Shape, l Layout) error {
	if err := l.Check(s, len(words)); err != nil {
		return err
	}
	if len(dst) != s.Rows {
		return fmt.Errorf("%w: %d digests for %d rows", ErrShape, len(dst), s.Rows)
	}
	m := matrix[W]{words, s, l}
	const most = 16 // rows at a time: as many as fill any permutation's lanes
	parallel.For((s.Rows+most-1)/most, max(1, 8*grain/(most*max(8, s.RowWords))), func(lo, hi int) {
		lo, hi = lo*most, min(hi*most, s.Rows)
		if !l.Reversed {
			h.engine.rows(dst[lo:hi], m, lo)
			return
		}
		var some [most]DigestOf[W]
		for ; lo < hi; lo += most {
			n := min(most, hi-lo)
			h.engine.rows(some[:n], m, lo)
			for i, d := range some[:n] {
				dst[l.Index(s, lo+i)] = d
			}
		}
	})
	return nil
}

// Level is that of M31.
func Level(dst, src []Digest, arity int) { m31Hash.Level(dst, src, arity) }

// Level hashes groups of children to the nodes above them, on all cores; src
// has arity times as many digests as dst, and the two do not overlap.
func (h *Hash[W]) Level(dst, src []DigestOf[W], arity int) {
	parallel.For(len(dst), max(16, 2*grain/arity), func(lo, hi int) {
		h.engine.nodes(dst[lo:hi], src[lo*arity:hi*arity], arity)
	})
}

// Build is that of M31.
func Build(words []m31.Element, s Shape, l Layout) (*Tree, error) {
	return m31Hash.Build(words, s, l)
}

// Build hashes a matrix to a tree.
func (h *Hash[W]) Build(words []W, s Shape, l Layout) (*TreeOf[W], error) {
	if err := l.Check(s, len(words)); err != nil {
		return nil, err
	}
	t := &TreeOf[W]{shape: s, levels: [][]DigestOf[W]{make([]DigestOf[W], s.Rows)}}
	arities := s.Arities()
	// Cores take subtrees: one loop for all levels but the last ones.
	top, parts := 0, s.Rows
	for i, a := range arities {
		n := len(t.levels[i]) / a
		t.levels = append(t.levels, make([]DigestOf[W], n))
		if parts > maxParts {
			top, parts = i+1, n
		}
	}
	// Reversed, the rows of a subtree lie far apart, but those that are read one
	// after the other do not.
	if l.Reversed {
		if err := h.Leaves(t.levels[0], words, s, l); err != nil {
			return nil, err
		}
	}
	leaves := s.Rows / parts
	parallel.For(parts, max(1, 8*grain/(leaves*max(8, s.RowWords))), func(lo, hi int) {
		if !l.Reversed {
			h.engine.rows(t.levels[0][lo*leaves:hi*leaves], matrix[W]{words, s, l}, lo*leaves)
		}
		for i := range top {
			n := len(t.levels[i+1]) / parts
			h.nodes(t, i, arities[i], lo*n, hi*n)
		}
	})
	for i := top; i < len(arities); i++ {
		h.nodes(t, i, arities[i], 0, len(t.levels[i+1]))
	}
	return t, nil
}

// nodes hashes the nodes [lo, hi) above level i of t.
func (h *Hash[W]) nodes(t *TreeOf[W], i, arity, lo, hi int) {
	h.engine.nodes(t.levels[i+1][lo:hi], t.levels[i][lo*arity:hi*arity], arity)
}

// FromLevels is the tree of digests computed elsewhere: the leaves, and then
// each level of nodes up to the root. It shares their memory.
func FromLevels[W field.Base[W]](s Shape, levels [][]DigestOf[W]) (*TreeOf[W], error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	n := s.Rows
	arities := s.Arities()
	if len(levels) != len(arities)+1 {
		return nil, fmt.Errorf("%w: %d levels, want %d", ErrShape, len(levels), len(arities)+1)
	}
	for i, level := range levels {
		if i > 0 {
			n /= arities[i-1]
		}
		if len(level) != n {
			return nil, fmt.Errorf("%w: level %d has %d digests, want %d", ErrShape, i, len(level), n)
		}
	}
	return &TreeOf[W]{shape: s, levels: levels}, nil
}

// Root is that of M31.
func Root(words []m31.Element, s Shape, l Layout) (Digest, error) { return m31Hash.Root(words, s, l) }

// Root of the matrix's tree, without keeping inner levels: memory for two
// levels at most.
func (h *Hash[W]) Root(words []W, s Shape, l Layout) (DigestOf[W], error) {
	if err := l.Check(s, len(words)); err != nil {
		return DigestOf[W]{}, err
	}
	level := make([]DigestOf[W], s.Rows)
	if err := h.Leaves(level, words, s, l); err != nil {
		return DigestOf[W]{}, err
	}
	for _, a := range s.Arities() {
		up := make([]DigestOf[W], len(level)/a)
		h.Level(up, level, a)
		level = up
	}
	return level[0], nil
}

// Shape of the tree.
func (t *TreeOf[W]) Shape() Shape { return t.shape }

// Root of the tree.
func (t *TreeOf[W]) Root() DigestOf[W] { return t.levels[len(t.levels)-1][0] }

// Siblings are the digests that an opening of these rows consists of besides
// the rows.
func (t *TreeOf[W]) Siblings(indices []int) ([]DigestOf[W], error) {
	missing, err := t.shape.Missing(indices)
	if err != nil {
		return nil, err
	}
	out := make([]DigestOf[W], len(missing))
	for i, n := range missing {
		out[i] = t.levels[n.Level][n.Index]
	}
	return out, nil
}

// Open is the opening of the rows at the given indices; words and l are what
// the tree was built from.
func (t *TreeOf[W]) Open(words []W, l Layout, indices []int) (*OpeningOf[W], error) {
	if err := l.Check(t.shape, len(words)); err != nil {
		return nil, err
	}
	siblings, err := t.Siblings(indices)
	if err != nil {
		return nil, err
	}
	distinct := Distinct(indices)
	o := &OpeningOf[W]{Siblings: siblings, Rows: make([]W, 0, len(distinct)*t.shape.RowWords)}
	for _, i := range distinct {
		o.Rows = AppendRow(o.Rows, words, t.shape, l, i)
	}
	return o, nil
}
