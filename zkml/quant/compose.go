package quant

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// composer adds compositions of operations to a program: what softmax, norms, maxima and divisions are made of. Every choice it makes
// follows from shapes, bounds and scales, so that equal calls give equal programs.
type composer struct {
	b         *graph.Builder
	tables    map[string]int // what a table computes and its bits -> its index
	tableBits int            // largest tables without need
	err       error          // the first error that the builder did not see
}

// Err returns the first error.
func (c *composer) Err() error {
	if c.err != nil {
		return c.err
	}
	return c.b.Err()
}

func newComposer(name string, tableBits int) *composer {
	return &composer{b: graph.NewBuilder(name), tables: map[string]int{}, tableBits: tableBits}
}

// codes is an integer tensor that stands for real numbers: one unit is worth scale.
type codes struct {
	id    graph.TensorID
	scale float64
}

func (c *composer) shape(id graph.TensorID) []int {
	if id < 0 {
		return nil
	}
	return c.b.Tensor(id).Shape
}

func (c *composer) bounds(id graph.TensorID) (lo, hi int64) {
	if id < 0 {
		return 0, 0
	}
	t := c.b.Tensor(id)
	return t.Lo, t.Hi
}

func (c *composer) magnitude(id graph.TensorID) int64 {
	lo, hi := c.bounds(id)
	return max(hi, -lo)
}

// unaryTable returns the table of a function of integers, made at first use.
func (c *composer) unaryTable(key, name string, bits int, y func() []int32) int {
	key = fmt.Sprintf("%s in %d bits", key, bits)
	if i, ok := c.tables[key]; ok {
		return i
	}
	i := c.b.Table(name, uint8(bits), y())
	c.tables[key] = i
	return i
}

// function is a lookup that the composer makes: f of the operand divided by 2^shift and rounded. key tells functions apart, name names tables.
type function struct {
	key, name string
	shift     int
	f         func(q int64) int64
}

// apply adds the lookup; the table is as large as the operand's bounds ask for, having been moved to lie around zero if that saves a bit.
func (c *composer) apply(name string, x graph.TensorID, fn function, scale float64) graph.TensorID {
	y, _ := c.applyRem(name, x, fn, scale)
	return y
}

// applyRem is apply that also returns the remainder: operand + 2^shift/2 = 2^shift * q + remainder.
func (c *composer) applyRem(name string, x graph.TensorID, fn function, scale float64) (y, rem graph.TensorID) {
	if c.Err() != nil {
		return graph.None, graph.None
	}
	lo, hi := c.bounds(x)
	bits := graph.LookupBits(lo, hi, uint8(fn.shift))
	centre := (lo + hi) >> 1 >> fn.shift
	if moved := centre << fn.shift; graph.LookupBits(lo-moved, hi-moved, uint8(fn.shift)) < bits {
		bits = graph.LookupBits(lo-moved, hi-moved, uint8(fn.shift))
		x = c.b.Linear(name+".centred", []graph.Term{{Coef: 1, T: x}}, -moved, c.b.Tensor(x).Scale)
	} else {
		centre = 0
	}
	if bits > graph.MaxTableBits || bits+fn.shift > graph.MaxWindow {
		return c.fail("%s: values in [%d, %d] shifted by %d need a table of %d bits", name, lo, hi, fn.shift, bits), graph.None
	}
	table := c.unaryTable(fmt.Sprintf("%s around %d", fn.key, centre), fn.name, bits, func() []int32 {
		y := make([]int32, 1<<bits)
		for i := range y {
			y[i] = int32(fn.f(int64(i) - int64(1)<<(bits-1) + centre))
		}
		return y
	})
	y = c.b.Lookup(name, x, uint8(fn.shift), table, scale)
	if fn.shift == 0 || c.Err() != nil {
		return y, graph.None
	}
	return y, y + 1 // the builder defines a remainder right behind its values
}

// shiftFor returns the least shift for which the operand's table stays within so many bits.
func (c *composer) shiftFor(x graph.TensorID, bits int) int {
	lo, hi := c.bounds(x)
	return shiftOf(lo, hi, bits)
}

// fail records an error unless there is one.
func (c *composer) fail(format string, args ...any) graph.TensorID {
	if c.Err() == nil {
		c.err = fmt.Errorf(format, args...)
	}
	return graph.None
}

// narrow divides x by the least power of two that brings it to so many bits, sign included: a clamp table that never clamps.
func (c *composer) narrow(name string, x codes, bits int) codes {
	lo, hi := c.bounds(x.id)
	limit := int64(1) << (bits - 1)
	if lo >= -limit && hi < limit {
		return x
	}
	shift := 0
	for lo>>shift < -limit || (hi+1<<shift>>1)>>shift >= limit {
		shift++
	}
	return c.scaleDown(name, x, shift, bits)
}

// scaleDown divides x by 2^shift, rounding, and limits the result to so many bits.
func (c *composer) scaleDown(name string, x codes, shift, bits int) codes {
	if lo, hi := c.bounds(x.id); graph.LookupBits(lo, hi, uint8(shift)) > graph.MaxTableBits {
		x = c.within(name, x, shift+bits)
	}
	limit := int64(1) << (bits - 1)
	scale := math.Ldexp(x.scale, shift)
	return codes{c.apply(name, x.id, clampTo(-limit, limit-1, shift), scale), scale}
}

