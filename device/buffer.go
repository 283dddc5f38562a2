package device

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Buffer is n elements of type T in a device's memory. T must be free of Go
// pointers. A Buffer is a small value; Slice and View share its memory. The
// zero Buffer is empty.
type Buffer[T any] struct {
	a   *allocation
	off int64 // bytes
	n   int
}

// allocation is one piece of memory, shared by the buffers that view it.
type allocation struct {
	*memory
	host []uint64 // the CPU device's memory, 8-byte aligned
}

// memory is what outlives an allocation that nobody freed: the collector's
// clean-up gives it back.
type memory struct {
	dev    *Device
	ptr    driver.Ptr
	bytes  int64
	stream driver.Stream // of the queue that allocated it
	shared atomic.Bool   // another queue used it too
	freed  atomic.Bool
}

// release gives the memory back, once.
func (m *memory) release() {
	if m.freed.Swap(true) {
		return
	}
	m.dev.inUse.Add(-m.bytes)
	if m.dev.drv == nil {
		return
	}
	s := m.stream
	if m.shared.Load() {
		s = nil
	}
	// A failure here is sticky in the driver and shows at the next call.
	_ = m.dev.drv.Free(s, m.ptr)
}

// use notes that q works on the memory.
func (m *memory) use(q *Queue) {
	if m.stream != q.stream && !m.shared.Load() {
		m.shared.Store(true)
	}
}

func sizeOf[T any]() int64 {
	var z T
	return int64(unsafe.Sizeof(z))
}

// Alloc returns a buffer of n elements with undefined contents.
func Alloc[T any](q *Queue, n int) (Buffer[T], error) {
	if err := q.Err(); err != nil {
		return Buffer[T]{}, err
	}
	bytes := int64(n) * sizeOf[T]()
	if n < 0 || (n > 0 && bytes/int64(n) != sizeOf[T]()) {
		return Buffer[T]{}, usage(q.dev.name, "alloc", "%d elements", n)
	}
	if n == 0 {
		return Buffer[T]{}, nil
	}
	m := &memory{dev: q.dev, bytes: (bytes + 7) &^ 7, stream: q.stream}
	if m.bytes < bytes {
		return Buffer[T]{}, usage(q.dev.name, "alloc", "%d elements", n)
	}
	if err := q.dev.reserve(m.bytes); err != nil {
		return Buffer[T]{}, err
	}
	a := &allocation{memory: m}
	if q.stream == nil {
		a.host = make([]uint64, m.bytes/8)
	} else {
		p, err := q.dev.drv.Alloc(q.stream, m.bytes)
		if err != nil {
			q.dev.inUse.Add(-m.bytes)
			return Buffer[T]{}, q.dev.wrap(err)
		}
		m.ptr = p
	}
	// Error paths drop buffers without freeing them.
	runtime.AddCleanup(a, (*memory).release, m)
	b := Buffer[T]{a: a, n: n}
	if q.dev.poison.Load() {
		if err := (Buffer[uint32]{a: a, n: int(m.bytes / 4)}).Fill(q, 0xA5A5A5A5); err != nil {
			b.Free()
			return Buffer[T]{}, err
		}
	}
	return b, nil
}

// enqueue does a copy or fill on a, which stays allocated until it is enqueued:
// the collector may otherwise free a buffer after its last use in the program.
func (q *Queue) enqueue(name string, bytes int64, a *allocation, op func() error) error {
	var err error
	if q.trace != nil {
		err = q.trace.run(TraceCopy, name, bytes, op)
	} else {
		err = op()
	}
	runtime.KeepAlive(a)
	return q.done(err)
}

// Upload allocates a buffer and fills it with src.
func Upload[T any](q *Queue, src []T) (Buffer[T], error) {
	b, err := Alloc[T](q, len(src))
	if err != nil {
		return b, err
	}
	if err := b.CopyFrom(q, src); err != nil {
		b.Free() // it may be large, and the collector does not see a device's memory
		return Buffer[T]{}, err
	}
	return b, nil
}

// Len is the number of elements.
func (b Buffer[T]) Len() int { return b.n }

// Slice is the elements [i, j), sharing memory.
func (b Buffer[T]) Slice(i, j int) Buffer[T] {
	if i < 0 || j < i || j > b.n {
		panic("device: slice out of range") // like a Go slice: a bug, not an input
	}
	return Buffer[T]{a: b.a, off: b.off + int64(i)*sizeOf[T](), n: j - i}
}

// View is b's memory as elements of another type; b's size must be a whole
// number of them.
func View[U, T any](b Buffer[T]) Buffer[U] {
	bytes := int64(b.n) * sizeOf[T]()
	if bytes%sizeOf[U]() != 0 {
		panic("device: view of a part of an element")
	}
	return Buffer[U]{a: b.a, off: b.off, n: int(bytes / sizeOf[U]())}
}

// Host is the memory itself, for the Go twins of operations; it is nil unless
// the buffer lives on the CPU device.
func (b Buffer[T]) Host() []T {
	if b.n == 0 || b.a.host == nil {
		return nil
	}
	p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.a.host)), b.off)
	return unsafe.Slice((*T)(p), b.n)
}

