package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// fold binds the variable of round i to the challenge.
func (b *host) fold(i int, r m31.QM31) error {
	one := m31.OneQM31()
	for _, h := range b.inst {
		half, ok := b.joined(h, i)
		if !ok {
			continue
		}
		known := h.inner
		h.claim = sumcheck.Interpolate(known[:h.degree+1], r)
		if h.eq {
			z := h.point[i-(b.n-h.vars)]
			h.scale = h.scale.Mul(one.Sub(z).Sub(r).Add(z.Mul(r).Double()))
		}
		if h.window != nil {
			if h.window.bind(r) {
				if err := b.foldWindow(h); err != nil {
					return err
				}
			}
			continue
		}
		if err := b.foldTables(h, half, i-(b.n-h.vars), r); err != nil {
			return err
		}
	}
	return nil
}

// foldTables folds an instance's tables in round k and, while the results are in
// cache, sums for the round after it.
func (b *host) foldTables(h *hostInstance, half, k int, r m31.QM31) error {
	from := h.tables
	h.tables = make([]hostTable, len(from))
	for t := range from {
		if len(h.folded) == t {
			buf, err := b.alloc(half)
			if err != nil {
				return err
			}
			h.folded = append(h.folded, buf.Host())
		}
		h.tables[t] = hostTable{ext: h.folded[t][:half], stride: 1}
	}
	if half == 1 {
		for t := range from {
			from[t].fold(h.tables[t].ext, 0, 1, half, r)
		}
		return nil
	}
	next := half / 2
	rest := h.rest
	if h.eq { // to be summed over the variable that comes next
		h.rest = rest[:next]
	}
	var err error
	h.ahead, err = b.over(h, next, h.first(k+1), func(lo, hi int) {
		for t := range from {
			from[t].fold(h.tables[t].ext, lo, hi, half, r)
			from[t].fold(h.tables[t].ext, next+lo, next+hi, half, r)
		}
		if h.eq {
			m31.AddVecQM31(rest[lo:hi], rest[lo:hi], rest[next+lo:next+hi])
		}
	})
	return err
}

// fold writes entries [lo, hi) of the folded table; to may be the table itself.
func (t *hostTable) fold(to []m31.QM31, lo, hi, half int, r m31.QM31) {
	switch {
	case t.base != nil && t.stride == 1:
		m31.FoldBase(to[lo:hi], t.base[lo:], t.base[half+lo:], r)
	case t.base == nil && t.stride == 1:
		m31.FoldQM31(to[lo:hi], t.ext[lo:], t.ext[half+lo:], r)
	default:
		t.foldStrided(to, lo, hi, half, r)
	}
}

// foldStrided brings stretches of the halves together before it folds them.
func (t *hostTable) foldStrided(to []m31.QM31, lo, hi, half int, r m31.QM31) {
	var base [2][gathered]m31.Element
	var ext [2][gathered]m31.QM31
	for ; lo < hi; lo += gathered {
		n := min(gathered, hi-lo)
		if t.base != nil {
			for i := range n {
				base[0][i], base[1][i] = t.base[(lo+i)*t.stride], t.base[(half+lo+i)*t.stride]
			}
			m31.FoldBase(to[lo:lo+n], base[0][:n], base[1][:n], r)
			continue
		}
		for i := range n {
			ext[0][i], ext[1][i] = t.ext[(lo+i)*t.stride], t.ext[(half+lo+i)*t.stride]
		}
		m31.FoldQM31(to[lo:lo+n], ext[0][:n], ext[1][:n], r)
	}
}

// gathered is the length of such a stretch.
const gathered = 128
