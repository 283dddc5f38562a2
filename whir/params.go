package whir

import (
	"fmt"
	"math"
)

// Spec is what parameters and security depend on in a pair of fields: the
// symbols of the committed codeword and the challenges.
type Spec struct {
	// Name says both fields with their reduction polynomials, and the hash.
	// It is part of what the transcript absorbs.
	Name string
	// Modulus of the base field, below 2^31.
	Modulus uint64
	// SymbolWords and ChallengeWords are the base field elements in a symbol
	// and in a challenge.
	SymbolWords, ChallengeWords int
	// MaxLogDomain is the largest n for which domains of 2^n points are used.
	MaxLogDomain int
	// CollisionBits is log2 of what a collision of the trees' hash costs, never
	// rounded up. No security level above it is accepted.
	CollisionBits float64
}

// FieldBits is log2 of the number of challenges, never rounded up.
func (s Spec) FieldBits() float64 { return float64(s.ChallengeWords) * math.Log2(float64(s.Modulus)) }

// level fails for a security level above what collisions of the trees' hash allow.
func (s Spec) level(lambda int) error {
	if !(float64(lambda) <= s.CollisionBits) {
		return fmt.Errorf("%w (%d bits, but a collision of the trees' hash costs 2^%.2f)", ErrInfeasible, lambda, math.Floor(100*s.CollisionBits)/100)
	}
	return nil
}

// Bound names the proven correlated-agreement theorem that Johnson-regime
// rounds rely on.
type Bound uint8

// Bounds for list decoding up to the Johnson radius.
const (
	BCHKS25 Bound = iota // ePrint 2025/2055, theorems 1.5 and 4.6
	DKT26                // ePrint 2026/2056, theorem 5.12
)

func (b Bound) String() string {
	switch b {
	case BCHKS25:
		return "BCHKS25"
	case DKT26:
		return "DKT26"
	}
	return fmt.Sprintf("Bound(%d)", uint8(b))
}

// Unique is the Multiplicity of a round that stays within half the minimum
// distance.
const Unique = 0

// Round is one folding round of the protocol.
type Round struct {
	// Fold is the number of variables bound in the round (k); a leaf of the
	// round's tree holds 2^Fold symbols.
	Fold int
	// Shrink is log2 of the factor by which the next domain is smaller (d);
	// 0 in the last round.
	Shrink int
	// Multiplicity is Unique for the unique decoding radius, else the
	// Guruswami-Sudan multiplicity (3 to 100) of the Johnson regime.
	Multiplicity int
	// Samples is the number of out-of-domain samples after the commitment.
	Samples int
	// Queries is the number of leaves opened, drawn with replacement.
	Queries int
	// FoldWork and QueryWork are the bits of proof of work before each folding
	// challenge, and before the query indices.
	FoldWork, QueryWork int
}

// Config is all public numbers of one commitment scheme.
type Config struct {
	Spec Spec
	// Vars is the number of variables: tables have 2^Vars symbols.
	Vars int
	// LogInvRate is -log2 of the rate of the first code.
	LogInvRate int
	// Batch is the number of tables that share a commitment, row by row. With
	// more than one, every claim is about all of them, and round 0 must be
	// within the unique decoding radius.
	Batch int
	// BatchWork is the bits of proof of work before the challenge that combines
	// the tables.
	BatchWork int
	// Arity of the hash trees: 2, 4 or 8.
	Arity int
	// Claims is the largest number of claims in a statement.
	Claims int
	// Lambda is the security in bits that every line of the report reaches.
	Lambda int
	// Bound for rounds in the Johnson regime.
	Bound  Bound
	Rounds []Round
}

// Limits on configurations.
const (
	maxVars   = 32
	maxRounds = 32
	maxFold   = 10
	maxWork   = 30
	maxCount  = 1 << 16 // queries, claims
	maxBatch  = 1 << 12
	maxRow    = 1<<16 - 1 // words in a row
	maxFinal  = 10        // log2 of the length of the final table
	minMulti  = 3
	maxMulti  = 100
)

// Params is a configuration that was found valid and reaches its security
// level. It is immutable.
type Params struct {
	c      Config
	vars   []int // m_0 .. m_M
	rate   []int // R_0 .. R_{M-1}
	report Report
}

// NewParams checks c: the shape, the sizes of the domains, and that every
// line of the security report reaches c.Lambda.
func NewParams(c Config) (*Params, error) {
	c.Rounds = append([]Round(nil), c.Rounds...)
	p := &Params{c: c}
	if err := p.shape(); err != nil {
		return nil, fmt.Errorf("whir: parameters: %w", err)
	}
	p.report = p.security()
	for _, l := range p.report.Lines {
		if !(l.Bits >= float64(c.Lambda)) {
			return nil, fmt.Errorf("whir: parameters: %s has %.2f bits, want %d", l.Name, l.Bits, c.Lambda)
		}
	}
	return p, nil
}

