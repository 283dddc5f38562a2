package onnx

import (
	"math"
	"slices"
)

// activationTable holds functions of one element.
var activationTable = map[string]operator{
	"LeakyRelu":       {1, 1, 1, (*translation).activation},
	"Elu":             {1, 1, 1, (*translation).activation},
	"Selu":            {1, 1, 1, (*translation).activation},
	"Celu":            {1, 1, 1, (*translation).activation},
	"ThresholdedRelu": {1, 1, 1, (*translation).activation},
	"HardSigmoid":     {1, 1, 1, (*translation).activation},
	"HardSwish":       {1, 1, 1, (*translation).activation},
	"Softplus":        {1, 1, 1, (*translation).activation},
	"Softsign":        {1, 1, 1, (*translation).activation},
	"Mish":            {1, 1, 1, (*translation).activation},
	"PRelu":           {2, 2, 1, (*translation).prelu},

	"BatchNormalization":        {5, 5, 5, (*translation).batchNorm},
	"InstanceNormalization":     {3, 3, 1, (*translation).instanceNorm},
	"GroupNormalization":        {3, 3, 1, (*translation).groupNorm},
	"MeanVarianceNormalization": {1, 1, 1, (*translation).meanVariance},
}

// parameter reads a finite real attribute.
func (t *translation) parameter(name string, otherwise float64) float64 {
	v := t.attrs.float(name, otherwise)
	if err := t.finite(name, v); err != nil && t.attrs.err == nil {
		t.attrs.err = err
	}
	return v
}

func (t *translation) activation() error {
	if t.opset() < 14 && t.proto.OpType == "HardSwish" || t.opset() < 12 && t.proto.OpType == "Celu" || t.opset() < 18 && t.proto.OpType == "Mish" {
		return malformed("%s: the operator does not exist in operator set %d", t.label, t.opset())
	}
	x := t.inputs[0]
	switch t.proto.OpType {
	case "LeakyRelu":
		x = t.unary(FuncLeakyRelu, x, t.parameter("alpha", 0.01))
	case "Elu":
		x = t.unary(FuncElu, x, t.parameter("alpha", 1))
	case "Selu":
		x = t.unary(FuncSelu, x, t.parameter("alpha", 1.67326319217681884765625), t.parameter("gamma", 1.05070102214813232421875))
	case "Celu":
		alpha := t.parameter("alpha", 1)
		if alpha == 0 {
			return t.unsupported("attribute \"alpha\" is 0")
		}
		x = t.mul(t.unary(FuncElu, t.mul(x, t.scalar(1/alpha)), 1), t.scalar(alpha))
	case "ThresholdedRelu":
		x = t.unary(FuncThresholdedRelu, x, t.parameter("alpha", 1))
	case "HardSigmoid":
		x = t.unary(FuncHardSigmoid, x, t.parameter("alpha", 0.2), t.parameter("beta", 0.5))
	case "HardSwish":
		x = t.unary(FuncHardSwish, x)
	case "Softplus":
		x = t.unary(FuncSoftplus, x)
	case "Softsign":
		x = t.unary(FuncSoftsign, x)
	default:
		x = t.unary(FuncMish, x)
	}
	return t.result(0, x)
}

// prelu translates x where x > 0, slope * x elsewhere. A slope per channel becomes max(x, 0) - slope * max(-x, 0).
func (t *translation) prelu() error {
	x, slope := t.inputs[0], t.value(1)
	if shape, ok := broadcast(t.value(0).Shape, slope.Shape); !ok || !slices.Equal(shape, t.value(0).Shape) {
		return malformed("%s: slopes of shape %v for an operand of shape %v", t.label, slope.Shape, t.value(0).Shape)
	}
	if c := slope.Const; c != nil && !slope.Int && !slices.ContainsFunc(c.Real, func(v float32) bool { return v != c.Real[0] }) {
		return t.result(0, t.unary(FuncLeakyRelu, x, c.At(0)))
	}
	below := t.unary(FuncRelu, t.unary(FuncNeg, x))
	return t.result(0, t.sub(t.unary(FuncRelu, x), t.mul(below, t.inputs[1])))
}

