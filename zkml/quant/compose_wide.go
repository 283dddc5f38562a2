package quant

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// A function of an operand that is wider than a table is a sum of tables. The operand is divided by the power of two that brings it into a
// table. Where the quotient is large, it is precise enough to decide the function; where it is small, it and the remainder together are a
// narrower operand, for which the function is decided in the same way. Each table is zero where another one decides.

// precise is the quotient, in bits, from which on a function is decided by the quotient alone: an error of 2^-(precise+1) in the operand.
const precise = 8

// levels returns how many tables wide adds up for an operand.
func (c *composer) levels(v graph.TensorID) int {
	lo, hi := c.bounds(v)
	n := 1
	for shift := shiftOf(lo, hi, c.tableBits); shift > 0; shift = shiftOf(lo, hi, c.tableBits) {
		lo, hi, n = 0, 1<<(shift+precise)+1<<shift-1, n+1
	}
	return n
}

// wide returns f(v) for v >= 0, and f(0) below. f decreases.
func (c *composer) wide(name string, v graph.TensorID, key string, f func(v float64) int64) graph.TensorID {
	var terms []graph.Term
	cut := int64(math.MaxInt64) // operands from here on are decided already
	for level := 1; c.Err() == nil; level++ {
		stem := name
		if level > 1 {
			stem = fmt.Sprintf("%s.%d", name, level)
		}
		lo, hi := c.bounds(v)
		shift := shiftOf(lo, hi, c.tableBits)
		if shift == 0 {
			bound := cut
			last := c.apply(stem, v, function{fmt.Sprintf("%s, below %d", key, bound), 0, func(q int64) int64 {
				if q >= bound {
					return 0
				}
				return f(float64(max(q, 0)))
			}}, 1)
			if len(terms) == 0 {
				return last
			}
			return c.b.Linear(name+".all", append(terms, graph.Term{Coef: 1, T: last}), 0, 1)
		}
		const low = 1 << precise
		floor := c.b.Linear(stem+".floor", []graph.Term{{Coef: 1, T: v}}, -(1 << shift >> 1), 1) // so that the quotient is rounded down
		end := cut >> shift                                                                      // a multiple of 2^shift, as shifts decrease
		high := c.apply(stem, floor, function{fmt.Sprintf("%s, from %d to %d, shift %d", key, low, end, shift), shift, func(q int64) int64 {
			if q < low || q >= end {
				return 0
			}
			return f(math.Ldexp(float64(q)+0.5, shift))
		}}, 1)
		terms = append(terms, graph.Term{Coef: 1, T: high})
		quotient, rem := c.applyRem(stem+".cut", floor, function{fmt.Sprintf("from 0 to %d", low), shift, func(q int64) int64 { return min(max(q, 0), low) }}, 1)
		v = c.b.Linear(stem+".near", []graph.Term{{Coef: 1 << shift, T: quotient}, {Coef: 1, T: rem}}, 0, 1)
		cut = low << shift
	}
	return graph.None
}

// within limits an operand that is wider than a table: what is in [-2^bits, 2^bits) stays as it is, what is beyond becomes something near
// that limit or a little beyond it. The quotient is limited and the remainder added back.
func (c *composer) within(name string, x codes, bits int) codes {
	if c.Err() != nil {
		return x
	}
	shift := c.shiftFor(x.id, c.tableBits)
	if shift == 0 || shift > bits {
		return x
	}
	limit := int64(1) << (bits - shift)
	floor := c.b.Linear(name+".floor", []graph.Term{{Coef: 1, T: x.id}}, -(1 << shift >> 1), x.scale)
	clamp := mapping{in: 1, out: 1, lo: -limit, hi: limit - 1}
	quotient, rem := c.applyRem(name+".limit", floor, function{clamp.key(), shift, func(q int64) int64 { return min(max(q, -limit), limit-1) }}, 1)
	return codes{c.b.Linear(name+".limited", []graph.Term{{Coef: 1 << shift, T: quotient}, {Coef: 1, T: rem}}, 0, x.scale), x.scale}
}

// shiftOf returns the least shift that brings a range into a table of so many bits, moved to lie around zero.
func shiftOf(lo, hi int64, bits int) int {
	for s := range graph.MaxShift {
		moved := (lo + hi) >> 1 >> s << s
		if min(graph.LookupBits(lo, hi, uint8(s)), graph.LookupBits(lo-moved, hi-moved, uint8(s))) <= bits {
			return s
		}
	}
	return graph.MaxShift
}
