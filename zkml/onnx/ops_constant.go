package onnx

import (
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// constantTable holds operators that make or convert constants.
var constantTable = map[string]operator{
	"Constant": {0, 0, 1, (*translation).constant},
	"Cast":     {1, 1, 1, (*translation).cast},
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
	if v.Int {
		return x
	}
	return t.typed(t.quantise(x, Attr{Scale: []float32{1}, Zero: []int64{0}, Lo: v.Lo, Hi: max(v.Hi, v.Lo+1)}), to)
}
