package merkle

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Tree holds the digests of all nodes, on the host. It keeps no rows.
type Tree struct {
	shape  Shape
	levels [][]Digest // leaves first, the root last
}

// grain is how many permutations are worth another core: some 50 microseconds.
const grain = 512

// maxParts is about how many subtrees Build shares out.
const maxParts = 128

// Leaves hashes all rows of the matrix, on all cores.
func Leaves(dst []Digest, words []m31.Element, s Shape, l Layout) error {
	if err := l.Check(s, len(words)); err != nil {
		return err
	}
	dst = dst[:s.Rows]
	parallel.For(s.Rows, max(lanes, 8*grain/max(8, s.RowWords)), func(lo, hi int) { leafRange(dst, words, s, l, lo, hi) })
	return nil
}

// leafRange hashes the rows [lo, hi).
func leafRange(dst []Digest, words []m31.Element, s Shape, l Layout, lo, hi int) {
	if !l.Columns {
		hashRows(dst[lo:hi], words[lo*s.RowWords:hi*s.RowWords], s.RowWords)
		return
	}
	// A few rows at a time are put together from the columns.
	var rows []m31.Element
	for ; lo < hi; lo += lanes {
		n := min(lanes, hi-lo)
		rows = rows[:0]
		for r := lo; r < lo+n; r++ {
			rows = l.Row(rows, words, s, r)
		}
		hashRows(dst[lo:lo+n], rows, s.RowWords)
	}
}

// Level hashes groups of children to the nodes above them, on all cores; src
// has arity times as many digests as dst, and the two do not overlap.
func Level(dst, src []Digest, arity int) {
	parallel.For(len(dst), max(lanes, 2*grain/arity), func(lo, hi int) {
		hashNodes(dst[lo:hi], src[lo*arity:hi*arity], arity)
	})
}

// Build hashes a matrix to a tree.
func Build(words []m31.Element, s Shape, l Layout) (*Tree, error) {
	if err := l.Check(s, len(words)); err != nil {
		return nil, err
	}
	t := &Tree{shape: s, levels: [][]Digest{make([]Digest, s.Rows)}}
	arities := s.Arities()
	// Cores take subtrees: one loop for all levels but the last ones.
	top, parts := 0, s.Rows
	for i, a := range arities {
		n := len(t.levels[i]) / a
		t.levels = append(t.levels, make([]Digest, n))
		if parts > maxParts {
			top, parts = i+1, n
		}
	}
	leaves := s.Rows / parts
	parallel.For(parts, max(1, 8*grain/(leaves*max(8, s.RowWords))), func(lo, hi int) {
		leafRange(t.levels[0], words, s, l, lo*leaves, hi*leaves)
		for i := range top {
			n := len(t.levels[i+1]) / parts
			t.nodes(i, arities[i], lo*n, hi*n)
		}
	})
	for i := top; i < len(arities); i++ {
		t.nodes(i, arities[i], 0, len(t.levels[i+1]))
	}
	return t, nil
}

// nodes hashes the nodes [lo, hi) above level i.
func (t *Tree) nodes(i, arity, lo, hi int) {
	hashNodes(t.levels[i+1][lo:hi], t.levels[i][lo*arity:hi*arity], arity)
}

// FromLevels is the tree of digests computed elsewhere: the leaves, and then
// each level of nodes up to the root. It shares their memory.
func FromLevels(s Shape, levels [][]Digest) (*Tree, error) {
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
	return &Tree{shape: s, levels: levels}, nil
}

// Root of the matrix's tree, without keeping inner levels: memory for two
// levels at most.
func Root(words []m31.Element, s Shape, l Layout) (Digest, error) {
	if err := l.Check(s, len(words)); err != nil {
		return Digest{}, err
	}
	level := make([]Digest, s.Rows)
	if err := Leaves(level, words, s, l); err != nil {
		return Digest{}, err
	}
	for _, a := range s.Arities() {
		up := make([]Digest, len(level)/a)
		Level(up, level, a)
		level = up
	}
	return level[0], nil
}

// Shape of the tree.
func (t *Tree) Shape() Shape { return t.shape }

// Root of the tree.
func (t *Tree) Root() Digest { return t.levels[len(t.levels)-1][0] }

// Siblings are the digests that an opening of these rows consists of besides
// the rows.
func (t *Tree) Siblings(indices []int) ([]Digest, error) {
	missing, err := t.shape.Missing(indices)
	if err != nil {
		return nil, err
	}
	out := make([]Digest, len(missing))
	for i, n := range missing {
		out[i] = t.levels[n.Level][n.Index]
	}
	return out, nil
}

// Open is the opening of the rows at the given indices; words and l are what
// the tree was built from.
func (t *Tree) Open(words []m31.Element, l Layout, indices []int) (*Opening, error) {
	if err := l.Check(t.shape, len(words)); err != nil {
		return nil, err
	}
	siblings, err := t.Siblings(indices)
	if err != nil {
		return nil, err
	}
	distinct := Distinct(indices)
	o := &Opening{Siblings: siblings, Rows: make([]m31.Element, 0, len(distinct)*t.shape.RowWords)}
	for _, i := range distinct {
		o.Rows = l.Row(o.Rows, words, t.shape, i)
	}
	return o, nil
}
