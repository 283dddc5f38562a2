package device_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// beside returns a second queue on q's device.
func beside(t *testing.T, q *device.Queue) *device.Queue {
	t.Helper()
	return devicetest.Queue(t, q.Device())
}

func alloc(t *testing.T, q *device.Queue, n int) device.Buffer[uint32] {
	t.Helper()
	b, err := device.Alloc[uint32](q, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Free)
	return b
}

func pin(t *testing.T, q *device.Queue, n int) device.Pinned[uint32] {
	t.Helper()
	p, err := device.AllocPinned[uint32](q.Device(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Free(), p.Free()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestPinnedCopies(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, n := range []int{1, 33, 5000, 1<<21 + 7} {
			p, back := pin(t, q, n), pin(t, q, n+2)
			if back.Host()[0] != 0 || back.Host()[n+1] != 0 {
				t.Error("not zero at first")
			}
			want := devicetest.Rand(uint64(n)).Words(n)
			copy(p.Host(), want)
			b, before := alloc(t, q, n), q.Stats()
			if err := b.CopyFromPinned(q, p); err != nil {
				t.Fatal(err)
			}
			if err := b.CopyToPinned(q, back.Slice(1, n+1)); err != nil {
				t.Fatal(err)
			}
			moved := q.Stats().Since(before)
			if err := q.Sync(); err != nil {
				t.Fatal(err)
			}
			if got := back.Host(); !slices.Equal(got[1:n+1], want) || got[0] != 0 || got[n+1] != 0 {
				t.Errorf("%d words come back different", n)
			}
			if q.Device().Kind() == device.CUDA && (moved.Syncs != 0 || moved.BytesIn != int64(4*n) || moved.BytesOut != int64(4*n)) {
				t.Errorf("%+v", moved)
			}
			// Part of it.
			if n > 2 {
				if err := b.Slice(0, 2).CopyFromPinned(q, p.Slice(1, 3)); err != nil {
					t.Fatal(err)
				}
				if got := read(t, q, b); got[0] != want[1] || got[1] != want[2] || got[2] != want[2] {
					t.Errorf("%x, want %x", got[:3], want[:3])
				}
			}
		}
	})
}

func TestPinnedMisuse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		p, b := pin(t, q, 8), alloc(t, q, 8)
		if err := p.Free(); err != nil {
			t.Fatal(err)
		}
		if p.Host() != nil {
			t.Error("freed memory is still shown")
		}
		whole := pin(t, q, 9)
		for what, err := range map[string]error{
			"from freed":  b.CopyFromPinned(q, p),
			"to freed":    b.CopyToPinned(q, p),
			"from longer": b.CopyFromPinned(q, whole),
			"to longer":   b.CopyToPinned(q, whole),
		} {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, n := range []int{-1, math.MaxInt / 4} {
			if _, err := device.AllocPinned[uint64](q.Device(), n); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%d elements: %v", n, err)
			}
		}
		var none device.Pinned[uint32]
		if err := errors.Join(none.Free(), b.Slice(3, 3).CopyFromPinned(q, none), b.Slice(3, 3).CopyToPinned(q, none)); err != nil || none.Host() != nil {
			t.Error(err)
		}
	})
}

// Two queues hand a buffer back and forth; each adds to what the other left.
func TestAfter(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const n, rounds = 1 << 18, 30
		two := [2]*device.Queue{q, beside(t, q)}
		in := devicetest.Rand(5).Words(n)
		b, want := upload(t, q, in), slices.Clone(in)
		for r := range uint32(rounds) {
			this := two[r%2]
			if err := this.After(two[1-r%2]); err != nil {
				t.Fatal(err)
			}
			launch(t, this, "conf_add", device.D1(n/256), device.D1(256), 0, b.Arg(), device.U32(n), device.U32(r))
			for i := range want {
				want[i] = want[i]*3 + r
			}
		}
		if !slices.Equal(read(t, two[1], b), want) {
			t.Error("wrong result")
		}
	})
}

// What one device computed goes to another by way of the host.
func TestAfterAnotherDevice(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, name := range []string{"cpu", "simt"} {
			other, err := device.Open(name)
			if errors.Is(err, device.ErrUnavailable) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			o, p := devicetest.Queue(t, other), pin(t, q, 4)
			from, to := alloc(t, q, 4), alloc(t, o, 4)
			for r := range uint32(3) {
				err := errors.Join(from.Fill(q, r+1), from.CopyToPinned(q, p), o.After(q), o.After(o), to.CopyFromPinned(o, p), q.After(o))
				if err != nil {
					t.Fatal(err)
				}
				if got := read(t, o, to); got[0] != r+1 || got[3] != r+1 {
					t.Errorf("to %s: %v in round %d", name, got, r)
				}
			}
		}
	})
}
