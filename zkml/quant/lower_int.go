package quant

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Integers of the model (codes of quantised files, token numbers, masks) stay what they are: each operation on them is the program's own,
// exactly, and tensors have scale 1.

// exact returns the integers of a value that has them by nature.
func (l *lowering) exact(v int) (graph.TensorID, error) {
	x := &l.values[v]
	if len(x.ints) == 0 || x.ints[0].scale != 1 {
		return graph.None, fmt.Errorf("tensor %s: %w", onnx.Quote(l.m.Values[v].Name), errNoIntegers)
	}
	return x.ints[0].id, nil
}

// exactParam adds constants as they are.
func (l *lowering) exactParam(v int, shape []int) (graph.TensorID, error) {
	w := l.constant(v)
	data := make([]int32, w.Len())
	for i := range data {
		r, err := round(w.At(i))
		if err != nil {
			return graph.None, fmt.Errorf("constant %s, element %d: %w", onnx.Quote(l.m.Values[v].Name), i, err)
		}
		data[i] = int32(r)
	}
	return l.b.Param(l.name(v), shape, data, 1), nil
}

// exactOperand is a computed value's integers or a constant's parameter.
func (l *lowering) exactOperand(v int) (graph.TensorID, error) {
	if l.constant(v) != nil {
		return l.exactParam(v, l.shapeOf(v))
	}
	return l.exact(v)
}

// visitInt emits an operation on integers.
func (l *lowering) visitInt(n *onnx.Node) error {
	name, shape := l.name(n.Output), l.shapeOf(n.Output)
	switch n.Op {
	case onnx.OpQuantise:
		return l.visitQuantise(n)
	case onnx.OpArgMax:
		x, err := l.ints(n.Inputs[0])
		if err != nil {
			return err
		}
		id := l.argMax(name+".argmax", x.id, n.Attr.Axis, n.Attr.Last)
		return l.give(n.Output, codes{l.reshape(name, id, shape), 1})
	case onnx.OpDequantise: // to whole numbers, or it would not be here
		return l.visitDequantise(n)
	}
	in := make([]graph.TensorID, len(n.Inputs))
	for i, v := range n.Inputs {
		if l.constant(v) != nil && n.Op != onnx.OpEinsum && n.Op != onnx.OpAdd && n.Op != onnx.OpSub {
			in[i] = graph.None // handled below
			continue
		}
		var err error
		if in[i], err = l.exactOperand(v); err != nil {
			return err
		}
	}
	var id graph.TensorID
	switch n.Op {
	case onnx.OpEinsum:
		a := n.Attr.Labels
		if len(in) == 1 {
			id = l.einsum(name, in[0], graph.None, a[0], nil, a[1], 1)
		} else {
			id = l.einsum(name, in[0], in[1], a[0], a[1], a[2], 1)
		}
	case onnx.OpAdd, onnx.OpSub:
		sign := int64(1)
		if n.Op == onnx.OpSub {
			sign = -1
		}
		c, err := l.linear(name, []graph.Term{{Coef: 1, T: in[0]}, {Coef: sign, T: in[1]}}, shape, 1)
		if err != nil {
			return err
		}
		id = c.id
	case onnx.OpMul:
		return l.mulInt(n)
	case onnx.OpMin, onnx.OpMax:
		return l.maxInt(n)
	case onnx.OpRearrange:
		id = l.rearrange(name, in[0], n, int64(n.Attr.Fill))
	case onnx.OpReshape:
		id = l.b.Reshape(name, in[0], shape)
	case onnx.OpReduceSum:
		id = l.sum(name, codes{in[0], 1}, n.Attr.Axes).id
	case onnx.OpReduceMax:
		x := codes{in[0], 1}
		for _, a := range slices.Backward(n.Attr.Axes) {
			x = l.max(fmt.Sprintf("%s.axis%d", name, a), x, a)
		}
		id = x.id
	case onnx.OpConcat:
		return l.concatInt(n)
	case onnx.OpEmbed:
		return l.embedInt(n)
	case onnx.OpTable:
		return l.tableInt(n)
	case onnx.OpSelect:
		return l.selectInt(n)
	default:
		return fmt.Errorf("%w: operation %s of integers", onnx.ErrUnsupported, n.Op)
	}
	return l.give(n.Output, codes{id, 1})
}

