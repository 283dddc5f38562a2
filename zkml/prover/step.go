package prover

import (
	"encoding/binary"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// step is evaluations and tables of eq that are made at one time, in two
// launches: first all tables, then all evaluations.
type step struct {
	tables []eqTable
	known  map[string]int // tables by their points
	evals  []evaluation

	tablesAt, tableTilesAt, tableTiles int
	evalsAt, evalTilesAt, evalTiles    int
	scratch                            int // elements of all tables
}

// eqTable is 2^len(point) values of eq, times gamma^power, at a place in
// scratch.
type eqTable struct {
	at    int
	point plan.Point
	power int
}

// splitEq is eq of a point as the product of two tables, over its first and
// its last `bits` coordinates.
type splitEq struct{ low, high, bits int }

// lowBits is the most variables of the lower table: a block evaluates a row of
// 2^lowBits words.
const lowBits = 11

// evaluation of a table of words.
type evaluation struct {
	of   place
	vars int
	eq   splitEq
	to   int
}

// table is the place of a table of eq.
func (st *step) table(point plan.Point) int {
	var key []byte
	for _, c := range point {
		key = binary.LittleEndian.AppendUint32(key, uint32(c))
	}
	if at, ok := st.known[string(key)]; ok {
		return at
	}
	if st.known == nil {
		st.known = map[string]int{}
	}
	at := st.scratch
	st.known[string(key)] = at
	st.tables = append(st.tables, eqTable{at, point, 0})
	st.scratch += 1 << len(point)
	return at
}

// split is a point's eq.
func (st *step) split(point plan.Point) splitEq {
	bits := min(len(point), lowBits)
	n := len(point) - bits
	return splitEq{low: st.table(point[n:]), high: st.table(point[:n]), bits: bits}
}

// evaluate adds an evaluation of the plan, to be written to element `to`.
func (st *step) evaluate(l *layout, id, to int) {
	e := &l.plan.Evals[id]
	st.add(l, l.polys[e.Poly], e.Point, to)
}

// add adds the evaluation of a table of words at a point.
func (st *step) add(l *layout, of place, point plan.Point, to int) {
	st.evals = append(st.evals, evaluation{of, len(point), st.split(point), to})
}

// finish writes the step's descriptors.
func (st *step) finish(l *layout) {
	var tables, evals words
	var sizes, rows []int
	for _, t := range st.tables {
		at := len(l.desc)
		for _, c := range t.point {
			l.desc.add(uint64(c))
		}
		tables.add(uint64(t.at), uint64(len(t.point)), uint64(at), uint64(t.power))
		sizes = append(sizes, 1<<len(t.point))
	}
	parts := 0
	for _, e := range st.evals {
		n := 1 << (e.vars - e.eq.bits)
		evals.add(uint64(e.of), uint64(e.vars), uint64(e.eq.bits), uint64(e.eq.low), uint64(e.eq.high), uint64(e.to), uint64(parts), uint64(n))
		rows = append(rows, n)
		parts += n
	}
	st.tablesAt = l.desc.add(tables...)
	st.tableTilesAt, st.tableTiles = l.desc.tiles(sizes, threads)
	st.evalsAt = l.desc.add(evals...)
	st.evalTilesAt, st.evalTiles = l.desc.tiles(rows, 1)
	l.parts, l.most = max(l.parts, st.scratch), max(l.most, parts)
	l.scratch = l.parts + l.most
}

// run makes the step's tables and evaluations.
func (s *session) run(st *step) error {
	if s.q.OnHost() {
		return s.runOnHost(st)
	}
	if st.tableTiles > 0 {
		if err := s.blocks(ClaimsSource, "zkml_eq", st.tableTiles, s.scratch.Arg(), s.ext.Arg(), s.key.desc.Arg(),
			device.U32(st.tablesAt), device.U32(st.tableTilesAt), device.U32(s.gamma)); err != nil {
			return err
		}
	}
	if st.evalTiles > 0 {
		return s.blocks(ClaimsSource, "zkml_evaluate", st.evalTiles, s.ext.Arg(), s.scratch.Slice(s.parts, s.scratch.Len()).Arg(),
			s.live.Slice(s.counts, s.zeroed).Arg(), s.scratch.Arg(), s.key.words.Arg(), s.live.Arg(), s.key.desc.Arg(), device.U32(st.evalsAt), device.U32(st.evalTilesAt))
	}
	return nil
}

func (s *session) runOnHost(st *step) error {
	scratch, ext := s.scratch.Host(), s.ext.Host()
	err := s.q.Parallel(len(st.tables), 1, func(lo, hi int) {
		for _, t := range st.tables[lo:hi] {
			z := make([]m31.QM31, len(t.point))
			for i, c := range t.point {
				z[i] = ext[c]
			}
			scale := m31.OneQM31()
			if t.power > 0 {
				scale = ext[s.gamma].Exp(uint64(t.power))
			}
			copy(scratch[t.at:], mle.ScaledEqTable(z, scale))
		}
	})
	if err != nil {
		return err
	}
	for _, e := range st.evals {
		if err := s.q.Err(); err != nil {
			return err
		}
		low, high := e.eq.of(scratch, e.vars)
		table := s.at(e.of, 1<<e.vars).Host()
		rows := make([]m31.QM31, len(high))
		parallel.For(len(high), max(1, 1<<13/len(low)), func(lo, hi int) {
			for h := lo; h < hi; h++ {
				rows[h] = m31.DotBase(table[h*len(low):(h+1)*len(low)], low)
			}
		})
		ext[e.to] = m31.DotQM31(rows, high)
	}
	return nil
}

// of is the two tables of eq over a number of variables.
func (e splitEq) of(scratch []m31.QM31, vars int) (low, high []m31.QM31) {
	return scratch[e.low : e.low+1<<e.bits], scratch[e.high : e.high+1<<(vars-e.bits)]
}
