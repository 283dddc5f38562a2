package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// opener is the state of an opening: the table g that is left, the weight w
// of the carried claim sum w*g, and the challenges of the last round.
type opener[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*committed[W, F, E]
	q      *device.Queue
	tr     Transcript[W, E]
	pf     *whir.Proof[W, E]
	f      []F            // in place of g, one table before the first fold
	blocks []blockSums[E] // in place of w, while all claims are evaluations of f
	drawn  []E            // challenges of round 0, while there are blocks
	g      []E
	w      []E
	last   tree[W]
	words  func([]E) []W
}

// open proves the statement. It does not check that the statement is true.
func (c *committed[W, F, E]) open(q *device.Queue, tr Transcript[W, E], st whir.Statement[W, E]) (*whir.Proof[W, E], error) {
	return c.openWith(q, tr, st, nil)
}

// openWith is open where the block sums of all claims, which must be
// evaluations of one table, may be known.
func (c *committed[W, F, E]) openWith(q *device.Queue, tr Transcript[W, E], st whir.Statement[W, E], sums [][]E) (*whir.Proof[W, E], error) {
	if err := st.Check(c.params); err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	n := c.params.Rounds()
	o := &opener[W, F, E]{committed: c, q: q, tr: tr, last: c.tree, words: c.b.scheme().Words}
	o.pf = &whir.Proof[W, E]{Rounds: make([]whir.RoundProof[W, E], n), Openings: make([]whir.Opening[W], n)}
	tr.Absorb(st.Words())
	if err := o.start(st.Claims(), sums); err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	for i := range n {
		if i > 0 {
			if err := o.shift(i); err != nil {
				return nil, fmt.Errorf("whir: open: round %d: %w", i, err)
			}
		}
		for j := range c.params.Round(i).Fold {
			if err := o.bind(&o.pf.Rounds[i].Folds, i, j, c.params.Round(i).FoldWork); err != nil {
				return nil, fmt.Errorf("whir: open: round %d: %w", i, err)
			}
		}
	}
	if err := o.finish(); err != nil {
		return nil, fmt.Errorf("whir: open: final: %w", err)
	}
	return o.pf, nil
}

// start sets up the weight of round 0.
func (o *opener[W, F, E]) start(claims []whir.BatchClaim[E], sums [][]E) error {
	if err := o.batch(); err != nil {
		return err
	}
	if o.f != nil && evaluations(claims) {
		o.startBlocks(claims, sums)
		return nil
	}
	points := o.samples(0)
	alpha := o.tr.Challenge()
	coeff := alpha.One()
	o.w = make([]E, 1<<o.params.Vars())
	for _, c := range claims {
		switch w := c.Weight.(type) {
		case whir.Eq[E]:
			o.b.addEq(o.w, w.Point, coeff)
		case whir.Sel[E]:
			addSel(o.w, w.Point, coeff)
		case Tabled[E]:
			w.AddTo(o.w, coeff)
		default:
			return fmt.Errorf("weight %T has no table", w)
		}
		coeff = coeff.Mul(alpha)
	}
	for _, z := range points {
		o.b.addEq(o.w, z, coeff)
		coeff = coeff.Mul(alpha)
	}
	return nil
}

// batch combines several tables into one of challenges.
func (o *opener[W, F, E]) batch() (err error) {
	n := o.params.Batch()
	if n == 1 {
		o.f = o.tables[0]
		return nil
	}
	if o.pf.BatchNonce, err = o.tr.Grind(o.params.BatchWork()); err != nil {
		return err
	}
	mu := o.tr.Challenge()
	coeffs := []E{mu.One()}
	for len(coeffs) < n {
		coeffs = append(coeffs, coeffs[len(coeffs)-1].Mul(mu))
	}
	o.g = o.b.combine(o.tables, coeffs)
	return nil
}

// addSel adds coeff*sel(point, b) to w[b].
func addSel[E field.Element[E]](w, point []E, coeff E) {
	t := append(make([]E, 0, len(w)), coeff)
	for j := len(point) - 1; j >= 0; j-- {
		for _, v := range t {
			t = append(t, v.Mul(point[j]))
		}
	}
	for b, v := range t {
		w[b] = w[b].Add(v)
	}
}

