package whir

import (
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/merkle"
)

// Verify checks that the committed table satisfies the statement. It returns
// nil, or an *Error that names the check that failed. The transcript goes on
// from where the commitment and what the caller absorbed since have left it.
func (o *Oracle[W, F, E]) Verify(st Statement[W, E], pf *Proof[W, E]) error {
	return o.Begin(st, pf)()
}

// Begin is the half of Verify that needs the transcript: it leaves it where Verify
// would. The other half, hashing and folding the rows that were opened, is what it
// returns, which may run at any time and beside other ones, so that the openings of
// one proof are checked side by side; it returns what Verify would. The proof must
// not change until then, and nothing is verified before.
func (o *Oracle[W, F, E]) Begin(st Statement[W, E], pf *Proof[W, E]) (finish func() error) {
	v := &verifier[W, F, E]{Oracle: o, pf: pf}
	err := v.begin(st)
	return func() error { return v.check(err) }
}

// verifier is what a run of the transcript gives. The verifier's claim is always
// that the current table g satisfies <w, g> = sigma, where w is the sum of the
// terms with all challenges so far substituted; check goes through it afterwards,
// since no challenge depends on sigma.
type verifier[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*Oracle[W, F, E]
	pf     *Proof[W, E]
	rounds []round[F, E]
	point  []E // the folding challenges of all rounds
	mu     []E // the coefficients that combine the tables of a batch
	sigma  E
	weight E // of all terms at the point
}

// round is a folding round: claims that it adds to the carried one, combined by
// powers of gamma, and the indices that are queried after it.
type round[F, E any] struct {
	claims  []Claim[E]
	gamma   E
	from    int // folding challenges before it
	indices []int
	drawn   bool // the indices are
	// What the opened rows are: domain points with the rows folded, and what the
	// next round's claims of them weigh at the point.
	points  []F
	values  []E
	weights []E
}

// begin goes through the transcript up to its end or the first check that fails.
func (v *verifier[W, F, E]) begin(st Statement[W, E]) error {
	o, pf := v.Oracle, v.pf
	if err := st.Check(o.params); err != nil {
		return fail(-1, CheckStatement, err)
	}
	if pf == nil {
		return failf(-1, CheckShape, "no proof")
	}
	if err := pf.shape(o.params); err != nil {
		return fail(-1, CheckShape, err)
	}
	if err := o.scheme.canonical(pf); err != nil {
		return fail(-1, CheckEncoding, err)
	}
	n := o.params.Rounds()
	v.rounds = make([]round[F, E], n)
	o.tr.Absorb(st.words)
	if err := v.start(st.claims); err != nil {
		return err
	}
	if err := v.fold(0); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		if err := v.shift(i); err != nil {
			return err
		}
		if err := v.fold(i); err != nil {
			return err
		}
	}
	v.absorb(pf.Final...)
	if err := v.query(n - 1); err != nil {
		return err
	}
	for j := range o.params.RoundVars(n) {
		if err := v.bind(n, v.pf.FinalFolds[j], 0); err != nil {
			return err
		}
	}
	return nil
}

// start combines the tables of a batch, and then the statement and the samples
// of round 0 with the powers of one challenge, from the 0th power on: no claim
// is carried in.
func (v *verifier[W, F, E]) start(batch []BatchClaim[E]) error {
	var zero E
	v.mu = []E{zero.One()}
	if n := v.params.c.Batch; n > 1 {
		if err := v.tr.CheckWork(v.params.c.BatchWork, v.pf.BatchNonce); err != nil {
			return fail(-1, CheckBatchWork, err)
		}
		mu := v.tr.Challenge()
		for len(v.mu) < n {
			v.mu = append(v.mu, v.mu[len(v.mu)-1].Mul(mu))
		}
	}
	var claims []Claim[E]
	for _, c := range batch {
		var value E
		for a, m := range v.mu {
			value = value.Add(m.Mul(c.Values[a]))
		}
		claims = append(claims, Claim[E]{c.Weight, value})
	}
	claims = append(claims, v.samples(0)...)
	v.rounds[0].claims, v.rounds[0].gamma = claims, v.tr.Challenge()
	return nil
}

