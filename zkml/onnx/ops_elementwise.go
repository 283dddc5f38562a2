package onnx

import (
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// elementwiseTable holds functions of single elements and of pairs of elements.
var elementwiseTable = map[string]operator{
	"Add":        {2, 2, 1, (*translation).pair},
	"Sub":        {2, 2, 1, (*translation).pair},
	"Mul":        {2, 2, 1, (*translation).pair},
	"Div":        {2, 2, 1, (*translation).pair},
	"Mod":        {2, 2, 1, (*translation).mod},
	"Pow":        {2, 2, 1, (*translation).pow},
	"Relu":       {1, 1, 1, (*translation).function},
	"Sigmoid":    {1, 1, 1, (*translation).function},
	"Tanh":       {1, 1, 1, (*translation).function},
	"Erf":        {1, 1, 1, (*translation).function},
	"Exp":        {1, 1, 1, (*translation).function},
	"Log":        {1, 1, 1, (*translation).function},
	"Sqrt":       {1, 1, 1, (*translation).function},
	"Reciprocal": {1, 1, 1, (*translation).function},
	"Abs":        {1, 1, 1, (*translation).function},
	"Neg":        {1, 1, 1, (*translation).neg},
	"Sign":       {1, 1, 1, (*translation).function},
	"Floor":      {1, 1, 1, (*translation).function},
	"Ceil":       {1, 1, 1, (*translation).function},
	"Round":      {1, 1, 1, (*translation).function},
	"Sin":        {1, 1, 1, (*translation).function},
	"Cos":        {1, 1, 1, (*translation).function},
	"Gelu":       {1, 1, 1, (*translation).gelu},
	"Clip":       {1, 3, 1, (*translation).clip},

	"com.microsoft.Gelu":      {1, 1, 1, (*translation).function},
	"com.microsoft.FastGelu":  {1, 2, 1, (*translation).fastGelu},
	"com.microsoft.BiasGelu":  {2, 2, 1, (*translation).fastGelu},
	"com.microsoft.QuickGelu": {1, 1, 1, (*translation).quickGelu},
}

var pairOps = map[string]Op{"Add": OpAdd, "Sub": OpSub, "Mul": OpMul, "Div": OpDiv}

// pair translates arithmetic on two tensors.
func (t *translation) pair() error {
	if c := t.integerConstants(); c != nil {
		return c()
	}
	op := pairOps[t.proto.OpType]
	a, b := t.inputs[0], t.inputs[1]
	if one := t.value(0).Const; op == OpDiv && t.value(1).Const == nil && one != nil && one.Len() == 1 && one.At(0) == 1 && !t.value(1).Int {
		shape, _ := broadcast(one.Shape, t.shape(b))
		return t.result(0, t.reshape(t.unary(FuncReciprocal, b), shape))
	}
	kind := t.value(0).Type
	if kind == 0 {
		kind = t.value(1).Type
	}
	return t.result(0, t.wrapped(op, a, b, kind))
}

// wrapped is a sum, difference or product; integers of 8 or 16 bits are taken modulo 2^8 or 2^16 where they could leave their type.
func (t *translation) wrapped(op Op, a, b int, kind int32) int {
	if op == OpMul && narrow(kind) {
		a, b = t.within(a, kind), t.within(b, kind)
	}
	y := t.emit(op, Attr{}, a, b)
	if t.err != nil || op == OpDiv || !narrow(kind) {
		return y
	}
	v := &t.im.m.Values[y]
	if !v.Int || wrap(kind, v.Lo) == v.Lo && wrap(kind, v.Hi) == v.Hi {
		return t.typed(y, kind)
	}
	if op == OpMul && v.Hi-v.Lo >= maxTable {
		// With a = 256 h + l and b = 256 k + m: l m + 256 ((h m + k l) modulo 256), modulo 2^16.
		high := func(x int) int { return t.table(func(x []int64) int64 { return x[0] >> 8 }, x) }
		low := func(x int) int { return t.table(func(x []int64) int64 { return x[0] & 255 }, x) }
		h, l, k, m := high(a), low(a), high(b), low(b)
		cross := t.table(func(x []int64) int64 { return x[0] & 255 << 8 }, t.add(t.mul(h, m), t.mul(k, l)))
		y = t.add(t.mul(l, m), cross)
	}
	return t.typed(t.table(func(x []int64) int64 { return wrap(kind, x[0]) }, y), kind)
}

// within is x, whose elements are in its type, with bounds that are, too: those of what Where chooses from are of a sum.
func (t *translation) within(x int, kind int32) int {
	if t.err != nil || x < 0 {
		return x
	}
	if v := &t.im.m.Values[x]; v.Const != nil || !v.Int || wrap(kind, v.Lo) == v.Lo && wrap(kind, v.Hi) == v.Hi || v.Hi-v.Lo >= maxTable {
		return x
	}
	return t.typed(t.table(func(x []int64) int64 { return wrap(kind, x[0]) }, x), kind)
}

// narrow reports whether a type's arithmetic is modulo 2^8 or 2^16.
func narrow(kind int32) bool {
	switch onnxpb.TensorProto_DataType(kind) {
	case onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT16, onnxpb.TensorProto_UINT16:
		return true
	}
	return false
}

// wrap is what an integer is in a type of 8, 16 or 32 bits; other types hold all that is computed here.
func wrap(kind int32, x int64) int64 {
	switch onnxpb.TensorProto_DataType(kind) {
	case onnxpb.TensorProto_INT8:
		return int64(int8(x))
	case onnxpb.TensorProto_UINT8:
		return int64(uint8(x))
	case onnxpb.TensorProto_INT16:
		return int64(int16(x))
	case onnxpb.TensorProto_UINT16:
		return int64(uint16(x))
	case onnxpb.TensorProto_INT32:
		return int64(int32(x))
	case onnxpb.TensorProto_UINT32:
		return int64(uint32(x))
	}
	return x
}

// integerConstants returns how to evaluate an operator on two constants of integers, or nil if they are something else.
func (t *translation) integerConstants() func() error {
	a, b := t.value(0), t.value(1)
	if a.Const == nil || b.Const == nil || !a.Int || !b.Int {
		return nil
	}
	return func() error {
		f, kind := integerPairs[t.proto.OpType], a.Type
		if kind == 0 {
			kind = b.Type
		}
		return t.foldInts(func(a, b int64) (int64, error) {
			y, err := f(a, b)
			return wrap(kind, y), err
		})
	}
}

// mod is evaluated on constants only.
func (t *translation) mod() error {
	floats := t.attrs.flag("fmod", false)
	a, b := t.value(0), t.value(1)
	switch {
	case a.Const == nil || b.Const == nil:
		return t.unsupported("a remainder of computed tensors")
	case a.Int && b.Int && !floats:
		return t.foldInts(integerPairs["Mod"])
	case a.Int && b.Int:
		return t.foldInts(integerPairs["fmod"])
	case a.Int || b.Int || !floats:
		return t.malformed("operands %s and %s and attribute \"fmod\" do not fit", t.inputName(0), t.inputName(1))
	}
	return t.foldReals(math.Mod)
}

// pow takes a constant exponent. Those that mean a simpler operation become it.
func (t *translation) pow() error {
	x, e := t.inputs[0], t.value(1)
	if e.Const == nil {
		return t.unsupported("the exponent %s is computed, expected a constant", t.inputName(1))
	}
	if t.value(0).Int {
		if t.value(0).Const == nil {
			return t.unsupported("a power of the computed integers %s", t.inputName(0))
		}
		if e.Int {
			return t.foldInts(integerPairs["Pow"])
		}
		return t.unsupported("integers to the power of real numbers")
	}
	if t.value(0).Const != nil {
		if e.Int {
			t.inputs[1] = t.toReal(t.inputs[1])
		}
		return t.foldReals(math.Pow)
	}
	if e.Const.Len() == 0 {
		return t.malformed("the exponent %s is empty", t.inputName(1))
	}
	p := e.Const.At(0)
	for i := range e.Const.Len() {
		if e.Const.At(i) != p {
			return t.unsupported("the exponent %s has elements that differ", t.inputName(1))
		}
	}
	shape, ok := broadcast(t.shape(x), e.Shape)
	if !ok || elements(shape) != elements(t.shape(x)) {
		return t.unsupported("the exponent of shape %v repeats the base of shape %v", e.Shape, t.shape(x))
	}
	return t.result(0, t.reshape(t.power(x, p), shape))
}

func (t *translation) power(x int, p float64) int {
	switch p {
	case 1:
		return x
	case 2:
		return t.mul(x, x)
	case 0.5:
		return t.unary(FuncSqrt, x)
	case -0.5:
		return t.unary(FuncRsqrt, x)
	case -1:
		return t.unary(FuncReciprocal, x)
	}
	return t.unary(FuncPow, x, p)
}

// plainFunctions are the operators that are a function without parameters.
var plainFunctions = map[string]Func{
	"Relu": FuncRelu, "Sigmoid": FuncSigmoid, "Tanh": FuncTanh, "Erf": FuncErf, "Exp": FuncExp, "Log": FuncLog, "Sqrt": FuncSqrt,
	"Reciprocal": FuncReciprocal, "Abs": FuncAbs, "Sign": FuncSign, "Floor": FuncFloor, "Ceil": FuncCeil, "Round": FuncRound, "Sin": FuncSin,
	"Cos": FuncCos, "Gelu": FuncGelu,
}

func (t *translation) function() error {
	f := plainFunctions[t.proto.OpType]
	if v := t.value(0); v.Int {
		if v.Const == nil || f != FuncAbs && f != FuncSign {
			return t.real(0)
		}
		c := &Tensor{Shape: v.Shape, Ints: make([]int64, len(v.Const.Ints))}
		for i, x := range v.Const.Ints {
			c.Ints[i] = int64(f.At(float64(x), 0, 0))
		}
		return t.result(0, t.constTensor(c))
	}
	return t.result(0, t.unary(f, t.inputs[0]))
}

func (t *translation) neg() error {
	if t.value(0).Int {
		return t.result(0, t.wrapped(OpSub, t.integer(0), t.inputs[0], t.value(0).Type))
	}
	return t.result(0, t.unary(FuncNeg, t.inputs[0]))
}

func (t *translation) gelu() error {
	if err := t.real(0); err != nil {
		return err
	}
	if t.opset() < 20 {
		return t.unsupported("the operator exists from operator set 20 on")
	}
	switch how := t.attrs.str("approximate", "none"); how {
	case "none":
		return t.result(0, t.unary(FuncGelu, t.inputs[0]))
	case "tanh":
		return t.result(0, t.unary(FuncGeluTanh, t.inputs[0]))
	default:
		return t.malformed("attribute \"approximate\" is %s, expected none or tanh", Quote(how))
	}
}

// fastGelu adds a bias if there is one.
func (t *translation) fastGelu() error {
	x, f := t.inputs[0], FuncGeluTanh
	if t.proto.OpType == "BiasGelu" {
		f = FuncGelu
	}
	if t.present(1) {
		x = t.add(x, t.inputs[1])
	}
	return t.result(0, t.unary(f, x))
}

func (t *translation) quickGelu() error {
	alpha := t.attrs.float("alpha", 1.702)
	if err := t.finite("alpha", alpha); err != nil {
		return err
	}
	return t.result(0, t.unary(FuncSilu, t.inputs[0], alpha))
}

// clip translates both forms of Clip: limits as attributes before operator set 11, as inputs since.
func (t *translation) clip() error {
	if t.value(0).Int {
		return t.clipInts()
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

func (t *translation) clipInts() error {
	x := t.inputs[0]
	for k, op := range []Op{OpMax, OpMin} {
		if t.present(k + 1) {
			x = t.emit(op, Attr{}, x, t.inputs[k+1])
		}
	}
	return t.result(0, x)
}
