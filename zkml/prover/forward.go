package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// forward evaluates the program over the padded layout. Input and parameters
// are in their buffers. Values are integers below 2^29 in absolute value, kept
// as residues; graph.RunPadded defines every one of them.
func (s *session) forward(p *graph.Program) error {
	if !s.q.OnHost() {
		return s.forwardOnDevice(p)
	}
	for i, op := range p.Ops {
		if err := s.operation(p, i, op); err != nil {
			return fmt.Errorf("operation %d (%s): %w", i, op.Kind(), err)
		}
	}
	return nil
}

// forwardOnDevice enqueues the launches that the layout has for the key's program.
func (s *session) forwardOnDevice(p *graph.Program) error {
	if s.hooks.program != nil {
		return errors.New("programs other than the key's run on the CPU only")
	}
	for i := range s.pass {
		a := &s.pass[i]
		if err := s.enqueue(a); err != nil {
			return fmt.Errorf("from operation %d (%s) on: %w", a.op, a.name, err)
		}
	}
	return nil
}

// operation does an operation on the host.
func (s *session) operation(p *graph.Program, i int, op graph.Op) error {
	o := &s.ops[i]
	switch op := op.(type) {
	case graph.Einsum:
		return s.sumOnHost(o.einsum)
	case graph.Linear:
		return s.linearSum(op)
	case graph.Lookup:
		return s.lookup(p, op)
	case graph.Pair:
		return s.pair(p, op)
	case graph.Threshold:
		return s.threshold(p, op)
	case graph.Rearrange:
		return s.rearranged(o, op)
	case graph.Embed:
		return s.embed(op)
	case graph.Reshape:
		return s.reshape(op)
	}
	return fmt.Errorf("unknown operation %T", op)
}

// signed is the integer of least absolute value with residue v.
func signed(v m31.Element) int32 {
	if v > m31.P/2 {
		return int32(v - m31.P)
	}
	return int32(v)
}

// linearSum adds up terms that repeat to the shape of the result.
func (s *session) linearSum(op graph.Linear) error {
	out, c := s.polys[op.Out], m31.FromInt(op.Const)
	sum := out.Host()
	type term struct {
		x    []m31.Element
		coef m31.Element
		segs []uint64
	}
	var terms []term
	for _, t := range op.Terms {
		terms = append(terms, term{s.polys[t.T].Host(), m31.FromInt(t.Coef), segments(&s.plan.Polys[op.Out], &s.plan.Polys[t.T])})
	}
	return s.q.Parallel(len(sum), 1<<13, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum[i] = c
		}
		for _, t := range terms {
			if len(t.x) == len(sum) {
				m31.MulAddVec(sum[lo:hi], t.x[lo:hi], t.coef)
				continue
			}
			// A run of entries reads a run of the term's, or one of them.
			run, step := runOf(t.segs)
			for i := lo; i < hi && run < 8; i++ {
				sum[i] = sum[i].Add(t.coef.Mul(t.x[gather(i, t.segs)]))
			}
			for i := lo; i < hi && run >= 8; {
				end := min(hi, i|(run-1)+1)
				x := gather(i, t.segs)
				if step == 1 {
					m31.MulAddVec(sum[i:end], t.x[x:x+end-i], t.coef)
				} else {
					v := t.coef.Mul(t.x[x])
					for k := i; k < end; k++ {
						sum[k] = sum[k].Add(v)
					}
				}
				i = end
			}
		}
	})
}

// lookup splits the accumulator into quotient and remainder and looks the
// quotient up.
func (s *session) lookup(p *graph.Program, op graph.Lookup) error {
	t := &p.Tables[op.Table]
	table, err := s.table(t)
	if err != nil {
		return err
	}
	x, y := s.polys[op.X], s.polys[op.Y]
	var rem device.Buffer[m31.Element]
	if op.Rem != graph.None {
		rem = s.polys[op.Rem]
	}
	half, first := op.Half(), int64(1)<<(t.Bits-1)
	a, o, r, f := x.Host(), y.Host(), rem.Host(), table.Host()
	return s.q.Parallel(len(a), 1<<13, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			acc := int64(signed(a[i])) + half
			q := acc >> op.Shift
			o[i] = f[min(max(q+first, 0), int64(len(f)-1))]
			if r != nil {
				r[i] = m31.Element(acc - q<<op.Shift)
			}
		}
	})
}

// table is the values of a table: the key's, unless a program that is not the
// key's has another one.
func (s *session) table(t *graph.Table) (device.Buffer[m31.Element], error) {
	for i, columns := range s.tables {
		for k, at := range columns {
			if at != nowhere && s.plan.Tables[i].Columns[k].Table == t {
				return s.at(at, t.Rows()), nil
			}
		}
	}
	b, err := device.Upload(s.q, plan.Embed(t.Values()))
	s.owned = append(s.owned, b)
	return b, err
}
