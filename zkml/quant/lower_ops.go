package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// visit gives the node's result a form or integers.
func (l *lowering) visit(n *onnx.Node) error {
	if v := &l.m.Values[n.Output]; v.Int || v.Whole && n.Op != onnx.OpUnary {
		return l.visitInt(n)
	}
	switch n.Op {
	case onnx.OpEinsum:
		return l.visitEinsum(n)
	case onnx.OpAdd, onnx.OpSub:
		return l.visitSum(n)
	case onnx.OpMul:
		return l.visitMul(n)
	case onnx.OpMin, onnx.OpMax:
		return l.visitClip(n)
	case onnx.OpUnary:
		if !known(n.Attr.Func) {
			return fmt.Errorf("%w: function %s has no integer form", onnx.ErrUnsupported, n.Attr.Func)
		}
		f, err := l.chain(n.Inputs[0])
		if err != nil {
			return err
		}
		f = f.then(unary{fn: n.Attr.Func, a: n.Attr.A, b: n.Attr.B})
		if v := &l.m.Values[n.Output]; v.Whole { // comparisons
			c, err := l.stage(l.name(n.Output), n.Output, f, demand{bits: l.o.ActivationBits, scale: 1, lo: min(v.Lo, 0), hi: max(v.Hi, 1)})
			if err != nil {
				return err
			}
			return l.give(n.Output, c)
		}
		return l.set(n.Output, f)
	case onnx.OpSelect:
		return l.visitSelect(n)
	case onnx.OpRearrange:
		return l.visitRearrange(n)
	case onnx.OpConcat:
		return l.visitConcat(n)
	case onnx.OpReshape:
		if f, ok := l.reshaped(n.Inputs[0], l.shapeOf(n.Output)); ok {
			return l.set(n.Output, f)
		}
		x, err := l.ints(n.Inputs[0])
		if err != nil {
			return err
		}
		return l.give(n.Output, codes{l.b.Reshape(l.name(n.Output), x.id, l.shapeOf(n.Output)), x.scale})
	case onnx.OpReduceSum:
		x, err := l.ints(n.Inputs[0])
		if err != nil {
			return err
		}
		return l.set(n.Output, addend(l.sum(l.name(n.Output)+".total", x, n.Attr.Axes), l.shapeOf(n.Output), n.Output))
	case onnx.OpReduceMax:
		return l.visitReduceMax(n)
	case onnx.OpSoftmax:
		return l.visitSoftmax(n)
	case onnx.OpNorm:
		return l.visitNorm(n)
	case onnx.OpEmbed:
		return l.visitEmbed(n)
	case onnx.OpDequantise:
		return l.visitDequantise(n)
	}
	return fmt.Errorf("%w: operation %s has no integer form here", onnx.ErrUnsupported, n.Op)
}

// reshaped gives a form that nothing else reads another shape: its tensors and products get it, constants along the last axis or of one element
// keep theirs.
func (l *lowering) reshaped(x int, shape []int) (*form, bool) {
	f, from := l.values[x].form, l.shapeOf(x)
	if f == nil || len(l.values[x].ints) > 0 || l.values[x].uses > 1 || l.values[x].final {
		return nil, false
	}
	out := &form{shape: shape, chain: f.chain, base: f.base}
	sameLast := len(from) > 0 && len(shape) > 0 && from[len(from)-1] == shape[len(shape)-1]
	for i, t := range f.terms {
		switch {
		case t.along && slices.Equal(t.shape, from):
			if !sameLast || t.w.Len() != from[len(from)-1] || len(t.w.Shape) != 1 || !slices.Equal(t.labels[1], []uint8{uint8(len(from) - 1)}) {
				return nil, false
			}
			t.shape = shape
			t.labels, _, _ = elementwise(shape, t.w.Shape)
			kept, _ := squeeze(shape, len(shape))
			t.x.id = l.reshape(suffixed(l.name(x), ".reshaped", i), t.x.id, kept)
		case slices.Equal(t.shape, from):
			t.shape = shape
			if t.isConstant() {
				t.w = &onnx.Tensor{Shape: shape, Real: t.w.Real, Ints: t.w.Ints}
			} else if t.isAddend() {
				t.x.id = l.reshape(suffixed(l.name(x), ".reshaped", i), t.x.id, shape)
			}
		case t.isConstant() && (t.w.Len() == 1 || sameLast && len(t.shape) > 0 && t.w.Len() == from[len(from)-1] && t.shape[len(t.shape)-1] == t.w.Len()):
			t.w = &onnx.Tensor{Real: t.w.Real, Ints: t.w.Ints}
			if t.w.Len() > 1 {
				t.w.Shape = []int{t.w.Len()}
			}
			t.shape = t.w.Shape
		default:
			return nil, false
		}
		out.terms = append(out.terms, t)
	}
	return out, l.Err() == nil
}