// samples draws the out-of-domain points of round i and answers them.
func (o *opener[W, F, E]) samples(i int) (points [][]E) {
	r := &o.pf.Rounds[i]
	for j := range o.params.Round(i).Samples {
		z := whir.Powers(o.tr.Challenge(), o.params.RoundVars(i))
		var y E
		switch {
		case o.blocks != nil:
			y = o.addBlock(z, nil).value()
		case o.f != nil:
			y = o.b.evaluateSymbols(o.f, z)
		default:
			y = o.b.evaluateChallenges(o.g, z)
		}
		if o.tamper.answer != nil {
			y = o.tamper.answer(i, j, y)
		}
		o.tr.Absorb(o.words([]E{y}))
		r.Samples = append(r.Samples, y)
		points = append(points, z)
	}
	return points
}

// bind is one sum-check round.
func (o *opener[W, F, E]) bind(out *[]whir.Fold[W, E], i, j, work int) error {
	if err := o.q.Err(); err != nil {
		return err
	}
	var fold whir.Fold[W, E]
	switch {
	case o.blocks != nil:
		fold.AtZero, fold.Lead = o.roundBlocks()
	case o.f != nil:
		fold.AtZero, fold.Lead = o.b.roundSymbols(o.f, o.w)
	default:
		fold.AtZero, fold.Lead = o.b.roundChallenges(o.g, o.w)
	}
	if o.tamper.fold != nil {
		fold.AtZero, fold.Lead = o.tamper.fold(i, j, fold.AtZero, fold.Lead)
	}
	o.tr.Absorb(o.words([]E{fold.AtZero, fold.Lead}))
	var err error
	if fold.Nonce, err = o.tr.Grind(work); err != nil {
		return err
	}
	r := o.tr.Challenge()
	*out = append(*out, fold)
	if o.blocks != nil {
		o.foldBlocks(r)
		return nil
	}
	if o.f != nil {
		o.g, o.f = o.b.foldSymbols(o.f, r), nil
	} else {
		o.g = o.b.foldChallenges(o.g, r)
	}
	o.w = o.b.foldChallenges(o.w, r)
	return nil
}

// shift commits to the folded table as round i, and adds claims about it to
// the carried one: the samples' and the queried values of the tree before.
func (o *opener[W, F, E]) shift(i int) error {
	if o.tamper.table != nil {
		o.tamper.table(i, o.g)
	}
	p := o.params
	rows, err := o.b.encodeChallenges(o.g, p.Round(i).Fold, p.LogLeaves(i))
	if err != nil {
		return err
	}
	if o.tamper.codeword != nil {
		o.tamper.codeword(i, rows)
	}
	if err := o.q.Err(); err != nil {
		return err
	}
	next, err := o.b.build(rows, p.RowWords(i), p.Arity())
	if err != nil {
		return err
	}
	root := next.root()
	o.pf.Rounds[i].Root = root
	o.tr.Absorb(root[:])
	points := o.samples(i)
	indices, err := o.queries(i - 1)
	if err != nil {
		return err
	}
	gamma := o.tr.Challenge()
	coeff := whir.FreshCoefficient(gamma)
	for _, z := range points {
		o.b.addEq(o.w, z, coeff)
		coeff = coeff.Mul(gamma)
	}
	coeffs := make([]E, len(indices))
	for j := range coeffs {
		coeffs[j] = coeff
		coeff = coeff.Mul(gamma)
	}
	o.last = next
	return o.b.addPoints(o.w, p.LogLeaves(i-1), indices, coeffs)
}

// queries opens round i's tree.
func (o *opener[W, F, E]) queries(i int) (indices []int, err error) {
	d, out := o.params.Round(i), &o.pf.Openings[i]
	if out.Nonce, err = o.tr.Grind(d.QueryWork); err != nil {
		return nil, err
	}
	if indices, err = o.tr.Indices(d.Queries, o.params.LogLeaves(i)); err != nil {
		return nil, err
	}
	out.Rows, out.Siblings, err = o.last.open(indices)
	return indices, err
}

// finish sends the table that is left.
func (o *opener[W, F, E]) finish() error {
	n := o.params.Rounds()
	if o.tamper.final != nil {
		o.tamper.final(o.g, o.w)
	}
	o.pf.Final = append([]E(nil), o.g...)
	o.tr.Absorb(o.words(o.pf.Final))
	if _, err := o.queries(n - 1); err != nil {
		return err
	}
	for j := range o.params.RoundVars(n) {
		if err := o.bind(&o.pf.FinalFolds, n, j, 0); err != nil {
			return err
		}
	}
	return nil
}
