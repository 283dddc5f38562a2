package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A softmax of codes of 8 bits whose result becomes codes of 8 bits is computed exactly. With d the distance of a code to its row's greatest
// one, s the scale of the operand and c the inverse of the result's,
//
//	e = round(2^28 exp(-s d)),  S = sum of e over the row,  y = c e / S rounded to the nearest integer, halves to the even one.
//
// e and S are held in limbs. A product with a reciprocal gives y0, which is y or one less: it is one-sided and off by less than 1. Then
// y = y0 + [2 c e - (2 y0 + 1) S + (y0 mod 2) - 1 >= 0], the sign of a number in limbs.

// codedSoftmax are the nodes before a Quantise that take codes to a softmax.
type codedSoftmax struct {
	softmax, dequantise *onnx.Node
	inverse             float64 // c
}

// expBits is the number of bits of the greatest e, lowLimb that of the lowest limb and midLimb that of the one above where there are three.
const (
	expBits = 28
	lowLimb = 14
	midLimb = 8
)

// codedInverse bounds c: it is what y0 is one-sided and precise enough for.
const codedInverse = 256

// codedRow is the length from which on bounds ask for three limbs, and codedLimit the greatest length.
const (
	codedRow   = 60
	codedLimit = 1 << 14
)

// findCodedSoftmax finds Dequantise, Softmax, Quantise of codes with one scale.
func (l *lowering) findCodedSoftmax() {
	for i := range l.m.Nodes {
		q := &l.m.Nodes[i]
		if q.Op != onnx.OpQuantise || l.m.Values[q.Inputs[0]].Int || len(q.Attr.Scale) != 1 {
			continue
		}
		s := l.values[q.Inputs[0]].node
		if s == nil || s.Op != onnx.OpSoftmax || l.values[s.Output].uses != 1 || slices.Contains(l.outputs, s.Output) {
			continue
		}
		d := l.values[s.Inputs[0]].node
		if d == nil || d.Op != onnx.OpDequantise || len(d.Attr.Scale) != 1 {
			continue
		}
		c := 1 / float64(q.Attr.Scale[0])
		if near := math.Round(c); math.Abs(c-near) < near/(1<<23) {
			c = near // as far as float32 can say
		}
		length := 1
		for _, a := range s.Attr.Axes {
			length *= l.shapeOf(s.Output)[a]
		}
		x := &l.m.Values[d.Inputs[0]]
		if !x.Int || x.Const != nil || x.Hi-x.Lo > 255 || width(x.Lo, x.Hi) > maxBits || c > codedInverse || length > codedLimit {
			continue
		}
		l.coded[q.Output] = codedSoftmax{s, d, c}
		l.values[s.Output].skip = true
		if l.values[d.Output].uses == 1 && !slices.Contains(l.outputs, d.Output) {
			l.values[d.Output].skip = true
		}
	}
}

// limbs are numbers whose i-th part counts 2^shift[i].
type limbs struct {
	shift []int
	part  []graph.TensorID
}

// floorOfQuotient returns floor(x / 2^shift) through a table, and the remainder.
func (c *composer) floorOfQuotient(name string, x graph.TensorID, shift int, key string, f func(q int64) int64) (y, rem graph.TensorID) {
	if c.Err() != nil {
		return graph.None, graph.None
	}
	down := c.b.Linear(name+".floor", []graph.Term{{Coef: 1, T: x}}, -(1 << shift >> 1), 1)
	return c.applyRem(name, down, function{key, key, shift, f}, 1)
}

