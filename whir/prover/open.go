package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
	ntt "github.com/zkwarp/zkwarp/ntt/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// opener is the state of an opening: the table g that is left and the weight w
// of the carried claim sum w*g. All of its steps are enqueued.
type opener[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*Committed[W, F, E]
	ops[W, F, E]
	q       *device.Queue
	tr      sponge[W, E]
	out     *outputs[W, E]
	oracles []*oracle[W]
	g, w    device.Buffer[E]
	held    []interface{ Free() } // to be freed in the end
	err     error                 // the first one
}

// open proves the statement. It does not check that the statement is true.
func (c *Committed[W, F, E]) open(q *device.Queue, tr sponge[W, E], st whir.Statement[W, E]) (*whir.Proof[W, E], error) {
	return c.openWith(q, tr, st, device.Buffer[E]{})
}

// openWith is open where the block sums of the claims, which must be of product
// form, may be known.
func (c *Committed[W, F, E]) openWith(q *device.Queue, tr sponge[W, E], st whir.Statement[W, E], known device.Buffer[E]) (*whir.Proof[W, E], error) {
	pf, err := c.prove(q, tr, st, known)
	if err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	return pf, nil
}

func (c *Committed[W, F, E]) prove(q *device.Queue, tr sponge[W, E], st whir.Statement[W, E], known device.Buffer[E]) (*whir.Proof[W, E], error) {
	o, err := c.begin(q, tr, st, known)
	if err != nil {
		return nil, err
	}
	defer o.free()
	proofs, err := collect([]*opener[W, F, E]{o})
	if err != nil {
		return nil, err
	}
	return proofs[0], nil
}

// begin enqueues the opening up to the last indices that it draws. Its messages and the trees of later rounds are there until free.
func (c *Committed[W, F, E]) begin(q *device.Queue, tr sponge[W, E], st whir.Statement[W, E], known device.Buffer[E]) (*opener[W, F, E], error) {
	if err := st.Check(c.params); err != nil {
		return nil, err
	}
	if err := q.Device().CheckMemory(c.openBytes()); err != nil {
		return nil, err
	}
	defer q.Span("whir open")()
	out, err := newOutputs[W, E](q, c.params)
	if err != nil {
		return nil, err
	}
	do, err := c.v.ops(q)
	if err != nil {
		out.free()
		return nil, err
	}
	o := &opener[W, F, E]{Committed: c, ops: do, q: q, tr: tr, out: out, oracles: []*oracle[W]{c.tree}}
	o.do(tr.AbsorbHost(st.Words()))
	o.start(st.Claims(), known)
	n := c.params.Rounds()
	for i := range n {
		if i > 0 {
			o.step("commit", func() { o.commit(i) })
			o.step("queries", func() { o.shift(i) })
			o.step("sum-check", func() { o.fold(i) })
		}
		if o.err != nil {
			o.free()
			return nil, fmt.Errorf("round %d: %w", i, o.err)
		}
	}
	o.step("final", o.finish)
	if o.err != nil {
		o.free()
		return nil, fmt.Errorf("final: %w", o.err)
	}
	o.release()
	return o, nil
}

// step is a stage, if nothing has failed before.
func (o *opener[W, F, E]) step(name string, body func()) {
	if o.err == nil {
		o.do(o.q.Err())
		end := o.q.Span("whir " + name)
		body()
		end()
	}
}

// do keeps the first error.
func (o *opener[W, F, E]) do(err error) bool {
	if o.err == nil {
		o.err = err
	}
	return o.err == nil
}

// release gives the memory back that only the steps needed.
func (o *opener[W, F, E]) release() {
	for _, b := range o.held {
		b.Free()
	}
	o.held = nil
	o.ops.free()
}

// free gives all memory back.
func (o *opener[W, F, E]) free() {
	o.release()
	for _, t := range o.oracles[1:] {
		t.free()
	}
	o.out.free()
}

// alloc is n elements until the end of the opening; none after an error.
func (o *opener[W, F, E]) alloc(n int) device.Buffer[E] {
	b, err := device.Alloc[E](o.q, n)
	if !o.do(err) {
		return device.Buffer[E]{}
	}
	o.held = append(o.held, b)
	return b
}

