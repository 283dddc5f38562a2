package scatter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// Orders of lanes and blocks, and sanitizers, are tried on the small field only, with
// fewer scalars.
var brief = os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != ""

func TestMain(m *testing.M) {
	sources := Sources()
	if brief {
		sources = SourcesOf(curve.Toy61Fr)
	}
	devicetest.Main(m, sources...)
}

// windowsOf is windows of the given widths, as many as the field needs, the widths
// taken again from the start. The top window is what is left.
func windowsOf(f *mont.Field, widths ...int) []plan.Window {
	var out []plan.Window
	sum := new(big.Int)
	most := new(big.Int).Rsh(f.Modulus, 1)
	shift, base := 0, 0
	for i := 0; ; i++ {
		bits := widths[i%len(widths)]
		// The last window is the first one that takes all that is left.
		rest := new(big.Int).Add(most, sum)
		rest.Rsh(rest, uint(shift))
		if rest.BitLen() <= bits {
			return append(out, plan.Window{Shift: shift, Bits: max(1, rest.BitLen()), Top: true, Base: base, Buckets: max(1, int(rest.Int64()))})
		}
		out = append(out, plan.Window{Shift: shift, Bits: bits, Base: base, Buckets: 1 << (bits - 1)})
		sum.SetBit(sum, shift+bits-1, 1)
		shift += bits
		base += 1 << (bits - 1)
	}
}

func buckets(windows []plan.Window) int {
	n := 0
	for _, w := range windows {
		n = max(n, w.Base+w.Buckets)
	}
	return n
}

// all is the range of n points and all buckets.
func all(n int, windows []plan.Window) plan.Range {
	return plan.Range{To: n, High: buckets(windows)}
}

func random(g *devicetest.Gen, f *mont.Field) *big.Int {
	return new(big.Int).Mod(f.Int(g.Words(f.Limbs+2)), f.Modulus)
}

// traps are scalars around 0, the half of the order and its end, and powers of two.
func traps(f *mont.Field) []*big.Int {
	half := new(big.Int).Rsh(f.Modulus, 1)
	var out []*big.Int
	for d := int64(-3); d <= 3; d++ {
		for _, v := range []*big.Int{new(big.Int), half, f.Modulus} {
			out = append(out, new(big.Int).Mod(new(big.Int).Add(v, big.NewInt(d)), f.Modulus))
		}
	}
	for i := range f.Bits() - 1 {
		p := new(big.Int).Lsh(big.NewInt(1), uint(i))
		out = append(out, p, new(big.Int).Sub(p, big.NewInt(1)))
	}
	return out
}

// kinds of scalars, n of each.
var kinds = map[string]func(g *devicetest.Gen, f *mont.Field, n int) []*big.Int{
	"uniform": func(g *devicetest.Gen, f *mont.Field, n int) []*big.Int {
		return times(n, func(int) *big.Int { return random(g, f) })
	},
	"equal": func(g *devicetest.Gen, f *mont.Field, n int) []*big.Int {
		v := random(g, f)
		return times(n, func(int) *big.Int { return v })
	},
	"half": func(g *devicetest.Gen, f *mont.Field, n int) []*big.Int {
		v := random(g, f)
		return times(n, func(int) *big.Int {
			if g.Intn(2) == 0 {
				return v
			}
			return random(g, f)
		})
	},
	"bits": func(g *devicetest.Gen, _ *mont.Field, n int) []*big.Int {
		return times(n, func(int) *big.Int { return big.NewInt(int64(g.Intn(2))) })
	},
	"zero": func(_ *devicetest.Gen, _ *mont.Field, n int) []*big.Int {
		return times(n, func(int) *big.Int { return new(big.Int) })
	},
	"traps": func(_ *devicetest.Gen, f *mont.Field, n int) []*big.Int {
		t := traps(f)
		return times(n, func(i int) *big.Int { return t[i%len(t)] })
	},
	"hot window": func(g *devicetest.Gen, f *mont.Field, n int) []*big.Int {
		return times(n, func(int) *big.Int {
			v := random(g, f)
			return v.Rsh(v, 8).Lsh(v, 8).Add(v, big.NewInt(77)).Mod(v, f.Modulus)
		})
	},
}