func (l *lowering) softmaxOfCodes(n *onnx.Node, s codedSoftmax) error {
	x, err := l.exact(s.dequantise.Inputs[0])
	if err != nil {
		return err
	}
	name, shape, axes := l.name(n.Output), l.shapeOf(n.Output), s.softmax.Attr.Axes
	top, length := codes{x, 1}, 1
	for _, a := range slices.Backward(axes) {
		top = l.max(name, top, a)
		length *= shape[a]
	}
	if err := l.Err(); err != nil {
		return err
	}
	top = l.withAxes(name+".top", top, shape, axes)
	d := l.b.Linear(name+".distance", []graph.Term{{Coef: 1, T: top.id}, {Coef: -1, T: x}}, 0, 1)
	shifts := []int{0, lowLimb}
	if length >= codedRow {
		shifts = []int{0, lowLimb, lowLimb + midLimb}
	}
	scale := float64(s.dequantise.Attr.Scale[0])
	e := l.expLimbs(name+".exp", d, scale, 1, shifts)
	numerator, factor := e, int64(2*s.inverse) // 2 c e
	if s.inverse != math.Trunc(s.inverse) {
		numerator, factor = l.expLimbs(name+".scaled", d, scale, s.inverse, shifts), 2
	}

	// S, whose limbs are brought below their size, and its high part.
	total := limbs{shift: shifts}
	for i, p := range e.part {
		total.part = append(total.part, l.sum(suffixed(name, ".sum", i), codes{p, 1}, axes).id)
	}
	whole := func(q int64) int64 { return q }
	last := len(shifts) - 1
	for i := range last {
		q, r := l.floorOfQuotient(suffixed(name, ".carry", i), total.part[i], shifts[i+1]-shifts[i], "quotient", whole)
		if err := l.Err(); err != nil {
			return err
		}
		total.part[i] = r
		total.part[i+1] = l.b.Linear(suffixed(name, ".limb", i), []graph.Term{{Coef: 1, T: total.part[i+1]}, {Coef: 1, T: q}}, 0, 1)
	}
	high := func(name string, x limbs) graph.TensorID {
		if last == 1 || l.Err() != nil {
			return x.part[1]
		}
		return l.b.Linear(name, []graph.Term{{Coef: 1 << midLimb, T: x.part[2]}, {Coef: 1, T: x.part[1]}}, 0, 1)
	}

	// y0: the reciprocal is too small by a share of 2^-10 to 2^-9, so that y0 never exceeds y, and is one less at most.
	const precision, one = 10, int64(1) << 28
	r := l.wide(name+".reciprocal", high(name+".high", total), decreasing{
		"softmax of codes", "reciprocal", 1 << (expBits - lowLimb),
		func(v float64) float64 { return float64(one)*(1-1.0/(1<<precision))/(v+1) - 1 }, precision + 1}, one>>11-1)
	product := l.rows(name+".quotient", codes{high(name+".exphigh", e), 1}, codes{r, 1}, axes)
	if err := l.Err(); err != nil {
		return err
	}
	shift := l.shiftFor(product.id, 16)
	most := int64(math.Ceil(s.inverse))
	y0, _ := l.floorOfQuotient(name+".below", product.id, shift, fmt.Sprintf("times %x over %d", s.inverse, one>>shift), func(q int64) int64 {
		return min(max(int64(math.Floor(float64(float64(q)*s.inverse)/float64(one>>shift)+0.5)), 0), most)
	})
	if err := l.Err(); err != nil {
		return err
	}
	odd := l.apply(name+".odd", y0, function{"odd", "odd", 0, func(q int64) int64 { return q & 1 }}, 1)

	// The sign of 2 c e - (2 y0 + 1) S + odd - 1, limb by limb.
	carry := graph.None
	for i, p := range total.part {
		if err := l.Err(); err != nil {
			return err
		}
		own := l.rows(suffixed(name, ".product", i), codes{y0, 1}, codes{p, 1}, axes)
		row := l.withAxes(suffixed(name, ".row", i), codes{p, 1}, shape, axes)
		terms := []graph.Term{{Coef: factor, T: numerator.part[i]}, {Coef: -2, T: own.id}, {Coef: -1, T: row.id}}
		rest := int64(0)
		if carry != graph.None {
			terms = append(terms, graph.Term{Coef: 1, T: carry})
		} else {
			terms, rest = append(terms, graph.Term{Coef: 1, T: odd}), -1
		}
		if l.Err() != nil {
			return l.Err()
		}
		difference := l.b.Linear(suffixed(name, ".difference", i), terms, rest, 1)
		if i < last {
			carry, _ = l.floorOfQuotient(suffixed(name, ".borrow", i), difference, shifts[i+1]-shifts[i], "quotient", whole)
			continue
		}
		if l.Err() != nil {
			return l.Err()
		}
		carry, _ = l.floorOfQuotient(name+".above", difference, max(l.shiftFor(difference, l.o.TableBits), 1), "not negative", func(q int64) int64 {
			if q < 0 {
				return 0
			}
			return 1
		})
	}
	if err := l.Err(); err != nil {
		return err
	}
	zero := n.Attr.Zero[0]
	y := l.b.Linear(name+".nearest", []graph.Term{{Coef: 1, T: y0}, {Coef: 1, T: carry}}, zero, 1)
	if lo, hi := l.bounds(y); lo < n.Attr.Lo || hi > n.Attr.Hi {
		y = l.apply(name, y, clampTo(n.Attr.Lo, n.Attr.Hi, 0), 1)
	}
	return l.give(n.Output, codes{y, 1})
}

// expLimbs returns round(2^28 c exp(-scale d)) in limbs.
func (l *lowering) expLimbs(name string, d graph.TensorID, scale, c float64, shifts []int) limbs {
	values := make([]int64, 256)
	for q := range values {
		v := newFloat().Mul(number(math.Ldexp(c, expBits)), exponential(newFloat().Neg(number(float64(q)*scale))))
		values[q] = nearest(v, 1, 0, 1<<40)
	}
	out := limbs{shift: shifts}
	for i, from := range shifts {
		mask := int64(-1)
		if i+1 < len(shifts) {
			mask = 1<<(shifts[i+1]-from) - 1
		}
		out.part = append(out.part, l.apply(suffixed(name, "", i), d, function{fmt.Sprintf("bits %d to %d of exp %x times %x", from, mask, scale, c), "exp", 0, func(q int64) int64 {
			return values[min(max(q, 0), 255)] >> from & mask
		}}, 1))
	}
	return out
}
