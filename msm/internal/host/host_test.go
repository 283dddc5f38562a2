package host_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	bls12377g "github.com/consensys/gnark-crypto/ecc/bls12-377"
	bls12377fp "github.com/consensys/gnark-crypto/ecc/bls12-377/fp"
	bls12381g "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bw6761g "github.com/consensys/gnark-crypto/ecc/bw6-761"
	bw6761fp "github.com/consensys/gnark-crypto/ecc/bw6-761/fp"

	mnt4753fp "github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	toy61fp "github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/bw6761"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/mnt4753"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

func TestCurves(t *testing.T) {
	_, _, bn1, bn2 := bn254g.Generators()
	_, _, a1, a2 := bls12377g.Generators()
	_, _, b1, b2 := bls12381g.Generators()
	_, _, w1, w2 := bw6761g.Generators()
	t.Run("bn254", func(t *testing.T) {
		run[bn254fp.Element](t, bn254.G1, &bn1)
		run[bn254g.E2](t, bn254.G2, &bn2)
	})
	t.Run("bls12377", func(t *testing.T) {
		run[bls12377fp.Element](t, bls12377.G1, &a1)
		run[bls12377g.E2](t, bls12377.G2, &a2)
	})
	t.Run("bls12381", func(t *testing.T) {
		run[bls12381fp.Element](t, bls12381.G1, &b1)
		run[bls12381g.E2](t, bls12381.G2, &b2)
	})
	t.Run("bw6761", func(t *testing.T) {
		run[bw6761fp.Element](t, bw6761.G1, &w1)
		run[bw6761fp.Element](t, bw6761.G2, &w2)
	})
	t.Run("mnt4753", func(t *testing.T) { run[mnt4753fp.Element](t, mnt4753.G1, nil) })
	t.Run("toy61", func(t *testing.T) { run[toy61fp.Element](t, msmtest.Toy61, nil) })
}

// field has roots, for points that are on the curve and in no subgroup of interest.
type field[E any] interface {
	weierstrass.Field[E]
	Sqrt(x *E) *E
}

func run[E any, P host.Affine[E], S any, F field[E]](t *testing.T, curve *msm.Curve[P, S], generator *P) {
	g := curve.Group
	arith := weierstrass.New[E, F](g)
	if generator != nil && any(weierstrass.Affine[E](*generator)) != any(arith.Generator) {
		t.Fatalf("%s: the generator is not gnark-crypto's", g.Name)
	}
	rng := rand.New(rand.NewPCG(1, uint64(g.Base.Limbs)))
	number := func() *big.Int {
		v := new(big.Int)
		for range g.Scalar.Limbs {
			v.Lsh(v, 32).Or(v, big.NewInt(int64(rng.Uint32())))
		}
		return v.Mod(v, g.Scalar.Modulus)
	}
	scalar := func(v *big.Int) (s S) {
		copy(unsafe.Slice((*uint32)(unsafe.Pointer(&s)), unsafe.Sizeof(s)/4), g.Scalar.Montgomery(v))
		return s
	}

	// Sums over points of known discrete logarithms, 0 among them.
	const n = 20
	points, scalars, want := make([]P, n), make([]S, n), new(big.Int)
	for i := range points {
		k, s := number(), number()
		switch i {
		case 3:
			k.SetInt64(0)
		case 4:
			s.SetInt64(0)
		case 5:
			s.Sub(g.Scalar.Modulus, big.NewInt(1))
		}
		points[i], scalars[i] = P(arith.Mul(arith.Generator, k)), scalar(s)
		want.Add(want, s.Mul(s, k))
	}
	sum := P(arith.Mul(arith.Generator, want.Mod(want, g.Scalar.Modulus)))
	cpu, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	// msm checks the sizes of P and S against the group's.
	got, err := msm.Sum(context.Background(), cpu, curve, points, scalars, msm.Options{Subgroup: msm.Verify})
	if err != nil || any(got) != any(sum) {
		t.Errorf("%s: wrong sum, error %v", g.Name, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := curve.Host.Sum(ctx, points, scalars); !errors.Is(err, context.Canceled) {
		t.Errorf("%s: cancelled, and the error is %v", g.Name, err)
	}

	// Window sums as a kernel writes them, in any order, infinity among them.
	var parts []msm.Part
	want.SetInt64(0)
	for i, shift := range []int{14, 0, 7, 14, 21} {
		k := number()
		if i == 2 {
			k.SetInt64(0)
		}
		p := arith.Mul(arith.Generator, k)
		q := arith.FromAffine(&p)
		var z, zz E
		F(&z).Add(&arith.B, &arith.Generator.X)
		F(&zz).Square(&z)
		F(&z).Mul(&z, &zz)
		F(&q.X).Mul(&q.X, &zz)
		F(&q.ZZ).Mul(&q.ZZ, &zz)
		F(&q.Y).Mul(&q.Y, &z)
		F(&q.ZZZ).Mul(&q.ZZZ, &z)
		parts = append(parts, msm.Part{Shift: shift, Words: unsafe.Slice((*uint32)(unsafe.Pointer(&q)), unsafe.Sizeof(q)/4)})
		want.Add(want, k.Lsh(k, uint(shift)))
	}
	if got := curve.Host.Combine(parts); any(got) != any(P(arith.Mul(arith.Generator, want.Mod(want, g.Scalar.Modulus)))) {
		t.Errorf("%s: Combine", g.Name)
	}
	if got := curve.Host.Combine(nil); any(got) != any(P(weierstrass.Affine[E]{})) {
		t.Errorf("%s: Combine of nothing", g.Name)
	}

	// A point of the curve at random is outside a subgroup, if there is one.
	stray := arith.Generator
	for i := 0; ; i++ {
		F(&stray.X).Add(&stray.X, &arith.Generator.X)
		var r E
		F(&r).Square(&stray.X)
		F(&r).Add(&r, &arith.A)
		F(&r).Mul(&r, &stray.X)
		F(&r).Add(&r, &arith.B)
		if F(&stray.Y).Sqrt(&r) != nil && arith.OnCurve(&stray) {
			break
		}
		if i == 100 {
			t.Fatalf("%s: no point found", g.Name)
		}
	}
	check := func(at int, p P, subgroup bool, text string) {
		t.Helper()
		all := append([]P(nil), points...)
		if at >= 0 {
			all[at] = p
			all[n-1] = p // a later one, which is not named
		}
		err := curve.Host.Check(all, subgroup)
		if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%s: Check of point %d, subgroup %v: %v, want %q", g.Name, at, subgroup, err, text)
		}
	}
	off := arith.Generator
	off.X = off.Y
	check(-1, P(off), true, "")
	check(7, P(off), false, "point 7 is not on the curve")
	check(7, P(off), true, "point 7 is not on the curve")
	check(9, P(stray), false, "")
	inside := arith.Mul(stray, g.Scalar.Modulus)
	if arith.IsInfinity(&inside) {
		check(9, P(stray), true, "")
	} else {
		check(9, P(stray), true, "point 9 is not in the subgroup")
	}
	// Cofactor 1 by the curves' papers; all others have one.
	if whole := g.Name == "bn254_g1" || g.Curve == "mnt4-753" || g.Curve == "toy61"; whole != arith.IsInfinity(&inside) {
		t.Errorf("%s: the group is the whole curve: %v", g.Name, !whole)
	}
}
