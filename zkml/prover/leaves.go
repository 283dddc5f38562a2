package prover

import (
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// chunk is how many leaves the host makes at a time.
const chunk = 1 << 10

// count adds all lookups to the multiplicities of their tables' rows. A tuple
// outside the table is not counted; its proof will not verify.
func (s *session) count() error {
	if !s.q.OnHost() {
		return s.countOnDevice()
	}
	for i := range s.plan.Leaves {
		if l := &s.plan.Leaves[i]; !l.Rows {
			if err := s.countOnHost(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) countOnHost(l *plan.Leaves) error {
	t := &s.plan.Tables[l.Table]
	m := s.polys[t.Mult].Host()
	var mu sync.Mutex
	return s.q.Parallel(1<<l.Vars, max(1<<14, len(m)), func(lo, hi int) {
		local := make([]m31.Element, len(m))
		var column [chunk]m31.Element
		var rows [chunk]uint32
		for at := lo; at < hi; at += chunk {
			n := min(chunk, hi-at)
			clear(rows[:n])
			for _, p := range t.Row {
				first := m31.FromInt(p.First)
				s.column(&l.C[p.Column], column[:n], at)
				for i, c := range column[:n] {
					if r := uint32(c.Sub(first)); r>>p.Vars == 0 && rows[i] != outside {
						rows[i] += r << p.Shift
					} else {
						rows[i] = outside
					}
				}
			}
			for _, r := range rows[:n] {
				if r != outside {
					local[r]++
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		m31.AddVec(m, m, local)
	})
}

// outside is the row of a tuple that is in no row.
const outside = 1<<32 - 1

// column writes a column of lookups from entry `at` on.
func (s *session) column(c *plan.Affine, out []m31.Element, at int) {
	for i := range out {
		out[i] = c.Const
		if c.Index.Vars > 0 {
			out[i] = out[i].Add(c.Index.Coef.Mul(m31.Element((at + i) >> c.Index.Shift & (1<<c.Index.Vars - 1))))
		}
	}
	for _, t := range c.Terms {
		m31.MulAddVec(out, s.polys[t.Of].Host()[at:at+len(out)], t.Coef)
	}
}

// fractions writes the leaves of the fractional-sum tree: numerator 1 or minus
// the multiplicity, denominator alpha - tag - beta c_0 - beta^2 c_1 - ..., and
// 0/1 beyond the blocks. ch is alpha and beta.
func (s *session) fractions(num device.Buffer[m31.Element], den, ch device.Buffer[m31.QM31]) error {
	if !s.q.OnHost() {
		return s.fractionsOnDevice(num, den, ch)
	}
	p, d := num.Host(), den.Host()
	used := 0
	for i := range s.plan.Leaves {
		l := &s.plan.Leaves[i]
		end := l.Offset + 1<<l.Vars
		if err := s.blockOnHost(l, p[l.Offset:end], d[l.Offset:end], ch.Host()); err != nil {
			return err
		}
		used = end
	}
	for i := range d[used:] {
		p[used+i], d[used+i] = 0, m31.OneQM31()
	}
	return nil
}

func (s *session) blockOnHost(l *plan.Leaves, p []m31.Element, d, ch []m31.QM31) error {
	t := &s.plan.Tables[l.Table]
	base, beta := ch[0].Sub(m31.Lift(m31.Element(t.Tag))), ch[1]
	return s.q.Parallel(len(p), 1<<12, func(lo, hi int) {
		var column [chunk]m31.Element
		for at := lo; at < hi; at += chunk {
			end := min(at+chunk, hi)
			d, column := d[at:end], column[:end-at]
			for i := range d {
				d[i] = base
			}
			power := beta
			for k := range t.Columns {
				if l.Rows {
					t.Columns[k].Write(column, at)
				} else {
					s.column(&l.C[k], column, at)
				}
				for i, c := range column {
					d[i] = d[i].Sub(power.MulBase(c))
				}
				power = power.Mul(beta)
			}
		}
		for i := range p[lo:hi] {
			p[lo+i] = 1
		}
		if l.Rows {
			for i, m := range s.polys[t.Mult].Host()[lo:hi] {
				p[lo+i] = m.Neg()
			}
		}
	})
}
