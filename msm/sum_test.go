package msm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

// order of the toy curve.
var order = curve.Toy61Fr.Modulus

// task is a multiplication over the toy curve whose result is known: base i is k[i]
// times the generator.
type task struct {
	k, s []*big.Int
}

func number(r *rand.Rand) *big.Int {
	v := new(big.Int).SetUint64(r.Uint64())
	return v.Mod(v, order)
}

// random is n random numbers.
func random(r *rand.Rand, n int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = number(r)
	}
	return out
}

var generator = toy61.G1.Generator

// bases are made once for each number.
func (t *task) bases() []toy61.G1Affine {
	memo := map[string]toy61.G1Affine{}
	out := make([]toy61.G1Affine, len(t.k))
	for i, k := range t.k {
		p, ok := memo[k.String()]
		if !ok {
			p = toy61.G1.Mul(generator, k)
			memo[k.String()] = p
		}
		out[i] = p
	}
	return out
}

func (t *task) scalars() []fr.Element {
	out := make([]fr.Element, len(t.s))
	for i, s := range t.s {
		out[i].SetBigInt(s)
	}
	return out
}

func (t *task) want() toy61.G1Affine {
	sum := new(big.Int)
	for i := range t.k {
		sum.Add(sum, new(big.Int).Mul(t.k[i], t.s[i]))
	}
	return toy61.G1.Mul(generator, sum.Mod(sum, order))
}

// sum checks a sum, twice.
func (x *task) sum(t *testing.T, d *device.Device, o msm.Options) {
	t.Helper()
	b, err := msm.New(d, msmtest.Toy61, x.bases(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	want := x.want()
	for range 2 {
		got, err := b.Sum(context.Background(), x.scalars())
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%d points: %v, not %v", len(x.k), got, want)
		}
	}
}

// all is n times a number.
func all(v *big.Int, n int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// each is n numbers, by their index.
func each(n int, f func(i int) *big.Int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func TestTraps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 600
	zero, one := new(big.Int), big.NewInt(1)
	half := new(big.Int).Rsh(order, 1)
	last := new(big.Int).Sub(order, one)
	p := number(r)
	opposite := new(big.Int).Sub(order, p)
	// near is around half the order, 0 and the order.
	near := []*big.Int{last, half, new(big.Int).Add(half, one), new(big.Int).Sub(half, one), new(big.Int).Add(half, big.NewInt(2)), zero, one, new(big.Int).Sub(last, one)}
	cases := map[string]*task{
		"all zero":             {random(r, n), all(zero, n)},
		"some zero":            {random(r, n), each(n, func(i int) *big.Int { return []*big.Int{zero, zero, number(r)}[i%3] })},
		"bases at infinity":    {all(zero, n), random(r, n)},
		"some at infinity":     {each(n, func(i int) *big.Int { return []*big.Int{zero, number(r)}[i%2] }), random(r, n)},
		"equal bases":          {all(p, n), random(r, n)},
		"all equal":            {all(p, n), all(number(r), n)},
		"opposite bases":       {each(n, func(i int) *big.Int { return []*big.Int{p, opposite}[i%2] }), all(number(r), n)},
		"opposite and more":    {each(n, func(i int) *big.Int { return []*big.Int{p, opposite, number(r)}[i%3] }), all(number(r), n)},
		"order - 1":            {random(r, n), all(last, n)},
		"around half":          {random(r, n), each(n, func(i int) *big.Int { return near[i%len(near)] })},
		"skew: equal":          {random(r, n), all(number(r), n)},
		"skew: zero and one":   {random(r, n), each(n, func(int) *big.Int { return big.NewInt(r.Int64N(2)) })},
		"skew: 16 bits":        {random(r, n), each(n, func(int) *big.Int { return big.NewInt(r.Int64N(1 << 16)) })},
		"skew: half one value": {random(r, n), each(n, func(i int) *big.Int { return []*big.Int{p, number(r)}[i%2] })},
		"skew: a hot window": {random(r, n), each(n, func(int) *big.Int {
			v := number(r)
			v.Rsh(v, 30).Lsh(v, 30)
			return v.Or(v, big.NewInt(0x2aaaaaaa&^3|r.Int64N(4)))
		})},
	}
	for _, n := range []int{1, 2, 3, 31, 33, 1000, 4097} {
		cases[fmt.Sprint(n, " points")] = &task{random(r, n), random(r, n)}
	}
	for name, x := range cases {
		t.Run(name, func(t *testing.T) {
			devicetest.Each(t, func(t *testing.T, q *device.Queue) {
				x.sum(t, q.Device(), msm.Options{})
				x.sum(t, q.Device(), msm.InXYZZ(msm.Options{}))
			})
		})
	}
}

func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := &task{random(r, 257), random(r, 257)}
	copy(x.k[5:], []*big.Int{x.k[4], new(big.Int).Sub(order, x.k[4]), new(big.Int)})
	copy(x.s[5:], []*big.Int{x.s[4], x.s[4], x.s[4]})
	shapes := map[string]msm.Options{
		"chunks":               {Chunk: 100},
		"chunks of one":        {Chunk: 40, Window: 7},
		"groups":               msm.WithGroups(msm.Options{Window: 5}, 4),
		"chunks and groups":    msm.WithGroups(msm.Options{Window: 6, Chunk: 64}, 3),
		"a group each":         msm.WithGroups(msm.Options{Window: 4}, 100),
		"tables":               {Tables: 1 << 20},
		"affine":               msm.InAffine(msm.Options{}),
		"affine, chunks":       msm.InAffine(msm.WithGroups(msm.Options{Chunk: 100, Window: 6}, 2)),
		"few tables":           {Tables: 257 * 16 * 2, Window: 6},
		"tables and chunks":    msm.WithGroups(msm.Options{Tables: 257 * 16 * 3, Window: 5, Chunk: 50}, 2),
		"a table each, groups": msm.WithGroups(msm.Options{Tables: 257 * 16 * 40, Window: 3}, 2),
	}
	// Those that divide the 60 bits of a scalar's magnitude among them.
	for bits := 2; bits <= 16; bits++ {
		shapes[fmt.Sprint(bits, " bits")] = msm.Options{Window: bits}
	}
	for name, o := range shapes {
		t.Run(name, func(t *testing.T) {
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) { x.sum(t, q.Device(), o) })
		})
	}
}

