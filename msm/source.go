package msm

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// source is where a multiplication's scalars are.
type source interface {
	// words are the scalars of the points [from, to), in buf or where they lie anyway,
	// for work on q.
	words(q *device.Queue, buf device.Buffer[uint32], from, to int) (device.Buffer[uint32], error)
	// upload says whether words needs buf.
	upload() bool
	// link is how fast words is, in bytes a second, 0 where nothing is copied.
	link() float64
}

// hostSource is scalars in the caller's memory.
type hostSource struct {
	all   []uint32
	limbs int
}

func (s hostSource) upload() bool { return true }

// link is what the copy to page-locked memory leaves.
func (s hostSource) link() float64 { return 20e9 }

func (s hostSource) words(q *device.Queue, buf device.Buffer[uint32], from, to int) (device.Buffer[uint32], error) {
	return buf, buf.CopyFrom(q, s.all[from*s.limbs:to*s.limbs])
}

// pinnedSource is scalars in page-locked memory.
type pinnedSource[S any] struct{ all device.Pinned[S] }

func (s pinnedSource[S]) upload() bool { return true }

// link is PCI Express 5 with 16 lanes, measured on an H100.
func (s pinnedSource[S]) link() float64 { return 55e9 }

func (s pinnedSource[S]) words(q *device.Queue, buf device.Buffer[uint32], from, to int) (device.Buffer[uint32], error) {
	return buf, device.View[S](buf).CopyFromPinned(q, s.all.Slice(from, to))
}

// bufferSource is scalars on the device.
type bufferSource struct {
	all   device.Buffer[uint32]
	limbs int
}

// upload says whether scalars are where kernels cannot read them, as points may be.
func (s bufferSource) upload() bool { return s.all.Address()%16 != 0 }

func (s bufferSource) link() float64 { return 0 }

func (s bufferSource) words(q *device.Queue, buf device.Buffer[uint32], from, to int) (device.Buffer[uint32], error) {
	if err := s.all.Use(q); err != nil {
		return s.all, fmt.Errorf("scalars: %w", err)
	}
	there := s.all.Slice(from*s.limbs, to*s.limbs)
	if s.upload() {
		return buf, device.Copy(q, buf, there)
	}
	return there, nil
}
