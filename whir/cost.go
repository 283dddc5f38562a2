package whir

import "math"

// The chooser's model of cost. Times are those of one core of a current x86
// server; only their ratios matter.
const (
	nsPermutation = 1000.0 // width-16 permutation
	nsButterfly   = 3.0    // an NTT butterfly, by base field word
	nsTable       = 100.0  // sum-check work for one entry of a table, over all rounds
	nsMultiply    = 15.0   // a product of challenges
)

// weights say what a nanosecond of proving, a byte of proof and a nanosecond
// of verifying cost.
type weights struct{ prove, size, verify float64 }

func (g Goal) weights() weights {
	switch g {
	case GoalSize:
		return weights{0.1, 10000, 0.1}
	case GoalVerify:
		return weights{0.1, 100, 100}
	}
	return weights{1, 500, 5}
}

// occupied is the expected number of nodes at depth d above t random leaves.
func occupied(t, d int) float64 {
	n := math.Exp2(float64(d))
	return n * -math.Expm1(float64(t)*math.Log1p(-1/n))
}

// pathNodes is the expected number of siblings in a pruned multiproof for t
// random leaves of a binary tree of the given depth.
func pathNodes(t, depth int) float64 {
	s, above := 0.0, 1.0
	for d := 1; d <= depth; d++ {
		n := occupied(t, d)
		s += 2*above - n
		above = n
	}
	return s
}

// round is the cost of committing to, folding and querying in one round.
func (w weights) round(spec Spec, batch int, st state, r Round) float64 {
	words := spec.ChallengeWords
	if st.first {
		words = spec.SymbolWords * batch
	}
	depth := st.vars + st.rate - r.Fold
	leaves, row := math.Exp2(float64(depth)), math.Exp2(float64(r.Fold))*float64(words)
	rowPerms := math.Ceil(row / 8)
	table := math.Exp2(float64(st.vars))

	prove := leaves*(rowPerms+1)*nsPermutation +
		leaves*row*float64(depth)/2*nsButterfly +
		table*nsTable +
		(float64(r.Fold)*math.Exp2(float64(r.FoldWork))+math.Exp2(float64(r.QueryWork)))*nsPermutation
	rows := occupied(r.Queries, depth)
	siblings := pathNodes(r.Queries, depth)
	d := float64(spec.ChallengeWords)
	size := 4 * (rows*row + 8*siblings + float64(r.Samples)*d + float64(r.Fold)*(2*d+2) + 2 + 8)
	verify := (rows*(rowPerms+1) + siblings) * nsPermutation
	verify += float64(r.Queries) * (math.Exp2(float64(r.Fold)) + 3*float64(st.vars)) * nsMultiply
	return w.prove*prove + w.size*size + w.verify*verify
}

// final is the cost of a final table of 2^vars challenges after t queries.
func (w weights) final(spec Spec, vars, t int) float64 {
	n, d := math.Exp2(float64(vars)), float64(spec.ChallengeWords)
	size := 4 * (n*d + float64(vars)*2*d)
	verify := n*(float64(t)+2)*nsMultiply + n*d/8*nsPermutation
	return w.prove*n*nsTable + w.size*size + w.verify*verify
}
