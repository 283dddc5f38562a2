package zkml

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// MinSecurity is the least union sum, in bits, that a key may have. Verify
// refuses keys below it; nothing turns that off.
const MinSecurity = 96

// margin keeps a key that one machine's logarithms accept from failing on
// another's.
const margin = 1e-6

// MaxWork bounds the proof of work before the lookup challenges.
const MaxWork = 26

// Settings are the free parameters of a key.
type Settings struct {
	Inference, Weights ArgumentSettings
}

// ArgumentSettings are the free parameters of one argument. The commitment of
// the parameters is listed in the inference's settings alone.
type ArgumentSettings struct {
	Work        int
	Commitments []*whir.M31Params // by home; those of committed inputs and outputs last
}

// commitment is the parameters of a home, nil if there are none.
func (s *ArgumentSettings) commitment(h plan.Home) *whir.M31Params {
	if int(h) < len(s.Commitments) {
		return s.Commitments[h]
	}
	return nil
}

// empty says that nothing is settled.
func (s *ArgumentSettings) empty() bool {
	for _, c := range s.Commitments {
		if c != nil {
			return false
		}
	}
	return s.Work == 0 && len(s.Commitments) <= int(plan.FirstCommitted)
}

func (s Settings) clone() Settings {
	s.Inference.Commitments, s.Weights.Commitments = slices.Clone(s.Inference.Commitments), slices.Clone(s.Weights.Commitments)
	return s
}

// Term is one step's soundness error.
type Term struct {
	Part string  // "inference" or "weights"
	Name string  // the step
	Bits float64 // -log2 of the error, work included
	Note string  // where the number comes from
}

// Report is the soundness budget of a key: of a proof under it together with
// the key's own proof. Min is the weakest step, which bounds round-by-round
// soundness and so the proof as compiled by Fiat and Shamir in the random
// oracle model; Sum is -log2 of the sum of all errors.
type Report struct {
	Terms    []Term
	Min, Sum float64
	MinTerm  string
}

// Security lists every term of a key's soundness budget.
func Security(vk *VerifyingKey) Report {
	terms := vk.inference.terms("inference")
	if vk.weights != nil {
		terms = append(terms, vk.weights.terms("weights")...)
	}
	r := Report{Terms: terms, Min: math.Inf(1)}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp2(-t.Bits)
		if t.Bits < r.Min {
			r.Min, r.MinTerm = t.Bits, t.Part+": "+t.Name
		}
	}
	r.Sum = -math.Log2(sum)
	return r
}

func (r Report) String() string {
	var b strings.Builder
	for _, t := range r.Terms {
		fmt.Fprintf(&b, "%-10s %-44s %7.2f  %s\n", t.Part, t.Name, t.Bits, t.Note)
	}
	fmt.Fprintf(&b, "%-55s %7.2f  %s\n", "bits (weakest step)", r.Min, r.MinTerm)
	fmt.Fprintf(&b, "%-55s %7.2f\n", "bits-sum (all steps)", r.Sum)
	return b.String()
}

// FieldBits is log2 of the number of challenges, (2^31-1)^4.
var fieldBits = 4 * math.Log2(float64(m31.P))

// workBits is what a proof of work of that many bits is worth: the share of
// words below p whose low bits are zero.
func workBits(bits int) float64 {
	if bits == 0 {
		return 0
	}
	return -math.Log2((float64(int64(m31.P)>>bits) + 1) / float64(m31.P))
}

// identityNumerator is the error of the lookup identity, times the number of
// challenges. The degree of fingerprints in beta is the most columns of a table.
func (a *Argument) identityNumerator() float64 {
	leaves := 0.0
	for _, l := range a.Plan.Leaves {
		leaves += float64(int(1) << l.Vars)
	}
	return logup.IdentityErrorNumerator(leaves, a.Plan.Width())
}