// samples draws the out-of-domain points of round i and absorbs the answers.
func (v *verifier[W, F, E]) samples(i int) []Claim[E] {
	var out []Claim[E]
	for j := range v.params.c.Rounds[i].Samples {
		y := v.pf.Rounds[i].Samples[j]
		z := v.tr.Challenge()
		v.absorb(y)
		out = append(out, Claim[E]{Eq[E]{Powers(z, v.params.RoundVars(i))}, y})
	}
	return out
}

func (v *verifier[W, F, E]) absorb(e ...E) { v.tr.Absorb(v.scheme.Words(e)) }

// fold goes through the sum-check rounds of folding round i.
func (v *verifier[W, F, E]) fold(i int) error {
	d := v.params.c.Rounds[i]
	v.rounds[i].from = len(v.point)
	for j := range d.Fold {
		if err := v.bind(i, v.pf.Rounds[i].Folds[j], d.FoldWork); err != nil {
			return err
		}
	}
	return nil
}

// bind draws the challenge of one sum-check round.
func (v *verifier[W, F, E]) bind(i int, f Fold[W, E], work int) error {
	v.absorb(f.AtZero, f.Lead)
	if err := v.tr.CheckWork(work, f.Nonce); err != nil {
		return fail(i, CheckFoldWork, err)
	}
	v.point = append(v.point, v.tr.Challenge())
	return nil
}

// shift moves to the commitment of round i: claims about it are samples, and
// the queried rows of the commitment before, folded.
func (v *verifier[W, F, E]) shift(i int) error {
	v.tr.Absorb(v.scheme.DigestWords(v.pf.Rounds[i].Root))
	claims := v.samples(i)
	if err := v.query(i - 1); err != nil {
		return err
	}
	v.rounds[i].claims, v.rounds[i].gamma = claims, v.tr.Challenge()
	return nil
}

// query draws the indices into round i's tree.
func (v *verifier[W, F, E]) query(i int) error {
	d, o := v.params.c.Rounds[i], &v.pf.Openings[i]
	if err := v.tr.CheckWork(d.QueryWork, o.Nonce); err != nil {
		return fail(i, CheckQueryWork, err)
	}
	indices, err := v.tr.Indices(d.Queries, v.params.LogLeaves(i))
	if err != nil {
		return fail(i, CheckOpening, err)
	}
	v.rounds[i].indices, v.rounds[i].drawn = indices, true
	return nil
}

// check checks everything that the transcript does not need; failed is what the
// transcript ended with. The opened rows of all rounds are checked side by side,
// and what is reported is the failure that comes first in the protocol.
func (v *verifier[W, F, E]) check(failed error) error {
	errs := make([]error, len(v.rounds))
	parallel.For(len(v.rounds), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if v.rounds[i].drawn {
				errs[i] = v.open(i)
			}
		}
	})
	for _, err := range append(errs, failed) {
		if err != nil {
			return err
		}
	}
	v.carry()
	final, last := v.pf.Final, v.point[len(v.point)-v.params.RoundVars(len(v.rounds)):]
	var value E
	for b, e := range eqTable(last) {
		value = value.Add(e.Mul(final[b]))
	}
	if v.weight.Mul(value) != v.sigma {
		return fail(-1, CheckFinalClaim, nil)
	}
	return nil
}

