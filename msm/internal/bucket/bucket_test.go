package bucket

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

func TestMain(m *testing.M) {
	sources := SourcesOf(curve.Toy61)
	for _, g := range wide() {
		sources = append(sources, SourcesOf(g)...)
	}
	devicetest.Main(m, sources...)
}

// wide is the groups of wide coordinates, but for runs in which time is short.
func wide() []*curve.Group {
	if os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		return []*curve.Group{curve.BN254G1}
	}
	return append([]*curve.Group{curve.BLS12377Edwards}, curve.Groups...)
}

// bases are small multiples of a point, the generator as a rule, so that what their sums
// are is known.
type bases struct {
	group  *curve.Group
	point  curvetest.Point
	factor []int // of the point; 0 is infinity
	words  []uint32
}

func weierstrass(g *curve.Group) *curve.Group {
	if g.Edwards != nil {
		return curve.BLS12377G1
	}
	return g
}

func newBases(g *curve.Group, factor []int) bases {
	return newMultiples(g, curvetest.Curve{Group: weierstrass(g)}.Generator(), factor)
}

func newMultiples(g *curve.Group, p curvetest.Point, factor []int) bases {
	b, c := bases{group: g, point: p, factor: factor}, curvetest.Curve{Group: weierstrass(g)}
	for _, k := range factor {
		b.words = append(b.words, c.Affine(c.Mul(big.NewInt(int64(k)), p))...)
	}
	return b
}

// lists are entries by bucket.
type lists [][]uint32

func (l lists) sorted(t *testing.T, q *device.Queue, room int) plan.Sorted {
	var entries []uint32
	offsets := []uint32{0}
	for _, b := range l {
		entries = append(entries, b...)
		offsets = append(offsets, uint32(len(entries)))
	}
	for len(entries) < room {
		entries = append(entries, 0xA5A5A5A5)
	}
	return plan.Sorted{Entries: devicetest.Upload(t, q, entries), Offsets: devicetest.Upload(t, q, offsets), Buckets: len(l)}
}

// check compares every bucket with its known sum over some lists.
func (b bases) check(t *testing.T, got []uint32, all ...lists) {
	t.Helper()
	n := b.group.XYZZBytes() / 4
	known, c := map[int]curvetest.Point{}, curvetest.Curve{Group: weierstrass(b.group)}
	for i := range all[0] {
		k, entries := 0, 0
		for _, l := range all {
			entries += len(l[i])
			for _, e := range l[i] {
				if e&plan.Sign != 0 {
					k -= b.factor[e&^plan.Sign]
				} else {
					k += b.factor[e]
				}
			}
		}
		want, ok := known[k]
		if !ok {
			want = c.Mul(big.NewInt(int64(k)), b.point)
			known[k] = want
		}
		p, ok := c.FromXYZZ(got[n*i : n*(i+1)])
		if !ok {
			t.Fatalf("bucket %d of %d: not canonical, or no point of the curve", i, len(all[0]))
		}
		if !c.Equal(p, want) {
			t.Fatalf("bucket %d of %d, of %d entries in %d lists: not %d times the point", i, len(all[0]), entries, len(all), k)
		}
	}
}