// terms of one argument, in protocol order.
func (a *Argument) terms(part string) []Term {
	var out []Term
	add := func(name string, numerator, extra float64, note string, args ...any) {
		if numerator > 0 {
			out = append(out, Term{part, name, fieldBits - math.Log2(numerator) + extra, fmt.Sprintf(note, args...)})
		}
	}
	p := a.Plan
	if len(p.Leaves) > 0 {
		add("lookups: identity", a.identityNumerator(), workBits(a.Work), "%d blocks of at most %d columns, tree of depth %d, %d bits of work", len(p.Leaves), p.Width(), p.TreeVars, a.Work)
		add("lookups: tree", logup.ErrorNumerator(p.TreeVars), 0, "depth %d", p.TreeVars)
	}
	zero, limbs := 0, 0
	for i := range p.Layers {
		for _, r := range p.Layers[i].Relations {
			// A relation between committed polynomials holds everywhere if it
			// does at a random point; one that defines a virtual polynomial
			// needs no such argument.
			// Copies of committed outputs are part of the output binding.
			q := &p.Polys[p.Evals[r.Out].Poly]
			if c := p.CommittedAs(q.Home); q.Home != plan.Virtual && (c == nil || !c.Output) {
				limbs += q.Vars
			}
		}
		for k := range p.Layers[i].Instances {
			if p.Layers[i].Instances[k].Kind == plan.ZeroPadding {
				zero++
			}
		}
	}
	if len(p.OutputPolys) > 0 {
		// All outputs are bound at one point; a false one is enough to fail.
		add("output binding", float64(p.BindVars), 0, "%d variables", p.BindVars)
	}
	add("limbs", float64(limbs), 0, "variables of all tensors in limbs")
	add("zero padding", float64(zero*p.BindVars), 0, "%d tensors, at most %d variables", zero, p.BindVars)
	for i := range p.Layers {
		shapes := p.Layers[i].Shapes()
		if len(shapes) > 0 {
			add(fmt.Sprintf("layer %d", i), sumcheck.ErrorNumerator(shapes), 0, "%d sum-checks, %d rounds", len(shapes), sumcheck.Rounds(shapes))
		}
	}
	merged := 0
	for i := range p.Stacks {
		if n := len(p.Stacks[i].Evals); n > 0 {
			merged += n - 1
		}
	}
	if shapes := p.MergeShapes(); len(shapes) > 0 {
		add("claim merging", float64(merged)+sumcheck.ErrorNumerator(shapes), 0, "%d claims on %d commitments", merged+len(shapes), len(shapes))
	}
	for _, h := range p.Order() {
		c := a.Commitments[h]
		if c == nil {
			continue
		}
		for _, l := range c.Security().Lines {
			out = append(out, Term{part, "opening of " + stackName(p, h) + ": " + l.Name, l.Bits, l.Note})
		}
	}
	return out
}

// stackName is a home's name; a committed tensor is called by its own.
func stackName(p *plan.Plan, h plan.Home) string {
	c := p.CommittedAs(h)
	switch {
	case c == nil:
		return h.String()
	case c.Output:
		return fmt.Sprintf("committed output %q", p.Polys[c.Tensor].Name)
	}
	return fmt.Sprintf("committed input %q", p.Polys[c.Tensor].Name)
}

// Choose finds settings for a program whose security budget sums to at least
// target bits: the smallest level for every line that makes it, with as much
// work before the lookup challenges as that level asks for. commits says which
// inputs and outputs are committed. Of o, Lambda, Claims and JohnsonStart are not
// used.
func Choose(p *graph.Program, mode Mode, commits Commits, target int, o whir.Options) (Settings, error) {
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}); err != nil {
		return Settings{}, fmt.Errorf("zkml: security: %w", err)
	}
	if target < MinSecurity {
		return Settings{}, fmt.Errorf("zkml: security target of %d bits, at least %d", target, MinSecurity)
	}
	main, err := plan.ForProgram(p, commits)
	if err != nil {
		return Settings{}, err
	}
	own := new(plan.Plan) // nothing to prove about weights
	if mode == Committed && len(p.Params()) > 0 {
		if own, err = plan.ForWeights(p); err != nil {
			return Settings{}, err
		}
	}
	best := math.Inf(-1)
	for lambda := target + 2; lambda <= target+10; lambda++ {
		s, err := choose(main, own, mode, lambda, o)
		if err != nil {
			return Settings{}, fmt.Errorf("zkml: security: %d bits a step: %w", lambda, err)
		}
		inference, weights, err := arguments(p, mode, commits, &s)
		if err != nil {
			return Settings{}, err
		}
		r := Security(&VerifyingKey{inference: inference, weights: weights})
		if r.Sum >= float64(target)+margin {
			return s, nil
		}
		best = math.Max(best, r.Sum)
	}
	return Settings{}, fmt.Errorf("zkml: security: %w of %d bits in all; the best have %.2f", whir.ErrInfeasible, target, best)
}

