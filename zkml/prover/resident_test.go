package prover

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// TestResident makes proofs side by side with one key in memory, evicts it
// between and during them, and closes it; every proof is the same.
func TestResident(t *testing.T) {
	k := mlp(t)
	want := k.prove(t, hooks{})
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		if err := preload(q); err != nil { // what it leaves stays
			t.Fatal(err)
		}
		before := inUse(d)
		r, err := k.pk.Load(q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bytes() == 0 || inUse(d)-before != (r.Bytes()+7)&^7 {
			t.Errorf("%d bytes for the key, %d in use", r.Bytes(), inUse(d)-before)
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				q, err := d.NewQueue(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				defer q.Close()
				for range 2 {
					got, err := r.Prove(q, k.X, nil)
					if err != nil {
						t.Error(err)
						return
					}
					if !bytes.Equal(got.Proof, want.Proof) {
						t.Error("another proof")
					}
					if i == 0 {
						r.Evict()
					}
				}
			})
		}
		wg.Wait()
		r.Evict()
		if now := inUse(d); now != before || r.Bytes() != 0 {
			t.Errorf("%d bytes are in use after eviction, %d before", now, before)
		}
		// Close does nothing while a proof is being made.
		_, err = r.Prove(q, k.X, &Options{Progress: func(s Stage, done bool) {
			if s == StageLookups && !done {
				if err := r.Close(); !errors.Is(err, ErrInUse) {
					t.Errorf("closed during a proof: %v", err)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if now := inUse(d); now != before {
			t.Errorf("%d bytes are in use after Close, %d before", now, before)
		}
		if _, err := r.Prove(q, k.X, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("a proof with a closed key: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
	})
}

// TestResidentElsewhere uses a key that is on another device.
func TestResidentElsewhere(t *testing.T) {
	k := mlp(t)
	r, err := k.pk.Load(cpu(t))
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if _, err := r.Prove(q, k.X, nil); (err == nil) != q.OnHost() {
			t.Errorf("a key of the cpu on %s: %v", q.Device().Name(), err)
		}
	})
}

// TestResidentMemory refuses a proof beside a key that leaves too little room.
func TestResidentMemory(t *testing.T) {
	k := mlp(t)
	l, err := k.pk.layout()
	if err != nil {
		t.Fatal(err)
	}
	_, need := l.least()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		r, err := k.pk.Load(q)
		if err != nil {
			t.Fatal(err)
		}
		d := q.Device()
		defer d.SetBudget(0)
		d.SetBudget(inUse(d) + need - 1)
		_, err = r.Prove(q, k.X, nil)
		var failure *device.Error
		if !errors.As(err, &failure) || !errors.Is(err, device.ErrNoMemory) || failure.Bytes != need {
			t.Errorf("want a refusal naming %d bytes, got %v", need, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		d.SetBudget(inUse(d) + 8)
		if _, err := k.pk.Load(q); !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("a key that does not fit: %v", err)
		}
	})
}

// TestTraffic bounds what a proof with a resident key does: its launches, the
// times that the host waits, and the bytes that cross the bus, which are the
// input and what the host commits to, not the key.
func TestTraffic(t *testing.T) {
	k := mlp(t)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("nothing crosses a bus")
		}
		r, err := k.pk.Load(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		before := q.Stats()
		if _, err := r.Prove(q, k.X, nil); err != nil {
			t.Fatal(err)
		}
		s := q.Stats()
		launches, syncs, in := s.Launches-before.Launches, s.Syncs-before.Syncs, s.BytesIn-before.BytesIn
		if launches > maxLaunches || syncs > maxSyncs || in > 1<<14 {
			t.Errorf("%d launches, %d waits, %d bytes to the device; want at most %d, %d and %d", launches, syncs, in, maxLaunches, maxSyncs, 1<<14)
		}
		t.Logf("%d launches, %d waits, %d bytes in, %d out", launches, syncs, in, s.BytesOut-before.BytesOut)
	})
}

// What a proof of a perceptron of two layers may take.
const (
	// Merging claims is sumcheck_stack_rows and a tail; larger stacks add
	// sumcheck_stack_fold, _sums and _bind, and a second batch.
	maxLaunches = 78
	maxSyncs    = 11
)

// TestResidentCancelled cancels proofs wherever they tell where they are: the key
// stays usable, also after the queue that loaded it, and nothing leaks.
func TestResidentCancelled(t *testing.T) {
	k := mlp(t)
	want := k.prove(t, hooks{})
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		if err := preload(q); err != nil { // what it leaves stays
			t.Fatal(err)
		}
		before := inUse(d)
		loader, err := d.NewQueue(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		r, err := k.pk.Load(loader)
		if err != nil {
			t.Fatal(err)
		}
		if err := loader.Close(); err != nil {
			t.Fatal(err)
		}
		held := inUse(d)
		for _, at := range Stages() {
			ctx, cancel := context.WithCancel(context.Background())
			c, err := d.NewQueue(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Prove(c, k.X, &Options{Progress: func(s Stage, done bool) {
				if s == at && !done {
					cancel()
				}
			}})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled at %s: %v", at, err)
			}
			_ = c.Close()
			if n := inUse(d); n > held { // fewer where the collector found what other tests left
				t.Errorf("cancelled at %s: %d bytes more in use", at, n-held)
			}
		}
		got, err := r.Prove(q, k.X, nil)
		if err != nil || !bytes.Equal(got.Proof, want.Proof) {
			t.Errorf("another proof after cancelled ones, or none: %v", err)
		}
		if err := r.Close(); err != nil || inUse(d) > before {
			t.Errorf("closing: %v, %d bytes more in use", err, inUse(d)-before)
		}
	})
}

// inUse is what live buffers hold, without those that other tests have dropped:
// the collector frees them whenever it comes by.
func inUse(d *device.Device) int64 {
	n := d.InUse()
	for quiet := 0; quiet < 5; quiet++ { // it runs beside us, and a loaded machine takes its time
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
		if now := d.InUse(); now != n {
			n, quiet = now, 0
		}
	}
	return n
}
