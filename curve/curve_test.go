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

// The constants of the Edwards form are what its derivation says, and it has the
// generator's image.
func TestEdwardsForm(t *testing.T) {
	g := BLS12377Edwards
	e, p := g.Edwards, g.Base.Modulus
	mod := func(v *big.Int) *big.Int { return v.Mod(v, p) }
	mul := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }
	inverse := func(a *big.Int) *big.Int { return new(big.Int).ModInverse(a, p) }
	if mul(e.Root3, e.Root3).Cmp(big.NewInt(3)) != 0 {
		t.Error("Root3 is not a root of 3")
	}
	s := inverse(e.Root3)
	a := mod(new(big.Int).Mul(big.NewInt(-3), s)) // of the Montgomery form, where B = s
	plus, minus := new(big.Int).Add(a, big.NewInt(2)), new(big.Int).Sub(a, big.NewInt(2))
	if mul(mul(e.C, e.C), s).Cmp(mod(new(big.Int).Neg(plus))) != 0 {
		t.Error("C is not a root of -(A + 2)/B")
	}
	if want := mul(new(big.Int).Neg(minus), inverse(plus)); e.D.Cmp(want) != 0 {
		t.Error("D is not -(A - 2)/(A + 2)")
	}
	one := big.NewInt(1)
	x1 := new(big.Int).Add(g.Generator[0], one)
	u := mul(s, x1)
	x := mul(mul(e.C, x1), inverse(g.Generator[1]))
	y := mul(new(big.Int).Sub(u, one), inverse(new(big.Int).Add(u, one)))
	xx, yy := mul(x, x), mul(y, y)
	right := mod(new(big.Int).Add(one, mul(e.D, mul(xx, yy))))
	if left := mod(new(big.Int).Sub(yy, xx)); left.Cmp(right) != 0 {
		t.Error("the generator's image is not on the curve")
	}
}
