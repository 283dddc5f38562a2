package quant

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// What a norm of integers consists of. With x the row of n codes of scale s:
//
//	c = x - round(sum x / n)                        or x itself without centring
//	Q = sums of c^2 over blocks short enough to stay below 2^29, each divided by 2^t
//	V = sum of Q over the blocks
//	r = min(round(K / sqrt(V 2^t / n + epsilon / s^2)), limit)
//	c r = K (x - mean) / sqrt(variance + epsilon), below 2^29, the result
//
// K is at most such that r reaches its limit at the least variance that codes of this width resolve.

// normBits is the width of codes whose squares are summed.
const normBits = 13

// productLimit bounds products that are shifted: rounding may add half of what is shifted out.
const productLimit = graph.BoundLimit - 1<<graph.MaxShift

// flat brings the axes to the end as one axis, and tells how to undo that.
func (c *composer) flat(name string, x codes, axes []int) (codes, func(codes) codes) {
	shape := c.shape(x.id)
	perm, back := make([]int, 0, len(shape)), make([]int, len(shape))
	last := map[int]bool{}
	for _, a := range axes {
		last[a] = true
	}
	n := 1
	var rows []int
	for a, d := range shape {
		if !last[a] {
			perm, rows = append(perm, a), append(rows, d)
		}
	}
	for _, a := range axes {
		perm = append(perm, a)
		n *= shape[a]
	}
	moved := make([]int, len(shape))
	for i, a := range perm {
		back[a], moved[i] = i, shape[a]
	}
	ordered := x
	if !isSorted(perm) {
		ordered.id = c.b.Transpose(name+".rows", x.id, perm)
	}
	flat := ordered
	if len(axes) != 1 {
		flat.id = c.b.Reshape(name+".flat", ordered.id, append(rows, n))
	}
	return flat, func(y codes) codes {
		if len(axes) != 1 {
			y.id = c.b.Reshape(name+".unflat", y.id, moved)
		}
		if !isSorted(perm) {
			y.id = c.b.Transpose(name+".back", y.id, back)
		}
		return y
	}
}

func isSorted(perm []int) bool {
	for i, a := range perm {
		if i != a {
			return false
		}
	}
	return true
}

// norm returns a product whose scale makes it (x - mean) / sqrt(variance + epsilon) over the axes, or x / sqrt(mean square + epsilon). Rows
// of codes beyond normBits are normed twice, so that rows of very different sizes all keep their precision.
//
// choose, if given, is told the finest scale that the result can have and returns the scale that it shall have.
func (c *composer) norm(name string, x codes, axes []int, epsilon float64, centre bool, choose func(finest float64) (float64, error)) codes {
	x, restore := c.flat(name, x, axes)
	if c.Err() != nil {
		return x
	}
	if c.magnitude(x.id) >= 1<<(normBits-1)-1 { // centred, they are twice as wide
		first := c.normRows(name+".first", x, epsilon, centre, nil)
		n := c.shape(x.id)[len(c.shape(x.id))-1]
		// A row's largest element is at most sqrt(n) after the norm; more than 2^5 is clamped before the second one.
		shift := 0
		for math.Ldexp(first.scale, shift)*(1<<(normBits-2)) < min(math.Sqrt(float64(n)), 32) {
			shift++
		}
		x = c.scaleDown(name+".even", first, shift, normBits-1)
		epsilon, centre = 0, false
	}
	return restore(c.normRows(name, x, epsilon, centre, choose))
}

func (c *composer) normRows(name string, x codes, epsilon float64, centre bool, choose func(finest float64) (float64, error)) codes {
	shape := c.shape(x.id)
	if c.Err() != nil {
		return x
	}
	axis := len(shape) - 1
	n := shape[axis]
	if centre {
		x = c.centred(name, x, axis)
	}
	peak := c.magnitude(x.id)
	squares, down := c.squares(name, x, axis)
	if c.Err() != nil {
		return x
	}
	eps := float64(float64(epsilon/x.scale) / x.scale) // in squares of units
	least := float64(peak) / 512
	least = max(eps, float64(least*least), 1.0/16)
	unit := math.Ldexp(1, down) / float64(n)
	g := decreasing{name: "inverse root", at: func(v float64) float64 {
		return 1 / math.Sqrt(max(float64(v*unit)+eps, least))
	}}
	bound := int64(productLimit) / peak
	scale := float64(c.weight(squares, g) / float64(bound-8)) // eight: what rounding may add
	if choose != nil {
		var err error
		if scale, err = choose(scale); err != nil {
			return codes{c.fail("%s: %w", name, err), 1}
		}
	}
	k := 1 / scale
	g.key = fmt.Sprintf("%x over the root of %x v + %x from %x", k, unit, eps, least)
	g.at = func(v float64) float64 { return k / math.Sqrt(max(float64(v*unit)+eps, least)) }
	r := c.wide(name+".root", squares, g, bound)
	return codes{c.rows(name+".normed", x, codes{r, scale}, []int{axis}).id, scale}
}

