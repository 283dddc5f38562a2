package whir

import (
	"errors"
	"fmt"
	"math"
)

// Goal is what the chooser makes small.
type Goal uint8

// Goals. Each is a weighting of proving time, proof size and verifying time,
// in which the named one dominates.
const (
	GoalProve Goal = iota
	GoalSize
	GoalVerify
	GoalSpeed // proving time alone, whatever the proof's size
)

// Options of the chooser. The zero value of a field means its default.
type Options struct {
	// Lambda is the security of every line in bits; default 100.
	Lambda int
	// Claims is the largest number of claims of a statement; default 1.
	Claims int
	// Goal of the search.
	Goal Goal
	// FoldWork and QueryWork are the most bits of proof of work before a
	// folding challenge and before query indices; default 14, NoWork for none.
	FoldWork, QueryWork int
	// Bound for Johnson rounds.
	Bound Bound
	// UniqueOnly keeps every round within the unique decoding radius.
	UniqueOnly bool
	// JohnsonStart allows the Johnson regime in round 0 too. Do not set it
	// where challenges are drawn between commitment and opening.
	JohnsonStart bool
	// Batch is the number of tables in a commitment; default 1. The work before
	// they are combined is within FoldWork.
	Batch int
	// Arity of the hash trees; default 2.
	Arity int
	// LogInvRate is -log2 of the rate of the first code; default whichever of 1
	// to 4 is best.
	LogInvRate int
	// MaxProof is the most bytes that a proof may take, as predicted; default any
	// number. The shorter, the more time goes into proving.
	MaxProof int
	// Machine that proofs are to be fast on; default CPU. For a GPU the default
	// of FoldWork and QueryWork is 20.
	Machine Machine
}

// NoWork is the work in Options that forbids proof of work.
const NoWork = -1

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Lambda, 100)
	def(&o.Claims, 1)
	work := 14
	if o.Machine == GPU {
		work = 20
	}
	def(&o.FoldWork, work)
	def(&o.QueryWork, work)
	def(&o.Batch, 1)
	def(&o.Arity, 2)
	o.FoldWork, o.QueryWork = max(o.FoldWork, 0), max(o.QueryWork, 0)
	return o
}

// Schedule is the part of the parameters that the security level does not
// determine: the first rate, and for each round the fold and the shrink.
type Schedule struct {
	LogInvRate int
	Folds      []int
	Shrinks    []int // of all rounds but the last
}

// ErrInfeasible is reported when no parameters reach the security level
// within the allowed proof of work.
var ErrInfeasible = errors.New("whir: no parameters reach the security level")

// Choose finds parameters for tables of 2^vars symbols.
func Choose(spec Spec, vars int, o Options) (*Params, error) {
	o = o.withDefaults()
	if err := first(in("the number of variables", vars, 1, maxVars), in("the security level", o.Lambda, 1, 128), in("the number of tables", o.Batch, 1, maxBatch),
		in("-log2 of the rate", o.LogInvRate, 0, spec.MaxLogDomain), in("the most bytes of a proof", o.MaxProof, 0, math.MaxInt32)); err != nil {
		return nil, fmt.Errorf("whir: choosing parameters: %w", err)
	}
	if err := spec.level(o.Lambda); err != nil {
		return nil, err
	}
	// Proofs get shorter as their size weighs more.
	first := newSearch(spec, o)
	for weight := 1.0; ; weight *= 1.5 {
		s := first
		if weight > 1 {
			s = first.reweighed(weight)
		}
		sched, ok := s.best(vars)
		if !ok {
			return nil, fmt.Errorf("%w (2^%d symbols, %d bits)", ErrInfeasible, vars, o.Lambda)
		}
		p, err := s.complete(vars, sched)
		if err != nil || o.MaxProof == 0 || p.Predict().ProofBytes <= o.MaxProof {
			return p, err
		}
		if weight > maxSizeWeight {
			return nil, fmt.Errorf("%w (2^%d symbols, %d bits, proofs of %d bytes)", ErrInfeasible, vars, o.Lambda, o.MaxProof)
		}
	}
}

