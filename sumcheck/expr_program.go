package sumcheck

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
)

// ExprOp is an operation of a Program.
type ExprOp uint8

// Operations. X and Y are the values of registers A and B, C a constant.
const (
	OpAdd      ExprOp = iota // X + Y
	OpSub                    // X - Y
	OpMul                    // X * Y
	OpAddConst               // X + C
	OpSubFrom                // C - X
	OpScale                  // C * X
)

// Unary says whether the operation has no register B.
func (op ExprOp) Unary() bool { return op >= OpAddConst }

// ExprInstr is one instruction of a Program.
type ExprInstr struct {
	Op   ExprOp
	A, B int
	C    m31.Element
}

// Program is an expression without its eq as straight-line code. The first
// Columns registers are the columns, the next Scalars the scalars, and every
// instruction writes the next one; the value is register Result.
type Program struct {
	Columns, Scalars int
	Code             []ExprInstr
	Result           int
}

// lowering makes a Program of a canonical form. What is common to the monomials
// of a sum is taken out, so that it is multiplied once.
type lowering struct {
	z       *normaliser
	program Program
	names   map[int]int // registers of column and scalar nodes
	sums    map[int]int // registers of sum nodes
	known   map[ExprInstr]int
}

// term is a coefficient times factors, of a sum that is being lowered.
type term struct {
	coeff   m31.Element
	factors []factor
}

func (w *lowering) emit(in ExprInstr) int {
	if (in.Op == OpAdd || in.Op == OpMul) && in.A > in.B {
		in.A, in.B = in.B, in.A
	}
	if r, ok := w.known[in]; ok {
		return r
	}
	w.program.Code = append(w.program.Code, in)
	r := w.program.Columns + w.program.Scalars + len(w.program.Code) - 1
	w.known[in] = r
	return r
}

// linear is the register of l, which has terms.
func (w *lowering) linear(l linear) int {
	terms := make([]term, len(l.terms))
	for i, t := range l.terms {
		f := w.z.nodes[t.node].factors
		if f == nil {
			f = []factor{{t.node, 1}}
		}
		terms[i] = term{t.coeff, f}
	}
	return w.sum(terms, l.constant)
}

// sum is the register of a sum of terms, at least one, and a constant.
func (w *lowering) sum(terms []term, constant m31.Element) int {
	if common := w.common(terms); common != nil {
		var inside, rest []term
		inner, first := m31.Element(0), false
		for i, t := range terms {
			q, ok := divide(t.factors, common)
			switch {
			case !ok:
				rest = append(rest, t)
				continue
			case len(q) > 0:
				inside = append(inside, term{t.coeff, q})
			default:
				inner = inner.Add(t.coeff)
			}
			first = first || i == 0
		}
		r := w.monomial(common, w.sum(inside, inner))
		if len(rest) == 0 {
			return w.plus(r, constant)
		}
		s := w.sum(rest, constant)
		if first { // the order of the text where nothing else matters
			r, s = s, r
		}
		return w.emit(ExprInstr{Op: OpAdd, A: s, B: r})
	}
	// The first term that needs no negation starts the sum.
	minus := m31.Element(0).Sub(1)
	start := slices.IndexFunc(terms, func(t term) bool { return t.coeff != minus })
	if start < 0 {
		r := w.monomial(terms[0].factors, -1)
		for _, t := range terms[1:] {
			r = w.emit(ExprInstr{Op: OpAdd, A: r, B: w.monomial(t.factors, -1)})
		}
		return w.emit(ExprInstr{Op: OpSubFrom, A: r, C: constant})
	}
	r := w.scaled(terms[start])
	for i, t := range terms {
		switch {
		case i == start:
		case t.coeff == minus:
			r = w.emit(ExprInstr{Op: OpSub, A: r, B: w.monomial(t.factors, -1)})
		default:
			r = w.emit(ExprInstr{Op: OpAdd, A: r, B: w.scaled(t)})
		}
	}
	return w.plus(r, constant)
}

func (w *lowering) plus(r int, c m31.Element) int {
	if c.IsZero() {
		return r
	}
	return w.emit(ExprInstr{Op: OpAddConst, A: r, C: c})
}

