// Package prover has the operations of package mle on a device: eq tables,
// folds, evaluations, weighted sums of a matrix's rows or columns.
//
// All operations are asynchronous on their queue. Points, challenges and
// results are device buffers, so that a challenge drawn on the device is used
// there. The first variable is the top bit of the index.
package prover

import (
	"errors"
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

// EqTable is one table of eq: Out[x] = Scale*eq(Point, x), 2^len(Point) values,
// added to what Out holds if Add. An empty Scale is 1.
type EqTable struct {
	Out, Point, Scale device.Buffer[m31.QM31]
	Add               bool
}

func (t EqTable) check(q *device.Queue) error {
	if n := t.Point.Len(); n > 40 || t.Out.Len() != 1<<n {
		return wrong("eq", "table of %d for %d variables", t.Out.Len(), n)
	}
	if t.Scale.Len() > 1 {
		return wrong("eq", "%d scales", t.Scale.Len())
	}
	return errors.Join(t.Out.Use(q), t.Point.Use(q), t.Scale.Use(q))
}

// Eq writes out[x] = scale*eq(point, x), 2^len(point) values. An empty scale
// is 1. Cost: 1.5 * 2^n products.
func Eq(q *device.Queue, out, point, scale device.Buffer[m31.QM31]) error {
	return EqTables(q, []EqTable{{Out: out, Point: point, Scale: scale}})
}

// AddEq is Eq added to what out holds, for random combinations of eq tables.
func AddEq(q *device.Queue, out, point, scale device.Buffer[m31.QM31]) error {
	return EqTables(q, []EqTable{{Out: out, Point: point, Scale: scale, Add: true}})
}

// EqTables writes many tables of eq in one launch. Their outputs may not overlap.
func EqTables(q *device.Queue, tables []EqTable) error {
	for i, t := range tables {
		if err := t.check(q); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
	}
	switch {
	case q.OnHost():
		for _, t := range tables {
			if err := eqOnHost(q, t); err != nil {
				return err
			}
		}
		return nil
	case len(tables) == 1:
		return launchEq(q, tables[0])
	case len(tables) == 0:
		return nil
	}
	return launchEqTables(q, tables)
}

// eqOnHost makes the table of the last variables, then one multiple of it for
// each setting of the first ones.
func eqOnHost(q *device.Queue, table EqTable) error {
	put, s := m31.ScaleVecQM31, m31.OneQM31()
	if table.Add {
		put = m31.MulAddQM31
	}
	if table.Scale.Len() == 1 {
		s = table.Scale.Host()[0]
	}
	t, z := table.Out.Host(), table.Point.Host()
	n := len(z)
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
	if err := errors.Join(dst.Use(q), table.Use(q), r.Use(q)); err != nil || dst.Len() == 0 {
		return err
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

// FoldM31 is Fold of a table of M31 words by a challenge of M31: for protocols
// whose challenges are in the prime field. dst may be the first half of table.
func FoldM31(q *device.Queue, dst, table, r device.Buffer[m31.Element]) error {
	if table.Len() != 2*dst.Len() || r.Len() != 1 {
		return wrong("fold", "%d entries into %d by %d challenges", table.Len(), dst.Len(), r.Len())
	}
	if err := errors.Join(dst.Use(q), table.Use(q), r.Use(q)); err != nil || dst.Len() == 0 {
		return err
	}
	if !q.OnHost() {
		return launchFoldM31(q, dst, table, r)
	}
	h, d, t, c := dst.Len(), dst.Host(), table.Host(), r.Host()[0]
	return q.Parallel(h, 8192, func(lo, hi int) {
		diff := make([]m31.Element, min(hi-lo, 4096))
		for ; lo < hi; lo += len(diff) {
			diff = diff[:min(len(diff), hi-lo)]
			low, high := t[lo:lo+len(diff)], t[h+lo:h+lo+len(diff)]
			m31.SubVec(diff, high, low)
			m31.ScaleVec(diff, diff, c)
			m31.AddVec(d[lo:lo+len(diff)], low, diff)
		}
	})
}

// Dot writes out[0] = sum_i a[i]*w[i] over the length of a.
func Dot[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], w device.Buffer[m31.QM31]) error {
	if out.Len() != 1 || w.Len() < a.Len() {
		return wrong("dot", "%d entries, %d weights, result of %d", a.Len(), w.Len(), out.Len())
	}
	if err := errors.Join(out.Use(q), a.Use(q), w.Use(q)); err != nil {
		return err
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
