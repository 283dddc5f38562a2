package prover

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

// These provers follow the transcript with their changes, so that everything
// but the one lie is consistent.

// expect fails the test unless err is a rejection by the given check.
func expect(t *testing.T, what string, err error, check whir.Check) {
	t.Helper()
	var e *whir.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: error %v, want a rejection by %q", what, err, check)
	} else if e.Check != check {
		t.Errorf("%s: rejected by %q, want %q", what, e.Check, check)
	}
}

// lie makes the first claim false by delta.
func (sc *scenario[W, F, E]) lie(delta E) {
	v := append([]E(nil), sc.claims[0].Values...)
	v[0] = v[0].Add(delta)
	sc.claims[0].Values = v
}

func TestFalseClaimHonestRest(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testFalseClaimHonestRest(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testFalseClaimHonestRest(t, kindBabyBear4()) })
}

func testFalseClaimHonestRest[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	for name, c := range k.shapes() {
		for i := range 6 {
			sc := k.scenario(t, 20, c)
			for a := range c.Batch {
				sc := &scenario[W, F, E]{sc.kind, sc.p, sc.tables, append([]whir.BatchClaim[E](nil), sc.claims...)}
				v := append([]E(nil), sc.claims[i].Values...)
				v[a] = v[a].Add(one[E]())
				sc.claims[i].Values = v
				root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
				expect(t, fmt.Sprintf("%s: claim %d, table %d", name, i, a), sc.verify(root, pf), whir.CheckFinalClaim)
			}
		}
	}
}

// The error of a false claim after round 0 is known to the prover before it
// answers the first sample. Were fresh claims combined from the 0th power on, an
// answer wrong by as much would cancel it for every challenge.
func TestGammaZeroAttack(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testGammaZeroAttack(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testGammaZeroAttack(t, kindBabyBear4()) })
}

func testGammaZeroAttack[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 21, with(k.shapes()["three rounds"], func(c *whir.Config) { c.Rounds[1].Samples = 1 }))
	delta := draw[E](newSource(21))
	sc.lie(delta)
	tr := k.recorder()
	root, pf := sc.prove(t, q, tamper[W, E]{answer: func(round, _ int, y E) E {
		// Challenges so far: alpha, the folds of round 0, the sample.
		e := delta
		for _, r := range tr.challenges[1 : len(tr.challenges)-1] {
			e = e.Mul(r)
		}
		return y.Sub(e)
	}}, tr)
	expect(t, "false claim hidden by a wrong sample", sc.verify(root, pf), whir.CheckFinalClaim)
}

// A false claim whose error the final table is made to absorb.
func TestFinalTableFitsFalseClaim(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testFinalTableFitsFalseClaim(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testFinalTableFitsFalseClaim(t, kindBabyBear4()) })
}

func testFinalTableFitsFalseClaim[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 22, with(k.shapes()["one round"], func(c *whir.Config) { c.Rounds[0].Fold = 3 }))
	delta := draw[E](newSource(22))
	sc.lie(delta)
	tr := k.recorder()
	root, pf := sc.prove(t, q, tamper[W, E]{final: func(g, w []E) {
		e := delta
		for _, r := range tr.challenges[1:] {
			e = e.Mul(r)
		}
		g[2] = g[2].Add(e.Mul(w[2].Inverse()))
	}}, tr)
	expect(t, "final table changed to fit", sc.verify(root, pf), whir.CheckFinalQuery)
}

// Every message changed on its own, with all later ones following from it.
func TestConsistentChanges(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testConsistentChanges(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testConsistentChanges(t, kindBabyBear4()) })
}

