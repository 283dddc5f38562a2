package cuda

import (
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// memoryStub gives out addresses and counts; its fences pass when told.
type memoryStub struct {
	next   driver.Ptr
	room   int64
	live   map[driver.Ptr]int64
	fences []*fenceStub
	err    error
}

type fenceStub struct {
	ok, dropped bool
	err         error
}

func (f *fenceStub) passed() (bool, error) { return f.ok, f.err }
func (f *fenceStub) drop()                 { f.dropped = true }

func (m *memoryStub) alloc(n int64) (driver.Ptr, error) {
	if n > m.room {
		return 0, &driver.Error{Op: "alloc", Bytes: n, Class: driver.ErrNoMemory}
	}
	m.room -= n
	m.next += 1 << 32
	m.live[m.next] = n
	return m.next, nil
}

func (m *memoryStub) free(p driver.Ptr) error {
	m.room += m.live[p]
	delete(m.live, p)
	return m.err
}

func (m *memoryStub) fence() (fence, error) {
	f := &fenceStub{}
	m.fences = append(m.fences, f)
	return f, m.err
}

type streamStub struct {
	driver.Stream
	_ int
}

func TestPoolReuse(t *testing.T) {
	m := &memoryStub{room: 1 << 30, live: map[driver.Ptr]int64{}}
	p := newPool(m)
	a, b := &streamStub{}, &streamStub{}
	p.attach(a)
	p.attach(b)
	x := must(p.alloc(a, 1000))(t)
	if err := p.free(a, x); err != nil {
		t.Fatal(err)
	}
	if y := must(p.alloc(b, 1000))(t); y == x {
		t.Fatal("memory moved to another stream without a fence")
	}
	if y := must(p.alloc(a, 900))(t); y != x { // the same size class
		t.Fatal("not reused on its own stream")
	}

	// Used by several streams: behind a fence, then free for all.
	if err := p.free(nil, x); err != nil {
		t.Fatal(err)
	}
	if len(m.fences) != 1 {
		t.Fatalf("%d fences", len(m.fences))
	}
	if y := must(p.alloc(a, 1000))(t); y == x {
		t.Fatal("reused before its fence")
	}
	m.fences[0].ok = true
	if y := must(p.alloc(b, 1000))(t); y != x || !m.fences[0].dropped {
		t.Fatal("not reused after its fence")
	}
	if err := p.free(b, x); err != nil {
		t.Fatal(err)
	}

	// A stream that ends leaves its memory to the others.
	p.detach(b)
	if y := must(p.alloc(a, 1000))(t); y != x {
		t.Fatal("memory of an ended stream is lost")
	}
	if err := p.free(b, x); err != nil { // freed by an ended stream: fenced
		t.Fatal(err)
	}
	if len(m.fences) != 2 {
		t.Fatal("memory of an ended stream went back without a fence")
	}
	if err := p.free(a, x); !errors.Is(err, driver.ErrUsage) {
		t.Errorf("freed twice: %v", err)
	}
}

func TestPoolTrim(t *testing.T) {
	m := &memoryStub{room: 10 << 20, live: map[driver.Ptr]int64{}}
	p := newPool(m)
	a := &streamStub{}
	p.attach(a)
	x, y := must(p.alloc(a, 4<<20))(t), must(p.alloc(a, 5<<20))(t)
	if err := errors.Join(p.free(a, x), p.free(nil, y)); err != nil {
		t.Fatal(err)
	}
	if p.cached != 9<<20 {
		t.Fatalf("%d bytes cached", p.cached)
	}
	// Does not fit beside the cache, which is given back for it.
	z := must(p.alloc(a, 8<<20))(t)
	if p.cached != 0 || len(m.live) != 1 {
		t.Fatalf("%d bytes cached, %d live", p.cached, len(m.live))
	}
	_, err := p.alloc(a, 3<<20)
	var e *driver.Error
	if !errors.As(err, &e) || e.Class != driver.ErrNoMemory || e.Bytes != 3<<20 {
		t.Fatalf("%v", err)
	}
	if err := p.free(a, z); err != nil {
		t.Fatal(err)
	}

	// A failed device is reported, and does not lose count.
	m.err = &driver.Error{Class: driver.ErrFault}
	if err := p.trim(); !errors.Is(err, driver.ErrFault) || p.cached != 0 {
		t.Errorf("%v, %d", err, p.cached)
	}
}

func TestSizeClass(t *testing.T) {
	for n := int64(1); n < 1<<40; n += 1 + n/37 {
		c := sizeClass(n)
		if c < n || c%512 != 0 || sizeClass(c) != c {
			t.Fatalf("class of %d is %d", n, c)
		}
		if n > 4096 && c > n+n/8 {
			t.Fatalf("class of %d wastes too much: %d", n, c)
		}
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
