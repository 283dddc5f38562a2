package onnx

import (
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// constantTable holds operators that make or convert constants.
var constantTable = map[string]operator{
	"Constant":        {0, 0, 1, (*translation).constant},
	"ConstantOfShape": {1, 1, 1, (*translation).constantOfShape},
	"EyeLike":         {1, 1, 1, (*translation).eyeLike},
	"Range":           {3, 3, 1, (*translation).rangeOf},
	"Shape":           {1, 1, 1, (*translation).shapeOf},
	"Size":            {1, 1, 1, (*translation).sizeOf},
	"CumSum":          {2, 2, 1, (*translation).cumSum},
	"OneHot":          {3, 3, 1, (*translation).oneHot},
	"NonZero":         {1, 1, 1, (*translation).nonZero},
	"Cast":            {1, 1, 1, (*translation).cast},
	"CastLike":        {2, 2, 1, (*translation).castLike},
}

// constant reads the one attribute that holds the value.
func (t *translation) constant() error {
	if len(t.proto.Attribute) != 1 {
		return malformed("%s: %d attributes, expected one that holds the value", t.label, len(t.proto.Attribute))
	}
	p := t.proto.Attribute[0]
	if p.Name != "value" && t.opset() < 12 {
		return t.unsupported("attribute %s in operator set %d, expected \"value\"", Quote(p.Name), t.opset())
	}
	var c *Tensor
	kind := int32(onnxpb.TensorProto_FLOAT)
	switch p.Name {
	case "value":
		if t.attrs.take("value", onnxpb.AttributeProto_TENSOR) == nil {
			break // the error below reports the type
		}
		var err error
		if c, err = t.im.decode(p.T, t.label+": the value"); err != nil {
			return err
		}
		kind = p.T.DataType
	case "value_float":
		t.attrs.take(p.Name, onnxpb.AttributeProto_FLOAT)
		c = &Tensor{Shape: []int{}, Real: []float32{p.F}}
	case "value_floats":
		t.attrs.take(p.Name, onnxpb.AttributeProto_FLOATS)
		c = &Tensor{Shape: []int{len(p.Floats)}, Real: append([]float32{}, p.Floats...)}
	case "value_int":
		t.attrs.take(p.Name, onnxpb.AttributeProto_INT)
		c, kind = &Tensor{Shape: []int{}, Ints: []int64{p.I}}, int32(onnxpb.TensorProto_INT64)
	case "value_ints":
		t.attrs.take(p.Name, onnxpb.AttributeProto_INTS)
		c, kind = &Tensor{Shape: []int{len(p.Ints)}, Ints: append([]int64{}, p.Ints...)}, int32(onnxpb.TensorProto_INT64)
	default:
		return t.unsupported("a constant given by attribute %s", Quote(p.Name))
	}
	if t.attrs.err != nil {
		return t.attrs.err
	}
	if err := c.checkElements(kind, t.label+": the value"); err != nil {
		return err
	}
	t.im.given += c.Len()
	return t.result(0, t.typed(t.constTensor(c), kind))
}

// typed notes a result's element type.
func (t *translation) typed(id int, kind int32) int {
	if t.err == nil && id >= t.first {
		t.im.m.Values[id].Type = kind
	}
	return id
}

// cast converts between element types. Real types are one here, and so are integer types as long as the elements are known to fit.
func (t *translation) cast() error {
	if !t.attrs.has("to") {
		return malformed("%s: attribute %q is missing", t.label, "to")
	}
	to := t.attrs.int("to", 0)
	if t.opset() >= 19 {
		t.attrs.flag("saturate", true) // concerns 8-bit floats, which are refused
	}
	if to < 0 || to > math.MaxInt32 || !isReal(int32(to)) && !isInt(int32(to)) {
		return t.unsupported("attribute %q asks for type %d (%s), expected a float, integer or boolean type", "to", to,
			onnxpb.TensorProto_DataType(int32(min(max(to, 0), math.MaxInt32))))
	}
	return t.result(0, t.convert(t.inputs[0], int32(to)))
}

// castLike converts to the element type of another tensor.
func (t *translation) castLike() error {
	if t.opset() >= 19 {
		t.attrs.flag("saturate", true)
	}
	v := t.value(1)
	to := v.Type
	switch {
	case !v.Int:
		to = int32(onnxpb.TensorProto_FLOAT)
	case to == 0:
		return t.unsupported("the element type of %s is not known", t.inputName(1))
	}
	return t.result(0, t.convert(t.inputs[0], to))
}

// shapeOf lists the lengths of axes, which are known even where the elements are not.
func (t *translation) shapeOf() error {
	shape := t.value(0).Shape
	start, end := int64(0), int64(len(shape))
	if t.opset() >= 15 {
		start, end = t.attrs.int("start", start), t.attrs.int("end", end)
	}
	first, n := sliceRange(start, end, 1, int64(len(shape)))
	c := &Tensor{Shape: []int{n}, Ints: make([]int64, n)}
	for i := range c.Ints {
		c.Ints[i] = int64(shape[int(first)+i])
	}
	return t.result(0, t.typed(t.constTensor(c), int32(onnxpb.TensorProto_INT64)))
}

func (t *translation) sizeOf() error {
	return t.result(0, t.typed(t.integer(int64(elements(t.value(0).Shape))), int32(onnxpb.TensorProto_INT64)))
}

// constantOfShape repeats one element.
func (t *translation) constantOfShape() error {
	dims, err := t.constInts(0)
	if err != nil {
		return err
	}
	shape, err := checkShape(dims, t.label+": the shape")
	if err != nil {
		return err
	}
	value, kind := &Tensor{Real: []float32{0}}, int32(onnxpb.TensorProto_FLOAT)
	if p := t.attrs.take("value", onnxpb.AttributeProto_TENSOR); p != nil {
		if value, err = t.im.decode(p.T, t.label+": the value"); err != nil {
			return err
		}
		kind = p.T.DataType
	}
	if value.Len() != 1 {
		return t.malformed("the value has %d elements, expected 1", value.Len())
	}
	n := elements(shape)
	if err := t.charge(n); err != nil {
		return err
	}
	c := &Tensor{Shape: shape}
	if value.Ints != nil {
		c.Ints = make([]int64, n)
		for i := range c.Ints {
			c.Ints[i] = value.Ints[0]
		}
	} else {
		c.Real = make([]float32, n)
		for i := range c.Real {
			c.Real[i] = value.Real[0]
		}
	}
	return t.result(0, t.typed(t.constTensor(c), kind))
}

func (t *translation) eyeLike() error {
	shape, k := t.value(0).Shape, t.attrs.int("k", 0)
	if len(shape) != 2 {
		return t.malformed("a tensor of shape %v, expected rank 2", shape)
	}
	c := &Tensor{Shape: shape, Ints: make([]int64, elements(shape))}
	if err := t.charge(c.Len()); err != nil {
		return err
	}
	for i := range shape[0] {
		if j := int64(i) + k; j >= 0 && j < int64(shape[1]) {
			c.Ints[i*shape[1]+int(j)] = 1
		}
	}
	to := int64(onnxpb.TensorProto_FLOAT)
	if v := t.value(0); v.Int && v.Type != 0 {
		to = int64(v.Type)
	}
	to = t.attrs.int("dtype", to)
	if to < 0 || to > math.MaxInt32 || !isReal(int32(to)) && !isInt(int32(to)) {
		return t.unsupported("attribute %q is %d", "dtype", to)
	}
	return t.result(0, t.convert(t.constTensor(c), int32(to)))
}

// rangeOf lists numbers from a start to a limit.
func (t *translation) rangeOf() error {
	var v [3]*Tensor
	for k := range v {
		if v[k] = t.value(k).Const; v[k] == nil || v[k].Len() != 1 {
			return t.unsupported("input %s is not a constant number", t.inputName(k))
		}
		if t.value(k).Int != t.value(0).Int {
			return t.malformed("start, limit and step are of different types")
		}
	}
	start, limit, step := v[0].At(0), v[1].At(0), v[2].At(0)
	n := math.Ceil((limit - start) / step)
	if math.IsNaN(n) || n > maxElements {
		return t.malformed("a range from %g to %g by %g", start, limit, step)
	}
	count := int(max(n, 0))
	if err := t.charge(count); err != nil {
		return err
	}
	c := &Tensor{Shape: []int{count}}
	if t.value(0).Int {
		c.Ints = make([]int64, count)
		for i := range c.Ints {
			c.Ints[i] = v[0].Ints[0] + int64(i)*v[2].Ints[0]
		}
	} else {
		c.Real = make([]float32, count)
		for i := range c.Real {
			c.Real[i] = float32(start + float64(float64(i)*step))
		}
	}
	return t.result(0, t.typed(t.constTensor(c), t.value(0).Type))
}

// cumSum adds up along an axis: of a computed tensor by the product with a triangular matrix.
func (t *translation) cumSum() error {
	if err := t.refuseNarrow(); err != nil {
		return err
	}
	v := t.value(0)
	list, err := t.constInts(1)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return t.malformed("%d axes, expected 1", len(list))
	}
	axis, err := t.onAxis("the axis", list[0], len(v.Shape))
	if err != nil {
		return err
	}
	exclusive, reverse := t.attrs.flag("exclusive", false), t.attrs.flag("reverse", false)
	if v.Const == nil {
		return t.result(0, t.runningSum(t.inputs[0], axis, exclusive, reverse))
	}
	if err := t.charge(v.Const.Len()); err != nil {
		return err
	}
	c := v.blank(v.Const.Len())
	lanes(v.Shape, []int{axis}, func(_, start int, along []int) {
		real, whole := 0.0, int64(0)
		for i := range along {
			o := start + along[i]
			if reverse {
				o = start + along[len(along)-1-i]
			}
			if v.Int {
				if whole += v.Const.Ints[o]; exclusive {
					c.Ints[o] = whole - v.Const.Ints[o]
				} else {
					c.Ints[o] = whole
				}
				continue
			}
			if exclusive {
				c.Real[o] = float32(real)
			}
			if real += float64(v.Const.Real[o]); !exclusive {
				c.Real[o] = float32(real)
			}
		}
	})
	return t.result(0, t.typed(t.constTensor(c), v.Type))
}

