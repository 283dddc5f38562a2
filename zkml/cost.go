package zkml

import (
	"math"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Cost counts what a proof of an inference consists of. All of it follows from the program; nothing is run for it.
type Cost struct {
	Stacks      []StackCost
	Operations  int // of the program
	Blocks      int // of leaves: look-ups, and tables' rows
	Leaves      int // in all blocks, padding included
	TreeVars    int // depth of the tree of their sums
	Layers      int
	SumChecks   int
	Rounds      int // of all layers and of merging, one after the other
	Products    int // summands of all sum-checks together
	Evaluations int // that the prover sends
	Claims      int // values that openings settle
	ProofBytes  int // expected
	Report
}

// StackCost is one commitment.
type StackCost struct {
	Name    string
	Vars    int // 2^Vars words, padding included
	Tensors int
	Words   int // of the tensors themselves, each padded to powers of two
	Proof   int // expected bytes of its opening
}

// CostOf plans a proof with a security budget of at least target bits. The options are those of Setup's commitments.
func CostOf(p *graph.Program, mode Mode, commits Commits, target int, o whir.Options) (*Cost, error) {
	settings, err := Choose(p, mode, commits, target, o)
	if err != nil {
		return nil, err
	}
	inference, weights, err := arguments(p, mode, commits, &settings)
	if err != nil {
		return nil, err
	}
	c := &Cost{Report: Security(&VerifyingKey{inference: inference, weights: weights})}
	c.Operations = len(p.Ops)
	c.count(inference)
	return c, nil
}

// CostOfKey counts for a key that has been made.
func CostOfKey(vk *VerifyingKey) *Cost {
	c := &Cost{Report: Security(vk), Operations: len(vk.program.Ops)}
	c.count(vk.inference)
	return c
}

// Bytes of an element of the extension field and of a digest.
const qm31Bytes, digestBytes = 16, 32

func (c *Cost) count(a *Argument) {
	p := a.Plan
	c.Blocks, c.TreeVars, c.Layers, c.Evaluations = len(p.Leaves), p.TreeVars, len(p.Layers), len(p.LeafSent)
	for i := range p.Leaves {
		c.Leaves += 1 << p.Leaves[i].Vars
	}
	// A level of the tree is a sum-check over the variables below it, of three values a round, and four values at its end.
	for level := range c.TreeVars {
		c.ProofBytes += (3*level + 4) * qm31Bytes
	}
	for i := range p.Layers {
		l := &p.Layers[i]
		c.Evaluations += len(l.Sent)
		c.SumChecks += len(l.Instances)
		c.Rounds += l.Rounds
		for k := range l.Instances {
			c.Products += 1 << l.Instances[k].Vars
			c.ProofBytes += len(l.Instances[k].Factors) * qm31Bytes
		}
		c.ProofBytes += 3 * l.Rounds * qm31Bytes
	}
	c.ProofBytes += c.Evaluations * qm31Bytes
	merging := 0
	for _, h := range p.Order() {
		s, params := &p.Stacks[h], a.Commitments[h]
		if s.Empty() {
			continue
		}
		cost := StackCost{Name: stackName(p, h), Vars: s.Vars, Tensors: len(s.Polys)}
		for _, id := range s.Polys {
			cost.Words += 1 << p.Polys[id].Vars
		}
		if params != nil {
			cost.Proof = params.Inner().Predict().ProofBytes + 2*qm31Bytes
			c.ProofBytes += cost.Proof + digestBytes
			merging = max(merging, s.Vars)
		}
		c.Claims += len(s.Evals)
		c.Stacks = append(c.Stacks, cost)
	}
	c.Rounds += merging
	c.ProofBytes += 3 * merging * qm31Bytes
}

// StackWords is the number of words of all commitments, padding included.
func (c *Cost) StackWords() int {
	n := 0
	for _, s := range c.Stacks {
		n += 1 << s.Vars
	}
	return n
}

// Memory estimates the bytes that proving needs at its peak beside the program's tensors: the tree's fractions, or what merges the claims.
func (c *Cost) Memory() int64 { return 56*int64(c.Leaves) + 20*int64(c.StackWords()) }

// Rates say how long parts of a proof take on a machine, in nanoseconds.
type Rates struct {
	// Base is spent once; Round for each round of the tree, of layers and of merging, whose challenges wait for it; Operation for each
	// operation of the forward pass.
	Base, Round, Operation      float64
	Leaf, Word, Product, MulAdd float64 // for each, with all threads at work
}

// RatesCPU and RatesGPU are fits to measurements (suites m31, whir and zkml of package bench): one thread of a Xeon with AVX-512 in a run
// of 16, and an H100 or H200. They tell what matters for a model and what does not, and are right to a factor of about three.
var (
	RatesCPU = Rates{Base: 1e6, Round: 1e5, Leaf: 630, Word: 100, Product: 30, MulAdd: 1}
	RatesGPU = Rates{Base: 2e6, Round: 2e4, Operation: 2.3e4, Leaf: 0.18, Word: 0.2, Product: 0.03, MulAdd: 0.001}
)

// Milliseconds estimates the proving time on so many threads, of which a GPU has one, for a program of so many multiply-adds.
func (r *Rates) Milliseconds(c *Cost, mulAdds int64, threads int) float64 {
	// The tree's levels are sum-checks one after the other.
	rounds := float64(c.Rounds) + float64(c.TreeVars*(c.TreeVars+1)/2)
	work := r.Leaf*float64(c.Leaves) + r.Word*float64(c.StackWords()) + r.Product*float64(c.Products) + r.MulAdd*float64(mulAdds)
	return (r.Base + r.Round*rounds + r.Operation*float64(c.Operations) + work/math.Max(1, float64(threads))) / 1e6
}