// Arg is the buffer's address as a kernel argument.
func (b Buffer[T]) Arg() Arg {
	if b.n == 0 {
		return Null()
	}
	return Arg{value: uint64(b.a.ptr) + uint64(b.off), pointer: true, a: b.a}
}

// Address is the buffer's address on its device, for tables of addresses that
// kernels read; 0 if the buffer is empty or on the CPU device. Unlike Arg's it
// escapes all checks, which Use makes up for: the buffer must live until the work that uses it is done.
func (b Buffer[T]) Address() uint64 {
	if b.n == 0 || b.a.host != nil {
		return 0
	}
	return uint64(b.a.ptr) + uint64(b.off)
}

func (b Buffer[T]) ptr() driver.Ptr { return b.a.ptr + driver.Ptr(b.off) }

func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), int64(len(s))*sizeOf[T]())
}

func (b Buffer[T]) check(q *Queue, op string, n int) error {
	if err := q.Err(); err != nil {
		return err
	}
	if n != b.n {
		return usage(q.dev.name, op, "%d elements, buffer has %d", n, b.n)
	}
	if b.n == 0 {
		return nil
	}
	if b.a.dev != q.dev || b.a.freed.Load() {
		return usage(q.dev.name, op, "buffer of %s, freed %v", b.a.dev.name, b.a.freed.Load())
	}
	b.a.use(q)
	return nil
}

// Use says whether operations on q may work on b's memory: it is an ErrUsage
// where that belongs to another device or was given back. It is for operations
// that take Host or Address, which check nothing, and notes that q works on the
// memory, as those of this package do. An empty buffer may be used anywhere.
func (b Buffer[T]) Use(q *Queue) error { return b.check(q, "use", b.n) }

// Overlap says whether two buffers share memory.
func Overlap[T, U any](a Buffer[T], b Buffer[U]) bool {
	return a.n > 0 && b.n > 0 && a.a == b.a &&
		a.off < b.off+int64(b.n)*sizeOf[U]() && b.off < a.off+int64(a.n)*sizeOf[T]()
}

// CopyFrom enqueues a copy of src, which must have b's length, into b.
func (b Buffer[T]) CopyFrom(q *Queue, src []T) error {
	if err := b.check(q, "copy to device", len(src)); err != nil || b.n == 0 {
		return err
	}
	if q.stream == nil {
		copy(b.Host(), src)
		return nil
	}
	bytes := int64(b.n) * sizeOf[T]()
	q.stats.BytesIn += bytes
	return q.enqueue("copy to device", bytes, b.a, func() error { return q.stream.CopyIn(b.ptr(), bytesOf(src)) })
}

// CopyTo waits for the queue and copies b into dst, which must have b's length.
func (b Buffer[T]) CopyTo(q *Queue, dst []T) error {
	if err := b.check(q, "copy from device", len(dst)); err != nil || b.n == 0 {
		return err
	}
	if q.stream == nil {
		copy(dst, b.Host())
		return nil
	}
	q.stats.Syncs++
	bytes := int64(b.n) * sizeOf[T]()
	q.stats.BytesOut += bytes
	err := q.trace.wait(TraceCopy, "copy from device", bytes, func() error { return q.stream.CopyOut(bytesOf(dst), b.ptr()) })
	runtime.KeepAlive(b.a)
	return q.done(err)
}

// Read waits for the queue and returns b's contents.
func (b Buffer[T]) Read(q *Queue) ([]T, error) {
	out := make([]T, b.n)
	return out, b.CopyTo(q, out)
}

// Copy enqueues a copy of src to dst, of equal length and without overlap.
func Copy[T any](q *Queue, dst, src Buffer[T]) error {
	if err := dst.check(q, "copy", src.n); err != nil {
		return err
	}
	if err := src.check(q, "copy", dst.n); err != nil || dst.n == 0 {
		return err
	}
	if q.stream == nil {
		copy(dst.Host(), src.Host())
		return nil
	}
	bytes := int64(dst.n) * sizeOf[T]()
	err := q.enqueue("copy", bytes, dst.a, func() error { return q.stream.CopyDevice(dst.ptr(), src.ptr(), bytes) })
	runtime.KeepAlive(src.a)
	return err
}

// Fill sets every 32-bit word of b; T's size must be a multiple of 4 bytes.
func (b Buffer[T]) Fill(q *Queue, word uint32) error {
	if err := b.check(q, "fill", b.n); err != nil || b.n == 0 {
		return err
	}
	bytes := int64(b.n) * sizeOf[T]()
	if bytes%4 != 0 {
		return usage(q.dev.name, "fill", "%d bytes", bytes)
	}
	if q.stream == nil {
		w := View[uint32](b).Host()
		for i := range w {
			w[i] = word
		}
		return nil
	}
	return q.enqueue("fill", bytes, b.a, func() error { return q.stream.Fill(b.ptr(), word, bytes) })
}

// Zero clears b.
func (b Buffer[T]) Zero(q *Queue) error { return b.Fill(q, 0) }

// Free gives the memory of b's whole allocation back, once work enqueued so
// far no longer needs it. Further use of any Buffer that shares it is an
// error. Freeing twice is harmless.
func (b Buffer[T]) Free() {
	if b.a == nil {
		return
	}
	b.a.release()
	b.a.host = nil
}
