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
	"github.com/zkwarp/zkwarp/msm"
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
	add := func(a, b *curve.G1Affine) (sum curve.G1Affine) { sum.Add(a, b); return }
	for _, c := range []struct{ fit, calls int }{{601, 1}, {300, 5}, {151, 7}, {76, 15}, {64, 0}} {
		calls := 0
		got, err := tiled(points, scalars, 64, add, func(points []curve.G1Affine, scalars []fr.Element) (sum curve.G1Affine, err error) {
			calls++
			if len(points) > c.fit {
				return sum, &device.Error{Device: "none", Op: "sum", Bytes: int64(len(points)), Class: device.ErrNoMemory}
			}
			_, err = sum.MultiExp(points, scalars, ecc.MultiExpConfig{})
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

// A place gives its memory to the points that come first, and none back before Close.
func TestPlace(t *testing.T) {
	d := devicetest.Open(t, "simt")
	points, scalars, want := data(100)
	before := d.InUse()
	place, err := NewPlace([]*device.Device{d}, 100*64+50)
	if err != nil {
		t.Fatal(err)
	}
	first, err := New(place, bn254.G1, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !place.Whole() || place.Bytes() != 6400 {
		t.Errorf("whole %v, %d bytes", place.Whole(), place.Bytes())
	}
	second, err := New(place, bn254.G1, points, first.Digits())
	if err != nil {
		t.Fatal(err)
	}
	if place.Whole() || second.Digits() != nil {
		t.Error("more points than there is memory for")
	}
	a, b, err := SumBoth(context.Background(), first, second, scalars)
	if err != nil || a != want || b != want {
		t.Errorf("wrong sums, error %v", err)
	}
	if !first.Are(points) || first.Are(points[:99]) || first.Are(append(points[:0:0], points...)) {
		t.Error("Are")
	}
	if _, err := first.Sum(context.Background(), scalars[1:]); !errors.Is(err, msm.ErrInput) {
		t.Errorf("a scalar too few: %v", err)
	}
	if _, err := second.Sum(context.Background(), scalars[1:]); !errors.Is(err, msm.ErrInput) {
		t.Errorf("a scalar too few: %v", err)
	}
	first.Close()
	second.Close()
	if n := d.InUse() - before; n != 0 {
		t.Errorf("%d bytes are left on the device", n)
	}
	if _, err := NewPlace(nil, 0); err == nil {
		t.Error("a place nowhere")
	}
	if _, err := NewPlace([]*device.Device{d}, -1); err == nil {
		t.Error("a place of -1 bytes")
	}
}
