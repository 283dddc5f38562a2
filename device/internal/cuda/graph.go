//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// graph is launches that a stream was told of but has not run.
type graph struct {
	s    *stream
	exec uintptr
}

// Record calls op, whose launches on s become a graph instead of running.
func (s *stream) Record(op func() error) (driver.Graph, error) {
	if s.streamBeginCapture == 0 || s.streamEndCapture == 0 || s.graphInstantiate == 0 || s.graphLaunch == 0 || s.graphExecDestroy == 0 || s.graphDestroy == 0 {
		return nil, &driver.Error{Op: "record", Text: s.path + " has no graphs", Class: driver.ErrUnavailable}
	}
	// A fence that another goroutine takes meanwhile would put an event into the
	// recording, and such an event can never be asked whether it has passed. So fences
	// leave the stream out until the end; they need not know of what it did before.
	if err := s.Sync(); err != nil {
		return nil, err
	}
	s.hide(true)
	defer s.hide(false)
	// Relaxed: what other goroutines do meanwhile on this thread is theirs.
	const relaxed = 2
	if err := s.do("begin a recording", s.streamBeginCapture, s.handle, relaxed); err != nil {
		return nil, err
	}
	failed := op()
	var recorded uintptr
	if err := errors.Join(failed, s.do("end a recording", s.streamEndCapture, s.handle, uintptr(unsafe.Pointer(&recorded)))); err != nil {
		if recorded != 0 {
			_ = s.do("destroy a graph", s.graphDestroy, recorded)
		}
		return nil, err
	}
	g := &graph{s: s}
	err := s.do("instantiate a graph", s.graphInstantiate, uintptr(unsafe.Pointer(&g.exec)), recorded, 0)
	if err = errors.Join(err, s.do("destroy a graph", s.graphDestroy, recorded)); err != nil {
		return nil, err
	}
	return g, nil
}

// Launch enqueues everything recorded, on the stream that it was recorded on.
func (g *graph) Launch() error {
	return g.s.do("launch a graph", g.s.graphLaunch, g.exec, g.s.handle)
}

// Close releases the graph; the driver waits for runs of it.
func (g *graph) Close() error {
	if g.exec == 0 {
		return nil
	}
	exec := g.exec
	g.exec = 0
	return g.s.do("destroy a graph", g.s.graphExecDestroy, exec)
}

// hide takes the stream out of those that fences wait for, or puts it back.
func (s *stream) hide(hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hidden {
		delete(s.streams, s)
	} else {
		s.streams[s] = true
	}
}
