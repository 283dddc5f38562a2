package bucket

import (
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// What Bytes says is what a workspace takes.
func TestBytes(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, c := range []struct{ entries, buckets int }{{1, 1}, {1000, 3}, {99999, 1}, {100, 50000}} {
			before := q.Device().InUse()
			w, err := NewWorkspace(q, curve.Toy61, c.entries, c.buckets)
			if err != nil {
				t.Fatal(err)
			}
			// Each of some buffers is rounded up to 8 bytes.
			if took, said := q.Device().InUse()-before, Bytes(curve.Toy61, q.Device().Info(), c.entries, c.buckets); took < said || took > said+200 {
				t.Errorf("%+v: %d bytes, not %d", c, took, said)
			}
			w.Free()
		}
	})
}
