package fribinius

import (
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/ntt/additive"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// AbsorbStatement starts an opening's transcript, for prover and verifier: parameters
// and root, then the point and the value.
func (p *Params) AbsorbStatement(tr *tower.Transcript, root Root, point []gf2.Element, value gf2.Element) {
	tr.AbsorbWords(append(p.header(), root[:]...))
	tr.Absorb(append(slices.Clone(point), value))
}

// Verify checks that the polynomial whose bits root commits to has the value at the
// point, whose first coordinate belongs to the top bit of a bit's index. The statement
// is absorbed here. A proof that is not accepted is an *Error.
func Verify(tr *tower.Transcript, p *Params, root Root, point []gf2.Element, value gf2.Element, pf *Proof) error {
	if err := p.Check(); err != nil {
		return &Error{-1, CheckStatement, err}
	}
	if len(point) != p.vars {
		return failf(-1, CheckStatement, "a point of %d coordinates, want %d", len(point), p.vars)
	}
	if pf == nil {
		return failf(-1, CheckShape, "no proof")
	}
	if err := pf.shape(p); err != nil {
		return &Error{-1, CheckShape, err}
	}
	p.AbsorbStatement(tr, root, point, value)

	// Ring switching: the partial evaluations against the value, and the same
	// numbers read the other way as the claim of a sum-check.
	high, low := point[:p.MessageVars()], point[p.MessageVars():]
	if got := Combine(pf.Partial, low); got != value {
		return failf(-1, CheckRingSwitch, "the partial evaluations give %v, the value is %v", got, value)
	}
	tr.Absorb(pf.Partial)
	batch := tr.Challenges(Packing)
	claim := Combine(Transpose(pf.Partial), batch)

	// The sum-check, from the last variable to the first, and the layers' roots where
	// the prover has to commit to them.
	r := make([]gf2.Element, 0, p.MessageVars())
	rounds := func(n int) {
		for range n {
			m := pf.Rounds[len(r)]
			tr.Absorb([]gf2.Element{m.AtZero, m.Lead})
			x := tr.Challenge()
			claim = m.At(claim, x)
			r = append(r, x)
		}
	}
	for i, l := range p.layers {
		if i > 0 {
			tr.AbsorbWords(pf.Roots[i-1][:])
		}
		rounds(l.Fold)
	}
	tr.Absorb(pf.Final)
	rounds(p.final)

	at := slices.Clone(r)
	slices.Reverse(at)
	last := evaluate(pf.Final, at[:p.final])
	if got := weight(high, at, batch).Mul(last); got != claim {
		return failf(-1, CheckFinalClaim, "the final message gives %v, the sum-check claims %v", got, claim)
	}
	return p.queriesPass(tr, root, r, pf)
}

// queriesPass checks the layers at random places, r being the challenges that folded
// them.
func (p *Params) queriesPass(tr *tower.Transcript, root Root, r []gf2.Element, pf *Proof) error {
	sampled, err := tr.Indices(p.queries, p.LogLeaves(0))
	if err != nil {
		return &Error{-1, CheckStatement, err}
	}
	indices := make([]int, p.queries)
	for k, s := range sampled {
		indices[k] = int(s)
	}
	codeword := make([]gf2.Element, 1<<(p.final+p.rate))
	if err := additive.Encode(codeword, pf.Final); err != nil {
		return &Error{-1, CheckShape, err}
	}

	challenges := make([]gf2.Polyval, len(r))
	gf2.ToPolyval(challenges, r)
	var folded []gf2.Element // what the last layer says about symbols of this one
	for i, l := range p.layers {
		if i > 0 {
			root = pf.Roots[i-1]
		}
		leaves := slices.Clone(indices)
		for k := range leaves {
			if i > 0 {
				leaves[k] >>= l.Fold
			}
		}
		rows, err := hash.Verify(p.Tree(i), root.digest(), leaves, &pf.Openings[i])
		if err != nil {
			return &Error{i, CheckOpening, err}
		}
		values := make([]gf2.Element, p.queries)
		known := map[int]gf2.Element{} // leaves that came before, folded
		for k, row := range rows {
			symbols := make([]gf2.Element, 1<<l.Fold)
			for s := range symbols {
				w := row[4*s:]
				symbols[s] = gf2.Element{Lo: uint64(w[0]) | uint64(w[1])<<32, Hi: uint64(w[2]) | uint64(w[3])<<32}
			}
			if i > 0 {
				if got := symbols[indices[k]&(1<<l.Fold-1)]; got != folded[k] {
					return failf(i, CheckFold, "query %d: symbol %d is %v, the layer before folds to %v", k, indices[k], got, folded[k])
				}
			}
			value, ok := known[leaves[k]]
			if !ok {
				value = foldLeaf(symbols, uint32(leaves[k]), challenges[:l.Fold])
				known[leaves[k]] = value
			}
			values[k] = value
		}
		indices, folded, challenges = leaves, values, challenges[l.Fold:]
	}
	for k, index := range indices {
		if codeword[index] != folded[k] {
			return failf(len(p.layers), CheckFinalCodeword, "query %d: symbol %d of the final message's codeword is %v, the last layer folds to %v",
				k, index, codeword[index], folded[k])
		}
	}
	return nil
}

// leafTwiddles are the twiddles of the pairs of the first leaf.
var leafTwiddles = sync.OnceValue(func() (t [1 << (maxFold - 1)]gf2.Polyval) {
	for k := range t {
		t[k] = additive.Twiddle(uint32(k)).Polyval()
	}
	return t
})

// foldLeaf folds the symbols of a leaf to one: additive.Fold of pairs, again and again,
// in POLYVAL's basis.
func foldLeaf(symbols []gf2.Element, leaf uint32, r []gf2.Polyval) gf2.Element {
	v := make([]gf2.Polyval, len(symbols))
	gf2.ToPolyval(v, symbols)
	twiddles := leafTwiddles()
	for _, x := range r {
		half := len(v) / 2
		// Twiddles are linear in the bits of the block's number.
		first := additive.Twiddle(leaf * uint32(half)).Polyval()
		for k := range half {
			odd := v[2*k].Add(v[2*k+1])
			even := v[2*k].Add(first.Add(twiddles[k]).Mul(odd))
			v[k] = even.Add(x.Mul(even.Add(odd)))
		}
		v = v[:half]
	}
	return v[0].Element()
}
