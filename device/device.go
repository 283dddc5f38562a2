// Package device is where code runs: the CPU, an NVIDIA GPU ("cuda:N"), or the
// SIMT emulator ("simt") that runs the same kernels on the CPU for tests.
//
// Provers are host code over coarse operations. An operation has twins, a Go
// implementation and a CUDA one with the same canonical result, and asks its
// queue which to run:
//
//	if q.OnHost() {
//		... loop over buf.Host() ...
//		return nil
//	}
//	return q.Launch(kernel, grid, block, 0, buf.Arg(), device.U32(n))
//
// Work on a queue is ordered and asynchronous; on the CPU it is immediate.
// Data stays in Buffers on its device until somebody copies it out.
package device

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// Kind says which twin of an operation runs.
type Kind int

// Kinds of device.
const (
	CPU Kind = iota
	CUDA
	SIMT
)

func (k Kind) String() string { return [...]string{"cpu", "cuda", "simt"}[k] }

// Device is one place to run. Devices are opened once per process and shared;
// they are safe for concurrent use.
type Device struct {
	name string
	kind Kind
	drv  driver.Driver // nil on the CPU

	mu      sync.Mutex
	modules map[*kernel.Source]*module

	launches sync.Map // kernel name -> *atomic.Int64
	inUse    atomic.Int64
	budget   atomic.Int64
	poison   atomic.Bool
}

type module struct {
	once  sync.Once
	funcs map[string]driver.Func
	sigs  map[string]kernel.Entry
	err   error
}

// Name is "cpu", "cuda:N" or "simt".
func (d *Device) Name() string { return d.name }

// Kind of the device.
func (d *Device) Kind() Kind { return d.kind }

// Launches returns how often each kernel was launched on d.
func (d *Device) Launches() map[string]int64 {
	out := map[string]int64{}
	d.launches.Range(func(k, v any) bool {
		out[k.(string)] = v.(*atomic.Int64).Load()
		return true
	})
	return out
}

func (d *Device) count(name string) {
	v, ok := d.launches.Load(name)
	if !ok {
		v, _ = d.launches.LoadOrStore(name, new(atomic.Int64))
	}
	v.(*atomic.Int64).Add(1)
}

// Poison makes fresh device memory come filled with 0xA5 bytes instead of
// undefined, so that tests see reads of what nobody wrote.
func (d *Device) Poison(on bool) { d.poison.Store(on) }

// load returns the module of s, compiling it on first use.
func (d *Device) load(s *kernel.Source) (*module, error) {
	d.mu.Lock()
	m, ok := d.modules[s]
	if !ok {
		m = new(module)
		d.modules[s] = m
	}
	d.mu.Unlock()
	m.once.Do(func() {
		entries, err := s.Kernels()
		if err != nil {
			m.err = err
			return
		}
		m.sigs = map[string]kernel.Entry{}
		for _, e := range entries {
			m.sigs[e.Name] = e
		}
		m.funcs, err = d.drv.Load(s)
		m.err = d.wrap(err)
	})
	return m, m.err
}

// Preload compiles and loads sources that are not loaded yet, which otherwise
// happens when one of their kernels is first launched.
func (d *Device) Preload(sources ...*kernel.Source) error {
	if d.drv == nil {
		return nil
	}
	for _, s := range sources {
		if _, err := d.load(s); err != nil {
			return err
		}
	}
	return nil
}

// NewQueue returns a queue on d. Operations on the queue fail with ctx's error
// once ctx is done. Close the queue when done; a queue is for one goroutine at
// a time.
func (d *Device) NewQueue(ctx context.Context) (*Queue, error) {
	q := &Queue{dev: d, ctx: ctx}
	if d.drv != nil {
		s, err := d.drv.NewStream()
		if err != nil {
			return nil, d.wrap(err)
		}
		q.stream = s
	}
	q.trace = newTrace(q)
	return q, nil
}
