package device

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Pinned is n elements of type T in the host's memory, page-locked where there is
// a GPU: copies between it and Buffers go at the full speed of the link, and while
// the program does other things. T must be free of Go pointers. A Pinned is a small
// value; Slice shares its memory. The zero Pinned is empty. Unlike a Buffer it has to
// be freed: the collector does not know it.
type Pinned[T any] struct {
	a   *pinned
	off int64 // bytes
	n   int
}

// pinned is one piece of memory, shared by the values that view it.
type pinned struct {
	dev   *Device
	drv   driver.Pinner  // nil: memory of the Go heap
	ptr   unsafe.Pointer // nil once freed
	freed atomic.Bool

	mu    sync.Mutex
	users map[*Device]bool // whose queues may be at work on it
}

// AllocPinned returns memory for n elements, all zero bytes. The GPUs of the machine
// may all copy from and to it, whichever d is.
func AllocPinned[T any](d *Device, n int) (Pinned[T], error) {
	bytes := int64(n) * sizeOf[T]()
	if n < 0 || (n > 0 && (bytes/int64(n) != sizeOf[T]() || bytes+7 < bytes)) {
		return Pinned[T]{}, usage(d.name, "alloc page-locked memory", "%d elements", n)
	}
	if n == 0 {
		return Pinned[T]{}, nil
	}
	a := &pinned{dev: d}
	if drv, ok := d.drv.(driver.Pinner); ok {
		p, err := drv.AllocHost(bytes)
		if err != nil {
			return Pinned[T]{}, d.wrap(err)
		}
		a.drv, a.ptr, a.users = drv, p, map[*Device]bool{}
		clear(unsafe.Slice((*byte)(p), bytes))
	} else {
		a.ptr = unsafe.Pointer(unsafe.SliceData(make([]uint64, (bytes+7)/8)))
	}
	return Pinned[T]{a: a, n: n}, nil
}

// Len is the number of elements.
func (p Pinned[T]) Len() int { return p.n }

// Host is the memory itself, nil after Free. Between the call that enqueues a copy
// and the end of the copy (see Queue.Sync) it must not be written, nor read if the
// copy writes it.
func (p Pinned[T]) Host() []T {
	if p.n == 0 || p.a.freed.Load() {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Add(p.a.ptr, p.off)), p.n)
}

// Slice is the elements [i, j), sharing memory.
func (p Pinned[T]) Slice(i, j int) Pinned[T] {
	if i < 0 || j < i || j > p.n {
		panic("device: slice out of range") // like a Go slice: a bug, not an input
	}
	return Pinned[T]{a: p.a, off: p.off + int64(i)*sizeOf[T](), n: j - i}
}

// Free gives the memory of p's whole allocation back, after waiting for the work of
// all devices that p was used on. Slices that Host returned must not be used any
// more. Freeing twice is harmless.
func (p Pinned[T]) Free() error {
	if p.a == nil || p.a.freed.Swap(true) {
		return nil
	}
	a := p.a
	if a.drv == nil {
		return nil // the collector's
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for d := range a.users {
		if drv, ok := d.drv.(driver.Pinner); ok {
			errs = append(errs, d.wrap(drv.Drain()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // a failed device may still hold the memory, which is lost
	}
	return a.dev.wrap(a.drv.FreeHost(a.ptr))
}

// async returns q's stream if that can copy from and to p while the host goes on.
func (p Pinned[T]) async(q *Queue) (driver.Async, bool) {
	s, ok := q.stream.(driver.Async)
	if !ok || p.a.drv == nil {
		return nil, false
	}
	p.a.mu.Lock()
	p.a.users[q.dev] = true
	p.a.mu.Unlock()
	return s, true
}

func (p Pinned[T]) check(q *Queue, op string) error {
	if p.n > 0 && p.a.freed.Load() {
		return usage(q.dev.name, op, "page-locked memory was freed")
	}
	return nil
}

// CopyFromPinned enqueues a copy of src, which must have b's length, into b. src must
// stay as it is until the copy is done.
func (b Buffer[T]) CopyFromPinned(q *Queue, src Pinned[T]) error {
	const op = "copy to device"
	if err := errors.Join(b.check(q, op, src.n), src.check(q, op)); err != nil || b.n == 0 {
		return err
	}
	s, ok := src.async(q)
	if !ok {
		return b.CopyFrom(q, src.Host())
	}
	bytes := int64(b.n) * sizeOf[T]()
	q.stats.BytesIn += bytes
	return q.enqueue(op, bytes, b.a, func() error { return s.CopyInPinned(b.ptr(), bytesOf(src.Host())) })
}

// CopyToPinned enqueues a copy of b into dst, which must have b's length and may be
// read when the queue was waited for.
func (b Buffer[T]) CopyToPinned(q *Queue, dst Pinned[T]) error {
	const op = "copy from device"
	if err := errors.Join(b.check(q, op, dst.n), dst.check(q, op)); err != nil || b.n == 0 {
		return err
	}
	s, ok := dst.async(q)
	if !ok {
		return b.CopyTo(q, dst.Host())
	}
	bytes := int64(b.n) * sizeOf[T]()
	q.stats.BytesOut += bytes
	return q.enqueue(op, bytes, b.a, func() error { return s.CopyOutPinned(bytesOf(dst.Host()), b.ptr()) })
}
