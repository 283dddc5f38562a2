package prover

import (
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// The first three rounds of a product of base tables go without touching the
// extension. Cut both tables into eight blocks by their first three variables:
// every message of those rounds is a combination, by the challenges, of the 64
// sums of products of a block of one and a block of the other. The tables are
// then folded by all three variables at once, from base words to an eighth as
// many elements.
const (
	windowRounds = 3
	windowFrom   = 10 // variables from which it pays
)

// hostWindow is those sums: rows[i][j] is that of block i and block j. For a single
// table there is one row, of the blocks' sums.
type hostWindow struct {
	rows    [][]m31.QM31
	weights []m31.QM31 // of the blocks, by the challenges so far
}

// windowed says whether the instance has such rounds.
func (h *hostInstance) windowed() bool {
	if h.eq || h.expr != nil || h.vars < windowFrom || len(h.terms) != 1 || !h.terms[0].plain || len(h.terms[0].factors) > 2 {
		return false
	}
	for _, t := range h.tables {
		if t.base == nil || t.stride != 1 {
			return false
		}
	}
	return true
}

func newHostWindow(q *device.Queue, h *hostInstance) (*hostWindow, error) {
	w := &hostWindow{weights: []m31.QM31{m31.OneQM31()}}
	n := 1 << (h.vars - windowRounds)
	f := h.terms[0].factors
	a := h.tables[f[0]].base
	if len(f) == 1 {
		row := make([]m31.QM31, 8)
		err := q.Parallel(8, max(1, 1<<14>>(h.vars-windowRounds)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row[i] = m31.Lift(m31.Sum(a[i*n : (i+1)*n]))
			}
		})
		w.rows = [][]m31.QM31{row}
		return w, err
	}
	b := h.tables[f[1]].base
	var mu sync.Mutex
	var total [8][8]m31.Element
	err := q.Parallel(n, 4096, func(lo, hi int) {
		var c m31.CrossSums
		for ; lo < hi; lo += windowSpan {
			c.Add(a, b, n, lo, min(lo+windowSpan, hi))
		}
		v := c.Values()
		mu.Lock()
		defer mu.Unlock()
		for i := range total {
			m31.AddVec(total[i][:], total[i][:], v[i][:])
		}
	})
	for i := range total {
		row := make([]m31.QM31, 8)
		for j := range row {
			row[j] = m31.Lift(total[i][j])
		}
		w.rows = append(w.rows, row)
	}
	return w, err
}

// windowSpan words of 16 blocks fit into a first-level cache.
const windowSpan = 256

// message is the round polynomial at 0 and 2; a single table needs no 2.
func (w *hostWindow) message() (zero, two m31.QM31) {
	if len(w.rows) == 1 {
		row := w.rows[0]
		return m31.SumQM31(row[:len(row)/2]), two
	}
	half := len(w.rows) / 2
	for i := range half {
		// With x0, x1 the values at 0 and 1, that at 2 is 2 x1 - x0.
		lo, hi := w.rows[i], w.rows[half+i]
		mixed := lo[half+i].Add(hi[i]).Double()
		zero = zero.Add(lo[i])
		two = two.Add(hi[half+i].Double().Double()).Sub(mixed).Add(lo[i])
	}
	return zero, two
}

// bind fixes the round's variable, and says whether the window is through.
func (w *hostWindow) bind(r m31.QM31) (done bool) {
	if half := len(w.rows) / 2; half > 0 {
		for i := range half {
			m31.FoldQM31(w.rows[i], w.rows[i], w.rows[half+i], r)
		}
		w.rows = w.rows[:half]
	}
	for i, row := range w.rows {
		half := len(row) / 2
		m31.FoldQM31(row[:half], row[:half], row[half:], r)
		w.rows[i] = row[:half]
	}
	weights := make([]m31.QM31, 0, 2*len(w.weights))
	for _, v := range w.weights {
		one := v.Mul(r)
		weights = append(weights, v.Sub(one), one)
	}
	w.weights = weights
	return len(weights) == 8
}

// foldWindow folds the instance's tables by the window's variables.
func (b *host) foldWindow(h *hostInstance) error {
	n := 1 << (h.vars - windowRounds)
	weights := (*[8]m31.QM31)(h.window.weights)
	for k := range h.tables {
		buf, err := b.alloc(n)
		if err != nil {
			return err
		}
		to, from := buf.Host(), h.tables[k].base
		h.folded = append(h.folded, to)
		if err := b.q.Parallel(n, 2048, func(lo, hi int) { m31.CombineBase(to[lo:hi], from, n, lo, weights) }); err != nil {
			return err
		}
		h.tables[k] = hostTable{ext: to, stride: 1}
	}
	h.window = nil
	return nil
}