// run adds up l, then onto that l again and l backwards, so that sums also come to
// buckets that had none, and checks each; it returns the first result.
func (b bases) run(t *testing.T, q *device.Queue, l lists, s shape) []uint32 {
	t.Helper()
	entries := 0
	for _, list := range l {
		entries += len(list)
	}
	room := max(1, entries+entries/3)
	w, err := newWorkspace(q, b.group, room, len(l), s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Free()
	points := devicetest.Upload(t, q, b.words)
	if b.group.Edwards != nil {
		affine := points
		points = devicetest.Upload(t, q, make([]uint32, len(b.words)/2*3))
		if err := edwards.FromAffine(q, b.group, points, affine); err != nil {
			t.Fatal(err)
		}
	}
	buckets, err := device.Alloc[uint32](q, len(l)*b.group.XYZZBytes()/4)
	if err != nil {
		t.Fatal(err)
	}
	defer buckets.Free()
	// What was there before must not matter, not even in buckets without entries.
	if err := buckets.Fill(q, 0xdeadbeef); err != nil {
		t.Fatal(err)
	}
	var first []uint32
	back := slices.Clone(l)
	slices.Reverse(back)
	all := []lists{l, l, back}
	for i, l := range all {
		if err := w.Sums(q, points, l.sorted(t, q, room), buckets, i > 0); err != nil {
			t.Fatal(err)
		}
		got, err := b.read(q, buckets)
		if err != nil {
			t.Fatal(err)
		}
		b.check(t, got, all[:i+1]...)
		if i == 0 {
			first = got
		}
	}
	return first
}

// read returns sums in XYZZ coordinates.
func (b bases) read(q *device.Queue, sums device.Buffer[uint32]) ([]uint32, error) {
	if b.group.Edwards == nil {
		return sums.Read(q)
	}
	out, err := device.Alloc[uint32](q, sums.Len())
	if err != nil {
		return nil, err
	}
	defer out.Free()
	if err := edwards.ToXYZZ(q, b.group, out, sums); err != nil {
		return nil, err
	}
	return out.Read(q)
}

// random entries, with either sign.
func random(r *devicetest.Gen, points, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(r.Intn(points)) | uint32(r.Intn(2))<<31
	}
	return out
}

// of cuts entries into buckets of the given sizes.
func of(entries []uint32, sizes ...int) lists {
	var l lists
	for _, n := range sizes {
		l = append(l, entries[:n])
		entries = entries[n:]
	}
	return l
}

func repeat(v uint32, n int) []uint32 { return slices.Repeat([]uint32{v}, n) }

// traps are the distributions that other implementations fail on, over points with
// factors 1, 2, ... of which number 0 is infinity and 1 and 2 are equal, 3 their negative.
func traps() map[string]lists {
	r := devicetest.Rand(7)
	m := map[string]lists{}
	m["no entries"] = make(lists, 5)
	m["one entry"] = lists{nil, nil, {5}, nil}
	m["one bucket"] = lists{random(r, 40, 777)}
	m["first of many"] = append(lists{random(r, 40, 500)}, make(lists, 3000)...)
	m["last of many"] = append(make(lists, 3000), random(r, 40, 500))
	m["far apart"] = slices.Concat(lists{{9}}, make(lists, 2000), lists{{10}, nil, {11}}, make(lists, 1), lists{random(r, 40, 60)}, make(lists, 700), lists{{12}})
	m["singles"] = of(random(r, 40, 400), slices.Repeat([]int{1}, 400)...)
	m["all equal"] = lists{repeat(4, 300), repeat(4|plan.Sign, 301), repeat(1, 2), {1, 2}}
	m["infinity only"] = lists{repeat(0, 100), {0}, {0 | plan.Sign}, {0, 5, 0}, {5, 0}}
	m["opposite"] = lists{{1, 3}, {1, 1 | plan.Sign, 7}, {3, 2, 3, 2}, {1, 1, 3, 3, 8, 8 | plan.Sign}}
	alternating := slices.Repeat([]uint32{6, 6 | plan.Sign}, 151)
	m["alternating"] = lists{alternating, alternating[1:], alternating[:7]}
	m["opposite halves"] = lists{append(repeat(6, 128), repeat(6|plan.Sign, 128)...), {4}}
	for _, n := range []int{2, 3, 31, 33, 1000, 4097} {
		l := make(lists, 1+n/7)
		for _, e := range random(r, 40, n) {
			i := r.Intn(len(l))
			l[i] = append(l[i], e)
		}
		m[fmt.Sprintf("uniform %d", n)] = l
	}
	hot := of(random(r, 40, 1200), append(slices.Repeat([]int{3}, 100), 600, 0, 0, 100, 0, 100, 0, 100)...)
	m["one hot"] = hot
	var lengths []int
	for i, left := 0, 1500; left > 0; i++ {
		n := min(left, r.Intn(40))
		lengths = append(lengths, n)
		left -= n
	}
	m["ragged"] = of(random(r, 40, 1500), lengths...)
	return m
}

func trapBases(g *curve.Group) bases {
	factor := make([]int, 40)
	for i := range factor {
		factor[i] = i
	}
	factor[2], factor[3] = 1, -1
	return newBases(g, factor)
}

