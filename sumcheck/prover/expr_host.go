package prover

import (
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
	kind     []exprKind
	uniform  []m31.QM31 // values of uniform registers
	slot     []int      // of registers that code writes, by kind
	ofBase   int        // slots
	ofExt    int
	scalars  []m31.QM31
	isBase   []bool // of the columns, that the layout is for
	anyTable bool
}

func newHostExpr(e *sumcheck.Expr, scalars []m31.QM31) *hostExpr {
	return &hostExpr{Program: e.Program(), scalars: scalars}
}

// layOut fits the program to the tables as they are now.
func (x *hostExpr) layOut(tables []hostTable) {
	same := x.anyTable
	for k := range tables {
		if !x.anyTable {
			x.isBase = append(x.isBase, false)
		}
		base := tables[k].base != nil
		same = same && base == x.isBase[k]
		x.isBase[k] = base
	}
	if same {
		return
	}
	x.anyTable = true
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

// exprColumn is a block of a column's values: at the place in hand, where the
// variable is 1, and from one place to the next.
type exprColumn[T any] struct{ at, hi, step, own, gathered []T }

// exprValues are one worker's registers: columns over either field, and slots.
type exprValues struct {
	base     []exprColumn[m31.Element] // by column
	ext      []exprColumn[m31.QM31]
	baseSlot [][]m31.Element
	extSlot  [][]m31.QM31
}

func (x *hostExpr) newValues() *exprValues {
	v := &exprValues{base: make([]exprColumn[m31.Element], x.Columns), ext: make([]exprColumn[m31.QM31], x.Columns)}
	for k := range x.Columns {
		if x.isBase[k] {
			v.base[k].step, v.base[k].own = make([]m31.Element, exprBlock), make([]m31.Element, exprBlock)
		} else {
			v.ext[k].step, v.ext[k].own = make([]m31.QM31, exprBlock), make([]m31.QM31, exprBlock)
		}
	}
	for range x.ofBase {
		v.baseSlot = append(v.baseSlot, make([]m31.Element, exprBlock))
	}
	for range x.ofExt {
		v.extSlot = append(v.extSlot, make([]m31.QM31, exprBlock))
	}
	return v
}

// load sets the column to n entries from lo on of a table's first half, or of the
// second one. Entries that follow each other are used where they are.
func (c *exprColumn[T]) load(table []T, stride, lo, n, half int, second bool, sub func(dst, a, b []T)) {
	var first []T
	if stride == 1 {
		first, c.hi = table[lo:lo+n], table[half+lo:half+lo+n]
	} else {
		if c.gathered == nil {
			c.gathered = make([]T, exprBlock)
		}
		first, c.hi = c.own[:n], c.gathered[:n]
		for i := range first {
			first[i], c.hi[i] = table[(lo+i)*stride], table[(lo+i+half)*stride]
		}
	}
	sub(c.step[:n], c.hi, first)
	if c.at = first; second {
		c.at = c.hi
	}
}

// next takes the column to the next place; the first one after 0 or 1 is 2.
func (c *exprColumn[T]) next(n int, add func(dst, a, b []T)) {
	from := c.at
	if c.hi != nil {
		from, c.hi = c.hi, nil
	}
	c.at = c.own[:n]
	add(c.at, from, c.step)
}

func (v *exprValues) load(tables []hostTable, lo, n, half int, second bool) {
	for k := range tables {
		if t := &tables[k]; t.base != nil {
			v.base[k].load(t.base, t.stride, lo, n, half, second, m31.SubVec)
		} else {
			v.ext[k].load(t.ext, t.stride, lo, n, half, second, m31.SubVecQM31)
		}
	}
}

func (v *exprValues) next(n int) {
	for k := range v.base {
		if v.base[k].own != nil {
			v.base[k].next(n, m31.AddVec)
		} else {
			v.ext[k].next(n, m31.AddVecQM31)
		}
	}
}

// baseOf and extOf are a register's values.
func (x *hostExpr) baseOf(v *exprValues, r int) []m31.Element {
	if r < x.Columns {
		return v.base[r].at
	}
	return v.baseSlot[x.slot[r]]
}

func (x *hostExpr) extOf(v *exprValues, r int) []m31.QM31 {
	if r < x.Columns {
		return v.ext[r].at
	}
	return v.extSlot[x.slot[r]]
}

// run does the program for n entries.
func (x *hostExpr) run(v *exprValues, n int) {
	first := x.Columns + x.Scalars
	for i, in := range x.Code {
		switch x.kind[first+i] {
		case exprBase:
			x.runBase(v, in, x.baseOf(v, first+i)[:n])
		case exprExt:
			x.runExt(v, in, x.extOf(v, first+i)[:n])
		}
	}
}

func (x *hostExpr) runBase(v *exprValues, in sumcheck.ExprInstr, dst []m31.Element) {
	a := x.baseOf(v, in.A)[:len(dst)]
	switch in.Op {
	case sumcheck.OpAdd:
		m31.AddVec(dst, a, x.baseOf(v, in.B))
	case sumcheck.OpSub:
		m31.SubVec(dst, a, x.baseOf(v, in.B))
	case sumcheck.OpMul:
		m31.MulVec(dst, a, x.baseOf(v, in.B))
	case sumcheck.OpAddConst:
		for i := range dst {
			dst[i] = a[i].Add(in.C)
		}
	case sumcheck.OpSubFrom:
		for i := range dst {
			dst[i] = in.C.Sub(a[i])
		}
	case sumcheck.OpScale:
		m31.ScaleVec(dst, a, in.C)
	}
}

func (x *hostExpr) runExt(v *exprValues, in sumcheck.ExprInstr, dst []m31.QM31) {
	if !in.Op.Unary() {
		x.runPair(v, in, dst)
		return
	}
	a := x.extOf(v, in.A)[:len(dst)]
	switch in.Op {
	case sumcheck.OpAddConst:
		for i := range dst {
			dst[i] = a[i].Add(m31.Lift(in.C))
		}
	case sumcheck.OpSubFrom:
		for i := range dst {
			dst[i] = m31.Lift(in.C).Sub(a[i])
		}
	default:
		m31.ScaleVec(m31.Words(dst), m31.Words(a), in.C)
	}
}

// runPair does an operation on two registers of which one is of the extension,
// the other of any kind.
func (x *hostExpr) runPair(v *exprValues, in sumcheck.ExprInstr, dst []m31.QM31) {
	n := len(dst)
	ka, kb := x.kind[in.A], x.kind[in.B]
	if ka == exprExt && kb == exprExt {
		a, b := x.extOf(v, in.A)[:n], x.extOf(v, in.B)[:n]
		switch in.Op {
		case sumcheck.OpAdd:
			m31.AddVecQM31(dst, a, b)
		case sumcheck.OpSub:
			m31.SubVecQM31(dst, a, b)
		default:
			m31.MulVecQM31(dst, a, b)
		}
		return
	}
	if ka == exprUniform || kb == exprUniform {
		u, other, swapped := in.B, in.A, false
		if ka == exprUniform {
			u, other, swapped = in.A, in.B, true
		}
		x.withUniform(v, in.Op, dst, x.uniform[u], other, swapped)
		return
	}
	// A base and an extension register.
	if ka == exprBase {
		a, b := x.baseOf(v, in.A)[:n], x.extOf(v, in.B)[:n]
		for i := range dst {
			switch in.Op {
			case sumcheck.OpAdd:
				dst[i] = b[i].Add(m31.Lift(a[i]))
			case sumcheck.OpSub:
				dst[i] = m31.Lift(a[i]).Sub(b[i])
			default:
				dst[i] = b[i].MulBase(a[i])
			}
		}
		return
	}
	a, b := x.extOf(v, in.A)[:n], x.baseOf(v, in.B)[:n]
	for i := range dst {
		switch in.Op {
		case sumcheck.OpAdd:
			dst[i] = a[i].Add(m31.Lift(b[i]))
		case sumcheck.OpSub:
			dst[i] = a[i].Sub(m31.Lift(b[i]))
		default:
			dst[i] = a[i].MulBase(b[i])
		}
	}
}

// withUniform does an operation on a register and a uniform value, which is the
// first operand if swapped.
func (x *hostExpr) withUniform(v *exprValues, op sumcheck.ExprOp, dst []m31.QM31, u m31.QM31, other int, swapped bool) {
	n := len(dst)
	if x.kind[other] == exprBase {
		a := x.baseOf(v, other)[:n]
		if op == sumcheck.OpMul {
			m31.ScaleBase(dst, a, u)
			return
		}
		for i := range dst {
			dst[i] = m31.Lift(a[i])
		}
	} else {
		a := x.extOf(v, other)[:n]
		if op == sumcheck.OpMul {
			m31.ScaleVecQM31(dst, a, u)
			return
		}
		copy(dst, a)
	}
	for i := range dst {
		switch {
		case op == sumcheck.OpAdd:
			dst[i] = dst[i].Add(u)
		case swapped:
			dst[i] = u.Sub(dst[i])
		default:
			dst[i] = dst[i].Sub(u)
		}
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
