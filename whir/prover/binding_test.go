package prover

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

// These attacks work if something is left out of the transcript: they run the
// honest prover to learn a challenge and then change what it must depend on so
// that all later checks still hold.

// rejected fails the test if the verifier accepts.
func rejected(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted", what)
	}
}

// Values chosen after alpha, so that the combined value stays as it was.
func TestValuesAreBound(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testValuesAreBound(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testValuesAreBound(t, kindBabyBear4()) })
}

func testValuesAreBound[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	for _, name := range []string{"three rounds", "batch"} {
		sc := k.scenario(t, 40, k.shapes()[name])
		tr := k.recorder()
		root, pf := sc.prove(t, q, tamper[W, E]{}, tr)
		alpha := tr.challenges[0]
		if sc.p.Batch() > 1 {
			alpha = tr.challenges[1]
		}
		d := draw[E](newSource(40))
		for i := range 2 {
			sc.claims[i].Values = slices.Clone(sc.claims[i].Values)
		}
		sc.claims[0].Values[0] = sc.claims[0].Values[0].Add(alpha.Mul(d))
		sc.claims[1].Values[0] = sc.claims[1].Values[0].Sub(d)
		rejected(t, name, sc.verify(root, pf))
	}
}

// A batch's values chosen after mu.
func TestBatchValuesAreBound(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testBatchValuesAreBound(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testBatchValuesAreBound(t, kindBabyBear4()) })
}

func testBatchValuesAreBound[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 41, with(k.shapes()["batch"], func(c *whir.Config) { c.BatchWork = 0 }))
	tr := k.recorder()
	root, pf := sc.prove(t, q, tamper[W, E]{}, tr)
	mu, d := tr.challenges[0], draw[E](newSource(41))
	v := slices.Clone(sc.claims[0].Values)
	v[0], v[1] = v[0].Add(mu.Mul(d)), v[1].Sub(d)
	sc.claims[0].Values = v
	rejected(t, "values", sc.verify(root, pf))
}

// Points chosen after all challenges: eq is linear in a point's last
// coordinate, so one claim's point can make up for another's.
func TestPointsAreBound(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testPointsAreBound(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testPointsAreBound(t, kindBabyBear4()) })
}

func testPointsAreBound[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 42, k.shapes()["one round"])
	sc.claims = sc.claims[:2]
	tr := k.recorder()
	root, pf := sc.prove(t, q, tamper[W, E]{}, tr)
	alpha, r := tr.challenges[0], tr.challenges[1:]
	d := draw[E](newSource(42))
	moved := func(i int, by E) whir.Eq[E] {
		p := slices.Clone(sc.claims[i].Weight.(whir.Eq[E]).Point)
		p[len(p)-1] = p[len(p)-1].Add(by)
		return eqAt(p)
	}
	slope := func(i int) E {
		return moved(i, one[E]()).Eval(r).Sub(moved(i, zero[E]()).Eval(r))
	}
	// slope0*by + alpha*slope1*d = 0
	by := alpha.Mul(slope(1)).Mul(d).Mul(slope(0).Inverse()).Neg()
	first, second := moved(0, by), moved(1, d)
	if first.Eval(r).Add(alpha.Mul(second.Eval(r))) != moved(0, zero[E]()).Eval(r).Add(alpha.Mul(moved(1, zero[E]()).Eval(r))) {
		t.Fatal("the attack's points do not cancel")
	}
	sc.claims[0].Weight, sc.claims[1].Weight = first, second
	rejected(t, "points", sc.verify(root, pf))
}

// A word committed after the queries are known, right at those alone.
func TestRootIsBound(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testRootIsBound(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testRootIsBound(t, kindBabyBear4()) })
}

func testRootIsBound[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 43, k.config(7, 3, whir.Round{Fold: 2, Queries: 4}))
	_, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
	honest := pf.Openings[0].Rows
	s := newSource(43)
	var indices []int
	tree := sc.commit(t, q, tamper[W, E]{codeword: func(_ int, rows []W) {
		width := sc.p.RowWords(0)
		for at := 0; at < len(rows); at += width {
			row := rows[at : at+width]
			keep := false
			for k := 0; k < len(honest); k += width {
				keep = keep || slices.Equal(row, honest[k:k+width])
			}
			if keep {
				indices = append(indices, at/width)
				continue
			}
			for k := range row {
				row[k] = draw[W](s)
			}
		}
	}})
	gathered, err := tree.tree.tree.Gather(q, tree.tree.words, tree.tree.layout, indices)
	if err != nil {
		t.Fatal(err)
	}
	opening, err := gathered.Opening(q)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(opening.Rows, honest) {
		t.Fatal("the attack does not reproduce the queried rows")
	}
	pf.Openings[0].Siblings = nil
	for _, s := range opening.Siblings {
		pf.Openings[0].Siblings = append(pf.Openings[0].Siblings, s)
	}
	rejected(t, "root", sc.verify(rootOf(t, tree), pf))
}

// Parameters that leave the protocol's run as it is, but not its security.
func TestParametersAreBound(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testParametersAreBound(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testParametersAreBound(t, kindBabyBear4()) })
}

