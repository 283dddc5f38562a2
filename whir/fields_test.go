package whir

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// bears are the specs over BabyBear and KoalaBear.
func bears() []Spec {
	return []Spec{SpecBabyBear4(Poseidon2), SpecKoalaBear4(BLAKE3), SpecBabyBear5(SHA256), SpecKoalaBear5(Poseidon2)}
}

// The size of a field is never rounded up.
func TestFieldBits(t *testing.T) {
	for i, want := range []float64{123.63, 123.95, 154.53, 154.94} {
		s := bears()[i]
		if got := s.FieldBits(); math.Abs(got-want) > 0.005 || got != float64(s.ChallengeWords)*math.Log2(float64(s.Modulus)) {
			t.Errorf("%s: %.4f bits, want %.2f", s.Name, got, want)
		}
	}
}

// All schemes have names of their own, which the transcript absorbs.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range []Hash{Poseidon2, BLAKE3, SHA256} {
		for _, s := range []Spec{specCM31(h), SpecBabyBear4(h), SpecBabyBear5(h), SpecKoalaBear4(h), SpecKoalaBear5(h)} {
			if seen[s.Name] || !strings.HasSuffix(s.Name, h.String()) {
				t.Errorf("name %q", s.Name)
			}
			seen[s.Name] = true
		}
	}
	for name, h := range map[string]Hash{"poseidon2": Poseidon2, "blake3": BLAKE3, "sha256": SHA256} {
		if got, err := ParseHash(name); err != nil || got != h {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ParseHash("sha3"); err == nil {
		t.Error("a hash that does not exist")
	}
}

// A quartic extension is taken as long as it reaches the level.
func TestChooseFirst(t *testing.T) {
	for _, tc := range []struct{ lambda, degree int }{{80, 4}, {100, 4}, {116, 5}, {128, 5}} {
		p, err := ChooseFirst(20, Options{Lambda: tc.lambda}, SpecKoalaBear4(BLAKE3), SpecKoalaBear5(BLAKE3))
		if err != nil {
			t.Fatal(err)
		}
		if p.Spec().ChallengeWords != tc.degree || p.Security().Min < float64(tc.lambda) {
			t.Errorf("%d bits: degree %d with %.2f bits", tc.lambda, p.Spec().ChallengeWords, p.Security().Min)
		}
	}
	if _, err := ChooseFirst(20, Options{Lambda: 128}, SpecKoalaBear4(BLAKE3)); !errors.Is(err, ErrInfeasible) {
		t.Errorf("128 bits in a quartic extension: %v", err)
	}
	if _, err := ChooseFirst(20, Options{}); err == nil {
		t.Error("parameters over no field")
	}
}

// No level is above what a collision of the trees' hash costs: the root of p^8 for
// Poseidon2, so that even 124 bits are too many.
func TestCollisionsLimitLevel(t *testing.T) {
	sched := Schedule{1, []int{5, 5}, []int{3}}
	for _, tc := range []struct {
		spec           func(Hash) Spec
		hash           Hash
		reached, level int
	}{
		{SpecBabyBear5, Poseidon2, 123, 124}, {SpecKoalaBear5, Poseidon2, 123, 124}, {specCM31, Poseidon2, 100, 124},
		{SpecBabyBear5, BLAKE3, 128, 129}, {SpecKoalaBear5, SHA256, 128, 129},
	} {
		spec := tc.spec(tc.hash)
		p, err := Complete(spec, 20, sched, Options{Lambda: tc.reached, FoldWork: 20, QueryWork: 20})
		if err != nil {
			t.Errorf("%s: %v", spec.Name, err)
			continue
		}
		c := p.Config()
		c.Lambda = tc.level
		_, made := NewParams(c)
		_, completed := Complete(spec, 20, sched, Options{Lambda: tc.level})
		_, chosen := Choose(spec, 20, Options{Lambda: tc.level})
		for _, err := range []error{made, completed, chosen} {
			if err == nil || !strings.Contains(err.Error(), "security level") {
				t.Errorf("%s: %d bits: error %v", spec.Name, tc.level, err)
			}
		}
	}
}

// Parameters that conjectures about the capacity would allow are refused by the
// line that fails; so are work that is rounded down, a rate of 1, domains larger
// than the field's, work over the budget, and too many bits of work.
func TestRefusedOverBears(t *testing.T) {
	for _, spec := range bears() {
		good := func() Config {
			p, err := Complete(spec, 20, Schedule{1, []int{5, 5}, []int{3}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return p.Config()
		}
		if _, err := NewParams(good()); err != nil {
			t.Fatal(err)
		}
		for name, tc := range map[string]struct {
			change func(c *Config)
			line   string
		}{
			// One bit a query at rate 1/2, R bits at rate 2^-R.
			"capacity, round 0": {func(c *Config) { c.Rounds[0].Queries = 100 - c.Rounds[0].QueryWork }, "round 1: shift"},
			"capacity, round 1": {func(c *Config) { c.Rounds[1].Queries = (100-c.Rounds[1].QueryWork)/3 + 1 }, "final: queries"},
			"query less":        {func(c *Config) { c.Rounds[0].Queries-- }, "round 1: shift"},
			"last query less":   {func(c *Config) { c.Rounds[1].Queries-- }, "final: queries"},
			"rate 1":            {func(c *Config) { c.LogInvRate = 0 }, "rate"},
			"large domain":      {func(c *Config) { c.LogInvRate = spec.MaxLogDomain }, "leaves"},
			"31 bits":           {func(c *Config) { c.Rounds[0].QueryWork = 31 }, "query work"},
			"capacity bound":    {func(c *Config) { c.Bound = 2 }, "bound"},
			"level":             {func(c *Config) { c.Lambda = 129 }, "level"},
		} {
			c := good()
			tc.change(&c)
			if _, err := NewParams(c); err == nil || !strings.Contains(err.Error(), tc.line) {
				t.Errorf("%s: %s: error %v, want one about %q", spec.Name, name, err, tc.line)
			}
		}
	}
	// In the quartic extension 100 bits need work before folding challenges.
	c := Options{FoldWork: NoWork, QueryWork: 14}
	if _, err := Complete(SpecBabyBear4(Poseidon2), 24, Schedule{1, []int{6, 5, 5}, []int{3, 1}}, c); !errors.Is(err, ErrInfeasible) {
		t.Errorf("no work in the quartic extension: %v", err)
	}
	if _, err := Complete(SpecBabyBear5(Poseidon2), 24, Schedule{1, []int{6, 5, 5}, []int{3, 1}}, c); err != nil {
		t.Errorf("no work in the quintic extension: %v", err)
	}
	p, err := Complete(SpecBabyBear4(Poseidon2), 24, Schedule{1, []int{6, 5, 5}, []int{3, 1}}, Options{FoldWork: 20, QueryWork: 20, JohnsonStart: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range p.Config().Rounds {
		if r.FoldWork == 0 {
			continue
		}
		c := p.Config()
		c.Rounds[i].FoldWork-- // what rounding down would give
		if _, err := NewParams(c); err == nil || !strings.Contains(err.Error(), "fold") {
			t.Errorf("round %d with a bit of work less: %v", i, err)
		}
	}
}

// On a GPU work is cheap: parameters for one have smaller proofs.
func TestMachines(t *testing.T) {
	spec := SpecBabyBear4(Poseidon2)
	cpu, err := Choose(spec, 24, Options{JohnsonStart: true})
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := Choose(spec, 24, Options{JohnsonStart: true, Machine: GPU})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(cpu)
	t.Log(gpu)
	a, b := gpu.PredictOn(GPU), cpu.PredictOn(GPU)
	if a.ProofBytes >= b.ProofBytes || a.ProofBytes > 180<<10 {
		t.Errorf("%d bytes for a GPU, %d for a CPU", a.ProofBytes, b.ProofBytes)
	}
	if gpu.PredictOn(CPU).Prove <= cpu.PredictOn(CPU).Prove {
		t.Error("parameters for a GPU are faster on a CPU")
	}
}