func testConsistentChanges[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	one := one[E]()
	for _, name := range []string{"three rounds", "samples", "work", "batch", "final length 1", "small tree"} {
		c := k.shapes()[name]
		n := len(c.Rounds)
		try := func(what string, ch tamper[W, E], check whir.Check) {
			t.Helper()
			sc := k.scenario(t, 23, c)
			root, pf := sc.prove(t, q, ch, k.recorder())
			expect(t, name+": "+what, sc.verify(root, pf), check)
		}
		p := params(t, c)
		for i := range n + 1 {
			folds := p.RoundVars(n)
			if i < n {
				folds = c.Rounds[i].Fold
			}
			for j := range folds {
				for k := range 2 {
					try(fmt.Sprintf("round %d fold %d message %d", i, j, k), tamper[W, E]{fold: func(round, fold int, zero, lead E) (E, E) {
						if round == i && fold == j {
							if k == 0 {
								return zero.Add(one), lead
							}
							return zero, lead.Add(one)
						}
						return zero, lead
					}}, whir.CheckFinalClaim)
				}
			}
			if i == n {
				continue
			}
			for j := range c.Rounds[i].Samples {
				try(fmt.Sprintf("round %d sample %d", i, j), tamper[W, E]{answer: func(round, sample int, y E) E {
					if round == i && sample == j {
						y = y.Add(one)
					}
					return y
				}}, whir.CheckFinalClaim)
			}
			if i == 0 {
				continue
			}
			try(fmt.Sprintf("round %d commits to another table", i), tamper[W, E]{table: func(round int, g []E) {
				if round == i {
					g[len(g)-1] = g[len(g)-1].Add(one)
				}
			}}, whir.CheckFinalClaim)
		}
		try("final table", tamper[W, E]{final: func(g, _ []E) { g[0] = g[0].Add(one) }}, whir.CheckFinalQuery)
	}
}

// Codewords of too high a degree: the first column of some tree is that of a
// polynomial with one coefficient beyond its degree bound.
func TestDegreeTooHigh(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testDegreeTooHigh(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testDegreeTooHigh(t, kindBabyBear4()) })
}

func testDegreeTooHigh[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	for _, name := range []string{"three rounds", "samples", "batch", "shrink"} {
		c := k.shapes()[name]
		for i := range c.Rounds {
			sc := k.scenario(t, 24, c)
			root, pf := sc.prove(t, q, tamper[W, E]{codeword: func(round int, rows []W) {
				if round != i {
					return
				}
				width := sc.p.RowWords(i)
				degree := uint64(1) << (sc.p.RoundVars(i) - c.Rounds[i].Fold)
				x, omega := one[F](), k.scheme.Root(sc.p.LogLeaves(i)).Exp(degree)
				for at := 0; at < len(rows); at += width {
					for i, w := range k.prover.v.vectors.words([]F{x}) {
						rows[at+i] = rows[at+i].Add(w)
					}
					x = x.Mul(omega)
				}
			}}, k.recorder())
			// Before the last round a wrong row makes a wrong claim; in the last
			// one it meets the final table.
			check := whir.CheckFinalClaim
			if i == len(c.Rounds)-1 {
				check = whir.CheckFinalQuery
			}
			expect(t, fmt.Sprintf("%s: tree %d", name, i), sc.verify(root, pf), check)
		}
	}
}

// One table of a batch is no codeword at all.
func TestBadTableInBatch(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testBadTableInBatch(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testBadTableInBatch(t, kindBabyBear4()) })
}

func testBadTableInBatch[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	for _, name := range []string{"batch", "batch, one round"} {
		c := k.shapes()[name]
		for a := range c.Batch {
			sc := k.scenario(t, 25, c)
			s := newSource(25)
			root, pf := sc.prove(t, q, tamper[W, E]{codeword: func(round int, rows []W) {
				if round != 0 {
					return
				}
				width := sc.p.RowWords(0)
				part := width / c.Batch
				for at := 0; at < len(rows); at += width {
					for k := range part {
						rows[at+a*part+k] = draw[W](s)
					}
				}
			}}, k.recorder())
			check := whir.CheckFinalClaim
			if len(c.Rounds) == 1 {
				check = whir.CheckFinalQuery
			}
			expect(t, fmt.Sprintf("%s: table %d", name, a), sc.verify(root, pf), check)
		}
	}
}