// linear returns a value as a sum: its own, as long as it is not to be shared, or that of its integers.
func (l *lowering) linearOf(v int) (*form, error) {
	if w := l.constant(v); w != nil {
		return &form{shape: w.Shape, terms: []term{{x: codes{id: graph.None}, w: w, name: l.name(v), c: 1, shape: w.Shape}}, base: v}, nil
	}
	if f := l.values[v].form; f != nil && len(l.values[v].ints) == 0 && f.isLinear() {
		return f, nil
	}
	x, err := l.ints(v)
	return addend(x, l.shapeOf(v), v), err
}

// chain returns a value as something a function can still be appended to.
func (l *lowering) chain(v int) (*form, error) {
	if f := l.values[v].form; f != nil && len(l.values[v].ints) == 0 {
		return f, nil
	}
	return l.linearOf(v)
}

func (l *lowering) visitSum(n *onnx.Node) error {
	a, err := l.linearOf(n.Inputs[0])
	if err != nil {
		return err
	}
	b, err := l.linearOf(n.Inputs[1])
	if err != nil {
		return err
	}
	if n.Op == onnx.OpSub {
		b = b.scaled(-1)
	}
	if a, b, err = l.smaller(n, a, b); err != nil {
		return err
	}
	if a, b, err = l.separate(n, a, b); err != nil {
		return err
	}
	return l.set(n.Output, a.plus(b, l.shapeOf(n.Output)))
}

// smaller gives products of computed tensors codes of their own before they are added to something of another scale, where their size leaves no
// room for the multipliers that bring both to one scale.
func (l *lowering) smaller(n *onnx.Node, a, b *form) (*form, *form, error) {
	forms := [2]*form{a, b}
	for i, f := range forms {
		if l.largest(f) < wideSum || !slices.ContainsFunc(forms[1-i].terms, func(t term) bool {
			return t.isAddend() && multiplierError([]float64{math.Abs(t.factor(1))}, l.unitOf(f)) > exactMultiplier
		}) {
			continue
		}
		v := n.Inputs[i]
		x, err := l.ints(v)
		if err != nil {
			return a, b, err
		}
		forms[i] = addend(x, l.shapeOf(v), v)
		if n.Op == onnx.OpSub && i == 1 {
			forms[i] = forms[i].scaled(-1)
		}
	}
	return forms[0], forms[1], nil
}

// wideSum is the size from which on tensors are requantised before they are added to others.
const wideSum = 1 << 20

// largest is the greatest absolute value of the tensors in a sum.
func (l *lowering) largest(f *form) int64 {
	m := int64(0)
	for i := range f.terms {
		if t := &f.terms[i]; t.isAddend() {
			m = max(m, l.magnitude(t.x.id))
		}
	}
	return m
}

// unitOf is the least scale of the tensors in a sum.
func (l *lowering) unitOf(f *form) float64 {
	u := math.Inf(1)
	for i := range f.terms {
		if t := &f.terms[i]; t.isAddend() {
			u = min(u, math.Abs(t.factor(1)))
		}
	}
	return u
}

// separate gives products that are added to a wide residual stream integers of their own, in units of the stream: a single lookup could not
// hold both the stream's resolution and the bounds of the product.
func (l *lowering) separate(n *onnx.Node, a, b *form) (*form, *form, error) {
	if l.o.ResidualBits == 0 {
		return a, b, nil
	}
	stream := func(f *form) bool { return len(f.terms) == 1 && f.terms[0].isAddend() }
	forms := []*form{a, b}
	for i, f := range forms {
		other := forms[1-i]
		if !f.isHeavy() || !stream(other) {
			continue
		}
		unit := math.Abs(other.terms[0].factor(1))
		v := n.Inputs[i]
		x, err := l.stage(l.name(v), v, f, demand{bits: scoreBits, unit: unit})
		if err != nil {
			return a, b, err
		}
		l.values[v].ints, l.values[v].form = []codes{x}, nil
		forms[i] = addend(x, l.shapeOf(v), v)
	}
	return forms[0], forms[1], nil
}

