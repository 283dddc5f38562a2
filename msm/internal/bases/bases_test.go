package bases

import (
	"errors"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
)

func TestMain(m *testing.M) {
	sources := make([]*kernel.Source, 0, 10)
	for _, g := range groups() {
		sources = append(sources, units[g])
	}
	for _, f := range tested() {
		sources = append(sources, scalarUnits[f])
	}
	devicetest.Main(m, sources...)
}

// groups is all of them, but for runs in which time is short.
func groups() []*curve.Group {
	if os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		return []*curve.Group{curve.Toy61, curve.BN254G1}
	}
	return append([]*curve.Group{curve.Toy61}, curve.Groups...)
}

// each runs f for every group, on every device that has kernels.
func each(t *testing.T, f func(t *testing.T, q *device.Queue, c curvetest.Curve)) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, g := range groups() {
			t.Run(g.Name, func(t *testing.T) { f(t, q, curvetest.Curve{Group: g}) })
		}
	})
}

// points are n multiples of the generator, with infinity and equal ones among them.
func points(c curvetest.Curve, n int) []curvetest.Point {
	out := make([]curvetest.Point, n)
	for i, m := range c.Multiples(c.Generator(), 7) {
		for j := i; j < n; j += 7 {
			out[j] = m
		}
	}
	return out
}

func words(c curvetest.Curve, points []curvetest.Point) []uint32 {
	var out []uint32
	for _, p := range points {
		out = append(out, c.Affine(p)...)
	}
	return out
}

func room(t *testing.T, q *device.Queue, n int) device.Buffer[uint32] {
	t.Helper()
	return devicetest.Upload(t, q, make([]uint32, n))
}

func compare(t *testing.T, q *device.Queue, got device.Buffer[uint32], want []uint32) {
	t.Helper()
	w, err := got.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w, want) {
		t.Errorf("got %x\nwant %x", w[:min(len(w), 100)], want[:min(len(want), 100)])
	}
}

func TestOnCurve(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, c curvetest.Curve) {
		n := 40
		if c.Group == curve.Toy61 {
			n = 1001
		}
		good := words(c, points(c, n))
		find := func(w []uint32) int {
			i, err := OnCurve(q, c.Group, devicetest.Upload(t, q, w))
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
		if i := find(good); i != -1 {
			t.Errorf("point %d of good ones", i)
		}
		size, base := c.AffineBytes()/4, c.Base.Limbs
		for _, at := range []int{0, 33, n - 1} {
			for k := 0; k < size; k += base {
				bad := slices.Clone(good)
				bad[at*size+k]++
				bad[(n-1)*size+k] ^= 2
				if i := find(bad); i != at {
					t.Errorf("word %d of point %d is wrong: %d", k, at, i)
				}
				// The same element, with the modulus added once.
				bad = slices.Clone(good)
				v := c.Base.Int(bad[at*size+k : at*size+k+base])
				copy(bad[at*size+k:], c.Base.Words(v.Add(v, c.Base.Modulus)))
				if i := find(bad); i != at {
					t.Errorf("coordinate at word %d of point %d is not reduced: %d", k, at, i)
				}
			}
		}
	})
}

func TestInSubgroup(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, c curvetest.Curve) {
		all := words(c, points(c, 8))
		if i, err := InSubgroup(q, c.Group, devicetest.Upload(t, q, all)); i != -1 || err != nil {
			t.Errorf("%d, %v", i, err)
		}
		if Prime(c.Group) {
			return
		}
		// A point of no subgroup of that order: of another curve with the same a.
		size := c.AffineBytes() / 4
		for _, at := range []int{5, 7} {
			copy(all[at*size:], c.Base.Montgomery(big.NewInt(12345)))
		}
		if i, err := InSubgroup(q, c.Group, devicetest.Upload(t, q, all)); i != 5 || err != nil {
			t.Errorf("%d, %v", i, err)
		}
	})
}

func TestPrime(t *testing.T) {
	for _, g := range groups() {
		want := g == curve.Toy61 || g == curve.BN254G1 || g == curve.MNT4753G1
		if Prime(g) != want {
			t.Errorf("%s: %v", g.Name, !want)
		}
	}
}

