package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// sums are a range's shares of inner's values at first (0 or 1), 2, 3, ...
type sums = [sumcheck.MaxExprDegree]m31.QM31

// hostKernel sums over entries [lo, hi) of the tables' halves, in a worker's own
// memory.
type hostKernel func(h *hostInstance, c *columns, lo, hi, half, first int) sums

// kernel is the loop over a range of the tables' halves that fits the instance
// best.
func (h *hostInstance) kernel() hostKernel {
	if h.expr != nil {
		return expression
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
const span = 512

// products are sums at 0 and 2 over a range, from those of short ones.
func products(lo, hi, half int, part func(x0, x1, n int) (zero, two m31.QM31)) (out sums) {
	for x := lo; x < hi; x += span {
		zero, two := part(x, half+x, min(span, hi-x))
		out[0], out[1] = out[0].Add(zero), out[1].Add(two)
	}
	return out
}

// baseBase is the product of two base tables.
func baseBase(h *hostInstance, _ *columns, lo, hi, half, _ int) sums {
	a, b := h.pair()
	return products(lo, hi, half, func(x0, x1, n int) (zero, two m31.QM31) {
		a0, a1, b0, b1 := a.base[x0:x0+n], a.base[x1:x1+n], b.base[x0:x0+n], b.base[x1:x1+n]
		return m31.Lift(m31.Dot(a0, b0)), m31.Lift(m31.DotAtTwo(a0, a1, b0, b1))
	})
}

// baseExt is the product of a base and an extension table.
func baseExt(h *hostInstance, _ *columns, lo, hi, half, _ int) sums {
	a, b := h.pair()
	return products(lo, hi, half, func(x0, x1, n int) (zero, two m31.QM31) {
		a0, a1, b0, b1 := a.base[x0:x0+n], a.base[x1:x1+n], b.ext[x0:x0+n], b.ext[x1:x1+n]
		return m31.DotBase(a0, b0), m31.DotBaseAtTwo(a0, a1, b0, b1)
	})
}

// extExt is the product of two extension tables.
func extExt(h *hostInstance, _ *columns, lo, hi, half, _ int) sums {
	a, b := h.pair()
	return products(lo, hi, half, func(x0, x1, n int) (zero, two m31.QM31) {
		a0, a1, b0, b1 := a.ext[x0:x0+n], a.ext[x1:x1+n], b.ext[x0:x0+n], b.ext[x1:x1+n]
		return m31.DotQM31(a0, b0), m31.DotQM31AtTwo(a0, a1, b0, b1)
	})
}
