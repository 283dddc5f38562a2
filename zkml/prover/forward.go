package prover

import (
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
	if !plain(p) {
		return s.interpret(p)
	}
	for i, op := range p.Ops {
		var err error
		switch op := op.(type) {
		case graph.MatMul:
			err = s.matMul(op)
		case graph.Linear:
			err = s.linearSum(i, op)
		case graph.Lookup:
			err = s.lookup(p, op)
		case graph.Reshape:
			err = s.reshape(i, op)
		default:
			err = fmt.Errorf("unknown operation %T", op)
		}
		if err != nil {
			return fmt.Errorf("operation %d (%s): %w", i, op.Kind(), err)
		}
	}
	return nil
}

// A product of as many rows is made by tiles of zkml.cu; below, every row reads
// the whole matrix.
const (
	manyRows    = 8
	tileRows    = 32
	tileColumns = 64
)

// matMul computes in 32-bit integers: the bounds of the result hold for every
// partial sum too.
func (s *session) matMul(op graph.MatMul) error {
	w := &s.plan.Polys[op.W]
	k, n := 1<<w.Axes[0], 1<<w.Axes[1]
	if op.TransW {
		k, n = n, k
	}
	x, wt, out := s.polys[op.X], s.polys[op.W], s.polys[op.Out]
	rows := x.Len() / k
	if !s.q.OnHost() {
		args := []device.Arg{out.Arg(), x.Arg(), wt.Arg(), device.U32(rows), device.U32(k), device.U32(n)}
		switch {
		case rows >= manyRows:
			grid := device.D2(device.Blocks(n, tileColumns), device.Blocks(rows, tileRows))
			trans := 0
			if op.TransW {
				trans = 1
			}
			return s.q.Launch(device.Kernel{Source: Source, Name: "zkml_matmul"}, grid, device.D1(threads), 0, append(args, device.U32(trans))...)
		case op.TransW:
			return s.launch(Source, "zkml_matmul_trans", 32*out.Len(), args...)
		}
		return s.q.Launch(device.Kernel{Source: Source, Name: "zkml_matmul_rows"}, device.D2(device.Blocks(n, 32), rows), device.D1(1024), 0,
			out.Arg(), x.Arg(), wt.Arg(), device.U32(k), device.U32(n))
	}
	// The field's slice operations are faster than integers, and reduce.
	a, b, o := x.Host(), wt.Host(), out.Host()
	if op.TransW {
		return s.q.Parallel(rows*n, max(1, 1<<14/k), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				o[i] = m31.Dot(a[i/n*k:(i/n+1)*k], b[i%n*k:(i%n+1)*k])
			}
		})
	}
	const columns = 512 // that stay in the cache
	parts := device.Blocks(n, columns)
	return s.q.Parallel(rows*parts, max(1, 1<<14/(k*min(n, columns))), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r, begin := i%rows, i/rows*columns
			end := min(begin+columns, n)
			sum := o[r*n+begin : r*n+end]
			clear(sum)
			for j, v := range a[r*k : (r+1)*k] {
				if v != 0 {
					m31.MulAddVec(sum, b[j*n+begin:j*n+end], v)
				}
			}
		}
	})
}

// signed is the integer of least absolute value with residue v.
func signed(v m31.Element) int32 {
	if v > m31.P/2 {
		return int32(v - m31.P)
	}
	return int32(v)
}

// linearSum adds up the terms of operation i, broadcasting parameters.
func (s *session) linearSum(i int, op graph.Linear) error {
	out, c := s.polys[op.Out], m31.FromInt(op.Const)
	if !s.q.OnHost() {
		t := s.linear[i]
		return s.launch(Source, "zkml_linear", out.Len(), out.Arg(), s.key.words.Arg(), s.live.Arg(), s.key.desc.Arg(),
			device.U32(t.at), device.U32(t.n), device.U32(uint32(c)), device.U32(out.Len()))
	}
	o := out.Host()
	type term struct {
		x    []m31.Element
		coef m31.Element
		segs []uint64
	}
	var terms []term
	for _, t := range op.Terms {
		terms = append(terms, term{s.polys[t.T].Host(), m31.FromInt(t.Coef), segments(&s.plan.Polys[op.Out], &s.plan.Polys[t.T])})
	}
	return s.q.Parallel(len(o), 1<<13, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			o[i] = c
		}
		for _, t := range terms {
			if len(t.x) == len(o) {
				m31.MulAddVec(o[lo:hi], t.x[lo:hi], t.coef)
				continue
			}
			for i := lo; i < hi; i++ {
				o[i] = o[i].Add(t.coef.Mul(t.x[gather(i, t.segs)]))
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
	if !s.q.OnHost() {
		return s.launch(Source, "zkml_lookup", x.Len(), y.Arg(), rem.Arg(), x.Arg(), table.Arg(), device.U32(int(half)), device.U32(int(op.Shift)), device.U32(int(first)), device.U32(len(t.Y)), device.U32(x.Len()))
	}
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
			if y := s.plan.Tables[i].Columns[k].Y; at != nowhere && &y[0] == &t.Y[0] {
				return s.at(at, len(y)), nil
			}
		}
	}
	b, err := device.Upload(s.q, plan.Embed(t.Y))
	s.owned = append(s.owned, b)
	return b, err
}

// reshape copies where the padded layouts agree, else moves every element to
// its place in a zeroed tensor.
func (s *session) reshape(i int, op graph.Reshape) error {
	from, to := &s.plan.Polys[op.X], &s.plan.Polys[op.Out]
	x, out := s.polys[op.X], s.polys[op.Out]
	if graph.ReshapeIsFree(from.Shape, to.Shape) {
		return device.Copy(s.q, out, x)
	}
	if err := out.Zero(s.q); err != nil {
		return err
	}
	n := graph.Elements(from.Shape)
	if !s.q.OnHost() {
		m := s.moves[i]
		return s.launch(Source, "zkml_move", n, out.Arg(), x.Arg(), s.axesArg(m.from), device.U32(m.from.n), s.axesArg(m.to), device.U32(m.to.n), device.U32(n))
	}
	a, o := x.Host(), out.Host()
	return s.q.Parallel(n, 1<<12, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			o[graph.PaddedIndex(to.Shape, e)] = a[graph.PaddedIndex(from.Shape, e)]
		}
	})
}
