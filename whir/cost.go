package whir

import "math"

// Machine is what the chooser thinks the prover runs on. It does not change what
// the parameters mean, only which are the best.
type Machine uint8

// Machines. Grinding costs a GPU a thousandth of what it costs a core, and so does
// hashing, but every step of the protocol some microseconds.
const (
	CPU Machine = iota // a core of a current x86 server
	GPU                // an H100
)

// costs are the times of a machine's operations in nanoseconds; only their ratios
// matter.
type costs struct {
	permutation float64 // of width 16
	butterfly   float64 // of a transform, by base field word
	table       float64 // sum-check work for one entry of a table, over all rounds
	fold, round float64 // of one round of the sum-check and of the protocol, whatever their size
	absorb      float64 // a permutation of the transcript, one after the other
}

func (m Machine) costs() costs {
	if m == GPU {
		return costs{permutation: 0.34, butterfly: 0.0012, table: 0.03, fold: 30000, round: 400000, absorb: 1700}
	}
	return costs{permutation: nsPermutation, butterfly: 3, table: 100}
}

// Verifiers run on a core.
const (
	nsPermutation = 1000.0 // width-16 permutation
	nsMultiply    = 15.0   // a product of challenges
)

// weights say what a nanosecond of proving, a byte of proof and a nanosecond
// of verifying cost.
type weights struct {
	prove, size, verify float64
	on                  costs
}

func (g Goal) weights(m Machine) weights {
	w := weights{1, 500, 5, m.costs()}
	switch {
	case g == GoalSize:
		w.prove, w.size, w.verify = 0.1, 10000, 0.1
	case g == GoalVerify:
		w.prove, w.size, w.verify = 0.1, 100, 100
	case g == GoalSpeed:
		w.size, w.verify = 0.01, 0.001
	case m == GPU:
		w.size, w.verify = 40, 0.05
	}
	return w
}

// effort is what a step takes of each thing that weights weigh: nanoseconds of
// proving, bytes of proof, nanoseconds of verifying.
type effort struct{ prove, size, verify float64 }

// within says whether e takes no more of anything than o.
func (e effort) within(o effort) bool {
	return e.prove <= o.prove && e.size <= o.size && e.verify <= o.verify
}

func (w weights) of(e effort) float64 { return w.prove*e.prove + w.size*e.size + w.verify*e.verify }

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

// paths remembers the nodes of multiproofs.
type paths map[[2]int]multiproof

type multiproof struct{ rows, siblings float64 }

// of is the expected number of different leaves among t random ones at a depth, and
// of siblings in their multiproof.
func (p paths) of(t, depth int) (rows, siblings float64) {
	m, ok := p[[2]int{t, depth}]
	if !ok {
		m = multiproof{occupied(t, depth), pathNodes(t, depth)}
		p[[2]int{t, depth}] = m
	}
	return m.rows, m.siblings
}

// round is the cost of committing to, folding and querying in one round.
func (w weights) round(spec Spec, batch int, st state, r Round) float64 {
	return w.of(w.on.effort(spec, batch, st, r, paths{}))
}

// effort is what a round takes.
func (on costs) effort(spec Spec, batch int, st state, r Round, nodes paths) effort {
	words := spec.ChallengeWords
	if st.first {
		words = spec.SymbolWords * batch
	}
	depth := st.vars + st.rate - r.Fold
	leaves, row := math.Exp2(float64(depth)), math.Exp2(float64(r.Fold))*float64(words)
	rowPerms := math.Ceil(row / 8)
	table := math.Exp2(float64(st.vars))

	prove := leaves*(rowPerms+1)*on.permutation +
		leaves*row*float64(depth)/2*on.butterfly +
		table*on.table + float64(r.Fold)*on.fold + on.round +
		(float64(r.Fold)*math.Exp2(float64(r.FoldWork))+math.Exp2(float64(r.QueryWork)))*on.permutation
	rows, siblings := nodes.of(r.Queries, depth)
	d := float64(spec.ChallengeWords)
	size := 4 * (rows*row + 8*siblings + float64(r.Samples)*d + float64(r.Fold)*(2*d+2) + 2 + 8)
	verify := (rows*(rowPerms+1) + siblings) * nsPermutation
	verify += float64(r.Queries) * (math.Exp2(float64(r.Fold)) + 3*float64(st.vars)) * nsMultiply
	return effort{prove, size, verify}
}

// final is the cost of a final table of 2^vars challenges after t queries.
func (w weights) final(spec Spec, vars, t int) float64 {
	n, d := math.Exp2(float64(vars)), float64(spec.ChallengeWords)
	size := 4 * (n*d + float64(vars)*2*d)
	verify := n*(float64(t)+2)*nsMultiply + n*d/8*nsPermutation
	return w.prove*n*(w.on.table+d/8*w.on.absorb) + w.size*size + w.verify*verify
}