func TestToy(t *testing.T) {
	b := trapBases(curve.Toy61)
	shapes := []shape{{threads: 1, least: 1}, {threads: 70, least: 1}, {threads: 300, least: 4}, {threads: 5000, least: 1}}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for name, l := range traps() {
			t.Run(name, func(t *testing.T) {
				for _, s := range shapes {
					once := b.run(t, q, l, s)
					if again := b.run(t, q, l, s); !slices.Equal(once, again) {
						t.Fatalf("%+v: two runs differ", s)
					}
				}
			})
		}
	})
}

// The list has every bucket with entries, or all its pieces, once, those of a length
// side by side, and the longest first.
func TestItems(t *testing.T) {
	r := devicetest.Rand(3)
	var lengths []int
	for i := range 3000 {
		lengths = append(lengths, []int{0, 1, r.Intn(40), 20 + r.Intn(30), r.Intn(500)}[i%5])
	}
	lengths = append(lengths, 7000, 0, 900, 1, 12345)
	l := make(lists, len(lengths))
	total := 0
	for i, n := range lengths {
		l[i] = make([]uint32, n)
		total += n
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, s := range []shape{{threads: 1, least: 1}, {threads: 600, least: 1}, {threads: 3, least: total / 20}, {threads: total, least: 1}} {
			w, err := newWorkspace(q, curve.Toy61, total, len(l), s)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Free()
			buckets, err := device.Alloc[uint32](q, len(l)*curve.Toy61.XYZZBytes()/4)
			if err != nil {
				t.Fatal(err)
			}
			defer buckets.Free()
			sorted := l.sorted(t, q, total)
			if err := w.list(q, sorted, buckets, false); err != nil {
				t.Fatal(err)
			}
			state, err := w.state.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			items, err := w.items.Slice(0, int(state[stateItems])).Read(q)
			if err != nil {
				t.Fatal(err)
			}
			ids, err := w.levels[0].ids.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			s.checkItems(t, lengths, items, ids)
		}
	})
}

// checkItems holds a list of items against the lengths of buckets.
func (s shape) checkItems(t *testing.T, lengths []int, items, ids []uint32) {
	t.Helper()
	offsets := []int{0}
	for _, n := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	chunk := max(s.least, (offsets[len(lengths)]+s.threads-1)/s.threads)
	got := make([]int, len(lengths)) // entries that items have, by bucket
	seen, before := map[uint32]bool{}, math.MaxInt32
	for i, item := range items {
		if seen[item] {
			t.Fatalf("%+v: item %#x twice", s, item)
		}
		seen[item] = true
		b, n := int(item), 0
		if item>>31 == 1 {
			slot := int(item & 0x7fffffff)
			b = int(ids[slot])
			n = min(offsets[b+1], (slot/2+1)*chunk) - max(offsets[b], slot/2*chunk)
			if first := offsets[b] <= slot/2*chunk; first != (slot%2 == 0) {
				t.Fatalf("%+v: bucket %d in slot %d", s, b, slot)
			}
		} else if n = lengths[b]; n > chunk {
			t.Fatalf("%+v: %d entries of bucket %d are one item, chunks have %d", s, n, b, chunk)
		}
		if n < 1 || n > before+before/64 {
			t.Fatalf("%+v: item %d has %d entries after one of %d", s, i, n, before)
		}
		before = n
		got[b] += n
	}
	if !slices.Equal(got, lengths) {
		t.Fatalf("%+v: items do not have all entries once", s)
	}
}

// Every group's kernels, on few points.
func TestGroups(t *testing.T) {
	r := devicetest.Rand(11)
	l := of(random(r, 40, 90), 0, 1, 2, 40, 0, 0, 20, 20, 7)
	l = append(l, []uint32{1, 2}, []uint32{1, 3}, []uint32{1, 3, 5}, []uint32{0, 1, 2}, repeat(1, 5), repeat(0, 3))
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, g := range wide() {
			t.Run(g.Name, func(t *testing.T) {
				trapBases(g).run(t, q, l, shape{threads: 32, least: 1})
			})
		}
	})
}
