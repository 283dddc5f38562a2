package quant

import (
	"math"
	"math/big"
)

// Tables are decided in software floating point with correct rounding, so that every machine builds the same ones. Results are within
// 2^-100 of the exact function, and rounding to an integer decides only at ties.
const precision = 160

func number(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

// wide has the digits that inner sums need beyond precision.
func wide() *big.Float { return new(big.Float).SetPrec(precision + 120) }

func half(x *big.Float) *big.Float { return newFloat().SetMantExp(x, -1) }

func positive(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return newFloat()
	}
	return x
}

// clip limits x; limits may be infinite, which a comparison handles.
func clip(x *big.Float, lo, hi float64) *big.Float {
	if l := number(lo); x.Cmp(l) < 0 {
		return l
	}
	if h := number(hi); x.Cmp(h) > 0 {
		return h
	}
	return x
}

// constant reads a number of 80 decimals.
func constant(digits string) *big.Float {
	v, _, err := big.ParseFloat(digits, 10, precision+100, big.ToNearestEven)
	if err != nil {
		panic(err) // the constants below are well-formed
	}
	return v
}

var (
	ln2 = constant("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586")
	pi  = constant("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
)

// saturation is the argument beyond which exponentials count as 0 or infinite and the logistic function as 0 or 1.
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

// tanh x = 2 logistic(2x) - 1.
func tanh(x *big.Float) *big.Float {
	y := logistic(newFloat().Mul(x, number(2)))
	return newFloat().Sub(newFloat().Mul(y, number(2)), number(1))
}

// exponential is e^x for every x.
func exponential(x *big.Float) *big.Float {
	if x.Cmp(number(saturation)) > 0 {
		return newFloat().SetInf(false)
	}
	if x.Cmp(number(-saturation)) < 0 {
		return newFloat()
	}
	return exp(x)
}

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

// logarithm is ln x, or minus infinity where there is none: x = m 2^k with m near 1, ln m = 2 artanh((m-1)/(m+1)).
func logarithm(x *big.Float) *big.Float {
	if x.Sign() <= 0 {
		return newFloat().SetInf(true)
	}
	if x.IsInf() {
		return x
	}
	m := wide()
	k := wide().Set(x).MantExp(m)
	if m.Cmp(number(0.75)) < 0 {
		m.SetMantExp(m, 1)
		k--
	}
	u := wide().Quo(wide().Sub(m, number(1)), wide().Add(m, number(1)))
	square, sum, term := wide().Mul(u, u), wide(), wide().Set(u)
	for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > -(precision+40); i += 2 {
		sum.Add(sum, wide().Quo(term, wide().SetInt64(i)))
		term.Mul(term, square)
	}
	sum.SetMantExp(sum, 1)
	return newFloat().Add(sum, wide().Mul(ln2, wide().SetInt64(int64(k))))
}

// softplus is ln(1 + e^x).
func softplus(x *big.Float) *big.Float {
	e := exponential(newFloat().Neg(newFloat().Abs(x)))
	return newFloat().Add(positive(x), logarithm(wide().Add(e, number(1))))
}

func elu(x, alpha *big.Float) *big.Float {
	if x.Sign() >= 0 {
		return x
	}
	e := wide().Sub(exponential(x), number(1))
	return newFloat().Mul(alpha, e)
}

// erf is 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), whose terms are all of one sign.
func erf(x *big.Float) *big.Float {
	if x.Cmp(number(9)) > 0 { // within 2^-120 of 1
		return number(1)
	}
	if x.Cmp(number(-9)) < 0 {
		return number(-1)
	}
	square := wide().Mul(x, x)
	sum, term := wide().Set(x), wide().Set(x)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-(precision+40); n++ {
		term.Mul(term, square)
		term.Quo(term.SetMantExp(term, 1), wide().SetInt64(2*n+1))
		sum.Add(sum, term)
	}
	sum.Mul(sum, exp(newFloat().Neg(square)))
	return newFloat().Quo(newFloat().SetMantExp(sum, 1), newFloat().Sqrt(newFloat().Set(pi)))
}

// reciprocal is 1/x, and infinite at 0.
func reciprocal(x *big.Float) *big.Float {
	switch {
	case x.Sign() == 0:
		return newFloat().SetInf(false)
	case x.IsInf():
		return newFloat()
	}
	return newFloat().Quo(number(1), x)
}

// power is x^p; 0 where that is not real, infinite at 0 for negative p.
func power(x *big.Float, p float64) *big.Float {
	whole := p == math.Trunc(p) && math.Abs(p) <= 64
	switch {
	case p == 0:
		return number(1)
	case x.Sign() == 0 && p < 0:
		return newFloat().SetInf(false)
	case x.Sign() == 0:
		return newFloat()
	case whole:
		y := number(1)
		for range int(math.Abs(p)) {
			y.Mul(y, x)
		}
		if p < 0 {
			return reciprocal(y)
		}
		return y
	case p == 0.5:
		return newFloat().Sqrt(positive(x))
	}
	y := exponential(newFloat().Mul(logarithm(newFloat().Abs(x)), number(p)))
	if x.Sign() < 0 {
		if p != math.Trunc(p) {
			return newFloat()
		}
		if math.Mod(p, 2) != 0 {
			y.Neg(y)
		}
	}
	return y
}

func floor(x *big.Float) *big.Float {
	if x.IsInf() || x.IsInt() {
		return x
	}
	i, _ := x.Int(nil) // truncates
	if x.Sign() < 0 {
		i.Sub(i, big.NewInt(1))
	}
	return newFloat().SetInt(i)
}

// roundEven rounds to the nearest integer, halves to the even one.
func roundEven(x *big.Float) *big.Float {
	if x.IsInf() {
		return x
	}
	f := floor(newFloat().Add(x, number(0.5)))
	d := newFloat().Sub(f, x)
	if h := half(f); d.Cmp(number(0.5)) == 0 && !h.IsInt() {
		f.Sub(f, number(1))
	}
	return f
}

// sine takes x modulo 2 pi and sums the Taylor series. Arguments that no model means are 0.
func sine(x *big.Float) *big.Float {
	if x.IsInf() || x.MantExp(nil) > 60 {
		return newFloat()
	}
	turn := wide().SetMantExp(pi, 1)
	k := floor(newFloat().Add(newFloat().Quo(x, turn), number(0.5)))
	r := wide().Sub(x, wide().Mul(turn, k))
	square, sum, term := wide().Mul(r, r), wide().Set(r), wide().Set(r)
	for i := int64(2); i < 100; i += 2 {
		term.Mul(term, square)
		term.Quo(term.Neg(term), wide().SetInt64(i*(i+1)))
		if term.Sign() == 0 || term.MantExp(nil) < -(precision+40) {
			break
		}
		sum.Add(sum, term)
	}
	return newFloat().Set(sum)
}

// boundless stands for an infinite result in what follows, since arithmetic with infinities has no value: it is beyond every code.
func boundless(sign int) *big.Float { return newFloat().SetMantExp(number(float64(sign)), 1000) }

// nearest returns the integer nearest to v / scale (halves upwards), limited to [lo, hi].
func nearest(v *big.Float, scale float64, lo, hi int64) int64 {
	if v.IsInf() {
		if v.Signbit() {
			return lo
		}
		return hi
	}
	v = newFloat().Quo(v, number(scale))
	v.Add(v, number(0.5))
	// Limit before converting, so that the conversion cannot overflow.
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
