package scatter

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// skews are distributions of scalars: where each of n uniform ones is changed, in place.
var skews = map[string]func(g *rand.Rand, i int, words []uint32){
	"uniform": func(*rand.Rand, int, []uint32) {},
	"equal": func(_ *rand.Rand, _ int, w []uint32) {
		for j := range w {
			w[j] = 0x12345678 + uint32(j)
		}
	},
	"half": func(g *rand.Rand, _ int, w []uint32) {
		if g.Uint32()&1 == 0 {
			for j := range w {
				w[j] = 0x12345678 + uint32(j)
			}
		}
	},
	"bits": func(g *rand.Rand, _ int, w []uint32) {
		clear(w)
		w[0] = g.Uint32() & 1
	},
	"64bit": func(_ *rand.Rand, _ int, w []uint32) { clear(w[2:]) },
	"hot":   func(_ *rand.Rand, _ int, w []uint32) { w[2] = 0x55555555 },
	"few": func(g *rand.Rand, _ int, w []uint32) {
		s := g.Uint32N(10)
		for j := range w {
			w[j] = (s + 1) * (0x1234567 + uint32(j))
		}
	},
	"blocks": func(_ *rand.Rand, i int, w []uint32) {
		for j := range w {
			w[j] = uint32(i>>10+1) * (0x1234567 + uint32(j))
		}
	},
}

// canonicalScalars is n scalars below the order, in canonical form.
func canonicalScalars(f *mont.Field, n int, skew string) []uint32 {
	words := make([]uint32, n*f.Limbs)
	change := skews[skew]
	top := f.Words(f.Modulus)[f.Limbs-1]
	parallel.For(n, 1<<14, func(lo, hi int) {
		g := rand.New(rand.NewPCG(uint64(lo), 7))
		for i := lo; i < hi; i++ {
			w := words[i*f.Limbs : (i+1)*f.Limbs]
			for j := 0; j < len(w); j += 2 {
				v := g.Uint64()
				w[j], w[j+1] = uint32(v), uint32(v>>32)
			}
			change(g, i, w)
			w[len(w)-1] %= top
		}
	})
	return words
}

// kernelTimes adds up the device's times by kernel.
type kernelTimes struct {
	mu    sync.Mutex
	names []string
	times map[string]time.Duration
}

func (k *kernelTimes) Trace(e device.Event) {
	if e.Category != device.TraceKernel {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.times[e.Name]; !ok {
		k.names = append(k.names, e.Name)
	}
	k.times[e.Name] += e.Duration
}

// BenchmarkRun sorts scalars that are on the device: ZKWARP_SCATTER is a list of cases
// field:log2(n):width:skew:tuning, tuning one of the names below; with :shared behind it
// all windows have one set of buckets. The metrics are
// milliseconds by kernel, as the device has them, and ms is from enqueueing the first of
// ten to the end of the last, a tenth.
func BenchmarkRun(b *testing.B) {
	cases := os.Getenv("ZKWARP_SCATTER")
	if cases == "" {
		cases = "bn254_fr:16:12:uniform:default bn254_fr:16:12:half:default"
	}
	d, err := device.Open("auto")
	must(b, err)
	var words []uint32
	had := ""
	for _, c := range strings.Fields(cases) {
		p := strings.Split(c, ":")
		f := field(b, p[0])
		log, err := strconv.Atoi(p[1])
		must(b, err)
		width, err := strconv.Atoi(p[2])
		must(b, err)
		if key := p[0] + p[1] + p[3]; key != had {
			words, had = canonicalScalars(f, 1<<log, p[3]), key
		}
		form := Canonical
		if p[3] == "uniform" {
			form = Montgomery // as uniform
		}
		b.Run(c, func(b *testing.B) {
			benchmarkCase(b, d, f, 1<<log, width, words, form, tuningOf(b, d.Info(), p[4]), len(p) > 5)
		})
	}
}

func field(b *testing.B, name string) *mont.Field {
	for _, f := range append(fields, curve.Toy61Fr) {
		if f.Name == name {
			return f
		}
	}
	b.Fatalf("no field %s", name)
	return nil
}

func tuningOf(b *testing.B, info device.Info, name string) Tuning {
	t := For(info)
	for _, change := range strings.Split(name, ",") {
		key, value, _ := strings.Cut(change, "=")
		v, _ := strconv.Atoi(value)
		switch key {
		case "default":
		case "naive": // an atomic addition an entry, straight to the buckets
			t.Direct, t.TileBins = 1<<30, 0
		case "direct": // the hierarchical scatter, straight to the buckets
			t.Direct, t.TileBins = 1<<30, 1<<13
		case "two":
			t.Direct = 0
		case "long":
			t.Long = v
		case "shared":
			t.Shared = v
		case "tile":
			t.Tile = v
		case "split":
			t.Split = v
		case "count":
			t.Count = v
		case "coarse":
			t.Coarse = v
		case "tilebins":
			t.TileBins = v
		default:
			b.Fatalf("no tuning %s", change)
		}
	}
	return t
}

func benchmarkCase(b *testing.B, d *device.Device, f *mont.Field, n, width int, words []uint32, form Form, t Tuning, shared bool) {
	windows := windowsOf(f, width)
	for i := range windows {
		if shared {
			windows[i].Base = 0
		}
	}
	l, err := New(f, windows, all(n, windows), t)
	if err != nil {
		b.Skip(err)
	}
	k := &kernelTimes{times: map[string]time.Duration{}}
	q, err := d.NewQueue(context.Background())
	must(b, err)
	defer q.Close()
	w, err := NewWorkspace(q, l)
	must(b, err)
	defer w.Free()
	scalars, err := device.Upload(q, words)
	must(b, err)
	defer scalars.Free()
	bad, err := device.Upload(q, []uint32{^uint32(0)})
	must(b, err)
	defer bad.Free()
	run := func(q *device.Queue) {
		_, err := w.Run(q, l, scalars, form, bad)
		must(b, err)
	}
	run(q)
	must(b, q.Sync())
	b.ResetTimer()
	start := time.Now()
	for b.Loop() {
		for range 10 {
			run(q)
		}
		must(b, q.Sync())
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/1e4/float64(b.N), "ms")
	b.ReportMetric(0, "ns/op")
	traced, err := d.NewQueue(device.WithTracer(context.Background(), k))
	must(b, err)
	defer traced.Close()
	for range 3 {
		run(traced)
	}
	must(b, traced.Sync())
	for _, name := range k.names {
		b.ReportMetric(float64(k.times[name].Microseconds())/3e3, strings.TrimSuffix(name, "_"+f.Name)+"-ms")
	}
	got, err := bad.Read(q)
	must(b, err)
	if got[0] != ^uint32(0) {
		b.Fatalf("scalar %d is too large", got[0])
	}
	end, err := w.offsets.Slice(l.Buckets(), l.Buckets()+1).Read(q)
	must(b, err)
	b.ReportMetric(float64(end[0])/1e6, "Mentries")
	b.ReportMetric(float64(l.bins), "bins")
}
