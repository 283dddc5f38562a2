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
//	r = min(round(K / sqrt(V 2^t / n + epsilon / s^2)), the greatest r with |c| r < 2^29)
//	c r = K (x - mean) / sqrt(variance + epsilon), the result
//
// K is such that the greatest r is reached at the least variance that codes of this width resolve.

// normBits is the width of codes whose squares are summed.
const normBits = 13

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
func (c *composer) norm(name string, x codes, axes []int, epsilon float64, centre bool) codes {
	x, restore := c.flat(name, x, axes)
	if c.Err() != nil {
		return x
	}
	if c.magnitude(x.id) >= 1<<normBits {
		first := c.normRows(name+".first", x, epsilon, centre)
		n := c.shape(x.id)[len(c.shape(x.id))-1]
		// A row's largest element is at most sqrt(n) after the norm; more than 2^4 is clamped before the second one.
		shift := 0
		for math.Ldexp(first.scale, shift)*(1<<(normBits-2)) < min(math.Sqrt(float64(n)), 16) {
			shift++
		}
		x = c.scaleDown(name+".even", first, shift, normBits-1)
		epsilon, centre = 0, false
	}
	return restore(c.normRows(name, x, epsilon, centre))
}

func (c *composer) normRows(name string, x codes, epsilon float64, centre bool) codes {
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
	limit := int64(graph.BoundLimit-1) / peak
	r, k := c.inverseRoot(name, squares, least, math.Ldexp(1, down)/float64(n), eps, limit)
	y := c.rows(name+".normed", x, codes{r, 1}, []int{axis})
	return codes{y.id, 1 / k}
}

// centred subtracts the rounded mean along an axis.
func (c *composer) centred(name string, x codes, axis int) codes {
	n := int64(c.shape(x.id)[axis])
	sum := c.sum(name+".total", x, []int{axis})
	shift := c.shiftFor(sum.id, c.tableBits)
	mean := c.apply(name+".mean", sum.id, function{fmt.Sprintf("divided by %d, shift %d", n, shift), shift, func(q int64) int64 {
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
	if block == n {
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
	shift := c.shiftFor(parts, graph.MaxTableBits)
	parts = c.apply(name+".part", parts, function{"identity", shift, func(q int64) int64 { return q }}, 1)
	return c.sum(name+".energy", codes{parts, 1}, []int{axis}).id, down + shift
}

// inverseRoot returns min(round(k / sqrt(v unit + eps)), limit), and limit where v is not positive; k is given for each limit, which leaves
// room for a function of several tables.
func (c *composer) inverseRoot(name string, v graph.TensorID, least, unit, eps float64, limit int64) (r graph.TensorID, k float64) {
	limit /= int64(c.levels(v))
	k = float64(float64(limit) * math.Sqrt(least))
	key := fmt.Sprintf("%x over the root of %x v + %x, at most %d", k, unit, eps, limit)
	return c.wide(name+".root", v, key, func(v float64) int64 {
		v = max(float64(v*unit)+eps, 0)
		if v == 0 {
			return limit
		}
		return min(int64(math.Floor(float64(k/math.Sqrt(v))+0.5)), limit)
	}), k
}
