package prover_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/mle/prover"
)

// BenchmarkRestrict restricts a matrix of 5120 x 17408 entries, on the device
// that "auto" stands for.
func BenchmarkRestrict(b *testing.B) {
	d, err := device.Open("auto")
	must(b, err)
	rows, cols := 5120, 17408
	if d.Kind() != device.CUDA {
		rows, cols = 320, 1088
	}
	q := devicetest.Queue(b, d)
	g := devicetest.Rand(10)
	words := devicetest.Upload(b, q, base(g, rows*cols))
	for i := range 4 {
		r := prover.Restriction{Rows: rows, Cols: cols, Side: prover.Side(i & 1)}
		name, size := "words", 4
		if r.Words = words; i&2 != 0 {
			r.Words, r.Bytes = device.Buffer[m31.Element]{}, device.View[int8](words).Slice(0, rows*cols)
			name, size = "bytes", 1
		}
		results, combined := cols, rows
		if r.Side == prover.Columns {
			results, combined = rows, cols
		}
		r.Point, r.Out = devicetest.Upload(b, q, ext(g, mle.Log(combined))), blank(b, q, results)
		b.Run(fmt.Sprint([]string{"rows", "columns"}[i&1], "-", name), func(b *testing.B) {
			report(b, q, float64(size*rows*cols), func() error { return prover.Restrict(q, []prover.Restriction{r}) })
		})
	}
}

func BenchmarkEq(b *testing.B) {
	d, err := device.Open("auto")
	must(b, err)
	q := devicetest.Queue(b, d)
	for _, n := range []int{10, 16, 24} {
		point, out := devicetest.Upload(b, q, ext(devicetest.Rand(11), n)), blank(b, q, 1<<n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			report(b, q, float64(int(16)<<n), func() error { return prover.Eq(q, out, point, device.Buffer[m31.QM31]{}) })
		})
	}
}

func BenchmarkFold(b *testing.B) {
	d, err := device.Open("auto")
	must(b, err)
	q := devicetest.Queue(b, d)
	const n = 1 << 24
	table := devicetest.Upload(b, q, make([]m31.Element, 2*n))
	r := devicetest.Upload(b, q, []m31.Element{12345})
	b.Run("m31", func(b *testing.B) {
		report(b, q, 12*n, func() error { return prover.FoldM31(q, table.Slice(0, n), table, r) })
	})
}

func BenchmarkEvaluate(b *testing.B) {
	d, err := device.Open("auto")
	must(b, err)
	q := devicetest.Queue(b, d)
	g := devicetest.Rand(5)
	for _, n := range []int{14, 20, 25} {
		table, point, out := devicetest.Upload(b, q, base(g, 1<<n)), devicetest.Upload(b, q, ext(g, n)), blank(b, q, 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			report(b, q, float64(int(4)<<n), func() error { return prover.Evaluate(q, out, table, point) })
		})
	}
}

// report times op ten at a time, and counts its bytes.
func report(b *testing.B, q *device.Queue, bytes float64, op func() error) {
	must(b, op())
	must(b, q.Sync())
	b.ResetTimer()
	start := time.Now()
	for range b.N {
		for range 10 {
			must(b, op())
		}
		must(b, q.Sync())
	}
	each := time.Since(start).Seconds() / 10 / float64(b.N)
	b.ReportMetric(bytes/each/1e12, "TB/s")
	b.ReportMetric(each*1e6, "us/op")
}
