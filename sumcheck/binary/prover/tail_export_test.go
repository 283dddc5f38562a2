package prover

import (
	"context"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// TailCase is a tail that begins after some rounds.
type TailCase struct {
	Done, Last, Units, Log, Claim, Masks, Pairs, Levels, Few int
	Polyval                                                  bool
	Launches                                                 int64 // out
}

// ProveTail proves by a tail alone. tables are the values of all polynomials, and
// the first c.Done messages come from a proof; tr has absorbed the claim.
func ProveTail(q *device.Queue, tr *tower.Transcript, claim binary.Claim, proof *binary.Proof, tables [][]gf2.Element, bits [][]uint32, c *TailCase) (*binary.Proof, error) {
	value, weights := claim.Value, []gf2.Element{gf2.One()}
	var point []gf2.Element
	for _, message := range proof.Rounds[:c.Done] {
		tr.Absorb(message)
		r := tr.Challenge()
		point = append(point, r)
		at := append([]gf2.Element{message[0], value.Add(message[0])}, message[1:]...)
		value = binary.Interpolate(at, r)
		var next []gf2.Element
		for _, w := range weights {
			next = append(next, w.Mul(r.Add(gf2.One())), w.Mul(r))
		}
		weights = next
	}
	size := 1 << (claim.Vars - c.Done)
	start := tailStart{Shape: claim.Shape, Done: c.Done, Polyval: c.Polyval}
	var err error
	if start.State, err = newState(q, tr, claim.Degree, value); err != nil {
		return nil, err
	}
	defer start.State.Free()
	words, err := start.State.Read(q)
	if err != nil {
		return nil, err
	}
	put := func(at int, list []gf2.Element, f func(gf2.Element) gf2.Element) {
		for i, e := range list {
			f(e).AppendWords(words[at+4*i : at+4*i])
		}
	}
	same := func(a gf2.Element) gf2.Element { return a }
	put(statePoint, point, same)
	polyval := func(a gf2.Element) gf2.Element { return gf2.Element(a.Polyval()) }
	put(statePoint+4*stateVars, point, polyval)
	put(statePoint+8*stateVars, weights, polyval)
	for i, message := range proof.Rounds[:c.Done] {
		put(stateRounds+4*i*claim.Degree, message, same)
	}
	if err := start.State.CopyFrom(q, words); err != nil {
		return nil, err
	}
	elements := claim.Degree - len(bits)
	for _, table := range tables[:elements] {
		bound := make([]gf2.Element, size)
		for i, v := range table {
			bound[i%size] = bound[i%size].Add(v.Mul(weights[i/size]))
		}
		if c.Polyval {
			for i := range bound {
				bound[i] = polyval(bound[i])
			}
		}
		b, err := device.Upload(q, bound)
		if err != nil {
			return nil, err
		}
		defer b.Free()
		start.Ext = append(start.Ext, b)
	}
	for _, column := range bits {
		bytes := max(1, 1<<c.Done/8)
		pattern := make([]uint8, size*bytes)
		for i := range size << c.Done {
			u := i / size
			pattern[i%size*bytes+u/8] |= uint8(gf2.Bit(column, i)) << (u % 8)
		}
		b, err := device.Upload(q, pattern)
		if err != nil {
			return nil, err
		}
		defer b.Free()
		start.Patterns = append(start.Patterns, b)
	}
	t, err := newTailWithin(q, start, tailLimits{last: c.Last, units: c.Units, log: c.Log, claim: c.Claim, masks: c.Masks, pairs: c.Pairs, patterns: c.Levels, few: c.Few})
	if err != nil {
		return nil, err
	}
	defer t.free()
	before := q.Stats()
	if err := t.launch(context.Background()); err != nil {
		return nil, err
	}
	c.Launches = q.Stats().Since(before).Launches
	return readState(q, start.State, claim.Shape)
}
