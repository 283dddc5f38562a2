package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// quantTable holds the quantised operators of the standard domain.
//
// Linear ones become exact integer arithmetic: zero points are subtracted, products and sums are integers, and one Quantise of the
// integer accumulator multiplies, rounds to even and saturates.
var quantTable = map[string]operator{
	"QuantizeLinear":                 {2, 3, 1, (*translation).quantizeLinear},
	"DequantizeLinear":               {2, 3, 1, (*translation).dequantizeLinear},
	"DynamicQuantizeLinear":          {1, 1, 3, (*translation).dynamicQuantize},
	"QLinearConv":                    {8, 9, 1, (*translation).qlinearConv},
	"QLinearMatMul":                  {8, 8, 1, (*translation).qlinearMatMul},
	"ConvInteger":                    {2, 4, 1, (*translation).convInteger},
	"MatMulInteger":                  {2, 4, 1, (*translation).matMulInteger},
	"com.microsoft.QuantizeLinear":   {2, 3, 1, (*translation).quantizeLinear},
	"com.microsoft.DequantizeLinear": {2, 3, 1, (*translation).dequantizeLinear},
}

// integerRange returns the range of a quantised element type.
func integerRange(kind int32) (lo, hi int64, ok bool) {
	switch onnxpb.TensorProto_DataType(kind) {
	case onnxpb.TensorProto_INT8:
		return math.MinInt8, math.MaxInt8, true
	case onnxpb.TensorProto_UINT8:
		return 0, math.MaxUint8, true
	case onnxpb.TensorProto_INT16:
		return math.MinInt16, math.MaxInt16, true
	case onnxpb.TensorProto_UINT16:
		return 0, math.MaxUint16, true
	case onnxpb.TensorProto_INT4:
		return -8, 7, true
	case onnxpb.TensorProto_UINT4:
		return 0, 15, true
	case onnxpb.TensorProto_INT32:
		return math.MinInt32, math.MaxInt32, true
	}
	return 0, 0, false
}

// scaleInput reads a constant scale: positive finite numbers, one or a list.
func (t *translation) scaleInput(k int) ([]float32, error) {
	if !t.present(k) {
		return nil, malformed("%s: input %d, a scale, is missing", t.label, k)
	}
	v := t.value(k)
	if v.Const == nil || v.Int {
		return nil, t.unsupported("the scale %s is computed, expected constant real numbers", t.inputName(k))
	}
	for i, s := range v.Const.Real {
		if !(s > 0) || math.IsInf(float64(s), 0) {
			return nil, t.unsupported("the scale %s, element %d is %g, expected a positive number", t.inputName(k), i, s)
		}
	}
	if len(v.Const.Real) == 0 {
		return nil, t.unsupported("the scale %s is empty", t.inputName(k))
	}
	return v.Const.Real, nil
}

// zeroInput reads a constant zero point and its element type; an absent one is zero of an unknown type.
func (t *translation) zeroInput(k int) ([]int64, int32, error) {
	if !t.present(k) {
		return []int64{0}, 0, nil
	}
	v := t.value(k)
	if v.Const == nil || !v.Int || len(v.Const.Ints) == 0 {
		return nil, 0, t.unsupported("the zero point %s is not a constant of an integer type", t.inputName(k))
	}
	return v.Const.Ints, v.Type, nil
}

// scaling reads scale and zero point of a Quantise or Dequantise along an axis of a shape.
func (t *translation) scaling(shape []int) (Attr, int32, error) {
	attr := Attr{}
	var err error
	var kind int32
	if attr.Scale, err = t.scaleInput(1); err != nil {
		return attr, 0, err
	}
	if attr.Zero, kind, err = t.zeroInput(2); err != nil {
		return attr, 0, err
	}
	axis := int64(1)
	if t.opset() >= 13 || t.proto.Domain != "" {
		axis = t.attrs.int("axis", 1)
	}
	if t.opset() >= 19 && t.proto.OpType == "QuantizeLinear" {
		t.attrs.flag("saturate", true) // it concerns 8-bit floats only
	}
	if t.opset() >= 21 {
		if b := t.attrs.int("block_size", 0); b != 0 {
			return attr, 0, t.unsupported("attribute \"block_size\" is %d, expected 0", b)
		}
	}
	if n := len(t.value(1).Shape); n > 1 {
		return attr, 0, t.unsupported("the scale %s has shape %v, expected one number or a list", t.inputName(1), t.value(1).Shape)
	}
	if len(attr.Scale) == 1 {
		if len(attr.Zero) != 1 {
			return attr, 0, malformed("%s: 1 scale and %d zero points", t.label, len(attr.Zero))
		}
		return attr, kind, nil
	}
	rank := int64(len(shape))
	if axis < -rank || axis >= rank {
		return attr, 0, malformed("%s: attribute \"axis\" is %d, the operand has rank %d", t.label, axis, rank)
	}
	attr.Axis = int((axis + rank) % rank)
	if len(attr.Zero) == 1 && !t.present(2) {
		attr.Zero = make([]int64, len(attr.Scale))
	}
	if len(attr.Scale) != shape[attr.Axis] || len(attr.Zero) != len(attr.Scale) {
		return attr, 0, malformed("%s: %d scales and %d zero points for axis %d of shape %v", t.label, len(attr.Scale), len(attr.Zero), attr.Axis, shape)
	}
	return attr, kind, nil
}

