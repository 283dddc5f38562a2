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
	return u.fn.Exact(x, u.a, u.b)
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
