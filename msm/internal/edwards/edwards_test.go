package edwards

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

var (
	form = curve.BLS12377Edwards
	g1   = curvetest.Curve{Group: curve.BLS12377G1}
)

// precomputed is what a kernel takes for p, by the formulas over math/big.
func precomputed(p curvetest.Point) []uint32 {
	m, e := form.Base.Modulus, form.Edwards
	x, y := new(big.Int), big.NewInt(1)
	if !p.Infinity && p.Y[0].Sign() != 0 { // of order two: no image
		one := big.NewInt(1)
		x1 := new(big.Int).Add(p.X[0], one)
		u := new(big.Int).Mul(x1, new(big.Int).ModInverse(e.Root3, m))
		x.Mul(x1, e.C).Mul(x, new(big.Int).ModInverse(p.Y[0], m)).Mod(x, m)
		y.Sub(u, one).Mul(y, new(big.Int).ModInverse(new(big.Int).Add(u, one), m)).Mod(y, m)
	}
	xy := new(big.Int).Mul(x, y)
	words := form.Base.Montgomery(new(big.Int).Mod(new(big.Int).Sub(y, x), m))
	words = append(words, form.Base.Montgomery(new(big.Int).Add(y, x))...)
	return append(words, form.Base.Montgomery(xy.Lsh(xy, 1).Mul(xy, e.D))...)
}

func TestFromAffine(t *testing.T) {
	points := g1.Multiples(g1.Generator(), 40)
	minus1 := new(big.Int).Sub(form.Base.Modulus, big.NewInt(1))
	points = append(points, g1.Neg(points[7]), curvetest.Point{X: []*big.Int{minus1}, Y: []*big.Int{new(big.Int)}}, points[0], points[0])
	var words, want []uint32
	for _, p := range points {
		words = append(words, g1.Affine(p)...)
		want = append(want, precomputed(p)...)
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		in := devicetest.Upload(t, q, words)
		for _, n := range []int{1, 33, len(points)} {
			out, err := device.Alloc[uint32](q, 36*n)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Free()
			// A thread for each point, and threads that share an inversion among theirs.
			for _, threads := range []int{0, 1, 3, 32} {
				if err := out.Fill(q, 0xa5a5a5a5); err != nil {
					t.Fatal(err)
				}
				points := in.Slice(0, 24*n)
				if threads == 0 {
					err = FromAffine(q, form, out, points)
				} else {
					err = fromAffine(q, form, out, points, n, min(threads, n))
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := out.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want[:36*n]) {
					t.Fatalf("%d points, %d threads: wrong", n, threads)
				}
			}
		}
	})
}

// extended is the sum's words, with the given Z.
func extended(p curvetest.Point, z int64) []uint32 {
	m, w := form.Base.Modulus, precomputed(p)
	half := new(big.Int).ModInverse(big.NewInt(2), m)
	minus, plus := form.Base.FromMontgomery(w[:12]), form.Base.FromMontgomery(w[12:24])
	x := new(big.Int).Sub(plus, minus)
	x.Mul(x, half).Mod(x, m)
	y := new(big.Int).Add(plus, minus)
	y.Mul(y, half).Mod(y, m)
	k := big.NewInt(z)
	out := form.Base.Montgomery(new(big.Int).Mul(x, k))
	out = append(out, form.Base.Montgomery(new(big.Int).Mul(y, k))...)
	t := new(big.Int).Mul(x, y)
	out = append(out, form.Base.Montgomery(t.Mul(t, k))...)
	return append(out, form.Base.Montgomery(k)...)
}

func TestToXYZZ(t *testing.T) {
	points := g1.Multiples(g1.Generator(), 20)
	points = append(points, g1.Neg(points[5]))
	var words []uint32
	for i, p := range points {
		words = append(words, extended(p, int64(3*i+1))...)
	}
	points = append(points, points[0])
	words = append(words, make([]uint32, 48)...) // zeros are infinity
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		b := devicetest.Upload(t, q, words)
		if err := ToXYZZ(q, form, b, b); err != nil {
			t.Fatal(err)
		}
		got, err := b.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range points {
			if r, ok := g1.FromXYZZ(got[48*i : 48*i+48]); !ok || !g1.Equal(r, p) {
				t.Fatalf("sum %d: wrong", i)
			}
		}
	})
}

func TestUsage(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		b := devicetest.Upload(t, q, make([]uint32, 72))
		for name, err := range map[string]error{
			"Weierstrass form": FromAffine(q, curve.BLS12377G1, b.Slice(0, 36), b.Slice(36, 60)),
			"half a point":     FromAffine(q, form, b.Slice(0, 36), b.Slice(36, 59)),
			"sizes":            FromAffine(q, form, b.Slice(0, 35), b.Slice(36, 60)),
			"overlap":          FromAffine(q, form, b.Slice(0, 36), b.Slice(35, 59)),
			"half a sum":       ToXYZZ(q, form, b.Slice(0, 47), b.Slice(0, 47)),
		} {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
