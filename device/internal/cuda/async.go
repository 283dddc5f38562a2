//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

var (
	_ driver.Pinner = (*Device)(nil)
	_ driver.Async  = (*stream)(nil)
)

// AllocHost returns page-locked memory.
func (d *Device) AllocHost(bytes int64) (unsafe.Pointer, error) {
	p, err := d.hostAlloc(int(bytes))
	if e := (*driver.Error)(nil); errors.As(err, &e) {
		e.Bytes = bytes
	}
	return p, err
}

// FreeHost gives page-locked memory back.
func (d *Device) FreeHost(p unsafe.Pointer) error {
	return d.do("free page-locked memory", d.memFreeHost, uintptr(p))
}

// Drain waits for all work that was enqueued on any stream so far.
func (d *Device) Drain() error {
	f, err := (*deviceMemory)(d).fence()
	if err != nil {
		return err
	}
	defer f.drop()
	for _, e := range f.(*events).list {
		if err := d.do("wait for a stream", d.eventSynchronize, e); err != nil {
			return err
		}
	}
	return nil
}

// CopyInPinned enqueues a copy of page-locked memory to the device.
func (s *stream) CopyInPinned(dst driver.Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return s.do("copy to device", s.memcpyHtoD, uintptr(dst), uintptr(unsafe.Pointer(&src[0])), uintptr(len(src)), s.handle)
}

// CopyOutPinned enqueues a copy to page-locked memory.
func (s *stream) CopyOutPinned(dst []byte, src driver.Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	return s.fetch(dst, src)
}

// After makes work that s is given from now on wait for what was enqueued on other.
func (s *stream) After(other driver.Stream) (bool, error) {
	o, ok := other.(*stream)
	if !ok {
		return false, nil
	}
	if o == s {
		return true, nil
	}
	// An event is recorded in the context of its own device; a stream of any
	// device may wait for it.
	o.mu.Lock()
	if !o.streams[o] {
		o.mu.Unlock()
		return true, nil // closed: it was waited for
	}
	e, err := o.event()
	o.mu.Unlock()
	if err != nil {
		return true, err
	}
	err = o.do("record an event", o.eventRecord, e, o.handle)
	if err == nil {
		const plain = 0
		err = s.do("wait for a stream", s.streamWaitEvent, s.handle, e, plain)
	}
	// The wait is for the recording that it found: the event may be used again.
	o.mu.Lock()
	o.events = append(o.events, e)
	o.mu.Unlock()
	return true, err
}
