package prover

import (
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/ntt/additive"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// naive is a prover straight from docs/fribinius.md, by definitions and one core, and
// with a hook wherever it sends something. It shares with the real one only what the
// verifier has too.
type naive struct {
	p     *fribinius.Params
	bits  []uint32
	point []gf2.Element

	// Hooks, all of which may be nil. They change what they are given.
	word    func(word []gf2.Element)                               // the first codeword, before it is hashed
	partial func(partial []gf2.Element)                            // the partial evaluations
	late    func(batch, partial []gf2.Element)                     // the partial evaluations, not absorbed, once batch is known
	value   func(v gf2.Element) gf2.Element                        // the value claimed
	round   func(i int, m *fribinius.Round, claim gf2.Element)     // a message of the sum-check
	message func(layer int, t, w []gf2.Element, claim gf2.Element) // the message before it is encoded for a layer or sent (layer = number of layers)
	layer   func(layer int, word []gf2.Element)                    // the codeword of a layer but the first
	final   func(final []gf2.Element)                              // the message sent, after message
	// lateRoot, of the second of two layers, is not absorbed: its word is chosen here once
	// the leaves that will be asked for, the challenges and the final message are known.
	lateRoot func(word []gf2.Element, queried []uint32, r, final []gf2.Element)

	queried [][]int // leaves, by layer
}

// element of the tower field at place i of packed bits.
func packed(bits []uint32, i int) gf2.Element {
	return gf2.Element{Lo: uint64(bits[4*i]) | uint64(bits[4*i+1])<<32, Hi: uint64(bits[4*i+2]) | uint64(bits[4*i+3])<<32}
}

// eqAt is eq(z, x), z's first coordinate being of the top bit.
func eqAt(z []gf2.Element, x int) gf2.Element {
	e := gf2.One()
	for i, c := range z {
		if x>>(len(z)-1-i)&1 == 0 {
			c = c.Add(gf2.One())
		}
		e = e.Mul(c)
	}
	return e
}

func words(v []gf2.Element) []merkle.Word {
	var w []uint32
	for _, e := range v {
		w = e.AppendWords(w)
	}
	out := make([]merkle.Word, len(w))
	for i := range w {
		out[i] = merkle.Word(w[i])
	}
	return out
}

func (n *naive) prove(t testing.TB, tr *tower.Transcript) (fribinius.Root, gf2.Element, *fribinius.Proof) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, ell := n.p, n.p.MessageVars()
	message := make([]gf2.Element, 1<<ell)
	for i := range message {
		message[i] = packed(n.bits, i)
	}
	pf := &fribinius.Proof{}
	var committed [][]gf2.Element
	var trees []*merkle.TreeOf[merkle.Word]
	commit := func(m []gf2.Element) fribinius.Root {
		i := len(committed)
		word := make([]gf2.Element, len(m)<<p.LogInvRate())
		must(additive.Encode(word, m))
		if i == 0 && n.word != nil {
			n.word(word)
		}
		if i > 0 && n.layer != nil {
			n.layer(i, word)
		}
		tree, err := fribinius.Hash().Build(words(word), p.Tree(i), merkle.RowMajor())
		must(err)
		committed, trees = append(committed, word), append(trees, tree)
		return fribinius.RootOf(tree.Root())
	}
	root := commit(message)

	high, low := n.point[:ell], n.point[ell:]
	pf.Partial = make([]gf2.Element, 128)
	eq := make([]gf2.Element, len(message))
	for y, e := range message {
		eq[y] = eqAt(high, y)
		for v := range pf.Partial {
			pf.Partial[v] = pf.Partial[v].Add(eq[y].MulBit(e.Bit(v)))
		}
	}
	if n.partial != nil {
		n.partial(pf.Partial)
	}
	var value gf2.Element
	for v, e := range pf.Partial {
		value = value.Add(e.Mul(eqAt(low, v)))
	}
	if n.value != nil {
		value = n.value(value)
	}
	p.AbsorbStatement(tr, root, n.point, value)
	if n.late == nil {
		tr.Absorb(pf.Partial)
	}
	batch := tr.Challenges(fribinius.Packing)
	if n.late != nil {
		n.late(batch, pf.Partial)
	}
	var claim gf2.Element
	weight := make([]gf2.Element, len(message))
	for u := range 128 {
		e := eqAt(batch, u)
		for v, s := range pf.Partial {
			claim = claim.Add(e.Mul(gf2.Basis(v)).MulBit(s.Bit(u)))
		}
		for y := range weight {
			weight[y] = weight[y].Add(e.MulBit(eq[y].Bit(u)))
		}
	}

	var challenges, late []gf2.Element
	rounds := func(k int) {
		for range k {
			var m fribinius.Round
			for y := 0; y < len(weight); y += 2 {
				m.AtZero = m.AtZero.Add(weight[y].Mul(message[y]))
				m.Lead = m.Lead.Add(weight[y].Add(weight[y+1]).Mul(message[y].Add(message[y+1])))
			}
			if n.round != nil {
				n.round(len(pf.Rounds), &m, claim)
			}
			pf.Rounds = append(pf.Rounds, m)
			tr.Absorb([]gf2.Element{m.AtZero, m.Lead})
			r := tr.Challenge()
			claim = m.At(claim, r)
			challenges = append(challenges, r)
			next := func(v []gf2.Element) []gf2.Element {
				out := make([]gf2.Element, len(v)/2)
				for y := range out {
					out[y] = v[2*y].Mul(r.Add(gf2.One())).Add(v[2*y+1].Mul(r))
				}
				return out
			}
			weight, message = next(weight), next(message)
		}
	}
	for i, l := range p.Layers() {
		if i > 0 {
			if n.message != nil {
				n.message(i, message, weight, claim)
			}
			if n.lateRoot != nil {
				late = message
			} else {
				pf.Roots = append(pf.Roots, commit(message))
				tr.AbsorbWords(pf.Roots[i-1][:])
			}
		}
		rounds(l.Fold)
	}
	if n.message != nil {
		n.message(len(p.Layers()), message, weight, claim)
	}
	if n.final != nil {
		n.final(message)
	}
	pf.Final = append([]gf2.Element(nil), message...)
	tr.Absorb(pf.Final)
	rounds(p.FinalVars())

	sampled, err := tr.Indices(p.Queries(), p.LogLeaves(0))
	must(err)
	if n.lateRoot != nil {
		n.layer = func(_ int, word []gf2.Element) { n.lateRoot(word, sampled, challenges, pf.Final) }
		pf.Roots = append(pf.Roots, commit(late))
	}
	for i := range committed {
		leaves := make([]int, len(sampled))
		for k, s := range sampled {
			at := int(s)
			for _, l := range p.Layers()[1 : i+1] {
				at >>= l.Fold
			}
			leaves[k] = at
		}
		n.queried = append(n.queried, leaves)
		o, err := trees[i].Open(words(committed[i]), merkle.RowMajor(), leaves)
		must(err)
		pf.Openings = append(pf.Openings, *o)
	}
	return root, value, pf
}

