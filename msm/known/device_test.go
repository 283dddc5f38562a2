package known_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"unsafe"

	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/known"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

func words[T any](v []T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(v[0])/4)
}

func resident[P comparable, S any](t *testing.T, q *device.Queue, c *msm.Curve[P, S], b *known.Bases[P, S], seed uint64, from int) {
	t.Helper()
	n := len(b.Points)
	r, err := known.NewResident(c.Group, seed, n)
	if err != nil || r.Len() != n {
		t.Fatal(err)
	}
	points := devicetest.Upload(t, q, make([]P, n-from))
	if err := r.Points(q, device.View[uint32](points), from); err != nil {
		t.Fatal(err)
	}
	got, err := points.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, b.Points[from:]) {
		t.Errorf("%s: %d points from %d are not New's", c.Group.Name, n-from, from)
	}
	for _, kind := range known.Kinds() {
		scalars := devicetest.Upload(t, q, make([]S, n-from))
		if err := known.ResidentScalars(q, c.Group.Scalar, device.View[uint32](scalars), kind, 3, from); err != nil {
			t.Fatal(err)
		}
		k, err := r.Expected(q, device.View[uint32](scalars), from)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scalars.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		// The same by the host's logarithms, of all bases.
		all := make([]S, n)
		copy(all[from:], s)
		var generator [1]P
		copy(words(generator[:]), generatorWords(c))
		want, err := c.Host.Sum(context.Background(), generator[:], scalar[S](c, k))
		if err != nil {
			t.Fatal(err)
		}
		if b.Expected(all) != want {
			t.Errorf("%s: %s: another logarithm", c.Group.Name, kind)
		}
	}
}

func generatorWords[P, S any](c *msm.Curve[P, S]) []uint32 {
	var out []uint32
	for _, x := range c.Group.Generator {
		out = append(out, c.Group.Base.Montgomery(x)...)
	}
	return out
}

func scalar[S any, P any](c *msm.Curve[P, S], v *big.Int) []S {
	var out [1]S
	copy(words(out[:]), c.Group.Scalar.Montgomery(v))
	return out[:]
}

func TestResident(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const seed = 9
		resident(t, q, msmtest.Toy61, known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, seed, 1<<14+300), seed, 1<<14-99)
	})
}

func TestResidentWide(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		if q.Device().Kind() == device.SIMT {
			t.Skip("the emulator takes long for a row of wide points")
		}
		for _, n := range []int{100, 1<<14 + 33} {
			resident(t, q, bn254.G1, known.New[bn254g.G1Affine, bn254fr.Element, bn254fp.Element](bn254.G1, 4, n), 4, n-90)
		}
	})
}

func TestResidentRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := msmtest.Toy61.Group
		r, err := known.NewResident(g, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		b := devicetest.Upload(t, q, make([]uint32, 44))
		_, many := known.NewResident(g, 1, -1)
		_, beyond := r.Expected(q, b.Slice(0, 4), 9)
		all := map[string]error{
			"minus one point":   many,
			"scalars beyond":    beyond,
			"more points":       r.Points(q, b, 0),
			"points from minus": r.Points(q, b.Slice(0, 4), -1),
		}
		if q.OnHost() {
			all["the CPU"] = r.Points(q, b.Slice(0, 4), 0)
		}
		for name, err := range all {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		k := new(big.Int).Add(r.Log(3), r.Log(4))
		s := devicetest.Upload(t, q, append(g.Scalar.Montgomery(big.NewInt(1)), g.Scalar.Montgomery(big.NewInt(1))...))
		if got, err := r.Expected(q, s, 3); err != nil || got.Cmp(k.Mod(k, g.Scalar.Modulus)) != 0 {
			t.Errorf("%v, want %v; %v", got, k, err)
		}
	})
}
