package msm_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/known"
)

// BenchmarkDevices times sums on 1, 2, 4, ... of the machine's GPUs, with scalars on them
// and in page-locked memory, and simulates more. ZKWARP_MSM_LOGS are the sizes.
func BenchmarkDevices(b *testing.B) {
	b.Run("bn254", func(b *testing.B) { devicesSpeed(b, bn254.G1) })
	b.Run("bls12-381", func(b *testing.B) { devicesSpeed(b, bls12381.G1) })
}

// onDevices are known bases and scalars on every device.
type onDevices[P, S any] struct {
	points  []device.Buffer[P]
	scalars []device.Buffer[S]
	host    device.Pinned[S]
	want    P
}

func place[P, S any](b *testing.B, c *msm.Curve[P, S], all []*device.Device, n int) *onDevices[P, S] {
	b.Helper()
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	r, err := known.NewResident(c.Group, 1, n)
	check(err)
	out := &onDevices[P, S]{}
	for i, d := range all {
		q, err := d.NewQueue(context.Background())
		check(err)
		points, err := device.Alloc[P](q, n)
		check(err)
		scalars, err := device.Alloc[S](q, n)
		check(err)
		check(r.Points(q, device.View[uint32](points), 0))
		check(known.ResidentScalars(q, c.Group.Scalar, device.View[uint32](scalars), "uniform", 2, 0))
		if i == 0 {
			k, err := r.Expected(q, device.View[uint32](scalars), 0)
			check(err)
			out.want = multiple(c, k)
			if n <= 1<<26 {
				out.host, err = device.AllocPinned[S](d, n)
				check(err)
				check(scalars.CopyToPinned(q, out.host))
			}
		}
		check(q.Close())
		out.points, out.scalars = append(out.points, points), append(out.scalars, scalars)
	}
	b.Cleanup(func() {
		for i := range all {
			out.points[i].Free()
			out.scalars[i].Free()
		}
		if err := out.host.Free(); err != nil {
			b.Error(err)
		}
	})
	return out
}

func devicesSpeed[P comparable, S any](b *testing.B, c *msm.Curve[P, S]) {
	all, err := device.OpenList("cuda:all")
	if err != nil {
		b.Skip(err)
	}
	logs := []int{20}
	if s := os.Getenv("ZKWARP_MSM_LOGS"); s != "" {
		logs = nil
		for _, f := range strings.Fields(s) {
			log, err := strconv.Atoi(f)
			if err != nil {
				b.Fatal(err)
			}
			logs = append(logs, log)
		}
	}
	for _, log := range logs {
		b.Run(fmt.Sprintf("2^%d", log), func(b *testing.B) { devicesAt(b, c, all, 1<<log) })
	}
}

func devicesAt[P comparable, S any](b *testing.B, c *msm.Curve[P, S], all []*device.Device, n int) {
	ctx := context.Background()
	at := place(b, c, all, n)
	one := map[string]float64{}
	for count := 1; count <= len(all); count *= 2 {
		x, err := msm.NewBuffers(all[:count], c, at.points[:count], msm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		kinds := map[string]func() (P, error){
			"resident": func() (P, error) { return x.SumBuffers(ctx, at.scalars[:count]) },
			"pinned":   func() (P, error) { return x.SumPinned(ctx, at.host) },
			"host":     func() (P, error) { return x.Sum(ctx, at.host.Host()) },
		}
		for _, kind := range []string{"resident", "pinned", "host"} {
			if kind != "resident" && at.host.Len() == 0 {
				continue
			}
			b.Run(fmt.Sprintf("%dgpu/%s", count, kind), func(b *testing.B) {
				var times []float64
				for i := 0; i < 2 || b.Loop(); i++ {
					start := time.Now()
					got, err := kinds[kind]()
					if err != nil || got != at.want {
						b.Fatal("wrong", err)
					}
					if i >= 2 {
						times = append(times, time.Since(start).Seconds()*1e3)
					}
				}
				slices.Sort(times)
				median := times[len(times)/2]
				if count == 1 {
					one[kind] = median
				}
				b.ReportMetric(median, "ms")
				b.ReportMetric(one[kind]/median, "speedup")
			})
		}
		for _, devices := range []int{2, 4, 8, 16, 32} {
			if count > 1 {
				break
			}
			b.Run(fmt.Sprintf("simulated/%dgpu", devices), func(b *testing.B) {
				var times []float64
				var last *msm.Simulation[P]
				for i := 0; i < 1 || b.Loop(); i++ {
					s, err := x.Simulate(ctx, at.scalars[0], devices)
					if err != nil || s.Sum != at.want {
						b.Fatal("wrong", err)
					}
					if i >= 1 {
						times = append(times, s.Total().Seconds()*1e3)
					}
					last = s
				}
				slices.Sort(times)
				median := times[len(times)/2]
				b.ReportMetric(median, "ms")
				b.ReportMetric(one["resident"]/median, "speedup")
				b.Log(last.Shares, last.Combine)
			})
		}
		x.Close()
	}
}
