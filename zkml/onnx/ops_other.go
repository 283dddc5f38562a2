package onnx

import (
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// unary translates Relu, Sigmoid and Tanh.
func (t *translation) unary() error {
	if err := t.real(0); err != nil {
		return err
	}
	return t.emit(slices.Clone(t.inputs), slices.Clone(t.value(0).Shape), Attr{}, false)
}

// clip translates both forms of Clip: limits as attributes before operator set 11, as inputs since.
func (t *translation) clip() error {
	if err := t.real(0); err != nil {
		return err
	}
	// The defaults of the attribute form are the extremes of float32; nothing a float32 model computes lies beyond them.
	attr := Attr{Lo: math.Inf(-1), Hi: math.Inf(1)}
	if t.opset() < 11 {
		if len(t.inputs) > 1 {
			return malformed("%s: limits as inputs exist from operator set 11 on", t.label)
		}
		attr.Lo, attr.Hi = t.attrs.float("min", attr.Lo), t.attrs.float("max", attr.Hi)
	} else {
		for k, limit := range []*float64{&attr.Lo, &attr.Hi} {
			if !t.present(k + 1) {
				continue
			}
			v := t.value(k + 1)
			if v.Const == nil || v.Int || v.Const.Len() != 1 {
				return t.unsupported("the limit %s is not a constant real number", t.inputName(k+1))
			}
			*limit = v.Const.Real[0]
		}
	}
	if !(attr.Lo <= attr.Hi) {
		return t.unsupported("limits [%g, %g] are empty", attr.Lo, attr.Hi)
	}
	return t.emit(t.inputs[:1:1], slices.Clone(t.value(0).Shape), attr, false)
}

// axis reads an axis attribute; limit is one more than the largest allowed value, negative values count from the rank.
func (t *translation) axis(otherwise int64, limit int, negative bool) (int, error) {
	axis, rank := t.attrs.int("axis", otherwise), int64(len(t.value(0).Shape))
	given := axis
	if axis < 0 && negative {
		axis += rank
	}
	if axis < 0 || axis >= int64(limit) {
		return 0, malformed("%s: attribute %q is %d, the input has rank %d", t.label, "axis", given, rank)
	}
	return int(axis), nil
}

// reshaped emits a node that only changes the shape, or re-shapes a constant.
func (t *translation) reshaped(shape []int) error {
	v := t.value(0)
	if v.Const != nil {
		c := *v.Const
		c.Shape = shape
		_, err := t.im.define(t.proto.Output[0], Value{Shape: shape, Const: &c, Int: v.Int})
		return err
	}
	return t.emit(t.inputs[:1:1], shape, Attr{}, v.Int)
}

func (t *translation) flatten() error {
	v := t.value(0)
	axis, err := t.axis(1, len(v.Shape)+1, t.opset() >= 11)
	if err != nil {
		return err
	}
	return t.reshaped([]int{elements(v.Shape[:axis]), elements(v.Shape[axis:])})
}

func (t *translation) reshape() error {
	allowZero := false
	if t.opset() >= 14 {
		allowZero = t.attrs.flag("allowzero", false)
	}
	v, target := t.value(0), t.value(1)
	if target.Const == nil || !target.Int || len(target.Shape) != 1 {
		return t.unsupported("the shape %s is not a constant list of integers", t.inputName(1))
	}
	dims := slices.Clone(target.Const.Ints)
	known, infer := int64(1), -1
	for i, d := range dims {
		switch {
		case d == 0 && !allowZero && i < len(v.Shape):
			dims[i] = int64(v.Shape[i])
		case d == 0:
			return t.unsupported("shape %v: axis %d would be empty or has nothing to copy from %v", target.Const.Ints, i, v.Shape)
		case d == -1 && infer < 0:
			infer = i
			continue
		case d < 0 || d > maxElements:
			return malformed("%s: shape %v is not possible", t.label, target.Const.Ints)
		}
		if known *= dims[i]; known > maxElements {
			return malformed("%s: shape %v does not fit %v", t.label, target.Const.Ints, v.Shape)
		}
	}
	if infer >= 0 {
		dims[infer] = int64(elements(v.Shape)) / known
		known *= dims[infer]
	}
	if known != int64(elements(v.Shape)) {
		return malformed("%s: shape %v does not fit %v", t.label, target.Const.Ints, v.Shape)
	}
	shape, err := checkShape(dims, t.label+": the new shape")
	if err != nil {
		return err
	}
	return t.reshaped(shape)
}

func (t *translation) identity() error { return t.alias() }

// cast accepts conversions between real types, which change nothing here, and of constants from integers to real numbers.
func (t *translation) cast() error {
	if !t.attrs.has("to") {
		return malformed("%s: attribute %q is missing", t.label, "to")
	}
	to := t.attrs.int("to", 0)
	if t.opset() >= 19 {
		t.attrs.flag("saturate", true) // concerns 8-bit floats, which are refused
	}
	if to < 0 || to > math.MaxInt32 || !isReal(int32(to)) {
		return t.unsupported("attribute %q asks for type %d (%s), expected a float type", "to", to, onnxpb.TensorProto_DataType(int32(min(max(to, 0), math.MaxInt32))))
	}
	v := t.value(0)
	if !v.Int {
		return t.alias()
	}
	if v.Const == nil {
		return t.unsupported("conversion of the computed integers %s", t.inputName(0))
	}
	c := &Tensor{Shape: v.Shape, Real: make([]float64, len(v.Const.Ints))}
	for i, n := range v.Const.Ints {
		c.Real[i] = float64(n)
	}
	_, err := t.im.define(t.proto.Output[0], Value{Shape: v.Shape, Const: c})
	return err
}

// dropout is the identity outside training; its mask may be named but not used.
func (t *translation) dropout() error {
	if t.opset() < 12 {
		if len(t.inputs) > 1 {
			return malformed("%s: a ratio as input exists from operator set 12 on", t.label)
		}
		t.attrs.float("ratio", 0.5)
	} else {
		t.attrs.int("seed", 0)
	}
	if t.present(1) && (t.value(1).Const == nil || t.value(1).Int) {
		return t.unsupported("the ratio %s is not a constant real number", t.inputName(1))
	}
	if t.present(2) {
		return t.unsupported("the input %s (training_mode) is given; export the model for inference", t.inputName(2))
	}
	if len(t.proto.Output) > 1 && t.proto.Output[1] != "" {
		t.im.masks[t.proto.Output[1]] = t.label
	}
	return t.alias()
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
	switch p.Name {
	case "value":
		if t.attrs.take("value", onnxpb.AttributeProto_TENSOR) == nil {
			break // done reports the type
		}
		var err error
		if c, err = decodeTensor(p.T, t.label+": the value"); err != nil {
			return err
		}
	case "value_float":
		t.attrs.take(p.Name, onnxpb.AttributeProto_FLOAT)
		c = &Tensor{Shape: []int{}, Real: []float64{float64(p.F)}}
	case "value_floats":
		t.attrs.take(p.Name, onnxpb.AttributeProto_FLOATS)
		c = &Tensor{Shape: []int{len(p.Floats)}, Real: make([]float64, len(p.Floats))}
		for i, v := range p.Floats {
			c.Real[i] = float64(v)
		}
	case "value_int":
		t.attrs.take(p.Name, onnxpb.AttributeProto_INT)
		c = &Tensor{Shape: []int{}, Ints: []int64{p.I}}
	case "value_ints":
		t.attrs.take(p.Name, onnxpb.AttributeProto_INTS)
		c = &Tensor{Shape: []int{len(p.Ints)}, Ints: slices.Clone(p.Ints)}
	default:
		return t.unsupported("a constant given by attribute %s", Quote(p.Name))
	}
	if t.attrs.err != nil {
		return t.attrs.err
	}
	if c.Len() == 0 {
		return t.unsupported("an empty constant")
	}
	if slices.ContainsFunc(c.Real, math.IsNaN) {
		return t.unsupported("a constant that is NaN")
	}
	t.im.given += c.Len()
	_, err := t.im.define(t.proto.Output[0], Value{Shape: c.Shape, Const: c, Int: c.Ints != nil})
	return err
}

// softmax translates both meanings: along one axis since operator set 13, over all axes from one on before.
func (t *translation) softmax() error {
	if err := t.real(0); err != nil {
		return err
	}
	rank := len(t.value(0).Shape)
	otherwise, span := int64(-1), 1
	if t.opset() < 13 {
		otherwise = 1
	}
	axis, err := t.axis(otherwise, rank, t.opset() >= 11)
	if err != nil {
		return err
	}
	if t.opset() < 13 {
		span = rank - axis
	}
	return t.emit(slices.Clone(t.inputs), slices.Clone(t.value(0).Shape), Attr{Axis: axis, Span: span}, false)
}

func (t *translation) argMax() error {
	if err := t.real(0); err != nil {
		return err
	}
	axis, err := t.axis(0, len(t.value(0).Shape), t.opset() >= 11)
	if err != nil {
		return err
	}
	attr := Attr{Axis: axis, Span: 1, KeepDims: t.attrs.flag("keepdims", true)}
	if t.opset() >= 12 {
		attr.Last = t.attrs.flag("select_last_index", false)
	}
	shape := slices.Clone(t.value(0).Shape)
	if attr.KeepDims {
		shape[axis] = 1
	} else {
		shape = slices.Delete(shape, axis, axis+1)
	}
	return t.emit(slices.Clone(t.inputs), shape, attr, true)
}