// challenge draws one.
func (o *opener[W, F, E]) challenge() device.Buffer[E] {
	c := o.alloc(1)
	if o.err == nil {
		o.do(o.tr.Challenge(c))
	}
	return c
}

// powers are x^first, x^(first+1), ...
func (o *opener[W, F, E]) powers(x device.Buffer[E], first, n int) device.Buffer[E] {
	b := o.alloc(n)
	if o.err == nil && n > 0 {
		o.do(o.geometric(b, x, first))
	}
	return b
}

// answer sends the value in the sample's place.
func (o *opener[W, F, E]) answer(i, j int) {
	y := o.out.sample(i, j)
	if o.tamper.answer != nil {
		y.Host()[0] = o.tamper.answer(i, j, y.Host()[0])
	}
	o.do(o.tr.AbsorbExt(y))
}

// bind does n rounds of the sum-check on g and w, the first of round i of the
// protocol being its j-th, each after `work` bits of work, and binds their
// variables.
func (o *opener[W, F, E]) bind(i, n, work int) {
	challenges := o.alloc(n)
	o.bindWith(&o.g, &o.w, i, work, challenges)
}

func (o *opener[W, F, E]) bindWith(g, w *device.Buffer[E], i, work int, challenges device.Buffer[E]) {
	n := challenges.Len()
	if o.err != nil || n == 0 {
		return
	}
	halve := func() { *g, *w = g.Slice(0, g.Len()/2), w.Slice(0, w.Len()/2) }
	if work == 0 && o.tamper.fold == nil {
		if !o.do(o.rounds(*g, *w, device.Buffer[E]{}, o.out.messages(i, 0, n), o.tr, challenges)) {
			return
		}
		for range n - 1 {
			halve()
		}
	} else {
		var r device.Buffer[E]
		for j := range n {
			msg := o.out.messages(i, j, 1)
			if !o.do(o.rounds(*g, *w, r, msg, nil, device.Buffer[E]{})) {
				return
			}
			if j > 0 {
				halve()
			}
			if o.tamper.fold != nil {
				m := msg.Host()
				m[0], m[1] = o.tamper.fold(i, j, m[0], m[1])
			}
			r = challenges.Slice(j, j+1)
			at := o.out.batch // of no consequence without work
			if i < len(o.out.fold) {
				at = o.out.fold[i] + 2*j
			}
			if work == 0 {
				o.do(o.tr.AbsorbExt(msg))
				o.do(o.tr.Challenge(r))
			} else {
				o.do(o.tr.AbsorbGrindChallenge(device.View[W](msg), work, o.out.nonce(at), r))
			}
		}
	}
	if o.err == nil && o.do(o.ops.fold(*g, *w, challenges.Slice(n-1, n))) {
		halve()
	}
}

// fold is the sum-check of round i.
func (o *opener[W, F, E]) fold(i int) {
	d := o.params.Round(i)
	o.bind(i, d.Fold, d.FoldWork)
}

// commit commits to the folded table as round i.
func (o *opener[W, F, E]) commit(i int) {
	if o.tamper.table != nil {
		o.tamper.table(i, o.g.Host())
	}
	p := o.params
	fold, logLeaves := p.Round(i).Fold, p.LogLeaves(i)
	code, err := device.Alloc[E](o.q, 1<<(fold+logLeaves))
	if !o.do(err) {
		return
	}
	if !o.do(ntt.Encode(o.q, o.v.field, code, o.g, 1<<fold, logLeaves, p.RoundVars(i)-fold)) {
		code.Free()
		return
	}
	tree, err := o.hash(o.q, i, device.View[W](code), p.Spec().ChallengeWords)
	if !o.do(err) {
		code.Free()
		return
	}
	o.oracles = append(o.oracles, tree)
	root := tree.tree.Root()
	o.do(device.Copy(o.q, o.out.root(i), root))
	o.do(o.tr.AbsorbDigest(root, o.v.scheme.Hash.Raw()))
}

