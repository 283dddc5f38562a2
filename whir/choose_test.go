package whir

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Fields of other systems, for known answers.
var (
	babyBear4  = Spec{Name: "BabyBear^4", Modulus: 15<<27 + 1, SymbolWords: 1, ChallengeWords: 4, MaxLogDomain: 27, CollisionBits: 128}
	koalaBear4 = Spec{Name: "KoalaBear^4", Modulus: 127<<24 + 1, SymbolWords: 1, ChallengeWords: 4, MaxLogDomain: 24, CollisionBits: 128}
	qm31       = Spec{Name: "QM31", Modulus: 1<<31 - 1, SymbolWords: 2, ChallengeWords: 4, MaxLogDomain: 30, CollisionBits: 128}
)

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// bySize completes a schedule for the least proof size alone.
func bySize(t *testing.T, spec Spec, vars int, s Schedule, o Options) Config {
	t.Helper()
	search := newSearch(spec, o.withDefaults())
	search.w = weights{size: 1}
	p, err := search.complete(vars, s)
	if err != nil {
		t.Fatal(err)
	}
	return p.Config()
}

func queries(c Config) (q []int) {
	for _, r := range c.Rounds {
		q = append(q, r.Queries)
	}
	return q
}

// OpenVM's production parameters: unique decoding, 100 bits, 2^24, folds of 4
// and 20 bits of work before the queries.
func TestQueriesOfOpenVM(t *testing.T) {
	for rate, want := range map[int][]int{1: {193, 88, 81, 81}, 2: {118, 84, 81, 81}} {
		c := bySize(t, babyBear4, 24, Schedule{rate, []int{4, 4, 4, 4}, ones(3)}, Options{UniqueOnly: true, QueryWork: 20, FoldWork: 20})
		if got := queries(c); !slices.Equal(got, want) {
			t.Errorf("rate 2^-%d: queries %v, want %v", rate, got, want)
		}
	}
}

// Regimes of independently computed settings for 2^24 at 100 bits with at most
// 18 bits of work a fold and 20 before queries.
func TestRegimesByProofSize(t *testing.T) {
	for _, tc := range []struct {
		bound  Bound
		rate   int
		folds  []int
		shrink []int
		want   string
	}{
		{BCHKS25, 1, []int{6, 5, 5}, []int{3, 1}, "J10:187/18 J8:42/18 J3:22/17"},
		{BCHKS25, 1, []int{6, 4, 4, 4}, []int{3, 1, 1}, "J10:187/18 J8:42/18 J3:25/15 J0:81/0"},
		{BCHKS25, 1, []int{4, 4, 4, 4, 4}, ones(4), "J10:187/18 J5:43/17 J3:25/17 J0:81/0 J0:81/0"},
		{BCHKS25, 2, []int{6, 4, 4, 4}, []int{3, 1, 1}, "J7:89/18 J5:34/18 J3:22/18 J0:81/0"},
		{DKT26, 1, []int{6, 5, 5}, []int{3, 1}, "J35:167/18 J15:41/15 J4:21/12"},
		{DKT26, 2, []int{6, 4, 4, 4}, []int{3, 1, 1}, "J20:83/18 J10:33/15 J4:21/13 J5:15/16"},
	} {
		c := bySize(t, koalaBear4, 24, Schedule{tc.rate, tc.folds, tc.shrink}, Options{JohnsonStart: true, Bound: tc.bound, FoldWork: 18, QueryWork: 20})
		got := ""
		for i, r := range c.Rounds {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("J%d:%d/%d", r.Multiplicity, r.Queries, r.FoldWork)
		}
		if got != tc.want {
			t.Errorf("%v rate 2^-%d %v: %s, want %s", tc.bound, tc.rate, tc.folds, got, tc.want)
		}
	}
}

func TestChooseReachesLevelEverywhere(t *testing.T) {
	for _, vars := range []int{1, 2, 3, 4, 5, 7, 10, 14, 18, 24} {
		for _, o := range []Options{
			{}, {Goal: GoalSize, Claims: 100}, {Goal: GoalVerify, Lambda: 102}, {UniqueOnly: true, QueryWork: NoWork, FoldWork: NoWork, Lambda: 96},
			{Arity: 8, Bound: DKT26, FoldWork: 18, QueryWork: 20, JohnsonStart: true, Goal: GoalSize},
		} {
			p, err := Choose(qm31, vars, o)
			if err != nil {
				t.Fatalf("2^%d %+v: %v", vars, o, err)
			}
			o = o.withDefaults()
			rep := p.Security()
			if rep.Min < float64(o.Lambda) || rep.Sum < float64(o.Lambda)-5 || rep.Sum >= rep.Min {
				t.Errorf("2^%d %+v: min %.2f sum %.2f", vars, o, rep.Min, rep.Sum)
			}
			for i := range p.Rounds() {
				r := p.Round(i)
				if r.FoldWork > o.FoldWork || r.QueryWork > o.QueryWork {
					t.Errorf("2^%d %+v: round %d over the work budget: %+v", vars, o, i, r)
				}
				if r.Multiplicity != Unique && (o.UniqueOnly || i == 0 && !o.JohnsonStart) {
					t.Errorf("2^%d %+v: round %d leaves unique decoding", vars, o, i)
				}
				// One query less, or one bit of work less, is too little.
				for _, less := range []func(*Round){
					func(r *Round) { r.Queries-- },
					func(r *Round) { r.QueryWork-- },
					func(r *Round) { r.FoldWork-- },
				} {
					c := p.Config()
					less(&c.Rounds[i])
					if _, err := NewParams(c); err == nil {
						t.Errorf("2^%d %+v: round %d %+v is also enough", vars, o, i, c.Rounds[i])
					}
				}
			}
		}
	}
}