func testParametersAreBound[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 44, k.shapes()["three rounds"])
	root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
	for name, change := range map[string]func(c *whir.Config){
		"claims": func(c *whir.Config) { c.Claims++ },
		"bound":  func(c *whir.Config) { c.Bound = whir.DKT26 },
	} {
		p := params(t, with(k.shapes()["three rounds"], change))
		rejected(t, name, k.verify(p, root, sc.statement(), pf))
	}
}

// lazy leaves one proof of work undone, with a nonce that does not do it.
type lazy[W field.Base[W], E field.Element[E]] struct {
	*recorder[W, E]
	skip int
}

func (l *lazy[W, E]) Grind(bits int) ([2]W, error) {
	if bits == 0 {
		return l.recorder.Grind(0)
	}
	l.skip--
	if l.skip != -1 {
		return l.recorder.Grind(bits)
	}
	for n := uint64(0); ; n++ {
		nonce := [2]W{zero[W]().FromUint64(n)}
		if l.Of.Clone().CheckWork(bits, nonce) != nil {
			_ = l.Of.CheckWork(bits, nonce) // goes on as if it were good
			return nonce, nil
		}
	}
}

func TestWorkNotDone(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testWorkNotDone(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testWorkNotDone(t, kindBabyBear4()) })
}

func testWorkNotDone[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	c := with(k.shapes()["work"], func(c *whir.Config) { c.Batch, c.BatchWork = 2, 3 })
	// The order of the protocol: the batch, and for each round its folds and
	// then the queries into its tree, which are made after the next commitment.
	want := []whir.Check{whir.CheckBatchWork}
	for range c.Rounds {
		want = append(want, whir.CheckFoldWork, whir.CheckFoldWork, whir.CheckQueryWork)
	}
	for i, check := range want {
		sc := k.scenario(t, 45, c)
		cm := sc.commit(t, q, tamper[W, E]{})
		tr := &lazy[W, E]{k.recorder(), i}
		tr.Absorb(words(t, cm))
		pf, err := cm.open(q, sc.hosted(q, tr), sc.statement())
		if err != nil {
			t.Fatal(err)
		}
		expect(t, fmt.Sprintf("work %d of %d", i, len(want)), sc.verify(rootOf(t, cm), pf), check)
	}
}

// Halves of two packed claims chosen after alpha. Each half is free to differ
// as long as its claim's value stays; that the two combined claims about
// symbols stay too is one linear condition over the base field.
func TestHalvesAreBound(t *testing.T) {
	q := queue(t)
	k := newPacked(t, q, newSource(46), 7, whir.Options{Lambda: 40, FoldWork: 4, QueryWork: 4})
	p, c, claims := k.p, k.c, k.claims
	tr := kindM31().recorder()
	pf := k.open(t, q, tr)
	alpha := tr.challenges[0]
	// combined is the change of sum_k alpha^k V_k when claim j's first half
	// changes by e[j] and its second so that the value stays.
	second := func(j int, e m31.QM31) m31.QM31 {
		last := claims[j].Point[6]
		return e.Mul(last.Sub(m31.OneQM31())).Mul(last.Inverse())
	}
	combined := func(e [2]m31.QM31) (sum m31.QM31) {
		power := m31.OneQM31()
		for j := range e {
			d0, d1 := e[j], second(j, e[j])
			for _, v := range []m31.QM31{d0.Add(d1.MulI()), d0.Sub(d1.MulI()).FrobeniusInverse()} {
				sum = sum.Add(power.Mul(v))
				power = power.Mul(alpha)
			}
		}
		return sum
	}
	e := kernel(t, combined)
	for j := range e {
		pf.Halves[j][0] = pf.Halves[j][0].Add(e[j])
		pf.Halves[j][1] = pf.Halves[j][1].Add(second(j, e[j]))
	}
	if e[0].IsZero() && e[1].IsZero() || !combined(e).IsZero() {
		t.Fatal("the attack's halves do not cancel")
	}
	o, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, rootOf(t, c))
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, "halves", o.Verify(claims, pf))
}

// kernel is an element other than zero that f takes to zero. f is linear over
// the base field, from eight words to four.
func kernel(t *testing.T, f func([2]m31.QM31) m31.QM31) [2]m31.QM31 {
	t.Helper()
	var rows [4][8]m31.Element
	for k := range 8 {
		var e [2]m31.QM31
		m31.Words(e[:])[k] = 1
		for i, w := range f(e).Words() {
			rows[i][k] = w
		}
	}
	for i := range rows { // eliminate with column i as pivot
		if rows[i][i].IsZero() {
			t.Fatal("no pivot")
		}
		inv := rows[i][i].Inverse()
		for k := range 8 {
			rows[i][k] = rows[i][k].Mul(inv)
		}
		for j := range rows {
			if m := rows[j][i]; j != i {
				for k := range 8 {
					rows[j][k] = rows[j][k].Sub(m.Mul(rows[i][k]))
				}
			}
		}
	}
	var e [2]m31.QM31
	w := m31.Words(e[:])
	w[7] = 1
	for i := range rows {
		w[i] = rows[i][7].Neg()
	}
	return e
}

var _ TranscriptM31 = (*lazy[m31.Element, m31.QM31])(nil)
