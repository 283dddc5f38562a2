package onnx

import (
	"math/big"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/internal/real"
)

// Exact returns the function's value, correct to about 2^-100 and the same on every machine. It is infinite at poles, and where the real
// function has no value a number takes its place, so that it is total.
func (f Func) Exact(x *big.Float, a, b float64) *big.Float {
	switch f {
	case FuncRelu:
		return real.Positive(x)
	case FuncLeakyRelu:
		if x.Sign() < 0 {
			return real.New().Mul(x, real.Number(a))
		}
		return x
	case FuncElu:
		return real.Elu(x, real.Number(a))
	case FuncSelu:
		return real.New().Mul(real.Elu(x, real.Number(a)), real.Number(b))
	case FuncSigmoid:
		return real.Logistic(x)
	case FuncHardSigmoid:
		y := real.New().Mul(x, real.Number(a))
		return real.Clip(y.Add(y, real.Number(b)), 0, 1)
	case FuncTanh:
		return real.Tanh(x)
	case FuncHardSwish:
		y := real.New().Quo(x, real.Number(6))
		return real.New().Mul(x, real.Clip(y.Add(y, real.Number(0.5)), 0, 1))
	case FuncGelu:
		y := real.Erf(real.New().Quo(x, real.New().Sqrt(real.Number(2))))
		return real.Half(real.New().Mul(x, y.Add(y, real.Number(1))))
	case FuncGeluTanh:
		cube := real.New().Mul(real.New().Mul(x, x), x)
		inner := real.New().Add(x, cube.Mul(cube, real.Number(0.044715)))
		y := real.Tanh(inner.Mul(inner, real.New().Sqrt(real.New().Quo(real.Number(2), real.Pi()))))
		return real.Half(real.New().Mul(x, real.New().Add(y, real.Number(1))))
	case FuncSilu:
		return real.New().Mul(x, real.Logistic(real.New().Mul(x, real.Number(a))))
	case FuncErf:
		return real.Erf(x)
	case FuncExp:
		return real.Exp(x)
	case FuncLog:
		return real.Log(x)
	case FuncSqrt:
		return real.New().Sqrt(real.Positive(x))
	case FuncReciprocal:
		return real.Reciprocal(x)
	case FuncRsqrt:
		return real.Reciprocal(real.New().Sqrt(real.Positive(x)))
	}
	return f.exactOther(x, a, b)
}

func (f Func) exactOther(x *big.Float, a, b float64) *big.Float {
	switch f {
	case FuncAbs:
		return real.New().Abs(x)
	case FuncNeg:
		return real.New().Neg(x)
	case FuncSign:
		return real.Number(float64(x.Sign()))
	case FuncFloor:
		return real.Floor(x)
	case FuncCeil:
		return real.New().Neg(real.Floor(real.New().Neg(x)))
	case FuncRound:
		return real.RoundEven(x)
	case FuncSoftplus:
		return real.Softplus(x)
	case FuncSoftsign:
		y := real.New().Abs(x)
		return real.New().Quo(x, y.Add(y, real.Number(1)))
	case FuncMish:
		return real.New().Mul(x, real.Tanh(real.Softplus(x)))
	case FuncClip:
		return real.Clip(x, a, b)
	case FuncPow:
		return real.Power(x, a)
	case FuncSin:
		return real.Sine(x)
	case FuncCos:
		return real.Sine(real.New().Add(x, real.Half(real.Pi())))
	case FuncThresholdedRelu:
		if x.Cmp(real.Number(a)) <= 0 {
			return real.New()
		}
		return x
	case FuncPositive:
		return real.Number(float64(max(x.Sign(), 0)))
	case FuncZero:
		return real.Number(float64(1 - x.Sign()*x.Sign()))
	}
	return x // there is no other function
}

// plainFuncs need only operations that IEEE 754 rounds correctly, so their float64 values are the same everywhere.
var plainFuncs = []Func{
	FuncRelu, FuncLeakyRelu, FuncHardSigmoid, FuncHardSwish, FuncSqrt, FuncReciprocal, FuncRsqrt, FuncAbs, FuncNeg, FuncSign, FuncFloor, FuncCeil,
	FuncRound, FuncSoftsign, FuncClip, FuncThresholdedRelu, FuncPositive, FuncZero,
}

// evaluateExact is evaluate without the mathematics library, whose last bits differ between processors. What becomes part of a program,
// constants and tables, is computed so.
func (n *Node) evaluateExact(in []*Tensor, v *Value) (*Tensor, error) {
	if n.Op != OpUnary || slices.Contains(plainFuncs, n.Attr.Func) {
		return n.evaluate(in, v)
	}
	x, out := in[0].Real, v.blank(elements(v.Shape))
	parallel(len(x), 1<<6, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out.Real[i], _ = n.Attr.Func.Exact(real.Number(float64(x[i])), n.Attr.A, n.Attr.B).Float32()
		}
	})
	return out, n.checkFinite(in, out.Real)
}
