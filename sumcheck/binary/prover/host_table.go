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
	fold(dst []gf2.Element, y gf2.Element, from int)
	// bind sets the next variable to r.
	bind(h *host, r gf2.Element) error
	// value is the only value, when no variable is left.
	value() gf2.Element
}

// extTable is a table of elements. The caller's is folded to memory of its own,
// in place from then on.
type extTable struct {
	values []gf2.Element
	own    bool
}

func (t *extTable) fold(dst []gf2.Element, y gf2.Element, from int) {
	half := len(t.values) / 2
	lo, hi := t.values[from:from+len(dst)], t.values[half+from:half+from+len(dst)]
	switch y {
	case gf2.Element{}:
		copy(dst, lo)
	case gf2.One():
		copy(dst, hi)
	default:
		foldSlice(dst, lo, hi, y)
	}
}

func (t *extTable) bind(h *host, r gf2.Element) error {
	half := len(t.values) / 2
	dst := t.values[:half]
	if !t.own {
		var err error
		if dst, err = h.alloc(half); err != nil {
			return err
		}
	}
	if err := h.chunks(half, func(lo, hi int) { t.fold(dst[lo:hi], r, lo) }); err != nil {
		return err
	}
	t.values, t.own = dst, true
	return nil
}

func (t *extTable) value() gf2.Element { return t.values[0] }

// eqTable is scale * eq(z, .), kept as two tables of about the square root of its
// size: entry x is hi[x >> low] * lo[x mod 2^low], and scale is in hi.
type eqTable struct {
	z      []gf2.Element
	hi, lo []gf2.Element
	low    int
}

func newEqTable(z []gf2.Element, scale gf2.Element) *eqTable {
	low := len(z) / 2
	return &eqTable{z: z, low: low, hi: eqValues(z[:len(z)-low], scale), lo: eqValues(z[len(z)-low:], gf2.One())}
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
func (t *eqTable) block(dst []gf2.Element, from int) {
	for len(dst) > 0 {
		at := from & (len(t.lo) - 1)
		n := min(len(dst), len(t.lo)-at)
		scaleSlice(dst[:n], t.lo[at:at+n], t.hi[from>>t.low])
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

func (t *eqRest) fold(dst []gf2.Element, y gf2.Element, from int) {
	t.rest.block(dst, from)
	scaleSlice(dst, dst, t.scale.Mul(eqLine(t.z[0], y)))
}

func (t *eqRest) bind(_ *host, r gf2.Element) error {
	*t = *newEqRest(t.z[1:], t.scale.Mul(eqLine(t.z[0], r)))
	return nil
}

func (t *eqRest) value() gf2.Element { return t.scale }

// extTables are the caller's tables.
func (h *host) extTables() (list []hostTable) {
	for _, t := range h.in.Ext {
		list = append(list, &extTable{values: t.Host()})
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

// batch is get_batch (the seed's Algorithm 2, equation 12): the elements from on
// of the column with its first variables bound, where weights are the products of
// their challenges, R. size is the number of elements.
func (c hostColumn) batch(dst []gf2.Element, weights []gf2.Element, size, from int) {
	clear(dst)
	for x := 0; x < len(dst); x += 32 {
		out := dst[x:min(x+32, len(dst))]
		for l, r := range weights {
			for w := c.word(l*size+from+x, len(out)); w != 0; w &= w - 1 {
				out[bits.TrailingZeros32(w)].Lo ^= r.Lo
				out[bits.TrailingZeros32(w)].Hi ^= r.Hi
			}
		}
	}
}
