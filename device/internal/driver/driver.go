// Package driver is the narrow interface between package device and the
// machines that run CUDA kernels: a real card, or the SIMT emulator.
package driver

import (
	"time"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/kernel"
)

// Ptr is an address in device memory; 0 is no address.
type Ptr uint64

// Dim is the extent of a grid or block.
type Dim struct{ X, Y, Z uint32 }

// Info describes one device.
type Info struct {
	Name           string // as the driver spells it
	Driver         string // driver version, "" where there is none
	Compiler       string // "NVRTC 13.0", "g++ 12.2.0"
	Arch           string // "sm_90", "simt"
	SMs            int
	SharedPerBlock int // bytes, with opt-in
	TotalMemory    int64
}

// Func is a loaded kernel, opaque to callers.
type Func uint64

// Driver is one device. Methods are safe for concurrent use.
type Driver interface {
	Info() Info
	// Memory returns free and total device memory in bytes.
	Memory() (free, total int64, err error)
	// Alloc returns memory for work on s.
	Alloc(s Stream, bytes int64) (Ptr, error)
	// Free takes memory back once the work enqueued so far no longer needs it:
	// the work of s alone, or that of every stream if s is nil.
	Free(s Stream, p Ptr) error
	// Load compiles s if need be, loads it, and returns its kernels by name.
	Load(s *kernel.Source) (map[string]Func, error)
	NewStream() (Stream, error)
	Close() error
}

// Stream is an ordered queue of work. A stream is used by one goroutine at a
// time, though not always from the same thread.
type Stream interface {
	// CopyIn enqueues a copy to the device; src may be reused on return.
	CopyIn(dst Ptr, src []byte) error
	// CopyOut waits for the stream and copies from the device.
	CopyOut(dst []byte, src Ptr) error
	CopyDevice(dst, src Ptr, bytes int64) error
	// Fill enqueues a fill with the 32-bit word; bytes is a multiple of 4.
	Fill(dst Ptr, word uint32, bytes int64) error
	Launch(f Func, grid, block Dim, shared uint32, args []uint64) error
	Sync() error
	Close() error
}

// Cache is a Driver that keeps freed memory for reuse.
type Cache interface {
	Cached() int64 // bytes
	Trim() error   // give them back
}

// Timer is a Stream that can time its work on the device.
type Timer interface {
	// Mark enqueues a time stamp.
	Mark() (Mark, error)
	// Elapsed is the time between two marks that the stream has reached.
	Elapsed(from, to Mark) (time.Duration, error)
	Drop(Mark) error
}

// Mark is a time stamp in a stream's work, opaque to callers.
type Mark any

// Recorder is a Stream that can keep launches for later instead of running them.
type Recorder interface {
	// Record calls op and returns what it launched on the stream.
	Record(op func() error) (Graph, error)
}

// Graph is recorded launches.
type Graph interface {
	Launch() error // on the stream that it was recorded on
	Close() error
}

// Pinner is a Driver with page-locked host memory, which its device reads and
// writes while the program runs on. All devices of one kind may use it.
type Pinner interface {
	AllocHost(bytes int64) (unsafe.Pointer, error)
	// FreeHost takes memory back that no work still needs.
	FreeHost(unsafe.Pointer) error
	// Drain waits for all work that was enqueued on the device so far.
	Drain() error
}

// Async is a Stream beside which others run.
type Async interface {
	// CopyInPinned enqueues a copy from page-locked memory, which must neither
	// change nor go away before it is done.
	CopyInPinned(dst Ptr, src []byte) error
	// CopyOutPinned enqueues a copy to page-locked memory.
	CopyOutPinned(dst []byte, src Ptr) error
	// After makes work enqueued from now on wait for what was enqueued on
	// other, a stream of the same kind and perhaps of another device. It is
	// false if other is of another kind.
	After(other Stream) (bool, error)
}
