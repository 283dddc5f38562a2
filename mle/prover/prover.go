// Package prover has the operations of package mle on a device: eq tables,
// folds, evaluations, weighted sums of a matrix's rows or columns.
//
// All operations are asynchronous on their queue. Points, challenges and
// results are device buffers, so that a challenge drawn on the device is used
// there. The first variable is the top bit of the index.
package prover

import (
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
)

// Entry is what a table is made of.
type Entry interface{ m31.Element | m31.QM31 }

func wrong(op, format string, a ...any) error {
	return fmt.Errorf("mle: %s: %w: %s", op, device.ErrUsage, fmt.Sprintf(format, a...))
}

// Eq writes out[x] = scale*eq(point, x), 2^len(point) values. An empty scale
// is 1. Cost: 2^n products.
func Eq(q *device.Queue, out, point, scale device.Buffer[m31.QM31]) error {
	return eq(q, out, point, scale, m31.ScaleVecQM31, 0)
}

// AddEq is Eq added to what out holds, for random combinations of eq tables.
func AddEq(q *device.Queue, out, point, scale device.Buffer[m31.QM31]) error {
	return eq(q, out, point, scale, m31.MulAddQM31, 1)
}

func eq(q *device.Queue, out, point, scale device.Buffer[m31.QM31], put func(dst, a []m31.QM31, s m31.QM31), add int) error {
	n := point.Len()
	if n > 40 || out.Len() != 1<<n {
		return wrong("eq", "table of %d for %d variables", out.Len(), n)
	}
	if scale.Len() > 1 {
		return wrong("eq", "%d scales", scale.Len())
	}
	if !q.OnHost() {
		return launchEq(q, out, point, scale, add)
	}
	s := m31.OneQM31()
	if scale.Len() == 1 {
		s = scale.Host()[0]
	}
	t, z := out.Host(), point.Host()
	// The table of the last variables, then one multiple of it for each
	// setting of the first ones.
	low := min(n, 10)
	inner := mle.EqTable(z[n-low:])
	outer := mle.ScaledEqTable(z[:n-low], s)
	return q.Parallel(len(outer), max(1, 4096>>low), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			put(t[i<<low:(i+1)<<low], inner, outer[i])
		}
	})
}

// EqHost is Eq at a point that the host knows.
func EqHost(q *device.Queue, out device.Buffer[m31.QM31], point []m31.QM31) error {
	z, err := device.Upload(q, point)
	if err != nil {
		return fmt.Errorf("mle: eq: %w", err)
	}
	defer z.Free()
	return Eq(q, out, z, device.Buffer[m31.QM31]{})
}

// Fold binds the first variable of table to the challenge r (one element):
// dst[i] = lo[i] + r*(hi[i]-lo[i]), where lo and hi are table's halves. For a
// table of QM31, dst may be the first half of table itself.
// Cost: len(dst) products of an entry by r.
func Fold[T Entry](q *device.Queue, dst device.Buffer[m31.QM31], table device.Buffer[T], r device.Buffer[m31.QM31]) error {
	if table.Len() != 2*dst.Len() || r.Len() != 1 {
		return wrong("fold", "%d entries into %d by %d challenges", table.Len(), dst.Len(), r.Len())
	}
	if dst.Len() == 0 {
		return nil
	}
	if !q.OnHost() {
		return launchFold(q, dst, table, r)
	}
	h, d, c := dst.Len(), dst.Host(), r.Host()[0]
	switch t := any(table.Host()).(type) {
	case []m31.Element:
		return q.Parallel(h, 4096, func(lo, hi int) { m31.FoldBase(d[lo:hi], t[lo:hi], t[h+lo:h+hi], c) })
	case []m31.QM31:
		return q.Parallel(h, 2048, func(lo, hi int) { m31.FoldQM31(d[lo:hi], t[lo:hi], t[h+lo:h+hi], c) })
	}
	return nil
}

// Dot writes out[0] = sum_i a[i]*w[i] over the length of a.
func Dot[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], w device.Buffer[m31.QM31]) error {
	if out.Len() != 1 || w.Len() < a.Len() {
		return wrong("dot", "%d entries, %d weights, result of %d", a.Len(), w.Len(), out.Len())
	}
	if a.Len() == 0 {
		return out.Zero(q)
	}
	if !q.OnHost() {
		return launchDot(q, out, a, w)
	}
	x, y := a.Host(), w.Host()
	sum := newTotal(1)
	err := q.Parallel(len(x), 4096, func(lo, hi int) { sum.add(dot(x[lo:hi], y[lo:hi])) })
	out.Host()[0] = sum.v[0]
	return err
}

// Evaluate writes the extension of table at point to out[0]. A table shorter
// than 2^len(point) reads as if zeros followed.
// Cost: len(table) products of an entry by an extension element.
func Evaluate[T Entry](q *device.Queue, out device.Buffer[m31.QM31], table device.Buffer[T], point device.Buffer[m31.QM31]) error {
	n := point.Len()
	if out.Len() != 1 || n > 40 || table.Len() > 1<<n {
		return wrong("evaluate", "%d entries at %d coordinates, result of %d", table.Len(), n, out.Len())
	}
	low := min(n, max(8, (n+1)/2))
	rows := (table.Len() + 1<<low - 1) >> low
	scratch, err := device.Alloc[m31.QM31](q, 1<<low+1<<(n-low)+rows)
	if err != nil {
		return fmt.Errorf("mle: evaluate: %w", err)
	}
	defer scratch.Free()
	inner, rest := scratch.Slice(0, 1<<low), scratch.Slice(1<<low, scratch.Len())
	outer, sums := rest.Slice(0, 1<<(n-low)), rest.Slice(1<<(n-low), rest.Len())
	none := device.Buffer[m31.QM31]{}
	if err := Eq(q, inner, point.Slice(n-low, n), none); err != nil {
		return err
	}
	if err := Eq(q, outer, point.Slice(0, n-low), none); err != nil {
		return err
	}
	// The last row may be shorter; columns restricts over what is there.
	if err := columns(q, sums, table, rows, 1<<low, inner); err != nil {
		return err
	}
	return Dot(q, out, sums, outer)
}

func dot[T Entry](a []T, w []m31.QM31) m31.QM31 {
	switch a := any(a).(type) {
	case []m31.Element:
		return m31.DotBase(a, w)
	case []m31.QM31:
		return m31.DotQM31(a, w)
	}
	return m31.QM31{}
}

// total is a vector that ranges of a parallel loop add to.
type total struct {
	mu sync.Mutex
	v  []m31.QM31
}

func newTotal(n int) *total { return &total{v: make([]m31.QM31, n)} }

func (t *total) add(v ...m31.QM31) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m31.AddVecQM31(t.v, t.v, v)
}