// visitMul multiplies by one constant, by constants along axes, or two computed tensors.
func (l *lowering) visitMul(n *onnx.Node) error {
	x, y := n.Inputs[0], n.Inputs[1]
	if l.constant(x) != nil {
		x, y = y, x
	}
	w := l.constant(y)
	switch {
	case w != nil && w.Len() == 1:
		return l.scale(n, x, w.At(0))
	case w != nil:
		return l.scaleBy(n, x, w, l.name(y))
	case x == y:
		f, err := l.chain(x)
		if err != nil {
			return err
		}
		return l.set(n.Output, f.then(unary{fn: onnx.FuncPow, a: 2}))
	}
	labels := l.alignedLabels(n, x, y)
	return l.product(n, x, y, labels)
}

// scale multiplies by a constant of one element: inside a sum, or as a function at the end of a chain.
func (l *lowering) scale(n *onnx.Node, x int, c float64) error {
	f, err := l.chain(x)
	if err != nil {
		return err
	}
	if c == 0 {
		return fmt.Errorf("%w: a tensor is multiplied by zero", onnx.ErrUnsupported)
	}
	shape := l.shapeOf(n.Output)
	if !slices.Equal(shape, l.shapeOf(x)) { // a constant of more axes than the tensor
		g, err := l.ints(x)
		if err != nil {
			return err
		}
		return l.set(n.Output, &form{shape: shape, terms: addend(g, l.shapeOf(x), x).scaled(c).terms})
	}
	if !f.isLinear() {
		return l.set(n.Output, f.then(unary{affine: true, a: c}))
	}
	return l.set(n.Output, f.scaled(c))
}

// scaleBy multiplies by constants along axes. Constants and weights of the sum are multiplied when the program is built; its tensors become
// products.
func (l *lowering) scaleBy(n *onnx.Node, x int, w *onnx.Tensor, name string) error {
	f, err := l.linearOf(x)
	if err != nil {
		return err
	}
	shape := l.shapeOf(n.Output)
	if l.largest(f) <= 1<<(scoreBits+1) { // products that wait for their lookup would leave constants no bits
		if out, ok := l.scaledForm(f, w, name, shape); ok {
			return l.set(n.Output, out)
		}
	}
	c, err := l.ints(x)
	if err != nil {
		return err
	}
	out, ok := l.scaledForm(addend(c, l.shapeOf(x), x), w, name, shape)
	if !ok {
		return fmt.Errorf("constants %s of shape %v do not fit", onnx.Quote(name), w.Shape)
	}
	return l.set(n.Output, out)
}

// scaledForm multiplies every term by constants. It fails where a product's constants do not have the axes, or too many.
func (l *lowering) scaledForm(f *form, w *onnx.Tensor, name string, shape []int) (*form, bool) {
	out := &form{shape: shape}
	for _, t := range f.terms {
		switch {
		case t.isConstant():
			t.w = multiplied(t.w, w)
			t.shape = t.w.Shape
		case t.isAddend():
			labels, wShape, resultShape := elementwise(t.shape, w.Shape)
			kept, _ := squeeze(t.shape, len(t.shape))
			id := l.reshape(name+".squeezed", t.x.id, kept)
			t.x.id = id
			t.w = &onnx.Tensor{Shape: wShape, Real: w.Real, Ints: w.Ints}
			t.labels, t.shape, t.name, t.along = labels, resultShape, name, true
		default:
			fixed, ok := weighted(&t, w)
			if !ok {
				return nil, false
			}
			t = fixed
		}
		out.terms = append(out.terms, t)
	}
	return out, true
}

// elementwise labels the axes of a product of two tensors that repeat along each other, without axes of length 1, and returns the second
// shape without these and the result's with them.
func elementwise(a, b []int) (labels [3][]uint8, bShape, shape []int) {
	rank := max(len(a), len(b))
	for i := range rank {
		n := 1
		if k := i - rank + len(a); k >= 0 && a[k] > 1 {
			labels[0], n = append(labels[0], uint8(i)), a[k]
		}
		if k := i - rank + len(b); k >= 0 && b[k] > 1 {
			labels[1], n = append(labels[1], uint8(i)), b[k]
			bShape = append(bShape, b[k])
		}
		if n > 1 {
			labels[2] = append(labels[2], uint8(i))
		}
		shape = append(shape, n)
	}
	return labels, bShape, shape
}