// acceptance runs a cheat that succeeds with probability p over the queries
// and fails the test if the rate is far from it.
func acceptance[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E], what string, c whir.Config, p float64, ch func(sc *scenario[W, F, E], s source, tr *recorder[W, E]) tamper[W, E]) {
	t.Helper()
	const runs = 300
	q := queue(t)
	accepted := 0
	for i := range uint64(runs) {
		sc := k.scenario(t, 1000+i, c)
		tr := k.recorder()
		root, pf := sc.prove(t, q, ch(sc, newSource(2000+i), tr), tr)
		if sc.verify(root, pf) == nil {
			accepted++
		}
	}
	// Five standard deviations either way.
	mean, dev := p*runs, 5*math.Sqrt(runs*p*(1-p))
	t.Logf("%s: %d of %d accepted, expected %.1f", what, accepted, runs, mean)
	if math.Abs(float64(accepted)-mean) > dev {
		t.Errorf("%s: %d of %d accepted, expected %.1f within %.1f", what, accepted, runs, mean, dev)
	}
}

// A word in which half of the rows are not the codeword's survives t queries
// with probability 2^-t, neither more nor less.
func TestDistantWord(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testDistantWord(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testDistantWord(t, kindBabyBear4()) })
}

func testDistantWord[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	one := whir.Round{Fold: 2, Queries: 2, QueryWork: 1}
	two := whir.Round{Fold: 2, Shrink: 1, Queries: 2, QueryWork: 1}
	last := whir.Round{Fold: 2, Queries: 6}
	for _, tc := range []struct {
		name string
		c    whir.Config
		tree int
	}{
		{"one round", k.config(4, 2, one), 0},
		{"first of two", k.config(5, 2, two, last), 0},
		{"second of two", k.config(5, 2, whir.Round{Fold: 2, Shrink: 1, Queries: 6}, one), 1},
	} {
		tc.c.Rounds[len(tc.c.Rounds)-1].Shrink = 0
		acceptance(t, k, tc.name, tc.c, 0.25, func(sc *scenario[W, F, E], s source, _ *recorder[W, E]) tamper[W, E] {
			return tamper[W, E]{codeword: func(round int, rows []W) {
				if round != tc.tree {
					return
				}
				width := sc.p.RowWords(round)
				n := len(rows) / width
				for _, r := range s.Perm(n)[:n/2] {
					for k := range width {
						rows[r*width+k] = draw[W](s)
					}
				}
			}}
		})
	}
}

// A final table that fits a false claim and agrees with the committed word on
// as many points as a polynomial of its degree can: 3 of 16.
func TestFinalTableAgreesSomewhere(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testFinalTableAgreesSomewhere(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testFinalTableAgreesSomewhere(t, kindBabyBear4()) })
}

func testFinalTableAgreesSomewhere[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	c := k.config(4, 2, whir.Round{Fold: 2, Queries: 1, QueryWork: 1})
	acceptance(t, k, "agreeing on 3 of 16 points", c, 3.0/16, func(sc *scenario[W, F, E], s source, tr *recorder[W, E]) tamper[W, E] {
		delta := draw[E](s)
		sc.lie(delta)
		return tamper[W, E]{final: func(g, w []E) {
			e := delta
			for _, r := range tr.challenges[1:] {
				e = e.Mul(r)
			}
			// h = prod (X - x) over three points of the domain.
			h := []E{one[E]()}
			for _, i := range s.Perm(16)[:3] {
				x := k.scheme.Embed(k.scheme.Root(4).Exp(uint64(i)))
				h = append(h, zero[E]())
				for k := len(h) - 1; k >= 0; k-- {
					h[k] = h[k].Mul(x).Neg()
					if k > 0 {
						h[k] = h[k].Add(h[k-1])
					}
				}
			}
			scale := e.Mul(dot(w, h).Inverse())
			for k := range g {
				g[k] = g[k].Add(h[k].Mul(scale))
			}
		}}
	})
}

