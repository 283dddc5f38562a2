package prover

import (
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/ntt"
)

// Two other ways to transform on a device, to measure against the one in use
// (bench/NOTES.md): Stockham's, which goes through all of memory for every five layers
// and needs no reordering, and four steps, which are rows, transposed in between.
var otherWays = kernel.Template{Name: "ntt/prover/otherways.cu", Text: passText + `
extern "C" __global__ void __launch_bounds__(256) ntt_stockham_VARIANT(u32 *dst, const u32 *src, const u32 *tables, u32 n, u32 done) {
  u32 j = blockIdx.x * blockDim.x + threadIdx.x, low = j & ((1u << done) - 1), p = j >> done;
  unit x[VALUES];
  take(x, src + j, 1u << (n - LOG_VALUES));
  layers(x, P);
  leave(x, power(tables, 0), power(tables, p << (LOG_ORDER - n + done)));
  unit *to = dst + low + (p << (done + LOG_VALUES));
#pragma unroll
  for (u32 v = 0; v < VALUES; v++) to[bit_reverse(v) >> (32 - LOG_VALUES) << done] = x[v];
}

extern "C" __global__ void __launch_bounds__(256) ntt_transpose_VARIANT(u32 *dst, const u32 *src, const u32 *tables, u32 n, u32 twisted) {
  SHARED_DYNAMIC(unit, tile);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, half = n / 2, across = 1u << (half - 5);
  u32 row = blockIdx.x / across * 32, column = blockIdx.x % across * 32;
  for (u32 i = warp; i < 32; i += 8) {
    unit v = src[((row + i) << half) + column + lane];
    if (twisted) v = unit_twist(v, power(tables, ((row + i) * reversed(column + lane, half)) << (LOG_ORDER - n)));
    tile[33 * i + lane] = v;
  }
  __syncthreads();
  for (u32 i = warp; i < 32; i += 8) dst[((column + i) << half) + row + lane] = tile[33 * lane + i];
}
`}

// others launches the kernels of otherWays over BabyBear.
type others struct {
	q      *device.Queue
	source *kernel.Source
	tables device.Buffer[uint32]
}

func newOthers(t testing.TB, q *device.Queue) others {
	t.Helper()
	header := specs[BabyBear].plain.Headers[0]
	o := others{q: q, source: otherWays.Unit("other", []string{"FIELD_HEADER", header.Name, "NTT_FIVE", "0", "NTT_THREADS", "1024"}, header)}
	var err error
	if o.tables, err = tablesOn(q, specs[BabyBear]); err != nil {
		t.Fatal(err)
	}
	return o
}

// stockham transforms columns of 2^n words, n a multiple of five, between a and b,
// and says which of them has the values, in natural order.
func (o others) stockham(a, b device.Buffer[uint32], n int) (device.Buffer[uint32], error) {
	for done := 0; done < n; done += 5 {
		err := o.q.Launch(device.Kernel{Source: o.source, Name: "ntt_stockham_other"}, device.D1(1<<(n-5)/256), device.D1(256), 0,
			b.Arg(), a.Arg(), o.tables.Arg(), device.U32(n), device.U32(done))
		if err != nil {
			return a, err
		}
		a, b = b, a
	}
	return a, nil
}

// fourSteps leaves the transform of a, 2^n words for an even n, in a, in bit-reversed order.
func (o others) fourSteps(a, b device.Buffer[uint32], n int) error {
	transpose := func(dst, src device.Buffer[uint32], twisted int) error {
		return o.q.Launch(device.Kernel{Source: o.source, Name: "ntt_transpose_other"}, device.D1(1<<(n-10)), device.D1(256), 4*33*32,
			dst.Arg(), src.Arg(), o.tables.Arg(), device.U32(n), device.U32(twisted))
	}
	rows := func(v device.Buffer[uint32]) error {
		return launch(o.q, specs[BabyBear], specs[BabyBear].tune, v, v, 1, 1<<(n/2), n/2, n/2)
	}
	for _, step := range []func() error{
		func() error { return transpose(b, a, 0) }, func() error { return rows(b) },
		func() error { return transpose(a, b, 1) }, func() error { return rows(a) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestOtherWays(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cuda"))
	o := newOthers(t, q)
	for _, n := range []int{20, 25} {
		data := make([]babybear.Element, 1<<n)
		devicetest.Fill(devicetest.Rand(1), data, babybear.P)
		a, b := devicetest.Upload(t, q, data), devicetest.Upload(t, q, data)
		c := devicetest.Upload(t, q, data)
		if err := Forward(q, BabyBear, c, n); err != nil {
			t.Fatal(err)
		}
		want, err := c.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.stockham(device.View[uint32](a), device.View[uint32](b), n)
		if err != nil {
			t.Fatal(err)
		}
		values, err := device.View[babybear.Element](got).Read(q)
		if err != nil {
			t.Fatal(err)
		}
		ntt.Permute(values, n)
		if !slices.Equal(values, want) {
			t.Errorf("Stockham's way differs for 2^%d", n)
		}
		if n%2 == 1 {
			continue
		}
		if err := a.CopyFrom(q, data); err != nil {
			t.Fatal(err)
		}
		if err := o.fourSteps(device.View[uint32](a), device.View[uint32](b), n); err != nil {
			t.Fatal(err)
		}
		if values, err = a.Read(q); err != nil || !slices.Equal(values, want) {
			t.Errorf("four steps differ for 2^%d (%v)", n, err)
		}
	}
}

func BenchmarkOtherWays(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil || d.Kind() != device.CUDA {
		b.Skip("times GPUs")
	}
	q := devicetest.Queue(b, d)
	o := newOthers(b, q)
	for _, c := range []struct {
		name string
		n    int
		op   func(x, y device.Buffer[uint32], n int) error
	}{
		{"stockham-2^20", 20, func(x, y device.Buffer[uint32], n int) error { _, err := o.stockham(x, y, n); return err }},
		{"stockham-2^25", 25, func(x, y device.Buffer[uint32], n int) error { _, err := o.stockham(x, y, n); return err }},
		{"four-steps-2^20", 20, o.fourSteps},
		{"four-steps-2^24", 24, o.fourSteps},
		{"in-use-2^20", 20, func(x, _ device.Buffer[uint32], n int) error {
			return launch(q, specs[BabyBear], specs[BabyBear].tune, x, x, 1, 1, n, n)
		}},
		{"in-use-2^24", 24, func(x, _ device.Buffer[uint32], n int) error {
			return launch(q, specs[BabyBear], specs[BabyBear].tune, x, x, 1, 1, n, n)
		}},
		{"in-use-2^25", 25, func(x, _ device.Buffer[uint32], n int) error {
			return launch(q, specs[BabyBear], specs[BabyBear].tune, x, x, 1, 1, n, n)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, err := device.Alloc[uint32](q, 1<<c.n)
			if err != nil {
				b.Fatal(err)
			}
			y, err := device.Alloc[uint32](q, 1<<c.n)
			if err != nil {
				b.Fatal(err)
			}
			defer x.Free()
			defer y.Free()
			if err := x.Fill(q, 12345); err != nil {
				b.Fatal(err)
			}
			best := time.Duration(1 << 60)
			for range b.N {
				start := time.Now()
				for range 10 {
					if err := c.op(x, y, c.n); err != nil {
						b.Fatal(err)
					}
				}
				if err := q.Sync(); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start)/10)
			}
			b.ReportMetric(float64(best.Nanoseconds())/1e3, "us/op-best")
		})
	}
}
