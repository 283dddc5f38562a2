package prover

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
)

const (
	maskWarps  = 4
	maskDegree = 4 // the largest that mask.cu has
)

// maskRounds is the rounds after a window that leave the last factor to masks: p_1's tables
// and sums, and what the tail starts from.
type maskRounds struct {
	w         window // whose patterns there are
	start     tailStart
	rounds    int
	bits      device.Buffer[uint32]      // of p_d
	sums      device.Buffer[uint32]      // cleared by the window's first kernel, and by each round's last
	other     device.Buffer[gf2.Element] // p_1 after every other round
	elements  device.Buffer[gf2.Element] // p_2 .. p_d after the last
	fragments device.Buffer[uint32]
}

// maskPlan is how many rounds are done by masks, where w.k were done before: while tables are
// of 2^from entries or more, and the state has the weights of all challenges.
func maskPlan(q *device.Queue, w window, vars, from int) int {
	if from == 0 || w.k < 2 || w.k > 4 || w.degree > maskDegree {
		return 0
	}
	n := 0
	for w.k+n < stateWeights && vars-w.k-n >= max(from, 9) && w.maskShared(n) <= q.Device().Info().SharedPerBlock {
		n++
	}
	return n
}

// tableBytes is the look-up tables' size after `level` challenges more than the window's.
func (w window) tableBytes(level int) int {
	if w.k == 4 {
		level++
	}
	return 256 * gf2.Size << level
}

// maskShared is the shared memory of a block of round `level` after the window.
func (w window) maskShared(level int) int {
	n := maskWarps*w.degree*unit*gf2.Size + w.degree*gf2.Size<<(w.k+level+1)
	if w.degree > 2 {
		n += w.tableBytes(level)
	}
	return n
}

// maskSumWords is the size of the sums.
func (w window) maskSumWords(rounds int) int {
	if rounds == 0 {
		return 0
	}
	return w.degree << (w.k + rounds) * 4
}

// inverseXX is the inverse of X^2 + X, for X the generator of the POLYVAL basis.
func inverseXX() gf2.Polyval {
	one := gf2.OnePolyval()
	x := gf2.Polyval{Lo: one.Lo << 1, Hi: one.Hi<<1 | one.Lo>>63}
	if one.Hi>>63 == 1 { // X^128 = X^127 + X^126 + X^121 + 1
		x = x.Add(gf2.Polyval{Lo: 1, Hi: 0xc2 << 56})
	}
	return x.Square().Add(x).Inverse()
}

// tail is where the rounds after it begin.
func (m *maskRounds) tail() tailStart {
	size := 1 << (m.start.Shape.Vars - m.w.k - m.rounds)
	t := m.start
	t.Done, t.Patterns = m.w.k+m.rounds, nil
	t.Ext = []device.Buffer[gf2.Element]{m.table(m.rounds).Slice(0, size)}
	for j := range m.w.degree - 1 {
		t.Ext = append(t.Ext, m.elements.Slice(j*size, (j+1)*size))
	}
	return t
}

// table is where p_1 is after i rounds.
func (m *maskRounds) table(i int) device.Buffer[gf2.Element] {
	if i%2 == 1 {
		return m.other
	}
	return m.start.Ext[0]
}

// launch does the rounds, and makes elements of the other factors.
func (m *maskRounds) launch(ctx context.Context, q *device.Queue) error {
	inverse := inverseXX()
	info := q.Device().Info()
	state, degree, left := m.start.State.Arg(), m.w.degree, m.start.Shape.Vars-m.w.k
	for i := range m.rounds {
		if err := stopped(ctx, q); err != nil {
			return err
		}
		half := 1 << (left - i - 1)
		shared := m.w.maskShared(i)
		args := []device.Arg{state, m.sums.Arg(), m.table(i).Arg(), m.bits.Arg(), device.U32(m.w.k), device.U32(i), device.U32(half / 32)}
		for _, p := range m.start.Patterns[:degree-2] {
			args = append(args, p.Arg())
		}
		perUnit := max(1, min(5, info.SharedPerBlock/(shared+1024)))
		blocks := min(perUnit*info.Units, device.Blocks(half/unit, maskWarps))
		if err := errors.Join(
			q.Launch(device.Kernel{Source: maskSource, Name: fmt.Sprintf("binary_mask_round%d", degree)}, device.D1(blocks), device.D1(32*maskWarps), shared, args...),
			q.Launch(device.Kernel{Source: finishSource, Name: "binary_mask_finish"}, device.D1(1), device.D1(512), 0, state, m.sums.Arg(), m.fragments.Arg(),
				device.U32(degree), device.U32(m.w.k+i+1), device.U64(int(inverse.Lo)), device.U64(int(inverse.Hi))),
			fold(q, 1, device.View[uint32](m.table(i+1).Slice(0, half)), device.View[uint32](m.table(i).Slice(0, 2*half)), m.fragments, half),
		); err != nil {
			return err
		}
	}
	entries := 1 << (left - m.rounds)
	for j, p := range m.start.Patterns {
		if err := q.Launch(device.Kernel{Source: maskSource, Name: "binary_mask_elements"}, device.D1(min(4*info.Units, device.Blocks(entries, 256))), device.D1(256),
			m.w.tableBytes(m.rounds), state, m.elements.Slice(j*entries, (j+1)*entries).Arg(), p.Arg(), device.U32(m.w.k), device.U32(m.rounds), device.U64(entries)); err != nil {
			return err
		}
	}
	return nil
}