// weighted multiplies the constants of a product by constants along axes of its result, if the former have these axes.
func weighted(t *term, w *onnx.Tensor) (term, bool) {
	if len(w.Shape) > len(t.shape) {
		return *t, false
	}
	// Axes of t.shape of length 1 have no label.
	var labels []uint8
	next := 0
	for i, n := range t.shape {
		label := -1
		if n > 1 || len(t.labels[2]) == len(t.shape) {
			label = int(t.labels[2][next])
			next++
		}
		if k := i - len(t.shape) + len(w.Shape); k >= 0 {
			if w.Shape[k] > 1 && (label < 0 || !slices.Contains(t.labels[1], uint8(label))) {
				return *t, false
			}
			labels = append(labels, uint8(max(label, 0)))
		}
	}
	out := *t
	out.w = scaledBy(t.w, t.labels[1], w, labels)
	return out, true
}

// scaledBy returns w times c, c having the labels given for its axes; those of length 1 repeat.
func scaledBy(w *onnx.Tensor, wLabels []uint8, c *onnx.Tensor, labels []uint8) *onnx.Tensor {
	strides := make([]int, len(wLabels))
	step := 1
	for a := len(c.Shape) - 1; a >= 0; a-- {
		if c.Shape[a] > 1 {
			strides[slices.Index(wLabels, labels[a])] = step
		}
		step *= c.Shape[a]
	}
	out := &onnx.Tensor{Shape: w.Shape, Real: make([]float32, w.Len())}
	parallel.For(len(out.Real), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, rest := 0, i
			for a := len(w.Shape) - 1; a >= 0; a-- {
				at += rest % w.Shape[a] * strides[a]
				rest /= w.Shape[a]
			}
			out.Real[i] = float32(w.At(i) * c.At(at))
		}
	})
	return out
}

// multiplied returns the product of two constants that repeat along each other.
func multiplied(a, b *onnx.Tensor) *onnx.Tensor {
	_, _, shape := elementwise(a.Shape, b.Shape)
	out := &onnx.Tensor{Shape: shape, Real: make([]float32, graph.Elements(shape))}
	for i := range out.Real {
		out.Real[i] = float32(a.At(repeatedIndex(i, shape, a.Shape)) * b.At(repeatedIndex(i, shape, b.Shape)))
	}
	return out
}

// repeatedIndex returns where element i of a tensor of the given shape comes from in one that repeats to it.
func repeatedIndex(i int, shape, from []int) int {
	at, step := 0, 1
	for a := len(shape) - 1; a >= 0; a-- {
		if k := a - len(shape) + len(from); k >= 0 {
			if from[k] > 1 {
				at += i % shape[a] * step
			}
			step *= from[k]
		}
		i /= shape[a]
	}
	return at
}

// alignedLabels labels an element-wise product of two computed tensors.
func (l *lowering) alignedLabels(n *onnx.Node, x, y int) [3][]uint8 {
	labels, _, _ := elementwise(l.shapeOf(x), l.shapeOf(y))
	return labels
}

// visitEinsum multiplies with weights, or two computed tensors, or sums.
func (l *lowering) visitEinsum(n *onnx.Node) error {
	a := n.Attr.Labels
	if len(n.Inputs) == 1 {
		x, err := l.ints(n.Inputs[0])
		if err != nil {
			return err
		}
		id := l.einsum(l.name(n.Output)+".total", x.id, graph.None, a[0], nil, a[1], x.scale)
		return l.set(n.Output, addend(codes{id, x.scale}, l.shapeOf(n.Output), n.Output))
	}
	x, y := n.Inputs[0], n.Inputs[1]
	labels := [3][]uint8{a[0], a[1], a[2]}
	if l.constant(x) != nil {
		x, y = y, x
		labels[0], labels[1] = labels[1], labels[0]
	}
	w := l.constant(y)
	if w == nil {
		return l.product(n, x, y, labels)
	}
	k := 1
	for i, lb := range labels[0] {
		if !slices.Contains(labels[2], lb) {
			k *= l.shapeOf(x)[i]
		}
	}
	if p, ok := l.embedded[y]; ok {
		if done, err := l.tied(n, x, p, labels, k); done || err != nil {
			return err
		}
	}
	if f, ok := l.absorbed(x, w, labels, l.name(y), n.Output); ok {
		return l.set(n.Output, f)
	}
	c, err := l.operand(x, k, int64(1)<<(l.o.WeightBits-1))
	if err != nil {
		return err
	}
	t := term{x: c, w: w, name: l.name(y), labels: labels, c: 1, shape: l.shapeOf(n.Output)}
	return l.set(n.Output, &form{shape: t.shape, terms: l.parted(t)})
}

