package onnx

import (
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/internal/real"
)

// microsoftTable holds the quantised operators that onnxruntime adds. Their definitions leave the arithmetic open, so the formulas here
// are those of onnxruntime's own kernels on processors with fused multiply-add, as far as they do not depend on the order of a sum.
var microsoftTable = map[string]operator{
	"com.microsoft.QGemm":                    {1, 9, 1, (*translation).qgemm},
	"com.microsoft.QLinearAdd":               {1, 8, 1, (*translation).qlinearPair},
	"com.microsoft.QLinearMul":               {1, 8, 1, (*translation).qlinearPair},
	"com.microsoft.QLinearConcat":            {1, -1, 1, (*translation).qlinearConcat},
	"com.microsoft.QLinearSigmoid":           {1, 5, 1, (*translation).qlinearUnary},
	"com.microsoft.QLinearLeakyRelu":         {1, 5, 1, (*translation).qlinearUnary},
	"com.microsoft.QLinearAveragePool":       {1, 5, 1, (*translation).qlinearPool},
	"com.microsoft.QLinearGlobalAveragePool": {1, 5, 1, (*translation).qlinearGlobalPool},
	"com.microsoft.QLinearSoftmax":           {1, 5, 1, (*translation).qlinearSoftmax},
}

// codes is how the elements of a tensor stand for real numbers.
type codes struct {
	scale  float32
	zero   int64
	lo, hi int64
	kind   int32
}

// codesOf reads one scale and one zero point. An absent zero point has the element type of operand like.
func (t *translation) codesOf(scaleAt, zeroAt, like int) (codes, error) {
	scale, err := t.scaleInput(scaleAt)
	if err != nil {
		return codes{}, err
	}
	zero, kind, err := t.zeroInput(zeroAt)
	if err != nil {
		return codes{}, err
	}
	if kind == 0 && t.present(like) {
		kind = t.value(like).Type
	}
	if len(scale) != 1 || len(zero) != 1 {
		return codes{}, t.unsupported("%d scales and %d zero points, expected one of each", len(scale), len(zero))
	}
	c := codes{scale: scale[0], zero: zero[0], kind: kind}
	var ok bool
	if c.lo, c.hi, ok = integerRange(kind); !ok || c.hi-c.lo > math.MaxUint8 {
		return c, t.unsupported("codes of type %s, expected INT8 or UINT8", typeName(kind))
	}
	return c, nil
}

// real is the number that a code stands for.
func (c codes) real(x int64) float32 { return float32(float32(x-c.zero) * c.scale) }

// round is the code of a number, the zero point added to the rounded quotient.
func (c codes) round(v float32) int64 {
	return c.clamp(roundEven(v/c.scale) + c.zero)
}

func (c codes) clamp(x int64) int64 { return min(max(x, c.lo), c.hi) }

// roundEven rounds to an integer, ties to even; beyond 2^40 every code saturates.
func roundEven(v float32) int64 {
	return int64(math.RoundToEven(min(max(float64(v), -1<<40), 1<<40)))
}

// fused is a * b + c, rounded to float64 and then to float32, which differs from rounding once only where the sum lies within 2^-29 of the
// middle between two neighbours.
func fused(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) }

// operand checks that input k holds integers of 8 bits.
func (t *translation) operand(k int) error {
	if !t.present(k) {
		return malformed("%s: input %d is missing", t.label, k)
	}
	if v := t.value(k); !v.Int || v.Hi-v.Lo > math.MaxUint8 {
		return t.unsupported("input %s is not of type INT8 or UINT8", t.inputName(k))
	}
	return nil
}

// qgemm translates alpha * A * B with an integer bias: codes if there is a scale for them, else real numbers.
func (t *translation) qgemm() error {
	alpha := float32(t.parameter("alpha", 1))
	if !(alpha > 0) {
		return t.unsupported("attribute \"alpha\" is %g, expected a positive number", alpha)
	}
	for _, k := range []int{0, 3} {
		if err := t.operand(k); err != nil {
			return err
		}
	}
	a, err := t.centred(0, 2, -1)
	if err != nil {
		return err
	}
	const m, k, n = 0, 1, 2
	la, lb, axis := []uint8{m, k}, []uint8{k, n}, 1
	if t.attrs.flag("transA", false) {
		slices.Reverse(la)
	}
	if t.attrs.flag("transB", false) {
		slices.Reverse(lb)
		axis = 0
	}
	b, err := t.centred(3, 5, axis)
	if err != nil {
		return err
	}
	acc := t.einsum([][]uint8{la, lb, {m, n}}, a, b)
	if t.present(6) {
		acc = t.add(acc, t.inputs[6])
	}
	if t.err != nil {
		return t.err
	}
	if t.present(7) {
		factors, err := t.scales3(1, 4, 7, alpha)
		if err != nil {
			return err
		}
		return t.requantise(acc, factors, 1, 8)
	}
	sa, err := t.scaleInput(1)
	if err != nil {
		return err
	}
	sb, err := t.scaleInput(4)
	if err != nil {
		return err
	}
	factors, err := multipliers(alpha, sa, sb, []float32{1})
	if err != nil {
		return t.unsupported("%w", err)
	}
	return t.result(0, t.dequantise(acc, Attr{Axis: 1, Scale: factors, Zero: make([]int64, len(factors))}))
}

