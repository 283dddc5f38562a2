package onnx

import "slices"

// otherTable holds what fits nowhere else.
var otherTable = map[string]operator{
	"Identity": {1, 1, 1, (*translation).alias},
	"Dropout":  {1, 3, 2, (*translation).dropout},
	"Softmax":  {1, 1, 1, (*translation).softmaxOf},
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
	if t.present(1) {
		if _, err := t.constReal(1); err != nil {
			return t.unsupported("the ratio: %w", err)
		}
	}
	if t.present(2) {
		if on := t.value(2); on.Const == nil || on.Const.Len() != 1 || on.Const.At(0) != 0 {
			return t.unsupported("the input %s (training_mode) is given and not a constant false; export the model for inference", t.inputName(2))
		}
	}
	if len(t.proto.Output) > 1 && t.proto.Output[1] != "" {
		t.im.masks[t.proto.Output[1]] = t.label
	}
	return t.alias()
}

// softmaxOf translates both meanings: along one axis since operator set 13, over all axes from one on before.
func (t *translation) softmaxOf() error {
	if err := t.real(0); err != nil {
		return err
	}
	axes, err := t.softmaxAxes()
	if err != nil {
		return err
	}
	return t.result(0, t.softmax(t.inputs[0], axes))
}

func (t *translation) softmaxAxes() ([]int, error) {
	rank := len(t.value(0).Shape)
	otherwise := int64(-1)
	if t.opset() < 13 {
		otherwise = 1
	}
	axis, err := t.axis(otherwise, rank, t.opset() >= 11)
	if err != nil {
		return nil, err
	}
	axes := []int{axis}
	for a := axis + 1; a < rank && t.opset() < 13; a++ {
		axes = append(axes, a)
	}
	return axes, nil
}

// order wants a permutation of the axes of a tensor.
func (t *translation) order(perm []int64, rank int) ([]int, error) {
	if perm == nil {
		out := make([]int, rank)
		for i := range out {
			out[i] = rank - 1 - i
		}
		return out, nil
	}
	out := make([]int, len(perm))
	for i, p := range perm {
		if p < 0 || p >= int64(rank) || len(perm) != rank || slices.Contains(perm[:i], p) {
			return nil, t.malformed("attribute %q is %v for rank %d", "perm", perm, rank)
		}
		out[i] = int(p)
	}
	return out, nil
}
