package msm_test

import (
	"context"
	"testing"

	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/known"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

// Steps one after the other, of several chunks, give the same sum.
func TestSerial(t *testing.T) {
	k := known.New[toy61.G1Affine, fr.Element, fp.Element](msmtest.Toy61, 1, 700)
	scalars, err := k.Scalars("uniform", 2, 700)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		b, err := msm.New(q.Device(), msmtest.Toy61, k.Points, msm.Options{Serial: true, Chunk: 300})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for range 2 {
			if got, err := b.Sum(context.Background(), scalars); err != nil || got != k.Expected(scalars) {
				t.Errorf("%v, error %v", got, err)
			}
		}
	})
}
