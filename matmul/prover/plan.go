package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
)

// plan is what a batch does: restrictions of resident matrices, streams of the
// others, and the sum-checks of the tables that both leave.
type plan struct {
	tables   device.Buffer[m31.QM31]
	resident []mleprover.Restriction
	streams  []stream
	sums     []sumprover.Instance
}

// side is one factor of an instance: its inner axis, of k entries, stays, and
// the other is restricted to a point.
type side struct {
	Matrix
	claim    int
	factor   string
	k, other int
	point    device.Buffer[m31.QM31]
	byRows   bool // the other axis is the rows of what is stored
}

func sides(i int, in Instance) [2]side {
	return [2]side{
		{in.A, i, "A", in.K, in.M, in.Row, !in.A.Transposed},
		{in.B, i, "B", in.K, in.N, in.Col, in.B.Transposed},
	}
}

func (s side) name() string { return fmt.Sprintf("%s of claim %d", s.factor, s.claim) }

// isTable says that the matrix is a table of the sum-check as it is: one row or
// column of a power of two words on the device.
func (s side) isTable() bool { return s.other == 1 && s.Words.Len() == 1<<mle.Log(s.k) }

// restriction of k of the inner entries, which are stored in words or bytes.
func (s side) restriction(words device.Buffer[m31.Element], bytes device.Buffer[int8], k int, out device.Buffer[m31.QM31]) mleprover.Restriction {
	r := mleprover.Restriction{Words: words, Bytes: bytes, Rows: k, Cols: s.other, Side: mleprover.Columns, Point: s.point, Out: out}
	if s.byRows {
		r.Rows, r.Cols, r.Side = s.other, k, mleprover.Rows
	}
	return r
}

// newPlan allocates the tables and divides the work. Nothing is done on the
// device before it is known that memory suffices.
func newPlan(q *device.Queue, instances []Instance) (*plan, error) {
	total := 0
	for i, in := range instances {
		for _, s := range sides(i, in) {
			if !s.isTable() {
				total += 1 << mle.Log(in.K)
			}
		}
	}
	// The tables, and their halves once the sum-check has folded them.
	if err := q.Device().CheckMemory(16*int64(total) + 8*int64(total)); err != nil {
		return nil, fmt.Errorf("matmul: tables of %d elements: %w", total, err)
	}
	tables, err := device.Alloc[m31.QM31](q, total)
	if err != nil {
		return nil, fmt.Errorf("matmul: tables: %w", err)
	}
	p := &plan{tables: tables}
	for i, in := range instances {
		sum := sumprover.Instance{Shape: in.Sumcheck()}
		for _, s := range sides(i, in) {
			if s.isTable() {
				sum.Tables = append(sum.Tables, sumprover.Base(s.Words))
				continue
			}
			size := 1 << mle.Log(in.K)
			table := tables.Slice(0, size)
			tables = tables.Slice(size, tables.Len())
			sum.Tables = append(sum.Tables, sumprover.Ext(table))
			if !s.streamed() {
				p.resident = append(p.resident, s.restriction(s.Words, s.Bytes, in.K, table))
				continue
			}
			st, err := newStream(q, s, table)
			if err != nil {
				p.tables.Free()
				return nil, fmt.Errorf("matmul: %s: %w", s.name(), err)
			}
			p.streams = append(p.streams, st)
		}
		p.sums = append(p.sums, sum)
	}
	return p, nil
}
