package prover

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/ntt"
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
func (sc *scenario) lie(delta m31.QM31) {
	v := append([]m31.QM31(nil), sc.claims[0].Values...)
	v[0] = v[0].Add(delta)
	sc.claims[0].Values = v
}

func TestFalseClaimHonestRest(t *testing.T) {
	q := queue(t)
	for name, c := range shapes() {
		for i := range 6 {
			sc := newScenario(t, 20, c)
			for a := range c.Batch {
				sc := &scenario{sc.p, sc.tables, append([]batchClaim(nil), sc.claims...)}
				v := append([]m31.QM31(nil), sc.claims[i].Values...)
				v[a] = v[a].Add(m31.OneQM31())
				sc.claims[i].Values = v
				root, pf := sc.prove(t, q, cheat{}, newRecorder())
				expect(t, fmt.Sprintf("%s: claim %d, table %d", name, i, a), sc.verify(root, pf), whir.CheckFinalClaim)
			}
		}
	}
}

// The error of a false claim after round 0 is known to the prover before it
// answers the first sample. Were fresh claims combined from the 0th power on, an
// answer wrong by as much would cancel it for every challenge.
func TestGammaZeroAttack(t *testing.T) {
	q := queue(t)
	sc := newScenario(t, 21, with(shapes()["three rounds"], func(c *whir.Config) { c.Rounds[1].Samples = 1 }))
	delta := newSource(21).qm31()
	sc.lie(delta)
	tr := newRecorder()
	root, pf := sc.prove(t, q, cheat{answer: func(round, _ int, y m31.QM31) m31.QM31 {
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
	q := queue(t)
	sc := newScenario(t, 22, with(shapes()["one round"], func(c *whir.Config) { c.Rounds[0].Fold = 3 }))
	delta := newSource(22).qm31()
	sc.lie(delta)
	tr := newRecorder()
	root, pf := sc.prove(t, q, cheat{final: func(g, w []m31.QM31) {
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
	q := queue(t)
	one := m31.OneQM31()
	for _, name := range []string{"three rounds", "samples", "work", "batch", "final length 1", "small tree"} {
		c := shapes()[name]
		n := len(c.Rounds)
		try := func(what string, ch cheat, check whir.Check) {
			t.Helper()
			sc := newScenario(t, 23, c)
			root, pf := sc.prove(t, q, ch, newRecorder())
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
					try(fmt.Sprintf("round %d fold %d message %d", i, j, k), cheat{fold: func(round, fold int, zero, lead m31.QM31) (m31.QM31, m31.QM31) {
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
				try(fmt.Sprintf("round %d sample %d", i, j), cheat{answer: func(round, sample int, y m31.QM31) m31.QM31 {
					if round == i && sample == j {
						y = y.Add(one)
					}
					return y
				}}, whir.CheckFinalClaim)
			}
			if i == 0 {
				continue
			}
			try(fmt.Sprintf("round %d commits to another table", i), cheat{table: func(round int, g []m31.QM31) {
				if round == i {
					g[len(g)-1] = g[len(g)-1].Add(one)
				}
			}}, whir.CheckFinalClaim)
		}
		try("final table", cheat{final: func(g, _ []m31.QM31) { g[0] = g[0].Add(one) }}, whir.CheckFinalQuery)
	}
}

// Codewords of too high a degree: the first column of some tree is that of a
// polynomial with one coefficient beyond its degree bound.
func TestDegreeTooHigh(t *testing.T) {
	q := queue(t)
	for _, name := range []string{"three rounds", "samples", "batch", "shrink"} {
		c := shapes()[name]
		for i := range c.Rounds {
			sc := newScenario(t, 24, c)
			root, pf := sc.prove(t, q, cheat{codeword: func(round int, rows []m31.Element) {
				if round != i {
					return
				}
				width := sc.p.RowWords(i)
				degree := uint64(1) << (sc.p.RoundVars(i) - c.Rounds[i].Fold)
				x, omega := m31.CM31{Re: 1}, ntt.CM31{}.Root(sc.p.LogLeaves(i)).Exp(degree)
				for at := 0; at < len(rows); at += width {
					rows[at], rows[at+1] = rows[at].Add(x.Re), rows[at+1].Add(x.Im)
					x = x.Mul(omega)
				}
			}}, newRecorder())
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
	q := queue(t)
	for _, name := range []string{"batch", "batch, one round"} {
		c := shapes()[name]
		for a := range c.Batch {
			sc := newScenario(t, 25, c)
			s := newSource(25)
			root, pf := sc.prove(t, q, cheat{codeword: func(round int, rows []m31.Element) {
				if round != 0 {
					return
				}
				width := sc.p.RowWords(0)
				part := width / c.Batch
				for at := 0; at < len(rows); at += width {
					for k := range part {
						rows[at+a*part+k] = s.base()
					}
				}
			}}, newRecorder())
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
func acceptance(t *testing.T, what string, c whir.Config, p float64, ch func(sc *scenario, s source, tr *recorder) cheat) {
	t.Helper()
	const runs = 300
	q := queue(t)
	accepted := 0
	for i := range uint64(runs) {
		sc := newScenario(t, 1000+i, c)
		tr := newRecorder()
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
	one := whir.Round{Fold: 2, Queries: 2, QueryWork: 1}
	two := whir.Round{Fold: 2, Shrink: 1, Queries: 2, QueryWork: 1}
	last := whir.Round{Fold: 2, Queries: 6}
	for _, tc := range []struct {
		name string
		c    whir.Config
		tree int
	}{
		{"one round", config(4, 2, one), 0},
		{"first of two", config(5, 2, two, last), 0},
		{"second of two", config(5, 2, whir.Round{Fold: 2, Shrink: 1, Queries: 6}, one), 1},
	} {
		tc.c.Rounds[len(tc.c.Rounds)-1].Shrink = 0
		acceptance(t, tc.name, tc.c, 0.25, func(sc *scenario, s source, _ *recorder) cheat {
			return cheat{codeword: func(round int, rows []m31.Element) {
				if round != tc.tree {
					return
				}
				width := sc.p.RowWords(round)
				n := len(rows) / width
				for _, r := range s.Perm(n)[:n/2] {
					for k := range width {
						rows[r*width+k] = s.base()
					}
				}
			}}
		})
	}
}

// A final table that fits a false claim and agrees with the committed word on
// as many points as a polynomial of its degree can: 3 of 16.
func TestFinalTableAgreesSomewhere(t *testing.T) {
	c := config(4, 2, whir.Round{Fold: 2, Queries: 1, QueryWork: 1})
	acceptance(t, "agreeing on 3 of 16 points", c, 3.0/16, func(sc *scenario, s source, tr *recorder) cheat {
		delta := s.qm31()
		sc.lie(delta)
		return cheat{final: func(g, w []m31.QM31) {
			e := delta
			for _, r := range tr.challenges[1:] {
				e = e.Mul(r)
			}
			// h = prod (X - x) over three points of the domain.
			h := []m31.QM31{m31.OneQM31()}
			for _, i := range s.Perm(16)[:3] {
				x := m31.LiftPair(ntt.CM31{}.Root(4).Exp(uint64(i)))
				h = append(h, m31.QM31{})
				for k := len(h) - 1; k >= 0; k-- {
					h[k] = h[k].Mul(x).Neg()
					if k > 0 {
						h[k] = h[k].Add(h[k-1])
					}
				}
			}
			scale := e.Mul(m31.DotQM31(w, h).Inverse())
			for k := range g {
				g[k] = g[k].Add(h[k].Mul(scale))
			}
		}}
	})
}

// openHalves is OpenM31 with halves of the prover's choosing.
func openHalves(t *testing.T, q *device.Queue, c *Committed, claim whir.M31Claim, halves [2]m31.QM31) error {
	t.Helper()
	p := c.Params()
	tr := transcript.New(transcript.TagTest)
	tr.Absorb(c.Words())
	pf := &whir.M31Proof{Halves: [][2]m31.QM31{halves}}
	claims := []whir.M31Claim{claim}
	// The claim is wrong only as the halves are, so the statement is made.
	st, err := p.Statement(claims, pf.Halves)
	if err != nil {
		return err
	}
	inner, err := c.inner.open(q, tr, st)
	if err != nil {
		t.Fatal(err)
	}
	pf.Proof = *inner
	o, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, c.Root())
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
	y, _ := c.halves(point[:7])
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
