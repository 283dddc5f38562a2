package quant

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// What a softmax of integers consists of. With z the scores of scale s:
//
//	m     = an upper bound of the row's greatest z, at most 2^k above it (k = 0 for scores of up to topBits bits, more where 2^k s
//	        would exceed topError)
//	e     = round(expTop * exp(-s (m - z)))         a table
//	S     = sum of e over the row
//	R     = min(round(C / S), limit)                one table or several, limit = maxReciprocal or, with several, a little less
//	e * R = C * softmax(z)                          below 2^29, the result
//
// C is such that the smallest S that a row can have, rounded down so that layers share tables, gives R = limit.
const (
	expTop        = 1<<12 - 1
	maxReciprocal = 1<<17 - 1
)

// topBits is the width in which the greatest score is found, where that makes it larger than it is by at most topError; otherwise it is
// found in up to maxBits.
const (
	topBits  = 8
	topError = 0.75
)

// vanishing is the number of units below the greatest score at which e is zero: exp(-vanishing * s) * expTop < 1/2.
func vanishing(scale float64) int64 { return int64(math.Ceil(9.02 / scale)) }

// mask says which scores of a softmax count: a constant of a shape that broadcasts to theirs.
type mask struct {
	shape []int
	keep  []bool
}

// floorOf is so low a score that its exponential vanishes beside any score that z can have.
func (c *composer) floorOf(z codes) int64 {
	lo, _ := c.bounds(z.id)
	return min(lo, 0) - vanishing(z.scale)
}

// masked replaces scores that do not count by floor. A row without any score that counts becomes constant, its softmax uniform.
func (c *composer) masked(name string, z codes, floor int64, m *mask) codes {
	if m == nil {
		return z
	}
	off := make([]int32, len(m.keep)) // -1 where the score counts: a parameter of one bit, which leaves bounds as they are
	for i, k := range m.keep {
		if k {
			off[i] = -1
		}
	}
	labels := labelsOf(len(c.shape(z.id)))
	shape, axes := squeeze(m.shape, len(labels))
	p := c.b.Param(name+".mask", shape, off, 1)
	ml := make([]uint8, len(axes))
	for i, a := range axes {
		ml[i] = labels[a]
	}
	negated := c.einsum(name+".kept", z.id, p, labels, ml, labels, z.scale)
	full := c.b.Param(name+".floor", m.shape, off, z.scale)
	return codes{c.b.Linear(name+".masked", []graph.Term{{Coef: -1, T: negated}, {Coef: floor, T: full}}, floor, z.scale), z.scale}
}

// squeeze drops axes of length 1 and says which axes of a tensor of the given rank the others are.
func squeeze(shape []int, rank int) (kept, axes []int) {
	for i, n := range shape {
		if n > 1 {
			kept = append(kept, n)
			axes = append(axes, rank-len(shape)+i)
		}
	}
	return kept, axes
}

// softmax returns a product of scale 1/C: the softmax of z along the axes together. No score is below floor, whatever z's bounds are;
// scores that m hides become floor, which must be so low that they vanish.
func (c *composer) softmax(name string, z codes, floor int64, axes []int, m *mask) codes {
	e, sum, slack := c.exponentials(name, z, floor, axes, m)
	if c.Err() != nil {
		return e
	}
	smallest := atMost(expValue(int64(1)<<slack, z.scale))
	g := decreasing{name: "reciprocal", least: smallest, at: func(v float64) float64 { return float64(smallest) / max(v, 1) }}
	top := math.Floor(float64(float64((maxReciprocal-8)*smallest) / c.weight(sum.id, g))) // eight: what rounding may add
	g.key, g.at = fmt.Sprintf("%g divided", top), func(v float64) float64 { return top / max(v, 1) }
	r := c.wide(name+".reciprocal", sum.id, g, maxReciprocal)
	return codes{c.rows(name+".quotient", e, codes{r, 1}, axes).id, 1 / top}
}

// atMost rounds down to eighths of expTop, and what is less to powers of two.
func atMost(e int64) int64 {
	if e >= expTop/8 {
		return expTop / 8 * (e * 8 / expTop)
	}
	return int64(1) << (bits.Len64(uint64(max(e, 1))) - 1)
}

// exponentials returns e and S; the row's greatest e belongs to an argument of at most 2^slack units.
func (c *composer) exponentials(name string, z codes, floor int64, axes []int, m *mask) (e, sum codes, slack int) {
	z = c.masked(name, z, floor, m)
	top, slack, from := c.coarse(name+".coarse", z, floor)
	for _, a := range slices.Backward(axes) {
		top = c.max(name, top, a)
	}
	if c.Err() != nil {
		return z, z, 0
	}
	unit := int64(1) << slack
	top = c.withAxes(name+".top", top, c.shape(z.id), axes)
	delta := c.b.Linear(name+".distance", []graph.Term{{Coef: unit, T: top.id}, {Coef: -1, T: z.id}}, unit/2+unit*from, z.scale)
	shift := c.shiftFor(delta, graph.MaxTableBits)
	values := expTable(math.Ldexp(z.scale, shift))
	e = codes{c.apply(name+".exp", delta, function{fmt.Sprintf("exp of -%x", math.Ldexp(z.scale, shift)), "exp", shift, func(q int64) int64 {
		if q < 0 {
			q = 0
		}
		if q >= int64(len(values)) {
			return 0
		}
		return int64(values[q])
	}}, 1.0/expTop), 1.0 / expTop}
	return e, c.sum(name+".sum", e, axes), slack
}

// coarse divides scores by 2^slack, rounds, and subtracts from, so that results have as few bits as topError allows. No score is below
// floor.
func (c *composer) coarse(name string, z codes, floor int64) (y codes, slack int, from int64) {
	if c.Err() != nil {
		return z, 0, 0
	}
	lo, hi := c.bounds(z.id)
	floor = max(floor, lo)
	var low, high int64
	width := topBits
	for ; ; width++ {
		for slack = 0; ; slack++ {
			half := int64(1) << slack >> 1
			if low, high = (floor+half)>>slack, (hi+half)>>slack; high-low < 1<<width {
				break
			}
		}
		if width == maxBits || math.Ldexp(z.scale, slack) <= topError {
			break
		}
	}
	limit := int64(1) << (width - 1)
	if low < -limit || high >= limit {
		from = low + limit
	} else if slack == 0 && floor == lo {
		return z, 0, 0
	}
	scale := math.Ldexp(z.scale, slack)
	narrow := clampTo(-limit, limit-1, slack)
	if from != 0 {
		narrow.key = fmt.Sprintf("%s less %d", narrow.key, from)
		narrow.f = func(q int64) int64 { return min(max(q-from, -limit), limit-1) }
	}
	return codes{c.apply(name, z.id, narrow, scale), scale}, slack, from
}

// expTable returns round(expTop * exp(-scale q)) for q = 0, 1, ... as long as it is not zero.
func expTable(scale float64) []int32 {
	step := exponential(newFloat().Neg(number(scale)))
	v := number(expTop)
	var out []int32
	for len(out) <= 1<<graph.MaxTableBits {
		y := nearest(v, 1, 0, expTop)
		if y == 0 {
			break
		}
		out = append(out, int32(y))
		v = newFloat().Mul(v, step)
	}
	return out
}

func expValue(q int64, scale float64) int64 {
	return nearest(newFloat().Mul(number(expTop), exponential(newFloat().Neg(number(float64(float64(q)*scale))))), 1, 0, expTop)
}
