package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
)

// hostChunk is how many entries of a row are done at a time: they and their sums
// stay in a core's cache.
const hostChunk = 256

func restrictOnHost(q *device.Queue, r Restriction) error {
	out := r.Out.Host()
	rest := out[r.results():]
	for i := range rest {
		rest[i] = m31.QM31{}
	}
	out = out[:r.results()]
	w := r.Weights.Host()
	if w == nil {
		// The table's start, where coordinates beyond the matrix count as 0.
		point := r.Point.Host()
		beyond := len(point) - mle.Log(r.combined())
		scale := m31.OneQM31()
		for _, z := range point[:beyond] {
			scale = scale.Mul(m31.OneQM31().Sub(z))
		}
		memory, err := device.Alloc[m31.QM31](q, 1<<(len(point)-beyond)+1)
		if err != nil {
			return err
		}
		defer memory.Free()
		table, factor := memory.Slice(1, memory.Len()), memory.Slice(0, 1)
		factor.Host()[0] = scale
		if err := Eq(q, table, r.Point.Slice(beyond, len(point)), factor); err != nil {
			return err
		}
		w = table.Host()
	}
	words, bytes, cols := r.Words.Host(), r.Bytes.Host(), r.Cols
	if r.Side == Columns {
		return q.Parallel(r.Rows, max(1, 4096/cols), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if words != nil {
					out[i] = m31.DotBase(words[i*cols:(i+1)*cols], w)
				} else {
					out[i] = dotBytes(bytes[i*cols:(i+1)*cols], w)
				}
			}
		})
	}
	if words != nil {
		return sumRows(q, out, r.Rows, func(dst []m31.QM31, i, lo int) { m31.MulAddBase(dst, words[i*cols+lo:], w[i]) })
	}
	return sumRows(q, out, r.Rows, func(dst []m31.QM31, i, lo int) {
		var t [hostChunk]m31.Element
		for ; len(dst) > 0; lo += hostChunk {
			n := min(len(dst), hostChunk)
			elements(t[:n], bytes[i*cols+lo:])
			m31.MulAddBase(dst[:n], t[:n], w[i])
			dst = dst[n:]
		}
	})
}

// sumRows adds up rows: add adds row i's entries from lo on to dst, weighted.
func sumRows(q *device.Queue, out []m31.QM31, rows int, add func(dst []m31.QM31, i, lo int)) error {
	cols := len(out)
	if cols >= hostChunk { // by ranges of columns
		return q.Parallel(cols, hostChunk/2, func(lo, hi int) {
			for ; lo < hi; lo += hostChunk {
				t := out[lo:min(hi, lo+hostChunk)]
				for k := range t {
					t[k] = m31.QM31{}
				}
				for i := range rows {
					add(t, i, lo)
				}
			}
		})
	}
	sum := newTotal(cols)
	err := q.Parallel(rows, max(1, 4096/cols), func(lo, hi int) {
		t := make([]m31.QM31, cols)
		for i := lo; i < hi; i++ {
			add(t, i, 0)
		}
		sum.add(t...)
	})
	copy(out, sum.v)
	return err
}

// elements are signed bytes as field elements.
func elements(dst []m31.Element, src []int8) {
	src = src[:len(dst)]
	for i, v := range src {
		e := m31.Element(int32(v))
		if v < 0 {
			e += m31.P // wraps around to P - |v|
		}
		dst[i] = e
	}
}

func dotBytes(a []int8, w []m31.QM31) (s m31.QM31) {
	var t [hostChunk]m31.Element
	for len(a) > 0 {
		n := min(len(a), hostChunk)
		elements(t[:n], a)
		s = s.Add(m31.DotBase(t[:n], w))
		a, w = a[n:], w[n:]
	}
	return s
}