// embedInt selects rows of a table of integers.
func (l *lowering) embedInt(n *onnx.Node) error {
	tokens, w := &l.values[n.Inputs[0]], l.constant(n.Inputs[1])
	if !tokens.input || w == nil || len(w.Shape) != 2 {
		return fmt.Errorf("%w: rows are selected by a computed tensor, expected an input of the model", onnx.ErrUnsupported)
	}
	p, err := l.exactParam(n.Inputs[1], w.Shape)
	if err != nil {
		return err
	}
	return l.give(n.Output, codes{l.b.Embed(l.name(n.Output), tokens.ints[0].id, p, 1), 1})
}

// selectInt is x where the mask is 1 and c where it is 0: x m + c - c m.
func (l *lowering) selectInt(n *onnx.Node) error {
	name, shape := l.name(n.Output), l.shapeOf(n.Output)
	part := func(suffix string, v int) (graph.TensorID, error) { // v times the mask
		c, m := l.constant(v), n.Inputs[1]
		var w int
		switch mask := l.constant(m); {
		case c == nil && mask == nil:
			x, err := l.exact(v)
			if err != nil {
				return graph.None, err
			}
			b, err := l.exact(m)
			if err != nil {
				return graph.None, err
			}
			return l.pairwise(name+suffix, codes{x, 1}, codes{b, 1}).id, nil
		case c != nil && mask != nil:
			data, err := quantise(multiplied(c, mask), 1)
			if err != nil {
				return graph.None, err
			}
			return l.b.Param(name+suffix, multiplied(c, mask).Shape, data, 1), nil
		case c != nil:
			v, w = m, v
		default: // constants of the mask
			w = m
		}
		x, err := l.exact(v)
		if err != nil {
			return graph.None, err
		}
		return l.weightedInt(name+suffix, x, l.shapeOf(v), w)
	}
	kept, err := part(".kept", n.Inputs[0])
	if err != nil {
		return err
	}
	hidden, err := part(".hidden", n.Inputs[2])
	if err != nil {
		return err
	}
	c, err := l.exactOperand(n.Inputs[2])
	if err != nil {
		return err
	}
	out, err := l.linear(name, []graph.Term{{Coef: 1, T: kept}, {Coef: 1, T: c}, {Coef: -1, T: hidden}}, shape, 1)
	if err != nil {
		return err
	}
	return l.give(n.Output, out)
}

// weightedInt is the element-wise product of a tensor and constants.
func (l *lowering) weightedInt(name string, x graph.TensorID, shape []int, w int) (graph.TensorID, error) {
	labels, wShape, out := elementwise(shape, l.shapeOf(w))
	p, err := l.exactParam(w, wShape)
	if err != nil {
		return graph.None, err
	}
	kept, _ := squeeze(shape, len(shape))
	id := l.einsum(name, l.reshape(name+".left", x, kept), p, labels[0], labels[1], labels[2], 1)
	return l.reshape(name+".shaped", id, out), l.Err()
}

// mulInt is an element-wise product.
func (l *lowering) mulInt(n *onnx.Node) error {
	x, y := n.Inputs[0], n.Inputs[1]
	if l.constant(x) != nil {
		x, y = y, x
	}
	a, err := l.exact(x)
	if err != nil {
		return err
	}
	name := l.name(n.Output)
	if l.constant(y) != nil {
		id, err := l.weightedInt(name, a, l.shapeOf(x), y)
		if err != nil {
			return err
		}
		return l.give(n.Output, codes{id, 1})
	}
	b, err := l.exact(y)
	if err != nil {
		return err
	}
	return l.give(n.Output, l.pairwise(name, codes{a, 1}, codes{b, 1}))
}