func times(n int, f func(i int) *big.Int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func wordsOf(f *mont.Field, form Form, v []*big.Int) []uint32 {
	var out []uint32
	for _, x := range v {
		if form == Montgomery {
			out = append(out, f.Montgomery(x)...)
		} else {
			out = append(out, f.Words(x)...)
		}
	}
	return out
}

type result struct {
	entries, offsets []uint32
	bad              uint32
}

// sorted is what Run makes on q.
func sorted(t testing.TB, q *device.Queue, l *Layout, words []uint32, form Form) result {
	t.Helper()
	w, err := NewWorkspace(q, l)
	must(t, err)
	defer w.Free()
	scalars := devicetest.Upload(t, q, words)
	bad := devicetest.Upload(t, q, []uint32{^uint32(0)})
	var r result
	for range 2 { // the workspace is used again
		s, err := w.Run(q, l, scalars, form, bad)
		must(t, err)
		r.offsets, err = s.Offsets.Read(q)
		must(t, err)
		r.entries, err = s.Entries.Read(q)
		must(t, err)
		v, err := bad.Read(q)
		must(t, err)
		r.bad = v[0]
	}
	for i := range l.Buckets() {
		slices.Sort(r.entries[r.offsets[i]:r.offsets[i+1]])
	}
	r.entries = r.entries[:r.offsets[l.Buckets()]]
	return r
}

func (r result) bytes() []byte {
	var b bytes.Buffer
	for _, v := range [][]uint32{r.offsets, r.entries, {r.bad}} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify puts scalars together again from the buckets that their points are in. It takes
// a layout of all buckets whose windows with one Base have different tables.
func verify(t *testing.T, l *Layout, r result, scalars []*big.Int) {
	t.Helper()
	got := times(len(scalars), func(int) *big.Int { return new(big.Int) })
	seen := map[[2]int]bool{}
	for b := range l.Buckets() {
		for _, e := range r.entries[r.offsets[b]:r.offsets[b+1]] {
			index := int(e &^ plan.Sign)
			at := slices.IndexFunc(l.windows, func(w plan.Window) bool {
				return w.Base <= b && b < w.Base+w.Buckets && l.rng.From+w.Table <= index && index < l.rng.To+w.Table
			})
			if at < 0 {
				t.Fatalf("bucket %d has point %d", b, index)
			}
			w := l.windows[at]
			i := index - w.Table - l.rng.From
			if seen[[2]int{i, at}] {
				t.Fatalf("point %d is in two buckets of window %d", i, at)
			}
			seen[[2]int{i, at}] = true
			d := new(big.Int).Lsh(big.NewInt(int64(b-w.Base+1)), uint(w.Shift))
			if e&plan.Sign != 0 {
				d.Neg(d)
			}
			got[i].Add(got[i], d)
		}
	}
	for i, v := range got {
		if v.CmpAbs(new(big.Int).Rsh(l.field.Modulus, 1)) > 0 {
			t.Fatalf("scalar %d: digits of %v, more than half of the order", i, v)
		}
		if v.Mod(v, l.field.Modulus).Cmp(scalars[i]) != 0 {
			t.Fatalf("scalar %d: digits of %v for %v", i, v, scalars[i])
		}
	}
}

// standard is the H100's.
var standard = For(device.Info{SharedPerBlock: 227 << 10})

// small is a tuning under which few points meet every path.
func small() Tuning {
	return Tuning{Shared: 96 << 10, Direct: 16, Long: 192, Tile: 128, TileBins: 100}
}

// divided is a tuning under which few bins are filled by way of coarse bins.
func divided() Tuning {
	t := small()
	t.Split, t.Coarse = 3, 4
	return t
}

func TestDigits(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	g := devicetest.Rand(1)
	for _, f := range fields {
		for trial := range 12 {
			var widths []int
			for range 1 + g.Intn(4) {
				widths = append(widths, 1+g.Intn(16))
			}
			if trial == 0 {
				widths = []int{1}
			}
			windows := windowsOf(f, widths...)
			if len(windows) > maxWindows {
				continue
			}
			scalars := append(traps(f), kinds["uniform"](g, f, 100)...)
			l, err := New(f, windows, all(len(scalars), windows), standard)
			must(t, err)
			form := Form(trial % 2)
			verify(t, l, sorted(t, q, l, wordsOf(f, form, scalars), form), scalars)
		}
	}
}

// Widths that divide the order's length leave a carry to a window of its own.
func TestDividingWidths(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	for _, f := range fields {
		for bits := 1; bits <= 16; bits++ {
			windows := windowsOf(f, bits)
			if f.Bits()%bits != 0 && (f.Bits()-1)%bits != 0 || len(windows) > maxWindows {
				continue
			}
			scalars := traps(f)
			l, err := New(f, windows, all(len(scalars), windows), standard)
			must(t, err)
			verify(t, l, sorted(t, q, l, wordsOf(f, Canonical, scalars), Canonical), scalars)
		}
	}
}

func TestSort(t *testing.T) {
	f := curve.Toy61Fr
	many := 1500
	if brief {
		many = 700
	}
	for _, tuning := range []struct {
		name string
		Tuning
	}{
		{"standard", standard},
		{"small", small()},
		{"coarse bins", divided()},
		{"one pass", Tuning{Shared: 96 << 10, Direct: 1 << 20, TileBins: 1 << 13}},
		{"no tiles", Tuning{Shared: 96 << 10, Direct: 16, Long: 500, Tile: 128}},
		{"large bins", Tuning{Shared: 96 << 10, Direct: 16, Long: 6000, Tile: 12 << 10, TileBins: 4096}},
	} {
		t.Run(tuning.name, func(t *testing.T) {
			for kind, make := range kinds {
				if brief && kind != "uniform" && kind != "half" {
					continue
				}
				t.Run(kind, func(t *testing.T) {
					devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
						g := devicetest.Rand(2)
						var out []byte
						for i, n := range []int{1, 33, many} {
							windows := windowsOf(f, []int{5, 9, 11}[i], 8)
							scalars := make(g, f, n)
							l, err := New(f, windows, all(n, windows), tuning.Tuning)
							must(t, err)
							r := sorted(t, q, l, wordsOf(f, Montgomery, scalars), Montgomery)
							if q.OnHost() {
								verify(t, l, r, scalars)
							}
							out = append(out, r.bytes()...)
						}
						return out
					})
				})
			}
		})
	}
}

