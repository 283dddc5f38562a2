package prover

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// kind is an instance of the protocol that tests run on.
type kind[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	prover     *Prover[W, F, E]
	scheme     *whir.Scheme[W, F, E]
	transcript *transcript.Variant[W, E]
	p          uint32 // the base field's modulus
}

func newKind[W field.Base[W], F field.Element[F], E field.Element[E]](p *Prover[W, F, E], v *transcript.Variant[W, E]) *kind[W, F, E] {
	var w W
	return &kind[W, F, E]{p, p.Scheme(), v, w.Modulus()}
}

func kindM31() *kind[m31.Element, m31.CM31, m31.QM31] {
	return newKind(CM31(whir.Poseidon2), transcript.M31())
}

func kindBabyBear4() *kind[babybear.Element, babybear.Element, babybear.E4] {
	return newKind(BabyBear4(whir.Poseidon2), transcript.BabyBear4())
}

func one[E field.Element[E]]() E {
	var e E
	return e.One()
}

func zero[E any]() (e E) { return e }

func draw[T field.Element[T]](s source) T { return elements[T](s, 1)[0] }

func eqAt[E field.Element[E]](point []E) whir.Eq[E]   { return whir.Eq[E]{Point: point} }
func selAt[E field.Element[E]](point []E) whir.Sel[E] { return whir.Sel[E]{Point: point} }

