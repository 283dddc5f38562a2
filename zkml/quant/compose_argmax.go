package quant

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// argMax returns the positions of the greatest elements along an axis, which disappears: the first of equal ones, or the last. It is a tree of
// neighbours, each of which stands for a run of positions, so that ties are decided between runs in order. With a on the left of b:
//
//	max(a, b)   = limited(b + relu(a - b))      limited to the operands' bounds, which interval arithmetic forgets
//	position    = pos_b + left (pos_a - pos_b)  left = 1 if a wins
func (c *composer) argMax(name string, x graph.TensorID, axis int, last bool) graph.TensorID {
	shape := slices.Clone(c.shape(x))
	if c.Err() != nil {
		return graph.None
	}
	lo, hi := c.bounds(x)
	if hi-lo >= 1<<(graph.MaxTableBits-2) {
		return c.fail("%s: values in [%d, %d] are too wide to be compared", name, lo, hi)
	}
	least := int64(0) // the difference from which on the left one wins
	if last {
		least = 1
	}
	position := graph.None
	for level := 1; shape[axis] > 1 && c.Err() == nil; level++ {
		n := shape[axis]
		h := (n + 1) / 2
		left, right := make([]int32, h), make([]int32, h)
		for i := range h {
			left[i], right[i] = int32(2*i), int32(min(2*i+1, n-1))
		}
		stem := fmt.Sprintf("%s.%d", name, level)
		shape[axis] = h
		a, b := c.mapAxis(stem+".left", x, axis, []int{h}, left), c.mapAxis(stem+".right", x, axis, []int{h}, right)
		d := c.b.Linear(stem+".difference", []graph.Term{{Coef: 1, T: a}, {Coef: -1, T: b}}, 0, 1)
		wins := c.apply(stem+".wins", d, function{fmt.Sprintf("at least %d", least), "compare", 0, func(q int64) int64 {
			if q >= least {
				return 1
			}
			return 0
		}}, 1)
		if position == graph.None {
			position = c.firstPosition(stem, wins, shape, axis, right)
		} else {
			pa, pb := c.mapAxis(stem+".leftpos", position, axis, []int{h}, left), c.mapAxis(stem+".rightpos", position, axis, []int{h}, right)
			apart := c.b.Linear(stem+".apart", []graph.Term{{Coef: 1, T: pa}, {Coef: -1, T: pb}}, 0, 1)
			labels := labelsOf(len(shape))
			chosen := c.einsum(stem+".chosen", wins, apart, labels, labels, labels, 1)
			position = c.b.Linear(stem+".position", []graph.Term{{Coef: 1, T: pb}, {Coef: 1, T: chosen}}, 0, 1)
		}
		if h > 1 {
			above := c.apply(stem+".above", d, function{"relu", "relu", 0, func(q int64) int64 { return max(q, 0) }}, 1)
			x = c.b.Linear(stem+".greater", []graph.Term{{Coef: 1, T: b}, {Coef: 1, T: above}}, 0, 1)
			x = c.apply(stem+".limited", x, clampTo(lo, hi, 0), 1)
		}
	}
	if position == graph.None { // an axis of length 1
		position = c.b.Linear(name+".only", []graph.Term{{Coef: 1, T: x}, {Coef: -1, T: x}}, 0, 1)
	}
	return c.b.Reshape(name, position, slices.Delete(shape, axis, axis+1))
}

// firstPosition is the position after the first level: right minus wins where the pair has two elements.
func (c *composer) firstPosition(stem string, wins graph.TensorID, shape []int, axis int, right []int32) graph.TensorID {
	along := slices.Repeat([]int{1}, len(shape)-axis)
	along[0] = len(right)
	p := c.b.Param(stem+".places", along, right, 1)
	if n := len(right); n > 0 && right[n-1] == int32(2*(n-1)) { // the last element is paired with itself
		two := slices.Repeat([]int32{-1}, n)
		two[n-1] = 0
		labels := labelsOf(len(shape))
		pairs := c.b.Param(stem+".pairs", []int{n}, two, 1)
		down := c.einsum(stem+".down", wins, pairs, labels, labels[axis:axis+1], labels, 1)
		return c.b.Linear(stem+".position", []graph.Term{{Coef: 1, T: down}, {Coef: 1, T: p}}, 0, 1)
	}
	return c.b.Linear(stem+".position", []graph.Term{{Coef: -1, T: wins}, {Coef: 1, T: p}}, 0, 1)
}