// centred subtracts the rounded mean along an axis.
func (c *composer) centred(name string, x codes, axis int) codes {
	n := int64(c.shape(x.id)[axis])
	sum := c.sum(name+".total", x, []int{axis})
	shift := c.shiftFor(sum.id, c.tableBits)
	for 8<<shift < n { // an eighth of a unit of the mean is enough
		shift++
	}
	mean := c.apply(name+".mean", sum.id, function{fmt.Sprintf("divided by %d, shift %d", n, shift), "mean", shift, func(q int64) int64 {
		return floorDiv(2*(q<<shift)+n, 2*n) // rounded, halves upwards
	}}, x.scale)
	m := c.withAxes(name+".meanrow", codes{mean, x.scale}, c.shape(x.id), []int{axis})
	return codes{c.b.Linear(name+".centred", []graph.Term{{Coef: 1, T: x.id}, {Coef: -1, T: m.id}}, 0, x.scale), x.scale}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// squares returns the sum of squares along the last axis, which disappears, divided by 2^down.
func (c *composer) squares(name string, x codes, axis int) (sum graph.TensorID, down int) {
	shape := c.shape(x.id)
	if c.Err() != nil {
		return graph.None, 0
	}
	narrow := c.narrow(name+".narrow", x, normBits)
	for s := narrow.scale; s > x.scale; s /= 2 {
		down += 2
	}
	labels := labelsOf(len(shape))
	n := shape[axis]
	peak := max(c.magnitude(narrow.id), 1)
	block := int(min(int64(n), int64(graph.BoundLimit-1)/(peak*peak)))
	if block == n && peak*peak*int64(n) < 1<<energyBits {
		return c.einsum(name+".squares", narrow.id, narrow.id, labels, labels, labels[:axis], 1), down
	}
	if block == 0 {
		return c.fail("%s: values up to %d are too wide to be squared", name, peak), 0
	}
	for block&(block-1) != 0 { // a power of two: blocks are bits of the index
		block &= block - 1
	}
	blocks := (n + block - 1) / block
	index := make([]int32, blocks*block)
	for i := range index {
		if index[i] = int32(i); i >= n {
			index[i] = -1
		}
	}
	cut := c.mapAxis(name+".blocks", narrow.id, axis, []int{blocks, block}, index)
	labels = labelsOf(len(shape) + 1)
	parts := c.einsum(name+".squares", cut, cut, labels, labels, labels[:axis+1], 1)
	if c.Err() != nil {
		return graph.None, 0
	}
	return c.sumOfParts(name, parts, axis, blocks, down)
}

// energyBits bounds sums of squares.
const energyBits = 26

// sumOfParts adds numbers that are too large to be added, along an axis which disappears, and divides by a power of two that it adds to down:
// quotients by 2^shift are added and scaled up again as far as there is room; so are the remainders.
func (c *composer) sumOfParts(name string, parts graph.TensorID, axis, blocks, down int) (graph.TensorID, int) {
	shift := c.shiftFor(parts, c.smallBits(parts))
	quotients, rems := c.applyRem(name+".part", parts, function{"identity", "identity", shift, func(q int64) int64 { return q }}, 1)
	high := c.sum(name+".high", codes{quotients, 1}, []int{axis}).id
	if shift == 0 {
		return high, down
	}
	up := 0
	for up < shift && c.magnitude(high)<<(up+1) < 1<<energyBits {
		up++
	}
	low := c.sum(name+".remainders", codes{rems, 1}, []int{axis}).id
	low = c.b.Linear(name+".low", []graph.Term{{Coef: 1, T: low}}, -int64(blocks)<<shift>>1, 1)
	if up < shift {
		low = c.apply(name+".lowpart", low, function{"identity", "identity", shift - up, func(q int64) int64 { return q }}, 1)
	}
	return c.b.Linear(name+".energy", []graph.Term{{Coef: 1 << up, T: high}, {Coef: 1, T: low}}, 0, 1), down + shift - up
}
