//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"time"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// stream is a CUDA stream that does not wait for the legacy default one.
type stream struct {
	*Device
	handle uintptr
	launch *launch
	words  []uintptr // argument list of the launch call, reused
	ring   ring
	wide   []*chunk // of large copies to the device, a goroutine each
	closed bool
}

// NewStream returns an empty stream.
func (d *Device) NewStream() (driver.Stream, error) {
	const nonBlocking = 1
	s := &stream{Device: d, words: make([]uintptr, 11)}
	s.ring.s = s
	if err := d.do("create a stream", d.streamCreate, uintptr(unsafe.Pointer(&s.handle)), nonBlocking); err != nil {
		return nil, err
	}
	var err error
	if s.launch, err = d.launchBlock(); err != nil {
		_ = d.do("destroy a stream", d.streamDestroy, s.handle)
		return nil, err
	}
	d.mu.Lock()
	d.streams[s] = true
	d.mu.Unlock()
	d.pool.attach(s)
	return s, nil
}

// Launch enqueues a kernel.
func (s *stream) Launch(f driver.Func, grid, block driver.Dim, shared uint32, args []uint64) error {
	if len(args) > maxArgs {
		return &driver.Error{Op: s.launchOp(f), Text: "too many arguments", Class: driver.ErrUsage}
	}
	if shared > 0 {
		if err := s.allowShared(f, shared); err != nil {
			return err
		}
	}
	copy(s.launch.values[:], args)
	w := s.words
	w[0] = uintptr(f)
	w[1], w[2], w[3] = uintptr(grid.X), uintptr(grid.Y), uintptr(grid.Z)
	w[4], w[5], w[6] = uintptr(block.X), uintptr(block.Y), uintptr(block.Z)
	w[7], w[8] = uintptr(shared), s.handle
	w[9], w[10] = uintptr(unsafe.Pointer(&s.launch.pointers)), 0 // no extra
	if s.dead.Load() != nil {
		return s.alive(s.launchOp(f))
	}
	if err := s.enter("launch"); err != nil {
		return err
	}
	r := result(dl.CallWords(s.launchKernel, w))
	s.leave()
	if r != success {
		return s.fail(s.launchOp(f), r)
	}
	return nil
}

func (s *stream) launchOp(f driver.Func) string {
	if v, ok := s.funcs.Load(f); ok {
		return "launch " + v.(*function).name
	}
	return "launch"
}

// CopyDevice enqueues a copy within the device.
func (s *stream) CopyDevice(dst, src driver.Ptr, bytes int64) error {
	return s.do("copy", s.memcpyDtoD, uintptr(dst), uintptr(src), uintptr(bytes), s.handle)
}

// Fill enqueues a fill with word.
func (s *stream) Fill(dst driver.Ptr, word uint32, bytes int64) error {
	return s.do("fill", s.memsetD32, uintptr(dst), uintptr(word), uintptr(bytes/4), s.handle)
}

// Sync waits for all work of the stream.
func (s *stream) Sync() error {
	if err := s.do("synchronize", s.streamSynchronize, s.handle); err != nil {
		return err
	}
	s.ring.reset()
	return nil
}

// Close waits for all work and releases the stream.
func (s *stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.Sync()
	s.mu.Lock()
	delete(s.streams, s) // no fence records on it from here on
	s.blocks = append(s.blocks, s.launch)
	s.mu.Unlock()
	if err == nil {
		err = s.Sync() // a fence may have been recorded after the work
	}
	if err != nil {
		return err // a dead context keeps its streams
	}
	s.ring.release()
	s.pool.detach(s)
	return s.do("destroy a stream", s.streamDestroy, s.handle)
}

// mark is a point in the stream's work: an event with timing.
type mark struct{ event uintptr }

// Mark enqueues a time stamp.
func (s *stream) Mark() (driver.Mark, error) {
	m := new(mark)
	if s.eventElapsedTime == 0 {
		return nil, &driver.Error{Op: "mark", Text: s.path + " lacks cuEventElapsedTime", Class: driver.ErrUnavailable}
	}
	if err := s.do("create an event", s.eventCreate, uintptr(unsafe.Pointer(&m.event)), 0); err != nil {
		return nil, err
	}
	return m, s.do("record an event", s.eventRecord, m.event, s.handle)
}

// Elapsed is the device's time from one mark to a later one, both reached.
func (s *stream) Elapsed(from, to driver.Mark) (time.Duration, error) {
	a, ok1 := from.(*mark)
	b, ok2 := to.(*mark)
	if !ok1 || !ok2 {
		return 0, &driver.Error{Op: "elapsed time", Text: "not marks of this device", Class: driver.ErrUsage}
	}
	var ms float32
	err := s.do("elapsed time", s.eventElapsedTime, uintptr(unsafe.Pointer(&ms)), a.event, b.event)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Drop releases a mark.
func (s *stream) Drop(m driver.Mark) error {
	if m, ok := m.(*mark); ok && m.event != 0 {
		e := m.event
		m.event = 0
		return s.do("destroy an event", s.eventDestroy, e)
	}
	return nil
}