// config fills in the fields in which most tests agree.
func (k *kind[W, F, E]) config(vars, rate int, rounds ...whir.Round) whir.Config {
	return whir.Config{Spec: k.scheme.Spec, Vars: vars, LogInvRate: rate, Batch: 1, Arity: 2, Claims: 8, Lambda: 1, Rounds: rounds}
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
type scenario[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*kind[W, F, E]
	p      *whir.Params
	tables [][]F
	claims []whir.BatchClaim[E]
}

// linear is a caller's own weight: the table a*b_1 + c of the first variable.
type linear[E field.Element[E]] struct {
	vars int
	a, c E
}

func (l linear[E]) Vars() int { return l.vars }
func (l linear[E]) Words() []uint32 {
	return l.c.AppendWords(l.a.AppendWords([]uint32{whir.KindUser}))
}
func (l linear[E]) Eval(r []E) E { return l.a.Mul(r[0]).Add(l.c) }
func (l linear[E]) AddTo(dst []E, coeff E) {
	for b := range dst {
		v := l.c
		if b >= len(dst)/2 {
			v = v.Add(l.a)
		}
		dst[b] = dst[b].Add(coeff.Mul(v))
	}
}

// truth is the claim about the tables that a weight gives, by definition.
func (k *kind[W, F, E]) truth(tables [][]F, w whir.Weight[E]) whir.BatchClaim[E] {
	c := whir.BatchClaim[E]{Weight: w}
	for _, table := range tables {
		var v E
		for b, f := range table {
			v = v.Add(k.scheme.Scale(w.Eval(boolean[E](b, w.Vars())), f))
		}
		c.Values = append(c.Values, v)
	}
	return c
}

// scenario has a claim of every kind, two of them at random points.
func (k *kind[W, F, E]) scenario(t testing.TB, seed uint64, c whir.Config) *scenario[W, F, E] {
	t.Helper()
	s := newSource(seed)
	sc := &scenario[W, F, E]{kind: k, p: params(t, c)}
	for range c.Batch {
		sc.tables = append(sc.tables, elements[F](s, 1<<c.Vars))
	}
	domain := k.scheme.Embed(k.scheme.Root(c.Vars + c.LogInvRate).Exp(5))
	for _, w := range []whir.Weight[E]{
		eqAt(elements[E](s, c.Vars)), eqAt(elements[E](s, c.Vars)), selAt(elements[E](s, c.Vars)),
		selAt(whir.Powers(domain, c.Vars)), eqAt(boolean[E](1, c.Vars)), linear[E]{c.Vars, draw[E](s), draw[E](s)},
	} {
		sc.claims = append(sc.claims, k.truth(sc.tables, w))
	}
	return sc
}

func (sc *scenario[W, F, E]) statement() whir.Statement[W, E] {
	return whir.NewBatchStatement[W](sc.claims)
}

// recorder remembers the challenges that a prover draws.
type recorder[W field.Base[W], E field.Element[E]] struct {
	*transcript.Of[W, E]
	challenges []E
}

func (r *recorder[W, E]) Challenge() E {
	c := r.Of.Challenge()
	r.challenges = append(r.challenges, c)
	return c
}

// prove runs the prover, which may cheat, on the host.
func (sc *scenario[W, F, E]) prove(t testing.TB, q *device.Queue, ch tamper[W, E], tr *recorder[W, E]) (root [8]W, pf *whir.Proof[W, E]) {
	t.Helper()
	c := sc.commit(t, q, ch)
	defer c.Free()
	tr.Absorb(words(t, c))
	pf, err := c.open(q, sc.hosted(q, tr), sc.statement())
	if err != nil {
		t.Fatal(err)
	}
	return rootOf(t, c), pf
}

func (sc *scenario[W, F, E]) commit(t testing.TB, q *device.Queue, ch tamper[W, E]) *Committed[W, F, E] {
	t.Helper()
	if ch.codeword != nil {
		rows := ch.codeword
		ch.codeword = func(round int, code []W) { sc.onRows(round, code, rows) }
	}
	c, err := commit(q, sc.prover.v, sc.p, uploads(t, q, sc.tables), ch)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// onRows lets body change codewords row by row.
func (sc *scenario[W, F, E]) onRows(round int, code []W, body func(round int, rows []W)) {
	n, width, symbol := 1<<sc.p.LogLeaves(round), sc.p.RowWords(round), sc.p.Spec().ChallengeWords
	if round == 0 {
		symbol = sc.p.Spec().SymbolWords
	}
	rows := make([]W, len(code))
	each := func(move func(row, column []W)) {
		for r := range n {
			for c := range width / symbol {
				at := (c*n + ntt.Reverse(r, sc.p.LogLeaves(round))) * symbol
				move(rows[r*width+c*symbol:][:symbol], code[at:at+symbol])
			}
		}
	}
	each(func(row, column []W) { copy(row, column) })
	body(round, rows)
	each(func(row, column []W) { copy(column, row) })
}

func uploads[F any](t testing.TB, q *device.Queue, tables [][]F) []device.Buffer[F] {
	t.Helper()
	var out []device.Buffer[F]
	for _, table := range tables {
		b, err := device.Upload(q, table)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func (k *kind[W, F, E]) hosted(q *device.Queue, tr Transcript[W, E]) sponge[W, E] {
	return &hostSponge[W, F, E]{q, tr, k.scheme}
}

func rootOf[W field.Base[W]](t testing.TB, c interface{ Root() ([8]W, error) }) [8]W {
	t.Helper()
	root, err := c.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func words[W field.Base[W]](t testing.TB, c interface{ Words() ([]W, error) }) []W {
	t.Helper()
	w, err := c.Words()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (k *kind[W, F, E]) recorder() *recorder[W, E] {
	return &recorder[W, E]{Of: k.transcript.New(transcript.TagTest)}
}

// verify runs the public verifier on a proof that went through its encoding.
func (sc *scenario[W, F, E]) verify(root [8]W, pf *whir.Proof[W, E]) error {
	return sc.kind.verify(sc.p, root, sc.statement(), pf)
}

func (k *kind[W, F, E]) verify(p *whir.Params, root [8]W, st whir.Statement[W, E], pf *whir.Proof[W, E]) error {
	enc, err := k.scheme.AppendProof(nil, p, pf)
	if err != nil {
		return err
	}
	return k.verifyBytes(p, root, st, enc)
}

func (k *kind[W, F, E]) verifyBytes(p *whir.Params, root [8]W, st whir.Statement[W, E], enc []byte) error {
	pf, err := k.scheme.DecodeProof(p, enc)
	if err != nil {
		return err
	}
	o, err := k.scheme.Receive(k.transcript.New(transcript.TagTest), p, root)
	if err != nil {
		return err
	}
	return o.Verify(st, pf)
}

// shapes of all kinds: one round, final table of one entry, domain shrinks,
// Johnson rounds, every arity, batches, work before everything, trees smaller
// than the number of queries.
func (k *kind[W, F, E]) shapes() map[string]whir.Config {
	r := func(k, d, t int) whir.Round { return whir.Round{Fold: k, Shrink: d, Queries: t} }
	out := map[string]whir.Config{
		"three rounds":      k.config(8, 1, r(2, 1, 6), r(2, 1, 5), r(2, 0, 4)),
		"rate 1/4":          k.config(7, 2, r(3, 1, 5), r(2, 0, 4)),
		"one round":         k.config(6, 1, r(4, 0, 6)),
		"one variable":      k.config(1, 1, r(1, 0, 9)),
		"final length 1":    k.config(6, 1, r(1, 1, 6), r(2, 1, 6), r(3, 0, 5)),
		"shrink":            k.config(9, 1, r(4, 3, 6), r(3, 0, 5)),
		"shrink 4":          k.config(10, 2, r(5, 4, 5), r(3, 0, 5)),
		"shrink 5":          k.config(8, 1, r(6, 5, 4), r(2, 0, 4)),
		"small tree":        k.config(4, 1, r(3, 1, 40), r(1, 0, 40)),
		"no rate gained":    k.config(6, 1, r(2, 2, 5), r(2, 2, 5), r(2, 0, 5)),
		"large final":       k.config(9, 3, r(1, 0, 5)),
		"narrow rows, deep": k.config(5, 6, r(1, 1, 3), r(1, 1, 3), r(1, 1, 3), r(1, 1, 3), r(1, 0, 3)),
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
	t.Run("m31", func(t *testing.T) { testComplete(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testComplete(t, kindBabyBear4()) })
}

func testComplete[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	for name, c := range k.shapes() {
		t.Run(name, func(t *testing.T) {
			sc := k.scenario(t, 1, c)
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
					sc.claims = []whir.BatchClaim[E]{k.truth(sc.tables, eqAt(elements[E](s, c.Vars)))}
				}},
				{"constant", func() {
					for a := range sc.tables {
						for b := range sc.tables[a] {
							sc.tables[a][b] = one[F]().FromUint64(5)
						}
					}
					s := newSource(2)
					sc.claims = []whir.BatchClaim[E]{k.truth(sc.tables, eqAt(elements[E](s, c.Vars)))}
				}},
			} {
				variant.change()
				tr := k.recorder()
				root, pf := sc.prove(t, q, tamper[W, E]{}, tr)
				if err := sc.verify(root, pf); err != nil {
					t.Errorf("%s: %v", variant.name, err)
				}
			}
		})
	}
}

// The exported functions prove tables of symbols.
func TestCommit(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testCommit(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testCommit(t, kindBabyBear4()) })
}

func testCommit[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 3, with(k.config(5, 1, whir.Round{Fold: 2, Queries: 3}), func(c *whir.Config) { c.Batch = 2 }))
	tables := uploads(t, q, sc.tables)
	c, err := k.prover.Commit(q, sc.p, tables...)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := transcriptprover.Start(q, k.transcript, transcript.TagTest)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.AbsorbHost(words(t, c)); err != nil {
		t.Fatal(err)
	}
	pf, err := c.Open(q, tr, sc.statement())
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.verify(rootOf(t, c), pf); err != nil {
		t.Fatal(err)
	}
	if _, err := k.prover.Commit(q, sc.p, tables[0]); err == nil {
		t.Error("one table was committed where parameters have two")
	}
}

// The largest domain that parameters may ask for is the largest that the
// transform has; the next larger one is refused.
func TestLargestDomain(t *testing.T) {
	for _, c := range []whir.Config{
		kindM31().config(2, ntt.MaxLogCM31, whir.Round{Fold: 2, Queries: 3}),
		kindBabyBear4().config(2, babybear.TwoAdicity, whir.Round{Fold: 2, Queries: 3}),
	} {
		if _, err := whir.NewParams(c); err != nil {
			t.Fatal(err)
		}
		c.Rounds[0].Fold = 1
		if _, err := whir.NewParams(c); err == nil {
			t.Fatalf("%s: a domain that is twice too large was accepted", c.Spec.Name)
		}
	}
}

// Claims at the points of the definition agree with package mle.
func TestTruth(t *testing.T) {
	k := kindM31()
	sc := k.scenario(t, 1, k.config(5, 1, whir.Round{Fold: 2, Queries: 3}))
	point := sc.claims[0].Weight.(whir.Eq[m31.QM31]).Point
	if sc.claims[0].Values[0] != mle.Evaluate(lift(k.scheme, sc.tables[0]), point) {
		t.Fatal("claim differs from the table's extension")
	}
	// A sel claim at Powers(x) is the value of the polynomial with the table as
	// coefficients.
	x := m31.LiftPair(ntt.CM31{}.Root(6).Exp(5))
	if sc.claims[3].Values[0] != univariate(lift(k.scheme, sc.tables[0]), x) {
		t.Fatal("sel claim differs from the univariate value")
	}
}
