package reduce

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

func TestMain(m *testing.M) {
	var sources []*kernel.Source
	for _, g := range tested() {
		sources = append(sources, units[g].segments, units[g].steps)
	}
	devicetest.Main(m, sources...)
}

// tested is all groups, but for runs of one order of threads after the other, of which
// wide coordinates say nothing that one field does not.
func tested() []*curve.Group {
	if os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		return []*curve.Group{curve.Toy61, curve.BN254G1}
	}
	return groups
}

// windows are gapless windows with so many buckets each.
func windows(buckets ...int) []plan.Window {
	var out []plan.Window
	base := 0
	for i, n := range buckets {
		out = append(out, plan.Window{Shift: 7 * i, Bits: 7, Base: base, Buckets: n})
		base += n
	}
	return out
}

// sums of small multiples of the generator: of[i] is what bucket i holds.
type sums struct {
	c         curvetest.Curve
	multiples []curvetest.Point
	of        []int
	words     []uint32
}

func newSums(g *curve.Group, n int, of func(i int) int) *sums {
	return newMultiples(g, curvetest.Curve{Group: g}.Generator(), n, of)
}

// newMultiples has multiples of another point.
func newMultiples(g *curve.Group, point curvetest.Point, n int, of func(i int) int) *sums {
	s := &sums{c: curvetest.Curve{Group: g}}
	s.multiples = s.c.Multiples(point, 16)
	r := devicetest.Rand(3)
	memory := map[int][][]uint32{}
	for i := range n {
		k := of(i)
		s.of = append(s.of, k)
		if len(memory[k]) < 4 { // of a few representations each
			p := s.multiples[max(k, -k)]
			if k < 0 {
				p = s.c.Neg(p)
			}
			memory[k] = append(memory[k], s.c.XYZZ(p, curvetest.Random(g.Base, r.U32)))
		}
		s.words = append(s.words, memory[k][i%len(memory[k])]...)
	}
	return s
}

// check compares Run with the sum over [low, high).
func (s *sums) check(t *testing.T, q *device.Queue, w []plan.Window, low, high, log, block, quads int) {
	t.Helper()
	l, err := newLayout(w, low, high, log, block)
	if err != nil {
		t.Fatal(err)
	}
	l.quads = quads
	each := s.c.XYZZBytes() / 4
	run := func() []uint32 {
		buckets := devicetest.Upload(t, q, s.words[low*each:high*each])
		pieces, err := l.Upload(q)
		if err != nil {
			t.Fatal(err)
		}
		defer pieces.Free()
		out := devicetest.Upload(t, q, make([]uint32, l.Sums()*each))
		if err := l.Run(q, s.c.Group, out, buckets, pieces); err != nil {
			t.Fatal(err)
		}
		words, err := out.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	words := run()
	if again := run(); fmt.Sprint(again) != fmt.Sprint(words) {
		t.Error("a second run gives other sums")
	}
	got := curvetest.Point{Infinity: true}
	for _, p := range l.Parts(words) {
		point, ok := s.c.FromXYZZ(p.Words)
		if !ok {
			t.Fatal("a sum that is none")
		}
		got = s.c.Add(got, s.c.Mul(new(big.Int).Lsh(big.NewInt(1), uint(p.Shift)), point))
	}
	want := new(big.Int)
	for _, x := range w {
		for i := max(x.Base, low); i < min(x.Base+x.Buckets, high); i++ {
			v := big.NewInt(int64(s.of[i] * (i - x.Base + 1)))
			want.Add(want, v.Lsh(v, uint(x.Shift)))
		}
	}
	if !s.c.Equal(got, s.c.Mul(want, s.multiples[1])) {
		t.Errorf("log %d, buckets [%d, %d): wrong sum", log, low, high)
	}
}

func TestToy(t *testing.T) {
	r := devicetest.Rand(2)
	for name, of := range map[string]func(i int) int{
		"random":   func(int) int { return r.Intn(31) - 15 },
		"equal":    func(int) int { return 3 },
		"opposite": func(i int) int { return 5 - 10*(i&1) },
		"empty":    func(int) int { return 0 },
		"last":     func(i int) int { return max(0, i-1398) },
	} {
		t.Run(name, func(t *testing.T) {
			w := windows(1, 2, 3, 700, 33, 620, 48)
			s := newSums(curve.Toy61, 1407, of)
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
				for log := range 5 {
					s.check(t, q, w, 0, 1407, log, 64, 300*(log%3))
				}
				s.check(t, q, w, 5, 1399, 2, finishAdditions, quadAdditions)
				s.check(t, q, w, 333, 334, 3, finishAdditions, quadAdditions)
			})
		})
	}
}

