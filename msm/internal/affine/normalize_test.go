package affine

import (
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
)

func TestMain(m *testing.M) {
	sources := []*kernel.Source{Source(curve.Toy61)}
	for _, g := range wide() {
		sources = append(sources, Source(g))
	}
	devicetest.Main(m, sources...)
}

// few says that only the smallest groups are to be tested, for time.
func few() bool {
	return os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != ""
}

// wide is the groups that tests of kernels alone go over.
func wide() []*curve.Group {
	if few() {
		return []*curve.Group{curve.BN254G1}
	}
	return curve.Groups
}

// sums are n sums as they lie in memory, the first seven multiples of the
// generator from infinity on, again and again, and these.
func sums(g *curve.Group, r *devicetest.Gen, n int) (xyzz, points []uint32) {
	c := curvetest.Curve{Group: g}
	few := c.Multiples(c.Generator(), 7)
	for i := range n {
		p := few[i%7]
		z := g.Base.Int(r.Words(g.Base.Limbs))
		xyzz = append(xyzz, c.XYZZ(p, z.Mod(z, g.Base.Modulus))...)
		points = append(points, c.Affine(p)...)
	}
	return xyzz, points
}

func TestNormalize(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, g := range append([]*curve.Group{curve.Toy61}, wide()...) {
			sizes := []int{33}
			if g == curve.Toy61 {
				sizes = []int{1, 127, 128, 129, 2047, 2048, 2049, 5000}
			}
			for _, n := range sizes {
				xyzz, want := sums(g, devicetest.Rand(uint64(n)), n)
				out, err := device.Alloc[uint32](q, len(want))
				if err != nil {
					t.Fatal(err)
				}
				if err := Normalize(q, g, out, devicetest.Upload(t, q, xyzz)); err != nil {
					t.Fatal(err)
				}
				got, err := out.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d points", g.Name, n)
				}
				out.Free()
			}
		}
	})
}

func TestNormalizeRefuses(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		g := curve.Toy61
		sums, out := devicetest.Upload(t, q, make([]uint32, 3*8)), devicetest.Upload(t, q, make([]uint32, 3*4))
		other := *g
		for name, err := range map[string]error{
			"too few points":   Normalize(q, g, out.Slice(0, 8), sums),
			"a part of a sum":  Normalize(q, g, out, sums.Slice(0, 23)),
			"its own memory":   Normalize(q, g, sums.Slice(0, 4), sums.Slice(0, 8)),
			"an unknown group": Normalize(q, &other, out, sums),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if err := Normalize(q, g, out.Slice(0, 0), sums.Slice(0, 0)); err != nil {
			t.Errorf("no points: %v", err)
		}
	})
}

// BenchmarkNormalize normalizes 2^20 sums.
func BenchmarkNormalize(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	q := devicetest.Queue(b, d)
	if q.OnHost() {
		b.Skip("no GPU")
	}
	for _, g := range curve.Groups {
		b.Run(g.Name, func(b *testing.B) {
			const n = 1 << 20
			one := make([]uint32, 0, n*g.XYZZBytes()/4)
			some, _ := sums(g, devicetest.Rand(1), 1<<10)
			for range n >> 10 {
				one = append(one, some...)
			}
			in := devicetest.Upload(b, q, one)
			out := devicetest.Upload(b, q, make([]uint32, n*g.AffineBytes()/4))
			for i := 0; b.Loop(); i++ {
				if i == 0 {
					b.ResetTimer()
				}
				if err := Normalize(q, g, out, in); err != nil {
					b.Fatal(err)
				}
				if err := q.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/point")
		})
	}
}