func TestSources(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 321
	ctx := context.Background()
	x := &task{random(r, n), random(r, n)}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		points := devicetest.Upload(t, q, x.bases())
		for _, o := range []msm.Options{{}, {Chunk: 100}, {Tables: 1 << 20}} {
			b, err := msm.NewBuffer(q.Device(), msmtest.Toy61, points, o)
			if err != nil {
				t.Fatal(err)
			}
			scalars := devicetest.Upload(t, q, x.scalars())
			if got, err := b.SumBuffer(ctx, scalars); err != nil || got != x.want() {
				t.Errorf("%+v: from a buffer: %v, %v", o, got, err)
			}
			pinned, err := device.AllocPinned[fr.Element](q.Device(), n)
			if err != nil {
				t.Fatal(err)
			}
			copy(pinned.Host(), x.scalars())
			if got, err := b.SumPinned(ctx, pinned); err != nil || got != x.want() {
				t.Errorf("%+v: from page-locked memory: %v, %v", o, got, err)
			}
			if err := pinned.Free(); err != nil {
				t.Error(err)
			}
			if got, err := b.SumMany(ctx, [][]fr.Element{x.scalars(), make([]fr.Element, n), x.scalars()}); err != nil ||
				got[0] != x.want() || got[1] != (toy61.G1Affine{}) || got[2] != x.want() {
				t.Errorf("%+v: many: %v, %v", o, got, err)
			}
			for name, foreign := range devicetest.Strange[fr.Element](t, q, n) {
				if name == "freed" && q.OnHost() {
					continue // its memory is gone: no scalars, which is refused below
				}
				if _, err := b.SumBuffer(ctx, foreign); err == nil {
					t.Errorf("scalars in a buffer that is %s", name)
				}
			}
			b.Close()
		}
	})
}

// Views of parts of buffers begin anywhere, where kernels cannot read 16 bytes at a time:
// such points and scalars are copied, and others not.
func TestViews(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	const n = 200
	ctx := context.Background()
	x := &task{random(r, n), random(r, n)}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		for _, skip := range []int{0, 1, 2} {
			memory := devicetest.Upload(t, q, make([]uint64, skip+2*n))
			points := device.View[toy61.G1Affine](memory.Slice(skip, skip+2*n))
			memory = devicetest.Upload(t, q, make([]uint64, skip+n))
			scalars := device.View[fr.Element](memory.Slice(skip, skip+n))
			for _, err := range []error{points.CopyFrom(q, x.bases()), scalars.CopyFrom(q, x.scalars()), q.Sync()} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, o := range []msm.Options{{}, msm.InXYZZ(msm.Options{}), {Chunk: 70}, {Devices: []*device.Device{d, d}}} {
				before := d.InUse()
				b, err := msm.NewBuffers(append(o.Devices, d)[:max(1, len(o.Devices))], msmtest.Toy61, []device.Buffer[toy61.G1Affine]{points, points}[:max(1, len(o.Devices))], o)
				if err != nil {
					t.Fatal(err)
				}
				if copied := d.InUse()-before >= n*16; copied != (skip%2 == 1) {
					t.Errorf("points %d bytes on: copied: %v", 8*skip, copied)
				}
				for range 2 {
					if got, err := b.SumBuffers(ctx, []device.Buffer[fr.Element]{scalars, scalars}[:max(1, len(o.Devices))]); err != nil || got != x.want() {
						t.Errorf("%d bytes on, %+v: %v, %v", 8*skip, o, got, err)
					}
				}
				b.Close()
			}
		}
	})
}

