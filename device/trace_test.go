package device_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

type recorder struct {
	mu     sync.Mutex
	events []device.Event
}

func (r *recorder) Trace(e device.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) find(category, name string) (device.Event, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found device.Event
	n := 0
	for _, e := range r.events {
		if e.Category == category && e.Name == name {
			found = e
			n++
		}
	}
	return found, n
}

func TestTrace(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, plain *device.Queue) {
		d := plain.Device()
		r := &recorder{}
		began := time.Now()
		q, err := d.NewQueue(device.WithTracer(context.Background(), r))
		if err != nil {
			t.Fatal(err)
		}
		end := q.Span("stage one")
		b, err := device.Upload(q, []uint32{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		if !q.OnHost() {
			if err := q.Launch(device.Kernel{Source: conformance, Name: "conf_arguments"}, device.D1(1), device.D1(32), 0,
				b.Arg(), device.U32(1), device.U64(uint64(1)), device.U32(-1), device.U64(-1), device.Null()); err != nil {
				t.Fatal(err)
			}
		}
		end()
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		within := func(e device.Event) {
			t.Helper()
			// Device clocks are placed on the host's to within a few milliseconds.
			const slack = 20 * time.Millisecond
			if e.Device != d.Name() || e.Start.Before(began.Add(-slack)) || e.Start.Add(e.Duration).After(time.Now().Add(slack)) {
				t.Errorf("%+v began before the test or ended after it", e)
			}
		}
		e, n := r.find(device.TraceStage, "stage one")
		if n != 1 {
			t.Fatalf("%d stages: %+v", n, r.events)
		}
		within(e)
		if q.OnHost() {
			return
		}
		e, n = r.find(device.TraceKernel, "conf_arguments")
		if n != 1 {
			t.Fatalf("%d kernels: %+v", n, r.events)
		}
		within(e)
		// Poisoning fills the fresh buffer first.
		if e, n := r.find(device.TraceCopy, "copy to device"); n != 1 || e.Bytes != 12 {
			t.Errorf("%d copies, %+v", n, e)
		}
		if d.Kind() == device.CUDA {
			e, n := r.find(device.TraceDevice, "stage one")
			if n != 1 {
				t.Fatalf("no device time of the stage: %+v", r.events)
			}
			within(e)
		}
	})
}
