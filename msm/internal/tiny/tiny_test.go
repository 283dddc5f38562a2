package tiny

import (
	"fmt"
	"math/big"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/curvetest"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

func TestMain(m *testing.M) {
	var sources []*kernel.Source
	for _, g := range tested() {
		sources = append(sources, units[g])
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

// task is a sum whose result is known: point i is k[i] times a point, the generator as a
// rule.
type task struct {
	c       curvetest.Curve
	point   curvetest.Point
	k       []int
	s       []*big.Int
	points  []uint32
	scalars []uint32
}

func newTask(g *curve.Group, n int, k func(i int) int, s func(i int) *big.Int) *task {
	if g.Edwards != nil {
		g = curve.BLS12377G1
	}
	return newMultiples(g, curvetest.Curve{Group: g}.Generator(), n, k, s)
}

func newMultiples(g *curve.Group, point curvetest.Point, n int, k func(i int) int, s func(i int) *big.Int) *task {
	x := &task{c: curvetest.Curve{Group: g}, point: point}
	multiples := x.c.Multiples(point, 16)
	for i := range n {
		x.k, x.s = append(x.k, k(i)), append(x.s, s(i))
		p := multiples[max(x.k[i], -x.k[i])]
		if x.k[i] < 0 {
			p = x.c.Neg(p)
		}
		x.points = append(x.points, x.c.Affine(p)...)
		x.scalars = append(x.scalars, g.Scalar.Montgomery(x.s[i])...)
	}
	return x
}

// check sums in so many windows and parts, so many times.
func (x *task) check(t *testing.T, q *device.Queue, g *curve.Group, windows, parts, times int) {
	t.Helper()
	split, err := plan.Split(g.Scalar, windows)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := plan.TinyParts(split, len(x.k), 1000); !ok {
		t.Fatalf("%s: %d windows are not for few points", g.Name, windows)
	}
	before := q.Device().InUse()
	w, err := NewWorkspace(q, newLayout(g, split, len(x.k), parts))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Free()
	if took, said := q.Device().InUse()-before, w.Bytes(); took < said || took > said+24 {
		t.Errorf("%s: %d bytes, not %d", g.Name, took, said)
	}
	points, scalars := devicetest.Upload(t, q, x.points), devicetest.Upload(t, q, x.scalars)
	if g.Edwards != nil {
		form := devicetest.Upload(t, q, make([]uint32, len(x.k)*g.AffineBytes()/4))
		if err := edwards.FromAffine(q, g, form, points); err != nil {
			t.Fatal(err)
		}
		points = form
	}
	want := new(big.Int)
	for i, s := range x.s {
		want.Add(want, new(big.Int).Mul(s, big.NewInt(int64(x.k[i]))))
	}
	for range times {
		all, bad, err := w.Sum(q, points, scalars)
		if err != nil || bad >= 0 {
			t.Fatalf("%s: bad scalar %d, %v", g.Name, bad, err)
		}
		of := map[int]curvetest.Point{} // sums by shift
		for _, p := range all {
			point, ok := x.c.FromXYZZ(p.Words)
			if !ok {
				t.Fatalf("%s: not canonical, or no point of the curve", g.Name)
			}
			if before, ok := of[p.Shift]; ok {
				point = x.c.Add(point, before)
			}
			of[p.Shift] = point
		}
		got := curvetest.Point{Infinity: true}
		for shift := g.Scalar.Bits(); shift >= 0; shift-- {
			got = x.c.Add(got, got)
			if p, ok := of[shift]; ok {
				got = x.c.Add(got, p)
			}
		}
		if !x.c.Equal(got, x.c.Mul(want, x.point)) {
			t.Errorf("%s: %d points in %d windows, %d parts: wrong sum", g.Name, len(x.k), windows, parts)
		}
	}
}

func TestToy(t *testing.T) {
	r := devicetest.Rand(1)
	order := curve.Toy61Fr.Modulus
	number := func(int) *big.Int {
		v := new(big.Int).Lsh(big.NewInt(int64(r.U32())), 32)
		v.Or(v, big.NewInt(int64(r.U32())))
		return v.Mod(v, order)
	}
	one := func(v int64) func(int) *big.Int { return func(int) *big.Int { return big.NewInt(v) } }
	factor := func(int) int { return r.Intn(31) - 15 }
	for name, x := range map[string]*task{
		"uniform":          newTask(curve.Toy61, 1000, factor, number),
		"one":              newTask(curve.Toy61, 1, func(int) int { return 7 }, number),
		"two":              newTask(curve.Toy61, 2, factor, number),
		"three":            newTask(curve.Toy61, 3, factor, number),
		"33":               newTask(curve.Toy61, 33, factor, number),
		"equal":            newTask(curve.Toy61, 700, func(int) int { return 3 }, one(123456789)),
		"one bucket":       newTask(curve.Toy61, 700, factor, one(-1+1<<20)),
		"opposite":         newTask(curve.Toy61, 701, func(i int) int { return 5 - 10*(i&1) }, one(987654321)),
		"infinity":         newTask(curve.Toy61, 300, func(int) int { return 0 }, number),
		"zeros":            newTask(curve.Toy61, 300, factor, one(0)),
		"equal points":     newTask(curve.Toy61, 300, func(int) int { return 9 }, number),
		"zeros and ones":   newTask(curve.Toy61, 600, factor, func(int) *big.Int { return big.NewInt(int64(r.Intn(2))) }),
		"many, few values": newTask(curve.Toy61, 3000, factor, func(i int) *big.Int { return big.NewInt(1 << (i % 3 * 20)) }),
	} {
		t.Run(name, func(t *testing.T) {
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
				for _, shape := range [][2]int{{8, 1}, {9, 3}, {20, 5}, {30, 1}} {
					x.check(t, q, curve.Toy61, shape[0], min(shape[1], len(x.k)), 2)
				}
			})
		})
	}
}

func TestWide(t *testing.T) {
	for _, g := range tested()[1:] {
		t.Run(g.Name, func(t *testing.T) {
			r := devicetest.Rand(2)
			number := func(int) *big.Int {
				v := new(big.Int)
				for range g.Scalar.Limbs {
					v.Lsh(v, 32).Or(v, big.NewInt(int64(r.U32())))
				}
				return v.Mod(v, g.Scalar.Modulus)
			}
			x := newTask(g, 27, func(i int) int { return []int{r.Intn(31) - 15, 2, -2}[i%3] }, number)
			x.s[7], x.s[8] = x.s[4], x.s[4]
			x.s[9] = new(big.Int).Sub(g.Scalar.Modulus, big.NewInt(1))
			for i := range x.s {
				copy(x.scalars[i*g.Scalar.Limbs:], g.Scalar.Montgomery(x.s[i]))
			}
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
				x.check(t, q, g, g.Scalar.Bits()/5, 2, 1)
			})
		})
	}
}

