package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// visitSelect keeps elements where a mask is 1 and puts constants elsewhere.
func (l *lowering) visitSelect(n *onnx.Node) error {
	x, mv := n.Inputs[0], n.Inputs[1]
	c := l.constant(n.Inputs[2])
	shape, name := l.shapeOf(n.Output), l.name(n.Output)
	for i := range c.Len() {
		if math.IsInf(c.At(i), 0) {
			return fmt.Errorf("%w: an infinite replacement is only supported before a softmax", onnx.ErrUnsupported)
		}
	}
	f := &form{shape: shape}
	if l.constant(x) == nil {
		a, err := l.ints(x)
		if err != nil {
			return err
		}
		if m := l.constant(mv); m != nil {
			a = l.maskedBy(name, a, m, l.shapeOf(x))
		} else {
			b, err := l.exact(mv)
			if err != nil {
				return err
			}
			a = l.pairwise(name+".kept", a, codes{b, 1})
		}
		f.terms = append(f.terms, term{x: a, c: 1, shape: l.shape(a.id)})
	}
	// The constants: x itself where the mask is 1 if it is one, c where it is 0.
	if m := l.constant(mv); m != nil {
		k := multiplied(c, complement(m))
		if w := l.constant(x); w != nil {
			k = added(k, multiplied(w, m))
		}
		if !isZero(k) || len(f.terms) == 0 {
			f.terms = append(f.terms, term{x: codes{id: graph.None}, w: k, name: name + ".replacement", c: 1, shape: k.Shape})
		}
		return l.set(n.Output, f)
	}
	b, err := l.exact(mv)
	if err != nil {
		return err
	}
	k := c
	if !isZero(c) {
		f.terms = append(f.terms, term{x: codes{id: graph.None}, w: c, name: name + ".replacement", c: 1, shape: c.Shape})
	}
	if w := l.constant(x); w != nil {
		k = added(c, multiplied(w, filled(-1)))
	}
	if isZero(k) && len(f.terms) > 0 && l.constant(x) == nil { // zero elsewhere
		return l.set(n.Output, f)
	}
	mask := addend(codes{b, 1}, l.shapeOf(mv), mv)
	minus, ok := l.scaledForm(mask.scaled(-1), k, name+".offset", shape)
	if !ok {
		return fmt.Errorf("mask of shape %v and replacement of shape %v do not fit", l.shapeOf(mv), c.Shape)
	}
	f.terms = append(f.terms, minus.terms...)
	return l.set(n.Output, f)
}

func isZero(t *onnx.Tensor) bool {
	lo, hi := extremes(t)
	return lo == 0 && hi == 0
}

func filled(v float32) *onnx.Tensor { return &onnx.Tensor{Real: []float32{v}} }

// complement is 1 - m.
func complement(m *onnx.Tensor) *onnx.Tensor {
	out := &onnx.Tensor{Shape: m.Shape, Real: make([]float32, m.Len())}
	for i := range out.Real {
		out.Real[i] = float32(1 - m.At(i))
	}
	return out
}

// added is the sum of two constants that repeat along each other.
func added(a, b *onnx.Tensor) *onnx.Tensor {
	_, _, shape := elementwise(a.Shape, b.Shape)
	out := &onnx.Tensor{Shape: shape, Real: make([]float32, graph.Elements(shape))}
	for i := range out.Real {
		out.Real[i] = float32(a.At(repeatedIndex(i, shape, a.Shape)) + b.At(repeatedIndex(i, shape, b.Shape)))
	}
	return out
}

// maskedBy is x where a constant mask is 1, and 0 elsewhere. The parameter holds -1 and 0: one bit, which leaves bounds as they are.
func (l *lowering) maskedBy(name string, x codes, m *onnx.Tensor, shape []int) codes {
	labels, wShape, out := elementwise(shape, m.Shape)
	off := make([]int32, m.Len())
	for i := range off {
		off[i] = -int32(m.At(i))
	}
	kept, _ := squeeze(shape, len(shape))
	p := l.b.Param(name+".mask", wShape, off, 1)
	id := l.einsum(name+".negated", l.reshape(name+".operand", x.id, kept), p, labels[0], labels[1], labels[2], x.scale)
	id = l.b.Linear(name+".masked", []graph.Term{{Coef: -1, T: id}}, 0, x.scale)
	return codes{l.reshape(name+".shaped", id, out), x.scale}
}