// instance is random bits and a random point for parameters.
func instance(t testing.TB, vars, rate int, seed uint64) *naive {
	t.Helper()
	p, err := fribinius.New(vars, rate, fribinius.MinBits)
	if err != nil {
		t.Fatal(err)
	}
	g := rand.New(rand.NewPCG(seed, uint64(vars)))
	n := &naive{p: p, bits: make([]uint32, 1<<(vars-5)), point: make([]gf2.Element, vars)}
	for i := range n.bits {
		n.bits[i] = g.Uint32()
	}
	for i := range n.point {
		n.point[i] = gf2.Element{Lo: g.Uint64(), Hi: g.Uint64()}
	}
	return n
}

// evaluateBits is the polynomial's value at a point, by definition.
func evaluateBits(bits []uint32, point []gf2.Element) gf2.Element {
	// Fold the last variable away, one after the other.
	v := make([]gf2.Element, 32*len(bits))
	for x := range v {
		v[x] = gf2.One().MulBit(uint(bits[x/32] >> (x % 32)))
	}
	for i := len(point) - 1; i >= 0; i-- {
		for x := range len(v) / 2 {
			v[x] = v[2*x].Add(point[i].Mul(v[2*x].Add(v[2*x+1])))
		}
		v = v[:len(v)/2]
	}
	return v[0]
}