// qlinearPair translates QLinearAdd and QLinearMul into a table over both codes.
func (t *translation) qlinearPair() error {
	a, err := t.codesOf(1, 2, 0)
	if err != nil {
		return err
	}
	b, err := t.codesOf(4, 5, 3)
	if err != nil {
		return err
	}
	y, err := t.codesOf(6, 7, 0)
	if err != nil {
		return err
	}
	for _, k := range []int{0, 3} {
		if err := t.operand(k); err != nil {
			return err
		}
	}
	f := addCodes(a, b, y)
	if t.proto.OpType == "QLinearMul" {
		f = mulCodes(a, b, y)
	}
	return t.result(0, t.typed(t.table(f, t.inputs[0], t.inputs[3]), y.kind))
}

// addCodes is a sum of codes: two fused operations on the codes themselves, with all zero points in one offset.
func addCodes(a, b, y codes) func(x []int64) int64 {
	ra, rb := a.scale/y.scale, b.scale/y.scale
	offset := float32(y.zero) - float32(float32(ra*float32(a.zero))+float32(rb*float32(b.zero)))
	return func(x []int64) int64 {
		return y.clamp(roundEven(fused(float32(x[0]), ra, fused(float32(x[1]), rb, offset))))
	}
}

// mulCodes is a product of codes; the zero point is added before rounding.
func mulCodes(a, b, y codes) func(x []int64) int64 {
	r := float32(a.scale*b.scale) / y.scale
	return func(x []int64) int64 {
		return y.clamp(roundEven(float32(float32((x[0]-a.zero)*(x[1]-b.zero))*r) + float32(y.zero)))
	}
}

// averageCodes is the code of an average, given the sum of that many centred codes.
func averageCodes(scale float32, over int64, y codes) func(x []int64) int64 {
	return func(x []int64) int64 {
		average := float32(float32(x[0])*scale) / float32(over)
		return y.clamp(roundEven(average/y.scale + float32(y.zero)))
	}
}

// unaryCodes are the codes of the one operand and of the result, with scales and zero points in inputs 1 to 4.
func (t *translation) unaryCodes() (x, y codes, err error) {
	if x, err = t.codesOf(1, 2, 0); err != nil {
		return x, y, err
	}
	if y, err = t.codesOf(3, 4, 0); err != nil {
		return x, y, err
	}
	return x, y, t.operand(0)
}

// qlinearUnary translates QLinearSigmoid and QLinearLeakyRelu into a table over the codes.
func (t *translation) qlinearUnary() error {
	x, y, err := t.unaryCodes()
	if err != nil {
		return err
	}
	f := func(v float32) float32 {
		y, _ := FuncSigmoid.Exact(real.Number(float64(v)), 0, 0).Float32()
		return y
	}
	if t.proto.OpType == "QLinearLeakyRelu" {
		alpha := float32(t.parameter("alpha", 0.01))
		f = func(v float32) float32 {
			if v >= 0 {
				return v
			}
			return v * alpha
		}
	}
	return t.result(0, t.typed(t.table(func(q []int64) int64 { return y.round(f(x.real(q[0]))) }, t.inputs[0]), y.kind))
}

// qlinearConcat brings every operand to the result's scale and joins them.
func (t *translation) qlinearConcat() error {
	if len(t.inputs)%3 != 2 {
		return malformed("%s: %d inputs, expected two and three for every operand", t.label, len(t.inputs))
	}
	y, err := t.codesOf(0, 1, 2)
	if err != nil {
		return err
	}
	rank := len(t.value(2).Shape)
	axis := t.attrs.int("axis", 0)
	if axis < -int64(rank) || axis >= int64(rank) {
		return malformed("%s: attribute \"axis\" is %d, the operand has rank %d", t.label, axis, rank)
	}
	var parts []int
	for k := 2; k < len(t.inputs); k += 3 {
		if !t.present(k) {
			return malformed("%s: input %d is missing", t.label, k)
		}
		x, err := t.codesOf(k+1, k+2, k)
		if err != nil {
			return err
		}
		if err := t.operand(k); err != nil {
			return err
		}
		part := t.inputs[k]
		if x != y {
			part = t.table(func(q []int64) int64 { return y.round(x.real(q[0])) }, part)
		}
		parts = append(parts, part)
	}
	return t.result(0, t.typed(t.concat(int((axis+int64(rank))%int64(rank)), parts...), y.kind))
}