// shift adds claims about round i's table to the carried one: the samples' and
// the queried values of the tree before.
func (o *opener[W, F, E]) shift(i int) {
	p := o.params
	m, s := p.RoundVars(i), p.Round(i).Samples
	factors := o.alloc(2 * m * s)
	for j := range s {
		z := o.challenge()
		if o.err != nil {
			return
		}
		at := factors.Slice(2*m*j, 2*m*(j+1))
		o.do(o.eqPowers(at, z))
		if !o.do(o.blockSumsExt(o.out.sample(i, j), 1, 0, o.g, at, 0)) {
			return
		}
		o.answer(i, j)
	}
	o.queries(i - 1)
	gamma := o.challenge()
	if coeffs := o.powers(gamma, whir.FreshPower, s); o.err == nil && s > 0 {
		o.do(o.addWeights(o.w, factors, m, coeffs, false))
	}
	if o.err == nil {
		o.do(o.addPoints(o.w, p.LogLeaves(i-1), o.out.drawn(i-1), gamma, whir.FreshPower+s))
	}
}

// queries draws the indices into round i's tree.
func (o *opener[W, F, E]) queries(i int) {
	if o.err != nil {
		return
	}
	if work := o.params.Round(i).QueryWork; work > 0 {
		o.do(o.tr.Grind(work, o.out.nonce(o.out.query[i])))
	}
	if o.err == nil {
		o.do(o.tr.Indices(o.out.drawn(i), o.params.LogLeaves(i)))
	}
}

// finish sends the table that is left.
func (o *opener[W, F, E]) finish() {
	n := o.params.Rounds()
	if o.tamper.final != nil {
		o.tamper.final(o.g.Host(), o.w.Host())
	}
	final := o.out.elements(o.out.final[0], o.out.final[1])
	o.do(device.Copy(o.q, final, o.g))
	o.do(o.tr.AbsorbExt(final))
	o.queries(n - 1)
	if o.err == nil {
		o.bind(n, o.params.RoundVars(n), 0)
	}
}

// collect waits for the messages and the indices of openings on one queue, and then for the rows of all.
func collect[W field.Base[W], F field.Element[F], E field.Element[E]](openings []*opener[W, F, E]) ([]*whir.Proof[W, E], error) {
	proofs := make([]*whir.Proof[W, E], len(openings))
	var requests []merkleprover.Request[W]
	for k, o := range openings {
		pf, indices, err := o.out.read(o.q, o.v.scheme.Challenges)
		if err != nil {
			return nil, err
		}
		proofs[k] = pf
		for i, t := range o.oracles {
			words := t.words
			if words.Len() == 0 { // they were shed, so this is round 0
				code, err := o.encode(o.q)
				o.held = append(o.held, code)
				if err != nil {
					return nil, err
				}
				words = device.View[W](code)
			}
			requests = append(requests, merkleprover.Request[W]{Tree: t.tree, Words: words, Layout: t.layout, Indices: indices[i]})
		}
	}
	if len(openings) == 0 {
		return proofs, nil
	}
	opened, err := merkleprover.OpenAll(openings[0].q, requests)
	if err != nil {
		return nil, err
	}
	for k, o := range openings {
		pf := proofs[k]
		for i := range o.oracles {
			pf.Openings[i].Rows = opened[i].Rows
			pf.Openings[i].Siblings = make([][8]W, len(opened[i].Siblings))
			for j, s := range opened[i].Siblings {
				pf.Openings[i].Siblings[j] = s
			}
		}
		opened = opened[len(o.oracles):]
	}
	return proofs, nil
}

// openBytes is about the memory that opening takes besides the commitment: codewords that were shed are made again after all steps.
func (c *Committed[W, F, E]) openBytes() int64 {
	kept, steps := openParts(c.params)
	if c.tree.words.Len() == 0 {
		steps = max(steps, codeBytes(c.params, 0))
	}
	return kept + steps
}

func openBytes(p *whir.Params) int64 {
	kept, steps := openParts(p)
	return kept + steps
}

// openParts are the memory that an opening keeps until its rows are read, and what its steps take besides.
func openParts(p *whir.Params) (kept, steps int64) {
	for i := 1; i < p.Rounds(); i++ {
		kept += commitBytes(p, i)
	}
	// Two tables of what is left after round 0's folds, and the transform that
	// sums up the queries' weights.
	d := 4 * int64(p.Spec().ChallengeWords)
	steps = 2 * d << p.RoundVars(1)
	if p.Rounds() > 1 {
		steps += 2 * d << p.LogLeaves(0)
	}
	return kept, steps
}
