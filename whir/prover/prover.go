// Package prover commits to tables and opens them by the protocol of package
// whir. It works on the host's cores, whatever device the queue is of.
package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// Transcript is what the prover needs of a transcript: the verifier's, and
// searching for proofs of work.
type Transcript[W field.Base[W], E any] interface {
	whir.Transcript[W, E]
	Grind(bits int) ([2]W, error)
}

// Tabled is a caller's own weight that the prover can use.
type Tabled[E any] interface {
	whir.Weight[E]
	// AddTo adds coeff times the weight's table to dst.
	AddTo(dst []E, coeff E)
}

// backend is the coarse operations of the protocol over one pair of fields.
// Tables of symbols occur in round 0 only.
type backend[W field.Base[W], F field.Element[F], E field.Element[E]] interface {
	scheme() *whir.Scheme[W, F, E]
	// encode evaluates the 2^fold blocks of a table on the 2^logLeaves-th
	// roots of unity and returns the matrix of rows, one row a point.
	// Rows of several tables of symbols hold one part after the other.
	encodeSymbols(tables [][]F, fold, logLeaves int) ([]W, error)
	encodeChallenges(table []E, fold, logLeaves int) ([]W, error)
	build(rows []W, width, arity int) (tree[W], error)
	// combine is the sum of coeffs[a]*tables[a].
	combine(tables [][]F, coeffs []E) []E
	// round returns the round polynomial of sum w*f for the first variable:
	// its value at 0 and its leading coefficient.
	roundSymbols(f []F, w []E) (atZero, lead E)
	roundChallenges(f, w []E) (atZero, lead E)
	// blockSums are the sums of eq(point, b)*f[u, b] over the entries b of each
	// of a table's 2^fold blocks u; foldBlocks is the sum of weights[u]*f[u, b]
	// over the blocks.
	blockSums(f []F, fold int, point []E) []E
	foldBlocks(f []F, weights []E) []E
	// fold binds the first variable; foldChallenges works in place.
	foldSymbols(f []F, r E) []E
	foldChallenges(f []E, r E) []E
	// evaluate is the table's multilinear extension at a point.
	evaluateSymbols(f []F, point []E) E
	evaluateChallenges(f, point []E) E
	// addEq adds coeff*eq(point, b) to w[b], addPoints the sum of
	// coeffs[j]*omega^(indices[j]*b) where omega is the generator of the
	// 2^logLeaves-th roots of unity.
	addEq(w, point []E, coeff E)
	addPoints(w []E, logLeaves int, indices []int, coeffs []E) error
}

// tree is a hash tree over a matrix that it keeps.
type tree[W field.Base[W]] interface {
	root() [8]W
	open(indices []int) (rows []W, siblings [][8]W, err error)
}

// tamper lets the tests of this package cheat. Its zero value does nothing.
type tamper[W field.Base[W], E any] struct {
	codeword func(round int, rows []W)      // before a tree is built
	table    func(round int, g []E)         // before a folded table is committed
	answer   func(round, sample int, y E) E // an out-of-domain answer
	fold     func(round, j int, atZero, lead E) (E, E)
	final    func(g, w []E)
}

// committed is a batch of tables with their tree.
type committed[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	b      backend[W, F, E]
	params *whir.Params
	tables [][]F
	tree   tree[W]
	tamper tamper[W, E]
}

func commit[W field.Base[W], F field.Element[F], E field.Element[E]](q *device.Queue, b backend[W, F, E], p *whir.Params, tables [][]F, t tamper[W, E]) (*committed[W, F, E], error) {
	if p == nil || p.Spec() != b.scheme().Spec {
		return nil, fmt.Errorf("whir: commit: parameters are not for %s", b.scheme().Spec.Name)
	}
	if len(tables) != p.Batch() {
		return nil, fmt.Errorf("whir: commit: %d tables, want %d", len(tables), p.Batch())
	}
	for _, table := range tables {
		if len(table) != 1<<p.Vars() {
			return nil, fmt.Errorf("whir: commit: table of %d symbols, want 2^%d", len(table), p.Vars())
		}
	}
	if err := q.Err(); err != nil {
		return nil, err
	}
	rows, err := b.encodeSymbols(tables, p.Round(0).Fold, p.LogLeaves(0))
	if err != nil {
		return nil, fmt.Errorf("whir: commit: %w", err)
	}
	if t.codeword != nil {
		t.codeword(0, rows)
	}
	if err := q.Err(); err != nil {
		return nil, err
	}
	tree, err := b.build(rows, p.RowWords(0), p.Arity())
	if err != nil {
		return nil, fmt.Errorf("whir: commit: %w", err)
	}
	return &committed[W, F, E]{b, p, tables, tree, t}, nil
}
