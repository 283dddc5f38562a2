package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// pair looks pairs of entries up.
func (s *session) pair(p *graph.Program, op graph.Pair) error {
	t := &p.Tables[op.Table]
	table, err := s.table(t)
	if err != nil {
		return err
	}
	a, b, y := s.polys[op.A], s.polys[op.B], s.polys[op.Y]
	u, v, o, f := a.Host(), b.Host(), y.Host(), table.Host()
	return s.q.Parallel(len(o), 1<<13, func(lo, hi int) {
		maskA, maskB := int32(1)<<t.Bits-1, int32(1)<<t.Bits2-1
		for i := lo; i < hi; i++ {
			row := (signed(u[i])+1<<(t.Bits-1))&maskA<<t.Bits2 | (signed(v[i])+1<<(t.Bits2-1))&maskB
			o[i] = f[row]
		}
	})
}

// threshold finds every entry's bucket.
func (s *session) threshold(p *graph.Program, op graph.Threshold) error {
	t := &p.Tables[op.Table]
	x := s.polys[op.X]
	shift, vars := 0, 0 // of the channel in an index
	if op.Axis >= 0 {
		axes := s.plan.Polys[op.X].Axes
		vars = axes[op.Axis]
		for _, v := range axes[op.Axis+1:] {
			shift += v
		}
	}
	a, y := x.Host(), s.polys[op.Y].Host()
	d0, d1, e0, e1 := s.polys[op.D[0]].Host(), s.polys[op.D[1]].Host(), s.polys[op.E[0]].Host(), s.polys[op.E[1]].Host()
	return s.q.Parallel(len(a), 1<<12, func(lo, hi int) {
		const low = 1<<16 - 1
		for i := lo; i < hi; i++ {
			v := signed(a[i])
			r, begin, end := t.StepAt(i>>shift&(1<<vars-1), int64(v))
			d, e := uint32(v-begin), uint32(end-1-v)
			y[i] = m31.FromInt(int64(r))
			d0[i], d1[i] = m31.Element(d&low), m31.Element(d>>16)
			e0[i], e1[i] = m31.Element(e&low), m31.Element(e>>16)
		}
	})
}

// embed copies the rows that tokens name.
func (s *session) embed(op graph.Embed) error {
	tokens, w, out := s.polys[op.Tokens], s.polys[op.W], s.polys[op.Out]
	vars := s.plan.Polys[op.W].Axes[1]
	t, rows, to := tokens.Host(), w.Host(), out.Host()
	poly := &s.plan.Polys[op.Tokens]
	return s.q.Parallel(len(t), max(1, 1<<13>>vars), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := to[i<<vars : (i+1)<<vars]
			if valid(i, poly) {
				copy(row, rows[int(t[i])<<vars:])
			} else {
				clear(row)
			}
		}
	})
}