// pairwise is the element-wise product of two tensors that repeat along each other.
func (l *lowering) pairwise(name string, a, b codes) codes {
	as, bs := l.shape(a.id), l.shape(b.id)
	labels, bShape, shape := elementwise(as, bs)
	kept, _ := squeeze(as, len(as))
	scale := float64(a.scale * b.scale)
	id := l.einsum(name, l.reshape(name+".left", a.id, kept), l.reshape(name+".right", b.id, bShape), labels[0], labels[1], labels[2], scale)
	return codes{l.reshape(name+".shaped", id, shape), scale}
}

// visitRearrange sends integers through maps; what the maps fill in becomes the nearest code.
func (l *lowering) visitRearrange(n *onnx.Node) error {
	x, err := l.ints(n.Inputs[0])
	if err != nil {
		return err
	}
	fill, err := l.fillCode(x, n)
	if err != nil {
		return err
	}
	return l.give(n.Output, codes{l.rearrange(l.name(n.Output), x.id, n, fill), x.scale})
}

// fillCode is the code that stands for a Rearrange's fill: minus infinity, in a maximum, is the least code there is.
func (l *lowering) fillCode(x codes, n *onnx.Node) (int64, error) {
	fill := n.Attr.Fill
	if fill == 0 || !fills(n) {
		return 0, nil
	}
	if lo, hi := l.bounds(x.id); math.IsInf(fill, 0) || fill <= -1e30 {
		if fill > 0 {
			return hi, nil
		}
		return lo, nil
	}
	code := math.Round(fill / x.scale)
	if math.Abs(code) >= 1<<20 {
		return 0, fmt.Errorf("%w: the padding value %g is out of all proportion to a tensor of scale %g", onnx.ErrUnsupported, fill, x.scale)
	}
	return int64(code), nil
}

func fills(n *onnx.Node) bool {
	for _, m := range n.Attr.Maps {
		if slices.Contains(m.Index, -1) {
			return true
		}
	}
	return false
}

// rearrange adds the operation; the maps' zeros become fill by moving the codes before and after.
func (l *lowering) rearrange(name string, x graph.TensorID, n *onnx.Node, fill int64) graph.TensorID {
	maps := slices.Clone(n.Attr.Maps)
	scale := 1.0
	if l.Err() == nil {
		scale = l.b.Tensor(x).Scale
	}
	if fill != 0 {
		x = l.b.Linear(name+".moved", []graph.Term{{Coef: 1, T: x}}, -fill, scale)
	}
	x = l.b.Rearrange(name, x, maps, n.Attr.Perm)
	if fill != 0 {
		x = l.b.Linear(name+".filled", []graph.Term{{Coef: 1, T: x}}, fill, scale)
	}
	return x
}

// visitConcat is the sum of its operands, each surrounded by zeros.
func (l *lowering) visitConcat(n *onnx.Node) error {
	shape := l.shapeOf(n.Output)
	f := &form{shape: shape}
	first := 0
	for i, v := range n.Inputs {
		d := l.shapeOf(v)[n.Attr.Axis]
		if w := l.constant(v); w != nil {
			f.terms = append(f.terms, term{x: codes{id: graph.None}, w: surrounded(w, n.Attr.Axis, first, shape), name: l.name(v), c: 1, shape: shape})
		} else {
			x, err := l.ints(v)
			if err != nil {
				return err
			}
			id := l.placed(suffixed(l.name(n.Output), ".part", i), x.id, n.Attr.Axis, first, shape[n.Attr.Axis])
			f.terms = append(f.terms, term{x: codes{id, x.scale}, c: 1, shape: shape})
		}
		first += d
	}
	return l.set(n.Output, f)
}

