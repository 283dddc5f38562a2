package curve

import (
	"math/big"
	"testing"
)

// at is the value of y² - x³ - a x - b at a group's generator, over the extension
// Base[u]/(u² + Minus) where the degree is 2.
func (g *Group) at(x, y []*big.Int) []*big.Int {
	mul := func(a, b []*big.Int) []*big.Int {
		out := make([]*big.Int, g.Degree)
		if g.Degree == 1 {
			out[0] = new(big.Int).Mul(a[0], b[0])
		} else {
			out[0] = new(big.Int).Mul(a[1], b[1])
			out[0].Mul(out[0], big.NewInt(-int64(g.Minus))).Add(out[0], new(big.Int).Mul(a[0], b[0]))
			out[1] = new(big.Int).Mul(a[0], b[1])
			out[1].Add(out[1], new(big.Int).Mul(a[1], b[0]))
		}
		return out
	}
	yy, xxx, ax := mul(y, y), mul(mul(x, x), x), mul(g.A, x)
	out := make([]*big.Int, g.Degree)
	for i := range out {
		out[i] = new(big.Int).Sub(yy[i], xxx[i])
		out[i].Sub(out[i], ax[i]).Sub(out[i], g.B[i]).Mod(out[i], g.Base.Modulus)
	}
	return out
}

func TestGroups(t *testing.T) {
	for _, g := range append([]*Group{Toy61}, Groups...) {
		if !g.Base.Modulus.ProbablyPrime(20) || !g.Scalar.Modulus.ProbablyPrime(20) {
			t.Errorf("%s: a modulus is not prime", g.Name)
		}
		for _, v := range g.at(g.Generator[:g.Degree], g.Generator[g.Degree:]) {
			if v.Sign() != 0 {
				t.Errorf("%s: the generator is not on the curve", g.Name)
			}
		}
		one := g.Base.Montgomery(big.NewInt(1))
		if g.Base.FromMontgomery(one).Cmp(big.NewInt(1)) != 0 {
			t.Errorf("%s: Montgomery form", g.Name)
		}
	}
}