// A better goal does not cost more by its own measure.
func TestGoals(t *testing.T) {
	cost := func(p *Params, w weights) (sum float64) {
		c := p.Config()
		for i, r := range c.Rounds {
			sum += w.round(qm31, 1, state{p.vars[i], p.rate[i], i == 0}, r)
		}
		return sum + w.final(qm31, p.vars[len(c.Rounds)], c.Rounds[len(c.Rounds)-1].Queries)
	}
	goals := []Goal{GoalProve, GoalSize, GoalVerify}
	var ps []*Params
	for _, g := range goals {
		p, err := Choose(qm31, 20, Options{Goal: g})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(p)
		ps = append(ps, p)
	}
	for i, g := range goals {
		for j := range goals {
			if a, b := cost(ps[i], g.weights(CPU)), cost(ps[j], g.weights(CPU)); a > b*1.01 {
				t.Errorf("goal %d: parameters of goal %d are cheaper, %.3g against %.3g", g, goals[j], b, a)
			}
		}
	}
}

// The first rate is the one that is asked for.
func TestChooseWithRate(t *testing.T) {
	for rate := 1; rate <= 6; rate++ {
		p, err := Choose(qm31, 18, Options{LogInvRate: rate})
		if err != nil || p.Config().LogInvRate != rate {
			t.Errorf("rate 2^-%d: %v, %v", rate, p, err)
		}
	}
	for _, rate := range []int{-1, 31} {
		if p, err := Choose(qm31, 18, Options{LogInvRate: rate}); err == nil {
			t.Errorf("rate 2^-%d: %v", rate, p)
		}
	}
}

// Proofs are no longer than asked for, and no parameters are found for proofs too
// short to be.
func TestChooseWithMaxProof(t *testing.T) {
	free, err := Choose(qm31, 20, Options{Machine: GPU})
	if err != nil {
		t.Fatal(err)
	}
	limit := free.Predict().ProofBytes * 9 / 10
	p, err := Choose(qm31, 20, Options{Machine: GPU, MaxProof: limit})
	if err != nil || p.Predict().ProofBytes > limit || p.PredictOn(GPU).Prove < free.PredictOn(GPU).Prove {
		t.Errorf("limit of %d bytes: %v, %v", limit, p, err)
	}
	if p, err := Choose(qm31, 10, Options{MaxProof: 1000}); !errors.Is(err, ErrInfeasible) {
		t.Errorf("limit of 1000 bytes: %v, %v", p, err)
	}
}

func TestInfeasible(t *testing.T) {
	_, err := Choose(qm31, 24, Options{Lambda: 125})
	if !errors.Is(err, ErrInfeasible) {
		t.Fatalf("error %v", err)
	}
	if _, err := Choose(qm31, 0, Options{}); err == nil {
		t.Fatal("no variables: no error")
	}
}

func TestReportSums(t *testing.T) {
	r := NewReport([]Line{{"a", 10, ""}, {"b", 10, ""}, {"c", 9, ""}})
	if r.Min != 9 || math.Abs(r.Sum-8) > 1e-12 {
		t.Fatalf("min %v sum %v", r.Min, r.Sum)
	}
}

