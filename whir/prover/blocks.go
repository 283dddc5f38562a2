package prover

import (
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// blockSums is a claim on f's evaluation at a point during round 0, whose
// folds bind the variables that number f's blocks. The weight is a product,
// eq(first, u) eq(rest, b) for entry b of block u, and the second factor can be
// summed over before the first challenge: what is left of the claim is
//
//	sum_u weights[u] sums[u],  sums[u] = sum_b eq(rest, b) f[u, b],
//
// over no more entries than there are blocks. So all of round 0 reads the table
// twice, once for these sums and once to fold all of its variables.
type blockSums[E field.Element[E]] struct {
	rest          []E
	weights, sums []E // coefficient times eq(first, u); both are folded
}

// evaluations says whether all claims are evaluations.
func evaluations[E field.Element[E]](claims []whir.BatchClaim[E]) bool {
	for _, c := range claims {
		if _, ok := c.Weight.(whir.Eq[E]); !ok {
			return false
		}
	}
	return true
}

// startBlocks sets up round 0 where all claims are evaluations; sums are those
// of the claims if they are known.
func (o *opener[W, F, E]) startBlocks(claims []whir.BatchClaim[E], sums [][]E) {
	o.blocks = make([]blockSums[E], 0, len(claims)+o.params.Round(0).Samples)
	for i, c := range claims {
		var known []E
		if sums != nil {
			known = sums[i]
		}
		o.addBlock(c.Weight.(whir.Eq[E]).Point, known)
	}
	o.samples(0)
	alpha := o.tr.Challenge()
	coeff := alpha.One()
	for i := range o.blocks {
		w := o.blocks[i].weights
		for u := range w {
			w[u] = w[u].Mul(coeff)
		}
		coeff = coeff.Mul(alpha)
	}
}

// addBlock adds a claim at a point, with coefficient 1, whose sums may be
// known.
func (o *opener[W, F, E]) addBlock(point, sums []E) *blockSums[E] {
	fold := o.params.Round(0).Fold
	c := blockSums[E]{rest: point[fold:], sums: sums, weights: eqTable(point[:fold])}
	if sums == nil {
		c.sums = o.b.blockSums(o.f, fold, c.rest)
	}
	o.blocks = append(o.blocks, c)
	return &o.blocks[len(o.blocks)-1]
}

// value is what is left of the claim's sum.
func (c *blockSums[E]) value() (v E) {
	for u, w := range c.weights {
		v = v.Add(w.Mul(c.sums[u]))
	}
	return v
}

// roundBlocks is the round polynomial over all claims.
func (o *opener[W, F, E]) roundBlocks() (atZero, lead E) {
	for _, c := range o.blocks {
		a, l := o.b.roundChallenges(c.sums, c.weights)
		atZero, lead = atZero.Add(a), lead.Add(l)
	}
	return atZero, lead
}

// foldBlocks binds the first variable. Once all of round 0's are bound, the
// table is folded and the weight of what remains is made.
func (o *opener[W, F, E]) foldBlocks(r E) {
	o.drawn = append(o.drawn, r)
	for i := range o.blocks {
		c := &o.blocks[i]
		c.sums, c.weights = o.b.foldChallenges(c.sums, r), o.b.foldChallenges(c.weights, r)
	}
	if len(o.drawn) < o.params.Round(0).Fold {
		return
	}
	o.g = o.b.foldBlocks(o.f, eqTable(o.drawn))
	o.w = make([]E, len(o.g))
	for _, c := range o.blocks {
		o.b.addEq(o.w, c.rest, c.weights[0])
	}
	o.f, o.blocks, o.drawn = nil, nil, nil
}

// eqTable is the 2^n values eq(point, x).
func eqTable[E field.Element[E]](point []E) []E {
	var zero E
	t := make([]E, 1, 1<<len(point))
	t[0] = zero.One()
	for _, r := range point {
		// The new variable is the lowest bit.
		n := len(t)
		t = t[:2*n]
		for x := n - 1; x >= 0; x-- {
			hi := t[x].Mul(r)
			t[2*x], t[2*x+1] = t[x].Sub(hi), hi
		}
	}
	return t
}
