// Package real computes functions of real numbers in software, to 160 bits: every machine gets the same results, so tables and constants that
// programs are made of do not depend on a processor or a mathematics library.
package real

import (
	"math"
	"math/big"
)

// Precision is the number of bits of results, which are within 2^-100 of the exact function.
const Precision = 160

// Number is a float64 in this arithmetic.
func Number(v float64) *big.Float { return new(big.Float).SetPrec(Precision).SetFloat64(v) }

// New is zero, a place for a result.
func New() *big.Float { return new(big.Float).SetPrec(Precision) }

// wide has the digits that inner sums need beyond Precision.
func wide() *big.Float { return new(big.Float).SetPrec(Precision + 120) }

// Half is x/2.
func Half(x *big.Float) *big.Float { return New().SetMantExp(x, -1) }

// Positive is x, or 0 below it.
func Positive(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return New()
	}
	return x
}

// Clip limits x; limits may be infinite, which a comparison handles.
func Clip(x *big.Float, lo, hi float64) *big.Float {
	if l := Number(lo); x.Cmp(l) < 0 {
		return l
	}
	if h := Number(hi); x.Cmp(h) > 0 {
		return h
	}
	return x
}

// constant reads a number of 80 decimals.
func constant(digits string) *big.Float {
	v, _, err := big.ParseFloat(digits, 10, Precision+100, big.ToNearestEven)
	if err != nil {
		panic(err) // the constants below are well-formed
	}
	return v
}

