package prover_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/ntt/prover"
)

// BenchmarkEncode times variants of the transform on the device that "auto" stands for,
// on so many columns that none is in cache when its turn comes.
func BenchmarkEncode(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	if d.Kind() != device.CUDA {
		b.Skip("times GPUs")
	}
	q := devicetest.Queue(b, d)
	babyBear, cm31s := prover.Variants()
	preload(b, d, append(babyBear, cm31s...))
	for _, c := range []struct {
		field             string
		variants          []prover.Variant
		width, columns, n int
		padding           int
	}{
		{"babybear", babyBear, 1, 1, 20, 0},
		{"babybear", babyBear, 1, 1, 22, 0},
		{"babybear", babyBear, 1, 1, 24, 0},
		{"babybear", babyBear, 1, 1, 24, 1},
		{"babybear", babyBear, 1, 64, 19, 0},
		{"babybear", babyBear, 1, 64, 19, 1},
		{"babybear^4", babyBear, 4, 1, 22, 0},
		{"babybear^5", babyBear, 5, 1, 22, 0},
		{"babybear", babyBear, 1, 512, 16, 1},
		{"babybear", babyBear, 1, 16, 21, 1},
		{"cm31", cm31s, 1, 32, 19, 1},
		{"cm31", cm31s, 1, 1, 24, 0},
		{"cm31", cm31s, 1, 1, 20, 0},
		{"qm31", cm31s, 2, 1, 22, 0},
	} {
		for _, v := range c.variants {
			name := fmt.Sprintf("%s/%dx2^%d-%d/%s", c.field, c.columns, c.n, c.padding, v.Name)
			b.Run(name, func(b *testing.B) {
				size := c.columns * c.width * v.UnitWords() << c.n
				copies := max(1, 1<<26/size)
				src := filled(b, q, copies*size>>c.padding)
				defer src.Free()
				dst := src
				if c.padding > 0 {
					dst, err = device.Alloc[babybear.Element](q, copies*size)
					must(b, err)
					defer dst.Free()
				}
				to, from := device.View[uint32](dst), device.View[uint32](src)
				op := func(k int) error {
					return v.Encode(q, to.Slice(k*size, (k+1)*size), from.Slice(k*size>>c.padding, (k+1)*size>>c.padding), c.width, c.columns, c.n, c.n-c.padding)
				}
				must(b, op(0))
				must(b, q.Sync())
				best := time.Duration(1 << 60)
				b.ResetTimer()
				for range b.N {
					rounds := max(1, 16/copies)
					start := time.Now()
					for range rounds {
						for k := range copies {
							must(b, op(k))
						}
					}
					must(b, q.Sync())
					best = min(best, time.Since(start)/time.Duration(rounds*copies))
				}
				b.ReportMetric(float64(best.Nanoseconds())/1e3, "us/op-best")
				b.ReportMetric(float64(size)*4/1e6/best.Seconds()/1e6, "TB/s-out")
			})
		}
	}
}

func preload(t testing.TB, d *device.Device, variants []prover.Variant) {
	t.Helper()
	var sources []*kernel.Source
	for _, v := range variants {
		sources = append(sources, v.Sources()...)
	}
	must(t, d.Preload(sources...))
}

// filled is n words of a field element each.
func filled(t testing.TB, q *device.Queue, n int) device.Buffer[babybear.Element] {
	t.Helper()
	words := make([]babybear.Element, min(n, 1<<20))
	devicetest.Fill(devicetest.Rand(1), words, babybear.P)
	out, err := device.Alloc[babybear.Element](q, n)
	must(t, err)
	must(t, out.Slice(0, len(words)).CopyFrom(q, words))
	for have := len(words); have < n; have *= 2 {
		count := min(have, n-have)
		must(t, device.Copy(q, out.Slice(have, have+count), out.Slice(0, count)))
	}
	return out
}

// Every variant does the same.
func TestVariants(t *testing.T) {
	d := devicetest.Open(t, "cuda")
	q := devicetest.Queue(t, d)
	babyBear, cm31s := prover.Variants()
	preload(t, d, append(babyBear, cm31s...))
	for _, list := range [][]prover.Variant{babyBear, cm31s} {
		for n := 6; n <= 22; n += 2 {
			for _, width := range []int{1, 4, 5, 2} {
				if list[0].UnitWords() == 2 && width > 2 {
					continue
				}
				for live := n - 2; live <= n; live++ {
					unit := width * list[0].UnitWords()
					src := filled(t, q, unit<<live)
					var want []babybear.Element
					for _, v := range list {
						dst, err := device.Alloc[babybear.Element](q, unit<<n)
						must(t, err)
						must(t, v.Encode(q, device.View[uint32](dst), device.View[uint32](src), width, 1, n, live))
						got, err := dst.Read(q)
						must(t, err)
						if want == nil {
							want = got
						}
						if !slices.Equal(got, want) {
							t.Errorf("%s: width %d, 2^%d from 2^%d: differs from %s", v.Name, width, n, live, list[0].Name)
						}
						dst.Free()
					}
					src.Free()
				}
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
