package onnx

import (
	"fmt"
	"math"
)

// function describes a Func: its name, its number of parameters, and its value in float64 (rounded to float32 by the caller).
type function struct {
	name   string
	params int
	at     func(x, a, b float64) float64
}

var functions = [numFuncs]function{
	FuncRelu: {"relu", 0, func(x, _, _ float64) float64 { return max(x, 0) }},
	FuncLeakyRelu: {"leakyrelu", 1, func(x, a, _ float64) float64 {
		if x < 0 {
			return a * x
		}
		return x
	}},
	FuncElu: {"elu", 1, func(x, a, _ float64) float64 {
		if x < 0 {
			return a * math.Expm1(x)
		}
		return x
	}},
	FuncSelu: {"selu", 2, func(x, alpha, gamma float64) float64 {
		if x <= 0 {
			return gamma * (alpha * math.Expm1(x))
		}
		return gamma * x
	}},
	FuncSigmoid:     {"sigmoid", 0, func(x, _, _ float64) float64 { return logistic(x) }},
	FuncHardSigmoid: {"hardsigmoid", 2, func(x, alpha, beta float64) float64 { return min(max(float64(alpha*x)+beta, 0), 1) }},
	FuncTanh:        {"tanh", 0, func(x, _, _ float64) float64 { return math.Tanh(x) }},
	FuncHardSwish:   {"hardswish", 0, func(x, _, _ float64) float64 { return x * min(max(x/6+0.5, 0), 1) }},
	FuncGelu:        {"gelu", 0, func(x, _, _ float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }},
	FuncGeluTanh: {"gelutanh", 0, func(x, _, _ float64) float64 {
		return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+float64(0.044715*x*x*x))))
	}},
	FuncSilu:       {"silu", 1, func(x, a, _ float64) float64 { return x * logistic(a*x) }},
	FuncErf:        {"erf", 0, func(x, _, _ float64) float64 { return math.Erf(x) }},
	FuncExp:        {"exp", 0, func(x, _, _ float64) float64 { return math.Exp(x) }},
	FuncLog:        {"log", 0, func(x, _, _ float64) float64 { return math.Log(x) }},
	FuncSqrt:       {"sqrt", 0, func(x, _, _ float64) float64 { return math.Sqrt(x) }},
	FuncReciprocal: {"reciprocal", 0, func(x, _, _ float64) float64 { return 1 / x }},
	FuncRsqrt:      {"rsqrt", 0, func(x, _, _ float64) float64 { return 1 / math.Sqrt(x) }},
	FuncAbs:        {"abs", 0, func(x, _, _ float64) float64 { return math.Abs(x) }},
	FuncNeg:        {"neg", 0, func(x, _, _ float64) float64 { return -x }},
	FuncSign: {"sign", 0, func(x, _, _ float64) float64 {
		if x == 0 {
			return 0
		}
		return math.Copysign(1, x)
	}},
	FuncFloor:    {"floor", 0, func(x, _, _ float64) float64 { return math.Floor(x) }},
	FuncCeil:     {"ceil", 0, func(x, _, _ float64) float64 { return math.Ceil(x) }},
	FuncRound:    {"round", 0, func(x, _, _ float64) float64 { return math.RoundToEven(x) }},
	FuncSoftplus: {"softplus", 0, func(x, _, _ float64) float64 { return softplus(x) }},
	FuncSoftsign: {"softsign", 0, func(x, _, _ float64) float64 { return x / (1 + math.Abs(x)) }},
	FuncMish:     {"mish", 0, func(x, _, _ float64) float64 { return x * math.Tanh(softplus(x)) }},
	FuncClip:     {"clip", 2, func(x, lo, hi float64) float64 { return min(max(x, lo), hi) }},
	FuncPow:      {"pow", 1, func(x, a, _ float64) float64 { return math.Pow(x, a) }},
	FuncSin:      {"sin", 0, func(x, _, _ float64) float64 { return math.Sin(x) }},
	FuncThresholdedRelu: {"thresholdedrelu", 1, func(x, a, _ float64) float64 {
		if x > a {
			return x
		}
		return 0
	}},
	FuncCos:      {"cos", 0, func(x, _, _ float64) float64 { return math.Cos(x) }},
	FuncPositive: {"positive", 0, func(x, _, _ float64) float64 { return indicator(x > 0) }},
	FuncZero:     {"zero", 0, func(x, _, _ float64) float64 { return indicator(x == 0) }},
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// softplus is log(1 + e^x), written so that e^x cannot overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func (f Func) String() string {
	if f < numFuncs {
		return functions[f].name
	}
	return fmt.Sprintf("Func(%d)", uint8(f))
}

// Params returns how many parameters the function has: 0, 1 (A) or 2 (A and B).
func (f Func) Params() int { return functions[f].params }

// At returns the function's value with the parameters a and b, in float64.
func (f Func) At(x, a, b float64) float64 { return functions[f].at(x, a, b) }