// maxSizeWeight is where nothing but the size of proofs counts.
const maxSizeWeight = 1e3

// ChooseFirst finds parameters over the first of the fields in which the level can
// be reached, such as a quartic extension and then a quintic one. The parameters'
// Spec says which it is.
func ChooseFirst(vars int, o Options, specs ...Spec) (*Params, error) {
	err := fmt.Errorf("whir: choosing parameters: no field to choose from")
	for _, spec := range specs {
		var p *Params
		if p, err = Choose(spec, vars, o); !errors.Is(err, ErrInfeasible) {
			return p, err
		}
	}
	return nil, err
}

// better says whether a cost is below another by more than the last bits, which
// differ between processors: the same options give the same parameters
// everywhere.
func better(cost, than float64) bool { return cost < than*(1-1e-9) }

// search holds what the chooser computes once.
type search struct {
	spec       Spec
	field      float64
	o          Options
	w          weights
	candidates map[state]*candidates // whatever the weights
	nodes      paths
	fewest     map[[3]int]int // queries by multiplicity, rate and work
	picks      map[state]pick
	plans      map[state]plan
}

// state is a round to come: its number of variables and rate, and whether it
// is the first.
type state struct {
	vars, rate int
	first      bool
}

func newSearch(spec Spec, o Options) *search {
	return &search{spec: spec, field: spec.FieldBits(), o: o, w: o.Goal.weights(o.Machine), candidates: map[state]*candidates{}, nodes: paths{}, fewest: map[[3]int]int{}, picks: map[state]pick{}, plans: map[state]plan{}}
}

// reweighed is the search that gives the size of proofs that many times its weight.
// It shares what does not depend on weights.
func (s *search) reweighed(times float64) *search {
	w := s.w
	w.size = max(w.size, 1) * times
	return &search{spec: s.spec, field: s.field, o: s.o, w: w, candidates: s.candidates, nodes: s.nodes, fewest: s.fewest, picks: map[state]pick{}, plans: map[state]plan{}}
}

// candidates are the regimes of a round that can be the best, by fold factor, in
// the order in which they were tried.
type candidates [maxFold + 1][]candidate

type candidate struct {
	round Round
	cost  effort
}

// add keeps a candidate unless an earlier one costs no more of anything: no weights
// prefer it then.
func (c *candidates) add(r Round, cost effort) {
	for i := range c[r.Fold] {
		if c[r.Fold][i].cost.within(cost) {
			return
		}
	}
	c[r.Fold] = append(c[r.Fold], candidate{r, cost})
}

// pick is the best regimes of a round by fold factor.
type pick [maxFold + 1]struct {
	round Round
	cost  float64
	ok    bool
}

// slack stands in for log2 of the next round's list size while the next
// round is not known.
const slack = 6

// multiplicities to try in a round.
func (s *search) multiplicities(first bool) []int {
	out := []int{Unique}
	if s.o.UniqueOnly || first && (!s.o.JohnsonStart || s.o.Batch > 1) {
		return out
	}
	for m := minMulti; m <= maxMulti; m++ {
		out = append(out, m)
	}
	return out
}

// round picks the regime of a round for every fold factor.
func (s *search) round(st state) pick {
	if p, ok := s.picks[st]; ok {
		return p
	}
	all := s.candidates[st]
	if all == nil {
		all = new(candidates)
		for _, work := range s.queryWork() {
			s.regimes(st, all, work)
		}
		s.candidates[st] = all
	}
	var p pick
	for k := range all {
		for _, c := range all[k] {
			cost := s.w.of(c.cost)
			if !p[k].ok || better(cost, p[k].cost) {
				p[k].round, p[k].cost, p[k].ok = c.round, cost, true
			}
		}
	}
	s.picks[st] = p
	return p
}

