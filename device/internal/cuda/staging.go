//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Copies between the host and the device go through page-locked memory: the
// driver reads and writes it while the Go program runs on, which it must not
// do with memory of the Go heap.

const (
	chunkBytes = 4 << 20
	ringChunks = 4
	alignment  = 256

	// Copies to the device that fill as many chunks are made by several goroutines, each
	// with a chunk of its own: one core copies at a fraction of the link's rate, and all of
	// them at one chunk after the other spend as long on handing it over.
	wideChunks = 4
	wideLanes  = 8
)

// chunk is a piece of page-locked memory.
type chunk struct {
	mem     []byte
	event   uintptr // recorded when the stream leaves the chunk
	pending bool    // event is recorded, work may still use mem
}

// ring is a stream's page-locked memory. Small copies share a chunk; one that
// does not fit goes to the next chunk, once the stream is done with that.
type ring struct {
	s      *stream
	chunks []*chunk
	at     int // the chunk in use
	used   int // bytes of it
}

// take returns n contiguous bytes, n <= chunkBytes.
func (r *ring) take(n int) ([]byte, error) {
	if len(r.chunks) == 0 {
		if err := r.grow(); err != nil {
			return nil, err
		}
	} else if r.used+n > chunkBytes {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	b := r.chunks[r.at].mem[r.used : r.used+n]
	r.used += (n + alignment - 1) &^ (alignment - 1)
	return b, nil
}

// next leaves the chunk in use for another.
func (r *ring) next() error {
	c := r.chunks[r.at]
	if err := r.s.do("record an event", r.s.eventRecord, c.event, r.s.handle); err != nil {
		return err
	}
	c.pending = true
	if len(r.chunks) < ringChunks {
		return r.grow()
	}
	r.at = (r.at + 1) % len(r.chunks)
	r.used = 0
	return r.wait(r.chunks[r.at])
}

// wait waits until the stream is done with c.
func (r *ring) wait(c *chunk) error {
	if !c.pending {
		return nil
	}
	if err := r.s.do("wait for a copy", r.s.eventSynchronize, c.event); err != nil {
		return err
	}
	c.pending = false
	return nil
}

// grow adds a chunk and makes it the one in use.
func (r *ring) grow() error {
	c, err := r.s.chunk()
	if err != nil {
		return err
	}
	r.chunks = append(r.chunks, c)
	r.at, r.used = len(r.chunks)-1, 0
	return nil
}

// fill makes the ring as long as it gets.
func (r *ring) fill() error {
	if len(r.chunks) == 0 {
		if err := r.grow(); err != nil {
			return err
		}
	}
	for len(r.chunks) < ringChunks {
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// reset makes the ring empty; the stream has just been waited for.
func (r *ring) reset() {
	r.used = 0
	for _, c := range append(r.chunks[:len(r.chunks):len(r.chunks)], r.s.wide...) {
		c.pending = false
	}
}

// release gives the chunks back for other streams.
func (r *ring) release() {
	r.s.mu.Lock()
	r.s.chunks, r.chunks = append(r.s.chunks, r.chunks...), nil
	r.s.chunks, r.s.wide = append(r.s.chunks, r.s.wide...), nil
	r.s.mu.Unlock()
}

// chunk returns a chunk not in use.
func (d *Device) chunk() (*chunk, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.chunks); n > 0 {
		c := d.chunks[n-1]
		d.chunks = d.chunks[:n-1]
		c.pending = false
		return c, nil
	}
	p, err := d.hostAlloc(chunkBytes)
	if err != nil {
		return nil, err
	}
	e, err := d.event()
	if err != nil {
		return nil, err
	}
	return &chunk{mem: unsafe.Slice((*byte)(p), chunkBytes), event: e}, nil
}

// move copies with the machine's cores.
func move(dst, src []byte) {
	const grain = 512 << 10
	parallel.For(len(src), grain, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
}

// CopyIn enqueues a copy of src to the device; src may be reused on return.
func (s *stream) CopyIn(dst driver.Ptr, src []byte) error {
	if lanes := min(wideLanes, runtime.GOMAXPROCS(0)); lanes > 1 && len(src) >= wideChunks*chunkBytes {
		chunks, err := s.widen(lanes)
		if err != nil {
			return err
		}
		if len(chunks) > 0 {
			return s.copyInWide(dst, src, chunks)
		}
	}
	for len(src) > 0 {
		n := min(len(src), chunkBytes)
		b, err := s.ring.take(n)
		if err != nil {
			return err
		}
		move(b, src[:n])
		if err := s.do("copy to device", s.memcpyHtoD, uintptr(dst), uintptr(unsafe.Pointer(&b[0])), uintptr(n), s.handle); err != nil {
			return err
		}
		dst += driver.Ptr(n)
		src = src[n:]
	}
	return nil
}

// widen is chunks for so many goroutines, or fewer where page-locked memory is short.
func (s *stream) widen(lanes int) ([]*chunk, error) {
	for len(s.wide) < lanes {
		c, err := s.chunk()
		if errors.Is(err, driver.ErrNoMemory) {
			return s.wide, nil
		}
		if err != nil {
			return nil, err
		}
		s.wide = append(s.wide, c)
	}
	return s.wide[:lanes], nil
}

// copyInWide is CopyIn by a goroutine for each chunk, which takes the next piece of src, a
// chunk long, when it has enqueued one.
func (s *stream) copyInWide(dst driver.Ptr, src []byte, chunks []*chunk) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, len(chunks))
	copyOne := func(c *chunk, from int) error {
		if err := s.ring.wait(c); err != nil {
			return err
		}
		b := c.mem[:min(chunkBytes, len(src)-from)]
		copy(b, src[from:])
		if err := s.do("copy to device", s.memcpyHtoD, uintptr(dst)+uintptr(from), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), s.handle); err != nil {
			return err
		}
		if err := s.do("record an event", s.eventRecord, c.event, s.handle); err != nil {
			return err
		}
		c.pending = true
		return nil
	}
	var all sync.WaitGroup
	for i, c := range chunks {
		all.Go(func() {
			for !failed.Load() {
				from := int(next.Add(chunkBytes)) - chunkBytes
				if from >= len(src) {
					return
				}
				if errs[i] = copyOne(c, from); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// CopyOut waits for the stream and copies from the device.
func (s *stream) CopyOut(dst []byte, src driver.Ptr) error {
	if len(dst) <= chunkBytes {
		if len(dst) == 0 {
			return s.Sync()
		}
		b, err := s.ring.take(len(dst))
		if err != nil {
			return err
		}
		if err := s.fetch(b, src); err != nil {
			return err
		}
		if err := s.Sync(); err != nil {
			return err
		}
		move(dst, b)
		return nil
	}
	// A pipeline: while the host empties one chunk, the device fills others.
	type piece struct{ host, pinned []byte }
	var pieces [ringChunks]piece
	if err := s.ring.fill(); err != nil {
		return err
	}
	empty := func(i int) error {
		if pieces[i].host == nil {
			return nil
		}
		if err := s.ring.wait(s.ring.chunks[i]); err != nil {
			return err
		}
		move(pieces[i].host, pieces[i].pinned)
		pieces[i].host = nil
		return nil
	}
	i := 0
	for ; len(dst) > 0; i = (i + 1) % ringChunks {
		if err := empty(i); err != nil {
			return err
		}
		n := min(len(dst), chunkBytes)
		c := s.ring.chunks[i]
		// What was in the chunk before is read by earlier work of this stream.
		pieces[i] = piece{dst[:n], c.mem[:n]}
		if err := s.fetch(c.mem[:n], src); err != nil {
			return err
		}
		if err := s.do("record an event", s.eventRecord, c.event, s.handle); err != nil {
			return err
		}
		c.pending = true
		dst, src = dst[n:], src+driver.Ptr(n)
	}
	for range ringChunks {
		if err := empty(i); err != nil {
			return err
		}
		i = (i + 1) % ringChunks
	}
	s.ring.reset()
	return nil
}

// fetch enqueues a copy to page-locked memory.
func (s *stream) fetch(b []byte, src driver.Ptr) error {
	return s.do("copy from device", s.memcpyDtoH, uintptr(unsafe.Pointer(&b[0])), uintptr(src), uintptr(len(b)), s.handle)
}
