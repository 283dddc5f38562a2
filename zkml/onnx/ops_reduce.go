package onnx

import (
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// reduceTable holds reductions and operators with any number of operands.
var reduceTable = map[string]operator{
	"ReduceSum":       {1, 2, 1, (*translation).reduction},
	"ReduceMean":      {1, 2, 1, (*translation).reduction},
	"ReduceMax":       {1, 2, 1, (*translation).reduction},
	"ReduceMin":       {1, 2, 1, (*translation).reduction},
	"ReduceL1":        {1, 2, 1, (*translation).reduction},
	"ReduceL2":        {1, 2, 1, (*translation).reduction},
	"ReduceSumSquare": {1, 2, 1, (*translation).reduction},
	"ReduceLogSum":    {1, 2, 1, (*translation).reduction},
	"ReduceLogSumExp": {1, 2, 1, (*translation).reduction},
	"ArgMax":          {1, 1, 1, (*translation).argExtreme},
	"ArgMin":          {1, 1, 1, (*translation).argExtreme},
	"Min":             {1, -1, 1, (*translation).variadic},
	"Max":             {1, -1, 1, (*translation).variadic},
	"Sum":             {1, -1, 1, (*translation).variadic},
	"Mean":            {1, -1, 1, (*translation).variadic},
}

// reductionAxes reads which axes a reduction drops: an attribute first, a constant input in newer operator sets. No axes means all of
// them, or none if the node says so.
func (t *translation) reductionAxes() ([]int, error) {
	since := 18 // when axes became an input
	if t.proto.OpType == "ReduceSum" {
		since = 13
	}
	var given []int64
	empty := false
	if t.opset() >= since {
		if t.present(1) {
			var err error
			if given, err = t.constInts(1); err != nil {
				return nil, err
			}
		}
		empty = t.attrs.flag("noop_with_empty_axes", false)
	} else {
		if t.present(1) {
			return nil, malformed("%s: axes as an input exist from operator set %d on", t.label, since)
		}
		given = t.attrs.ints("axes")
	}
	rank := len(t.value(0).Shape)
	if len(given) == 0 && !empty {
		axes := make([]int, rank)
		for i := range axes {
			axes[i] = i
		}
		return axes, nil
	}
	return t.sortedAxes(given, rank)
}

// sortedAxes brings a list of axes, negative ones counting from the end, into increasing order.
func (t *translation) sortedAxes(given []int64, rank int) ([]int, error) {
	axes := []int{}
	for _, a := range given {
		if a < -int64(rank) || a >= int64(rank) {
			return nil, malformed("%s: axis %d of a tensor of rank %d", t.label, a, rank)
		}
		axes = append(axes, int((a+int64(rank))%int64(rank)))
	}
	slices.Sort(axes)
	for i := 1; i < len(axes); i++ {
		if axes[i] == axes[i-1] {
			return nil, malformed("%s: axis %d is given twice", t.label, axes[i])
		}
	}
	return axes, nil
}

func (t *translation) reduction() error {
	keep := t.attrs.flag("keepdims", true)
	axes, err := t.reductionAxes()
	if err != nil {
		return err
	}
	x := t.inputs[0]
	n := 1
	for _, a := range axes {
		n *= t.value(0).Shape[a]
	}
	if op := t.proto.OpType; op != "ReduceMax" && op != "ReduceMin" {
		if err := t.refuseNarrow(); err != nil {
			return err
		}
	}
	sum := func(x int) int { return t.reduce(OpReduceSum, x, axes, keep) }
	greatest := func(x int) int { return t.reduce(OpReduceMax, x, axes, keep) }
	switch t.proto.OpType {
	case "ReduceSum":
		x = sum(x)
	case "ReduceMean":
		x = t.mul(sum(x), t.scalar(1/float64(n)))
	case "ReduceMax":
		x = greatest(x)
	case "ReduceMin":
		x = t.negated(greatest(t.negated(x)))
		if kind := t.value(0).Type; narrow(kind) {
			x = t.typed(x, kind)
		}
	case "ReduceL1":
		x = sum(t.unary(FuncAbs, x))
	case "ReduceL2":
		x = t.unary(FuncSqrt, sum(t.mul(x, x)))
	case "ReduceSumSquare":
		x = sum(t.mul(x, x))
	case "ReduceLogSum":
		x = t.unary(FuncLog, sum(x))
	default:
		// The largest element is taken out first, so that no exponential overflows.
		if len(axes) == 0 {
			break
		}
		most := t.reduce(OpReduceMax, x, axes, true)
		total := t.unary(FuncLog, t.reduce(OpReduceSum, t.unary(FuncExp, t.sub(x, most)), axes, true))
		x = t.add(total, most)
		if !keep {
			x = t.dropAxes(x, axes)
		}
	}
	return t.result(0, x)
}

// refuseNarrow refuses operands of 8 and 16 bits where ONNX has none, so that nobody says whether sums wrap.
func (t *translation) refuseNarrow() error {
	for k := range t.inputs {
		if t.present(k) && t.value(k).Int && narrow(t.value(k).Type) {
			return unsupported("%s: input %s is of %s, and ONNX has no %s of 8 or 16 bits; a Cast to int32 before it says what is meant", t.label, Quote(t.value(k).Name),
				onnxpb.TensorProto_DataType(t.value(k).Type), t.proto.OpType)
		}
	}
	return nil
}

// dropAxes removes axes of length 1.
func (t *translation) dropAxes(x int, axes []int) int {
	shape := []int{}
	for i, d := range t.shape(x) {
		if !slices.Contains(axes, i) {
			shape = append(shape, d)
		}
	}
	return t.reshape(x, shape)
}

// negated is -x, for integers too.
func (t *translation) negated(x int) int {
	if t.err == nil && x >= 0 && t.im.m.Values[x].Int {
		return t.sub(t.integer(0), x)
	}
	return t.unary(FuncNeg, x)
}

// argExtreme translates ArgMax, and ArgMin as the ArgMax of -x.
func (t *translation) argExtreme() error {
	rank := len(t.value(0).Shape)
	axis, err := t.axis(0, rank, true) // also before set 11, as runtimes do
	if err != nil {
		return err
	}
	keep, last := t.attrs.flag("keepdims", true), false
	if t.opset() >= 12 {
		last = t.attrs.flag("select_last_index", false)
	}
	x := t.inputs[0]
	if t.proto.OpType == "ArgMin" {
		x = t.negated(x)
	}
	return t.result(0, t.argMax(x, axis, keep, last))
}

// variadic folds the operands from the left.
func (t *translation) variadic() error {
	if op := t.proto.OpType; op == "Sum" || op == "Mean" {
		if err := t.refuseNarrow(); err != nil {
			return err
		}
	}
	x := -1
	for k := range t.inputs {
		switch {
		case !t.present(k):
			return malformed("%s: input %d is missing", t.label, k)
		case x < 0:
			x = t.inputs[k]
		case t.proto.OpType == "Min":
			x = t.min(x, t.inputs[k])
		case t.proto.OpType == "Max":
			x = t.max(x, t.inputs[k])
		default:
			x = t.add(x, t.inputs[k])
		}
	}
	if t.proto.OpType == "Mean" && len(t.inputs) > 1 {
		x = t.mul(x, t.scalar(1/float64(len(t.inputs))))
	}
	return t.result(0, x)
}
