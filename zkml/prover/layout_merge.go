package prover

import (
	"encoding/binary"

	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// mergeLayout is where the messages of the claim merging lie.
type mergeLayout struct {
	stacks                       []stackLayout // those with claims
	total                        int           // entries of all weights, each at a multiple of a tile
	claims, rounds, evals, point int
	claimsAt, tilesAt, stacksAt  int
	list                         []weightClaim
}

type stackLayout struct {
	home     plan.Home
	at, vars int           // of its weight
	claims   []weightClaim // a part of the list
}

// weightClaim is the summand of a weight that one claim contributes.
type weightClaim struct {
	at, vars int
	eq       splitEq
}

// merge lays out the claim merging.
func (p *placer) merge() {
	l := p.layout
	pl, m := l.plan, &l.merge
	var stacks words
	for _, h := range pl.Order() {
		st := &pl.Stacks[h]
		if len(st.Evals) == 0 {
			continue
		}
		var values []int
		claims := len(m.list)
		for i, id := range st.Evals {
			e := &pl.Evals[id]
			c := weightClaim{at: m.total + pl.Polys[e.Poly].Offset, vars: len(e.Point), eq: l.mergeStep.split(l, e.Point, i)}
			m.list = append(m.list, c)
			values = append(values, l.values[id])
		}
		at := p.take(1)
		if len(m.stacks) == 0 {
			m.claims = at
		}
		stacks.add(uint64(l.desc.list(values)), uint64(len(values)), uint64(at))
		m.stacks = append(m.stacks, stackLayout{h, m.total, st.Vars, m.list[claims:len(m.list):len(m.list)]})
		m.total += (1<<st.Vars + sumprover.EqsTile - 1) &^ (sumprover.EqsTile - 1)
	}
	l.mergeStep.finish(l)
	shapes := pl.MergeShapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	m.rounds, m.evals, m.point = p.take(n*d), p.take(sumcheck.Evaluations(shapes)), p.take(n)
	m.stacksAt = l.desc.add(stacks...)
	m.claimsAt = len(l.desc)
	for _, c := range m.list {
		block := sumprover.EqBlock(c.at, c.vars, c.eq.bits, c.eq.low, c.eq.high)
		l.desc.add(block[:]...)
	}
	// Which claims touch a tile; neighbours mostly share their lists.
	const tile = sumprover.EqsTile
	lists := make([][]uint64, m.total/tile)
	for i, c := range m.list {
		for k := c.at / tile; k <= (c.at+1<<c.vars-1)/tile; k++ {
			lists[k] = append(lists[k], uint64(i))
		}
	}
	var tiles words
	known := map[string]int{}
	for _, list := range lists {
		var key []byte
		for _, i := range list {
			key = binary.LittleEndian.AppendUint32(key, uint32(i))
		}
		at, ok := known[string(key)]
		if !ok {
			at = l.desc.add(list...)
			known[string(key)] = at
		}
		tiles.add(uint64(at)<<32 | uint64(len(list)))
	}
	m.tilesAt = l.desc.add(tiles...)
}