// labelsOf gives every axis of a tensor a label.
func labelsOf(rank int) []uint8 {
	l := make([]uint8, rank)
	for i := range l {
		l[i] = uint8(i)
	}
	return l
}

// without returns the labels that are not those of the given axes.
func without(labels []uint8, axes []int) []uint8 {
	var out []uint8
	for i, l := range labels {
		if !slices.Contains(axes, i) {
			out = append(out, l)
		}
	}
	return out
}

// einsum adds a product of two tensors, or a sum of one if b is None.
func (c *composer) einsum(name string, a, b graph.TensorID, al, bl, ol []uint8, scale float64) graph.TensorID {
	if c.Err() != nil {
		return graph.None
	}
	letters := func(labels []uint8) string {
		s := make([]byte, len(labels))
		for i, l := range labels {
			s[i] = 'a' + l
		}
		return string(s)
	}
	formula := letters(al)
	if b != graph.None {
		formula += "," + letters(bl)
	}
	return c.b.Einsum(name, formula+"->"+letters(ol), a, b, scale)
}

// sum adds the elements along axes, which disappear.
func (c *composer) sum(name string, x codes, axes []int) codes {
	labels := labelsOf(len(c.shape(x.id)))
	return codes{c.einsum(name, x.id, graph.None, labels, nil, without(labels, axes), x.scale), x.scale}
}

// rows multiplies x with a tensor that lacks the given axes of x.
func (c *composer) rows(name string, x, r codes, axes []int) codes {
	labels := labelsOf(len(c.shape(x.id)))
	scale := float64(x.scale * r.scale)
	return codes{c.einsum(name, x.id, r.id, labels, without(labels, axes), labels, scale), scale}
}

// withAxes gives a tensor that lacks axes these axes again, with length 1.
func (c *composer) withAxes(name string, x codes, shape []int, axes []int) codes {
	full := slices.Clone(shape)
	for _, a := range axes {
		full[a] = 1
	}
	return codes{c.b.Reshape(name, x.id, full), x.scale}
}

// maxBits is the width, sign included, of codes whose maxima are taken by a table of pairs.
const maxBits = graph.MaxTableBits / 2

// max returns the greatest elements along an axis, which disappears: a tree of pairs. An odd level compares its middle element twice.
// Operands of more than maxBits bits must be narrowed before.
func (c *composer) max(name string, x codes, axis int) codes {
	shape := slices.Clone(c.shape(x.id))
	if c.Err() != nil {
		return x
	}
	for level := 1; shape[axis] > 1; level++ {
		n := shape[axis]
		h := (n + 1) / 2
		shape[axis] = h
		a := c.take(fmt.Sprintf("%s.low%d", name, level), x.id, axis, 0, h)
		b := c.take(fmt.Sprintf("%s.high%d", name, level), x.id, axis, n-h, h)
		x.id = c.greater(fmt.Sprintf("%s.max%d", name, level), a, b, x.scale)
	}
	if len(shape) > 0 {
		x.id = c.b.Reshape(name+".max", x.id, slices.Delete(shape, axis, axis+1))
	}
	return x
}

// greater is the element-wise maximum of two tensors of one shape and scale.
func (c *composer) greater(name string, a, b graph.TensorID, scale float64) graph.TensorID {
	if c.Err() != nil {
		return graph.None
	}
	bits := 2
	for _, id := range []graph.TensorID{a, b} {
		lo, hi := c.bounds(id)
		for lo < -1<<(bits-1) || hi >= 1<<(bits-1) {
			bits++
		}
	}
	if bits > maxBits {
		return c.fail("%s: operands of %d bits, expected at most %d", name, bits, maxBits)
	}
	return c.b.Pair(name, a, b, c.pairTable("max", bits, bits, func(a, b int64) int64 { return max(a, b) }), scale)
}

// pairTable returns the table of a function of two integers, made at first use.
func (c *composer) pairTable(key string, bits, bits2 int, f func(a, b int64) int64) int {
	name, _, _ := strings.Cut(key, " ")
	key = fmt.Sprintf("%s in %d and %d bits", key, bits, bits2)
	if i, ok := c.tables[key]; ok {
		return i
	}
	y := make([]int32, 1<<(bits+bits2))
	for i := range y {
		y[i] = int32(f(int64(i>>bits2)-int64(1)<<(bits-1), int64(i&(1<<bits2-1))-int64(1)<<(bits2-1)))
	}
	i := c.b.PairTable(clean(name), uint8(bits), uint8(bits2), y)
	c.tables[key] = i
	return i
}

// keep is the map of an axis that stays as it is.
func keep(axis, n int) graph.AxisMap { return graph.AxisMap{Axis: axis, Shape: []int{n}} }

// take returns n elements from position first along an axis.
func (c *composer) take(name string, x graph.TensorID, axis, first, n int) graph.TensorID {
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(first + i)
	}
	return c.mapAxis(name, x, axis, []int{n}, index)
}

// mapAxis sends one axis through a map and keeps the others.
func (c *composer) mapAxis(name string, x graph.TensorID, axis int, shape []int, index []int32) graph.TensorID {
	maps := make([]graph.AxisMap, len(c.shape(x)))
	for a, n := range c.shape(x) {
		maps[a] = keep(a, n)
	}
	if axis >= len(maps) {
		return graph.None
	}
	maps[axis] = graph.AxisMap{Axis: axis, Shape: shape, Index: index}
	return c.b.Rearrange(name, x, maps, nil)
}
