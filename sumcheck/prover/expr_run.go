package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

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
