package affine

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// points are multiples of the generator by factors, 0 for infinity.
type points struct {
	curve  curvetest.Curve
	factor []int
	words  []uint32
}

// newPoints begins with infinity, a point, the same, and its negative.
func newPoints(g *curve.Group, n int) points {
	p := points{curve: curvetest.Curve{Group: g}}
	some := p.curve.Multiples(p.curve.Generator(), n)
	p.factor = []int{0, 1, 1, -1}
	for k := 2; len(p.factor) < n; k++ {
		p.factor = append(p.factor, k)
	}
	for _, k := range p.factor {
		q := some[max(k, -k)]
		if k < 0 {
			q = p.curve.Neg(q)
		}
		p.words = append(p.words, p.curve.Affine(q)...)
	}
	return p
}

// lists are entries by bucket.
type lists [][]uint32

// check compares every bucket with the sum of its entries' factors in some lists.
func (p points) check(t *testing.T, got []uint32, all ...lists) {
	t.Helper()
	n := p.curve.XYZZBytes() / 4
	known := map[int]curvetest.Point{}
	for i := range all[0] {
		k, entries := 0, 0
		for _, l := range all {
			entries += len(l[i])
			for _, e := range l[i] {
				if e&plan.Sign != 0 {
					k -= p.factor[e&^plan.Sign]
				} else {
					k += p.factor[e]
				}
			}
		}
		want, ok := known[k]
		if !ok {
			want = p.curve.Mul(big.NewInt(int64(k)), p.curve.Generator())
			known[k] = want
		}
		sum, ok := p.curve.FromXYZZ(got[n*i : n*(i+1)])
		switch {
		case !ok:
			t.Fatalf("bucket %d of %d: not canonical, or no point of the curve", i, len(all[0]))
		case !p.curve.Equal(sum, want):
			t.Fatalf("bucket %d of %d, of %d entries in %d lists: not %d times the generator", i, len(all[0]), entries, len(all), k)
		}
	}
}

func (l lists) sorted(t *testing.T, q *device.Queue) plan.Sorted {
	var entries []uint32
	offsets := []uint32{0}
	for _, list := range l {
		entries = append(entries, list...)
		offsets = append(offsets, uint32(len(entries)))
	}
	for range 1 + len(entries)/3 {
		entries = append(entries, 0xA5A5A5A5)
	}
	return plan.Sorted{Entries: devicetest.Upload(t, q, entries), Offsets: devicetest.Upload(t, q, offsets), Buckets: len(l)}
}

// run adds up l, then onto that l again and l backwards, so that sums also come to
// buckets that had none, checks each, and returns the first.
func (p points) run(t *testing.T, q *device.Queue, l lists, s shape) []uint32 {
	t.Helper()
	back := slices.Clone(l)
	slices.Reverse(back)
	all := []lists{l, l, back}
	sorted := []plan.Sorted{l.sorted(t, q), {}, back.sorted(t, q)}
	sorted[1] = sorted[0]
	w, err := newWorkspace(q, p.curve.Group, units[p.curve.Group], sorted[0].Entries.Len(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Free()
	buckets, err := device.Alloc[uint32](q, len(l)*p.curve.XYZZBytes()/4)
	if err != nil {
		t.Fatal(err)
	}
	defer buckets.Free()
	words := devicetest.Upload(t, q, p.words)
	var first []uint32
	for i := range all {
		if err := w.Sums(q, words, sorted[i], buckets, i > 0); err != nil {
			t.Fatal(err)
		}
		got, err := buckets.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		p.check(t, got, all[:i+1]...)
		if i == 0 {
			first = got
		}
	}
	return first
}

// random entries, with either sign.
func random(r *devicetest.Gen, points, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(r.Intn(points)) | uint32(r.Intn(2))<<31
	}
	return out
}

// spread puts entries into so many buckets at random.
func spread(r *devicetest.Gen, entries []uint32, buckets int) lists {
	l := make(lists, buckets)
	for _, e := range entries {
		i := r.Intn(buckets)
		l[i] = append(l[i], e)
	}
	return l
}

// traps are the distributions that go wrong where something is left out, over newPoints.
func traps(n int) map[string]lists {
	r := devicetest.Rand(7)
	one := func(entries ...uint32) []uint32 { return entries }
	many := func(n int, entries ...uint32) []uint32 { return slices.Repeat(entries, n) }
	const minus = plan.Sign
	long := make(lists, 3000)
	long[0], long[1500], long[2999] = random(r, n, 40), random(r, n, 60), random(r, n, 50)
	return map[string]lists{
		"no entries":          make(lists, 5),
		"one entry":           {nil, one(5), nil},
		"uniform":             spread(r, random(r, n, 700), 40),
		"few a bucket":        spread(r, random(r, n, 500), 400),
		"all in one":          {nil, random(r, n, 900), nil},
		"last only":           {nil, nil, nil, random(r, n, 300)},
		"far apart":           long,
		"one hot":             append(spread(r, random(r, n, 300), 30), random(r, n, 400)),
		"equal points":        {many(150, 4), many(7, 4, 4|minus), many(9, 5), one(1, 2), one(2, 1, 1)},
		"equal partial sums":  {many(600, 6)},
		"opposite points":     {many(200, 7, 7|minus), one(1, 3), one(3, 2, 9), one(1, 3, 2, 3|minus)},
		"infinity":            {many(50, 0), one(0, 4, 0, 4|minus, 0, 5), one(0|minus, 0), one(4, 4|minus), many(40, 8, 0)},
		"back from infinity":  {one(4, 4|minus, 5, 5, 5|minus, 5|minus, 6), one(1, 3, 3, 1, 1, 1)},
		"doubled by doubling": {one(4, 4, 6), one(4, 4, 6|minus), one(1, 2, 4, 6, 10)},
		"every point of one sign after the other": {append(random(r, n, 200), many(100, 9|minus)...), many(99, 9)},
	}
}

func TestSums(t *testing.T) {
	g := curve.Toy61
	p := newPoints(g, 40)
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, size := range []struct{ threads, each, blocks, least int }{{32, 1, 1, 8}, {96, 3, 2, 2}, {128, 2, 1, 1}} {
			s := shape{config: configs[g], blocks: size.blocks, least: size.least}
			s.threads, s.each = size.threads, size.each
			for name, l := range traps(len(p.factor)) {
				t.Run(fmt.Sprint(s.threads, "x", s.each, " ", name), func(t *testing.T) {
					again := p.run(t, q, l, s)
					if !slices.Equal(again, p.run(t, q, l, s)) && s.blocks == 1 {
						t.Error("two runs differ")
					}
				})
			}
		}
	})
}

// Every placement of sums and products in memory gives the same.
func TestSumsWide(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, g := range wide() {
			p := newPoints(g, 12)
			s := shape{config: configs[g], blocks: 1, least: 3}
			s.threads, s.each = 33, 2
			r := devicetest.Rand(11)
			l := spread(r, random(r, len(p.factor), 150), 12)
			l = append(l, traps(len(p.factor))["back from infinity"]...)
			l = append(l, []uint32{4, 4, 6}, []uint32{1, 2, 3})
			p.run(t, q, l, s)
		}
	})
}
