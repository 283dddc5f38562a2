package bn254

import (
	"context"
	"errors"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/device"
	groups "github.com/zkwarp/zkwarp/msm/bn254"
)

// A point that is wrong is found, one that is missing too, and right ones are taken.
func TestCheck(t *testing.T) {
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	_, _, base, _ := curve.Generators()
	const n = 300
	logs := make([]fr.Element, n)
	for i := range logs {
		logs[i].MustSetRandom()
	}
	logs[7].SetZero()
	points := curve.BatchScalarMultiplicationG1(&base, logs)
	run := func() error {
		return check(context.Background(), dev, groups.G1, base, "A", points, given(logs))
	}
	if err := run(); err != nil {
		t.Error(err)
	}
	points[5], points[6] = points[6], points[5]
	if err := run(); !errors.Is(err, device.ErrFault) {
		t.Errorf("two points in each other's place: %v", err)
	}
	points[5], points[6] = points[6], points[5]
	points[n-1] = curve.G1Affine{}
	if err := run(); !errors.Is(err, device.ErrFault) {
		t.Errorf("infinity in a point's place: %v", err)
	}
	if err := check(context.Background(), dev, groups.G1, base, "A", nil, given(nil)); err != nil {
		t.Errorf("no points: %v", err)
	}
}
