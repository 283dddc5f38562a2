package prover

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

type (
	cheat      = tamper[m31.Element, m31.QM31]
	batchClaim = whir.BatchClaim[m31.QM31]
	eq         = whir.Eq[m31.QM31]
	sel        = whir.Sel[m31.QM31]
)

func eqAt(point []m31.QM31) eq   { return eq{Point: point} }
func selAt(point []m31.QM31) sel { return sel{Point: point} }

// config fills in the fields in which most tests agree.
func config(vars, rate int, rounds ...whir.Round) whir.Config {
	return whir.Config{Spec: whir.SpecCM31(), Vars: vars, LogInvRate: rate, Batch: 1, Arity: 2, Claims: 8, Lambda: 1, Rounds: rounds}
}

func with(c whir.Config, change func(*whir.Config)) whir.Config {
	c.Rounds = append([]whir.Round(nil), c.Rounds...)
	change(&c)
	return c
}

func params(t testing.TB, c whir.Config) *whir.Params {
	t.Helper()
	p, err := whir.NewParams(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scenario is parameters, random tables and a true statement.
type scenario struct {
	p      *whir.Params
	tables [][]m31.CM31
	claims []batchClaim
}

// linear is a caller's own weight: the table a*b_1 + c of the first variable.
type linear struct {
	vars int
	a, c m31.QM31
}

func (l linear) Vars() int { return l.vars }
func (l linear) Words() []uint32 {
	return l.c.AppendWords(l.a.AppendWords([]uint32{whir.KindUser}))
}
func (l linear) Eval(r []m31.QM31) m31.QM31 { return l.a.Mul(r[0]).Add(l.c) }
func (l linear) AddTo(dst []m31.QM31, coeff m31.QM31) {
	for b := range dst {
		v := l.c
		if b >= len(dst)/2 {
			v = v.Add(l.a)
		}
		dst[b] = dst[b].Add(coeff.Mul(v))
	}
}

// truth is the claim about the tables that a weight gives, by definition.
func truth(tables [][]m31.CM31, w whir.Weight[m31.QM31]) batchClaim {
	c := batchClaim{Weight: w}
	for _, table := range tables {
		var v m31.QM31
		for b, f := range table {
			v = v.Add(w.Eval(boolean(b, w.Vars())).MulCM31(f))
		}
		c.Values = append(c.Values, v)
	}
	return c
}

// newScenario has a claim of every kind, two of them at random points.
func newScenario(t testing.TB, seed uint64, c whir.Config) *scenario {
	t.Helper()
	s := newSource(seed)
	sc := &scenario{p: params(t, c)}
	for range c.Batch {
		sc.tables = append(sc.tables, many(1<<c.Vars, s.cm31))
	}
	domain := m31.LiftPair(ntt.CM31{}.Root(c.Vars + c.LogInvRate).Exp(5))
	for _, w := range []whir.Weight[m31.QM31]{
		eqAt(many(c.Vars, s.qm31)), eqAt(many(c.Vars, s.qm31)), selAt(many(c.Vars, s.qm31)),
		selAt(whir.Powers(domain, c.Vars)), eqAt(boolean(1, c.Vars)), linear{c.Vars, s.qm31(), s.qm31()},
	} {
		sc.claims = append(sc.claims, truth(sc.tables, w))
	}
	return sc
}

func (sc *scenario) statement() whir.StatementCM31 {
	return whir.NewBatchStatement[m31.Element](sc.claims)
}

// recorder remembers the challenges that a prover draws.
type recorder struct {
	*transcript.Transcript
	challenges []m31.QM31
}

func (r *recorder) Challenge() m31.QM31 {
	c := r.Transcript.Challenge()
	r.challenges = append(r.challenges, c)
	return c
}

// prove runs the prover, which may cheat. Before it starts, setup may see the
// transcript.
func (sc *scenario) prove(t testing.TB, q *device.Queue, ch cheat, tr *recorder) (root [8]m31.Element, pf *whir.ProofCM31) {
	t.Helper()
	c, err := commit(q, cm31{}, sc.p, sc.tables, ch)
	if err != nil {
		t.Fatal(err)
	}
	tr.Absorb(whir.CM31().CommitmentWords(sc.p, c.tree.root()))
	pf, err = c.open(q, tr, sc.statement())
	if err != nil {
		t.Fatal(err)
	}
	return c.tree.root(), pf
}

func newRecorder() *recorder {
	return &recorder{Transcript: transcript.New(transcript.TagTest)}
}

// verify runs the public verifier on a proof that went through its encoding.
func (sc *scenario) verify(root [8]m31.Element, pf *whir.ProofCM31) error {
	return verify(sc.p, root, sc.statement(), pf)
}

func verify(p *whir.Params, root [8]m31.Element, st whir.StatementCM31, pf *whir.ProofCM31) error {
	enc, err := whir.CM31().AppendProof(nil, p, pf)
	if err != nil {
		return err
	}
	return verifyBytes(p, root, st, enc)
}

func verifyBytes(p *whir.Params, root [8]m31.Element, st whir.StatementCM31, enc []byte) error {
	pf, err := whir.CM31().DecodeProof(p, enc)
	if err != nil {
		return err
	}
	o, err := whir.CM31().Receive(transcript.New(transcript.TagTest), p, root)
	if err != nil {
		return err
	}
	return o.Verify(st, pf)
}

// shapes of all kinds: one round, final table of one entry, domain shrinks,
// Johnson rounds, every arity, batches, work before everything, trees smaller
// than the number of queries.
func shapes() map[string]whir.Config {
	r := func(k, d, t int) whir.Round { return whir.Round{Fold: k, Shrink: d, Queries: t} }
	out := map[string]whir.Config{
		"three rounds":      config(8, 1, r(2, 1, 6), r(2, 1, 5), r(2, 0, 4)),
		"rate 1/4":          config(7, 2, r(3, 1, 5), r(2, 0, 4)),
		"one round":         config(6, 1, r(4, 0, 6)),
		"one variable":      config(1, 1, r(1, 0, 9)),
		"final length 1":    config(6, 1, r(1, 1, 6), r(2, 1, 6), r(3, 0, 5)),
		"shrink":            config(9, 1, r(4, 3, 6), r(3, 0, 5)),
		"shrink 4":          config(10, 2, r(5, 4, 5), r(3, 0, 5)),
		"shrink 5":          config(8, 1, r(6, 5, 4), r(2, 0, 4)),
		"small tree":        config(4, 1, r(3, 1, 40), r(1, 0, 40)),
		"no rate gained":    config(6, 1, r(2, 2, 5), r(2, 2, 5), r(2, 0, 5)),
		"large final":       config(9, 3, r(1, 0, 5)),
		"narrow rows, deep": config(5, 6, r(1, 1, 3), r(1, 1, 3), r(1, 1, 3), r(1, 1, 3), r(1, 0, 3)),
	}
	three := out["three rounds"]
	out["samples"] = with(three, func(c *whir.Config) {
		c.Rounds[0].Samples, c.Rounds[1].Samples, c.Rounds[2].Samples = 2, 1, 3
	})
	out["Johnson"] = with(three, func(c *whir.Config) {
		for i := range c.Rounds {
			c.Rounds[i].Multiplicity, c.Rounds[i].Samples = 3+i, 1
		}
	})
	out["work"] = with(three, func(c *whir.Config) {
		for i := range c.Rounds {
			c.Rounds[i].FoldWork, c.Rounds[i].QueryWork = 3+i, 4-i
		}
	})
	out["batch"] = with(three, func(c *whir.Config) { c.Batch, c.BatchWork = 3, 3 })
	out["batch, one round"] = with(out["one round"], func(c *whir.Config) { c.Batch = 2 })
	for _, a := range []int{4, 8} {
		out[fmt.Sprintf("arity %d", a)] = with(three, func(c *whir.Config) { c.Arity = a })
	}
	return out
}

func TestComplete(t *testing.T) {
	q := queue(t)
	for name, c := range shapes() {
		t.Run(name, func(t *testing.T) {
			sc := newScenario(t, 1, c)
			for _, variant := range []struct {
				name   string
				change func()
			}{
				{"random", func() {}},
				{"same claim twice", func() { sc.claims = append(sc.claims[:2:2], sc.claims[0]) }},
				{"one claim", func() { sc.claims = sc.claims[:1] }},
				{"no claim", func() { sc.claims = nil }},
				{"zero polynomial", func() {
					for a := range sc.tables {
						clear(sc.tables[a])
					}
					s := newSource(2)
					sc.claims = []batchClaim{truth(sc.tables, eqAt(many(c.Vars, s.qm31)))}
				}},
				{"constant", func() {
					for a := range sc.tables {
						for b := range sc.tables[a] {
							sc.tables[a][b] = m31.CM31{Re: 5, Im: 7}
						}
					}
					s := newSource(2)
					sc.claims = []batchClaim{truth(sc.tables, eqAt(many(c.Vars, s.qm31)))}
				}},
			} {
				variant.change()
				tr := newRecorder()
				root, pf := sc.prove(t, q, cheat{}, tr)
				if err := sc.verify(root, pf); err != nil {
					t.Errorf("%s: %v", variant.name, err)
				}
			}
		})
	}
}

// The exported functions prove tables of symbols.
func TestCommitCM31(t *testing.T) {
	q := queue(t)
	sc := newScenario(t, 3, with(config(5, 1, whir.Round{Fold: 2, Queries: 3}), func(c *whir.Config) { c.Batch = 2 }))
	c, err := CommitCM31(q, sc.p, sc.tables...)
	if err != nil {
		t.Fatal(err)
	}
	tr := newRecorder()
	tr.Absorb(c.Words())
	pf, err := OpenCM31(q, tr, c, sc.statement())
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.verify(c.Root(), pf); err != nil {
		t.Fatal(err)
	}
	if _, err := CommitCM31(q, sc.p, sc.tables[0]); err == nil {
		t.Error("one table was committed where parameters have two")
	}
}

// The largest domain that parameters may ask for is the largest that the
// transform has; the next larger one is refused.
func TestLargestDomain(t *testing.T) {
	c := config(2, ntt.MaxLogCM31, whir.Round{Fold: 2, Queries: 3})
	if _, err := whir.NewParams(c); err != nil {
		t.Fatal(err)
	}
	c.Rounds[0].Fold = 1
	if _, err := whir.NewParams(c); err == nil {
		t.Fatal("a domain of 2^31 points was accepted")
	}
}

// Claims at the points of the definition agree with package mle.
func TestTruth(t *testing.T) {
	sc := newScenario(t, 1, config(5, 1, whir.Round{Fold: 2, Queries: 3}))
	point := sc.claims[0].Weight.(eq).Point
	if sc.claims[0].Values[0] != mle.Evaluate(lift(sc.tables[0]), point) {
		t.Fatal("claim differs from the table's extension")
	}
	// A sel claim at Powers(x) is the value of the polynomial with the table as
	// coefficients.
	x := m31.LiftPair(ntt.CM31{}.Root(6).Exp(5))
	if sc.claims[3].Values[0] != univariate(lift(sc.tables[0]), x) {
		t.Fatal("sel claim differs from the univariate value")
	}
}
