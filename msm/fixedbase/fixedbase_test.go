package fixedbase_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"testing"
	"unsafe"

	bls12377g "github.com/consensys/gnark-crypto/ecc/bls12-377"
	bls12377fr "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12381g "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bw6761g "github.com/consensys/gnark-crypto/ecc/bw6-761"
	bw6761fr "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/bw6761"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

func TestMain(m *testing.M) {
	sources := fixedbase.Sources()
	if few() {
		sources = []*kernel.Source{fixedbase.Units(curve.Toy61)[3], fixedbase.Units(curve.BN254G1)[3]}
	}
	devicetest.Main(m, sources...)
}

// few says that only the smallest groups are to be tested, for time.
func few() bool {
	return os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != ""
}

// group is a group, how the CPU multiplies in it, and another's multiples.
type group[P comparable, S any] struct {
	curve *msm.Curve[P, S]
	host  fixedbase.Host[P, S]
	want  func(base *P, scalars []S) []P
}

// toy has its multiples from sums of one point.
var toy = group[toy61.G1Affine, fr.Element]{msmtest.Toy61, fixedbase.OnHost[toy61.G1Affine, fr.Element, fp.Element](curve.Toy61),
	func(base *toy61.G1Affine, scalars []fr.Element) []toy61.G1Affine {
		out := make([]toy61.G1Affine, len(scalars))
		for i := range scalars {
			p, err := msmtest.Toy61.Host.Sum(context.Background(), []toy61.G1Affine{*base}, scalars[i:i+1])
			if err != nil {
				panic(err)
			}
			out[i] = p
		}
		return out
	}}

// The pairings', with gnark-crypto's multiples.
var (
	bn254G1    = group[bn254g.G1Affine, bn254fr.Element]{bn254.G1, bn254.G1Multiples, bn254g.BatchScalarMultiplicationG1}
	bn254G2    = group[bn254g.G2Affine, bn254fr.Element]{bn254.G2, bn254.G2Multiples, bn254g.BatchScalarMultiplicationG2}
	bls12377G1 = group[bls12377g.G1Affine, bls12377fr.Element]{bls12377.G1, bls12377.G1Multiples, bls12377g.BatchScalarMultiplicationG1}
	bls12377G2 = group[bls12377g.G2Affine, bls12377fr.Element]{bls12377.G2, bls12377.G2Multiples, bls12377g.BatchScalarMultiplicationG2}
	bls12381G1 = group[bls12381g.G1Affine, bls12381fr.Element]{bls12381.G1, bls12381.G1Multiples, bls12381g.BatchScalarMultiplicationG1}
	bls12381G2 = group[bls12381g.G2Affine, bls12381fr.Element]{bls12381.G2, bls12381.G2Multiples, bls12381g.BatchScalarMultiplicationG2}
	bw6761G1   = group[bw6761g.G1Affine, bw6761fr.Element]{bw6761.G1, bw6761.G1Multiples, bw6761g.BatchScalarMultiplicationG1}
	bw6761G2   = group[bw6761g.G2Affine, bw6761fr.Element]{bw6761.G2, bw6761.G2Multiples, bw6761g.BatchScalarMultiplicationG2}
)

func words[T any](v []T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(v[0])/4)
}

func (g group[P, S]) generator() P {
	var out [1]P
	to := words(out[:])[:0]
	for _, x := range g.curve.Group.Generator {
		to = append(to, g.curve.Group.Base.Montgomery(x)...)
	}
	return out[0]
}

func (g group[P, S]) scalar(v *big.Int) S {
	var out [1]S
	f := g.curve.Group.Scalar
	copy(words(out[:]), f.Montgomery(new(big.Int).Mod(v, f.Modulus)))
	return out[0]
}

// edges are the scalars that windows of so many bits may get wrong: 0, 1, 2, r-1, r-2, the
// halves, all digits ones, all digits the largest and the least, and a carry through
// all windows into the top one.
func (g group[P, S]) edges(width int) []S {
	f := g.curve.Group.Scalar
	r := f.Modulus
	v := []*big.Int{big.NewInt(0), big.NewInt(1), big.NewInt(2), new(big.Int).Sub(r, big.NewInt(1)), new(big.Int).Sub(r, big.NewInt(2)),
		new(big.Int).Rsh(r, 1), new(big.Int).Add(new(big.Int).Rsh(r, 1), big.NewInt(1))}
	ones, largest, least := new(big.Int), new(big.Int), new(big.Int)
	for at := 0; at < f.Bits()-width; at += width {
		ones.SetBit(ones, at, 1)
		largest.Or(largest, new(big.Int).Lsh(big.NewInt(1<<(width-1)-1), uint(at)))
		least.SetBit(least, at+width-1, 1)
		v = append(v, new(big.Int).Lsh(big.NewInt(1), uint(at)), new(big.Int).Lsh(big.NewInt(1), uint(at+width-1)))
	}
	carry := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(f.Bits()-1)), big.NewInt(1))
	v = append(v, ones, largest, least, carry, new(big.Int).Add(carry, big.NewInt(1)))
	out := make([]S, len(v))
	for i := range v {
		out[i] = g.scalar(v[i])
	}
	return out
}