func in(name string, v, lo, hi int) error {
	if v < lo || v > hi {
		return fmt.Errorf("%s is %d, want %d to %d", name, v, lo, hi)
	}
	return nil
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// shape checks everything but the security, and fills vars and rate.
func (p *Params) shape() error {
	c, last := &p.c, len(p.c.Rounds)-1
	if c.Spec.Name == "" || c.Spec.Modulus >= 1<<31 || c.Spec.SymbolWords < 1 || c.Spec.ChallengeWords < c.Spec.SymbolWords {
		return fmt.Errorf("no field")
	}
	if err := first(
		in("the number of variables", c.Vars, 1, maxVars),
		in("the number of rounds", len(c.Rounds), 1, maxRounds),
		in("-log2 of the rate", c.LogInvRate, 1, c.Spec.MaxLogDomain),
		in("the number of claims", c.Claims, 0, maxCount),
		in("the number of tables", c.Batch, 1, maxBatch),
		in("batching work", c.BatchWork, 0, maxWork),
		in("the security level", c.Lambda, 1, 128),
		c.Spec.level(c.Lambda),
	); err != nil {
		return err
	}
	if c.Arity != 2 && c.Arity != 4 && c.Arity != 8 {
		return fmt.Errorf("tree arity %d, want 2, 4 or 8", c.Arity)
	}
	if c.Batch == 1 && c.BatchWork != 0 {
		return fmt.Errorf("batching work for one table")
	}
	if c.Batch > 1 && c.Rounds[0].Multiplicity != Unique {
		return fmt.Errorf("round 0 of %d tables is not within the unique decoding radius", c.Batch)
	}
	if c.Bound != BCHKS25 && c.Bound != DKT26 {
		return fmt.Errorf("unknown bound %d", c.Bound)
	}
	m, r := c.Vars, c.LogInvRate
	for i, d := range c.Rounds {
		shrink := in("shrink", d.Shrink, 1, d.Fold) // so that the rate never worsens
		if i == last {
			shrink = in("shrink of the last round", d.Shrink, 0, 0)
		}
		samples := 0
		if d.Multiplicity != Unique {
			samples = 1
		}
		err := first(
			in("fold", d.Fold, 1, min(m, maxFold)),
			shrink,
			in("log2 of the number of leaves", m+r-d.Fold, 1, c.Spec.MaxLogDomain),
			in("out-of-domain samples", d.Samples, samples, 8),
			in("queries", d.Queries, 1, maxCount),
			in("folding work", d.FoldWork, 0, maxWork),
			in("query work", d.QueryWork, 0, maxWork),
		)
		if d.Multiplicity != Unique {
			err = first(err, in("multiplicity", d.Multiplicity, minMulti, maxMulti))
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		p.vars, p.rate = append(p.vars, m), append(p.rate, r)
		m, r = m-d.Fold, r+d.Fold-d.Shrink
	}
	p.vars = append(p.vars, m)
	return first(
		in("log2 of the final table's length", m, 0, maxFinal),
		in("the width of round 0's rows", p.RowWords(0), 1, maxRow),
	)
}

// Config returns a copy of the numbers.
func (p *Params) Config() Config {
	c := p.c
	c.Rounds = append([]Round(nil), c.Rounds...)
	return c
}

// Spec of the fields.
func (p *Params) Spec() Spec { return p.c.Spec }

// Vars is the number of variables of committed tables.
func (p *Params) Vars() int { return p.c.Vars }

// Batch is the number of tables in a commitment.
func (p *Params) Batch() int { return p.c.Batch }

// BatchWork is the bits of proof of work before the tables are combined.
func (p *Params) BatchWork() int { return p.c.BatchWork }

// Arity of the hash trees.
func (p *Params) Arity() int { return p.c.Arity }

// Rounds is the number of folding rounds.
func (p *Params) Rounds() int { return len(p.c.Rounds) }

// Round returns the numbers of round i.
func (p *Params) Round(i int) Round { return p.c.Rounds[i] }

// RoundVars is the number of variables of the table committed in round i;
// RoundVars(Rounds()) is that of the final table.
func (p *Params) RoundVars(i int) int { return p.vars[i] }

// LogLeaves is log2 of the number of leaves of round i's tree, and of the
// domain that a folded leaf is an evaluation on.
func (p *Params) LogLeaves(i int) int { return p.vars[i] + p.rate[i] - p.c.Rounds[i].Fold }

// RowWords is the number of base field elements in a leaf of round i's tree.
func (p *Params) RowWords(i int) int {
	w := p.c.Spec.ChallengeWords
	if i == 0 {
		w = p.c.Spec.SymbolWords * p.c.Batch
	}
	return w << p.c.Rounds[i].Fold
}

// Security returns the report that the parameters were accepted for.
func (p *Params) Security() Report {
	r := p.report
	r.Lines = append([]Line(nil), r.Lines...)
	return r
}

func (p *Params) String() string {
	s := fmt.Sprintf("2^%d symbols, rate 2^-%d", p.c.Vars, p.c.LogInvRate)
	for _, d := range p.c.Rounds {
		regime := "UD"
		if d.Multiplicity != Unique {
			regime = fmt.Sprintf("J%d", d.Multiplicity)
		}
		s += fmt.Sprintf("; %s fold %d: %d queries, work %d/%d", regime, d.Fold, d.Queries, d.FoldWork, d.QueryWork)
		if d.Shrink > 1 {
			s += fmt.Sprintf(", shrink %d", d.Shrink)
		}
		if d.Samples > 0 {
			s += fmt.Sprintf(", %d samples", d.Samples)
		}
	}
	return s + fmt.Sprintf("; final 2^%d", p.vars[len(p.vars)-1])
}
