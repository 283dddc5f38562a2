package groth16_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// prover is what makes a proof: a Prover, or the package.
type prover func(context.Context, witness.Witness) (groth16.Proof, error)

// crowd is proofs from goroutines, and how much memory they take.
type crowd struct {
	r          *ready
	d          *device.Device
	goroutines int
	assign     func(i int) frontend.Circuit

	inUse atomic.Int64 // the most that was in use while proofs were made
}

// heap is what the process keeps on its heap.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// settled is what a device's memory in use comes to once the collector has seen to the
// buffers that failures dropped, want or what is kept for good.
func settled(d *device.Device, want int64) int64 {
	for deadline := time.Now().Add(5 * time.Second); d.InUse() != want && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	return d.InUse()
}

// remaining is how many goroutines there are once those that end have ended, for which they
// have some seconds.
func remaining(want int) int {
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > want && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return runtime.NumGoroutine()
}

// prove makes proofs first to last, each of another witness, and gives what became of each to
// done, which may be called at the same time. It returns the largest use of the device.
func (c *crowd) prove(t *testing.T, prove prover, first, last int, done func(i int, public witness.Witness, proof groth16.Proof, err error)) int64 {
	t.Helper()
	c.inUse.Store(0)
	var next atomic.Int64
	next.Store(int64(first))
	var wg sync.WaitGroup
	for range c.goroutines {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= last {
					return
				}
				full, err := frontend.NewWitness(c.assign(i), ecc.BN254.ScalarField())
				if err != nil {
					t.Error(err)
					return
				}
				public, err := full.Public()
				if err != nil {
					t.Error(err)
					return
				}
				proof, err := prove(t.Context(), full)
				now := c.d.InUse()
				for old := c.inUse.Load(); now > old && !c.inUse.CompareAndSwap(old, now); old = c.inUse.Load() {
				}
				done(i, public, proof, err)
			}
		})
	}
	wg.Wait()
	return c.inUse.Load()
}

// Proofs without end: from many goroutines, by a Prover and by the package, all verify, and no
// memory is kept, on the host or on the device.
func TestMany(t *testing.T) {
	for _, x := range []struct {
		device                       string
		log, count, warm, goroutines int
	}{
		{"cpu", 8, 32, 8, 8},
		{"simt", 4, 4, 2, 2},
		{"cuda", 15, 1000, 100, 8},
	} {
		t.Run(x.device, func(t *testing.T) {
			d := devicetest.Open(t, x.device)
			t.Setenv("ZKWARP_DEVICE", d.Name()) // the package's own
			r := setUp(t, ecc.BN254, example{circuit: &chain{log: x.log}, right: &chain{X: 3, Y: 5}})
			c := &crowd{r: r, d: d, goroutines: x.goroutines, assign: func(i int) frontend.Circuit { return &chain{X: i, Y: i + 7} }}
			idle := d.InUse()
			var faults atomic.Int64
			// Without a verifying key B is checked, in one group against the other.
			p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithLogger(slog.New(counter{slog.NewTextHandler(io.Discard, nil), &faults})))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for name, prove := range map[string]prover{
				"Prover": func(ctx context.Context, w witness.Witness) (groth16.Proof, error) { return p.Prove(ctx, r.ccs, w) },
				"Prove": func(_ context.Context, w witness.Witness) (groth16.Proof, error) {
					return groth16.Prove(r.ccs, r.pk, w)
				},
			} {
				check := func(i int, public witness.Witness, proof groth16.Proof, err error) {
					if err != nil {
						t.Errorf("%s: proof %d: %v", name, i, err)
					} else if err := gnark.Verify(proof, r.vk, public); err != nil {
						t.Errorf("%s: proof %d: %v", name, i, err)
					}
				}
				most := c.prove(t, prove, 0, x.warm, check)
				kept, host, routines := d.InUse(), heap(), runtime.NumGoroutine()
				start := time.Now()
				later := c.prove(t, prove, x.warm, x.count, check)
				t.Logf("%s: %.1f ms a proof of 2^%d constraints, verified; device %d bytes idle, at most %d; heap %d before, %d after",
					name, time.Since(start).Seconds()*1000/float64(x.count-x.warm), x.log, kept, later, host, heap())
				if n := d.InUse(); n != kept {
					t.Errorf("%s: %d bytes of the device in use after proofs, %d before", name, n, kept)
				}
				// As many are under way as before, but of a few not always at the same point.
				if x.warm >= 100 && later > kept+3*(most-kept)/2 {
					t.Errorf("%s: at most %d bytes of the device in use, %d at first", name, later, most)
				}
				if n := heap(); n > host+4<<20 {
					t.Errorf("%s: %d bytes on the heap after proofs, %d before", name, n, host)
				}
				if n := remaining(routines); n > routines {
					t.Errorf("%s: %d goroutines after proofs, %d before", name, n, routines)
				}
			}
			if n := faults.Load(); n != 0 {
				t.Errorf("%d reports of faults", n)
			}
			p.Close()
			groth16.Forget(r.pk)
			if n := d.InUse(); n != idle {
				t.Errorf("%d bytes of the device in use after Close and Forget, %d before", n, idle)
			}
		})
	}
}

