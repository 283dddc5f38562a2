//go:build (linux || darwin) && (amd64 || arm64)

package simt

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
)

const (
	alignment    = 256
	guard        = 256       // bytes between buffers that the sanitizer watches
	sharedLimit  = 227 << 10 // dynamic shared memory of a block, as on sm_90
	inlineCopy   = 16 << 10  // copies up to this size go through the pipe
	maxArguments = 1 << 12
)

// Driver is the SIMT device.
type Driver struct {
	config Config
	build  *builder

	mu    sync.Mutex
	child *child
	arena *arena
	names []string // of kernels, by Func
}

var _ driver.Driver = (*Driver)(nil)

// Open builds the emulator if need be and starts it.
func Open(c Config) (*Driver, error) {
	c = c.withDefaults()
	b, err := newBuilder(c)
	if err != nil {
		return nil, err
	}
	host, err := b.host()
	if err != nil {
		return nil, err
	}
	p, err := startChild(host, c)
	if err != nil {
		return nil, &driver.Error{Op: "open", Text: err.Error(), Class: driver.ErrUnavailable}
	}
	return &Driver{config: c, build: b, child: p, arena: newArena(c.Memory)}, nil
}

// Info describes the emulator.
func (d *Driver) Info() driver.Info {
	return driver.Info{Name: "SIMT emulator", Compiler: d.build.version, Arch: "simt",
		SMs: d.config.Threads, SharedPerBlock: sharedLimit, TotalMemory: d.config.Memory}
}

// Dead says whether a kernel took the emulator down; a new one can be opened.
func (d *Driver) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.child.err != nil
}

// Memory of the emulated device.
func (d *Driver) Memory() (free, total int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.arena.left, d.config.Memory, nil
}

// Alloc returns memory. All streams are one queue here, so that memory freed
// earlier can be reused at once.
func (d *Driver) Alloc(_ driver.Stream, bytes int64) (driver.Ptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.child.err != nil {
		return 0, d.child.err
	}
	n := (bytes + alignment - 1) &^ (alignment - 1)
	if d.config.Sanitize {
		n += guard
	}
	at, ok := int64(0), false
	if bytes > 0 && n >= bytes {
		at, ok = d.arena.alloc(n)
	}
	if !ok {
		return 0, &driver.Error{Op: "alloc", Bytes: bytes, Text: "the emulator's memory is full", Class: driver.ErrNoMemory}
	}
	p := d.child.base + uint64(at)
	if d.config.Sanitize {
		d.child.begin(opUnpoison)
		d.child.words(p, uint64(bytes))
		if err := d.child.send(); err != nil {
			return 0, err
		}
	}
	return driver.Ptr(p), nil
}

// Free takes memory back.
func (d *Driver) Free(_ driver.Stream, p driver.Ptr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.arena.release(int64(uint64(p) - d.child.base))
	if n == 0 {
		return &driver.Error{Op: "free", Text: fmt.Sprintf("%#x is not the start of an allocation", p), Class: driver.ErrUsage}
	}
	if !d.config.Sanitize || d.child.err != nil {
		return d.child.err
	}
	d.child.begin(opPoison)
	d.child.words(uint64(p), uint64(n))
	return d.child.send()
}

// Load compiles s if need be and loads it.
func (d *Driver) Load(s *kernel.Source) (map[string]driver.Func, error) {
	f, err := d.load(s, false)
	var refused errRefused
	if errors.As(err, &refused) {
		// A cached file that does not load was cut short or comes from
		// another system.
		f, err = d.load(s, true)
	}
	if errors.As(err, &refused) {
		err = &driver.Error{Op: "load " + s.Name, Text: err.Error(), Class: driver.ErrUsage}
	}
	return f, err
}

func (d *Driver) load(s *kernel.Source, again bool) (map[string]driver.Func, error) {
	path, entries, err := d.build.module(s, again)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.child
	p.begin(opLoad)
	p.buf = append(append(p.buf, path...), 0)
	for _, e := range entries {
		p.buf = append(append(p.buf, e.Name...), 0)
	}
	if err := p.send(); err != nil {
		return nil, err
	}
	if _, err := p.reply(); err != nil {
		return nil, err
	}
	// Kernels are numbered from 0 in the order they are loaded.
	out := map[string]driver.Func{}
	for _, e := range entries {
		out[e.Name] = driver.Func(len(d.names))
		d.names = append(d.names, e.Name)
	}
	return out, nil
}

// NewStream returns a stream. What streams enqueue runs in the order in which it
// was enqueued, over all of them.
func (d *Driver) NewStream() (driver.Stream, error) { return &stream{d}, nil }

// Close ends the emulator.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.child.release()
	return nil
}

type stream struct{ d *Driver }

// at returns the bytes of device memory [p, p+n).
func (d *Driver) at(op string, p driver.Ptr, n int64) ([]byte, error) {
	off := uint64(p) - d.child.base
	if n < 0 || off > uint64(d.config.Memory) || uint64(n) > uint64(d.config.Memory)-off {
		return nil, &driver.Error{Op: op, Text: fmt.Sprintf("%#x is outside device memory", p), Bytes: n, Class: driver.ErrUsage}
	}
	if d.child.err != nil {
		return nil, d.child.err
	}
	return d.child.memory[off : off+uint64(n)], nil
}

func (s *stream) CopyIn(dst driver.Ptr, src []byte) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	to, err := d.at("copy to device", dst, int64(len(src)))
	if err != nil {
		return err
	}
	if len(src) > inlineCopy {
		if err := d.child.sync(); err != nil {
			return err
		}
		copy(to, src)
		return nil
	}
	d.child.begin(opWrite)
	d.child.words(uint64(dst))
	d.child.buf = append(d.child.buf, src...)
	return d.child.send()
}

func (s *stream) CopyOut(dst []byte, src driver.Ptr) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	from, err := d.at("copy from device", src, int64(len(dst)))
	if err != nil {
		return err
	}
	if err := d.child.sync(); err != nil {
		return err
	}
	copy(dst, from)
	return nil
}

func (s *stream) CopyDevice(dst, src driver.Ptr, bytes int64) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range []driver.Ptr{dst, src} {
		if _, err := d.at("copy", p, bytes); err != nil {
			return err
		}
	}
	d.child.begin(opCopy)
	d.child.words(uint64(dst), uint64(src), uint64(bytes))
	return d.child.send()
}

func (s *stream) Fill(dst driver.Ptr, word uint32, bytes int64) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.at("fill", dst, bytes); err != nil {
		return err
	}
	d.child.begin(opFill)
	d.child.words(uint64(dst), uint64(bytes), uint64(word))
	return d.child.send()
}

func (s *stream) Launch(f driver.Func, grid, block driver.Dim, shared uint32, args []uint64) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if int(f) >= len(d.names) || len(args) > maxArguments {
		return &driver.Error{Op: "launch", Text: "no such kernel, or too many arguments", Class: driver.ErrUsage}
	}
	if shared > sharedLimit {
		return &driver.Error{Op: "launch " + d.names[f], Text: fmt.Sprintf("shared memory over the %d bytes of a block", sharedLimit), Bytes: int64(shared), Class: driver.ErrUsage}
	}
	d.child.begin(opLaunch)
	d.child.words(uint64(f), uint64(grid.X), uint64(grid.Y), uint64(grid.Z), uint64(block.X), uint64(block.Y), uint64(block.Z), uint64(shared))
	d.child.words(args...)
	return d.child.send()
}

func (s *stream) Sync() error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.d.child.sync()
}

func (s *stream) Close() error {
	if s.d.Dead() {
		return nil
	}
	return s.Sync()
}
