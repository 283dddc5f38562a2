package device_test

import (
	"context"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// An urgent queue does what any other does, and waits for others and they for it.
func TestUrgentQueue(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		u, err := q.Device().NewUrgentQueue(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		b := devicetest.Upload(t, q, devicetest.Rand(1).Words(1000))
		if err := u.After(q); err != nil {
			t.Fatal(err)
		}
		if err := b.Fill(u, 7); err != nil {
			t.Fatal(err)
		}
		if !u.OnHost() {
			launch(t, u, "conf_add", device.D1(4), device.D1(256), 0, b.Arg(), device.U32(1000), device.U32(2))
		}
		if err := q.After(u); err != nil {
			t.Fatal(err)
		}
		want := uint32(7)
		if !u.OnHost() {
			want = 23
		}
		words, err := b.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range words {
			if w != want {
				t.Fatalf("word %d is %d, not %d", i, w, want)
			}
		}
	})
}
