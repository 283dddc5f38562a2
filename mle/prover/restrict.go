package prover

import (
	"errors"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// Side says what a restriction combines: a matrix's rows or its columns.
type Side int

// The sides.
const (
	Rows    Side = iota // out[k] = sum_i w[i] a[i][k]
	Columns             // out[i] = sum_k w[k] a[i][k]
)

// Restriction is one weighted sum of the rows or columns of a Rows x Cols
// matrix. The matrix is stored row by row in its real size, as words of M31 or
// as signed bytes: one of Words and Bytes is set. Where rows of bytes begin at
// multiples of 16 bytes, and rows of words at multiples of 4 words, reading is
// fastest.
type Restriction struct {
	Words device.Buffer[m31.Element]
	Bytes device.Buffer[int8]
	Rows  int
	Cols  int
	Side  Side
	// Weights are what rows or columns are multiplied by, one each or more. If
	// there are none, they are eq(Point, .), which is never stored.
	Weights device.Buffer[m31.QM31]
	Point   device.Buffer[m31.QM31]
	// Out takes the sums; what is beyond them is set to 0.
	Out device.Buffer[m31.QM31]
}

// combined is the number of rows or columns that are combined, results the
// number of sums.
func (r Restriction) combined() int {
	if r.Side == Rows {
		return r.Rows
	}
	return r.Cols
}

func (r Restriction) results() int {
	if r.Side == Rows {
		return r.Cols
	}
	return r.Rows
}

func (r Restriction) check(q *device.Queue) error {
	op := "restrict rows"
	if r.Side == Columns {
		op = "restrict columns"
	}
	entries := r.Words.Len() + r.Bytes.Len()
	if r.Rows < 0 || r.Cols < 0 || r.Rows > math.MaxInt32 || r.Cols > math.MaxInt32 || entries != r.Rows*r.Cols || r.Words.Len()*r.Bytes.Len() != 0 {
		return wrong(op, "%d words and %d bytes as %d x %d", r.Words.Len(), r.Bytes.Len(), r.Rows, r.Cols)
	}
	if r.Out.Len() < r.results() {
		return wrong(op, "%d x %d, result of %d", r.Rows, r.Cols, r.Out.Len())
	}
	switch n := r.Point.Len(); {
	case r.Weights.Len() > 0:
		if n > 0 || r.Weights.Len() < r.combined() {
			return wrong(op, "%d x %d, %d weights and a point of %d", r.Rows, r.Cols, r.Weights.Len(), n)
		}
	case n > 31 || r.combined() > 1<<n:
		return wrong(op, "%d x %d, eq over %d variables", r.Rows, r.Cols, n)
	}
	return errors.Join(r.Words.Use(q), r.Bytes.Use(q), r.Weights.Use(q), r.Point.Use(q), r.Out.Use(q))
}

// Restrict does many restrictions, of matrices of any sizes, in one launch for
// each combination of side and storage and one that adds up. Outputs may not
// overlap. Cost: an entry of a matrix is read once and multiplied by a weight.
func Restrict(q *device.Queue, list []Restriction) error {
	work := make([]Restriction, 0, len(list))
	for i, r := range list {
		if err := r.check(q); err != nil {
			return fmt.Errorf("matrix %d: %w", i, err)
		}
		if r.Rows*r.Cols > 0 {
			work = append(work, r)
		} else if err := r.Out.Zero(q); err != nil {
			return err
		}
	}
	if len(work) == 0 {
		return nil
	}
	if !q.OnHost() {
		return launchRestrictions(q, work, restrictKernel.divide)
	}
	for _, r := range work {
		if err := restrictOnHost(q, r); err != nil {
			return err
		}
	}
	return nil
}

// RestrictRows combines the rows of a rows x cols matrix (row-major, its real
// size) by weights, usually an eq table: out[k] = sum_i w[i]*a[i*cols+k] for
// k < cols, and 0 for the rest of out. Cost: rows*cols products by a weight.
func RestrictRows[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	return restrict(q, out, a, rows, cols, w, Rows)
}

// RestrictCols combines the columns of a rows x cols matrix by weights:
// out[i] = sum_k w[k]*a[i*cols+k] for i < rows, and 0 for the rest of out.
// Cost: rows*cols products by a weight.
func RestrictCols[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	return restrict(q, out, a, rows, cols, w, Columns)
}

func restrict[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31], side Side) error {
	r := Restriction{Rows: rows, Cols: cols, Side: side, Weights: w, Out: out}
	switch a := any(a).(type) {
	case device.Buffer[m31.Element]:
		r.Words = a
		return Restrict(q, []Restriction{r})
	case device.Buffer[m31.QM31]:
		if rows < 0 || cols < 0 || a.Len() != rows*cols || out.Len() < r.results() || w.Len() < r.combined() {
			return wrong("restrict", "%d entries as %d x %d, %d weights, result of %d", a.Len(), rows, cols, w.Len(), out.Len())
		}
		if err := errors.Join(a.Use(q), w.Use(q), out.Use(q)); err != nil {
			return err
		}
		used := r.results()
		if a.Len() == 0 {
			used = 0
		}
		if err := out.Slice(used, out.Len()).Zero(q); err != nil || used == 0 {
			return err
		}
		if side == Columns {
			return columns(q, out.Slice(0, rows), a, rows, cols, w)
		}
		if !q.OnHost() {
			return launchRowsExt(q, out.Slice(0, cols), a, rows, cols, w)
		}
		x, y := a.Host(), w.Host()
		return sumRows(q, out.Host()[:cols], rows, func(dst []m31.QM31, i, lo int) { m31.MulAddQM31(dst, x[i*cols+lo:], y[i]) })
	}
	return nil
}

// columns restricts the columns of a matrix over QM31 whose last row may be cut
// short.
func columns(q *device.Queue, out, a device.Buffer[m31.QM31], rows, cols int, w device.Buffer[m31.QM31]) error {
	if rows == 0 {
		return nil
	}
	if !q.OnHost() {
		return launchColsExt(q, out, a, rows, cols, w)
	}
	x, y, o := a.Host(), w.Host(), out.Host()
	return q.Parallel(rows, max(1, 4096/cols), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x[i*cols : min(len(x), (i+1)*cols)]
			o[i] = m31.DotQM31(row, y)
		}
	})
}
