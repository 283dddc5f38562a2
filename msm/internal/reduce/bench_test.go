package reduce

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// repeat writes a few sums over and over again: buckets for a benchmark.
var repeat = &kernel.Source{Name: "msm/internal/reduce/repeat.cu", Headers: []*kernel.Source{kernel.PTX}, Text: `#include "device/ptx.cuh"
extern "C" __global__ void __launch_bounds__(256) repeat(u32 *to, const u32 *from, u64 count, u32 period) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i % period];
}
`}

// tile is a few bucket sums, each a known multiple of the generator.
type tile struct {
	of    []int
	words []uint32
}

// newTile has so many random sums whose third and fourth coordinates are not 1.
func newTile(b *testing.B, q *device.Queue, g *curve.Group, n int) *tile {
	b.Helper()
	r := devicetest.Rand(7)
	if g.Edwards == nil {
		c := curvetest.Curve{Group: g}
		multiples := c.Multiples(c.Generator(), n)
		t := &tile{}
		for range n {
			k := 1 + r.Intn(n-1)
			t.of, t.words = append(t.of, k), append(t.words, c.XYZZ(multiples[k], curvetest.Random(g.Base, r.U32))...)
		}
		return t
	}
	// Sums of three points each, in the form that bucket sums have.
	c := curvetest.Curve{Group: curve.BLS12377G1}
	multiples := c.Multiples(c.Generator(), n)
	var words, entries, offsets []uint32
	for i := range n {
		words = append(words, c.Affine(multiples[i])...)
		offsets = append(offsets, uint32(3*i))
	}
	t := &tile{}
	for range n {
		sum := 0
		for range 3 {
			k := 1 + r.Intn(n-1)
			sum, entries = sum+k, append(entries, uint32(k))
		}
		t.of = append(t.of, sum)
	}
	offsets = append(offsets, uint32(3*n))
	points := devicetest.Upload(b, q, make([]uint32, n*g.AffineBytes()/4))
	if err := edwards.FromAffine(q, g, points, devicetest.Upload(b, q, words)); err != nil {
		b.Fatal(err)
	}
	buckets := devicetest.Upload(b, q, make([]uint32, n*g.XYZZBytes()/4))
	sums, err := bucket.NewWorkspace(q, g, 3*n, n)
	if err != nil {
		b.Fatal(err)
	}
	defer sums.Free()
	sorted := plan.Sorted{Entries: devicetest.Upload(b, q, entries), Offsets: devicetest.Upload(b, q, offsets), Buckets: n}
	if err := sums.Sums(q, points, sorted, buckets, false); err != nil {
		b.Fatal(err)
	}
	if t.words, err = buckets.Read(q); err != nil {
		b.Fatal(err)
	}
	return t
}

// BenchmarkRun times reductions on a GPU, and checks their sums.
func BenchmarkRun(b *testing.B) {
	type size struct{ windows, bits int }
	few, some, many, most := size{16, 15}, size{13, 18}, size{12, 20}, size{11, 22}
	for _, v := range []struct {
		g     *curve.Group
		sizes []size
	}{
		{curve.BN254G1, []size{{28, 8}, few, some, many, most}},
		{curve.BLS12377Edwards, []size{few, many}},
		{curve.BLS12381G1, []size{{28, 8}, few, many}},
		{curve.BLS12377G1, []size{many}},
		{curve.BN254G2, []size{{14, 18}}},
		{curve.BLS12381G2, []size{{14, 17}}},
		{curve.MNT4753G1, []size{{40, 17}}},
	} {
		b.Run(v.g.Name, func(b *testing.B) {
			q := benchmarkQueue(b)
			const period = 1021
			t := newTile(b, q, v.g, period)
			words := devicetest.Upload(b, q, t.words)
			for _, z := range v.sizes {
				b.Run(fmt.Sprintf("%dx2^%d", z.windows, z.bits), func(b *testing.B) { benchmark(b, q, v.g, units[v.g], t, words, z.windows, z.bits, 0) })
			}
		})
	}
}

func benchmark(b *testing.B, q *device.Queue, g *curve.Group, u *unit, t *tile, words device.Buffer[uint32], count, width, log int) {
	var sizes []int
	for range count {
		sizes = append(sizes, 1<<width)
	}
	w := windows(sizes...)
	n, each := count<<width, g.XYZZBytes()/4
	buckets, err := device.Alloc[uint32](q, n*each)
	if err != nil {
		b.Fatal(err)
	}
	defer buckets.Free()
	l, err := New(w, 0, n)
	if log > 0 {
		l, err = newLayout(w, 0, n, log, finishAdditions)
	}
	if err != nil {
		b.Fatal(err)
	}
	pieces, err := l.Upload(q)
	if err != nil {
		b.Fatal(err)
	}
	defer pieces.Free()
	out, err := device.Alloc[uint32](q, l.Sums()*each)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Free()
	timed := func(run func() error) time.Duration {
		b.Helper()
		if err := q.Sync(); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		if err := q.Sync(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var segments, rest []time.Duration
	for range 6 {
		err := q.Launch(device.Kernel{Source: repeat, Name: "repeat"}, device.D1(device.Blocks(n*each, 256)), device.D1(256), 0,
			buckets.Arg(), words.Arg(), device.U64(uint64(n*each)), device.U32(words.Len()))
		if err != nil {
			b.Fatal(err)
		}
		segments = append(segments, timed(func() error { return l.first(q, g, u, buckets, pieces) }))
		rest = append(rest, timed(func() error { return l.rest(q, g, u, out, buckets, pieces) }))
	}
	got, err := out.Read(q)
	if err != nil {
		b.Fatal(err)
	}
	t.check(b, q, g, l, got, n, width)
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return d[len(d)/2].Seconds() * 1e3
	}
	b.ReportMetric(median(segments), "segments-ms")
	b.ReportMetric(median(rest), "rest-ms")
	b.ReportMetric(median(segments)+median(rest), "ms")
}

// check compares the sums with what the buckets' numbers say.
func (t *tile) check(b *testing.B, q *device.Queue, g *curve.Group, l *Layout, words []uint32, n, width int) {
	b.Helper()
	c := curvetest.Curve{Group: g}
	if g.Edwards != nil {
		c.Group = curve.BLS12377G1
		sums := devicetest.Upload(b, q, words)
		err := edwards.ToXYZZ(q, g, sums, sums)
		if err == nil {
			words, err = sums.Read(q)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	got, want := curvetest.Point{Infinity: true}, new(big.Int)
	for _, p := range l.Parts(words) {
		point, ok := c.FromXYZZ(p.Words)
		if !ok {
			b.Fatal("a sum that is none")
		}
		got = c.Add(got, c.Mul(new(big.Int).Lsh(big.NewInt(1), uint(p.Shift)), point))
	}
	for first := 0; first < n; first += 1 << width {
		sum := 0 // below 2^44 1021 3/2
		for i := range 1 << width {
			sum += (i + 1) * t.of[(first+i)%len(t.of)]
		}
		v := big.NewInt(int64(sum))
		want.Add(want, v.Lsh(v, uint(7*(first>>width))))
	}
	if !c.Equal(got, c.Mul(want, c.Generator())) {
		b.Error("wrong sum")
	}
}

func benchmarkQueue(b *testing.B) *device.Queue {
	d, err := device.Open("cuda:0")
	if err != nil {
		b.Skip(err)
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = q.Close() })
	return q
}