// choose finds settings where every line has lambda bits.
func choose(main, own *plan.Plan, mode Mode, lambda int, o whir.Options) (s Settings, err error) {
	if s.Inference, err = chooseArgument(main, mode == Committed, lambda, o); err != nil {
		return s, err
	}
	s.Weights, err = chooseArgument(own, false, lambda, o)
	return s, err
}

// chooseArgument finds the settings of one argument; params says whether the
// parameters' commitment is one of them.
func chooseArgument(p *plan.Plan, params bool, lambda int, o whir.Options) (s ArgumentSettings, err error) {
	if len(p.Leaves) > 0 {
		bits := fieldBits - math.Log2((&Argument{Plan: p}).identityNumerator())
		for bits+workBits(s.Work) < float64(lambda) {
			if s.Work++; s.Work > MaxWork {
				return s, fmt.Errorf("%w: lookups need more than %d bits of work", whir.ErrInfeasible, MaxWork)
			}
		}
	}
	// Challenges are drawn between commitment and opening, so round 0 is in the
	// unique-decoding regime.
	o.Lambda, o.Claims, o.JohnsonStart = lambda, 1, false
	s.Commitments = make([]*whir.M31Params, len(p.Stacks))
	failed := make([]error, len(p.Stacks))
	var wg sync.WaitGroup
	for h := range p.Stacks {
		choose := chooseCommitment
		if plan.Home(h) >= plan.FirstCommitted {
			choose = chooseSalted
		}
		if st := &p.Stacks[h]; len(st.Evals) > 0 && (params || st.Home != plan.Parameters) {
			wg.Go(func() { s.Commitments[h], failed[h] = choose(st.Vars, o) })
		}
	}
	wg.Wait()
	for h, err := range failed {
		if err != nil {
			return s, fmt.Errorf("%s: %w", stackName(p, plan.Home(h)), err)
		}
	}
	return s, nil
}

// saltedLevel is the level at which the code of a committed tensor is chosen.
const saltedLevel = MinSecurity + 6

// chooseSalted finds the parameters of a committed tensor. Its root is that of
// other keys too, so that the code must follow from size and options alone,
// while the level of a key's lines depends on its program: the schedule is that
// of a fixed level, and what a line lacks is made up by queries and work.
func chooseSalted(vars int, o whir.Options) (*whir.M31Params, error) {
	fixed := o
	fixed.Lambda = saltedLevel
	p, err := chooseCommitment(vars, fixed)
	if err != nil {
		return nil, err
	}
	inner := p.Inner()
	schedule := whir.Schedule{LogInvRate: inner.Config().LogInvRate}
	for i := range inner.Rounds() {
		r := inner.Round(i)
		if schedule.Folds = append(schedule.Folds, r.Fold); i < inner.Rounds()-1 {
			schedule.Shrinks = append(schedule.Shrinks, r.Shrink)
		}
	}
	if schedule.Folds[0] < plan.MinSaltedFold {
		return nil, fmt.Errorf("%w: the options make the first round bind %d variables, a salted commitment wants %d", whir.ErrInfeasible, schedule.Folds[0], plan.MinSaltedFold)
	}
	o.Claims *= 2 // over pairs
	if inner, err = whir.Complete(inner.Spec(), inner.Vars(), schedule, o); err != nil {
		return nil, err
	}
	return whir.NewM31Params(vars, inner)
}

// maxOpening is the most bytes that an opening takes, as predicted, where
// nothing else is asked for. Only stacks of 2^24 and more would take more: an
// opening of 2^29 shrinks to a quarter for a tenth more proving time.
const maxOpening = 512 << 10

func chooseCommitment(vars int, o whir.Options) (*whir.M31Params, error) {
	if o.MaxProof == 0 {
		o.MaxProof = maxOpening
		if c, err := whir.ChooseM31(vars, o); !errors.Is(err, whir.ErrInfeasible) {
			return c, err
		}
		o.MaxProof = 0
	}
	return whir.ChooseM31(vars, o)
}
