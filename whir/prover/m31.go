package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
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
func (c *CommittedCM31) Words() []m31.Element {
	return whir.CM31().CommitmentWords(c.params, c.tree.root())
}

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
	sums := make([][]m31.QM31, 0, 2*len(claims))
	for i, claim := range claims {
		if len(claim.Point) != c.params.Vars() {
			return nil, fmt.Errorf("whir: open: claim %d has %d variables, want %d", i, len(claim.Point), c.params.Vars())
		}
		if err := q.Err(); err != nil {
			return nil, err
		}
		h, s := c.halves(claim.Point[:c.params.Vars()-1])
		pf.Halves[i] = h
		sums = append(sums, s[:]...)
	}
	st, err := c.params.Statement(claims, pf.Halves)
	if err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	if c.params.Vars() == 1 {
		sums = nil // the padding symbol is not in them
	}
	inner, err := c.inner.openWith(q, tr, st, sums)
	if err != nil {
		return nil, err
	}
	pf.Proof = *inner
	return pf, nil
}

// halves evaluates the even and the odd entries of a table at a point. It also
// returns the block sums of the two claims about symbols that
// [whir.M31Params.Statement] makes of that: with the sums E and O of a block's
// even and odd entries, E + iO at the point itself, and at the point whose
// coordinates have the Frobenius map undone that map's inverse of E - iO.
func (c *Committed) halves(point []m31.QM31) (halves [2]m31.QM31, sums [2][]m31.QM31) {
	fold := min(c.params.Inner().Round(0).Fold, len(point))
	even, odd := blockHalves(c.table, fold, point[fold:])
	for u, e := range eqTable(point[:fold]) {
		halves[0] = halves[0].Add(e.Mul(even[u]))
		halves[1] = halves[1].Add(e.Mul(odd[u]))
		io := odd[u].MulI()
		sums[0] = append(sums[0], even[u].Add(io))
		sums[1] = append(sums[1], even[u].Sub(io).FrobeniusInverse())
	}
	return halves, sums
}