func (g group[P, S]) random(r *devicetest.Gen, n int) []S {
	out := make([]S, n)
	for i := range out {
		out[i] = g.scalar(g.curve.Group.Scalar.Int(r.Words(g.curve.Group.Scalar.Limbs)))
	}
	return out
}

// check multiplies a base by scalars in both ways, and compares with the host.
func (g group[P, S]) check(t *testing.T, q *device.Queue, base P, scalars []S, o fixedbase.Options) {
	t.Helper()
	table, err := fixedbase.New(q.Device(), g.curve, g.host, base, o)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	want := make([]P, 0, len(scalars))
	if len(scalars) > 0 {
		want = g.want(&base, scalars)
	}
	got := make([]P, len(scalars))
	if err := table.Multiply(q.Context(), got, scalars); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d multiples, windows of %d bits, tiles of %d: %s", g.curve.Group.Name, len(scalars), o.Window, o.Tile, differ(got, want))
	}
	if len(scalars) == 0 {
		return
	}
	in, out := devicetest.Upload(t, q, scalars), devicetest.Upload(t, q, make([]P, len(scalars)))
	if err := table.MultiplyBuffer(q, out, in); err != nil {
		t.Fatal(err)
	}
	if got, err = out.Read(q); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d multiples on the device: %s", g.curve.Group.Name, len(scalars), differ(got, want))
	}
}

func differ[P comparable](got, want []P) string {
	n, first := 0, -1
	for i := range got {
		if got[i] != want[i] {
			if n++; first < 0 {
				first = i
			}
		}
	}
	return fmt.Sprintf("%d of %d differ, the first is %d", n, len(got), first)
}

func TestMultiply(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		r := devicetest.Rand(6)
		for _, width := range []int{4, 5, 8, 11, 0} {
			scalars := append(toy.edges(max(4, width)), toy.random(r, 300)...)
			toy.check(t, q, toy.generator(), scalars, fixedbase.Options{Window: width})
		}
		for _, n := range []int{0, 1, 2, 31, 33, 127, 128, 129, 1000} {
			toy.check(t, q, toy.generator(), toy.random(r, n), fixedbase.Options{N: n})
		}
		// Tiles that the pipeline has to take turns with, the last one short.
		for _, tile := range []int{1, 3, 100, 128} {
			toy.check(t, q, toy.generator(), toy.random(r, 4*tile+tile/2), fixedbase.Options{Tile: tile})
		}
	})
}

func TestBases(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		scalars := append(toy.edges(8), toy.random(devicetest.Rand(1), 40)...)
		var infinity toy61.G1Affine
		toy.check(t, q, infinity, scalars, fixedbase.Options{})
		other := toy.generator()
		p := toy.want(&other, scalars[len(scalars)-1:])
		toy.check(t, q, p[0], scalars, fixedbase.Options{})
	})
}

// wide checks a group of pairings, on the emulator with few scalars for time.
func wide[P comparable, S any](t *testing.T, q *device.Queue, g group[P, S]) {
	t.Helper()
	n, width := 1000, 0
	if q.Device().Kind() == device.SIMT {
		n, width = 9, 5
	}
	edges := g.edges(max(width, 8))
	scalars := slices.Concat(edges[:7], g.random(devicetest.Rand(2), n), edges[len(edges)-5:])
	g.check(t, q, g.generator(), scalars, fixedbase.Options{Window: width, N: n})
}

func TestGroups(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		wide(t, q, bn254G1)
		if few() {
			return
		}
		wide(t, q, bn254G2)
		if q.Device().Kind() == device.SIMT {
			return // long points take it long; their digits are TestDigits', their sums other packages'
		}
		wide(t, q, bls12377G1)
		wide(t, q, bls12377G2)
		wide(t, q, bls12381G1)
		wide(t, q, bls12381G2)
		wide(t, q, bw6761G1)
		wide(t, q, bw6761G2)
	})
}

