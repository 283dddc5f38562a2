package fixedbase_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	"github.com/zkwarp/zkwarp/msm/known"
)

// BenchmarkMultiply multiplies the generators on a GPU: milliseconds of the table, of 2^log
// multiples on the device, and of so many from and to the host's memory. Some points are
// compared with the CPU's.
func BenchmarkMultiply(b *testing.B) {
	dev, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	if dev.Kind() != device.CUDA {
		b.Skip("no GPU")
	}
	for _, log := range []int{20, 24} {
		for _, width := range []int{0, 16, 20, 22} {
			bn254G1.bench(b, dev, log, width)
		}
	}
	bn254G2.bench(b, dev, 20, 0)
	bn254G2.bench(b, dev, 24, 0)
	bls12377G1.bench(b, dev, 22, 0)
	bls12377G2.bench(b, dev, 22, 0)
	bls12381G1.bench(b, dev, 22, 0)
	bls12381G2.bench(b, dev, 22, 0)
	bw6761G1.bench(b, dev, 22, 0)
	bw6761G2.bench(b, dev, 22, 0)
}

func (g group[P, S]) bench(b *testing.B, dev *device.Device, log, width int) {
	b.Run(fmt.Sprintf("%s/2^%d/%d", g.curve.Group.Name, log, width), func(b *testing.B) {
		n := 1 << log
		q := devicetest.Queue(b, dev)
		in, err := device.Alloc[S](q, n)
		if err != nil {
			b.Fatal(err)
		}
		defer in.Free()
		if err := known.ResidentScalars(q, g.curve.Group.Scalar, device.View[uint32](in), "uniform", 1, 0); err != nil {
			b.Fatal(err)
		}
		scalars, err := in.Read(q)
		if err != nil {
			b.Fatal(err)
		}
		if err := dev.Preload(fixedbase.Units(g.curve.Group)...); err != nil {
			b.Fatal(err)
		}
		base, points := g.generator(), make([]P, n)
		clear(points) // so that no page is touched for the first time below
		some := func(list []P, from int) {
			b.Helper()
			if !slices.Equal(list[from:from+100], g.want(&base, scalars[from:from+100])) {
				b.Fatalf("points from %d on are wrong", from)
			}
		}
		ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(b.N) }
		var table, onDevice, host time.Duration
		for b.Loop() {
			start := time.Now()
			t, err := fixedbase.New(dev, g.curve, g.host, base, fixedbase.Options{N: n, Window: width})
			if err != nil {
				b.Fatal(err)
			}
			table += time.Since(start)
			out, err := device.Alloc[P](q, n)
			if err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
			start = time.Now()
			if err := t.MultiplyBuffer(q, out, in); err != nil {
				b.Fatal(err)
			}
			onDevice += time.Since(start)
			last, err := out.Slice(n-100, n).Read(q)
			if err != nil {
				b.Fatal(err)
			}
			if !slices.Equal(last, g.want(&base, scalars[n-100:])) {
				b.Fatal("the last points are wrong")
			}
			out.Free()
			start = time.Now()
			if err := t.Multiply(context.Background(), points, scalars); err != nil {
				b.Fatal(err)
			}
			host += time.Since(start)
			t.Close()
			for from := 0; from < n; from += n / 8 {
				some(points, from)
			}
			some(points, n-100)
		}
		b.ReportMetric(ms(table), "table-ms")
		b.ReportMetric(ms(onDevice), "device-ms")
		b.ReportMetric(ms(host), "host-ms")
		b.ReportMetric(0, "ns/op")
	})
}