// placed puts a tensor at a position along an axis of the given length, between zeros.
func (l *lowering) placed(name string, x graph.TensorID, axis, first, length int) graph.TensorID {
	if l.Err() != nil {
		return graph.None
	}
	n := l.shape(x)[axis]
	index := slices.Repeat([]int32{-1}, length)
	for i := range n {
		index[first+i] = int32(i)
	}
	return l.mapAxis(name, x, axis, []int{length}, index)
}

func surrounded(w *onnx.Tensor, axis, first int, shape []int) *onnx.Tensor {
	out := &onnx.Tensor{Shape: shape, Real: make([]float32, graph.Elements(shape))}
	inner := graph.Elements(shape[axis+1:])
	run, step := w.Shape[axis]*inner, shape[axis]*inner
	for i := range w.Len() {
		out.Real[i/run*step+first*inner+i%run] = float32(w.At(i))
	}
	return out
}

// visitReduceMax takes maxima in codes narrow enough for a table of pairs.
func (l *lowering) visitReduceMax(n *onnx.Node) error {
	if x, err := l.ints(n.Inputs[0]); err != nil {
		return err
	} else if l.magnitude(x.id) >= wideCodes {
		return l.give(n.Output, l.maximum(l.name(n.Output), x, n.Attr.Axes))
	}
	x, err := l.narrowed(n.Inputs[0], maxBits)
	if err != nil {
		return err
	}
	name := l.name(n.Output)
	for _, a := range slices.Backward(n.Attr.Axes) {
		x = l.max(fmt.Sprintf("%s.axis%d", name, a), x, a)
	}
	return l.give(n.Output, x)
}

// visitEmbed selects rows of a table by an input of the program.
func (l *lowering) visitEmbed(n *onnx.Node) error {
	tokens := &l.values[n.Inputs[0]]
	w := l.constant(n.Inputs[1])
	if !tokens.input || w == nil || len(w.Shape) != 2 {
		return fmt.Errorf("%w: rows are selected by a computed tensor, expected an input of the model", onnx.ErrUnsupported)
	}
	v, name := n.Output, l.name(n.Output)
	st, err := l.decide(name, v, nil, demand{bits: max(l.values[v].bits, l.o.ActivationBits), out: observed{reach: l.greatest(w)}})
	if err != nil {
		return err
	}
	q, err := quantise(w, 1/st.Scale)
	if err != nil {
		return fmt.Errorf("constants %s: %w", onnx.Quote(l.name(n.Inputs[1])), err)
	}
	p := l.b.Param(l.name(n.Inputs[1]), w.Shape, q, st.Scale)
	id := l.b.Embed(name, tokens.ints[0].id, p, st.Scale)
	l.stages = append(l.stages, staged{Stage: st, v: v, id: id, node: n})
	l.embedded[n.Inputs[1]] = codes{p, st.Scale}
	return l.give(v, codes{id, st.Scale})
}

// visitNorm normalises rows; what follows requantises the product.
func (l *lowering) visitNorm(n *onnx.Node) error {
	x, err := l.ints(n.Inputs[0])
	if err != nil {
		return err
	}
	// The product can have any scale from some on: it follows the stage that requantises it.
	v, name := n.Output, l.name(n.Output)
	var st Stage
	y := l.norm(name+".norm", x, n.Attr.Axes, n.Attr.Epsilon, n.Attr.Centre, func(finest float64) (float64, error) {
		d := demand{bits: l.values[v].bits, finest: finest, final: l.values[v].final}
		if d.final {
			d.bits = l.o.OutputBits
		}
		var err error
		st, err = l.decide(name, v, &form{shape: l.shapeOf(v), base: v}, d)
		return st.accScale(), err
	})
	if err := l.Err(); err != nil {
		return err
	}
	// Constants along axes are multiplied with codes, not with the product.
	c, err := l.requantise(name, v, &form{}, st, y, name+".norm", false)
	if err != nil {
		return err
	}
	return l.give(v, c)
}