func (t *translation) runningSum(x, axis int, exclusive, reverse bool) int {
	d := t.shape(x)[axis]
	if err := t.charge(d * d); err != nil {
		return t.fail(err)
	}
	triangle := t.im.m.Values[x].blank(d * d)
	triangle.Shape = []int{d, d}
	for from := range d {
		for to := range d {
			if from == to && exclusive || from != to && (from > to) != reverse {
				continue
			}
			if triangle.Ints != nil {
				triangle.Ints[from*d+to] = 1
			} else {
				triangle.Real[from*d+to] = 1
			}
		}
	}
	labels := make([]uint8, len(t.shape(x)))
	for a := range labels {
		labels[a] = uint8(a)
	}
	out := append([]uint8{}, labels...)
	out[axis] = uint8(len(labels))
	return t.einsum([][]uint8{labels, {labels[axis], out[axis]}, out}, x, t.constTensor(triangle))
}

// oneHot makes rows of a unit matrix of constant indices.
func (t *translation) oneHot() error {
	ids, depth, values := t.value(0), t.value(1), t.value(2)
	for k, v := range []*Value{ids, depth, values} {
		if v.Const == nil {
			return t.unsupported("input %s is computed, expected a constant", t.inputName(k))
		}
	}
	if depth.Const.Len() != 1 || values.Const.Len() != 2 || !(depth.Const.At(0) >= 1 && depth.Const.At(0) < maxElements) {
		return t.malformed("depth %s and values %s, expected a positive number and two numbers", t.inputName(1), t.inputName(2))
	}
	axis, err := t.onAxis("attribute \"axis\"", t.attrs.int("axis", -1), len(ids.Shape)+1)
	if err != nil {
		return err
	}
	n := int(depth.Const.At(0))
	shape := append(append(append([]int{}, ids.Shape[:axis]...), n), ids.Shape[axis:]...)
	if err := checkSize(shape); err != nil {
		return t.unsupported("a tensor with %w", err)
	}
	if err := t.charge(elements(shape)); err != nil {
		return err
	}
	inner := elements(ids.Shape[axis:])
	c := values.blank(elements(shape))
	c.Shape = shape
	for i := range c.Len() {
		at := i/(inner*n)*inner + i%inner
		id := int(ids.Const.At(at))
		if id < 0 {
			id += n
		}
		pick := 0
		if id == i/inner%n {
			pick = 1
		}
		if values.Int {
			c.Ints[i] = values.Const.Ints[pick]
		} else {
			c.Real[i] = values.Const.Real[pick]
		}
	}
	return t.result(0, t.typed(t.constTensor(c), values.Type))
}

