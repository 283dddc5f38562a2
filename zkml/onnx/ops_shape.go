package onnx

import "slices"

// shapeTable holds operators that only move elements.
var shapeTable = map[string]operator{
	"Flatten": {1, 1, 1, (*translation).flatten},
	"Reshape": {2, 2, 1, (*translation).reshapeTo},
}

func (t *translation) flatten() error {
	v := t.value(0)
	axis, err := t.axis(1, len(v.Shape)+1, t.opset() >= 11)
	if err != nil {
		return err
	}
	return t.result(0, t.reshape(t.inputs[0], []int{elements(v.Shape[:axis]), elements(v.Shape[axis:])}))
}

func (t *translation) reshapeTo() error {
	allowZero := false
	if t.opset() >= 14 {
		allowZero = t.attrs.flag("allowzero", false)
	}
	target, err := t.constInts(1)
	if err != nil {
		return err
	}
	v := t.value(0)
	dims := slices.Clone(target)
	known, infer := int64(1), -1
	for i, d := range dims {
		switch {
		case d == 0 && !allowZero && i < len(v.Shape):
			dims[i] = int64(v.Shape[i])
		case d == 0 && elements(v.Shape) > 0:
			return t.malformed("shape %v: axis %d would be empty or has nothing to copy from %v", target, i, v.Shape)
		case d == -1 && infer < 0:
			infer = i
			continue
		case d < 0 || d > maxElements:
			return t.malformed("shape %v is not possible", target)
		}
		if known *= dims[i]; known > maxElements {
			return t.malformed("shape %v does not fit %v", target, v.Shape)
		}
	}
	if infer >= 0 {
		if known == 0 {
			return t.malformed("shape %v leaves axis %d open", target, infer)
		}
		dims[infer] = int64(elements(v.Shape)) / known
		known *= dims[infer]
	}
	if known != int64(elements(v.Shape)) {
		return t.malformed("shape %v does not fit %v", target, v.Shape)
	}
	shape, err := checkShape(dims, t.label+": the new shape")
	if err != nil {
		return err
	}
	return t.result(0, t.reshape(t.inputs[0], shape))
}
