package cuda

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// pool hands out device memory and keeps what is given back for the next
// request of its size, since the driver's own calls synchronise the device.
//
// Reuse follows stream order. Memory that one stream alone used goes back to
// that stream, whose later work runs after all that still needs it. Memory
// that several streams used waits behind a fence over all of them, and can
// then go anywhere.
type pool struct {
	raw rawMemory

	mu     sync.Mutex
	live   map[driver.Ptr]int64 // blocks handed out, by size class
	idle   map[driver.Stream]map[int64][]driver.Ptr
	fenced map[int64][]fencedBlock
	cached int64 // bytes in idle and fenced
}

// rawMemory is where a pool gets memory from.
type rawMemory interface {
	alloc(bytes int64) (driver.Ptr, error)
	free(driver.Ptr) error
	// fence is a point after all work enqueued so far on every stream.
	fence() (fence, error)
}

type fence interface {
	passed() (bool, error)
	drop() // done with it
}

type fencedBlock struct {
	ptr driver.Ptr
	f   fence // nil: passed long ago
}

func newPool(raw rawMemory) *pool {
	return &pool{raw: raw, live: map[driver.Ptr]int64{}, idle: map[driver.Stream]map[int64][]driver.Ptr{}, fenced: map[int64][]fencedBlock{}}
}

// sizeClass rounds up so that three bits follow the leading one: at most an
// eighth is wasted. Small blocks are multiples of 512 bytes.
func sizeClass(bytes int64) int64 {
	const least = 512
	step := int64(least)
	if n := bits.Len64(uint64(bytes)); n > 12 {
		step = 1 << (n - 4)
	}
	return (bytes + step - 1) / step * step
}

// attach makes s a stream that memory can go back to.
func (p *pool) attach(s driver.Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[s] = map[int64][]driver.Ptr{}
}

// detach takes s, whose work is done, out; its memory can go to any stream.
func (p *pool) detach(s driver.Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for class, list := range p.idle[s] {
		for _, ptr := range list {
			p.fenced[class] = append(p.fenced[class], fencedBlock{ptr: ptr})
		}
	}
	delete(p.idle, s)
}

func (p *pool) alloc(s driver.Stream, bytes int64) (driver.Ptr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	class := sizeClass(bytes)
	ptr, err := p.reuse(s, class)
	if err != nil {
		return 0, err
	}
	if ptr == 0 {
		ptr, err = p.raw.alloc(class)
		if errors.Is(err, driver.ErrNoMemory) && p.cached > 0 {
			if err = p.trim(); err == nil {
				ptr, err = p.raw.alloc(class)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	p.live[ptr] = class
	return ptr, nil
}

// reuse finds a block of the class that s may use, 0 if there is none.
func (p *pool) reuse(s driver.Stream, class int64) (driver.Ptr, error) {
	if list := p.idle[s][class]; len(list) > 0 {
		ptr := list[len(list)-1]
		p.idle[s][class] = list[:len(list)-1]
		p.cached -= class
		return ptr, nil
	}
	list := p.fenced[class]
	for i, b := range list {
		if b.f != nil {
			ok, err := b.f.passed()
			if err != nil {
				return 0, err
			}
			if !ok {
				continue
			}
			b.f.drop()
		}
		list[i] = list[len(list)-1]
		list[len(list)-1] = fencedBlock{}
		p.fenced[class] = list[:len(list)-1]
		p.cached -= class
		return b.ptr, nil
	}
	return 0, nil
}

// free takes back a block that s alone used, or several streams if s is nil.
func (p *pool) free(s driver.Stream, ptr driver.Ptr) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	class, ok := p.live[ptr]
	if !ok {
		return &driver.Error{Op: "free", Text: "not an address that was handed out", Class: driver.ErrUsage}
	}
	delete(p.live, ptr)
	if byClass, ok := p.idle[s]; ok && s != nil {
		byClass[class] = append(byClass[class], ptr)
		p.cached += class
		return nil
	}
	f, err := p.raw.fence()
	if err != nil {
		return err // the device failed; the block is lost with it
	}
	p.fenced[class] = append(p.fenced[class], fencedBlock{ptr, f})
	p.cached += class
	return nil
}

// trim gives all cached memory back to the driver, whose free waits for the
// work that uses it.
func (p *pool) trim() error {
	var first error
	give := func(ptr driver.Ptr) {
		if err := p.raw.free(ptr); err != nil && first == nil {
			first = err
		}
	}
	for s, byClass := range p.idle {
		for _, list := range byClass {
			for _, ptr := range list {
				give(ptr)
			}
		}
		p.idle[s] = map[int64][]driver.Ptr{}
	}
	for _, list := range p.fenced {
		for _, b := range list {
			if b.f != nil {
				b.f.drop()
			}
			give(b.ptr)
		}
	}
	p.fenced = map[int64][]fencedBlock{}
	p.cached = 0
	return first
}
