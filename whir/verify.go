package whir

import (
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/merkle"
)

// Verify checks that the committed table satisfies the statement. It returns
// nil, or an *Error that names the check that failed. The transcript goes on
// from where the commitment and what the caller absorbed since have left it.
func (o *Oracle[W, F, E]) Verify(st Statement[W, E], pf *Proof[W, E]) error {
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
	v := &verifier[W, F, E]{Oracle: o, pf: pf}
	o.tr.Absorb(st.words)
	if err := v.start(st.claims); err != nil {
		return err
	}
	if err := v.fold(0); err != nil {
		return err
	}
	root := o.root
	for i := 1; i < o.params.Rounds(); i++ {
		if err := v.shift(i, root); err != nil {
			return err
		}
		if err := v.fold(i); err != nil {
			return err
		}
		root = pf.Rounds[i].Root
	}
	return v.finish(root)
}

// verifier is the state of a verification: the claim that the current table
// g satisfies <w, g> = sigma, where w is the sum of the terms with all
// challenges so far substituted.
type verifier[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*Oracle[W, F, E]
	pf    *Proof[W, E]
	sigma E
	terms []term[E]
	point []E // the folding challenges of all rounds
	last  []E // those of the last round
	mu    []E // the coefficients that combine the tables of a batch
}

// term is coeff times a weight on the variables from the given one on.
type term[E any] struct {
	from   int
	coeff  E
	weight Weight[E]
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
	alpha := v.tr.Challenge()
	v.add(claims, alpha, alpha.One())
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

// add adds claims with coefficients coeff, coeff*ratio, ... to the carried
// claim.
func (v *verifier[W, F, E]) add(claims []Claim[E], ratio, coeff E) {
	for _, c := range claims {
		v.sigma = v.sigma.Add(coeff.Mul(c.Value))
		v.terms = append(v.terms, term[E]{len(v.point), coeff, c.Weight})
		coeff = coeff.Mul(ratio)
	}
}

// fold goes through the sum-check rounds of folding round i.
func (v *verifier[W, F, E]) fold(i int) error {
	from, d := len(v.point), v.params.c.Rounds[i]
	for j := range d.Fold {
		if err := v.bind(i, v.pf.Rounds[i].Folds[j], d.FoldWork); err != nil {
			return err
		}
	}
	v.last = v.point[from:]
	return nil
}

// bind is one sum-check round. The value at 1 follows from the claim.
func (v *verifier[W, F, E]) bind(i int, f Fold[W, E], work int) error {
	v.absorb(f.AtZero, f.Lead)
	if err := v.tr.CheckWork(work, f.Nonce); err != nil {
		return fail(i, CheckFoldWork, err)
	}
	r := v.tr.Challenge()
	atOne := v.sigma.Sub(f.AtZero)
	// c_0 (1-r) + c_1 r + c_lead r (r-1)
	slope := atOne.Sub(f.AtZero).Add(f.Lead.Mul(r.Sub(r.One())))
	v.sigma = f.AtZero.Add(r.Mul(slope))
	v.point = append(v.point, r)
	return nil
}

// shift moves to the commitment of round i: claims about it are samples, and
// the queried rows of the commitment before, whose root is given, folded.
func (v *verifier[W, F, E]) shift(i int, root [8]W) error {
	next := v.pf.Rounds[i].Root
	v.tr.Absorb(v.scheme.DigestWords(next))
	claims := v.samples(i)
	points, values, err := v.queries(i-1, root)
	if err != nil {
		return err
	}
	for j, x := range points {
		claims = append(claims, Claim[E]{Sel[E]{Powers(v.scheme.Embed(x), v.params.RoundVars(i))}, values[j]})
	}
	gamma := v.tr.Challenge()
	v.add(claims, gamma, gamma.Exp(FreshPower))
	return nil
}

// queries draws the indices into round i's tree, whose root is given, and
// checks the opened rows. It returns, for each query, the domain point and
// the row folded with the round's challenges.
func (v *verifier[W, F, E]) queries(i int, root [8]W) (points []F, values []E, err error) {
	p, o := v.params, &v.pf.Openings[i]
	d := p.c.Rounds[i]
	if err := v.tr.CheckWork(d.QueryWork, o.Nonce); err != nil {
		return nil, nil, fail(i, CheckQueryWork, err)
	}
	logLeaves, width := p.LogLeaves(i), p.RowWords(i)
	indices, err := v.tr.Indices(d.Queries, logLeaves)
	if err != nil {
		return nil, nil, fail(i, CheckOpening, err)
	}
	shape := merkle.Shape{Rows: 1 << logLeaves, RowWords: width, Arity: p.c.Arity}
	opening := &merkle.OpeningOf[W]{Rows: o.Rows, Siblings: make([]merkle.DigestOf[W], len(o.Siblings))}
	for j, s := range o.Siblings {
		opening.Siblings[j] = s
	}
	rows, err := v.scheme.Hash.Verify(shape, root, indices, opening)
	if err != nil {
		return nil, nil, fail(i, CheckOpening, err)
	}
	omega, eq := v.scheme.Root(logLeaves), eqTable(v.last)
	folded := map[int]E{} // by index: repeated ones are folded once
	for j, index := range indices {
		value, ok := folded[index]
		if !ok {
			value = v.foldRow(i, eq, rows[j])
			folded[index] = value
		}
		points = append(points, omega.Exp(uint64(index)))
		values = append(values, value)
	}
	return points, values, nil
}

// foldRow is the multilinear extension of a row at the round's challenges. A
// row of round 0 holds one part after the other for each table.
func (v *verifier[W, F, E]) foldRow(i int, eq []E, row []W) (sum E) {
	if i == 0 {
		symbols := v.scheme.Symbols(row)
		for a, m := range v.mu {
			var part E
			for c, s := range symbols[a*len(eq) : (a+1)*len(eq)] {
				part = part.Add(v.scheme.Scale(eq[c], s))
			}
			sum = sum.Add(m.Mul(part))
		}
		return sum
	}
	for c, s := range v.scheme.Challenges(row) {
		sum = sum.Add(eq[c].Mul(s))
	}
	return sum
}

// finish checks the final table against the last tree, whose root is given,
// and against the carried claim.
func (v *verifier[W, F, E]) finish(root [8]W) error {
	n, final := v.params.Rounds(), v.pf.Final
	v.absorb(final...)
	points, values, err := v.queries(n-1, root)
	if err != nil {
		return err
	}
	for j, x := range points {
		var at E
		for b := len(final) - 1; b >= 0; b-- {
			at = v.scheme.Scale(at, x).Add(final[b])
		}
		if at != values[j] {
			return failf(n-1, CheckFinalQuery, "query %d", j)
		}
	}
	from := len(v.point)
	for j := range v.params.RoundVars(n) {
		if err := v.bind(n, v.pf.FinalFolds[j], 0); err != nil {
			return err
		}
	}
	var weight, value E
	for _, t := range v.terms {
		weight = weight.Add(t.coeff.Mul(t.weight.Eval(v.point[t.from:])))
	}
	for b, e := range eqTable(v.point[from:]) {
		value = value.Add(e.Mul(final[b]))
	}
	if weight.Mul(value) != v.sigma {
		return fail(-1, CheckFinalClaim, nil)
	}
	return nil
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
