package onnx

import (
	"slices"
)

// gemm translates alpha * A * B + beta * C: A computed, B and C constant.
func (t *translation) gemm() error {
	attr := Attr{Alpha: t.attrs.float("alpha", 1), Beta: t.attrs.float("beta", 1), TransA: t.attrs.flag("transA", false), TransB: t.attrs.flag("transB", false)}
	if err := t.finite("alpha", attr.Alpha); err != nil {
		return err
	}
	if err := t.finite("beta", attr.Beta); err != nil {
		return err
	}
	inputs := slices.Clone(t.inputs[:2])
	if t.present(2) {
		inputs = append(inputs, t.inputs[2])
	} else if t.opset() < 11 {
		return malformed("%s: input C is missing; it is optional from operator set 11 on", t.label)
	}
	for k := range inputs {
		if err := t.real(k); err != nil {
			return err
		}
	}
	a, b := t.value(0), t.value(1)
	if len(a.Shape) != 2 || len(b.Shape) != 2 {
		return malformed("%s: operands of shape %v and %v, expected rank 2", t.label, a.Shape, b.Shape)
	}
	if b.Const == nil {
		return t.unsupported("the right operand %s is computed, expected a constant", t.inputName(1))
	}
	if attr.TransA && a.Const == nil {
		return t.unsupported("attribute %q is 1 and the left operand %s is computed", "transA", t.inputName(0))
	}
	m, k := a.Shape[0], a.Shape[1]
	if attr.TransA {
		m, k = k, m
	}
	k2, n := b.Shape[0], b.Shape[1]
	if attr.TransB {
		k2, n = n, k2
	}
	if k != k2 {
		return malformed("%s: shapes %v and %v do not contract", t.label, a.Shape, b.Shape)
	}
	if len(inputs) == 3 {
		c := t.value(2)
		if c.Const == nil {
			return t.unsupported("the bias %s is computed, expected a constant", t.inputName(2))
		}
		if shape, ok := broadcast(c.Shape, []int{m, n}); !ok || !slices.Equal(shape, []int{m, n}) {
			return malformed("%s: bias of shape %v does not broadcast to %v", t.label, c.Shape, []int{m, n})
		}
	}
	return t.emit(inputs, []int{m, n}, attr, false)
}

// matMul translates a product whose right operand is a constant matrix.
func (t *translation) matMul() error {
	for k := range 2 {
		if err := t.real(k); err != nil {
			return err
		}
	}
	a, b := t.value(0), t.value(1)
	if b.Const == nil {
		if a.Const != nil {
			return t.unsupported("a constant times the computed tensor %s, expected the constant on the right", t.inputName(1))
		}
		return t.unsupported("a product of two computed tensors, %s and %s", t.inputName(0), t.inputName(1))
	}
	if len(b.Shape) != 2 || len(a.Shape) < 1 {
		return t.unsupported("operands of shape %v and %v, expected a right operand of rank 2 and a left one of rank 1 or more", a.Shape, b.Shape)
	}
	last := len(a.Shape) - 1
	if a.Shape[last] != b.Shape[0] {
		return malformed("%s: shapes %v and %v do not contract", t.label, a.Shape, b.Shape)
	}
	return t.emit(slices.Clone(t.inputs), append(slices.Clone(a.Shape[:last]), b.Shape[1]), Attr{Alpha: 1}, false)
}

// broadcast returns the common shape of two operands under the usual right-aligned rule.
func broadcast(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape := slices.Clone(a)
	offset := len(a) - len(b)
	for i, d := range b {
		switch e := a[offset+i]; {
		case d == e || d == 1:
		case e == 1:
			shape[offset+i] = d
		default:
			return nil, false
		}
	}
	return shape, true
}

// elementwise checks the operands of a binary operator: real, compatible, and no computed operand repeated along an axis.
func (t *translation) elementwise() ([]int, error) {
	for k := range 2 {
		if err := t.real(k); err != nil {
			return nil, err
		}
	}
	shape, ok := broadcast(t.value(0).Shape, t.value(1).Shape)
	if !ok {
		return nil, malformed("%s: shapes %v and %v do not broadcast", t.label, t.value(0).Shape, t.value(1).Shape)
	}
	for k := range 2 {
		if v := t.value(k); v.Const == nil && !slices.Equal(v.Shape, shape) {
			return nil, t.unsupported("the computed operand %s of shape %v would be repeated to %v", t.inputName(k), v.Shape, shape)
		}
	}
	return shape, nil
}

// sum translates Add and Sub.
func (t *translation) sum() error {
	shape, err := t.elementwise()
	if err != nil {
		return err
	}
	return t.emit(slices.Clone(t.inputs), shape, Attr{}, false)
}

// scale translates Mul and Div, of a computed tensor with a constant of one element (or of constants among themselves).
func (t *translation) scale() error {
	shape, err := t.elementwise()
	if err != nil {
		return err
	}
	a, b := t.value(0), t.value(1)
	switch {
	case a.Const != nil && b.Const != nil:
	case a.Const == nil && b.Const == nil:
		return t.unsupported("a product or quotient of two computed tensors, %s and %s", t.inputName(0), t.inputName(1))
	case t.proto.OpType == "Div" && a.Const != nil:
		return t.unsupported("division by the computed tensor %s", t.inputName(1))
	default:
		constant := 1
		if a.Const != nil {
			constant = 0
		}
		if n := t.value(constant).Const.Len(); n != 1 {
			return t.unsupported("the constant %s has %d elements, expected 1", t.inputName(constant), n)
		}
		if v := t.value(constant).Const.Real[0]; v == 0 {
			return t.unsupported("the constant %s is zero", t.inputName(constant))
		}
	}
	return t.emit(slices.Clone(t.inputs), shape, Attr{}, false)
}
