package msm_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/mnt4753"
)

// stages adds up the device's time by the names of spans.
type stages struct {
	mu sync.Mutex
	ms map[string]float64
}

func (s *stages) Trace(e device.Event) {
	if e.Category == device.TraceDevice || e.Category == device.TraceKernel {
		s.mu.Lock()
		s.ms[e.Name] += e.Duration.Seconds() * 1e3
		s.mu.Unlock()
	}
}

func (s *stages) String() string {
	var out []string
	for name, ms := range s.ms {
		out = append(out, fmt.Sprintf("%s %.3f", name, ms))
	}
	return strings.Join(out, ", ")
}

// uniform are random scalars as words in Montgomery form: below the power of two below
// the modulus.
func uniform[S any](f *mont.Field, r *rand.Rand, n int) []S {
	out := make([]S, n)
	words := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(out))), n*f.Limbs)
	for i := range words {
		words[i] = r.Uint32()
		if i%f.Limbs == f.Limbs-1 {
			words[i] &= 1<<((f.Bits()-1)%32) - 1
		}
	}
	return out
}

// multiple is k times the generator.
func multiple[P, S any](c *msm.Curve[P, S], k *big.Int) P {
	g := c.Group
	var words []uint32
	for _, v := range g.Generator {
		words = append(words, g.Base.Montgomery(v)...)
	}
	one := g.Base.Montgomery(big.NewInt(1))
	for range 2 {
		words = append(words, one...)
		for range g.Degree - 1 {
			words = append(words, make([]uint32, g.Base.Limbs)...)
		}
	}
	var parts []msm.Part
	for i := range k.BitLen() {
		if k.Bit(i) == 1 {
			parts = append(parts, msm.Part{Shift: i, Words: words})
		}
	}
	return c.Host.Combine(parts)
}

// BenchmarkSum times sums of uniform scalars on a GPU, bases and scalars resident, and
// compares each result with the known one.
func BenchmarkSum(b *testing.B) {
	b.Run("bn254", func(b *testing.B) { speed(b, bn254.G1, 10, 12, 14, 16, 18, 20, 22, 24, 26) })
	b.Run("bn254-g2", func(b *testing.B) { speed(b, bn254.G2, 20) })
	b.Run("bls12-381", func(b *testing.B) { speed(b, bls12381.G1, 10, 12, 16, 20, 22, 24) })
	b.Run("bls12-377", func(b *testing.B) { speed(b, bls12377.G1, 10, 16, 20, 22, 24) })
	b.Run("mnt4-753", func(b *testing.B) { speed(b, mnt4753.G1, 12, 20, 22) })
}

// BenchmarkTiny is BenchmarkSum for few points, in two launches and step by step, and
// with other windows than those which the model takes.
func BenchmarkTiny(b *testing.B) {
	b.Run("bn254", func(b *testing.B) { measure(b, bn254.G1, []int{0, 5, 10, 12, 14, 15, 16}, few) })
	b.Run("bls12-381", func(b *testing.B) { measure(b, bls12381.G1, []int{0, 5, 10, 12, 14, 15, 16}, few) })
	b.Run("bls12-377", func(b *testing.B) { measure(b, bls12377.G1, []int{0, 5, 10, 12, 14, 15, 16}, few) })
}

// variant is options to measure.
type variant struct {
	name string
	msm.Options
}

func few(g *curve.Group, size int) []variant {
	out := []variant{{"best", msm.Options{}}, {"steps", msm.InXYZZ(msm.Options{})}}
	for _, count := range []int{32, 33, 37, 43, 52, 64} {
		if o, err := msm.WithCount(msm.Options{}, g, count); err == nil && size >= 10 && size <= 14 {
			out = append(out, variant{fmt.Sprint("windows-", count), o})
		}
	}
	return out
}

func speed[P comparable, S any](b *testing.B, c *msm.Curve[P, S], sizes ...int) {
	measure(b, c, sizes, func(g *curve.Group, _ int) []variant {
		out := []variant{{"best", msm.Options{}}}
		for _, groups := range []int{2, 3, 4, 6} {
			out = append(out, variant{fmt.Sprint("groups-", groups), msm.WithGroups(msm.Options{}, groups)})
		}
		for count := 10; count <= 45; count++ {
			if o, err := msm.WithCount(msm.Options{}, g, count); err == nil {
				out = append(out, variant{fmt.Sprint("windows-", count), o})
			}
		}
		return out
	})
}

