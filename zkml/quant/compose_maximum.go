package quant

import (
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// wideCodes is the size from which on maxima are found exactly in parts, and scores of a softmax are taken below them, instead of being narrowed:
// inputs that were given so many bits.
const wideCodes = 1 << 15

// maximum returns the greatest elements along axes, which disappear, of integers of any width. The greatest of x divided by 2^k and rounded
// leaves x - 2^k M, whose greatest is between -2^(k-1) and 2^(k-1); what is less is of no interest and is limited.
func (c *composer) maximum(name string, x codes, axes []int) codes {
	if c.Err() != nil {
		return x
	}
	lo, hi := c.bounds(x.id)
	k, limit := 0, int64(1)<<(maxBits-1)
	for half := int64(0); (lo+half)>>k < -limit || (hi+half)>>k >= limit; half = int64(1) << k >> 1 {
		k++
	}
	top := x
	if k > 0 {
		top = codes{c.apply(name+".coarse", x.id, clampTo(-limit, limit-1, k), x.scale), x.scale}
	}
	shape := c.shape(x.id)
	for _, a := range slices.Backward(axes) {
		top = c.max(name+".tree", top, a)
	}
	if k == 0 || c.Err() != nil {
		return top
	}
	full := c.withAxes(name+".top", top, shape, axes)
	rest := codes{c.b.Linear(name+".rest", []graph.Term{{Coef: 1, T: x.id}, {Coef: -1 << k, T: full.id}}, 0, x.scale), x.scale}
	if c.Err() != nil {
		return rest
	}
	if c.shiftFor(rest.id, c.tableBits) > 0 {
		rest = c.within(name+".near", rest, k)
	} else {
		half := int64(1) << (k - 1)
		rest.id = c.apply(name+".near", rest.id, clampTo(-half, half, 0), x.scale)
	}
	fine := c.maximum(name+".fine", rest, axes)
	return codes{c.b.Linear(name, []graph.Term{{Coef: 1 << k, T: top.id}, {Coef: 1, T: fine.id}}, 0, x.scale), x.scale}
}

// belowGreatest returns scores less the greatest of their row, as many bits as a softmax takes; what vanishes there is limited.
func (c *composer) belowGreatest(name string, z codes, axes []int) codes {
	top := c.withAxes(name+".greatest", c.maximum(name+".greatest", z, axes), c.shape(z.id), axes)
	if c.Err() != nil {
		return z
	}
	below := codes{c.b.Linear(name+".below", []graph.Term{{Coef: 1, T: z.id}, {Coef: -1, T: top.id}}, 0, z.scale), z.scale}
	shift := 0
	for vanishing(z.scale)>>shift >= 1<<(scoreBits-1)-1 {
		shift++
	}
	return c.scaleDown(name+".scores", below, shift, scoreBits)
}
