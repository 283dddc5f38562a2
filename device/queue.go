package device

import (
	"context"
	"errors"
	"runtime"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Queue is ordered, asynchronous work on one device.
type Queue struct {
	dev    *Device
	ctx    context.Context
	stream driver.Stream
	args   []uint64
	last   string // the kernel launched last
	trace  *trace // nil without a tracer
	stats  Stats
}

// Stats counts what a queue did.
type Stats struct {
	Launches int64
	Syncs    int64 // times the host waited for the device
	BytesIn  int64 // host to device
	BytesOut int64 // device to host
}

// Since is what was done after an earlier state of the same queue.
func (s Stats) Since(before Stats) Stats {
	return Stats{s.Launches - before.Launches, s.Syncs - before.Syncs, s.BytesIn - before.BytesIn, s.BytesOut - before.BytesOut}
}

// Device of the queue.
func (q *Queue) Device() *Device { return q.dev }

// Context that the queue was made with.
func (q *Queue) Context() context.Context { return q.ctx }

// OnHost says whether operations run their Go twins on host memory.
func (q *Queue) OnHost() bool { return q.stream == nil }

// Stats so far.
func (q *Queue) Stats() Stats { return q.stats }

// Err is the context's error, nil while work may go on.
func (q *Queue) Err() error { return q.ctx.Err() }

// Close waits for the queue's work and releases its stream.
func (q *Queue) Close() error {
	if q.stream == nil {
		return nil
	}
	// Waiting first resolves the trace; the error, if any, is Close's as well.
	_ = q.trace.wait(TraceWait, "close", 0, q.stream.Sync)
	q.trace.close()
	return q.done(q.stream.Close())
}

// Join is Close of other, and counts what it did as q's: for a queue that was made
// for a part of q's work.
func (q *Queue) Join(other *Queue) error {
	err := other.Close()
	q.stats.Launches += other.stats.Launches
	q.stats.Syncs += other.stats.Syncs
	q.stats.BytesIn += other.stats.BytesIn
	q.stats.BytesOut += other.stats.BytesOut
	other.stats = Stats{}
	return err
}

// Sync waits until all work so far is done and returns its error.
func (q *Queue) Sync() error {
	if err := q.Err(); err != nil || q.stream == nil {
		return err
	}
	q.stats.Syncs++
	return q.done(q.trace.wait(TraceWait, "synchronize", 0, q.stream.Sync))
}

// After makes work that q is given from now on wait for all that other was given
// so far. The host does not wait where both are of GPUs. A buffer
// that one of them filled may be used by the other then.
func (q *Queue) After(other *Queue) error {
	if err := q.Err(); err != nil || other.stream == nil || q == other {
		return err
	}
	if s, ok := q.stream.(driver.Async); ok {
		if ok, err := s.After(other.stream); ok || err != nil {
			return q.done(err)
		}
	}
	if q.dev == other.dev {
		return nil // the emulator runs everything in the order in which it was given
	}
	return other.done(other.stream.Sync())
}

// done names the device in a driver's error, and for a fault, which shows only
// some time after it happened, the kernel launched last.
func (q *Queue) done(err error) error {
	if err == nil {
		return nil
	}
	err = q.dev.wrap(err)
	var e *Error
	if errors.As(err, &e) && errors.Is(e, ErrFault) && q.last != "" && e.Op != "launch "+q.last {
		e.Text += "; last launched: " + q.last
	}
	return err
}

// Parallel runs body over disjoint ranges covering [0, n) on the CPU's cores;
// it is for the Go twins of operations.
func (q *Queue) Parallel(n, grain int, body func(lo, hi int)) error {
	if err := q.Err(); err != nil {
		return err
	}
	parallel.For(n, grain, body)
	return nil
}

// Dim is the extent of a grid (in blocks) or of a block (in threads).
type Dim = driver.Dim

// D1 is a one-dimensional extent.
func D1(x int) Dim { return Dim{X: uint32(x), Y: 1, Z: 1} }

// D2 is a two-dimensional extent.
func D2(x, y int) Dim { return Dim{X: uint32(x), Y: uint32(y), Z: 1} }

// Blocks is the number of blocks of the given size that cover n threads, at
// least 1.
func Blocks(n, size int) int { return max(1, (n+size-1)/size) }

// Kernel names one kernel of a translation unit.
type Kernel struct {
	Source *kernel.Source
	Name   string
}

// Arg is one kernel argument.
type Arg struct {
	value   uint64
	pointer bool
	a       *allocation
}

// U32 is an integer argument.
func U32[T ~int | ~uint32](v T) Arg { return Arg{value: uint64(uint32(v))} }

// U64 is an integer argument.
func U64[T ~int | ~uint64](v T) Arg { return Arg{value: uint64(v)} }

// Null is a pointer argument that points nowhere.
func Null() Arg { return Arg{pointer: true} }

// Launch enqueues k over grid blocks of block threads with shared bytes of
// dynamic shared memory. The number and kinds of args are checked against the
// kernel's source.
func (q *Queue) Launch(k Kernel, grid, block Dim, shared int, args ...Arg) error {
	if err := q.Err(); err != nil {
		return err
	}
	if q.stream == nil {
		return usage(q.dev.name, "launch "+k.Name, "kernels do not run on the cpu device")
	}
	m, err := q.dev.load(k.Source)
	if err != nil {
		return err
	}
	l, ok := m.kernels[k.Name]
	if !ok {
		return usage(q.dev.name, "launch "+k.Name, "%s has no such kernel", k.Source.Name)
	}
	if len(args) != len(l.sig.Params) {
		return usage(q.dev.name, "launch "+k.Name, "%d arguments, kernel takes %d", len(args), len(l.sig.Params))
	}
	threads := uint64(block.X) * uint64(block.Y) * uint64(block.Z)
	if threads == 0 || threads > 1024 || grid.X == 0 || grid.Y == 0 || grid.Z == 0 || grid.Y > 65535 || grid.Z > 65535 {
		return usage(q.dev.name, "launch "+k.Name, "grid %v, block %v", grid, block)
	}
	if l.sig.MaxThreads > 0 && threads > uint64(l.sig.MaxThreads) {
		return usage(q.dev.name, "launch "+k.Name, "%d threads a block, over the kernel's launch bound of %d", threads, l.sig.MaxThreads)
	}
	q.args = q.args[:0]
	for i, a := range args {
		if a.pointer != l.sig.Params[i].Pointer {
			return usage(q.dev.name, "launch "+k.Name, "argument %d (%s %s): pointer and integer mixed up", i, l.sig.Params[i].Type, l.sig.Params[i].Name)
		}
		if a.a != nil {
			if a.a.dev != q.dev || a.a.freed.Load() {
				return usage(q.dev.name, "launch "+k.Name, "argument %d (%s) lives on %s, freed %v", i, l.sig.Params[i].Name, a.a.dev.name, a.a.freed.Load())
			}
			a.a.use(q)
		}
		q.args = append(q.args, a.value)
	}
	q.stats.Launches++
	l.launches.Add(1)
	q.last = k.Name
	if q.trace != nil {
		err = q.trace.run(TraceKernel, k.Name, 0, func() error { return q.stream.Launch(l.f, grid, block, uint32(shared), q.args) })
	} else {
		err = q.stream.Launch(l.f, grid, block, uint32(shared), q.args)
	}
	if err == nil {
		l.saw(threads, shared)
	}
	if err == nil && q.dev.wait {
		err = q.stream.Sync()
	}
	runtime.KeepAlive(args) // what the collector frees now is freed after the launch
	return q.done(err)
}