func TestWide(t *testing.T) {
	r := devicetest.Rand(4)
	for _, g := range tested() {
		if g.Edwards != nil {
			continue // below
		}
		t.Run(g.Name, func(t *testing.T) {
			s := newSums(g, 15, func(int) int { return r.Intn(31) - 15 })
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
				s.check(t, q, windows(9, 6), 0, 15, 1, 1, 0)
				s.check(t, q, windows(9, 6), 0, 15, 2, 1, quadAdditions)
			})
		})
	}
}

// The same in Edwards form, with bucket sums of one point each.
func TestEdwards(t *testing.T) {
	if !slices.Contains(tested(), curve.BLS12377Edwards) {
		t.Skip("wide coordinates say nothing of orders")
	}
	g, form := curve.BLS12377G1, curve.BLS12377Edwards
	c := curvetest.Curve{Group: g}
	multiples := c.Multiples(c.Generator(), 16)
	w := windows(9, 6)
	var words []uint32
	var entries, offsets []uint32
	want := new(big.Int)
	for i := range 15 {
		k := (7*i + 3) % 16 // 0, which is infinity, among them
		words = append(words, c.Affine(multiples[k])...)
		entries, offsets = append(entries, uint32(i)), append(offsets, uint32(i))
		x := w[i/9]
		want.Add(want, new(big.Int).Lsh(big.NewInt(int64(k*(i-x.Base+1))), uint(x.Shift)))
	}
	offsets = append(offsets, 15)
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		points := devicetest.Upload(t, q, make([]uint32, 15*form.AffineBytes()/4))
		if err := edwards.FromAffine(q, form, points, devicetest.Upload(t, q, words)); err != nil {
			t.Fatal(err)
		}
		buckets := devicetest.Upload(t, q, make([]uint32, 15*form.XYZZBytes()/4))
		sums, err := bucket.NewWorkspace(q, form, 15, 15)
		if err != nil {
			t.Fatal(err)
		}
		defer sums.Free()
		sorted := plan.Sorted{Entries: devicetest.Upload(t, q, entries), Offsets: devicetest.Upload(t, q, offsets), Buckets: 15}
		if err := sums.Sums(q, points, sorted, buckets, false); err != nil {
			t.Fatal(err)
		}
		l, err := newLayout(w, 0, 15, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		l.quads = 10 // steps have 12, 12 and 8 additions
		pieces, err := l.Upload(q)
		if err != nil {
			t.Fatal(err)
		}
		defer pieces.Free()
		out := devicetest.Upload(t, q, make([]uint32, l.Sums()*form.XYZZBytes()/4))
		if err := l.Run(q, form, out, buckets, pieces); err != nil {
			t.Fatal(err)
		}
		if err := edwards.ToXYZZ(q, form, out, out); err != nil {
			t.Fatal(err)
		}
		got, err := out.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		sum := curvetest.Point{Infinity: true}
		for _, p := range l.Parts(got) {
			point, ok := c.FromXYZZ(p.Words)
			if !ok {
				t.Fatal("a sum that is none")
			}
			sum = c.Add(sum, c.Mul(new(big.Int).Lsh(big.NewInt(1), uint(p.Shift)), point))
		}
		if !c.Equal(sum, c.Mul(want, c.Generator())) {
			t.Error("wrong sum")
		}
	})
}
