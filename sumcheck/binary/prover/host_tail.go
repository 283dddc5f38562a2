package prover

import (
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

// hostTail is the fused prover over tables of elements: a pass folds by the
// challenge of the round before and sums up the next message.
type hostTail struct {
	h      *host
	tables [][]gf2.Polyval
	size   int // entries of each

	// source is the caller's tables, in the tower's basis, until the first fold
	// leaves it in tables; nil if there are none.
	source [][]gf2.Element

	// columns are the caller's, where tables has none yet: bits fold to a table by a
	// round's challenge more than p_1, so that half as much is stored; until then their
	// values are rebuilt.
	columns []hostColumn

	// If p_1 is eq, tables holds the others: the message is scale * eq(z_0, X) times
	// the sum of eq(z_1.., x) and the tables' product, of degree one less (Gruen,
	// ePrint 2024/108), and eq(z_1.., x) is two tables (Dao and Thaler).
	z     []gf2.Element
	scale gf2.Element
}

// rounds does all that are left, and the evaluations.
func (t *hostTail) rounds() error {
	h := t.h
	var r *gf2.Polyval
	for h.left() > 0 {
		c, err := t.pass(r)
		if err != nil {
			return err
		}
		var next gf2.Element
		if h.in.Kind == binary.EqBits {
			next = h.sendEq(t.scale, t.z[0], c)
			t.scale, t.z = t.scale.Mul(eqLine(t.z[0], next)), t.z[1:]
		} else {
			// S(0) + S(1) is the sum of all coefficients but the constant one.
			c[h.d-1] = h.claim
			for i := 1; i <= h.d; i++ {
				if i != h.d-1 {
					c[h.d-1] = c[h.d-1].Add(c[i])
				}
			}
			next = h.sendCoefficients(c)
		}
		p := next.Polyval()
		r = &p
	}
	return t.evaluations(r)
}

// evaluations ends the proof. The last challenge is not bound in tables yet, nor any in
// what is still the caller's.
func (t *hostTail) evaluations(r *gf2.Polyval) error {
	h := t.h
	for _, v := range t.source { // of one variable
		t.tables = append(t.tables, polyvals(v))
	}
	for j, v := range t.tables {
		value := make([]gf2.Polyval, 1)
		switch {
		case t.columns != nil && t.columns[j] != nil:
			t.columns[j].batch(value, polyvals(eqValues(h.point, gf2.One())), 1, 0)
		case r != nil:
			gf2.FoldPolyval(value, v[:1], v[1:2], *r)
		default:
			value[0] = v[0]
		}
		h.proof.Evals = append(h.proof.Evals, value[0].Element())
	}
	return nil
}

func (t *hostTail) factors() int {
	if t.z != nil {
		return t.h.d - 1
	}
	return t.h.d
}

// allExt is the fused prover from the caller's tables on.
func (h *host) allExt() error {
	t := &hostTail{h: h, size: 1 << h.n}
	for _, v := range h.in.Ext {
		t.source = append(t.source, v.Host())
	}
	return t.rounds()
}

// tailBlock is working memory of a pass: values and slopes of a block of each table,
// eq's weights, and coefficients of products.
type tailBlock struct {
	lo, hi     [][]gf2.Polyval
	own        [][]gf2.Polyval // for lo, while tables are the caller's
	eq         []gf2.Polyval
	sums, temp []gf2.Polyval

	// Coefficients of products, of odd and even degree in turn.
	first, second [2][][]gf2.Polyval
	weighted      [][]gf2.Polyval
}

func newTailBlock(factors int) *tailBlock {
	list := func(n int) [][]gf2.Polyval {
		out, all := make([][]gf2.Polyval, n), make([]gf2.Polyval, n*tailChunk)
		for i := range out {
			out[i] = all[i*tailChunk : (i+1)*tailChunk]
		}
		return out
	}
	b := &tailBlock{lo: make([][]gf2.Polyval, factors), hi: list(factors), own: list(factors), eq: make([]gf2.Polyval, tailChunk),
		sums: make([]gf2.Polyval, factors+1), temp: make([]gf2.Polyval, tailChunk), weighted: list(factors)}
	for i := range 2 {
		b.first[i], b.second[i] = list(factors+1), list(factors+1)
	}
	return b
}

// tailChunk is the number of pairs that a pass takes at a time: a block's tables
// and coefficients fit a core's second cache, most of them the first.
const tailChunk = 128

// pass binds the variable of the round before to r, if there was one, and returns
// the coefficients of the next message: all of inner's if p_1 is eq, otherwise
// those of S but c_(d-1).
func (t *hostTail) pass(r *gf2.Polyval) ([]gf2.Element, error) {
	h := t.h
	half := t.size / 2 // pairs
	if r != nil {
		half /= 2
	}
	if r != nil && t.source != nil {
		for range t.source {
			v, err := h.alloc(2 * half)
			if err != nil {
				return nil, err
			}
			t.tables = append(t.tables, v)
		}
	}
	var weights []gf2.Polyval // of the columns' prefixes, r's variable among them
	if t.columns != nil {
		weights = polyvals(eqValues(h.point, gf2.One()))
	}
	for j, c := range t.columns {
		if c != nil && r != nil {
			v, err := h.alloc(2 * half)
			if err != nil {
				return nil, err
			}
			t.tables[j] = v
		}
	}
	var eq *eqTable
	if h.in.Kind == binary.EqBits {
		eq = newEqTable(t.z[1:], gf2.One())
	}
	all, err := sums(h, half, h.d+1, func(from, to int, sum []gf2.Polyval) {
		b := newTailBlock(t.factors())
		for ; from < to; from += tailChunk {
			n := min(tailChunk, to-from)
			for j := range b.hi {
				b.hi[j] = b.hi[j][:n]
				if t.columns != nil && t.columns[j] != nil {
					t.rebuilt(b, j, from, half, weights)
					continue
				}
				t.line(b, j, from, half, r)
			}
			if eq != nil {
				b.sum(b.weights(eq, from, n), -1, n)
			} else {
				b.sum(nil, h.d-1, n)
			}
			addTo(sum[:len(b.sums)], b.sums)
		}
	})
	if r != nil {
		t.size, t.source, t.columns = 2*half, nil, nil
	}
	c := elements(all)
	if eq != nil {
		c = c[:h.d]
	}
	return c, err
}

// line leaves n values of table j from an index on in b.lo, and in b.hi their
// differences from those half a table further, with the variable before them bound
// to r, if there was one.
func (t *hostTail) line(b *tailBlock, j, from, half int, r *gf2.Polyval) {
	slope := b.hi[j]
	n := len(slope)
	switch {
	case t.source != nil && r == nil:
		b.lo[j] = b.own[j][:n]
		gf2.ToPolyval(b.lo[j], t.source[j][from:from+n])
		gf2.ToPolyval(slope, t.source[j][half+from:half+from+n])
	case t.source != nil:
		v, s := t.tables[j], t.source[j]
		b.lo[j] = v[from : from+n]
		for i := range 2 {
			to := v[i*half+from : i*half+from+n]
			gf2.ToPolyval(to, s[i*half+from:i*half+from+n])
			gf2.ToPolyval(slope, s[(i+2)*half+from:(i+2)*half+from+n])
			gf2.FoldPolyval(to, to, slope, *r)
		}
		copy(slope, v[half+from:half+from+n])
	default:
		v := t.tables[j]
		b.lo[j] = v[from : from+n]
		upper := v[half+from : half+from+n]
		if r != nil {
			gf2.FoldPolyval(b.lo[j], b.lo[j], v[2*half+from:2*half+from+n], *r)
			gf2.FoldPolyval(upper, upper, v[3*half+from:3*half+from+n], *r)
		}
		addVec(slope, upper, b.lo[j])
		return
	}
	addTo(slope, b.lo[j])
}

// rebuilt is line for a column: its values come from bits, and go to the table if there
// is one.
func (t *hostTail) rebuilt(b *tailBlock, j, from, half int, weights []gf2.Polyval) {
	slope, c := b.hi[j], t.columns[j]
	n := len(slope)
	lo, hi := b.own[j][:n], slope
	if v := t.tables[j]; v != nil {
		lo, hi = v[from:from+n], v[half+from:half+from+n]
	}
	c.batch(lo, weights, 2*half, from)
	c.batch(hi, weights, 2*half, half+from)
	b.lo[j] = lo
	addVec(slope, hi, lo)
}

// product multiplies the lines of the tables [from, to), of n pairs, to coefficients,
// which are in two of the lists of memory, or the lines themselves.
func (b *tailBlock) product(memory *[2][][]gf2.Polyval, from, to, n int) [][]gf2.Polyval {
	cur := [][]gf2.Polyval{b.lo[from], b.hi[from]}
	for j := from + 1; j < to; j++ {
		lo, hi := b.lo[j], b.hi[j]
		m := len(cur)
		out := memory[m&1][:m+1]
		for i := range out {
			out[i] = out[i][:n]
		}
		gf2.MulPolyval(out[0], cur[0], lo)
		gf2.MulPolyval(out[m], cur[m-1], hi)
		if m == 2 { // Karatsuba
			x, y := b.temp[:n], out[1]
			addVec(x, cur[0], cur[1])
			addVec(y, lo, hi)
			gf2.MulPolyval(y, y, x)
			addTo(y, out[0])
			addTo(y, out[2])
		} else {
			for i := 1; i < m; i++ {
				gf2.MulPolyval(out[i], cur[i], lo)
				gf2.MulPolyval(b.temp[:n], cur[i-1], hi)
				addTo(out[i], b.temp[:n])
			}
		}
		cur = out
	}
	return cur
}

// sum leaves the sums over the block of the product's coefficients, but that of
// degree skip: the tables' lines are multiplied to two polynomials, whose product is
// only needed as sums, which reduce once. If there are weights, they are a factor.
func (b *tailBlock) sum(weights []gf2.Polyval, skip, n int) {
	factors := len(b.lo)
	clear(b.sums)
	if factors == 1 { // of eq alone
		b.sums[0], b.sums[1] = gf2.DotPolyval(b.lo[0], weights), gf2.DotPolyval(b.hi[0], weights)
		return
	}
	// The first polynomial has the smaller degree if it is to be multiplied by weights.
	middle := (factors + 1) / 2
	if weights != nil {
		middle = factors / 2
	}
	x, y := b.product(&b.first, 0, middle, n), b.product(&b.second, middle, factors, n)
	if weights != nil {
		to := b.weighted[:len(x)]
		for i := range to {
			to[i] = to[i][:n]
			gf2.MulPolyval(to[i], x[i], weights)
		}
		x = to
	}
	for i, u := range x {
		for j, v := range y {
			if i+j != skip {
				b.sums[i+j] = b.sums[i+j].Add(gf2.DotPolyval(u, v))
			}
		}
	}
}

// weights are eq's at n indices from one on.
func (b *tailBlock) weights(eq *eqTable, from, n int) []gf2.Polyval {
	w := b.eq[:n]
	eq.block(w, from)
	return w
}