func dot[E field.Element[E]](a, b []E) (v E) {
	for i, x := range b {
		v = v.Add(x.Mul(a[i]))
	}
	return v
}

// openHalves is OpenM31 with halves of the prover's choosing.
func openHalves(t *testing.T, q *device.Queue, c *CommittedM31, claim whir.M31Claim, halves [2]m31.QM31) error {
	t.Helper()
	p := c.Params()
	tr := transcript.New(transcript.TagTest)
	tr.Absorb(words(t, c))
	pf := &whir.M31Proof{Halves: [][2]m31.QM31{halves}}
	claims := []whir.M31Claim{claim}
	// The claim is wrong only as the halves are, so the statement is made.
	st, err := p.Statement(claims, pf.Halves)
	if err != nil {
		return err
	}
	inner, err := c.inner.open(q, kindM31().hosted(q, tr), st)
	if err != nil {
		t.Fatal(err)
	}
	pf.Proof = *inner
	o, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, rootOf(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return o.Verify(claims, pf)
}

// False halves of a packed table: ones that do not add up to the claim, ones
// that do, and ones for which either of the two claims about symbols is true.
func TestFalseHalves(t *testing.T) {
	q := queue(t)
	s := newSource(30)
	p, err := whir.ChooseM31(8, whir.Options{Lambda: 40, FoldWork: 4, QueryWork: 4})
	if err != nil {
		t.Fatal(err)
	}
	table := many(1<<8, s.base)
	c, err := CommitM31(q, p, table)
	if err != nil {
		t.Fatal(err)
	}
	point := many(8, s.qm31)
	last := point[7]
	truth := mle.EvaluateBase(table, point)
	sums, err := c.halves(q, []whir.M31Claim{{Point: point}})
	if err != nil {
		t.Fatal(err)
	}
	known, err := sums.read(q)
	if err != nil {
		t.Fatal(err)
	}
	y := known[0]
	value := func(y [2]m31.QM31) m31.QM31 { return y[0].Add(last.Mul(y[1].Sub(y[0]))) }
	if value(y) != truth {
		t.Fatal("halves do not add up to the table's value")
	}
	d := s.qm31()
	for _, tc := range []struct {
		name   string
		halves [2]m31.QM31
		value  m31.QM31
		check  whir.Check
	}{
		{"first half alone", [2]m31.QM31{y[0].Add(d), y[1]}, truth, whir.CheckPacking},
		{"second half alone", [2]m31.QM31{y[0], y[1].Add(d)}, truth, whir.CheckPacking},
		{"value alone", y, truth.Add(d), whir.CheckPacking},
		// Both halves false, the value true.
		{"true value", [2]m31.QM31{y[0].Add(d), y[1].Sub(d.Mul(m31.OneQM31().Sub(last)).Mul(last.Inverse()))}, truth, whir.CheckFinalClaim},
		// y0 + i y1 as it should be.
		{"true sum", [2]m31.QM31{y[0].Add(d), y[1].Add(d.MulI())}, value([2]m31.QM31{y[0].Add(d), y[1].Add(d.MulI())}), whir.CheckFinalClaim},
		// y0 - i y1 as it should be.
		{"true difference", [2]m31.QM31{y[0].Add(d), y[1].Sub(d.MulI())}, value([2]m31.QM31{y[0].Add(d), y[1].Sub(d.MulI())}), whir.CheckFinalClaim},
	} {
		if tc.name != "value alone" && tc.halves == y {
			t.Fatalf("%s: halves are true", tc.name)
		}
		expect(t, tc.name, openHalves(t, q, c, whir.M31Claim{Point: point, Value: tc.value}, tc.halves), tc.check)
	}
	if err := openHalves(t, q, c, whir.M31Claim{Point: point, Value: truth}, y); err != nil {
		t.Errorf("true halves: %v", err)
	}
	if _, err := OpenM31(q, transcript.New(transcript.TagTest), c, []whir.M31Claim{{Point: point, Value: truth.Add(d)}}); err == nil {
		t.Error("the honest prover opens a false claim")
	}
}
