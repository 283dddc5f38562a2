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

// level is one of the tables: it decides operands from low << shift on, the last one, with shift 0, from 0 on.
type level struct {
	shift int
	low   int64
}

// levels returns the tables for operands in [lo, hi] that are never below least.
func levels(lo, hi, least int64, bits, precise int) []level {
	var all []level
	for {
		shift := shiftOf(lo, hi, bits)
		if shift == 0 {
			return append(all, level{})
		}
		if all = append(all, level{shift, 1 << precise}); least>>shift >= 1<<precise {
			all[len(all)-1].low = 0 // no operand is so small
			return all
		}
		lo, hi = 0, 1<<(shift+precise)+1<<shift-1
	}
}

// decreasing is a function of v >= 0 that never grows and is never negative.
type decreasing struct {
	key, name string
	least     int64 // v is never less, by what it is a sum of
	at        func(v float64) float64
	precise   int // bits of the quotient, if it is to be more than precise
}

// first returns the least operand that a table decides.
func (t level) first(least int64) float64 {
	return math.Ldexp(float64(max(t.low, least>>t.shift)), t.shift)
}

// levels returns the tables of a function of v.
func (c *composer) levels(v graph.TensorID, g decreasing) []level {
	lo, hi := c.bounds(v)
	if g.precise > precise {
		return levels(lo, hi, g.least, max(c.smallBits(v), g.precise+4), g.precise)
	}
	return levels(lo, hi, g.least, c.smallBits(v), precise)
}

// weight returns the sum over the tables of g at the least operand that each decides: what bounds of the result are made of.
func (c *composer) weight(v graph.TensorID, g decreasing) float64 {
	sum := 0.0
	for _, t := range c.levels(v, g) {
		sum += g.at(t.first(g.least))
	}
	return sum
}

// wide returns min(round(g(v)), limit) with the greatest limit for which the bounds of the result stay within the given one.
func (c *composer) wide(name string, v graph.TensorID, g decreasing, bound int64) graph.TensorID {
	if c.Err() != nil {
		return graph.None
	}
	tables := c.levels(v, g)
	rounded := func(v float64) float64 { return math.Floor(g.at(v) + 0.5) }
	limit := float64(bound)
	for _, t := range tables[:len(tables)-1] {
		limit -= min(rounded(t.first(g.least)), limit)
	}
	if limit < 1 {
		return c.fail("%s: the operand is too wide for its tables", name)
	}
	value := func(v float64) int64 { return int64(min(rounded(v), limit)) }
	var terms []graph.Term
	end := int64(math.MaxInt64) // operands from here on are decided already
	for i, t := range tables {
		stem := name
		if i > 0 {
			stem = fmt.Sprintf("%s.%d", name, i+1)
		}
		cut := end
		if t.shift == 0 {
			last := c.apply(stem, v, function{fmt.Sprintf("%s at most %g below %d", g.key, limit, cut), g.name, 0, func(q int64) int64 {
				if q >= cut || q < g.least {
					return 0
				}
				return value(float64(max(q, 0)))
			}}, 1)
			terms = append(terms, graph.Term{Coef: 1, T: last})
			break
		}
		first, stop := max(t.low, g.least>>t.shift), cut>>t.shift                                  // cut is a multiple of 2^shift, as shifts decrease
		floor := c.b.Linear(stem+".floor", []graph.Term{{Coef: 1, T: v}}, -(1 << t.shift >> 1), 1) // so that the quotient is rounded down
		high := c.apply(stem, floor, function{fmt.Sprintf("%s at most %g from %d to %d shift %d", g.key, limit, first, stop, t.shift), g.name, t.shift, func(q int64) int64 {
			if q < first || q >= stop {
				return 0
			}
			return value(math.Ldexp(max(float64(q)+0.5, float64(first)), t.shift))
		}}, 1)
		terms = append(terms, graph.Term{Coef: 1, T: high})
		if i == len(tables)-1 {
			break
		}
		low := t.low
		quotient, rem := c.applyRem(stem+".cut", floor, function{fmt.Sprintf("from 0 to %d", low), "limit", t.shift, func(q int64) int64 { return min(max(q, 0), low) }}, 1)
		v = c.b.Linear(stem+".near", []graph.Term{{Coef: 1 << t.shift, T: quotient}, {Coef: 1, T: rem}}, 0, 1)
		end = low << t.shift
	}
	if len(terms) == 1 {
		return terms[0].T
	}
	return c.b.Linear(name+".all", terms, 0, 1)
}

// smallBits is the size of tables for so few operands as a tensor has: larger ones would cost more than several small ones.
func (c *composer) smallBits(x graph.TensorID) int {
	bits := 12
	for n := graph.Elements(c.shape(x)); 1<<bits < n && bits < c.tableBits; bits++ {
	}
	return bits
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
	quotient, rem := c.applyRem(name+".limit", floor, clampTo(-limit, limit-1, shift), 1)
	return codes{c.b.Linear(name+".limited", []graph.Term{{Coef: 1 << shift, T: quotient}, {Coef: 1, T: rem}}, 0, x.scale), x.scale}
}

// clampTo limits quotients to [lo, hi].
func clampTo(lo, hi int64, shift int) function {
	m := mapping{in: 1, out: 1, lo: lo, hi: hi}
	return function{m.key(), m.name(), shift, func(q int64) int64 { return min(max(q, lo), hi) }}
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
