package onnx

// logicTable holds comparisons, logic and selection: on constants, and on masks of 0 and 1 that depend on the inputs.
var logicTable = map[string]operator{
	"Equal":          {2, 2, 1, (*translation).compare},
	"Less":           {2, 2, 1, (*translation).compare},
	"LessOrEqual":    {2, 2, 1, (*translation).compare},
	"Greater":        {2, 2, 1, (*translation).compare},
	"GreaterOrEqual": {2, 2, 1, (*translation).compare},
	"And":            {2, 2, 1, (*translation).logic},
	"Or":             {2, 2, 1, (*translation).logic},
	"Xor":            {2, 2, 1, (*translation).logic},
	"Not":            {1, 1, 1, (*translation).negation},
	"Where":          {3, 3, 1, (*translation).where},
	"IsNaN":          {1, 1, 1, (*translation).isNaN},
	"IsInf":          {1, 1, 1, (*translation).isNaN},
}

// compare evaluates comparisons. Of computed tensors they are functions of the difference.
func (t *translation) compare() error {
	a, b := t.value(0), t.value(1)
	switch {
	case a.Int != b.Int:
		return t.malformed("tensors %s and %s are of different types (integers and real numbers)", t.inputName(0), t.inputName(1))
	case a.Const != nil && b.Const != nil:
		return t.foldComparison(comparisons[t.proto.OpType])
	case a.IsMask() && b.Const != nil && a.Const == nil:
		if done, err := t.compareMask(0, 1); done || err != nil {
			return err
		}
	case b.IsMask() && a.Const != nil:
		if done, err := t.compareMask(1, 0); done || err != nil {
			return err
		}
	}
	x, y := t.inputs[0], t.inputs[1]
	f, opposite := FuncPositive, false
	switch t.proto.OpType {
	case "Equal":
		f = FuncZero
	case "Less":
		x, y = y, x
	case "LessOrEqual":
		opposite = true
	case "GreaterOrEqual":
		x, y, opposite = y, x, true
	}
	d := t.sub(x, y)
	if t.err == nil && a.Int && !t.im.m.Values[t.toReal(d)].Whole {
		return t.unsupported("a comparison of integers with a difference beyond 2^24")
	}
	mask := t.unary(f, t.toReal(d))
	if opposite {
		mask = t.not(mask)
	}
	return t.result(0, t.toInt(mask))
}

// compareMask compares a mask with a constant all of whose elements mean the same: the result is 0, 1, the mask, or its opposite.
func (t *translation) compareMask(mask, constant int) (done bool, err error) {
	f := comparisons[t.proto.OpType]
	m, c := t.value(mask), t.value(constant)
	shape, ok := broadcast(m.Shape, c.Shape)
	if !ok {
		return false, t.malformed("shapes %v and %v do not broadcast", m.Shape, c.Shape)
	}
	if c.Const.Len() == 0 {
		return false, nil
	}
	at := func(x float64, i int) int64 {
		a, b := x, c.Const.At(i)
		if mask == 1 {
			a, b = b, a
		}
		if f(a, b) {
			return 1
		}
		return 0
	}
	zero, one := at(0, 0), at(1, 0)
	for i := range c.Const.Len() {
		if at(0, i) != zero || at(1, i) != one {
			return false, nil
		}
	}
	x := t.expand(t.toInt(t.inputs[mask]), shape)
	switch {
	case zero == one:
		c := &Tensor{Shape: shape, Ints: make([]int64, elements(shape))}
		for i := range c.Ints {
			c.Ints[i] = zero
		}
		x = t.constTensor(c)
	case zero == 1:
		x = t.not(x)
	}
	return true, t.result(0, x)
}

