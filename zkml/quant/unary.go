package quant

import (
	"math"
	"math/big"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// unaryKind is an element-wise function that a table can hold. All of them are monotone.
type unaryKind uint8

const (
	relu unaryKind = iota
	clip
	sigmoid
	tanh
	scaleBy
)

// unary is a function of one real number; a and b are the limits of clip, a the factor of scaleBy.
type unary struct {
	kind unaryKind
	a, b float64
}

func unaryOf(n *onnx.Node) (unary, bool) {
	switch n.Attr.Func {
	case onnx.FuncRelu:
		return unary{kind: relu}, true
	case onnx.FuncClip:
		return unary{kind: clip, a: n.Attr.A, b: n.Attr.B}, true
	case onnx.FuncSigmoid:
		return unary{kind: sigmoid}, true
	case onnx.FuncTanh:
		return unary{kind: tanh}, true
	}
	return unary{}, false
}

// clamps reports whether a chain consists of clamps only, so that input and output can share one scale.
func clamps(chain []unary) bool {
	for _, u := range chain {
		if u.kind != relu && u.kind != clip {
			return false
		}
	}
	return true
}

// precision of the table arithmetic in bits. Tables are computed in software floating point with correct rounding, so that every
// machine builds the same ones; results are within 2^-100 of the exact function, and rounding to an integer decides only at ties.
const precision = 160

func number(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

// apply returns u(x).
func (u unary) apply(x *big.Float) *big.Float {
	switch u.kind {
	case relu:
		if x.Sign() < 0 {
			return newFloat()
		}
		return x
	case clip:
		// Limits may be infinite, which a comparison handles.
		if lo := number(u.a); x.Cmp(lo) < 0 {
			return lo
		}
		if hi := number(u.b); x.Cmp(hi) > 0 {
			return hi
		}
		return x
	case sigmoid:
		return logistic(x)
	case tanh:
		// tanh x = 2 sigmoid(2x) - 1
		y := logistic(newFloat().Mul(x, number(2)))
		return y.Sub(y.Mul(y, number(2)), number(1))
	}
	return newFloat().Mul(x, number(u.a))
}

// saturation is the argument beyond which the logistic function equals 0 or 1 to every digit kept.
const saturation = 200

// logistic returns 1 / (1 + e^-x).
func logistic(x *big.Float) *big.Float {
	if x.Cmp(number(saturation)) > 0 {
		return number(1)
	}
	if x.Cmp(number(-saturation)) < 0 {
		return newFloat()
	}
	e := exp(newFloat().Neg(x))
	return newFloat().Quo(number(1), e.Add(e, number(1)))
}

// ln2 to 60 decimals.
const ln2Digits = "0.693147180559945309417232121458176568075500134360255254120680"

var ln2 = func() *big.Float {
	v, _, err := big.ParseFloat(ln2Digits, 10, precision+40, big.ToNearestEven)
	if err != nil {
		panic(err) // the constant above is well-formed
	}
	return v
}()

// exp returns e^x for |x| <= saturation: x = k ln 2 + r, e^x = 2^k (e^(r/256))^256 with a Taylor series for the inner power.
func exp(x *big.Float) *big.Float {
	const halvings = 8
	work := func() *big.Float { return new(big.Float).SetPrec(precision + 40) }
	approx, _ := x.Float64()
	k := math.Floor(float64(approx / math.Ln2))
	r := work().Sub(x, work().Mul(ln2, work().SetFloat64(k)))
	r.SetMantExp(r, -halvings)
	sum, term := work().SetInt64(1), work().SetInt64(1)
	for i := int64(1); i < 40; i++ {
		term.Mul(term, r)
		term.Quo(term, work().SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -(precision+40) {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return newFloat().SetMantExp(sum, int(k))
}

// code returns the integer code of chain(q * qScale) at scale yScale, rounded to nearest (halves upwards) and clamped to [lo, hi].
func code(chain []unary, q int64, qScale, yScale float64, lo, hi int64) int64 {
	v := newFloat().SetInt64(q)
	v.Mul(v, number(qScale))
	for _, u := range chain {
		v = u.apply(v)
	}
	if v.IsInf() {
		if v.Signbit() {
			return lo
		}
		return hi
	}
	v = newFloat().Quo(v, number(yScale))
	v.Add(v, number(0.5))
	// Clamp before converting, so that the conversion cannot overflow.
	if v.Cmp(newFloat().SetInt64(lo)) <= 0 {
		return lo
	}
	if v.Cmp(newFloat().SetInt64(hi+1)) >= 0 {
		return hi
	}
	n, _ := v.Int64() // truncates
	if v.Sign() < 0 && !v.IsInt() {
		n-- // floor
	}
	return min(max(n, lo), hi)
}

// plainClamp reports whether a table only clamps codes, because input and output share a scale, which then cancels. It returns the lower
// limit.
func plainClamp(chain []unary, qScale, yScale float64, lo int64) (int64, bool) {
	switch {
	case qScale != yScale || len(chain) > 1:
		return 0, false
	case len(chain) == 0:
		return lo, true
	case chain[0].kind == relu:
		return max(lo, 0), true
	}
	return 0, false
}

// tableValues returns code(q) for all q of a table with that many bits. The chain is monotone, so a range whose ends agree is
// constant; this keeps the number of evaluations near the number of distinct codes.
func tableValues(chain []unary, bits int, qScale, yScale float64, lo, hi int64) []int32 {
	y := make([]int32, 1<<bits)
	half := int64(1) << (bits - 1)
	if lo, plain := plainClamp(chain, qScale, yScale, lo); plain {
		for i := range y {
			y[i] = int32(min(max(int64(i)-half, lo), hi))
		}
		return y
	}
	at := func(i int) int32 { return int32(code(chain, int64(i)-half, qScale, yScale, lo, hi)) }
	var fill func(first, last int)
	fill = func(first, last int) { // y[first] and y[last] are known
		if last-first < 2 {
			return
		}
		if y[first] == y[last] {
			for i := first + 1; i < last; i++ {
				y[i] = y[first]
			}
			return
		}
		middle := (first + last) / 2
		y[middle] = at(middle)
		fill(first, middle)
		fill(middle, last)
	}
	last := len(y) - 1
	y[0], y[last] = at(0), at(last)
	fill(0, last)
	return y
}
