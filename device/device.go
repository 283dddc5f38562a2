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
	"errors"
	"runtime"
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
	modules map[[32]byte]*module // by the source's digest

	inUse  atomic.Int64
	budget atomic.Int64
	poison atomic.Bool
	wait   bool // after every launch
}

// module is a loaded translation unit.
type module struct {
	once    sync.Once
	ready   atomic.Bool // kernels may be read without once
	kernels map[string]*loaded
	err     error
}

// loaded is a kernel ready to launch.
type loaded struct {
	f        driver.Func
	sig      kernel.Entry
	launches atomic.Int64
	largest  atomic.Uint64 // Block: shared memory above, threads below
}

// Block is a block of threads of a launch.
type Block struct {
	Threads int `json:"threads"`
	Shared  int `json:"shared"` // bytes of dynamic shared memory
}

const blockThreads = 1 << 11 // more than a block has threads

// saw keeps the largest of the blocks that the kernel was launched in.
func (l *loaded) saw(threads uint64, shared int) {
	b := uint64(max(shared, 0))*blockThreads + threads
	for old := l.largest.Load(); b > old && !l.largest.CompareAndSwap(old, b); old = l.largest.Load() {
	}
}

// Name is "cpu", "cuda:N" or "simt".
func (d *Device) Name() string { return d.name }

// Kind of the device.
func (d *Device) Kind() Kind { return d.kind }

// Launches returns how often each kernel was launched on d.
func (d *Device) Launches() map[string]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]int64{}
	for _, m := range d.modules {
		if !m.ready.Load() {
			continue
		}
		for name, k := range m.kernels {
			if n := k.launches.Load(); n > 0 {
				out[name] += n
			}
		}
	}
	return out
}

// Blocks returns the largest block that each kernel was launched in on d, by shared
// memory and then by threads.
func (d *Device) Blocks() map[string]Block {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]Block{}
	for _, m := range d.modules {
		if !m.ready.Load() {
			continue
		}
		for name, k := range m.kernels {
			if b := k.largest.Load(); b > 0 {
				out[name] = Block{Threads: int(b % blockThreads), Shared: int(b / blockThreads)}
			}
		}
	}
	return out
}

// LaunchesSince returns what Launches counts more than it did before, for
// work that had the device to itself.
func (d *Device) LaunchesSince(before map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for name, n := range d.Launches() {
		if n -= before[name]; n > 0 {
			out[name] = n
		}
	}
	return out
}

// Poison makes fresh device memory come filled with 0xA5 bytes instead of
// undefined, so that tests see reads of what nobody wrote.
func (d *Device) Poison(on bool) { d.poison.Store(on) }

// load returns the module of s, compiling it on first use.
func (d *Device) load(s *kernel.Source) (*module, error) {
	digest := s.Digest()
	d.mu.Lock()
	m, ok := d.modules[digest]
	if !ok {
		m = new(module)
		d.modules[digest] = m
	}
	d.mu.Unlock()
	m.once.Do(func() { m.err = m.load(d, s) })
	return m, m.err
}

func (m *module) load(d *Device, s *kernel.Source) error {
	entries, err := s.Kernels()
	if err != nil {
		return err
	}
	funcs, err := d.drv.Load(s)
	if err != nil {
		return d.wrap(err)
	}
	m.kernels = map[string]*loaded{}
	for _, e := range entries {
		f, ok := funcs[e.Name]
		if !ok {
			return &Error{Device: d.name, Op: "load " + s.Name, Text: "the compiled unit lacks " + e.Name, Class: ErrUnavailable}
		}
		m.kernels[e.Name] = &loaded{f: f, sig: e}
	}
	m.ready.Store(true)
	return nil
}

// Preload compiles and loads translation units side by side, so that their
// first use need not; without it a unit is loaded by the first launch of one
// of its kernels. On the CPU there is nothing to do.
func (d *Device) Preload(sources ...*kernel.Source) error {
	return d.PreloadEach(context.Background(), nil, sources...)
}

// PreloadEach is Preload until ctx ends, and calls done, unless it is nil, with every
// unit that was loaded or failed; several goroutines may do so at a time.
func (d *Device) PreloadEach(ctx context.Context, done func(*kernel.Source, error), sources ...*kernel.Source) error {
	if d.drv == nil {
		return nil
	}
	errs := make([]error, len(sources))
	var next atomic.Int64
	var workers sync.WaitGroup
	// One unit at a time: some take the compiler a hundred times as long as others.
	for range min(runtime.GOMAXPROCS(0), len(sources)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sources) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				_, errs[i] = d.load(sources[i])
				if done != nil {
					done(sources[i], errs[i])
				}
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return ctx.Err()
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
