package bucket

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// uniform is a list of random entries over so many points, in buckets whose lengths
// vary as those of random digits do.
func uniform(r *rand.Rand, points, entries, buckets int) (list, offsets []uint32) {
	list, offsets = make([]uint32, entries), make([]uint32, buckets+1)
	for i := 0; i < entries; i += 2 {
		v := r.Uint64()
		list[i] = uint32(v)%uint32(points) | uint32(v)&plan.Sign
		if i+1 < entries {
			list[i+1] = uint32(v>>32)%uint32(points) | uint32(v>>32)&plan.Sign
		}
	}
	mean := float64(entries) / float64(buckets)
	for i := 1; i < buckets; i++ {
		n := mean + math.Sqrt(mean)*r.NormFloat64()
		offsets[i] = min(offsets[i-1]+uint32(max(0, math.Round(n))), uint32(entries))
	}
	offsets[buckets] = uint32(entries)
	return list, offsets
}

// BenchmarkSums times the sums of 2^26 entries, 64 to a bucket, on a GPU, and reports
// additions a second. Its points are random words: the time of a sum does not depend on
// their being on the curve.
func BenchmarkSums(b *testing.B) {
	for _, g := range append([]*curve.Group{curve.BLS12377Edwards}, curve.Groups...) {
		b.Run(g.Name, func(b *testing.B) {
			q := benchmarkQueue(b)
			entries, points := 1<<26, 1<<22
			if g.Base.Limbs*g.Degree > 12 {
				entries, points = 1<<24, 1<<21
			}
			r := rand.New(rand.NewPCG(1, 2))
			list, offsets := uniform(r, points, entries, entries/64)
			words := make([]uint32, points*g.AffineBytes()/4)
			for i := range words {
				words[i] = r.Uint32()
				if i%g.Base.Limbs == g.Base.Limbs-1 {
					words[i] &= 0xffff
				}
			}
			p, s := devicetest.Upload(b, q, words), plan.Sorted{Entries: devicetest.Upload(b, q, list), Offsets: devicetest.Upload(b, q, offsets), Buckets: entries / 64}
			buckets, err := device.Alloc[uint32](q, s.Buckets*g.XYZZBytes()/4)
			if err != nil {
				b.Fatal(err)
			}
			defer buckets.Free()
			for _, w := range []int{1, 2, 4} {
				b.Run(fmt.Sprintf("waves-%d", w), func(b *testing.B) {
					u := units[g]
					w, err := newWorkspace(q, g, entries, s.Buckets, shape{threads: q.Device().Info().Units * u.threads * u.resident * w, least: 8})
					if err != nil {
						b.Fatal(err)
					}
					defer w.Free()
					best := time.Duration(math.MaxInt64)
					for i := 0; i < 4; i++ {
						start := time.Now()
						if err := w.Sums(q, p, s, buckets, false); err != nil {
							b.Fatal(err)
						}
						if err := q.Sync(); err != nil {
							b.Fatal(err)
						}
						best = min(best, time.Since(start))
					}
					b.ReportMetric(float64(best.Microseconds())/1000, "ms")
					b.ReportMetric(float64(entries)/best.Seconds()/1e9, "Gadd/s")
				})
			}
		})
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