// toInt turns whole numbers into integers.
func (t *translation) toInt(x int) int {
	if t.err != nil || x < 0 || t.im.m.Values[x].Int {
		return x
	}
	v := &t.im.m.Values[x]
	if !v.Whole {
		return t.fail(t.unsupported("tensor %s has real elements, expected integers", Quote(v.Name)))
	}
	if v.Const != nil {
		c := &Tensor{Shape: v.Shape, Ints: make([]int64, len(v.Const.Real))}
		for i, r := range v.Const.Real {
			c.Ints[i] = int64(r)
		}
		return t.constTensor(c)
	}
	return t.quantise(x, Attr{Scale: []float32{1}, Zero: []int64{0}, Lo: v.Lo, Hi: max(v.Hi, v.Lo+1)})
}

// needMask checks that input k is 0 or 1 everywhere.
func (t *translation) needMask(k int) error {
	if v := t.value(k); !v.IsMask() {
		return t.unsupported("input %s is not known to be 0 or 1", t.inputName(k))
	}
	return nil
}

// logic is arithmetic on masks.
func (t *translation) logic() error {
	for k := range 2 {
		if err := t.needMask(k); err != nil {
			return err
		}
	}
	if c := t.integerConstants(); c != nil {
		return c()
	}
	a, b := t.toInt(t.inputs[0]), t.toInt(t.inputs[1])
	switch t.proto.OpType {
	case "And":
		return t.result(0, t.mul(a, b))
	case "Or":
		return t.result(0, t.max(a, b))
	}
	y := t.max(t.mul(a, t.not(b)), t.mul(t.not(a), b))
	return t.result(0, y)
}

func (t *translation) negation() error {
	if err := t.needMask(0); err != nil {
		return err
	}
	return t.result(0, t.not(t.inputs[0]))
}

// isNaN is false for everything computed: evaluation refuses to go on with NaN, and no operation makes infinities of finite numbers.
// Constants are looked at; they may be infinite but not NaN.
func (t *translation) isNaN() error {
	v := t.value(0)
	if err := t.real(0); err != nil {
		return err
	}
	negative, positive := true, true
	if t.proto.OpType == "IsInf" {
		negative, positive = t.attrs.flag("detect_negative", true), t.attrs.flag("detect_positive", true)
	}
	c := &Tensor{Shape: v.Shape, Ints: make([]int64, elements(v.Shape))}
	if v.Const != nil && t.proto.OpType == "IsInf" {
		for i, x := range v.Const.Real {
			if x-x != 0 && (x < 0 && negative || x > 0 && positive) {
				c.Ints[i] = 1
			}
		}
	}
	if err := t.charge(c.Len()); err != nil {
		return err
	}
	return t.result(0, t.constTensor(c))
}

// where selects by a mask. One of the two sides has to be a constant, or both are multiplied by the mask and its opposite.
func (t *translation) where() error {
	if err := t.needMask(0); err != nil {
		return err
	}
	mask, x, y := t.inputs[0], t.inputs[1], t.inputs[2]
	m, vx, vy := t.value(0), t.value(1), t.value(2)
	shape, ok := broadcast(m.Shape, vx.Shape, vy.Shape)
	if !ok {
		return t.malformed("shapes %v, %v and %v do not broadcast", m.Shape, vx.Shape, vy.Shape)
	}
	if m.Const != nil && m.Const.Len() > 0 && m.Lo == m.Hi { // one side is never taken
		if m.Lo == 1 {
			return t.result(0, t.expand(x, shape))
		}
		return t.result(0, t.expand(y, shape))
	}
	switch {
	case vy.Const != nil:
		return t.result(0, t.sel(x, mask, y))
	case vx.Const != nil:
		return t.result(0, t.sel(y, t.not(mask), x))
	}
	zero := t.scalar(0)
	if vx.Int {
		zero = t.integer(0)
	}
	either := t.add(t.sel(x, mask, zero), t.sel(y, t.not(mask), zero))
	if narrow(vx.Type) {
		either = t.typed(either, vx.Type)
	}
	return t.result(0, either)
}