// queryWork is the work before queries to try in a round. Where it is cheap there
// is a choice.
func (s *search) queryWork() []int {
	out := []int{s.o.QueryWork}
	for w := s.o.QueryWork - 1; s.o.Machine == GPU && w >= max(0, s.o.QueryWork-8); w-- {
		out = append(out, w)
	}
	return out
}

// regimes adds all regimes of a round for every fold factor, with the given work
// before its queries.
func (s *search) regimes(st state, all *candidates, queryWork int) {
	lambda, least := float64(s.o.Lambda), 0
	for _, mu := range s.multiplicities(st.first) {
		reg := regimeOf(mu, st.rate, s.o.Bound)
		if reg.agreement >= 1 {
			continue
		}
		samples := s.samples(reg, st.vars)
		queries, ok := s.fewest[[3]int{mu, st.rate, queryWork}]
		if !ok {
			queries = s.queries(reg, queryWork, slack, 2)
			s.fewest[[3]int{mu, st.rate, queryWork}] = queries
		}
		if queries == 0 || samples > 8 || mu != Unique && queries == least {
			continue // no fewer queries than a lower multiplicity has: more work for nothing
		}
		least = queries
		worst := math.Inf(1)
		for k := 1; k <= min(st.vars, maxFold); k++ {
			worst = math.Min(worst, reg.foldBits(s.field, st.vars-k))
			work := workFor(s.spec.Modulus, worst, lambda)
			if work > s.o.FoldWork {
				break
			}
			r := Round{Fold: k, Multiplicity: mu, Samples: samples, Queries: queries, FoldWork: work, QueryWork: queryWork}
			all.add(r, s.w.on.effort(s.spec, s.o.Batch, st, r, s.nodes))
		}
	}
}

// samples is the least number of out-of-domain samples.
func (s *search) samples(reg regime, vars int) int {
	n := 0
	if reg.multi != Unique {
		n = 1
		for n <= 8 && reg.sampleBits(s.field, vars, n) < float64(s.o.Lambda) {
			n++
		}
	}
	return n
}

// queries is the least number of queries such that they and the combination
// of their answers with `fresh` more claims, about a next list of 2^nextList
// words, reach the level together; 0 if no number does.
func (s *search) queries(reg regime, queryWork int, nextList float64, fresh int) int {
	lambda, work := float64(s.o.Lambda), workBits(s.spec.Modulus, queryWork)
	for t := max(1, int((lambda-work)/reg.queryBits(1))); t < maxCount; t++ {
		combine := s.field - nextList - math.Log2(float64(t+fresh))
		if combine <= lambda {
			return 0
		}
		if addBits(reg.queryBits(t)+work, combine) >= lambda {
			return t
		}
	}
	return 0
}