func (t *translation) quantizeLinear() error {
	attr, kind, err := t.scaling(t.value(0).Shape)
	if err != nil {
		return err
	}
	if t.opset() >= 21 && t.attrs.has("output_dtype") {
		given := int32(t.attrs.int("output_dtype", 0))
		if kind != 0 && given != 0 && given != kind {
			return malformed("%s: attribute \"output_dtype\" is %s, the zero point has %s", t.label, typeName(given), typeName(kind))
		}
		if kind == 0 {
			kind = given
		}
	}
	if kind == 0 {
		kind = int32(onnxpb.TensorProto_UINT8)
	}
	var ok bool
	if attr.Lo, attr.Hi, ok = integerRange(kind); !ok || kind == int32(onnxpb.TensorProto_INT32) {
		return t.unsupported("a result of type %s, expected integers of 4, 8 or 16 bits", typeName(kind))
	}
	return t.result(0, t.typed(t.quantise(t.toReal(t.inputs[0]), attr), kind))
}

func (t *translation) dequantizeLinear() error {
	attr, _, err := t.scaling(t.value(0).Shape)
	if err != nil {
		return err
	}
	if t.dynamic(0) {
		return t.result(0, t.inputs[0])
	}
	y := t.dequantise(t.inputs[0], attr)
	t.noteCodes(y, attr)
	return t.result(0, y)
}

// dynamicQuantize passes real numbers on: whoever makes a program chooses a scale once and for all. Its scale is one and its zero point
// zero, so that the arithmetic around it stays right.
func (t *translation) dynamicQuantize() error {
	x := t.inputs[0]
	if err := t.real(0); err != nil {
		return err
	}
	t.im.m.Dynamic = append(t.im.m.Dynamic, x)
	t.im.dynamic[t.proto.Output[0]] = dynamicCodes
	if err := t.result(0, x); err != nil {
		return err
	}
	if err := t.result(1, t.scalar(1)); err != nil {
		return err
	}
	return t.result(2, t.typed(t.integer(0), int32(onnxpb.TensorProto_UINT8)))
}

// Tensors of real numbers that stand for integers: what a DynamicQuantizeLinear passed on, and products of that with integers.
const (
	dynamicCodes = "codes"
	dynamicSum   = "sum"
)

// dynamicReaders lists the operators that may read such a tensor; for any other it would have to be integers.
var dynamicReaders = map[string][]string{
	dynamicCodes: {"MatMulInteger", "ConvInteger", "DequantizeLinear"},
	dynamicSum:   {"Cast"},
}

// checkDynamic refuses a node that reads a tensor behind a DynamicQuantizeLinear and needs its codes.
func (t *translation) checkDynamic() error {
	for k, name := range t.proto.Input {
		if kind := t.im.dynamic[name]; kind != "" && (k != 0 || !slices.Contains(dynamicReaders[kind], t.proto.OpType)) {
			return t.unsupported("input %s depends on a scale that is computed (DynamicQuantizeLinear) and would be integers", t.inputName(k))
		}
	}
	return nil
}

// dynamic reports whether an input is what a DynamicQuantizeLinear passed on.
func (t *translation) dynamic(k int) bool {
	return k < len(t.proto.Input) && t.im.dynamic[t.proto.Input[k]] == dynamicCodes
}

// centred is operand k minus its zero point, as integers. A list of zero points runs along the given axis.
func (t *translation) centred(k, zeroAt, axis int) (int, error) {
	zero, _, err := t.zeroInput(zeroAt)
	if err != nil {
		return -1, err
	}
	v := t.value(k)
	if !v.Int {
		if t.dynamic(k) && !slices.ContainsFunc(zero, func(z int64) bool { return z != 0 }) {
			return t.inputs[k], nil
		}
		return -1, t.unsupported("input %s has real elements, expected integers", t.inputName(k))
	}
	if !slices.ContainsFunc(zero, func(z int64) bool { return z != 0 }) {
		return t.inputs[k], nil
	}
	if len(zero) == 1 {
		return t.sub(t.inputs[k], t.integer(zero[0])), nil
	}
	shape, err := t.along(zeroAt, len(zero), v.Shape, axis)
	if err != nil {
		return -1, err
	}
	return t.sub(t.inputs[k], t.constTensor(&Tensor{Shape: shape, Ints: zero})), nil
}