func TestBadScalars(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 300
	x := &task{random(r, n), random(r, n)}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, o := range []msm.Options{{}, {Chunk: 64}} {
			b, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), o)
			if err != nil {
				t.Fatal(err)
			}
			scalars := x.scalars()
			scalars[299][0], scalars[201][0] = order.Uint64(), ^uint64(0)
			for range 2 {
				if _, err := b.Sum(context.Background(), scalars); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), "scalar 201:") {
					t.Errorf("scalars above the order: %v", err)
				}
			}
			if _, err := b.Prepare(context.Background(), scalars); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), "scalar 201:") {
				t.Errorf("scalars above the order, sorted ahead: %v", err)
			}
			if got, err := b.Sum(context.Background(), x.scalars()); err != nil || got != x.want() {
				t.Errorf("after a bad scalar: %v, %v", got, err)
			}
			b.Close()
		}
	})
}

func TestPrepared(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n = 400
	ctx := context.Background()
	x := &task{random(r, n), random(r, n)}
	y := &task{random(r, n), x.s}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, o := range []msm.Options{{}, msm.WithGroups(msm.Options{Window: 6}, 3), {Tables: 400 * 16 * 4}} {
			a, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), o)
			if err != nil {
				t.Fatal(err)
			}
			b, err := msm.New(q.Device(), msmtest.Toy61, y.bases(), msm.Options{Digits: a.Digits(), Tables: o.Tables})
			if err != nil {
				t.Fatal(err)
			}
			p, err := a.Prepare(ctx, x.scalars())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, err := a.SumPrepared(ctx, p); err != nil || got != x.want() {
					t.Errorf("%+v: %v, %v", o, got, err)
				}
				if got, err := b.SumPrepared(ctx, p); err != nil || got != y.want() {
					t.Errorf("%+v: other bases: %v, %v", o, got, err)
				}
			}
			if other, err := msm.New(q.Device(), msmtest.Toy61, y.bases(), msm.Options{Window: 9}); err != nil {
				t.Error(err)
			} else if _, err := other.SumPrepared(ctx, p); (err == nil) != q.OnHost() {
				t.Errorf("other digits: %v", err)
			}
			if _, err := msm.New(q.Device(), msmtest.Toy61, y.bases()[1:], msm.Options{Digits: a.Digits()}); (err == nil) != q.OnHost() {
				t.Errorf("digits of another length: %v", err)
			}
			p.Close()
			if _, err := a.SumPrepared(ctx, p); !errors.Is(err, msm.ErrClosed) {
				t.Errorf("closed: %v", err)
			}
			a.Close()
			b.Close()
		}
	})
}

// Values that no function of the package has made, and the first of several bad scalars
// whichever device finds one first.
func TestStrangers(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	const n = 90
	ctx := context.Background()
	x := &task{random(r, n), random(r, n)}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		if _, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), msm.Options{Digits: &msm.Digits{}}); !errors.Is(err, msm.ErrInput) {
			t.Errorf("digits of nothing: %v", err)
		}
		b, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), msm.Options{Devices: []*device.Device{q.Device(), q.Device(), q.Device()}})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for name, p := range map[string]*msm.Prepared[fr.Element]{"nil": nil, "zero": {}} {
			if _, err := b.SumPrepared(ctx, p); !errors.Is(err, msm.ErrInput) {
				t.Errorf("%s for prepared scalars: %v", name, err)
			}
		}
		if _, err := b.Simulate(ctx, devicetest.Upload(t, q, x.scalars()), math.MaxInt); !errors.Is(err, msm.ErrInput) {
			t.Errorf("the most devices: %v", err)
		}
		scalars := x.scalars()
		for _, i := range []int{25, 26, 50, 89} {
			scalars[i][0] = ^uint64(0)
		}
		for range 5 {
			if _, err := b.Sum(ctx, scalars); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), "scalar 25:") {
				t.Errorf("four bad scalars on three devices: %v", err)
			}
		}
	})
}
