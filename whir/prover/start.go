package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// Round 0 binds the variables that number the blocks of the committed table. The
// weight of a claim is a product, first(u)*rest(b) for entry b of block u, and
// its second factor can be summed over before the first challenge: what is left
// of claim c is
//
//	sum_u W[u, c] S[u, c],  S[u, c] = sum_b rest_c(b) f[u, b],
//
// W[u, c] being its coefficient times first_c(u). The sum-check over u of all
// claims together is that of two tables with entries (u, c). So all of round 0
// reads the committed table twice, once for S and once to fold all of its
// variables, and the weights of a whole table are never made; after the rounds W
// holds the coefficients of what remains.
//
// Weights of callers' own have no such form. With one of them the table and the
// weights are made as challenges in full.

// start combines the tables of a batch and goes through round 0, whose sums over
// blocks may be known but for the samples'.
func (o *opener[W, F, E]) start(claims []whir.BatchClaim[E], known device.Buffer[E]) {
	var mu device.Buffer[E] // powers, for batches
	if n := o.params.Batch(); n > 1 && o.err == nil {
		challenge := o.alloc(1)
		if o.err != nil {
			return
		}
		if work := o.params.BatchWork(); work > 0 {
			o.do(o.tr.GrindChallenge(work, o.out.nonce(o.out.batch), challenge))
		} else {
			o.do(o.tr.Challenge(challenge))
		}
		mu = o.powers(challenge, 0, n)
	}
	if o.err != nil {
		return
	}
	factors, products := o.factors(claims)
	end := o.q.Span("whir round 0")
	defer end()
	if products && (mu.Len() == 0 || o.params.Round(0).Samples == 0) {
		o.startBlocks(len(claims), factors, mu, known)
	} else {
		o.startDense(claims, factors, mu)
	}
}

// factors of the claims' weights, with room for the samples', and whether all
// claims are of product form. Those of others are zero.
func (o *opener[W, F, E]) factors(claims []whir.BatchClaim[E]) (device.Buffer[E], bool) {
	m, all := o.params.Vars(), true
	var list []E
	for _, c := range claims {
		f, ok := factorsOf(c.Weight)
		if !ok {
			f, all = make([]E, 2*m), false
		}
		list = append(list, f...)
	}
	b := o.alloc(max(1, len(claims)+o.params.Round(0).Samples) * 2 * m)
	if o.err != nil {
		return b, all
	}
	if len(list) == 0 {
		o.do(b.Zero(o.q))
	} else {
		o.do(b.Slice(0, len(list)).CopyFrom(o.q, list))
	}
	return b, all
}

// factorsOf are the factors of a weight of product form.
func factorsOf[E field.Element[E]](w whir.Weight[E]) (factors []E, ok bool) {
	switch w := w.(type) {
	case whir.Eq[E]:
		for _, z := range w.Point {
			factors = append(factors, z.One().Sub(z), z)
		}
	case whir.Sel[E]:
		for _, a := range w.Point {
			factors = append(factors, a.One(), a)
		}
	case whir.Part[E]:
		rest, ok := factorsOf(w.Weight)
		if !ok {
			return nil, false
		}
		var zero E
		for j := range w.Bits {
			bit := [2]E{zero.One(), zero}
			if w.Prefix>>(w.Bits-1-j)&1 == 1 {
				bit = [2]E{zero, zero.One()}
			}
			factors = append(factors, bit[:]...)
		}
		factors = append(factors, rest...)
	default:
		return nil, false
	}
	return factors, true
}

// startBlocks is round 0 where all claims have product form. mu are the
// coefficients of the tables of a batch.
func (o *opener[W, F, E]) startBlocks(claims int, factors, mu, known device.Buffer[E]) {
	p := o.params
	m, fold, samples := p.Vars(), p.Round(0).Fold, p.Round(0).Samples
	total := max(1, claims+samples) // without claims a weight of zero
	sums, weights := known, o.alloc(total<<fold)
	if known.Len() == 0 {
		sums = o.alloc(total << fold)
	}
	if o.err != nil {
		return
	}
	if known.Len() > 0 {
		claims = total - samples
	} else if claims > 0 {
		o.blocks(sums, total, factors.Slice(0, 2*m*claims), mu)
	} else if samples == 0 {
		o.do(sums.Zero(o.q))
	}
	// A sample's value is what is left of its claim.
	one := o.powers(factors.Slice(0, 1), 0, 1)
	for j := range samples {
		z, c := o.challenge(), claims+j
		if o.err != nil {
			return
		}
		at := factors.Slice(2*m*c, 2*m*(c+1))
		o.do(o.eqPowers(at, z))
		o.do(o.blockSums(sums, total, c, o.tables[0], at, fold))
		o.do(o.blockWeights(weights, total, c, at, one, fold, m))
		if !o.do(o.dot(o.out.sample(0, j), sums, weights, total, c)) {
			return
		}
		o.answer(0, j)
	}
	alpha := o.challenge()
	coeffs := o.powers(alpha, 0, total)
	if o.err != nil {
		return
	}
	if !o.do(o.blockWeights(weights, total, 0, factors, coeffs, fold, m)) {
		return
	}
	challenges := o.alloc(fold)
	o.bindWith(&sums, &weights, 0, p.Round(0).FoldWork, challenges)
	o.g, o.w = o.alloc(1<<(m-fold)), o.alloc(1<<(m-fold))
	if o.err != nil {
		return
	}
	o.foldTables(challenges, mu)
	o.do(o.addWeights(o.w, factors, m, weights, true))
}