// tied multiplies with the codes of a table that rows are selected of, if bounds allow: one parameter for both, which is what a language
// model's words and logits take most of.
func (l *lowering) tied(n *onnx.Node, x int, p codes, labels [3][]uint8, k int) (bool, error) {
	c, err := l.ints(x)
	if err != nil {
		return false, err
	}
	fits := func(m int64) bool { return float64(m)*float64(l.magnitude(p.id))*float64(k) < productLimit }
	if !fits(l.magnitude(c.id)) { // one more lookup of the operand is nothing beside another table
		bits := l.o.ActivationBits
		for bits > tiedBits && !fits(1<<(bits-1)-1) {
			bits--
		}
		if !fits(1<<(bits-1) - 1) {
			return false, nil
		}
		if c, err = l.narrowed(x, bits); err != nil || !fits(l.magnitude(c.id)) {
			return false, err
		}
	}
	scale := c.scale * p.scale
	id := l.einsum(l.name(n.Output)+".product", c.id, p.id, labels[0], labels[1], labels[2], scale)
	return true, l.set(n.Output, addend(codes{id, scale}, l.shapeOf(n.Output), n.Output))
}

// tiedBits is the least width of operands of a table that rows are selected of.
const tiedBits = 8

// operand returns a value's integers for products with others of the given greatest size, k of which are summed: as wide as they are if
// bounds allow, otherwise in the width of activations.
func (l *lowering) operand(v, k int, other int64) (codes, error) {
	c, err := l.ints(v)
	if err != nil {
		return c, err
	}
	if m := l.magnitude(c.id); m < 1<<l.o.ActivationBits || float64(m)*float64(k)*float64(other) < graph.BoundLimit/2 {
		return c, nil
	}
	return l.narrowed(v, l.o.ActivationBits)
}

// product multiplies two computed tensors and sums.
func (l *lowering) product(n *onnx.Node, x, y int, labels [3][]uint8) error {
	k := 1
	squeezed := len(labels[0]) != len(l.shapeOf(x)) || len(labels[1]) != len(l.shapeOf(y))
	if !squeezed {
		for i, lb := range labels[0] {
			if !slices.Contains(labels[2], lb) {
				k *= l.shapeOf(x)[i]
			}
		}
	}
	a, err := l.ints(x)
	if err != nil {
		return err
	}
	b, err := l.ints(y)
	if err != nil {
		return err
	}
	// The wider one is narrowed first.
	for range 2 {
		ma, mb := l.magnitude(a.id), l.magnitude(b.id)
		if float64(ma)*float64(mb)*float64(k) < graph.BoundLimit/2 {
			break
		}
		if ma >= mb {
			a, err = l.narrowed(x, min(l.o.ActivationBits, scoreBits))
		} else {
			b, err = l.narrowed(y, min(l.o.ActivationBits, scoreBits))
		}
		if err != nil {
			return err
		}
	}
	name := l.name(n.Output)
	if squeezed {
		kept, _ := squeeze(l.shapeOf(x), len(l.shapeOf(x)))
		a.id = l.reshape(name+".left", a.id, kept)
		kept, _ = squeeze(l.shapeOf(y), len(l.shapeOf(y)))
		b.id = l.reshape(name+".right", b.id, kept)
	}
	scale := float64(a.scale * b.scale)
	id := l.einsum(name+".product", a.id, b.id, labels[0], labels[1], labels[2], scale)
	id = l.reshape(name+".shaped", id, l.shapeOf(n.Output))
	if err := l.Err(); err != nil {
		return err
	}
	return l.set(n.Output, addend(codes{id, scale}, l.shapeOf(n.Output), n.Output))
}