// channelsFirst moves the channels of an operand with attribute channels_last to axis 1, and says how to move them back.
func (t *translation) channelsFirst() (int, []int) {
	x, rank := t.inputs[0], len(t.value(0).Shape)
	if !t.attrs.flag("channels_last", false) || rank < 3 {
		return x, nil
	}
	to, back := []int{0, rank - 1}, []int{0}
	for i := 1; i < rank-1; i++ {
		to, back = append(to, i), append(back, i+1)
	}
	return t.transpose(x, to), append(back, 1)
}

// qlinearPool sums the windows of centred codes and looks the average up by the sum. Windows of different numbers of elements are
// brought to one by a common multiple.
func (t *translation) qlinearPool() error {
	c, y, err := t.unaryCodes()
	if err != nil {
		return err
	}
	padding := t.attrs.flag("count_include_pad", false)
	x, back := t.channelsFirst()
	if t.err != nil {
		return t.err
	}
	wins, err := t.pool(x)
	if err != nil {
		return err
	}
	if c.zero != 0 {
		x = t.sub(x, t.integer(c.zero))
	}
	sum, counts, err := t.windowSums(x, wins, padding)
	if err != nil {
		return err
	}
	common := int64(1)
	for _, n := range counts.Ints {
		if common = common / gcd(common, n) * n; common > maxTable {
			return t.unsupported("windows of so many different sizes")
		}
	}
	if counts.Len() > 1 {
		times := &Tensor{Shape: counts.Shape, Ints: make([]int64, counts.Len())}
		for i, n := range counts.Ints {
			times.Ints[i] = common / n
		}
		sum = t.mul(sum, t.constTensor(times))
	}
	out := t.table(averageCodes(c.scale, common, y), sum)
	if back != nil {
		out = t.transpose(out, back)
	}
	return t.result(0, t.typed(out, y.kind))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (t *translation) qlinearGlobalPool() error {
	c, y, err := t.unaryCodes()
	if err != nil {
		return err
	}
	x, back := t.channelsFirst()
	if t.err != nil {
		return t.err
	}
	shape := t.shape(x)
	if len(shape) < 3 {
		return t.unsupported("an operand of shape %v, expected batch, channels and at least one more axis", shape)
	}
	axes := make([]int, len(shape)-2)
	for i := range axes {
		axes[i] = 2 + i
	}
	if c.zero != 0 {
		x = t.sub(x, t.integer(c.zero))
	}
	sum := t.reduce(OpReduceSum, x, axes, true)
	factor := c.scale / float32(y.scale*float32(elements(shape[2:])))
	out := t.quantise(sum, Attr{Scale: []float32{factor}, Zero: []int64{y.zero}, Lo: y.lo, Hi: y.hi})
	if back != nil {
		out = t.transpose(out, back)
	}
	return t.result(0, t.typed(out, y.kind))
}

// qlinearSoftmax goes through real numbers. onnxruntime's kernel multiplies by the whole part of the inverse of the result's scale.
func (t *translation) qlinearSoftmax() error {
	x, y, err := t.unaryCodes()
	if err != nil {
		return err
	}
	rank := len(t.value(0).Shape)
	opset := t.attrs.int("opset", 13)
	axis, err := t.axis(-1, rank, true)
	if err != nil {
		return err
	}
	axes := []int{axis}
	for a := axes[0] + 1; a < rank && opset < 13; a++ {
		axes = append(axes, a)
	}
	inverse := float32(math.Floor(float64(1 / y.scale)))
	if !(inverse >= 1) {
		return t.unsupported("the result's scale is %g, expected at most 1", y.scale)
	}
	v := t.dequantise(t.inputs[0], Attr{Scale: []float32{x.scale}, Zero: []int64{x.zero}})
	out := t.quantise(t.softmax(v, axes), Attr{Scale: []float32{1 / inverse}, Zero: []int64{y.zero}, Lo: y.lo, Hi: y.hi})
	return t.result(0, t.typed(out, y.kind))
}