// complete fills in a schedule and settles the queries and their work
// exactly, now that each round's successor is known.
func (s *search) complete(vars int, sched Schedule) (*Params, error) {
	c := Config{Spec: s.spec, Vars: vars, LogInvRate: sched.LogInvRate, Batch: s.o.Batch, Arity: s.o.Arity, Claims: s.o.Claims, Lambda: s.o.Lambda, Bound: s.o.Bound}
	n := len(sched.Folds)
	if n == 0 || len(sched.Shrinks) != n-1 {
		return nil, fmt.Errorf("whir: schedule has %d folds and %d shrinks", n, len(sched.Shrinks))
	}
	if err := in("-log2 of the first rate", sched.LogInvRate, 1, s.spec.MaxLogDomain); err != nil {
		return nil, fmt.Errorf("whir: schedule: %w", err)
	}
	m, rate := vars, sched.LogInvRate
	var regs []regime
	for i, k := range sched.Folds {
		if m < 1 {
			return nil, fmt.Errorf("whir: schedule: no variables are left for round %d", i)
		}
		err := in("fold", k, 1, min(m, maxFold))
		if err == nil && i < n-1 {
			err = in("shrink", sched.Shrinks[i], 1, k)
		}
		if err != nil {
			return nil, fmt.Errorf("whir: schedule: round %d, %d variables: %w", i, m, err)
		}
		p := s.round(state{m, rate, i == 0})[k]
		if !p.ok {
			return nil, fmt.Errorf("%w (round %d)", ErrInfeasible, i)
		}
		r := p.round
		if i < n-1 {
			r.Shrink = sched.Shrinks[i]
		}
		c.Rounds = append(c.Rounds, r)
		regs = append(regs, regimeOf(r.Multiplicity, rate, s.o.Bound))
		m, rate = m-k, rate+k-r.Shrink
	}
	lambda := float64(s.o.Lambda)
	if s.o.Batch > 1 {
		c.BatchWork = workFor(s.spec.Modulus, batchBits(s.field, regs[0], vars, s.o.Batch), lambda)
		if c.BatchWork > s.o.FoldWork {
			return nil, fmt.Errorf("%w (batch)", ErrInfeasible)
		}
	}
	for i := range c.Rounds {
		r := &c.Rounds[i]
		shift := func(t, work int) float64 {
			bits := regs[i].queryBits(t) + workBits(s.spec.Modulus, work)
			if i == n-1 {
				return bits
			}
			return addBits(bits, regs[i+1].combineBits(s.field, t+c.Rounds[i+1].Samples))
		}
		most := r.QueryWork
		r.Queries = 1
		for r.Queries < maxCount && shift(r.Queries, most) < lambda {
			r.Queries++
		}
		r.QueryWork = 0
		for r.QueryWork < most && shift(r.Queries, r.QueryWork) < lambda {
			r.QueryWork++
		}
	}
	return NewParams(c)
}

// plan is the best way to go on from a state.
type plan struct {
	cost   float64
	fold   int
	shrink int // 0: the table after this fold is the final one
	ok     bool
}

// best searches all schedules.
func (s *search) best(vars int) (Schedule, bool) {
	var out Schedule
	found, least := false, math.Inf(1)
	lo, hi := 1, 4
	if s.o.LogInvRate != 0 {
		lo, hi = s.o.LogInvRate, s.o.LogInvRate
	}
	for rate := lo; rate <= hi; rate++ {
		if p := s.plan(state{vars, rate, true}); p.ok && (!found || better(p.cost, least)) {
			found, least, out.LogInvRate = true, p.cost, rate
		}
	}
	if !found {
		return out, false
	}
	for st := (state{vars, out.LogInvRate, true}); ; {
		p := s.plan(st)
		out.Folds = append(out.Folds, p.fold)
		if p.shrink == 0 {
			return out, true
		}
		out.Shrinks = append(out.Shrinks, p.shrink)
		st = state{st.vars - p.fold, st.rate + p.fold - p.shrink, false}
	}
}

// plan is dynamic programming over the rounds: costs of rounds add up, and a
// round's cost depends on its state and fold alone.
func (s *search) plan(st state) plan {
	if p, ok := s.plans[st]; ok {
		return p
	}
	var p plan
	consider := func(cost float64, fold, shrink int) {
		if !p.ok || better(cost, p.cost) {
			p = plan{cost, fold, shrink, true}
		}
	}
	for k, r := range s.round(st) {
		leaves := st.vars + st.rate - k
		if !r.ok || st.first && s.o.Batch*s.spec.SymbolWords<<k > maxRow || leaves < 1 || leaves > s.spec.MaxLogDomain {
			continue
		}
		m := st.vars - k
		if m <= maxFinal {
			consider(r.cost+s.w.final(s.spec, m, r.round.Queries), k, 0)
		}
		for d := 1; d <= k && m > 0; d++ {
			if next := s.plan(state{m, st.rate + k - d, false}); next.ok {
				consider(r.cost+next.cost, k, d)
			}
		}
	}
	s.plans[st] = p
	return p
}