// along is the shape with which a list of n numbers broadcasts along one axis. Operand k may have that shape itself.
func (t *translation) along(k, n int, shape []int, axis int) ([]int, error) {
	if axis < 0 || axis >= len(shape) || shape[axis] != n {
		return nil, malformed("%s: input %s has %d elements for shape %v", t.label, t.inputName(k), n, shape)
	}
	out := slices.Repeat([]int{1}, len(shape))
	out[axis] = n
	return out, nil
}

// multipliers are what an accumulator is multiplied with: product of the operands' scales by the result's, rounded to float32 after every
// step as runtimes do.
func multipliers(factor float32, x, w, y []float32) ([]float32, error) {
	if len(x) != 1 || len(y) != 1 {
		return nil, fmt.Errorf("scales of %d and %d elements, expected 1", len(x), len(y))
	}
	m := make([]float32, len(w))
	for i, s := range w {
		m[i] = float32(float32(factor*x[0])*s) / y[0]
		if !(m[i] > 0) || math.IsInf(float64(m[i]), 0) {
			return nil, fmt.Errorf("scales %g, %g and %g make the factor %g", x[0], s, y[0], m[i])
		}
	}
	return m, nil
}

// requantise turns an accumulator into codes; axis counts the result's axes for a list of multipliers.
func (t *translation) requantise(acc int, m []float32, axis, zeroAt int) error {
	zero, kind, err := t.zeroInput(zeroAt)
	if err != nil {
		return err
	}
	lo, hi, ok := integerRange(kind)
	if !ok || len(zero) != 1 {
		return t.unsupported("the result's zero point %s has type %s and %d elements, expected one 8-bit integer", t.inputName(zeroAt), typeName(kind), len(zero))
	}
	attr := Attr{Scale: m, Zero: slices.Repeat(zero, len(m)), Axis: axis, Lo: lo, Hi: hi}
	return t.result(0, t.typed(t.quantise(acc, attr), kind))
}

// scales3 reads the scales of both operands and of the result.
func (t *translation) scales3(x, w, y int, factor float32) ([]float32, error) {
	sx, err := t.scaleInput(x)
	if err != nil {
		return nil, err
	}
	sw, err := t.scaleInput(w)
	if err != nil {
		return nil, err
	}
	sy, err := t.scaleInput(y)
	if err != nil {
		return nil, err
	}
	m, err := multipliers(factor, sx, sw, sy)
	if err != nil {
		return nil, t.unsupported("%w", err)
	}
	return m, nil
}

func (t *translation) qlinearConv() error {
	x, err := t.centred(0, 2, -1)
	if err != nil {
		return err
	}
	w, err := t.centred(3, 5, 0)
	if err != nil {
		return err
	}
	m, err := t.scales3(1, 4, 6, 1)
	if err != nil {
		return err
	}
	acc, err := t.convolution(x, w, false)
	if err != nil {
		return err
	}
	if t.present(8) {
		acc = t.addChannels(acc, t.inputs[8])
	}
	return t.requantise(acc, m, 1, 7)
}

func (t *translation) convInteger() error {
	x, err := t.centred(0, 2, -1)
	if err != nil {
		return err
	}
	w, err := t.centred(1, 3, 0)
	if err != nil {
		return err
	}
	if t.dynamic(0) {
		w = t.toReal(w)
	}
	acc, err := t.convolution(x, w, false)
	if err != nil {
		return err
	}
	return t.accumulator(acc)
}

// accumulator names an integer result, or one of real numbers that stands for one behind a DynamicQuantizeLinear.
func (t *translation) accumulator(acc int) error {
	if t.dynamic(0) {
		t.im.dynamic[t.proto.Output[0]] = dynamicSum
		return t.result(0, acc)
	}
	return t.result(0, t.typed(acc, int32(onnxpb.TensorProto_INT32)))
}

func (t *translation) matMulInteger() error {
	a, err := t.centred(0, 2, len(t.value(0).Shape)-2)
	if err != nil {
		return err
	}
	b, err := t.centred(1, 3, len(t.value(1).Shape)-1)
	if err != nil {
		return err
	}
	if t.dynamic(0) {
		b = t.toReal(b)
	}
	return t.accumulator(t.matmul(a, b))
}

func (t *translation) qlinearMatMul() error {
	a, err := t.centred(0, 2, len(t.value(0).Shape)-2)
	if err != nil {
		return err
	}
	b, err := t.centred(3, 5, len(t.value(3).Shape)-1)
	if err != nil {
		return err
	}
	m, err := t.scales3(1, 4, 6, 1)
	if err != nil {
		return err
	}
	acc := t.matmul(a, b)
	if t.err != nil {
		return t.err
	}
	axis := len(t.shape(acc)) - 1
	if len(m) > 1 && (axis < 0 || t.shape(acc)[axis] != len(m)) {
		return malformed("%s: %d scales of the right operand for a result of shape %v", t.label, len(m), t.shape(acc))
	}
	return t.requantise(acc, m, axis, 7)
}
