package whir

import (
	"fmt"
	"math"
	"time"
)

// Complete finds parameters for tables of 2^vars symbols with the given
// schedule: regimes, samples, queries and work follow from it and from the
// options, whose goal decides between regimes.
func Complete(spec Spec, vars int, sched Schedule, o Options) (*Params, error) {
	o = o.withDefaults()
	if err := first(in("the number of variables", vars, 1, maxVars), in("the security level", o.Lambda, 1, 128), in("the number of tables", o.Batch, 1, maxBatch)); err != nil {
		return nil, fmt.Errorf("whir: completing a schedule: %w", err)
	}
	if err := spec.level(o.Lambda); err != nil {
		return nil, err
	}
	return newSearch(spec, o).complete(vars, sched)
}

// Prediction is what committing, opening and verifying are expected to take.
type Prediction struct {
	// Prove is the time of commitment and opening, Verify that of the verifier,
	// on one core by the chooser's model.
	Prove, Verify time.Duration
	// ProofBytes is the expected size of the encoded proof: it varies with how
	// many of the drawn indices coincide or share paths.
	ProofBytes int
}

// Predict applies the chooser's model of cost for a core to the parameters.
func (p *Params) Predict() Prediction { return p.PredictOn(CPU) }

// PredictOn is Predict for a machine; the verifier is on a core all the same.
func (p *Params) PredictOn(m Machine) Prediction {
	sum := func(w weights) float64 {
		w.on = m.costs()
		total := 0.0
		for i, r := range p.c.Rounds {
			total += w.round(p.c.Spec, p.c.Batch, state{p.vars[i], p.rate[i], i == 0}, r)
		}
		n := len(p.c.Rounds)
		return total + w.final(p.c.Spec, p.vars[n], p.c.Rounds[n-1].Queries)
	}
	return Prediction{
		Prove:      time.Duration(sum(weights{prove: 1})),
		Verify:     time.Duration(sum(weights{verify: 1})),
		ProofBytes: int(math.Round(4 * p.proofWords())),
	}
}

// proofWords is the expected number of words in the encoding of a proof.
func (p *Params) proofWords() float64 {
	nonce := func(work int) float64 {
		if work > 0 {
			return 2
		}
		return 0
	}
	d := float64(p.c.Spec.ChallengeWords)
	words := nonce(p.c.BatchWork)
	for i, r := range p.c.Rounds {
		if i > 0 {
			words += 8 // the root
		}
		words += float64(r.Samples) * d
		words += float64(r.Fold) * (2*d + nonce(r.FoldWork))
		depth := p.LogLeaves(i)
		rows := occupied(r.Queries, depth)
		words += nonce(r.QueryWork) + 2 + rows*float64(p.RowWords(i)) + 8*siblingNodes(r.Queries, depth, p.c.Arity)
	}
	m := p.vars[len(p.c.Rounds)]
	return words + math.Exp2(float64(m))*d + float64(m)*2*d
}

// siblingNodes is the expected number of siblings in a pruned multiproof for t
// random leaves of a tree of 2^depth leaves; where the depth is no multiple of
// the arity's, the root has fewer children.
func siblingNodes(t, depth, arity int) float64 {
	step, s := log2Arity(arity), 0.0
	for d := depth; d > 0; {
		up := min(step, d)
		s += math.Exp2(float64(up))*occupied(t, d-up) - occupied(t, d)
		d -= up
	}
	return s
}

func log2Arity(arity int) int {
	switch arity {
	case 4:
		return 2
	case 8:
		return 3
	}
	return 1
}