// maxInt is an element-wise maximum or minimum: a table of one operand beside a constant, of two otherwise.
func (l *lowering) maxInt(n *onnx.Node) error {
	x, y := n.Inputs[0], n.Inputs[1]
	if l.constant(x) != nil {
		x, y = y, x
	}
	f, key := func(a, b int64) int64 { return max(a, b) }, "max"
	if n.Op == onnx.OpMin {
		f, key = func(a, b int64) int64 { return min(a, b) }, "min"
	}
	name, shape := l.name(n.Output), l.shapeOf(n.Output)
	a, err := l.exact(x)
	if err != nil {
		return err
	}
	a = l.expand(name+".left", a, shape)
	if w := l.constant(y); w != nil {
		if w.Len() != 1 {
			return fmt.Errorf("%w: %s of integers and a constant of %d elements", onnx.ErrUnsupported, n.Op, w.Len())
		}
		c := int64(w.At(0))
		return l.give(n.Output, codes{l.apply(name, a, function{fmt.Sprintf("%s %d", key, c), key, 0, func(q int64) int64 { return f(q, c) }}, 1), 1})
	}
	b, err := l.exact(y)
	if err != nil {
		return err
	}
	b = l.expand(name+".right", b, shape)
	if l.bitsOf(a)+l.bitsOf(b) > graph.MaxTableBits { // b + relu(a - b) or a - relu(a - b)
		above := l.b.Linear(name+".above", []graph.Term{{Coef: 1, T: a}, {Coef: -1, T: b}}, 0, 1)
		excess := l.apply(name+".excess", above, function{"relu", "relu", 0, func(q int64) int64 { return max(q, 0) }}, 1)
		base, sign := b, int64(1)
		if n.Op == onnx.OpMin {
			base, sign = a, -1
		}
		return l.give(n.Output, codes{l.b.Linear(name, []graph.Term{{Coef: 1, T: base}, {Coef: sign, T: excess}}, 0, 1), 1})
	}
	id, err := l.pair(name, key, a, b, f)
	if err != nil {
		return err
	}
	return l.give(n.Output, codes{id, 1})
}

// tableInt is a function of one or two integers that the model gives by its values.
func (l *lowering) tableInt(n *onnx.Node) error {
	t, name, shape := n.Attr.Table, l.name(n.Output), l.shapeOf(n.Output)
	at := func(k int, v int64) int { // values that bounds allow and the model excludes count as the nearest
		return int(min(max(v-t.Lo[k], 0), int64(t.Size[k]-1)))
	}
	digest := sha256.New()
	for _, y := range t.Y {
		digest.Write([]byte{byte(y), byte(y >> 8), byte(y >> 16), byte(y >> 24)})
	}
	key := fmt.Sprintf("table %x", digest.Sum(nil)[:12])
	if len(n.Inputs) == 1 {
		x, err := l.exact(n.Inputs[0])
		if err != nil {
			return err
		}
		return l.give(n.Output, codes{l.apply(name, x, function{key, "table", 0, func(q int64) int64 { return int64(t.Y[at(0, q)]) }}, 1), 1})
	}
	var in [2]graph.TensorID
	for k, v := range n.Inputs {
		if w := l.constant(v); w != nil {
			full := &onnx.Tensor{Shape: shape, Ints: make([]int64, graph.Elements(shape))}
			for i := range full.Ints {
				full.Ints[i] = w.Ints[repeatedIndex(i, shape, w.Shape)]
			}
			data, err := quantise(full, 1)
			if err != nil {
				return err
			}
			in[k] = l.b.Param(l.name(v), shape, data, 1)
			continue
		}
		x, err := l.exact(v)
		if err != nil {
			return err
		}
		in[k] = l.expand(suffixed(name, ".operand", k), x, shape)
	}
	id, err := l.pair(name, key, in[0], in[1], func(a, b int64) int64 { return int64(t.Y[at(0, a)*t.Size[1]+at(1, b)]) })
	if err != nil {
		return err
	}
	return l.give(n.Output, codes{id, 1})
}

// pair looks up a function of two tensors of one shape; each is moved to lie around zero if its table is smaller for it.
func (l *lowering) pair(name, key string, a, b graph.TensorID, f func(a, b int64) int64) (graph.TensorID, error) {
	if err := l.Err(); err != nil {
		return graph.None, err
	}
	a, aBits, aMoved := l.around(name+".first", a)
	b, bBits, bMoved := l.around(name+".second", b)
	if aBits+bBits > graph.MaxTableBits {
		return graph.None, fmt.Errorf("operands of %d and %d bits, expected at most %d together", aBits, bBits, graph.MaxTableBits)
	}
	key = fmt.Sprintf("%s from %d and %d", key, aMoved, bMoved)
	t := l.pairTable(key, aBits, bBits, func(p, q int64) int64 { return f(p+aMoved, q+bMoved) })
	return l.b.Pair(name, a, b, t, 1), l.Err()
}

// bitsOf is the least width of a tensor, moved to lie around zero or not.
func (l *lowering) bitsOf(x graph.TensorID) int {
	lo, hi := l.bounds(x)
	moved := (lo + hi + 1) >> 1
	return min(width(lo, hi), width(lo-moved, hi-moved))
}

// width is the least number of bits, sign included, of a domain that holds a range.
func width(lo, hi int64) int {
	bits := 1
	for lo < -1<<(bits-1) || hi >= 1<<(bits-1) {
		bits++
	}
	return bits
}