func TestMultiples(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, c curvetest.Curve) {
		n, shapes := 9, [][2]int{{3, 2}}
		if c.Group == curve.Toy61 {
			n, shapes = 300, [][2]int{{1, 5}, {2, 1}, {4, 20}, {2, 32}, {3, 33}}
		}
		first := points(c, n)
		for _, s := range shapes {
			copies, step := s[0], s[1]
			table := room(t, q, copies*n*c.AffineBytes()/4)
			if err := table.Slice(0, n*c.AffineBytes()/4).CopyFrom(q, words(c, first)); err != nil {
				t.Fatal(err)
			}
			if err := Multiples(q, c.Group, table, copies, step); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(first)
			for j := 1; j < copies; j++ {
				for i := range n {
					if i < 7 {
						want = append(want, c.Mul(new(big.Int).Lsh(big.NewInt(1), uint(step)), want[(j-1)*n+i]))
					} else {
						want = append(want, want[j*n+i%7])
					}
				}
			}
			compare(t, q, table, words(c, want))
			table.Free()
		}
	})
}

func TestMultiplyAndPairs(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, c curvetest.Curve) {
		log, n, from := 2, 6, 3
		if c.Group == curve.Toy61 {
			log, n, from = 5, 500, 77
		}
		r := devicetest.Rand(7)
		g, size := c.Generator(), c.AffineBytes()/4
		multiples := func(n int) ([]curvetest.Point, device.Buffer[uint32]) {
			var numbers []uint32
			var want []curvetest.Point
			for i := range n {
				k := curvetest.Random(c.Scalar, r.U32)
				if i > 2 {
					k.Rsh(k, uint(c.Scalar.Bits()-12)) // the reference is slow
				}
				if i == 1 {
					k.SetInt64(0)
				}
				numbers = append(numbers, c.Scalar.Words(k)...)
				want = append(want, c.Mul(k, g))
			}
			out := room(t, q, n*size)
			err := Multiply(q, c.Group, out, devicetest.Upload(t, q, c.Affine(g)), devicetest.Upload(t, q, numbers), c.Scalar.Limbs, c.Scalar.Bits())
			if err != nil {
				t.Fatal(err)
			}
			compare(t, q, out, words(c, want))
			return want, out
		}
		low, lowAt := multiples(1 << log)
		high, highAt := multiples((from+n-1)>>log + 1)
		var want []curvetest.Point
		for i := range n {
			j := from + i
			want = append(want, c.Add(low[j%(1<<log)], high[j>>log]))
		}
		out := room(t, q, n*size)
		if err := Pairs(q, c.Group, out, lowAt, highAt, log, from); err != nil {
			t.Fatal(err)
		}
		compare(t, q, out, words(c, want))
	})
}

func TestRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := curve.Toy61
		four := room(t, q, 16)
		strange := *g
		_, odd := OnCurve(q, g, four.Slice(0, 15))
		_, unknown := InSubgroup(q, &strange, four)
		all := map[string]error{
			"a part of a point":   odd,
			"an unknown group":    unknown,
			"three copies":        Multiples(q, g, four, 3, 1),
			"no step":             Multiples(q, g, four, 2, 0),
			"too few numbers":     Multiply(q, g, four, four.Slice(0, 4), four.Slice(0, 6), 2, 61),
			"more bits than fit":  Multiply(q, g, four, four.Slice(0, 4), four.Slice(0, 8), 2, 65),
			"too few low points":  Pairs(q, g, four, four.Slice(0, 4), four, 1, 0),
			"too few high points": Pairs(q, g, four, four.Slice(0, 8), four.Slice(0, 8), 1, 1),
			"before the first":    Pairs(q, g, four, four.Slice(0, 8), four, 1, -1),
		}
		for name, b := range devicetest.Strange[uint32](t, q, 16) {
			_, all["points that are "+name] = OnCurve(q, g, b)
		}
		for name, err := range all {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if q.OnHost() {
			return
		}
		if i, err := OnCurve(q, g, four.Slice(0, 0)); i != -1 || err != nil {
			t.Errorf("no points: %d, %v", i, err)
		}
		if err := Multiples(q, g, four.Slice(0, 0), 2, 3); err != nil {
			t.Errorf("no points: %v", err)
		}
	})
}
