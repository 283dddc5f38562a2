package mnt4753_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/mnt4753"
	"github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	"github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
)

// The family of Miyaji, Nakabayashi and Takano with embedding degree 4: q = x²+x+1 and
// r = x²+1, where the curve has r = q+1-t points and x = t-1.
func TestParameters(t *testing.T) {
	q, r := fp.Modulus(), fr.Modulus()
	one := big.NewInt(1)
	if !q.ProbablyPrime(20) || !r.ProbablyPrime(20) || q.BitLen() != 753 {
		t.Fatal("q and r are not primes of 753 bits")
	}
	if q.Cmp(curve.MNT4753Fp.Modulus) != 0 || r.Cmp(curve.MNT4753Fr.Modulus) != 0 {
		t.Error("the kernels' fields are others")
	}
	x := new(big.Int).Sub(q, r) // t - 1
	xx := new(big.Int).Mul(x, x)
	if new(big.Int).Add(xx, one).Cmp(r) != 0 || xx.Add(xx, x).Add(xx, one).Cmp(q) != 0 {
		t.Error("q = x²+x+1 and r = x²+1 do not hold")
	}
	// Hasse: the trace is at most 2√q.
	trace := new(big.Int).Add(x, one)
	if trace.Mul(trace, trace).Cmp(new(big.Int).Lsh(q, 2)) > 0 {
		t.Error("the trace is beyond Hasse's bound")
	}
	// Embedding degree: the order of q modulo r.
	power, degree := new(big.Int).Mod(q, r), 1
	for ; degree < 10 && power.Cmp(one) != 0; degree++ {
		power.Mul(power, q).Mod(power, r)
	}
	if degree != 4 {
		t.Errorf("embedding degree %d", degree)
	}
	g := mnt4753.G1
	var two fp.Element
	if g.A != *two.SetUint64(2) {
		t.Error("a is not 2")
	}
	if !g.OnCurve(&g.Generator) || g.IsInfinity(&g.Generator) {
		t.Error("the generator is not a point of the curve")
	}
	// r is prime and r·G = 0, and no other multiple of r is within Hasse's bound of q+1.
	if p := g.Mul(g.Generator, r); !g.IsInfinity(&p) {
		t.Error("the generator's order is not r")
	}
}

// The generated arithmetic against big numbers, and its words against the kernels'.
func TestFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	q := fp.Modulus()
	number := func() *big.Int {
		v := new(big.Int)
		for range 12 {
			v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(rng.Uint64()))
		}
		return v.Mod(v, q)
	}
	values := []*big.Int{new(big.Int), big.NewInt(1), new(big.Int).Sub(q, big.NewInt(1)), number(), number(), number()}
	for _, a := range values {
		var x fp.Element
		x.SetBigInt(a)
		for i, w := range curve.MNT4753Fp.Montgomery(a) {
			if uint32(x[i/2]>>(32*(i%2))) != w {
				t.Fatalf("%v: word %d differs from the kernels'", a, i)
			}
		}
		for _, b := range values {
			var y, z fp.Element
			y.SetBigInt(b)
			for _, op := range []struct {
				name string
				got  *fp.Element
				want *big.Int
			}{
				{"mul", new(fp.Element).Mul(&x, &y), new(big.Int).Mul(a, b)},
				{"square", new(fp.Element).Square(&x), new(big.Int).Mul(a, a)},
				{"add", new(fp.Element).Add(&x, &y), new(big.Int).Add(a, b)},
				{"sub", new(fp.Element).Sub(&x, &y), new(big.Int).Sub(a, b)},
				{"double", new(fp.Element).Double(&x), new(big.Int).Lsh(a, 1)},
				{"neg", new(fp.Element).Neg(&x), new(big.Int).Neg(a)},
			} {
				if z.SetBigInt(op.want.Mod(op.want, q)); !z.Equal(op.got) {
					t.Errorf("%s of %v and %v", op.name, a, b)
				}
			}
		}
		var inv fp.Element
		inv.Inverse(&x)
		if inv.Mul(&inv, &x); a.Sign() != 0 && !inv.IsOne() || a.Sign() == 0 && !inv.IsZero() {
			t.Errorf("inverse of %v", a)
		}
	}
}

func TestSum(t *testing.T) {
	g := mnt4753.G1
	rng := rand.New(rand.NewPCG(2, 2))
	const n = 500
	sums, scalars, want := make([]weierstrass.XYZZ[fp.Element], n), make([]fr.Element, n), new(big.Int)
	p := g.FromAffine(&g.Generator)
	for i := range sums {
		sums[i] = p // (i+1)·G
		g.Accumulate(&p, &g.Generator)
		v := new(big.Int)
		for range 12 {
			v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(rng.Uint64()))
		}
		v.Mod(v, g.Order)
		scalars[i].SetBigInt(v)
		want.Add(want, v.Mul(v, big.NewInt(int64(i+1))))
	}
	got, err := mnt4753.Sum(context.Background(), g.BatchAffine(sums), scalars)
	if err != nil {
		t.Fatal(err)
	}
	if p := g.Mul(g.Generator, want.Mod(want, g.Order)); !g.Equal(&got, &p) {
		t.Error("wrong sum")
	}
}
