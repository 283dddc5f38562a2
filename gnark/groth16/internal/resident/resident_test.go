package resident

import (
	"context"
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/bn254"
)

func data(n int) ([]curve.G1Affine, []fr.Element, curve.G1Affine) {
	_, _, g, _ := curve.Generators()
	scalars := make([]fr.Element, n)
	var sum, x fr.Element
	multiples := make([]fr.Element, n)
	for i := range scalars {
		multiples[i].SetUint64(uint64(i + 1))
		scalars[i].SetUint64(uint64(i + 5)).Inverse(&scalars[i])
		sum.Add(&sum, x.Mul(&multiples[i], &scalars[i]))
	}
	return curve.BatchScalarMultiplicationG1(&g, multiples), scalars, curve.BatchScalarMultiplicationG1(&g, []fr.Element{sum})[0]
}

// Sums that do not fit are made in tiles, down to what cannot be made at all.
func TestTiles(t *testing.T) {
	points, scalars, want := data(601)
	for _, c := range []struct{ fit, calls int }{{601, 1}, {300, 5}, {151, 7}, {76, 15}, {64, 0}} {
		calls := 0
		got, err := tiled(0, len(points), 64, adder[*curve.G1Affine](), func(lo, hi int) (sum curve.G1Affine, err error) {
			calls++
			if hi-lo > c.fit {
				return sum, &device.Error{Device: "none", Op: "sum", Bytes: int64(hi - lo), Class: device.ErrNoMemory}
			}
			_, err = sum.MultiExp(points[lo:hi], scalars[lo:hi], ecc.MultiExpConfig{})
			return sum, err
		})
		if c.calls == 0 {
			if !errors.Is(err, device.ErrNoMemory) {
				t.Errorf("%d points fit: %v", c.fit, err)
			}
			continue
		}
		if err != nil || got != want || calls != c.calls {
			t.Errorf("%d points fit: right %v after %d calls, want %d; error %v", c.fit, got == want, calls, c.calls, err)
		}
	}
}

// A place gives its memory to the points that come first, and none back before Close;
// points are shared out among devices where they are many.
func TestPlace(t *testing.T) {
	d := devicetest.Open(t, "simt")
	points, scalars, want := data(100)
	before := d.InUse()
	for _, devices := range []int{1, 3} {
		var list []*device.Device
		for range devices {
			list = append(list, d)
		}
		place, err := NewPlace(list, 100*64/int64(devices)+50)
		if err != nil {
			t.Fatal(err)
		}
		place.share = 30
		first, err := New[*curve.G1Affine](place, bn254.G1, points)
		if err != nil {
			t.Fatal(err)
		}
		most := int64((100+devices-1)/devices) * 64
		if !place.Whole() || place.Bytes() != most || len(first.parts) != devices {
			t.Errorf("%d devices: whole %v, %d bytes, %d parts", devices, place.Whole(), place.Bytes(), len(first.parts))
		}
		second, err := New[*curve.G1Affine](place, bn254.G1, points)
		if err != nil {
			t.Fatal(err)
		}
		if place.Whole() || place.Bytes() != most {
			t.Error("more points than there is memory for")
		}
		for name, p := range map[string]*Points[curve.G1Affine, fr.Element]{"resident": first, "on the host": second} {
			if got, err := p.Sum(context.Background(), scalars); err != nil || got != want {
				t.Errorf("%d devices, %s: wrong sum, error %v", devices, name, err)
			}
			if _, err := p.Sum(context.Background(), scalars[1:]); !errors.Is(err, ErrInput) {
				t.Errorf("%d devices, %s: a scalar too few: %v", devices, name, err)
			}
		}
		if !first.Are(points) || first.Are(points[:99]) || first.Are(append(points[:0:0], points...)) {
			t.Error("Are")
		}
		first.Close()
		second.Close()
		if n := d.InUse() - before; n != 0 {
			t.Errorf("%d bytes are left on the device", n)
		}
	}
	if _, err := NewPlace(nil, 0); err == nil {
		t.Error("a place nowhere")
	}
	if _, err := NewPlace([]*device.Device{d}, -1); err == nil {
		t.Error("a place of -1 bytes")
	}
}
