package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/whir"
)

// TranscriptM31 is what opening needs of a transcript; package transcript's is
// one.
type TranscriptM31 = Transcript[m31.Element, m31.QM31]

// CommittedCM31 is a batch of tables of CM31 symbols with their tree. It keeps
// the tables.
type CommittedCM31 struct {
	*committed[m31.Element, m31.CM31, m31.QM31]
}

// CommitCM31 commits to p.Batch() tables of 2^p.Vars() symbols, which must not
// change while the commitment is in use.
func CommitCM31(q *device.Queue, p *whir.Params, tables ...[]m31.CM31) (*CommittedCM31, error) {
	c, err := commit(q, cm31{}, p, tables, tamper[m31.Element, m31.QM31]{})
	if err != nil {
		return nil, err
	}
	return &CommittedCM31{c}, nil
}

// Root of the tree.
func (c *CommittedCM31) Root() merkle.Digest { return c.tree.root() }

// Words is the list that stands for the commitment in the transcript.
func (c *CommittedCM31) Words() []m31.Element { return whir.CommitmentWords(c.params, c.tree.root()) }

// OpenCM31 proves that the tables satisfy the statement. The transcript must
// have absorbed the commitment's Words. The statement is not checked: the proof
// of a false one does not verify.
func OpenCM31(q *device.Queue, tr TranscriptM31, c *CommittedCM31, st whir.StatementCM31) (*whir.ProofCM31, error) {
	return c.open(q, tr, st)
}

// Committed is a table of Mersenne-31 values with its tree. It keeps the
// table.
type Committed struct {
	params *whir.M31Params
	table  []m31.Element
	inner  *committed[m31.Element, m31.CM31, m31.QM31]
}

// CommitM31 commits to a table of 2^p.Vars() values, which must not change
// while the commitment is in use.
func CommitM31(q *device.Queue, p *whir.M31Params, table []m31.Element) (*Committed, error) {
	return commitM31(q, p, table, tamper[m31.Element, m31.QM31]{})
}

func commitM31(q *device.Queue, p *whir.M31Params, table []m31.Element, t tamper[m31.Element, m31.QM31]) (*Committed, error) {
	if p == nil || len(table) != 1<<p.Vars() {
		return nil, fmt.Errorf("whir: commit: table of %d values does not fit the parameters", len(table))
	}
	symbols := m31.Pairs(table)
	if p.Vars() == 1 {
		symbols = []m31.CM31{symbols[0], {}}
	}
	c, err := commit(q, cm31{}, p.Inner(), [][]m31.CM31{symbols}, t)
	if err != nil {
		return nil, err
	}
	return &Committed{p, table, c}, nil
}

// Params of the commitment.
func (c *Committed) Params() *whir.M31Params { return c.params }

// Root of the tree.
func (c *Committed) Root() merkle.Digest { return c.inner.tree.root() }

// Words is the list that stands for the commitment in the transcript: what
// whir.ReceiveM31 absorbs.
func (c *Committed) Words() []m31.Element { return c.params.CommitmentWords(c.Root()) }

// OpenM31 proves the claims about a committed table. The transcript must have
// absorbed the commitment's Words. A false claim is an error.
func OpenM31(q *device.Queue, tr TranscriptM31, c *Committed, claims []whir.M31Claim) (*whir.M31Proof, error) {
	pf := &whir.M31Proof{Halves: make([][2]m31.QM31, len(claims))}
	for i, claim := range claims {
		if len(claim.Point) != c.params.Vars() {
			return nil, fmt.Errorf("whir: open: claim %d has %d variables, want %d", i, len(claim.Point), c.params.Vars())
		}
		if err := q.Err(); err != nil {
			return nil, err
		}
		pf.Halves[i] = halves(c.table, claim.Point[:c.params.Vars()-1])
	}
	st, err := c.params.Statement(claims, pf.Halves)
	if err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	inner, err := c.inner.open(q, tr, st)
	if err != nil {
		return nil, err
	}
	pf.Proof = *inner
	return pf, nil
}

// halves evaluates the even and the odd entries of a table at a point: first
// within rows of 2^(n - n/2) pairs, then over the rows.
func halves(table []m31.Element, point []m31.QM31) [2]m31.QM31 {
	half := len(point) / 2
	high, low := mle.EqTable(point[:half]), mle.EqTable(point[half:])
	n := len(low)
	rows := make([][2]m31.QM31, len(high))
	parallel.For(len(high), max(1, grain/n), func(lo, hi int) {
		for h := lo; h < hi; h++ {
			var even, odd m31.BaseSum
			row := table[2*h*n : 2*(h+1)*n]
			for b, e := range low {
				even.Add(row[2*b], e)
				odd.Add(row[2*b+1], e)
			}
			rows[h] = [2]m31.QM31{even.Value(), odd.Value()}
		}
	})
	var out [2]m31.QM31
	for h, e := range high {
		out[0] = out[0].Add(e.Mul(rows[h][0]))
		out[1] = out[1].Add(e.Mul(rows[h][1]))
	}
	return out
}
