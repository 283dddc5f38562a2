package onnx

// otherTable holds what fits nowhere else.
var otherTable = map[string]operator{
	"Identity": {1, 1, 1, (*translation).alias},
	"Dropout":  {1, 3, 2, (*translation).dropout},
	"If":       {1, 1, -1, (*translation).branch},
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
