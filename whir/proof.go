package whir

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field"
)

// Proof is an opening. Its shape follows from the parameters, but for the
// numbers of rows and siblings, which follow from the query indices.
type Proof[W field.Base[W], E any] struct {
	// BatchNonce is the proof of work before the tables of a batch are combined.
	BatchNonce [2]W
	// Rounds are the folding rounds.
	Rounds []RoundProof[W, E]
	// Final is the table that is left after the last round.
	Final []E
	// Openings are the queried rows of each round's tree.
	Openings []Opening[W]
	// FinalFolds are the rounds of the sum-check on the final table.
	FinalFolds []Fold[W, E]
}

// RoundProof is what the prover sends in a folding round.
type RoundProof[W field.Base[W], E any] struct {
	// Root of the round's tree; zero in round 0, whose root is the commitment.
	Root [8]W
	// Samples are the answers to the out-of-domain samples.
	Samples []E
	// Folds are the sum-check rounds.
	Folds []Fold[W, E]
}

// Fold is one sum-check round: the round polynomial's value at 0, its leading
// coefficient, and the proof of work before the challenge.
type Fold[W field.Base[W], E any] struct {
	AtZero, Lead E
	Nonce        [2]W
}

// Opening is a pruned multiproof of one tree, after the proof of work before
// its indices.
type Opening[W field.Base[W]] struct {
	Nonce [2]W
	// Rows are those of the distinct indices, ascending, one after the other.
	Rows []W
	// Siblings are the missing nodes level by level, leaves first.
	Siblings [][8]W
}

// shape checks all lengths that follow from the parameters.
func (pf *Proof[W, E]) shape(p *Params) error {
	n := len(p.c.Rounds)
	if len(pf.Rounds) != n || len(pf.Openings) != n {
		return fmt.Errorf("%d rounds and %d openings, want %d", len(pf.Rounds), len(pf.Openings), n)
	}
	for i, d := range p.c.Rounds {
		r := &pf.Rounds[i]
		if len(r.Samples) != d.Samples || len(r.Folds) != d.Fold {
			return fmt.Errorf("round %d has %d samples and %d folds, want %d and %d", i, len(r.Samples), len(r.Folds), d.Samples, d.Fold)
		}
		o := &pf.Openings[i]
		rows := len(o.Rows) / p.RowWords(i)
		if len(o.Rows)%p.RowWords(i) != 0 || rows < 1 || rows > p.maxRows(i) || len(o.Siblings) > p.maxSiblings(i, rows) {
			return fmt.Errorf("opening %d has %d words in rows and %d siblings", i, len(o.Rows), len(o.Siblings))
		}
	}
	if pf.Rounds[0].Root != ([8]W{}) {
		return fmt.Errorf("round 0 has a root of its own")
	}
	m := p.vars[n]
	if len(pf.Final) != 1<<m || len(pf.FinalFolds) != m {
		return fmt.Errorf("final table of %d with %d folds, want %d and %d", len(pf.Final), len(pf.FinalFolds), 1<<m, m)
	}
	return pf.noWork(p)
}

// noWork checks that there are no nonces where no work is asked for.
func (pf *Proof[W, E]) noWork(p *Params) error {
	none := func(work int, n [2]W) bool { return work > 0 || n == [2]W{} }
	ok := none(p.c.BatchWork, pf.BatchNonce)
	for i, d := range p.c.Rounds {
		for _, f := range pf.Rounds[i].Folds {
			ok = ok && none(d.FoldWork, f.Nonce)
		}
		ok = ok && none(d.QueryWork, pf.Openings[i].Nonce)
	}
	for _, f := range pf.FinalFolds {
		ok = ok && none(0, f.Nonce)
	}
	if !ok {
		return fmt.Errorf("a nonce where no work is asked for")
	}
	return nil
}

// maxRows is the largest number of distinct rows opened in round i's tree.
func (p *Params) maxRows(i int) int { return min(p.c.Rounds[i].Queries, 1<<p.LogLeaves(i)) }

// maxSiblings is more than any multiproof of that many rows needs.
func (p *Params) maxSiblings(i, rows int) int { return rows * p.LogLeaves(i) * (p.c.Arity - 1) }