// Every field's kernels, with windows that cross words in every way.
func TestFields(t *testing.T) {
	for _, f := range fields {
		if brief && f != curve.Toy61Fr {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
				var out []byte
				scalars := kinds["uniform"](devicetest.Rand(3), f, 100)
				for i, v := range traps(f) {
					if i < 21 || i%24 == 0 {
						scalars = append(scalars, v)
					}
				}
				windows := windowsOf(f, 10, 7, 9)
				for form, tuning := range []Tuning{small(), standard} {
					l, err := New(f, windows, all(len(scalars), windows), tuning)
					must(t, err)
					r := sorted(t, q, l, wordsOf(f, Form(form), scalars), Form(form))
					if q.OnHost() {
						verify(t, l, r, scalars)
					}
					out = append(out, r.bytes()...)
				}
				return out
			})
		})
	}
}

// More buckets of a window than shared memory has counters.
func TestWideWindow(t *testing.T) {
	f := curve.Toy61Fr
	windows := windowsOf(f, 17)
	if 4*windows[0].Buckets <= 96<<10 {
		t.Fatal("counters fit")
	}
	devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
		scalars := kinds["half"](devicetest.Rand(7), f, 1000)
		l, err := New(f, windows, all(len(scalars), windows), Tuning{Shared: 96 << 10, Direct: 1 << 30, TileBins: 1})
		must(t, err)
		r := sorted(t, q, l, wordsOf(f, Montgomery, scalars), Montgomery)
		verify(t, l, r, scalars)
		return r.bytes()
	})
}

// Shares of points and buckets are parts of the whole.
func TestRanges(t *testing.T) {
	f := curve.Toy61Fr
	const n = 700
	windows := windowsOf(f, 9, 6)
	total := buckets(windows)
	devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
		scalars := kinds["half"](devicetest.Rand(4), f, n)
		words := wordsOf(f, Canonical, scalars)
		l, err := New(f, windows, all(n, windows), small())
		must(t, err)
		whole := sorted(t, q, l, words, Canonical)
		var out []byte
		for _, r := range []plan.Range{{To: n, Low: 0, High: 100}, {To: n, Low: 100, High: 300}, {To: n, Low: 300, High: total}, {From: 13, To: 500, Low: 256, High: 257}} {
			l, err := New(f, windows, r, small())
			must(t, err)
			part := sorted(t, q, l, words[f.Limbs*r.From:f.Limbs*r.To], Canonical)
			for b := range l.Buckets() {
				var want []uint32
				for _, e := range whole.entries[whole.offsets[r.Low+b]:whole.offsets[r.Low+b+1]] {
					if i := int(e &^ plan.Sign); r.From <= i && i < r.To {
						want = append(want, e)
					}
				}
				if got := part.entries[part.offsets[b]:part.offsets[b+1]]; !slices.Equal(got, want) {
					t.Fatalf("%+v: bucket %d has %x, want %x", r, b, got, want)
				}
			}
			out = append(out, part.bytes()...)
		}
		return out
	})
}

