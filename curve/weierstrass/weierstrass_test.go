package weierstrass_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-377/fp"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/mnt4753"
	mntfp "github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	mntfr "github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/curve/toy61"
	toyfp "github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
)

// plane is the textbook's addition in affine coordinates over big numbers.
type plane struct{ p, a *big.Int }

func (c plane) add(x, y [2]*big.Int) [2]*big.Int {
	zero := func(v [2]*big.Int) bool { return v[0].Sign() == 0 && v[1].Sign() == 0 }
	if zero(x) {
		return y
	}
	if zero(y) {
		return x
	}
	l := new(big.Int)
	if x[0].Cmp(y[0]) == 0 {
		if new(big.Int).Mod(new(big.Int).Add(x[1], y[1]), c.p).Sign() == 0 {
			return [2]*big.Int{new(big.Int), new(big.Int)}
		}
		l.Mul(x[0], x[0]).Mul(l, big.NewInt(3)).Add(l, c.a)
		l.Mul(l, new(big.Int).ModInverse(new(big.Int).Lsh(x[1], 1), c.p))
	} else {
		d := new(big.Int).Sub(y[0], x[0])
		l.Sub(y[1], x[1]).Mul(l, d.ModInverse(d.Mod(d, c.p), c.p))
	}
	u := new(big.Int).Mul(l, l)
	u.Sub(u, x[0]).Sub(u, y[0]).Mod(u, c.p)
	v := new(big.Int).Sub(x[0], u)
	v.Mul(v, l).Sub(v, x[1]).Mod(v, c.p)
	return [2]*big.Int{u, v}
}