func TestBad(t *testing.T) {
	x := newTask(curve.Toy61, 500, func(int) int { return 1 }, func(i int) *big.Int { return big.NewInt(int64(i)) })
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		w, err := plan.Split(curve.Toy61Fr, 9)
		if err != nil {
			t.Fatal(err)
		}
		work, err := NewWorkspace(q, newLayout(curve.Toy61, w, 500, 4))
		if err != nil {
			t.Fatal(err)
		}
		defer work.Free()
		points := devicetest.Upload(t, q, x.points)
		for _, at := range [][]int{{0}, {499}, {450, 130, 140}} {
			words := append([]uint32(nil), x.scalars...)
			least := at[0]
			for _, i := range at {
				copy(words[2*i:], curve.Toy61Fr.Words(curve.Toy61Fr.Modulus))
				least = min(least, i)
			}
			if _, bad, err := work.Sum(q, points, devicetest.Upload(t, q, words)); err != nil || bad != least {
				t.Errorf("scalars %v are the order: %d, %v", at, bad, err)
			}
		}
		if _, _, err := work.Sum(q, points.Slice(0, 4), points); err == nil {
			t.Error("points and scalars of other numbers")
		}
	})
}

func TestNew(t *testing.T) {
	info := device.Info{Arch: "sm_90", Units: 132}
	split := func(n int) *plan.Windows {
		w, err := plan.Split(curve.BN254Fr, n)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	tables, err := plan.Uniform(curve.BN254Fr, 8, 4, 100)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		w     *plan.Windows
		n     int
		parts int // 0 if there is no layout
	}{
		"2^12":           {split(32), 1 << 12, 4},
		"2^10":           {split(43), 1 << 10, 3},
		"one":            {split(64), 1, 1},
		"none":           {split(64), 0, 0},
		"many":           {split(32), 1 << 15, 4},
		"too many":       {split(32), 1<<15 + 1, 0},
		"wide":           {split(31), 100, 0},
		"shared buckets": {tables, 100, 0},
	} {
		l, ok := New(curve.BN254G1, c.w, c.n, info)
		if ok != (c.parts > 0) || ok && l.parts != c.parts {
			t.Errorf("%s: %v, %v", name, fmt.Sprint(l), ok)
		}
	}
}