// Tables of multiples share buckets among windows.
func TestTables(t *testing.T) {
	f := curve.Toy61Fr
	const n, stride = 400, 1000
	for _, tuning := range []Tuning{standard, small(), divided()} {
		devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
			windows := windowsOf(f, 9)
			for i := range windows {
				windows[i].Base = i / 3 * 256
				windows[i].Table = i % 3 * stride
			}
			scalars := kinds["uniform"](devicetest.Rand(5), f, n)
			r := plan.Range{From: 5, To: 5 + n, High: buckets(windows)}
			l, err := New(f, windows, r, tuning)
			must(t, err)
			got := sorted(t, q, l, wordsOf(f, Montgomery, scalars), Montgomery)
			verify(t, l, got, scalars)
			return got.bytes()
		})
	}
}

// Bins of the sizes of benchmarks fit, and are few enough to be filled in runs.
func TestBins(t *testing.T) {
	f := curve.BN254Fr
	for log := 18; log <= 26; log += 2 {
		for width := log - 6; width <= plan.MaxBits; width++ {
			for sets := range 4 {
				n := 1 << log
				w, err := plan.Uniform(f, width, sets, n)
				must(t, err)
				l, err := New(f, w.List, all(n, w.List), standard)
				must(t, err)
				for _, r := range l.regions {
					fewest := (r.high - r.low) / maxFine // bins
					for _, x := range w.List {
						if x.Base >= r.low && x.Base < r.high {
							fewest += n / l.long
						}
					}
					if !l.direct && r.bins > 8*fewest+8 {
						t.Errorf("2^%d, %d bits, %d sets: %d bins of 2^%d buckets where %d might do", log, width, sets, r.bins, r.shift, fewest)
					}
					if l.split && (r.shift+r.bits > maxCoarse || r.coarseBins > 1024) || !l.split && !l.direct && r.bins > standard.Split {
						t.Errorf("2^%d, %d bits, %d sets: %d bins of 2^%d buckets, 2^%d of them in each of %d", log, width, sets, r.bins, r.shift, r.bits, r.coarseBins)
					}
				}
			}
		}
	}
}

func TestLargeScalars(t *testing.T) {
	f := curve.Toy61Fr
	windows := windowsOf(f, 9)
	for _, form := range []Form{Montgomery, Canonical} {
		devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
			scalars := kinds["uniform"](devicetest.Rand(6), f, 600)
			words := wordsOf(f, form, scalars)
			for _, i := range []int{599, 400, 77} {
				copy(words[2*i:], f.Words(new(big.Int).Add(f.Modulus, big.NewInt(int64(i)-77))))
				scalars[i] = new(big.Int)
			}
			words[2*300], words[2*300+1] = ^uint32(0), ^uint32(0)
			scalars[300] = new(big.Int)
			l, err := New(f, windows, all(600, windows), small())
			must(t, err)
			r := sorted(t, q, l, words, form)
			if r.bad != 77 {
				t.Errorf("bad scalar %d, want 77", r.bad)
			}
			verify(t, l, r, scalars)
			return r.bytes()
		})
	}
}

func TestNone(t *testing.T) {
	devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
		windows := windowsOf(curve.Toy61Fr, 9)
		l, err := New(curve.Toy61Fr, windows, all(0, windows), standard)
		must(t, err)
		return sorted(t, q, l, nil, Montgomery).bytes()
	})
}

