package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// Evaluation is one evaluation of many: of a table over M31 at a point. A table
// shorter than 2^len(Point) reads as if zeros followed.
type Evaluation struct {
	Table device.Buffer[m31.Element]
	Point device.Buffer[m31.QM31]
}

func checkEvaluation(entries, vars int) error {
	if vars > 40 || entries > 1<<vars {
		return wrong("evaluate", "%d entries at %d coordinates", entries, vars)
	}
	return nil
}

// lowVars is how many of the last variables are bound first: about half, so
// that eq of both parts is cheap, and enough for rows of a good length.
func lowVars(n int) int { return min(n, max(8, (n+1)/2)) }

// Evaluate writes the extension of table at point to out[0]. A table shorter
// than 2^len(point) reads as if zeros followed.
// Cost: len(table) products of an entry by an extension element.
func Evaluate[T Entry](q *device.Queue, out device.Buffer[m31.QM31], table device.Buffer[T], point device.Buffer[m31.QM31]) error {
	if out.Len() != 1 {
		return wrong("evaluate", "result of %d", out.Len())
	}
	if base, ok := any(table).(device.Buffer[m31.Element]); ok {
		return Evaluations(q, out, []Evaluation{{Table: base, Point: point}})
	}
	if err := checkEvaluation(table.Len(), point.Len()); err != nil {
		return err
	}
	if err := errors.Join(out.Use(q), table.Use(q), point.Use(q)); err != nil {
		return err
	}
	n := point.Len()
	low := lowVars(n)
	rows := (table.Len() + 1<<low - 1) >> low
	scratch, err := device.Alloc[m31.QM31](q, 1<<low+1<<(n-low)+rows)
	if err != nil {
		return fmt.Errorf("mle: evaluate: %w", err)
	}
	defer scratch.Free()
	inner, rest := scratch.Slice(0, 1<<low), scratch.Slice(1<<low, scratch.Len())
	outer, sums := rest.Slice(0, 1<<(n-low)), rest.Slice(1<<(n-low), rest.Len())
	err = EqTables(q, []EqTable{{Out: inner, Point: point.Slice(n-low, n)}, {Out: outer, Point: point.Slice(0, n-low)}})
	if err != nil {
		return err
	}
	// The last row may be shorter; columns restricts over what is there.
	if err := columns(q, sums, any(table).(device.Buffer[m31.QM31]), rows, 1<<low, inner); err != nil {
		return err
	}
	return Dot(q, out, sums, outer)
}

// Evaluations writes the values of many tables, each at its point, to out, in
// three launches: the columns of all tables are restricted to the last part of
// the points, and the results to the first.
func Evaluations(q *device.Queue, out device.Buffer[m31.QM31], list []Evaluation) error {
	if out.Len() != len(list) {
		return wrong("evaluate", "%d tables, result of %d", len(list), out.Len())
	}
	total := 0
	for i, e := range list {
		if err := errors.Join(checkEvaluation(e.Table.Len(), e.Point.Len()), e.Table.Use(q), e.Point.Use(q)); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
		total += rowsOf(e)
	}
	if err := out.Use(q); err != nil || len(list) == 0 {
		return err
	}
	sums, err := device.Alloc[m31.QM31](q, total)
	if err != nil {
		return fmt.Errorf("mle: evaluate: %w", err)
	}
	defer sums.Free()
	var restrictions []Restriction
	dots := make([]dotJob, len(list))
	at := 0
	for i, e := range list {
		n, low, rows := e.Point.Len(), lowVars(e.Point.Len()), rowsOf(e)
		own := sums.Slice(at, at+rows)
		at += rows
		dots[i] = dotJob{vector: own, point: e.Point.Slice(0, n-low)}
		r := Restriction{Words: e.Table, Rows: rows, Cols: 1 << low, Side: Columns, Point: e.Point.Slice(n-low, n), Out: own}
		if left := rows<<low - e.Table.Len(); left > 0 { // a last row that is cut short
			last := r
			last.Rows, last.Cols = 1, 1<<low-left
			last.Words, last.Out = e.Table.Slice(e.Table.Len()-last.Cols, e.Table.Len()), own.Slice(rows-1, rows)
			restrictions = append(restrictions, last)
			r.Rows--
			r.Words, r.Out = e.Table.Slice(0, r.Rows<<low), own.Slice(0, rows-1)
		}
		if r.Rows > 0 {
			restrictions = append(restrictions, r)
		}
	}
	if err := Restrict(q, restrictions); err != nil {
		return err
	}
	return dotEq(q, out, dots)
}

func rowsOf(e Evaluation) int {
	low := lowVars(e.Point.Len())
	return (e.Table.Len() + 1<<low - 1) >> low
}

// dotJob is the inner product of a vector with eq(point, .).
type dotJob struct{ vector, point device.Buffer[m31.QM31] }

func dotEq(q *device.Queue, out device.Buffer[m31.QM31], jobs []dotJob) error {
	if !q.OnHost() {
		words := make([]uint64, 0, 4*len(jobs))
		for _, j := range jobs {
			words = append(words, j.vector.Address(), j.point.Address(), uint64(j.point.Len()), uint64(j.vector.Len()))
		}
		b, err := device.Upload(q, words)
		if err != nil {
			return fmt.Errorf("mle: evaluate: %w", err)
		}
		defer b.Free()
		return q.Launch(device.Kernel{Source: Source, Name: "mle_dot_eq"}, device.D1(len(jobs)), device.D1(threads), 0, out.Arg(), b.Arg())
	}
	for i, j := range jobs {
		w, err := device.Alloc[m31.QM31](q, 1<<j.point.Len())
		if err != nil {
			return err
		}
		if err := Eq(q, w, j.point, device.Buffer[m31.QM31]{}); err != nil {
			return err
		}
		if err := Dot(q, out.Slice(i, i+1), j.vector, w); err != nil {
			return err
		}
		w.Free()
	}
	return nil
}