func TestParametersRefused(t *testing.T) {
	good := Config{Spec: qm31, Vars: 8, LogInvRate: 1, Batch: 1, Arity: 2, Claims: 2, Lambda: 40, Rounds: []Round{
		{Fold: 2, Shrink: 1, Queries: 100}, {Fold: 2, Shrink: 2, Multiplicity: 3, Samples: 1, Queries: 100}, {Fold: 2, Queries: 100},
	}}
	if _, err := NewParams(good); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		want   string // in the error
		change func(*Config)
	}{
		"no field":            {"no field", func(c *Config) { c.Spec = Spec{} }},
		"no rounds":           {"number of rounds", func(c *Config) { c.Rounds = nil }},
		"rate 1":              {"rate is 0", func(c *Config) { c.LogInvRate = 0 }},
		"negative rate":       {"rate is -1", func(c *Config) { c.LogInvRate = -1 }},
		"vars":                {"round 2: fold", func(c *Config) { c.Vars = 5 }},
		"huge":                {"variables", func(c *Config) { c.Vars = 33 }},
		"arity":               {"arity", func(c *Config) { c.Arity = 3 }},
		"bound":               {"bound", func(c *Config) { c.Bound = 2 }},
		"claims":              {"claims", func(c *Config) { c.Claims = -1 }},
		"no tables":           {"tables", func(c *Config) { c.Batch = 0 }},
		"batch work":          {"batching work", func(c *Config) { c.BatchWork = 1 }},
		"batch in Johnson":    {"unique", func(c *Config) { c.Batch = 2; c.Rounds[0].Multiplicity, c.Rounds[0].Samples = 3, 1 }},
		"wide rows":           {"width", func(c *Config) { c.Batch = 4096; c.Rounds[0].Fold, c.Rounds[1].Fold, c.Rounds[1].Shrink = 3, 1, 1 }},
		"lambda 0":            {"security level", func(c *Config) { c.Lambda = 0 }},
		"lambda unreached":    {"round 1: shift has", func(c *Config) { c.Lambda = 80 }},
		"no fold":             {"round 1: fold", func(c *Config) { c.Rounds[1].Fold = 0 }},
		"no shrink":           {"round 0: shrink", func(c *Config) { c.Rounds[0].Shrink = 0 }},
		"rate worsens":        {"round 0: shrink", func(c *Config) { c.Rounds[0].Shrink = 3 }},
		"last round shrinks":  {"last round", func(c *Config) { c.Rounds[2].Shrink = 1 }},
		"multiplicity 2":      {"multiplicity", func(c *Config) { c.Rounds[1].Multiplicity = 2 }},
		"multiplicity 101":    {"multiplicity", func(c *Config) { c.Rounds[1].Multiplicity = 101 }},
		"Johnson, no samples": {"round 1: out-of-domain samples", func(c *Config) { c.Rounds[1].Samples = 0 }},
		"no queries":          {"round 2: queries", func(c *Config) { c.Rounds[2].Queries = 0 }},
		"negative work":       {"query work", func(c *Config) { c.Rounds[0].QueryWork = -1 }},
		"work over 30":        {"folding work", func(c *Config) { c.Rounds[0].FoldWork = 31 }},
		"domain too large":    {"leaves", func(c *Config) { c.Spec.MaxLogDomain = 6 }},
		"final table too long": {"final table", func(c *Config) {
			c.Vars, c.Rounds = 20, c.Rounds[2:]
		}},
	} {
		c := good
		c.Rounds = slices.Clone(good.Rounds)
		tc.change(&c)
		if p, err := NewParams(c); err == nil {
			t.Errorf("%s: accepted %v", name, p)
		} else if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %q does not mention %q", name, err, tc.want)
		}
	}
}

// The bounds at points computed by hand.
func TestBounds(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	u := regimeOf(Unique, 1, BCHKS25)
	near("agreement", u.agreement, 0.75)
	near("exceptional", u.exceptional(10), 2048)
	near("queries", u.queryBits(100), 41.503749)
	j := regimeOf(4, 2, BCHKS25)
	near("agreement", j.agreement, 0.5625)
	near("list", j.list, 9)
	// t = 4.5, delta = 0.4375, rho = 1/4, n = 4096: (2*4.5^5 + 3*4.5*0.4375*0.25)*4096/(3/8) + 9
	near("exceptional", j.exceptional(10), (2*1845.28125+1.4765625)*4096*8/3+9)
	near("exceptional", regimeOf(4, 2, DKT26).exceptional(10), 8*4096*91.125/(3*1023.0/4096))
	near("samples", j.sampleBits(124, 10, 2), 2*114+1-2*math.Log2(9))
	near("work", workBits(1<<31-1, 10), 10)
	near("work", workBits(97, 3), math.Log2(97.0/13))
	if b := regimeOf(3, 1, DKT26).foldBits(124, 0); !math.IsInf(b, -1) {
		t.Errorf("dimension 1: %v bits", b)
	}
	if f := koalaBear4.FieldBits(); math.Abs(f-123.95) > 0.01 {
		t.Errorf("KoalaBear^4 has %v bits", f)
	}
}

// TestM31OptionsApplyOnce has no work where none is allowed.
func TestM31OptionsApplyOnce(t *testing.T) {
	p, err := ChooseM31(9, Options{Lambda: 98, UniqueOnly: true, FoldWork: NoWork, QueryWork: NoWork})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Inner().Rounds() {
		if r := p.Inner().Round(i); r.FoldWork != 0 || r.QueryWork != 0 {
			t.Errorf("round %d has %d and %d bits of work", i, r.FoldWork, r.QueryWork)
		}
	}
	if n := p.Inner().Config().Claims; n != 2 {
		t.Errorf("%d claims over CM31, want 2", n)
	}
}