// around moves a tensor to lie around zero if that saves bits, and returns the bits and by how much it was moved.
func (l *lowering) around(name string, x graph.TensorID) (graph.TensorID, int, int64) {
	lo, hi := l.bounds(x)
	bits := width(lo, hi)
	moved := (lo + hi + 1) >> 1
	if b := width(lo-moved, hi-moved); b < bits && l.b.Tensor(x).Kind != graph.Param {
		return l.b.Linear(name, []graph.Term{{Coef: 1, T: x}}, -moved, 1), b, moved
	}
	return x, bits, 0
}

func (l *lowering) concatInt(n *onnx.Node) error {
	shape, name := l.shapeOf(n.Output), l.name(n.Output)
	var terms []graph.Term
	first := 0
	for i, v := range n.Inputs {
		if w := l.constant(v); w != nil {
			full := surrounded(w, n.Attr.Axis, first, shape)
			data, err := quantise(full, 1)
			if err != nil {
				return err
			}
			terms = append(terms, graph.Term{Coef: 1, T: l.b.Param(l.name(v), shape, data, 1)})
		} else {
			x, err := l.exact(v)
			if err != nil {
				return err
			}
			terms = append(terms, graph.Term{Coef: 1, T: l.placed(suffixed(name, ".part", i), x, n.Attr.Axis, first, shape[n.Attr.Axis])})
		}
		first += l.shapeOf(v)[n.Attr.Axis]
	}
	c, err := l.linear(name, terms, shape, 1)
	if err != nil {
		return err
	}
	// Interval arithmetic adds the parts' bounds; where that matters, a table gives the real ones.
	out := &l.m.Values[n.Output]
	if lo, hi := l.bounds(c.id); out.Hi-out.Lo < 1<<l.o.TableBits && (lo < out.Lo || hi > out.Hi) && graph.LookupBits(lo, hi, 0) <= graph.MaxTableBits {
		c.id = l.apply(name+".limited", c.id, clampTo(out.Lo, out.Hi, 0), 1)
	}
	return l.give(n.Output, c)
}

// visitDequantise makes real numbers of integers.
func (l *lowering) visitDequantise(n *onnx.Node) error {
	v := n.Inputs[0]
	x, err := l.exact(v)
	if err != nil {
		return err
	}
	a := &n.Attr
	name, shape := l.name(n.Output), l.shapeOf(n.Output)
	if l.m.Values[n.Output].Whole && len(a.Scale) == 1 && a.Scale[0] == 1 && a.Zero[0] == 0 {
		return l.give(n.Output, codes{x, 1})
	}
	x = l.moved(name+".centred", x, a, -1)
	if len(a.Scale) == 1 {
		return l.set(n.Output, addend(codes{x, 1}, shape, n.Output).scaled(float64(a.Scale[0])))
	}
	w := &onnx.Tensor{Shape: alongAxis(len(a.Scale), a.Axis, len(shape)), Real: a.Scale}
	f, ok := l.scaledForm(addend(codes{x, 1}, shape, n.Output), w, name+".scales", shape)
	if !ok {
		return fmt.Errorf("%d scales along axis %d of shape %v", len(a.Scale), a.Axis, shape)
	}
	return l.set(n.Output, f)
}

// moved adds sign times the zero points to a tensor.
func (l *lowering) moved(name string, x graph.TensorID, a *onnx.Attr, sign int64) graph.TensorID {
	if l.Err() != nil {
		return graph.None
	}
	first := a.Zero[0]
	if !slices.ContainsFunc(a.Zero, func(z int64) bool { return z != first }) {
		if first == 0 {
			return x
		}
		return l.b.Linear(name, []graph.Term{{Coef: 1, T: x}}, sign*first, 1)
	}
	z := make([]int32, len(a.Zero))
	for i, v := range a.Zero {
		z[i] = int32(v)
	}
	p := l.b.Param(name+".zeros", alongAxis(len(z), a.Axis, len(l.shape(x))), z, 1)
	return l.b.Linear(name, []graph.Term{{Coef: 1, T: x}, {Coef: sign, T: p}}, 0, 1)
}

// alongAxis is the shape of n numbers along one axis of a tensor.
func alongAxis(n, axis, rank int) []int {
	shape := slices.Repeat([]int{1}, rank)
	shape[axis] = n
	return shape[axis:]
}

