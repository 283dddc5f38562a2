package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// RestrictRows combines the rows of a rows x cols matrix (row-major, its real
// size) by weights, usually an eq table: out[k] = sum_i w[i]*a[i*cols+k] for
// k < cols, and 0 for the rest of out. Cost: rows*cols products by a weight.
func RestrictRows[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	if rows < 0 || cols < 0 || a.Len() != rows*cols || out.Len() < cols || w.Len() < rows {
		return wrong("restrict rows", "%d entries as %d x %d, %d weights, result of %d", a.Len(), rows, cols, w.Len(), out.Len())
	}
	if err := clearRest(q, out, cols, a.Len()); err != nil || a.Len() == 0 {
		return err
	}
	out = out.Slice(0, cols)
	if !q.OnHost() {
		return launchRows(q, out, a, rows, cols, w)
	}
	x, y, o := a.Host(), w.Host(), out.Host()
	if cols >= 256 { // by ranges of columns that stay in the cache
		return q.Parallel(cols, 128, func(lo, hi int) {
			for ; lo < hi; lo += 256 {
				end := min(hi, lo+256)
				t := o[lo:end]
				for k := range t {
					t[k] = m31.QM31{}
				}
				for i := range rows {
					mulAdd(t, x[i*cols+lo:i*cols+end], y[i])
				}
			}
		})
	}
	sum := newTotal(cols)
	err := q.Parallel(rows, max(1, 4096/cols), func(lo, hi int) {
		t := make([]m31.QM31, cols)
		for i := lo; i < hi; i++ {
			mulAdd(t, x[i*cols:(i+1)*cols], y[i])
		}
		sum.add(t...)
	})
	copy(o, sum.v)
	return err
}

// RestrictCols combines the columns of a rows x cols matrix by weights:
// out[i] = sum_k w[k]*a[i*cols+k] for i < rows, and 0 for the rest of out.
// Cost: rows*cols products by a weight.
func RestrictCols[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	if rows < 0 || cols < 0 || a.Len() != rows*cols || out.Len() < rows || w.Len() < cols {
		return wrong("restrict columns", "%d entries as %d x %d, %d weights, result of %d", a.Len(), rows, cols, w.Len(), out.Len())
	}
	if err := clearRest(q, out, rows, a.Len()); err != nil || a.Len() == 0 {
		return err
	}
	return columns(q, out.Slice(0, rows), a, rows, cols, w)
}

// columns is RestrictCols where the last row may be cut short.
func columns[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	if rows == 0 {
		return nil
	}
	if !q.OnHost() {
		return launchCols(q, out, a, rows, cols, w)
	}
	x, y, o := a.Host(), w.Host(), out.Host()
	return q.Parallel(rows, max(1, 4096/cols), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x[i*cols : min(len(x), (i+1)*cols)]
			o[i] = dot(row, y[:len(row)])
		}
	})
}

// clearRest zeroes what a restriction does not write: everything beyond used,
// or all of out when there are no entries.
func clearRest(q *device.Queue, out device.Buffer[m31.QM31], used, entries int) error {
	if entries == 0 {
		used = 0
	}
	return out.Slice(used, out.Len()).Zero(q)
}

func mulAdd[T Entry](dst []m31.QM31, a []T, s m31.QM31) {
	switch a := any(a).(type) {
	case []m31.Element:
		m31.MulAddBase(dst, a, s)
	case []m31.QM31:
		m31.MulAddQM31(dst, a, s)
	}
}