func TestRefused(t *testing.T) {
	f := curve.BN254Fr
	change := func(do func(w []plan.Window)) []plan.Window {
		w := windowsOf(f, 16)
		do(w)
		return w
	}
	good := windowsOf(f, 16)
	r := all(1000, good)
	if _, err := New(f, good, r, standard); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		windows []plan.Window
		rng     plan.Range
	}{
		"no windows":       {nil, r},
		"many windows":     {make([]plan.Window, maxWindows+1), r},
		"negative range":   {good, plan.Range{From: -1, To: 5, High: 3}},
		"backward range":   {good, plan.Range{From: 6, To: 5, High: 3}},
		"foreign buckets":  {good, plan.Range{To: 5, High: r.High + 1}},
		"no bits":          {change(func(w []plan.Window) { w[2].Bits = 0 }), r},
		"many bits":        {change(func(w []plan.Window) { w[2].Bits = 31 }), r},
		"gap":              {change(func(w []plan.Window) { w[2].Shift++ }), r},
		"no top":           {change(func(w []plan.Window) { w[len(w)-1].Top = false }), r},
		"early top":        {change(func(w []plan.Window) { w[1].Top = true }), r},
		"no buckets":       {change(func(w []plan.Window) { w[len(w)-1].Buckets = 0 }), r},
		"few buckets":      {change(func(w []plan.Window) { w[1].Buckets-- }), r},
		"few top buckets":  {change(func(w []plan.Window) { w[len(w)-1].Buckets-- }), r},
		"short":            {change(func(w []plan.Window) { w[len(w)-1].Bits-- }), r},
		"negative base":    {change(func(w []plan.Window) { w[0].Base = -1 }), r},
		"bucket gap":       {change(func(w []plan.Window) { w[3].Base++ }), r},
		"negative table":   {change(func(w []plan.Window) { w[3].Table = -1 }), r},
		"no room for sign": {change(func(w []plan.Window) { w[3].Table = 1<<31 - 1000 }), r},
		"many entries":     {good, plan.Range{To: 1 << 28, High: r.High}},
		"high top":         {append(windowsOf(f, 16), plan.Window{Shift: 272, Bits: 2, Top: true, Buckets: 1}), r},
	} {
		if _, err := New(f, c.windows, c.rng, standard); !errors.Is(err, ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunRefused(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		f := curve.Toy61Fr
		windows := windowsOf(f, 9)
		l, err := New(f, windows, all(10, windows), standard)
		must(t, err)
		other, err := New(f, windows, all(10, windows), standard)
		must(t, err)
		w, err := NewWorkspace(q, l)
		must(t, err)
		defer w.Free()
		scalars := devicetest.Upload(t, q, make([]uint32, 20))
		bad := devicetest.Upload(t, q, make([]uint32, 2))
		for name, call := range map[string]func() error{
			"scalars": func() error { _, err := w.Run(q, l, scalars.Slice(0, 18), Canonical, bad.Slice(0, 1)); return err },
			"bad":     func() error { _, err := w.Run(q, l, scalars, Canonical, bad); return err },
			"layout":  func() error { _, err := w.Run(q, other, scalars, Canonical, bad.Slice(0, 1)); return err },
		} {
			if err := call(); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if w, err := NewWorkspace(q, l, other); err != nil {
			t.Error(err)
		} else {
			w.Free()
		}
	})
	unknown := mont.New("unknown", "11abbb6e32baebdd")
	if _, err := digitsKernel(unknown); !errors.Is(err, device.ErrUsage) {
		t.Error(err)
	}
}

// Sizes at which every block has something to do.
func TestMany(t *testing.T) {
	if brief {
		t.Skip("on the small field only")
	}
	n := 1 << 11
	if devicetest.Required("cuda") {
		n = 1 << 17
	}
	f := curve.BN254Fr
	coarse := standard
	coarse.Split, coarse.Coarse = 15, 8
	for kind := range skews {
		t.Run(kind, func(t *testing.T) {
			words := canonicalScalars(f, n+7, kind)
			devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
				var out []byte
				for _, c := range []struct {
					width  int
					shared bool // all windows have one set of buckets
					Tuning
				}{{8, false, standard}, {13, false, standard}, {16, false, coarse}, {17, true, coarse}} {
					windows := windowsOf(f, c.width)
					for i := range windows {
						if c.shared {
							windows[i].Base, windows[i].Table = 0, i*n*2
						}
					}
					l, err := New(f, windows, all(n+7, windows), c.Tuning)
					must(t, err)
					r := sorted(t, q, l, words, Canonical)
					if r.bad != ^uint32(0) {
						t.Fatalf("scalar %d is too large", r.bad)
					}
					out = append(out, r.bytes()...)
				}
				return out
			})
		})
	}
}

// What Bytes says is what a workspace takes, also for layouts of which one has more entries
// and another more passes.
func TestBytes(t *testing.T) {
	f := curve.Toy61Fr
	const n = 1 << 12
	windows := windowsOf(f, 9, 13)
	few, more := small(), small()
	few.Split, few.Coarse, more.Split, more.Coarse = 1000, 4, 3, 4
	all, err := New(f, windows, all(n, windows), few)
	must(t, err)
	one, err := New(f, windows, plan.Range{To: n, Low: 256, High: 256 + 4096}, more)
	must(t, err)
	if all.split || !one.split {
		t.Fatal("the layouts do not differ")
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, layouts := range [][]*Layout{{all}, {one}, {all, one}, {one, all}} {
			before := q.Device().InUse()
			w, err := NewWorkspace(q, layouts...)
			must(t, err)
			// Each of some buffers is rounded up to 8 bytes.
			if took, said := q.Device().InUse()-before, Bytes(layouts...); took < said || took > said+200 {
				t.Errorf("%d layouts take %d bytes, not %d", len(layouts), took, said)
			}
			w.Free()
		}
	})
}
