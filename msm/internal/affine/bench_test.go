package affine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// xorshift is a fast generator for long lists.
type xorshift uint64

func (x *xorshift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}

// uniform is a list as uniform scalars give it: n entries of random points in random
// buckets.
func uniform(tb testing.TB, q *device.Queue, points, n, buckets int) plan.Sorted {
	x := xorshift(88172645463325252)
	offsets := make([]uint32, buckets+1)
	for range n {
		offsets[1+x.next()>>20%uint64(buckets)]++
	}
	for i := range buckets {
		offsets[i+1] += offsets[i]
	}
	entries := make([]uint32, n)
	for i := range entries {
		v := x.next()
		entries[i] = uint32(v>>20%uint64(points)) | uint32(v)<<31
	}
	return plan.Sorted{Entries: devicetest.Upload(tb, q, entries), Offsets: devicetest.Upload(tb, q, offsets), Buckets: buckets}
}

// replicated is 2^log points, the same 1024 again and again.
func replicated(tb testing.TB, q *device.Queue, g *curve.Group, log int) device.Buffer[uint32] {
	c := curvetest.Curve{Group: g}
	words := make([]uint32, 0, g.AffineBytes()/4<<log)
	for _, p := range c.Multiples(c.Generator(), 1025)[1:] {
		words = append(words, c.Affine(p)...)
	}
	for len(words) < cap(words) {
		words = append(words, words[:min(len(words), cap(words)-len(words))]...)
	}
	return devicetest.Upload(tb, q, words)
}

// BenchmarkSums times bucket sums alone, of 32 entries a bucket, against those in XYZZ
// coordinates, and compares the two. AFFINE_ENTRIES and AFFINE_POINTS are base-2
// logarithms of other sizes. AFFINE_VARIANTS lists other ways to run them than the
// group's own, as threads/resident/each/flags: s and p for sums and products in shared
// memory, t for points kept, r for coordinates loaded again, q for squares that are
// products.
func BenchmarkSums(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	q := devicetest.Queue(b, d)
	if q.OnHost() {
		b.Skip("no GPU")
	}
	for _, g := range curve.Groups {
		b.Run(g.Name, func(b *testing.B) { benchmarkSums(b, q, g) })
	}
}

func benchmarkSums(b *testing.B, q *device.Queue, g *curve.Group) {
	log := 26
	for bytes := 32; bytes < elementBytes(g); bytes *= 2 {
		log--
	}
	if s := os.Getenv("AFFINE_ENTRIES"); s != "" {
		fmt.Sscan(s, &log)
	}
	entries := 1 << log
	few := log - 2
	if s := os.Getenv("AFFINE_POINTS"); s != "" {
		fmt.Sscan(s, &few)
	}
	points := replicated(b, q, g, few)
	sorted := uniform(b, q, 1<<few, entries, entries>>5)
	sums, _ := device.Alloc[uint32](q, sorted.Buckets*g.XYZZBytes()/4)
	defer sums.Free()
	normal, _ := device.Alloc[uint32](q, sorted.Buckets*g.AffineBytes()/4)
	defer normal.Free()
	time := func(b *testing.B, run func() error) []uint32 {
		best := time.Duration(1 << 62)
		for range 4 {
			start := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(best.Seconds()*1e3, "ms")
		b.ReportMetric(float64(entries)/best.Seconds()/1e9, "Gadd/s")
		if err := Normalize(q, g, normal, sums); err != nil {
			b.Fatal(err)
		}
		out, err := normal.Read(q)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	var want []uint32
	b.Run("xyzz", func(b *testing.B) {
		w, err := bucket.NewWorkspace(q, g, entries, sorted.Buckets)
		if err != nil {
			b.Fatal(err)
		}
		defer w.Free()
		want = time(b, func() error { return w.Sums(q, points, sorted, sums, false) })
	})
	variants := []config{configs[g]}
	for _, v := range strings.Fields(os.Getenv("AFFINE_VARIANTS")) {
		var c config
		var flags string
		if _, err := fmt.Sscanf(strings.ReplaceAll(v, "/", " "), "%d %d %d %s", &c.threads, &c.resident, &c.each, &flags); err != nil {
			b.Fatal(v, err)
		}
		c.sums, c.products = strings.Contains(flags, "s"), strings.Contains(flags, "p")
		c.staged = strings.Contains(flags, "t")
		c.reload = strings.Contains(flags, "r")
		c.noSquares = strings.Contains(flags, "q")
		variants = append(variants, c)
	}
	sources := []*kernel.Source{units[g]}
	for _, c := range variants[1:] {
		sources = append(sources, c.unit(g))
	}
	if err := q.Device().Preload(sources...); err != nil {
		b.Fatal(err)
	}
	for i, c := range variants {
		b.Run(fmt.Sprintf("%d/%d/%d/%+v", c.threads, c.resident, c.each, []bool{c.sums, c.products, c.staged, c.reload, c.noSquares}), func(b *testing.B) {
			s := c.shape(q.Device().Info().Units, entries)
			w, err := newWorkspace(q, g, sources[i], entries, s)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Free()
			got := time(b, func() error { return w.Sums(q, points, sorted, sums, false) })
			if !slices.Equal(got, want) {
				b.Error("the sums differ from those in XYZZ coordinates")
			}
		})
	}
}
