package onnx

import "math"

// elementwiseTable holds functions of single elements and of pairs of elements.
var elementwiseTable = map[string]operator{
	"Add":     {2, 2, 1, (*translation).pair},
	"Sub":     {2, 2, 1, (*translation).pair},
	"Mul":     {2, 2, 1, (*translation).pair},
	"Div":     {2, 2, 1, (*translation).pair},
	"Relu":    {1, 1, 1, (*translation).function},
	"Sigmoid": {1, 1, 1, (*translation).function},
	"Tanh":    {1, 1, 1, (*translation).function},
	"Clip":    {1, 3, 1, (*translation).clip},
}

var pairOps = map[string]Op{"Add": OpAdd, "Sub": OpSub, "Mul": OpMul, "Div": OpDiv}

// pair translates arithmetic on two tensors.
func (t *translation) pair() error {
	return t.result(0, t.emit(pairOps[t.proto.OpType], Attr{}, t.inputs[0], t.inputs[1]))
}

// plainFunctions are the operators that are a function without parameters.
var plainFunctions = map[string]Func{"Relu": FuncRelu, "Sigmoid": FuncSigmoid, "Tanh": FuncTanh}

func (t *translation) function() error {
	if err := t.real(0); err != nil {
		return err
	}
	return t.result(0, t.unary(plainFunctions[t.proto.OpType], t.inputs[0]))
}

// clip translates both forms of Clip: limits as attributes before operator set 11, as inputs since.
func (t *translation) clip() error {
	if err := t.real(0); err != nil {
		return err
	}
	// The defaults of the attribute form are the extremes of float32; nothing a float32 model computes lies beyond them.
	lo, hi := math.Inf(-1), math.Inf(1)
	if t.opset() < 11 {
		if len(t.inputs) > 1 {
			return malformed("%s: limits as inputs exist from operator set 11 on", t.label)
		}
		lo, hi = t.attrs.float("min", lo), t.attrs.float("max", hi)
	} else {
		for k, limit := range []*float64{&lo, &hi} {
			if !t.present(k + 1) {
				continue
			}
			var err error
			if *limit, err = t.constReal(k + 1); err != nil {
				return err
			}
		}
	}
	if !(lo <= hi) {
		return t.unsupported("limits [%g, %g] are empty", lo, hi)
	}
	return t.result(0, t.unary(FuncClip, t.inputs[0], lo, hi))
}