// batchNorm translates (x - mean) / sqrt(var + epsilon) * scale + b per channel; with constants that is one product and one sum.
func (t *translation) batchNorm() error {
	if t.opset() >= 14 && t.attrs.flag("training_mode", false) {
		return t.unsupported("attribute \"training_mode\" is 1; export the model for inference")
	}
	for k := 1; k < len(t.proto.Output); k++ {
		if t.proto.Output[k] != "" {
			return t.unsupported("its output %s, which exists only in training", Quote(t.proto.Output[k]))
		}
	}
	t.parameter("momentum", 0.9)
	epsilon := t.parameter("epsilon", 1e-5)
	x := t.inputs[0]
	rank := len(t.value(0).Shape)
	if rank < 2 {
		return t.unsupported("an operand of shape %v, expected batch and channels", t.value(0).Shape)
	}
	constant := true
	for k := 1; k < 5; k++ {
		v := t.value(k)
		if !slices.Equal(v.Shape, t.value(0).Shape[1:2]) {
			return malformed("%s: input %s has shape %v, expected one number for each of %d channels", t.label, t.inputName(k), v.Shape, t.value(0).Shape[1])
		}
		constant = constant && v.Const != nil && !v.Int
	}
	if !constant {
		scale := t.mul(t.inputs[1], t.unary(FuncRsqrt, t.add(t.inputs[4], t.scalar(epsilon))))
		y := t.mul(t.sub(x, t.perChannel(t.inputs[3], rank)), t.perChannel(scale, rank))
		return t.result(0, t.addChannels(y, t.inputs[2]))
	}
	n := t.value(0).Shape[1]
	factor, offset := make([]float64, n), make([]float64, n)
	for i := range n {
		variance := t.value(4).Const.At(i) + epsilon
		if !(variance > 0) {
			return t.unsupported("channel %d: variance plus epsilon is %g, expected a positive number", i, variance)
		}
		factor[i] = t.value(1).Const.At(i) / math.Sqrt(variance)
		offset[i] = t.value(2).Const.At(i) - float64(t.value(3).Const.At(i)*factor[i])
	}
	shape := append([]int{n}, slices.Repeat([]int{1}, rank-2)...)
	return t.result(0, t.add(t.mul(x, t.constReals(shape, factor)), t.constReals(shape, offset)))
}

// instanceNorm normalises every channel of every sample over its positions.
func (t *translation) instanceNorm() error {
	epsilon := t.parameter("epsilon", 1e-5)
	rank := len(t.value(0).Shape)
	if rank < 3 {
		return t.unsupported("an operand of shape %v, expected batch, channels and at least one more axis", t.value(0).Shape)
	}
	axes := make([]int, rank-2)
	for i := range axes {
		axes[i] = 2 + i
	}
	y := t.norm(t.inputs[0], axes, epsilon, true)
	return t.result(0, t.addChannels(t.mul(y, t.perChannel(t.inputs[1], rank)), t.inputs[2]))
}

// groupNorm normalises groups of channels; factors and offsets belong to groups before operator set 21, to channels since.
func (t *translation) groupNorm() error {
	if t.opset() < 18 {
		return malformed("%s: the operator does not exist in operator set %d", t.label, t.opset())
	}
	epsilon := t.parameter("epsilon", 1e-5)
	groups := t.attrs.int("num_groups", 0)
	if t.opset() >= 21 {
		if kind := t.attrs.int("stash_type", 1); kind != 1 {
			return t.unsupported("attribute \"stash_type\" is %d, expected 1 (FLOAT)", kind)
		}
	}
	shape := t.value(0).Shape
	if len(shape) < 2 || groups < 1 || groups > int64(shape[1]) || shape[1]%int(groups) != 0 {
		return malformed("%s: attribute \"num_groups\" is %d for an operand of shape %v", t.label, groups, shape)
	}
	g := int(groups)
	grouped := append([]int{shape[0], g, shape[1] / g}, shape[2:]...)
	axes := make([]int, len(grouped)-2)
	for i := range axes {
		axes[i] = 2 + i
	}
	y := t.norm(t.reshape(t.inputs[0], grouped), axes, epsilon, true)
	if t.opset() < 21 {
		y = t.addChannels(t.mul(y, t.perChannel(t.inputs[1], len(grouped))), t.inputs[2])
		return t.result(0, t.reshape(y, shape))
	}
	y = t.reshape(y, shape)
	return t.result(0, t.addChannels(t.mul(y, t.perChannel(t.inputs[1], len(shape))), t.inputs[2]))
}

// meanVariance normalises over fixed axes. The 1e-9 that its definition adds to the deviation is added to the variance, squared.
func (t *translation) meanVariance() error {
	axes := t.attrs.ints("axes")
	if axes == nil {
		axes = []int64{0, 2, 3}
	}
	sorted, err := t.sortedAxes(axes, len(t.value(0).Shape))
	if err != nil {
		return err
	}
	return t.result(0, t.norm(t.inputs[0], sorted, 1e-18, true))
}