// blocks are the sums of all claims over the blocks of the combined table.
func (o *opener[W, F, E]) blocks(sums device.Buffer[E], stride int, factors, mu device.Buffer[E]) {
	fold := o.params.Round(0).Fold
	o.do(o.blockSums(sums, stride, 0, o.tables[0], factors, fold))
	if len(o.tables) == 1 {
		return
	}
	part := o.alloc(sums.Len())
	for a := 1; a < len(o.tables) && o.err == nil; a++ {
		o.do(o.blockSums(part, stride, 0, o.tables[a], factors, fold))
		o.do(o.addTable(sums, part, mu.Slice(a, a+1)))
	}
}

// foldTables folds the combined table to g.
func (o *opener[W, F, E]) foldTables(challenges, mu device.Buffer[E]) {
	o.do(o.ops.foldBlocks(o.g, o.tables[0], challenges))
	if len(o.tables) == 1 {
		return
	}
	part := o.alloc(o.g.Len())
	for a := 1; a < len(o.tables) && o.err == nil; a++ {
		o.do(o.ops.foldBlocks(part, o.tables[a], challenges))
		o.do(o.addTable(o.g, part, mu.Slice(a, a+1)))
	}
}

// startDense is round 0 with the table and the weight in full.
func (o *opener[W, F, E]) startDense(claims []whir.BatchClaim[E], factors, mu device.Buffer[E]) {
	p := o.params
	m, samples := p.Vars(), p.Round(0).Samples
	bytes := 2 * 4 * int64(p.Spec().ChallengeWords) << m
	if !o.do(o.q.Device().CheckMemory(bytes)) {
		return
	}
	o.g, o.w = o.alloc(1<<m), o.alloc(1<<m)
	if o.err != nil {
		return
	}
	if mu.Len() > 0 {
		o.do(o.combine(o.g, o.tables, mu))
	} else {
		o.do(o.lift(o.g, o.tables[0]))
	}
	for j := range samples {
		z, c := o.challenge(), len(claims)+j
		if o.err != nil {
			return
		}
		at := factors.Slice(2*m*c, 2*m*(c+1))
		o.do(o.eqPowers(at, z))
		if !o.do(o.blockSumsExt(o.out.sample(0, j), 1, 0, o.g, at, 0)) {
			return
		}
		o.answer(0, j)
	}
	alpha := o.challenge()
	coeffs := o.powers(alpha, 0, len(claims)+samples)
	if o.err != nil || !o.do(o.w.Zero(o.q)) {
		return
	}
	var table device.Buffer[E] // of a caller's weight
	for c := range len(claims) + samples {
		if o.err != nil {
			return
		}
		product := c >= len(claims)
		if !product {
			_, product = factorsOf(claims[c].Weight)
		}
		if product {
			o.do(o.addWeights(o.w, factors.Slice(2*m*c, 2*m*(c+1)), m, coeffs.Slice(c, c+1), false))
			continue
		}
		w, ok := tabled(claims[c].Weight)
		if !ok {
			o.do(fmt.Errorf("weight %T has no table", claims[c].Weight))
			return
		}
		if table.Len() == 0 {
			table = o.alloc(1 << m)
		}
		if o.err == nil {
			o.addOwn(table, w, coeffs.Slice(c, c+1))
		}
	}
	o.fold(0)
}

// tabled is the weight as one with a table, if it has one.
func tabled[E field.Element[E]](w whir.Weight[E]) (Tabled[E], bool) {
	if part, ok := w.(whir.Part[E]); ok {
		inner, ok := tabled(part.Weight)
		return tabledPart[E]{part, inner}, ok
	}
	t, ok := w.(Tabled[E])
	return t, ok
}

// tabledPart is a part whose inner weight has a table.
type tabledPart[E field.Element[E]] struct {
	whir.Part[E]
	inner Tabled[E]
}

// AddTo works on the part's entries.
func (w tabledPart[E]) AddTo(dst []E, coeff E) {
	size := 1 << w.inner.Vars()
	w.inner.AddTo(dst[w.Prefix*size:(w.Prefix+1)*size], coeff)
}

// addOwn adds a caller's weight, with its table made on the host.
func (o *opener[W, F, E]) addOwn(table device.Buffer[E], w Tabled[E], coeff device.Buffer[E]) {
	values := make([]E, table.Len())
	w.AddTo(values, values[0].One())
	o.do(table.CopyFrom(o.q, values))
	o.do(o.addTable(o.w, table, coeff))
}
