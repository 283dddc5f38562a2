package prover

import (
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// exprBlock is the number of entries that an expression's program works on at a
// time, so that its registers stay in the first cache.
const exprBlock = 128

// exprKind says what a register of a program is, given which tables are over
// the prime field.
type exprKind uint8

const (
	exprUniform exprKind = iota // the same for all entries: from scalars alone
	exprBase
	exprExt
)

// hostExpr is a program laid out for blocks of entries. Registers that depend on
// columns have slots, which are used again once their value is not needed.
type hostExpr struct {
	*sumcheck.Program
	kind    []exprKind
	uniform []m31.QM31 // values of uniform registers
	slot    []int      // of registers that code writes, by kind
	ofBase  int        // slots
	ofExt   int
	scalars []m31.QM31
	isBase  []bool // of the columns, that the layout is for
}

func newHostExpr(e *sumcheck.Expr, scalars []m31.QM31) *hostExpr {
	return &hostExpr{Program: e.Program(), scalars: scalars}
}

// layOut fits the program to the tables as they are now.
func (x *hostExpr) layOut(tables []hostTable) {
	isBase := make([]bool, len(tables))
	for k := range tables {
		isBase[k] = tables[k].base != nil
	}
	if slices.Equal(isBase, x.isBase) {
		return
	}
	x.isBase = isBase
	first := x.Columns + x.Scalars
	n := first + len(x.Code)
	x.kind, x.slot, x.uniform = make([]exprKind, n), make([]int, n), make([]m31.QM31, n)
	last := make([]int, n) // the instruction that reads a register last
	for k, base := range x.isBase {
		if x.kind[k] = exprExt; base {
			x.kind[k] = exprBase
		}
	}
	copy(x.uniform[x.Columns:first], x.scalars)
	for i, in := range x.Code {
		kind := x.kind[in.A]
		last[in.A] = i
		if !in.Op.Unary() {
			last[in.B] = i
			// A base and a uniform register, which is of the extension, make
			// one of the extension.
			if b := x.kind[in.B]; b != kind {
				kind = exprExt
			}
		}
		x.kind[first+i] = kind
	}
	last[x.Result] = len(x.Code)
	free := map[exprKind][]int{}
	next := map[exprKind]int{}
	for i, in := range x.Code {
		// Operands that end here give their slot to the result: operations
		// may write over what they read.
		ends := []int{in.A}
		if !in.Op.Unary() && in.B != in.A {
			ends = append(ends, in.B)
		}
		for _, r := range ends {
			if r >= first && last[r] == i && x.kind[r] != exprUniform {
				free[x.kind[r]] = append(free[x.kind[r]], x.slot[r])
			}
		}
		kind := x.kind[first+i]
		if kind == exprUniform {
			x.uniform[first+i] = x.constant(in)
			continue
		}
		if f := free[kind]; len(f) > 0 {
			x.slot[first+i], free[kind] = f[len(f)-1], f[:len(f)-1]
			continue
		}
		x.slot[first+i] = next[kind]
		next[kind]++
	}
	x.ofBase, x.ofExt = next[exprBase], next[exprExt]
}

// constant does an instruction on uniform registers.
func (x *hostExpr) constant(in sumcheck.ExprInstr) m31.QM31 {
	a, b, c := x.uniform[in.A], x.uniform[in.B], m31.Lift(in.C)
	switch in.Op {
	case sumcheck.OpAdd:
		return a.Add(b)
	case sumcheck.OpSub:
		return a.Sub(b)
	case sumcheck.OpMul:
		return a.Mul(b)
	case sumcheck.OpAddConst:
		return a.Add(c)
	case sumcheck.OpSubFrom:
		return c.Sub(a)
	default:
		return a.MulBase(in.C)
	}
}

// expression sums an expression: a block of entries at a time, at one place
// after the other.
func expression(h *hostInstance, c *columns, lo, hi, half, first int) (out sums) {
	x := h.expr
	if c.expr == nil {
		c.expr = x.newValues()
	}
	v := c.expr
	base := x.kind[x.Result] == exprBase
	for ; lo < hi; lo += exprBlock {
		n := min(exprBlock, hi-lo)
		v.load(h.tables, lo, n, half, first == 1)
		for e := range h.degree {
			if e > 0 {
				v.next(n)
			}
			x.run(v, n)
			var s m31.QM31
			switch {
			case base && h.eq:
				s = m31.DotBase(x.baseOf(v, x.Result)[:n], h.rest[lo:lo+n])
			case base:
				s = m31.Lift(m31.Sum(x.baseOf(v, x.Result)[:n]))
			case h.eq:
				s = m31.DotQM31(x.extOf(v, x.Result)[:n], h.rest[lo:lo+n])
			default:
				s = m31.SumQM31(x.extOf(v, x.Result)[:n])
			}
			out[e] = out[e].Add(s)
		}
	}
	return out
}
