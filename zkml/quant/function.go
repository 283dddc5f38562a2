package quant

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// unary is one element-wise function of a chain: fn with its parameters, or a*x + b when affine is set.
type unary struct {
	fn     onnx.Func
	affine bool
	a, b   float64
}

// String returns the function's name with its parameters.
func (u unary) String() string {
	switch {
	case u.affine && u.b == 0:
		return fmt.Sprintf("times %g", u.a)
	case u.affine:
		return fmt.Sprintf("times %g plus %g", u.a, u.b)
	case u.fn.Params() == 0:
		return u.fn.String()
	case u.fn.Params() == 1:
		return fmt.Sprintf("%s %g", u.fn, u.a)
	}
	return fmt.Sprintf("%s %g %g", u.fn, u.a, u.b)
}

// clamps reports whether a chain consists of clamps only, so that input and output can share one scale.
func clamps(chain []unary) bool {
	for _, u := range chain {
		if u.affine || u.fn != onnx.FuncRelu && u.fn != onnx.FuncClip {
			return false
		}
	}
	return true
}

// reach bounds the results of the last function of a chain that has a bounded range by nature: [lo, hi]. Such functions get a fixed scale,
// so that tables of different layers coincide.
func (u unary) reach() (lo, hi float64, ok bool) {
	if u.affine {
		return 0, 0, false
	}
	switch u.fn {
	case onnx.FuncSigmoid, onnx.FuncHardSigmoid:
		return 0, 1, true
	case onnx.FuncTanh, onnx.FuncErf, onnx.FuncSoftsign, onnx.FuncSin, onnx.FuncCos:
		return -1, 1, true
	}
	return 0, 0, false
}

// fast returns u(x) in float64, where error is at most a few units in the last place of the greatest number that occurs.
func (u unary) fast(x float64) float64 {
	if u.affine {
		return float64(u.a*x) + u.b
	}
	switch u.fn { // a total function also where the real one has no value
	case onnx.FuncLog:
		if x <= 0 {
			return math.Inf(-1)
		}
	case onnx.FuncSqrt:
		return math.Sqrt(max(x, 0))
	case onnx.FuncRsqrt:
		if x <= 0 {
			return math.Inf(1)
		}
	case onnx.FuncReciprocal:
		if x == 0 {
			return math.Inf(1)
		}
	case onnx.FuncPow:
		switch {
		case x == 0 && u.a < 0:
			return math.Inf(1)
		case x < 0 && u.a != math.Trunc(u.a):
			return 0
		}
	}
	return u.fn.At(x, u.a, u.b)
}

// apply returns u(x), correct to about 2^-100.
func (u unary) apply(x *big.Float) *big.Float {
	if u.affine {
		y := newFloat().Mul(x, number(u.a))
		return y.Add(y, number(u.b))
	}
	switch u.fn {
	case onnx.FuncRelu:
		return positive(x)
	case onnx.FuncLeakyRelu:
		if x.Sign() < 0 {
			return newFloat().Mul(x, number(u.a))
		}
		return x
	case onnx.FuncElu:
		return elu(x, number(u.a))
	case onnx.FuncSelu:
		return newFloat().Mul(elu(x, number(u.a)), number(u.b))
	case onnx.FuncSigmoid:
		return logistic(x)
	case onnx.FuncHardSigmoid:
		y := newFloat().Mul(x, number(u.a))
		return clip(y.Add(y, number(u.b)), 0, 1)
	case onnx.FuncTanh:
		return tanh(x)
	case onnx.FuncHardSwish:
		y := newFloat().Quo(x, number(6))
		return newFloat().Mul(x, clip(y.Add(y, number(0.5)), 0, 1))
	case onnx.FuncGelu:
		y := erf(newFloat().Quo(x, newFloat().Sqrt(number(2))))
		return half(newFloat().Mul(x, y.Add(y, number(1))))
	case onnx.FuncGeluTanh:
		cube := newFloat().Mul(newFloat().Mul(x, x), x)
		inner := newFloat().Add(x, cube.Mul(cube, number(0.044715)))
		y := tanh(inner.Mul(inner, newFloat().Sqrt(newFloat().Quo(number(2), pi))))
		return half(newFloat().Mul(x, newFloat().Add(y, number(1))))
	case onnx.FuncSilu:
		return newFloat().Mul(x, logistic(newFloat().Mul(x, number(u.a))))
	case onnx.FuncErf:
		return erf(x)
	case onnx.FuncExp:
		return exponential(x)
	case onnx.FuncLog:
		return logarithm(x)
	case onnx.FuncSqrt:
		return newFloat().Sqrt(positive(x))
	case onnx.FuncReciprocal:
		return reciprocal(x)
	case onnx.FuncRsqrt:
		return reciprocal(newFloat().Sqrt(positive(x)))
	}
	return u.applyOther(x)
}

func (u unary) applyOther(x *big.Float) *big.Float {
	switch u.fn {
	case onnx.FuncAbs:
		return newFloat().Abs(x)
	case onnx.FuncNeg:
		return newFloat().Neg(x)
	case onnx.FuncSign:
		return number(float64(x.Sign()))
	case onnx.FuncPositive:
		return number(float64(max(x.Sign(), 0)))
	case onnx.FuncZero:
		return number(float64(1 - x.Sign()*x.Sign()))
	case onnx.FuncFloor:
		return floor(x)
	case onnx.FuncCeil:
		return newFloat().Neg(floor(newFloat().Neg(x)))
	case onnx.FuncRound:
		return roundEven(x)
	case onnx.FuncSoftplus:
		return softplus(x)
	case onnx.FuncSoftsign:
		y := newFloat().Abs(x)
		return newFloat().Quo(x, y.Add(y, number(1)))
	case onnx.FuncMish:
		return newFloat().Mul(x, tanh(softplus(x)))
	case onnx.FuncClip:
		return clip(x, u.a, u.b)
	case onnx.FuncPow:
		return power(x, u.a)
	case onnx.FuncSin:
		return sine(x)
	case onnx.FuncCos:
		return sine(newFloat().Add(x, half(pi)))
	case onnx.FuncThresholdedRelu:
		if x.Cmp(number(u.a)) <= 0 {
			return newFloat()
		}
		return x
	}
	return x // Validity of functions is checked when the model is lowered.
}

// known reports whether tables of the function can be made.
func known(f onnx.Func) bool { return slices.Contains(knownFuncs, f) }

var knownFuncs = []onnx.Func{
	onnx.FuncRelu, onnx.FuncLeakyRelu, onnx.FuncElu, onnx.FuncSelu, onnx.FuncSigmoid, onnx.FuncHardSigmoid, onnx.FuncTanh, onnx.FuncHardSwish,
	onnx.FuncGelu, onnx.FuncGeluTanh, onnx.FuncSilu, onnx.FuncErf, onnx.FuncExp, onnx.FuncLog, onnx.FuncSqrt, onnx.FuncReciprocal,
	onnx.FuncRsqrt, onnx.FuncAbs, onnx.FuncNeg, onnx.FuncSign, onnx.FuncFloor, onnx.FuncCeil, onnx.FuncRound, onnx.FuncSoftplus,
	onnx.FuncSoftsign, onnx.FuncMish, onnx.FuncClip, onnx.FuncPow, onnx.FuncSin, onnx.FuncCos,
	onnx.FuncThresholdedRelu, onnx.FuncPositive, onnx.FuncZero,
}