// common is a product that two terms or more share, nil if there is none: all
// that the terms with the most frequent factor have in common. Factors without
// columns alone are only taken out of terms that have the same ones, since prime
// field values are better multiplied by them last, once.
func (w *lowering) common(terms []term) []factor {
	count := map[int]int{}
	more := map[int]bool{} // beside the factor, in some term
	same := map[string][]int{}
	for i, t := range terms {
		for _, f := range t.factors {
			count[f.node]++
			more[f.node] = more[f.node] || len(t.factors) > 1 || f.power > 1
		}
		if u := w.uniform(t.factors); len(u) > 0 && len(u) < len(t.factors) {
			key := fmt.Sprint(u)
			same[key] = append(same[key], i)
		}
	}
	best, most := -1, 1
	for _, t := range terms {
		for _, f := range t.factors {
			if w.z.nodes[f.node].degree > 0 && more[f.node] && count[f.node] > most {
				best, most = f.node, count[f.node]
			}
		}
	}
	if best < 0 {
		for _, t := range terms {
			if u := w.uniform(t.factors); len(same[fmt.Sprint(u)]) > 1 {
				return u
			}
		}
		return nil
	}
	var common []factor
	for _, t := range terms {
		if !slices.ContainsFunc(t.factors, func(f factor) bool { return f.node == best }) {
			continue
		}
		if common == nil {
			common = slices.Clone(t.factors)
			continue
		}
		for i := range common {
			k := slices.IndexFunc(t.factors, func(f factor) bool { return f.node == common[i].node })
			if k < 0 {
				common[i].power = 0
			} else {
				common[i].power = min(common[i].power, t.factors[k].power)
			}
		}
	}
	return slices.DeleteFunc(common, func(f factor) bool { return f.power == 0 })
}

// uniform is the factors without columns.
func (w *lowering) uniform(factors []factor) []factor {
	return slices.DeleteFunc(slices.Clone(factors), func(f factor) bool { return w.z.nodes[f.node].degree > 0 })
}

// divide is a product without those factors, if it has them.
func divide(factors, by []factor) ([]factor, bool) {
	out := slices.Clone(factors)
	for _, d := range by {
		i := slices.IndexFunc(out, func(f factor) bool { return f.node == d.node })
		if i < 0 || out[i].power < d.power {
			return nil, false
		}
		out[i].power -= d.power
	}
	return slices.DeleteFunc(out, func(f factor) bool { return f.power == 0 }), true
}

func (w *lowering) scaled(t term) int {
	r := w.monomial(t.factors, -1)
	if t.coeff == 1 {
		return r
	}
	return w.emit(ExprInstr{Op: OpScale, A: r, C: t.coeff})
}

// monomial multiplies the factors with columns, register more if it is not -1,
// and then the factors without.
func (w *lowering) monomial(factors []factor, more int) int {
	times := func(a, b int) int {
		if a < 0 || b < 0 {
			return max(a, b)
		}
		return w.emit(ExprInstr{Op: OpMul, A: a, B: b})
	}
	with, without := -1, -1
	for _, f := range factors {
		p := w.power(w.node(f.node), f.power)
		if w.z.nodes[f.node].degree == 0 {
			without = times(without, p)
		} else {
			with = times(with, p)
		}
	}
	return times(times(with, more), without)
}

func (w *lowering) power(r, k int) int {
	out := -1
	for ; ; r = w.emit(ExprInstr{Op: OpMul, A: r, B: r}) {
		if k&1 == 1 {
			if out < 0 {
				out = r
			} else {
				out = w.emit(ExprInstr{Op: OpMul, A: out, B: r})
			}
		}
		if k >>= 1; k == 0 {
			return out
		}
	}
}

// node is the register of a column, a scalar or a sum.
func (w *lowering) node(id int) int {
	if r, ok := w.names[id]; ok {
		return r
	}
	if r, ok := w.sums[id]; ok {
		return r
	}
	r := w.linear(w.z.nodes[id].sum)
	w.sums[id] = r
	return r
}

// run evaluates the program on registers whose first ones are set; there is
// room for all.
func (p *Program) run(r []m31.QM31) m31.QM31 {
	at := p.Columns + p.Scalars
	for i, in := range p.Code {
		x := r[in.A]
		switch in.Op {
		case OpAdd:
			x = x.Add(r[in.B])
		case OpSub:
			x = x.Sub(r[in.B])
		case OpMul:
			x = x.Mul(r[in.B])
		case OpAddConst:
			x = x.Add(m31.Lift(in.C))
		case OpSubFrom:
			x = m31.Lift(in.C).Sub(x)
		case OpScale:
			x = x.MulBase(in.C)
		}
		r[at+i] = x
	}
	return r[p.Result]
}
