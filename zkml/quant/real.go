package quant

import (
	"math/big"

	"github.com/zkwarp/zkwarp/zkml/internal/real"
)

// Tables are decided in software floating point with correct rounding, so that every machine builds the same ones. Rounding to an integer
// decides only at ties.
const precision = real.Precision

func number(v float64) *big.Float { return real.Number(v) }

func newFloat() *big.Float { return real.New() }

func exponential(x *big.Float) *big.Float { return real.Exp(x) }

func roundEven(x *big.Float) *big.Float { return real.RoundEven(x) }

func boundless(sign int) *big.Float { return real.Boundless(sign) }

func nearest(v *big.Float, scale float64, lo, hi int64) int64 { return real.Nearest(v, scale, lo, hi) }