// open checks the rows of round i that were opened and folds them; those of the last
// round must be what the final table gives.
func (v *verifier[W, F, E]) open(i int) error {
	p, o, r := v.params, &v.pf.Openings[i], &v.rounds[i]
	root := v.root
	if i > 0 {
		root = v.pf.Rounds[i].Root
	}
	shape := merkle.Shape{Rows: 1 << p.LogLeaves(i), RowWords: p.RowWords(i), Arity: p.c.Arity}
	opening := &merkle.OpeningOf[W]{Rows: o.Rows, Siblings: make([]merkle.DigestOf[W], len(o.Siblings))}
	for j, s := range o.Siblings {
		opening.Siblings[j] = s
	}
	rows, err := v.scheme.Hash.Verify(shape, root, r.indices, opening)
	if err != nil {
		return fail(i, CheckOpening, err)
	}
	omega, eq := v.scheme.Root(p.LogLeaves(i)), eqTable(v.point[r.from:r.from+p.c.Rounds[i].Fold])
	fold := v.scheme.dot(eq)
	r.points, r.values = make([]F, len(rows)), make([]E, len(rows))
	for j, index := range r.indices {
		r.points[j], r.values[j] = omega.Exp(uint64(index)), v.foldRow(i, eq, fold, rows[j])
	}
	if i < len(v.rounds)-1 {
		at := v.point[v.rounds[i+1].from:]
		r.weights = make([]E, len(rows))
		for j, x := range r.points {
			r.weights[j] = v.scheme.selection(x, at)
		}
		return nil
	}
	for j, at := range v.scheme.evaluate(v.pf.Final, r.points) {
		if at != r.values[j] {
			return failf(i, CheckFinalQuery, "query %d", j)
		}
	}
	return nil
}

// carry goes through the claims of all rounds: sigma and the weight of all terms.
func (v *verifier[W, F, E]) carry() {
	for i := range v.rounds {
		r := &v.rounds[i]
		coeff := v.sigma.One()
		if i > 0 {
			coeff = r.gamma.Exp(FreshPower)
		}
		claim := func(value, weight E) {
			v.sigma = v.sigma.Add(coeff.Mul(value))
			v.weight = v.weight.Add(coeff.Mul(weight))
			coeff = coeff.Mul(r.gamma)
		}
		for _, c := range r.claims {
			claim(c.Value, c.Weight.Eval(v.point[r.from:]))
		}
		if i > 0 {
			before := &v.rounds[i-1]
			for j, weight := range before.weights {
				claim(before.values[j], weight)
			}
		}
		for j, f := range v.pf.Rounds[i].Folds {
			v.substitute(f, v.point[r.from+j])
		}
	}
	for j, f := range v.pf.FinalFolds {
		v.substitute(f, v.point[len(v.point)-len(v.pf.FinalFolds)+j])
	}
}

// substitute is one sum-check round. The value at 1 follows from the claim.
func (v *verifier[W, F, E]) substitute(f Fold[W, E], r E) {
	atOne := v.sigma.Sub(f.AtZero)
	// c_0 (1-r) + c_1 r + c_lead r (r-1)
	slope := atOne.Sub(f.AtZero).Add(f.Lead.Mul(r.Sub(r.One())))
	v.sigma = f.AtZero.Add(r.Mul(slope))
}

// foldRow is the multilinear extension of a row at the round's challenges, of which eq
// is the table and fold the sums with it. A row of round 0 holds one part after the other
// for each table.
func (v *verifier[W, F, E]) foldRow(i int, eq []E, fold func([]F) E, row []W) (sum E) {
	if i == 0 {
		symbols := v.scheme.Symbols(row)
		for a, m := range v.mu {
			part := fold(symbols[a*len(eq) : (a+1)*len(eq)])
			sum = sum.Add(m.Mul(part))
		}
		return sum
	}
	return v.scheme.inner(eq, v.scheme.Challenges(row))
}

// eqTable is eq(r, b) for all b, the first coordinate being the top bit.
func eqTable[E field.Element[E]](r []E) []E {
	var zero E
	t := append(make([]E, 0, 1<<len(r)), zero.One())
	for j := len(r) - 1; j >= 0; j-- {
		// Prepend a variable: the low half for 0, the high half for 1.
		n := len(t)
		t = t[:2*n]
		for b := range n {
			t[n+b] = t[b].Mul(r[j])
			t[b] = t[b].Sub(t[n+b])
		}
	}
	return t
}
