package device_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// A graph does what its launches do, in their order, as often as it is
// launched; devices without graphs say so.
func TestRecord(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		words := []uint32{1, 2, 3, 1 << 31, 77}
		b := upload(t, q, words)
		step := func(v uint32) error {
			return q.Launch(device.Kernel{Source: conformance, Name: "conf_add"}, device.D1(1), device.D1(32), 0, b.Arg(), device.U32(len(words)), device.U32(v))
		}
		apply := func(values ...uint32) {
			for _, v := range values {
				for i := range words {
					words[i] = words[i]*3 + v
				}
			}
		}
		if q.Device().Kind() == device.CUDA { // compiles, which a recording cannot
			if err := step(5); err != nil {
				t.Fatal(err)
			}
			apply(5)
		}
		before := q.Stats().Launches
		g, err := q.Record(func() error { return errors.Join(step(7), step(9)) })
		if q.Device().Kind() != device.CUDA {
			if !errors.Is(err, device.ErrUnavailable) {
				t.Fatalf("record: %v", err)
			}
			return
		}
		if os.Getenv(device.EnvSync) != "" { // a launch that is waited for cannot be recorded
			if !errors.Is(err, device.ErrUsage) {
				t.Fatalf("record with waiting: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.Launch(), step(1), g.Launch()); err != nil {
			t.Fatal(err)
		}
		apply(7, 9, 1, 7, 9)
		if got := read(t, q, b); !slices.Equal(got, words) {
			t.Errorf("%v, want %v", got, words)
		}
		if n := q.Stats().Launches - before; n != 5 {
			t.Errorf("%d launches counted, want 5", n)
		}
		if err := errors.Join(g.Free(), g.Free()); err != nil {
			t.Error(err)
		}
	})
}