// visitQuantise makes codes: of integers exactly as a float32 runtime does, of real numbers in the given scale.
func (l *lowering) visitQuantise(n *onnx.Node) error {
	a := &n.Attr
	name, shape := l.name(n.Output), l.shapeOf(n.Output)
	if l.m.Values[n.Inputs[0]].Int {
		x, err := l.exact(n.Inputs[0])
		if err != nil {
			return err
		}
		id, err := l.steps(name, x, a)
		if err != nil {
			return err
		}
		return l.give(n.Output, codes{id, 1})
	}
	if s, ok := l.coded[n.Output]; ok {
		return l.softmaxOfCodes(n, s)
	}
	f, err := l.chain(n.Inputs[0])
	if err != nil {
		return err
	}
	scale := float64(a.Scale[0])
	if len(a.Scale) > 1 {
		inverse := &onnx.Tensor{Shape: alongAxis(len(a.Scale), a.Axis, len(shape)), Real: make([]float32, len(a.Scale))}
		for i, s := range a.Scale {
			inverse.Real[i] = 1 / s
		}
		x, err := l.ints(n.Inputs[0])
		if err != nil {
			return err
		}
		var ok bool
		if f, ok = l.scaledForm(addend(x, shape, n.Inputs[0]), inverse, name+".scales", shape); !ok {
			return fmt.Errorf("%d scales along axis %d of shape %v", len(a.Scale), a.Axis, shape)
		}
		scale = 1
	}
	least, most := slices.Min(a.Zero), slices.Max(a.Zero)
	c, err := l.stage(name+".codes", n.Inputs[0], f, demand{bits: l.o.ActivationBits, scale: scale, lo: a.Lo - most, hi: a.Hi - least, even: true})
	if err != nil {
		return err
	}
	id := l.moved(name, c.id, a, 1)
	if least != most { // the codes' range depends on the channel
		id = l.apply(name+".limited", id, clampTo(a.Lo, a.Hi, 0), 1)
	}
	if l.Err() == nil && l.b.Tensor(id).Scale != 1 {
		id = l.b.Linear(name, []graph.Term{{Coef: 1, T: id}}, 0, 1)
	}
	return l.give(n.Output, codes{id, 1})
}

// steps requantises integers x to saturate(rint(float32(float32(x) * scale)) + zero), scale and zero by channel: by a table if it holds all
// x, otherwise by thresholds.
func (l *lowering) steps(name string, x graph.TensorID, a *onnx.Attr) (graph.TensorID, error) {
	if err := l.Err(); err != nil {
		return graph.None, err
	}
	for _, s := range a.Scale {
		if !(s > 0) || math.IsInf(float64(s), 0) {
			return graph.None, fmt.Errorf("multiplier %g, expected a positive number", s)
		}
	}
	code := func(ch int, x int64) int64 {
		y := math.RoundToEven(float64(float32(x)*a.Scale[ch])) + float64(a.Zero[ch])
		return int64(min(max(y, float64(a.Lo)), float64(a.Hi)))
	}
	channels := len(a.Scale)
	same := true
	for i := range a.Scale {
		same = same && a.Scale[i] == a.Scale[0] && a.Zero[i] == a.Zero[0]
	}
	axis := a.Axis
	if same {
		channels, axis = 1, -1
	}
	if l.shiftFor(x, l.o.TableBits) == 0 && same {
		key := fmt.Sprintf("requantised by %x plus %d in %d to %d", a.Scale[0], a.Zero[0], a.Lo, a.Hi)
		return l.apply(name, x, function{key, "requantise", 0, func(q int64) int64 { return code(0, q) }}, 1), l.Err()
	}
	limit := l.magnitude(x)
	values := int(a.Hi-a.Lo) + 1
	lo := make([]int32, 0, channels*(values+1))
	for ch := range channels {
		lo = append(lo, int32(-limit))
		from := -limit
		for y := a.Lo + 1; y <= a.Hi; y++ {
			// The least x whose code is at least y, or limit+1.
			low, high := from, limit+1
			for low < high {
				mid := low + (high-low)>>1
				if code(ch, mid) >= y {
					high = mid
				} else {
					low = mid + 1
				}
			}
			from = low
			lo = append(lo, int32(low))
		}
		lo = append(lo, int32(limit+1))
	}
	if rows := graph.Pow2(channels) * graph.Pow2(values); rows > 1<<graph.MaxTableBits {
		return graph.None, fmt.Errorf("%w: thresholds of %d channels with %d codes each, expected at most 2^%d in all", onnx.ErrUnsupported, channels, values, graph.MaxTableBits)
	}
	t := l.b.StepsTable(clean(name), channels, a.Lo, limit, lo)
	return l.b.Threshold(name, x, axis, t, 1), l.Err()
}
