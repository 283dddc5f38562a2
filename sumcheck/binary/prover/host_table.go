package prover

import (
	"math/bits"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// hostTable is one factor whose first variables are bound, for the algorithms that
// fold: the values over those that are left.
type hostTable interface {
	// fold writes the values at y of the next variable, of the remaining indices
	// from on, to dst.
	fold(dst []gf2.Polyval, y gf2.Polyval, from int)
	// bind sets the next variable to r.
	bind(h *host, r gf2.Polyval) error
	// value is the only value, when no variable is left.
	value() gf2.Polyval
}

// extTable is a table of elements. The caller's, in the tower's basis, is source; it is
// folded to memory of the prover's, and that in place from then on.
type extTable struct {
	values []gf2.Polyval
	source []gf2.Element
}

func (t *extTable) fold(dst []gf2.Polyval, y gf2.Polyval, from int) {
	half := max(len(t.values), len(t.source)) / 2
	if t.source != nil {
		var upper [hostChunk]gf2.Polyval
		for x := 0; x < len(dst); x += hostChunk {
			n := min(hostChunk, len(dst)-x)
			gf2.ToPolyval(dst[x:x+n], t.source[from+x:from+x+n])
			gf2.ToPolyval(upper[:n], t.source[half+from+x:half+from+x+n])
			foldAt(dst[x:x+n], dst[x:x+n], upper[:n], y)
		}
		return
	}
	foldAt(dst, t.values[from:from+len(dst)], t.values[half+from:half+from+len(dst)], y)
}

// foldAt is gf2.FoldPolyval, without products where y is 0 or 1.
func foldAt(dst, lo, hi []gf2.Polyval, y gf2.Polyval) {
	switch y {
	case gf2.Polyval{}:
		copy(dst, lo)
	case gf2.OnePolyval():
		copy(dst, hi)
	default:
		gf2.FoldPolyval(dst, lo, hi, y)
	}
}

func (t *extTable) bind(h *host, r gf2.Polyval) error {
	half := max(len(t.values), len(t.source)) / 2
	dst := t.values[:min(half, len(t.values))]
	if t.source != nil {
		var err error
		if dst, err = h.alloc(half); err != nil {
			return err
		}
	}
	if err := h.chunks(half, func(lo, hi int) { t.fold(dst[lo:hi], r, lo) }); err != nil {
		return err
	}
	t.values, t.source = dst, nil
	return nil
}

func (t *extTable) value() gf2.Polyval { return t.values[0] }

// eqTable is scale * eq(z, .), kept as two tables of about the square root of its
// size: entry x is hi[x >> low] * lo[x mod 2^low], and scale is in hi.
type eqTable struct {
	hi, lo []gf2.Polyval
	low    int
}

func newEqTable(z []gf2.Element, scale gf2.Element) *eqTable {
	low := len(z) / 2
	return &eqTable{low: low, hi: polyvals(eqValues(z[:len(z)-low], scale)), lo: polyvals(eqValues(z[len(z)-low:], gf2.One()))}
}

// eqValues are scale * eq(z, x) for all x, where the first coordinate belongs to
// the top bit of x.
func eqValues(z []gf2.Element, scale gf2.Element) []gf2.Element {
	v := make([]gf2.Element, 1, 1<<len(z))
	v[0] = scale
	for _, c := range z {
		v = v[:2*len(v)]
		for x := len(v)/2 - 1; x >= 0; x-- {
			one := v[x].Mul(c)
			v[2*x], v[2*x+1] = v[x].Add(one), one
		}
	}
	return v
}

// block writes the entries from on to dst.
func (t *eqTable) block(dst []gf2.Polyval, from int) {
	for len(dst) > 0 {
		at := from & (len(t.lo) - 1)
		n := min(len(dst), len(t.lo)-at)
		gf2.ScalePolyval(dst[:n], t.lo[at:at+n], t.hi[from>>t.low])
		dst, from = dst[n:], from+n
	}
}

// eqLine is (1 + z)(1 + y) + z y: eq of one variable.
func eqLine(z, y gf2.Element) gf2.Element { return gf2.One().Add(z).Add(y) }

// eqRest is eqTable as a table: scale * eq(z, .), of which rest is the part
// without the first variable.
type eqRest struct {
	z     []gf2.Element
	scale gf2.Element
	rest  *eqTable
}

func newEqRest(z []gf2.Element, scale gf2.Element) *eqRest {
	t := &eqRest{z: z, scale: scale}
	if len(z) > 0 {
		t.rest = newEqTable(z[1:], gf2.One())
	}
	return t
}

func (t *eqRest) fold(dst []gf2.Polyval, y gf2.Polyval, from int) {
	t.rest.block(dst, from)
	gf2.ScalePolyval(dst, dst, t.scale.Mul(eqLine(t.z[0], y.Element())).Polyval())
}

func (t *eqRest) bind(_ *host, r gf2.Polyval) error {
	*t = *newEqRest(t.z[1:], t.scale.Mul(eqLine(t.z[0], r.Element())))
	return nil
}

func (t *eqRest) value() gf2.Polyval { return t.scale.Polyval() }

// extTables are the caller's tables.
func (h *host) extTables() (list []hostTable) {
	for _, t := range h.in.Ext {
		list = append(list, &extTable{source: t.Host()})
	}
	return list
}

// hostColumn is the words of a column of bits.
type hostColumn []uint32

// word is the bits from x on, as many as a word holds or count says, which is a
// power of two that divides x.
func (c hostColumn) word(x, count int) uint32 {
	w := c[x/32] >> (x % 32)
	if count < 32 {
		w &= 1<<count - 1
	}
	return w
}

// columns are the caller's.
func (h *host) columns() (list []hostColumn) {
	for _, c := range h.in.Bits {
		list = append(list, c.Host())
	}
	return list
}

// polyvals are the same elements in the other basis.
func polyvals(a []gf2.Element) []gf2.Polyval {
	p := make([]gf2.Polyval, len(a))
	gf2.ToPolyval(p, a)
	return p
}

// elements is polyvals' inverse.
func elements(p []gf2.Polyval) []gf2.Element {
	a := make([]gf2.Element, len(p))
	gf2.FromPolyval(a, p)
	return a
}

// batch is get_batch (the paper's Algorithm 2, equation 12): the elements from on
// of the column with its first variables bound, where weights are the products of
// their challenges, R. size is the number of elements.
func (c hostColumn) batch(dst, weights []gf2.Polyval, size, from int) {
	done := 0
	if size >= 32 && from%32 == 0 {
		done = batchBlocks(dst, weights, c[from/32:], size/32)
	}
	clear(dst[done:])
	for x := done; x < len(dst); x += 32 {
		out := dst[x:min(x+32, len(dst))]
		for l, r := range weights {
			for w := c.word(l*size+from+x, len(out)); w != 0; w &= w - 1 {
				out[bits.TrailingZeros32(w)].Lo ^= r.Lo
				out[bits.TrailingZeros32(w)].Hi ^= r.Hi
			}
		}
	}
}