func TestMultiplyFunc(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		scalars := toy.random(devicetest.Rand(3), 500)
		base := toy.generator()
		table, err := fixedbase.New(q.Device(), toy.curve, toy.host, base, fixedbase.Options{Tile: 64})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		got, next := make([]toy61.G1Affine, len(scalars)), 0
		err = table.MultiplyFunc(q.Context(), got, func(to []fr.Element, from int) error {
			if from != next {
				t.Errorf("scalars from %d on, want %d", from, next)
			}
			next = from + copy(to, scalars[from:])
			return nil
		})
		if err != nil || next != len(scalars) || !slices.Equal(got, toy.want(&base, scalars)) {
			t.Errorf("%d of %d scalars were asked for; %v", next, len(scalars), err)
		}
		sorry := errors.New("no more")
		err = table.MultiplyFunc(q.Context(), got, func(_ []fr.Element, from int) error {
			if from > 0 || q.OnHost() { // which asks for all of these at once
				return sorry
			}
			return nil
		})
		if !errors.Is(err, sorry) {
			t.Errorf("scalars that cannot be had: %v", err)
		}
		// The table is as good as before.
		if err := table.Multiply(q.Context(), got, scalars); err != nil || !slices.Equal(got, toy.want(&base, scalars)) {
			t.Error("after an error:", err)
		}
	})
}

func TestBadInput(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		base := toy.generator()
		table, err := fixedbase.New(q.Device(), toy.curve, toy.host, base, fixedbase.Options{Tile: 64})
		if err != nil {
			t.Fatal(err)
		}
		scalars := toy.random(devicetest.Rand(4), 200)
		points := make([]toy61.G1Affine, 200)
		if err := table.Multiply(q.Context(), points[:199], scalars); !errors.Is(err, msm.ErrInput) {
			t.Errorf("199 points for 200 scalars: %v", err)
		}
		for _, i := range []int{0, 77, 199} {
			bad := slices.Clone(scalars)
			copy(words(bad[i:]), curve.Toy61.Scalar.Words(curve.Toy61.Scalar.Modulus))
			copy(words(bad[199:]), []uint32{1<<32 - 1, 1<<32 - 1})
			want := fmt.Sprintf("fixedbase: toy61: scalar %d: bad input: not below the group's order", i)
			if err := table.Multiply(q.Context(), points, bad); err == nil || err.Error() != want || !errors.Is(err, msm.ErrInput) {
				t.Errorf("%v, want %s", err, want)
			}
			in, out := devicetest.Upload(t, q, bad), devicetest.Upload(t, q, points)
			if err := table.MultiplyBuffer(q, out, in); err == nil || err.Error() != want {
				t.Errorf("on the device: %v, want %s", err, want)
			}
		}
		ctx, cancel := context.WithCancel(q.Context())
		cancel()
		if err := table.Multiply(ctx, points, scalars); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that is done: %v", err)
		}
		table.Close()
		table.Close()
		if err := table.Multiply(q.Context(), points, scalars); !errors.Is(err, fixedbase.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		off := base
		off.X, off.Y = off.Y, off.X
		for name, err := range map[string]error{
			"a base off the curve":     newTable(q, off, fixedbase.Options{}),
			"minus one multiple":       newTable(q, base, fixedbase.Options{N: -1}),
			"tiles of minus one point": newTable(q, base, fixedbase.Options{Tile: -1}),
		} {
			if !errors.Is(err, msm.ErrInput) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, width := range []int{-1, 3, 25} {
			if err := newTable(q, base, fixedbase.Options{Window: width}); !errors.Is(err, msm.ErrInput) {
				t.Errorf("windows of %d bits: %v", width, err)
			}
		}
	})
}

func newTable(q *device.Queue, base toy61.G1Affine, o fixedbase.Options) error {
	table, err := fixedbase.New(q.Device(), toy.curve, toy.host, base, o)
	if err == nil {
		table.Close()
	}
	return err
}

// Where memory is short tables and tiles are smaller, until there is no more to save.
func TestMemory(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		dev := q.Device()
		defer dev.SetBudget(0)
		scalars := toy.random(devicetest.Rand(5), 20000)
		base := toy.generator()
		want := toy.want(&base, scalars)
		worked, refused := 0, 0
		for budget := int64(64 << 20); budget > 1<<10; budget /= 4 {
			dev.SetBudget(dev.InUse() + budget)
			got := make([]toy61.G1Affine, len(scalars))
			table, err := fixedbase.New(dev, toy.curve, toy.host, base, fixedbase.Options{N: len(scalars)})
			if err == nil {
				err = table.Multiply(q.Context(), got, scalars)
				table.Close()
			}
			switch {
			case errors.Is(err, device.ErrNoMemory):
				var e *device.Error
				if !errors.As(err, &e) || e.Bytes <= 0 {
					t.Errorf("%d bytes: %v does not say how many are needed", budget, err)
				}
				refused++
			case err != nil:
				t.Fatalf("%d bytes: %v", budget, err)
			case !slices.Equal(got, want):
				t.Errorf("%d bytes: wrong points", budget)
			default:
				worked++
			}
		}
		if worked == 0 || refused == 0 {
			t.Errorf("%d budgets were enough and %d were not", worked, refused)
		}
	})
}
