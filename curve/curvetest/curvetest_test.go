package curvetest

import (
	"math/big"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

func TestGroupLaw(t *testing.T) {
	for _, g := range append([]*curve.Group{curve.Toy61}, curve.Groups...) {
		c, r := Curve{g}, devicetest.Rand(1)
		p := c.Generator()
		if !c.OnCurve(p) {
			t.Errorf("%s: the generator is not on the curve", g.Name)
		}
		if q := c.Mul(g.Scalar.Modulus, p); !q.Infinity {
			t.Errorf("%s: the generator's order is not the scalars' modulus", g.Name)
		}
		a, b := Random(g.Scalar, r.U32), Random(g.Scalar, r.U32)
		sum := c.Add(c.Mul(a, p), c.Mul(b, p))
		if !c.Equal(sum, c.Mul(new(big.Int).Add(a, b), p)) || !c.OnCurve(sum) {
			t.Errorf("%s: (a + b) P is not a P + b P", g.Name)
		}
		if m := c.Multiples(p, 5); !c.Equal(m[4], c.Mul(big.NewInt(4), p)) || !c.Equal(c.Add(m[4], c.Neg(m[4])), m[0]) {
			t.Errorf("%s: multiples", g.Name)
		}
		if q, ok := c.FromXYZZ(c.XYZZ(sum, a)); !ok || !c.Equal(q, sum) {
			t.Errorf("%s: sums in memory", g.Name)
		}
		if q, ok := c.FromXYZZ(c.XYZZ(Point{Infinity: true}, a)); !ok || !q.Infinity {
			t.Errorf("%s: infinity in memory", g.Name)
		}
		if !c.Equal(c.FromAffine(c.Affine(sum)), sum) || !c.FromAffine(c.Affine(Point{Infinity: true})).Infinity {
			t.Errorf("%s: points in memory", g.Name)
		}
	}
}