// Contexts that end at any moment of a proof leave nothing on the device, no goroutine and no
// report of a fault, and proofs go on.
func TestManyCancelled(t *testing.T) {
	for _, x := range []struct {
		device                 string
		log, count, goroutines int
		rounds                 int // before, of which the first compiles kernels
	}{
		{"cpu", 8, 40, 4, 1},
		{"simt", 4, 5, 2, 1},
		{"cuda", 14, 300, 8, 3},
	} {
		t.Run(x.device, func(t *testing.T) {
			d := devicetest.Open(t, x.device)
			r := setUp(t, ecc.BN254, example{circuit: &chain{log: x.log}, right: &chain{X: 3, Y: 5}})
			idle := d.InUse()
			var faults atomic.Int64
			p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk), groth16.WithLogger(slog.New(counter{slog.NewTextHandler(io.Discard, nil), &faults})))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			c := &crowd{r: r, d: d, goroutines: x.goroutines, assign: func(i int) frontend.Circuit { return &chain{X: i, Y: i + 7} }}
			whole := func(ctx context.Context, w witness.Witness) (groth16.Proof, error) { return p.Prove(ctx, r.ccs, w) }
			var usual time.Duration
			for range x.rounds {
				start := time.Now()
				c.prove(t, whole, 0, x.goroutines, func(i int, _ witness.Witness, _ groth16.Proof, err error) {
					if err != nil {
						t.Error(err)
					}
				})
				usual = 2 * time.Since(start) // so that half of them end in time
			}
			kept, routines := d.InUse(), runtime.NumGoroutine()
			var begun, made, cancelled atomic.Int64
			c.prove(t, func(ctx context.Context, w witness.Witness) (groth16.Proof, error) {
				left := time.Duration(rand.Int64N(int64(usual)))
				if begun.Add(1) == 1 {
					left = time.Millisecond // at least one
				}
				ctx, cancel := context.WithTimeout(ctx, left)
				defer cancel()
				return whole(ctx, w)
			}, 0, x.count, func(i int, public witness.Witness, proof groth16.Proof, err error) {
				switch {
				case err == nil:
					made.Add(1)
					if err := gnark.Verify(proof, r.vk, public); err != nil {
						t.Errorf("proof %d: %v", i, err)
					}
				case errors.Is(err, context.DeadlineExceeded) && proof == nil:
					cancelled.Add(1)
				default:
					t.Errorf("proof %d: %v and %v", i, proof, err)
				}
			})
			t.Logf("%d proofs made, %d cancelled, in times below %v", made.Load(), cancelled.Load(), usual)
			if cancelled.Load() == 0 {
				t.Error("no proof was cancelled")
			}
			if n := settled(d, kept); n != kept {
				t.Errorf("%d bytes of the device in use after proofs, %d before", n, kept)
			}
			if n := remaining(routines); n > routines {
				t.Errorf("%d goroutines after proofs, %d before", n, routines)
			}
			if n := faults.Load(); n != 0 {
				t.Errorf("%d reports of faults", n)
			}
			if _, err := p.Prove(t.Context(), r.ccs, r.right); err != nil {
				t.Errorf("after cancelled proofs: %v", err)
			}
			p.Close()
			if n := settled(d, idle); n != idle {
				t.Errorf("%d bytes of the device in use after Close, %d before", n, idle)
			}
		})
	}
}

// counter is a handler that counts records.
type counter struct {
	slog.Handler
	n *atomic.Int64
}

func (c counter) Handle(ctx context.Context, r slog.Record) error {
	c.n.Add(1)
	return c.Handler.Handle(ctx, r)
}