func TestAdditions(t *testing.T) {
	g := toy61.G1
	c := plane{toyfp.Modulus(), new(big.Int)}
	big2 := func(p toy61.G1Affine) [2]*big.Int {
		return [2]*big.Int{p.X.BigInt(new(big.Int)), p.Y.BigInt(new(big.Int))}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var points []toy61.G1Affine
	for _, k := range []int64{0, 1, 2, 3, -1, -2, rng.Int64(), rng.Int64()} {
		points = append(points, g.Mul(g.Generator, big.NewInt(k)))
	}
	// Sums of any denominators.
	scale := func(p weierstrass.XYZZ[toyfp.Element]) weierstrass.XYZZ[toyfp.Element] {
		var z, zz, zzz toyfp.Element
		z.SetUint64(rng.Uint64() | 1)
		zz.Square(&z)
		zzz.Mul(&zz, &z)
		p.X.Mul(&p.X, &zz)
		p.Y.Mul(&p.Y, &zzz)
		p.ZZ.Mul(&p.ZZ, &zz)
		p.ZZZ.Mul(&p.ZZZ, &zzz)
		return p
	}
	for i := range points {
		if !g.OnCurve(&points[i]) {
			t.Errorf("point %d is not on the curve", i)
		}
		for j := range points {
			want := c.add(big2(points[i]), big2(points[j]))
			p, q := scale(g.FromAffine(&points[i])), scale(g.FromAffine(&points[j]))
			r := p
			g.Add(&r, &q)
			if got := big2(g.Affine(&r)); got[0].Cmp(want[0]) != 0 || got[1].Cmp(want[1]) != 0 {
				t.Errorf("Add %d %d: %v, want %v", i, j, got, want)
			}
			r = p
			g.Accumulate(&r, &points[j])
			if got := big2(g.Affine(&r)); got[0].Cmp(want[0]) != 0 || got[1].Cmp(want[1]) != 0 {
				t.Errorf("Accumulate %d %d: %v, want %v", i, j, got, want)
			}
			both := g.BatchAffine([]weierstrass.XYZZ[toyfp.Element]{p, {}, r})
			if both[0] != points[i] || both[1] != (toy61.G1Affine{}) || both[2] != g.Affine(&r) {
				t.Errorf("BatchAffine %d %d", i, j)
			}
		}
		p := scale(g.FromAffine(&points[i]))
		g.Double(&p)
		want := c.add(big2(points[i]), big2(points[i]))
		if got := big2(g.Affine(&p)); got[0].Cmp(want[0]) != 0 || got[1].Cmp(want[1]) != 0 {
			t.Errorf("Double %d: %v, want %v", i, got, want)
		}
	}
	off := toy61.G1Affine{X: g.Generator.X, Y: g.Generator.X}
	if g.OnCurve(&off) {
		t.Error("a point off the curve is on it")
	}
	if p := g.Mul(g.Generator, g.Order); !g.IsInfinity(&p) {
		t.Error("the generator's order is not the group's")
	}
}

// logs are points k·G with their k.
func logs(n int, rng *rand.Rand) ([]toy61.G1Affine, []*big.Int) {
	g := toy61.G1
	points, k := make([]toy61.G1Affine, n), make([]*big.Int, n)
	for i := range points {
		k[i] = new(big.Int).SetUint64(rng.Uint64() % fr.Modulus().Uint64())
		points[i] = g.Mul(g.Generator, k[i])
	}
	return points, k
}

// Lists are added as their points are, infinity, equal and opposite ones among them.
func TestAddEach(t *testing.T) {
	g := toy61.G1
	var to, with, want []toy61.G1Affine
	for i := int64(-3); i <= 3; i++ {
		for j := int64(-3); j <= 3; j++ {
			to, with = append(to, g.Mul(g.Generator, big.NewInt(i))), append(with, g.Mul(g.Generator, big.NewInt(j)))
			want = append(want, g.Mul(g.Generator, big.NewInt(i+j)))
		}
	}
	room := make([]toyfp.Element, 2*len(to))
	again := slices.Clone(to)
	g.AddEach(to, with, room, new(weierstrass.Room[toyfp.Element]))
	if !slices.Equal(to, want) {
		t.Errorf("%v, want %v", to, want)
	}
	all := slices.Clone(again)
	g.AddToAll(all, again, &with[0], room)
	for i := range with {
		with[i] = with[0]
	}
	g.AddEach(again, with, room, new(weierstrass.Room[toyfp.Element]))
	if !slices.Equal(all, again) {
		t.Errorf("one point added to all gives %v, and to each %v", all, again)
	}
}

func TestSum(t *testing.T) {
	g := toy61.G1
	rng := rand.New(rand.NewPCG(3, 4))
	points, k := logs(12000, rng)
	r := fr.Modulus()
	for _, kind := range []string{"uniform", "zero", "one", "equal", "zero-one", "small", "top", "half", "same point", "opposite points", "infinity"} {
		for _, n := range []int{0, 1, 2, 3, 33, 1000, 12000} {
			points, k := append([]toy61.G1Affine(nil), points[:n]...), append([]*big.Int(nil), k[:n]...)
			scalars, want := make([]fr.Element, n), new(big.Int)
			for i := range scalars {
				v := new(big.Int).SetUint64(rng.Uint64() % r.Uint64())
				switch kind {
				case "zero":
					v.SetInt64(0)
				case "one":
					v.SetInt64(1)
				case "equal":
					v.SetInt64(0x123456789abcdef)
				case "zero-one":
					v.SetInt64(int64(i % 2))
				case "small":
					v.SetInt64(rng.Int64N(1 << 20))
				case "top":
					v.Sub(r, big.NewInt(1+int64(i%3)))
				case "half":
					v.Rsh(r, 1)
					v.Add(v, big.NewInt(int64(i%3)-1))
				case "same point":
					points[i], k[i] = points[0], k[0]
				case "opposite points":
					if i%2 == 1 {
						points[i], k[i] = g.Neg(points[i-1]), new(big.Int).Neg(k[i-1])
					}
				case "infinity":
					if i%3 != 1 {
						points[i], k[i] = toy61.G1Affine{}, new(big.Int)
					}
				}
				scalars[i].SetBigInt(v)
				want.Add(want, v.Mul(v, k[i]))
			}
			got, err := toy61.Sum(context.Background(), points, scalars)
			if err != nil {
				t.Fatal(err)
			}
			if p := g.Mul(g.Generator, want); !g.Equal(&got, &p) {
				t.Errorf("%s, %d points: wrong sum", kind, n)
			}
		}
	}
	if _, err := toy61.Sum(context.Background(), points, make([]fr.Element, 3)); err == nil {
		t.Error("lengths that differ are accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := toy61.Sum(ctx, points, make([]fr.Element, len(points))); err == nil {
		t.Error("a cancelled sum gives a result")
	}
}

// The same code over gnark-crypto's fields, an extension among them, gives
// gnark-crypto's results.
func TestOtherFields(t *testing.T) {
	g1, g2 := weierstrass.New[bn254fp.Element](curve.BN254G1), weierstrass.New[bn254.E2](curve.BN254G2)
	_, _, a1, a2 := bn254.Generators()
	if bn254.G1Affine(g1.Generator) != a1 || bn254.G2Affine(g2.Generator) != a2 {
		t.Fatal("generators")
	}
	k, _ := new(big.Int).SetString("123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde", 16)
	var want1 bn254.G1Affine
	var want2 bn254.G2Affine
	want1.ScalarMultiplication(&a1, k)
	want2.ScalarMultiplication(&a2, k)
	if got := g1.Mul(g1.Generator, k); bn254.G1Affine(got) != want1 {
		t.Error("G1")
	}
	if got := g2.Mul(g2.Generator, k); bn254.G2Affine(got) != want2 || !g2.OnCurve(&got) {
		t.Error("G2")
	}
	p := g2.FromAffine(&g2.Generator)
	got := g2.Combine([]weierstrass.Part[bn254.E2]{{Shift: 3, Sum: p}, {Sum: p}, {Shift: 3, Sum: p}})
	want2.ScalarMultiplication(&a2, big.NewInt(17))
	if bn254.G2Affine(got) != want2 {
		t.Error("Combine")
	}
	// As many as several cores share, with equal shifts, gaps and infinity.
	g, total := toy61.G1, new(big.Int)
	var many []weierstrass.Part[toyfp.Element]
	for i := range 150 {
		k := big.NewInt(int64(i % 7 * i))
		q := g.Mul(g.Generator, k)
		many = append(many, weierstrass.Part[toyfp.Element]{Shift: 5 + i*i%173, Sum: g.FromAffine(&q)})
		total.Add(total, k.Lsh(k, uint(5+i*i%173)))
	}
	if got := g.Combine(many); got != g.Mul(g.Generator, total.Mod(total, g.Order)) {
		t.Error("Combine of many")
	}
	defer func() {
		if recover() == nil {
			t.Error("coordinates of another size are accepted")
		}
	}()
	weierstrass.New[fp.Element](curve.BN254G1)
}

func BenchmarkSum(b *testing.B) {
	g := mnt4753.G1
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1 << 12, 1 << 15} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			points, scalars := make([]mnt4753.G1Affine, n), make([]mntfr.Element, n)
			p := g.FromAffine(&g.Generator)
			sums := make([]weierstrass.XYZZ[mntfp.Element], n)
			for i := range points {
				sums[i] = p
				g.Accumulate(&p, &g.Generator)
				for j := range scalars[i] {
					scalars[i][j] = rng.Uint64()
				}
				scalars[i][len(scalars[i])-1] >>= 16
			}
			copy(points, g.BatchAffine(sums))
			for b.Loop() {
				if _, err := mnt4753.Sum(context.Background(), points, scalars); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCombine adds up what a GPU leaves of a small multiplication.
func BenchmarkCombine(b *testing.B) {
	combine(b, "bn254", weierstrass.New[bn254fp.Element](curve.BN254G1))
	combine(b, "bls12-381", weierstrass.New[bls12381fp.Element](curve.BLS12381G1))
	combine(b, "bn254-g2", weierstrass.New[bn254.E2](curve.BN254G2))
	combine(b, "mnt4753", mnt4753.G1)
}

func combine[E any, F weierstrass.Field[E]](b *testing.B, name string, c *weierstrass.Curve[E, F]) {
	parts := make([]weierstrass.Part[E], c.Order.BitLen()*9/8)
	for i := range parts {
		parts[i].Sum = c.FromAffine(&c.Generator)
		parts[i].Shift = i * 8 / 9
		c.Double(&parts[i].Sum)
	}
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			c.Combine(parts)
		}
	})
}