// absorbed multiplies with weights a sum that is itself only a tensor times constants along axes, plus constants: these are taken into the
// weights, so that the sum needs no integers.
func (l *lowering) absorbed(x int, w *onnx.Tensor, labels [3][]uint8, name string, out int) (*form, bool) {
	f := l.values[x].form
	if f == nil || len(l.values[x].ints) > 0 || f.isHeavy() || l.values[x].final {
		return nil, false
	}
	shape := l.shapeOf(x)
	sum := &form{shape: l.shapeOf(out)}
	tensors := 0
	for _, t := range f.terms {
		if !t.isConstant() && l.magnitude(t.x.id) > 1<<l.o.ActivationBits { // a product that waits for its lookup
			return nil, false
		}
		if t.isAddend() && slices.Equal(t.shape, shape) {
			tensors++
			sum.terms = append(sum.terms, l.parted(term{x: t.x, w: w, name: name, labels: labels, c: t.c, shape: sum.shape})...)
			continue
		}
		// Constants must lie along axes that the weights have.
		cl := labels[0][len(labels[0])-min(len(t.shape), len(shape)):]
		if len(t.shape) > len(shape) {
			return nil, false
		}
		if t.isConstant() {
			for i, n := range t.w.Shape {
				if n > 1 && !slices.Contains(labels[1], cl[i]) {
					return nil, false
				}
			}
			k, ok := contracted(w, labels, t.w, cl, shape)
			if !ok {
				return nil, false
			}
			sum.terms = append(sum.terms, term{x: codes{id: graph.None}, w: k, name: t.name + "." + name, c: t.c, shape: k.Shape})
			continue
		}
		if !t.along || !slices.Equal(t.shape, shape) || len(t.labels[0]) != len(t.labels[2]) {
			return nil, false
		}
		// An element-wise product: its constants have labels that are axes of the shape.
		dims := make([]int, len(shape))
		var scaleShape []int
		for i := range dims {
			dims[i] = 1
			if slices.Contains(t.labels[1], uint8(i)) {
				dims[i] = shape[i]
				if !slices.Contains(labels[1], labels[0][i]) {
					return nil, false
				}
			}
			scaleShape = append(scaleShape, dims[i])
		}
		tensors++
		scaled := scaledBy(w, labels[1], &onnx.Tensor{Shape: scaleShape, Real: t.w.Real, Ints: t.w.Ints}, labels[0])
		id := l.reshape(l.name(x)+".operand", t.x.id, shape)
		sum.terms = append(sum.terms, l.parted(term{x: codes{id, t.x.scale}, w: scaled, name: name, labels: labels, c: t.c, shape: sum.shape})...)
	}
	if tensors != 1 {
		return nil, false
	}
	return sum, true
}

// contracted is the product of constants, repeated to the operand's shape, with weights: a constant of the result's shape with axes of length
// 1 where it is the same for all.
func contracted(w *onnx.Tensor, labels [3][]uint8, c *onnx.Tensor, cl []uint8, shape []int) (*onnx.Tensor, bool) {
	repeat := 1.0 // summed axes that only the operand has do not exist: every summed label is in both
	scaled := scaledBy(w, labels[1], c, cl)
	outShape := make([]int, len(labels[2]))
	strides := make([]int, len(labels[1]))
	step := 1
	for a := len(labels[2]) - 1; a >= 0; a-- {
		outShape[a] = 1
		if k := slices.Index(labels[1], labels[2][a]); k >= 0 {
			outShape[a] = w.Shape[k]
			strides[k] = step
			step *= w.Shape[k]
		}
	}
	sums := make([]float64, step)
	for i := range scaled.Len() {
		at, rest := 0, i
		for a := len(w.Shape) - 1; a >= 0; a-- {
			at += rest % w.Shape[a] * strides[a]
			rest /= w.Shape[a]
		}
		sums[at] += float64(repeat * scaled.At(i))
	}
	out := &onnx.Tensor{Shape: outShape, Real: make([]float32, len(sums))}
	for i, v := range sums {
		out.Real[i] = float32(v)
	}
	return out, true
}

// visitClip is a maximum or minimum with one constant; others were rewritten before.
func (l *lowering) visitClip(n *onnx.Node) error {
	x, y := n.Inputs[0], n.Inputs[1]
	if l.constant(x) != nil {
		x, y = y, x
	}
	w := l.constant(y)
	if w == nil || w.Len() != 1 || !slices.Equal(l.shapeOf(x), l.shapeOf(n.Output)) {
		return fmt.Errorf("%w: operation %s of these operands", onnx.ErrUnsupported, n.Op)
	}
	u := unary{fn: onnx.FuncClip, a: math.Inf(-1), b: math.Inf(1)}
	if n.Op == onnx.OpMax {
		u.a = w.At(0)
	} else {
		u.b = w.At(0)
	}
	if u.a == 0 && n.Op == onnx.OpMax {
		u = unary{fn: onnx.FuncRelu}
	}
	f, err := l.chain(x)
	if err != nil {
		return err
	}
	return l.set(n.Output, f.then(u))
}