var (
	ln2 = constant("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586")
	pi  = constant("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
)

// Pi returns the number.
func Pi() *big.Float { return New().Set(pi) }

// saturation is the argument beyond which exponentials count as 0 or infinite and the logistic function as 0 or 1.
const saturation = 200

// Logistic returns 1 / (1 + e^-x).
func Logistic(x *big.Float) *big.Float {
	if x.Cmp(Number(saturation)) > 0 {
		return Number(1)
	}
	if x.Cmp(Number(-saturation)) < 0 {
		return New()
	}
	e := exp(New().Neg(x))
	return New().Quo(Number(1), e.Add(e, Number(1)))
}

// Tanh returns 2 Logistic(2x) - 1.
func Tanh(x *big.Float) *big.Float {
	y := Logistic(New().Mul(x, Number(2)))
	return New().Sub(New().Mul(y, Number(2)), Number(1))
}

// Exp is e^x for every x.
func Exp(x *big.Float) *big.Float {
	if x.Cmp(Number(saturation)) > 0 {
		return New().SetInf(false)
	}
	if x.Cmp(Number(-saturation)) < 0 {
		return New()
	}
	return exp(x)
}

// exp returns e^x for |x| <= saturation: x = k ln 2 + r, e^x = 2^k (e^(r/256))^256 with a Taylor series for the inner power.
func exp(x *big.Float) *big.Float {
	const halvings = 8
	work := func() *big.Float { return new(big.Float).SetPrec(Precision + 40) }
	approx, _ := x.Float64()
	k := math.Floor(float64(approx / math.Ln2))
	r := work().Sub(x, work().Mul(ln2, work().SetFloat64(k)))
	r.SetMantExp(r, -halvings)
	sum, term := work().SetInt64(1), work().SetInt64(1)
	for i := int64(1); i < 40; i++ {
		term.Mul(term, r)
		term.Quo(term, work().SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -(Precision+40) {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return New().SetMantExp(sum, int(k))
}

// Log is ln x, or minus infinity where there is none: x = m 2^k with m near 1, ln m = 2 artanh((m-1)/(m+1)).
func Log(x *big.Float) *big.Float {
	if x.Sign() <= 0 {
		return New().SetInf(true)
	}
	if x.IsInf() {
		return x
	}
	m := wide()
	k := wide().Set(x).MantExp(m)
	if m.Cmp(Number(0.75)) < 0 {
		m.SetMantExp(m, 1)
		k--
	}
	u := wide().Quo(wide().Sub(m, Number(1)), wide().Add(m, Number(1)))
	square, sum, term := wide().Mul(u, u), wide(), wide().Set(u)
	for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > -(Precision+40); i += 2 {
		sum.Add(sum, wide().Quo(term, wide().SetInt64(i)))
		term.Mul(term, square)
	}
	sum.SetMantExp(sum, 1)
	return New().Add(sum, wide().Mul(ln2, wide().SetInt64(int64(k))))
}

// Softplus is ln(1 + e^x).
func Softplus(x *big.Float) *big.Float {
	e := Exp(New().Neg(New().Abs(x)))
	return New().Add(Positive(x), Log(wide().Add(e, Number(1))))
}

// Elu is x, or alpha (e^x - 1) below 0.
func Elu(x, alpha *big.Float) *big.Float {
	if x.Sign() >= 0 {
		return x
	}
	e := wide().Sub(Exp(x), Number(1))
	return New().Mul(alpha, e)
}

// Erf is 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), whose terms are all of one sign.
func Erf(x *big.Float) *big.Float {
	if x.Cmp(Number(9)) > 0 { // within 2^-120 of 1
		return Number(1)
	}
	if x.Cmp(Number(-9)) < 0 {
		return Number(-1)
	}
	square := wide().Mul(x, x)
	sum, term := wide().Set(x), wide().Set(x)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-(Precision+40); n++ {
		term.Mul(term, square)
		term.Quo(term.SetMantExp(term, 1), wide().SetInt64(2*n+1))
		sum.Add(sum, term)
	}
	sum.Mul(sum, exp(New().Neg(square)))
	return New().Quo(New().SetMantExp(sum, 1), New().Sqrt(New().Set(pi)))
}

// Reciprocal is 1/x, and infinite at 0.
func Reciprocal(x *big.Float) *big.Float {
	switch {
	case x.Sign() == 0:
		return New().SetInf(false)
	case x.IsInf():
		return New()
	}
	return New().Quo(Number(1), x)
}

// Power is x^p; 0 where that is not real, infinite at 0 for negative p.
func Power(x *big.Float, p float64) *big.Float {
	whole := p == math.Trunc(p) && math.Abs(p) <= 64
	switch {
	case p == 0:
		return Number(1)
	case x.Sign() == 0 && p < 0:
		return New().SetInf(false)
	case x.Sign() == 0:
		return New()
	case whole:
		y := Number(1)
		for range int(math.Abs(p)) {
			y.Mul(y, x)
		}
		if p < 0 {
			return Reciprocal(y)
		}
		return y
	case p == 0.5:
		return New().Sqrt(Positive(x))
	}
	y := Exp(New().Mul(Log(New().Abs(x)), Number(p)))
	if x.Sign() < 0 {
		if p != math.Trunc(p) {
			return New()
		}
		if math.Mod(p, 2) != 0 {
			y.Neg(y)
		}
	}
	return y
}

// Floor is the greatest integer that x reaches.
func Floor(x *big.Float) *big.Float {
	if x.IsInf() || x.IsInt() {
		return x
	}
	i, _ := x.Int(nil) // truncates
	if x.Sign() < 0 {
		i.Sub(i, big.NewInt(1))
	}
	return New().SetInt(i)
}

// RoundEven rounds to the nearest integer, halves to the even one.
func RoundEven(x *big.Float) *big.Float {
	if x.IsInf() {
		return x
	}
	f := Floor(New().Add(x, Number(0.5)))
	d := New().Sub(f, x)
	if h := Half(f); d.Cmp(Number(0.5)) == 0 && !h.IsInt() {
		f.Sub(f, Number(1))
	}
	return f
}

// Sine takes x modulo 2 pi and sums the Taylor series. Arguments that no model means are 0.
func Sine(x *big.Float) *big.Float {
	if x.IsInf() || x.MantExp(nil) > 60 {
		return New()
	}
	turn := wide().SetMantExp(pi, 1)
	k := Floor(New().Add(New().Quo(x, turn), Number(0.5)))
	r := wide().Sub(x, wide().Mul(turn, k))
	square, sum, term := wide().Mul(r, r), wide().Set(r), wide().Set(r)
	for i := int64(2); i < 100; i += 2 {
		term.Mul(term, square)
		term.Quo(term.Neg(term), wide().SetInt64(i*(i+1)))
		if term.Sign() == 0 || term.MantExp(nil) < -(Precision+40) {
			break
		}
		sum.Add(sum, term)
	}
	return New().Set(sum)
}

// Boundless stands for an infinite result in what follows, since arithmetic with infinities has no value: it is beyond every code.
func Boundless(sign int) *big.Float { return New().SetMantExp(Number(float64(sign)), 1000) }

// Nearest returns the integer nearest to v / scale (halves upwards), limited to [lo, hi].
func Nearest(v *big.Float, scale float64, lo, hi int64) int64 {
	if v.IsInf() {
		if v.Signbit() {
			return lo
		}
		return hi
	}
	v = New().Quo(v, Number(scale))
	v.Add(v, Number(0.5))
	// Limit before converting, so that the conversion cannot overflow.
	if v.Cmp(New().SetInt64(lo)) <= 0 {
		return lo
	}
	if v.Cmp(New().SetInt64(hi+1)) >= 0 {
		return hi
	}
	n, _ := v.Int64() // truncates
	if v.Sign() < 0 && !v.IsInt() {
		n-- // floor
	}
	return min(max(n, lo), hi)
}