// measure times sums of 2^size points with all variants of options.
func measure[P comparable, S any](b *testing.B, c *msm.Curve[P, S], sizes []int, variants func(g *curve.Group, size int) []variant) {
	d, err := device.Open("cuda:0")
	if err != nil {
		b.Skip(err)
	}
	ctx := context.Background()
	q, err := d.NewQueue(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	g, r := c.Group, rand.New(rand.NewPCG(1, 2))
	const log = 10
	most := 1 << sizes[len(sizes)-1]
	table := func(n int) ([]*big.Int, device.Buffer[uint32]) {
		k := make([]*big.Int, n)
		p := make([]P, n)
		for i := range k {
			k[i] = new(big.Int).SetUint64(r.Uint64N(1 << 24))
			p[i] = multiple(c, k[i])
		}
		buf, err := device.Upload(q, unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(p))), n*g.AffineBytes()/4))
		if err != nil {
			b.Fatal(err)
		}
		return k, buf
	}
	kLow, low := table(1 << log)
	kHigh, high := table(max(1, most>>log))
	defer low.Free()
	defer high.Free()
	words, err := device.Alloc[uint32](q, most*g.AffineBytes()/4)
	if err != nil {
		b.Fatal(err)
	}
	defer words.Free()
	if err := bases.Pairs(q, g, words, low, high, log, 0); err != nil {
		b.Fatal(err)
	}
	if err := q.Sync(); err != nil {
		b.Fatal(err)
	}
	points := device.View[P](words)
	for _, size := range sizes {
		n := 1 << size
		scalars := uniform[S](g.Scalar, r, n)
		want := multiple(c, expected(g, scalars, kLow, kHigh, log))
		resident, err := device.Upload(q, scalars)
		if err != nil {
			b.Fatal(err)
		}
		if err := q.Sync(); err != nil {
			b.Fatal(err)
		}
		run := func(b *testing.B, o msm.Options) {
			o.Subgroup = msm.Asserted // Pairs makes nothing else
			x, err := msm.NewBuffer(d, c, points.Slice(0, n), o)
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			s := &stages{ms: map[string]float64{}}
			for i := range 2 {
				with := ctx
				if i == 1 {
					with = device.WithTracer(ctx, s)
				}
				got, err := x.SumBuffer(with, resident)
				if err != nil {
					b.Fatal(err)
				}
				if got != want {
					b.Errorf("wrong: %v", got)
				}
			}
			b.Log(strings.ReplaceAll(s.String(), "_"+g.Name, ""))
			var all []time.Duration
			for b.Loop() {
				start := time.Now()
				got, err := x.SumBuffer(ctx, resident)
				if err != nil || got != want {
					b.Fatal("wrong", err)
				}
				all = append(all, time.Since(start))
			}
			slices.Sort(all)
			b.ReportMetric(all[0].Seconds()*1e3, "ms")
			b.ReportMetric(all[len(all)/2].Seconds()*1e3, "median-ms")
		}
		for _, v := range variants(g, size) {
			b.Run(fmt.Sprintf("2^%d-%s", size, v.name), func(b *testing.B) { run(b, v.Options) })
		}
		// Tables of the bench suite's size, and windows of any width in few sets.
		b.Run(fmt.Sprintf("2^%d-tables", size), func(b *testing.B) { run(b, msm.Options{Tables: 40 << 30}) })
		for bits := 12; bits <= 26; bits++ {
			if o, err := msm.WithFull(msm.Options{}, g, bits, n); err == nil {
				b.Run(fmt.Sprintf("2^%d-full-%d", size, bits), func(b *testing.B) { run(b, o) })
			}
			for sets := 1; sets <= 4; sets++ {
				if o, err := msm.WithSets(msm.Options{}, g, bits, sets, n); err == nil {
					b.Run(fmt.Sprintf("2^%d-sets-%d-%d", size, bits, sets), func(b *testing.B) { run(b, o) })
				}
			}
		}
		resident.Free()
	}
}

// expected is Σ s_i k_i for the bases that Pairs makes.
func expected[S any](g *curve.Group, scalars []S, low, high []*big.Int, log int) *big.Int {
	f := g.Scalar
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(scalars))), len(scalars)*f.Limbs/2)
	n := f.Limbs / 2
	// Sums of the scalars' words by row and by column, which stay below 2^64 in halves.
	sum := new(big.Int)
	add := func(by func(i int) int, k []*big.Int) {
		columns := make([][2]uint64, len(k)*n)
		for i := range scalars {
			at := by(i) * n
			for j := range n {
				w := words[i*n+j]
				columns[at+j][0] += w & 0xffffffff
				columns[at+j][1] += w >> 32
			}
		}
		for i := range k {
			v := new(big.Int)
			for j := range n {
				for h := range 2 {
					x := new(big.Int).SetUint64(columns[i*n+j][h])
					v.Add(v, x.Lsh(x, uint(64*j+32*h)))
				}
			}
			sum.Add(sum, v.Mul(v, k[i]))
		}
	}
	add(func(i int) int { return i & (1<<log - 1) }, low)
	add(func(i int) int { return i >> log }, high)
	// The words are those of Montgomery form.
	radix := new(big.Int).Lsh(big.NewInt(1), uint(32*f.Limbs))
	return sum.Mod(sum.Mul(sum, radix.ModInverse(radix, f.Modulus)), f.Modulus)
}
