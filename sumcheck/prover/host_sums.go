package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// sums are a range's shares of inner's values at first (0 or 1), 2, 3, ...
type sums = [sumcheck.MaxExprDegree]m31.QM31

// kernel is the loop over a range of the tables' halves that fits the instance
// best.
func (h *hostInstance) kernel() func(h *hostInstance, lo, hi, half, first int) sums {
	if h.expr != nil {
		return expression
	}
	if h.isFractions() {
		return fractions
	}
	if !h.eq && len(h.terms) == 1 && h.terms[0].plain && len(h.terms[0].factors) == 2 {
		a, b := h.tables[h.terms[0].factors[0]], h.tables[h.terms[0].factors[1]]
		if a.stride == 1 && b.stride == 1 {
			switch {
			case a.base != nil && b.base != nil:
				return baseBase
			case a.base == nil && b.base == nil:
				return extExt
			default:
				return baseExt
			}
		}
	}
	return general
}

// general sums any terms, factor by factor.
func general(h *hostInstance, lo, hi, half, first int) (out sums) {
	var sum [sumcheck.MaxDegree]m31.ProductSum // with eq: of products by it
	var values [sumcheck.MaxDegree][sumcheck.MaxFactors]m31.QM31
	for x := lo; x < hi; x++ {
		for k := range h.tables {
			t := &h.tables[k]
			a, b := t.at(x), t.at(x+half)
			step := b.Sub(a)
			values[0][k] = a
			if first == 1 {
				values[0][k] = b
			}
			for e := 1; e < h.degree; e++ {
				b = b.Add(step)
				values[e][k] = b
			}
		}
		for e := range h.degree {
			v := &values[e]
			var s m31.QM31
			for i := range h.terms {
				t := &h.terms[i]
				p := v[t.factors[0]]
				for _, k := range t.factors[1:] {
					p = p.Mul(v[k])
				}
				if !t.plain {
					p = p.Mul(t.coeff)
				}
				s = s.Add(p)
			}
			if h.eq {
				sum[e].Add(h.rest[x], s)
			} else {
				out[e] = out[e].Add(s)
			}
		}
	}
	if h.eq {
		for e := range h.degree {
			out[e] = sum[e].Value()
		}
	}
	return out
}

// pair are the tables of a product of two factors, a base one first.
func (h *hostInstance) pair() (a, b hostTable) {
	a, b = h.tables[h.terms[0].factors[0]], h.tables[h.terms[0].factors[1]]
	if a.base == nil && b.base != nil {
		a, b = b, a
	}
	return a, b
}

// span is how many entries of the tables a sum takes at a time, so that they are
// in cache when they are read again.
const span = 256

// products are sums at 0 and 2 over a range, from those of short ones.
func products(lo, hi, half int, part func(x0, x1, n int) (zero, two m31.QM31)) (out sums) {
	for x := lo; x < hi; x += span {
		zero, two := part(x, half+x, min(span, hi-x))
		out[0], out[1] = out[0].Add(zero), out[1].Add(two)
	}
	return out
}

// baseBase is the product of two base tables.
func baseBase(h *hostInstance, lo, hi, half, _ int) sums {
	a, b := h.pair()
	return products(lo, hi, half, func(x0, x1, n int) (zero, two m31.QM31) {
		a0, a1, b0, b1 := a.base[x0:x0+n], a.base[x1:x1+n], b.base[x0:x0+n], b.base[x1:x1+n]
		return m31.Lift(m31.Dot(a0, b0)), m31.Lift(m31.DotAtTwo(a0, a1, b0, b1))
	})
}

// baseExt is the product of a base and an extension table.
func baseExt(h *hostInstance, lo, hi, half, _ int) sums {
	a, b := h.pair()
	return products(lo, hi, half, func(x0, x1, n int) (zero, two m31.QM31) {
		a0, a1, b0, b1 := a.base[x0:x0+n], a.base[x1:x1+n], b.ext[x0:x0+n], b.ext[x1:x1+n]
		return m31.DotBase(a0, b0), m31.DotBaseAtTwo(a0, a1, b0, b1)
	})
}

// extExt is the product of two extension tables.
func extExt(h *hostInstance, lo, hi, half, _ int) sums {
	a, b := h.pair()
	return products(lo, hi, half, func(x0, x1, n int) (zero, two m31.QM31) {
		a0, a1, b0, b1 := a.ext[x0:x0+n], a.ext[x1:x1+n], b.ext[x0:x0+n], b.ext[x1:x1+n]
		return m31.DotQM31(a0, b0), m31.DotQM31AtTwo(a0, a1, b0, b1)
	})
}

// isFractions recognises a layer of a tree of fractions: p0 q1 + p1 q0 + lambda
// q0 q1 times eq, where the factors are p0, p1, q0, q1.
func (h *hostInstance) isFractions() bool {
	if !h.eq || len(h.terms) != 3 || len(h.tables) != 4 || !h.terms[0].plain || !h.terms[1].plain {
		return false
	}
	for i, want := range [][2]int{{0, 3}, {1, 2}, {2, 3}} {
		if f := h.terms[i].factors; len(f) != 2 || f[0] != want[0] || f[1] != want[1] {
			return false
		}
	}
	t := h.tables
	return (t[0].base == nil) == (t[1].base == nil) && t[2].base == nil && t[3].base == nil
}

// fractions sums p0 q1 + q0 (p1 + lambda q1), at first and 2.
func fractions(h *hostInstance, lo, hi, half, first int) sums {
	p0, p1, q0, q1 := h.tables[0], h.tables[1], h.tables[2], h.tables[3]
	base := p0.base != nil
	lambda := h.terms[2].coeff
	var atFirst, atTwo m31.ProductSum
	for x := lo; x < hi; x++ {
		d0, e0 := q0.ext[x*q0.stride], q0.ext[(x+half)*q0.stride]
		d1, e1 := q1.ext[x*q1.stride], q1.ext[(x+half)*q1.stride]
		l, m := lambda.Mul(d1), lambda.Mul(e1)
		f0, f1, fl := e0.Double().Sub(d0), e1.Double().Sub(d1), m.Double().Sub(l)
		if first == 1 {
			d0, d1, l = e0, e1, m
		}
		var v, w m31.QM31
		if base {
			a0, b0 := p0.base[x*p0.stride], p0.base[(x+half)*p0.stride]
			a1, b1 := p1.base[x*p1.stride], p1.base[(x+half)*p1.stride]
			c0, c1 := b0.Double().Sub(a0), b1.Double().Sub(a1)
			if first == 1 {
				a0, a1 = b0, b1
			}
			l.A.Re, fl.A.Re = l.A.Re.Add(a1), fl.A.Re.Add(c1)
			v, w = d1.MulBase(a0).Add(d0.Mul(l)), f1.MulBase(c0).Add(f0.Mul(fl))
		} else {
			a0, b0 := p0.ext[x*p0.stride], p0.ext[(x+half)*p0.stride]
			a1, b1 := p1.ext[x*p1.stride], p1.ext[(x+half)*p1.stride]
			c0, c1 := b0.Double().Sub(a0), b1.Double().Sub(a1)
			if first == 1 {
				a0, a1 = b0, b1
			}
			v, w = a0.Mul(d1).Add(d0.Mul(a1.Add(l))), c0.Mul(f1).Add(f0.Mul(c1.Add(fl)))
		}
		atFirst.Add(h.rest[x], v)
		atTwo.Add(h.rest[x], w)
	}
	return sums{atFirst.Value(), atTwo.Value()}
}