// nonZero lists the places of a constant's elements that are not zero; of a computed tensor they depend on the data.
func (t *translation) nonZero() error {
	v := t.value(0)
	if v.Const == nil {
		return t.unsupported("the shape of its result depends on the data")
	}
	var places []int
	for i := range v.Const.Len() {
		if v.Const.At(i) != 0 {
			places = append(places, i)
		}
	}
	c := &Tensor{Shape: []int{len(v.Shape), len(places)}, Ints: make([]int64, len(v.Shape)*len(places))}
	if err := t.charge(c.Len()); err != nil {
		return err
	}
	for k, p := range places {
		for a := len(v.Shape) - 1; a >= 0; a-- {
			c.Ints[a*len(places)+k] = int64(p % v.Shape[a])
			p /= v.Shape[a]
		}
	}
	return t.result(0, t.typed(t.constTensor(c), int32(onnxpb.TensorProto_INT64)))
}

// convert returns a value in another element type.
func (t *translation) convert(x int, to int32) int {
	v := &t.im.m.Values[x]
	switch {
	case v.Const != nil:
		c, err := convertConstant(v.Const, to)
		if err == nil {
			err = t.charge(c.Len())
		}
		if err != nil {
			return t.fail(t.unsupported("%w", err))
		}
		return t.typed(t.constTensor(c), to)
	case isReal(to) && v.Int:
		return t.typed(t.toReal(x), to)
	case isReal(to):
		return x
	}
	b, _ := intRange(to)
	if !v.isWhole() || v.Lo < b.lo || v.Hi > b.hi {
		return t.fail(t.unsupported("conversion of the computed tensor %s to %s", Quote(v.Name), typeName(to)))
	}
	switch {
	case v.Int && v.Type != to && (narrow(v.Type) || narrow(to)): // from here on arithmetic is another one
		return t.typed(t.emit(OpReshape, Attr{Shape: slices.Clone(v.Shape)}, x), to)
	case v.Int:
		return x
	}
	return t.typed(t.quantise(x, Attr{Scale: []float32{1}, Zero: []int64{0}, Lo: v.Lo, Hi: max(v.Hi, v.Lo+1)}), to)
}
