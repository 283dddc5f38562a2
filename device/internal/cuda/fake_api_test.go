//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/internal/driver"
)

func TestOpenFailures(t *testing.T) {
	if _, err := openAPI([]string{"/nonexistent/libcuda.so.1"}); !errors.Is(err, driver.ErrAbsent) {
		t.Errorf("no library: %v", err)
	}
	f := newFake(t)
	if _, err := openAPI([]string{"libpthread.so.0"}); !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrAbsent) || !strings.Contains(err.Error(), "cuInit") {
		t.Errorf("a library without the functions: %v", err)
	}
	for _, c := range []struct {
		code   result
		absent bool
		words  string
	}{
		{stubLibrary, true, "CUDA error 34"},
		{noDevice, true, "CUDA error 100"},
		{803, false, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
		{unknownError, false, "CUDA error 999"},
	} {
		dl.Call(f.initResult, uintptr(c.code))
		_, err := openAPI([]string{f.path})
		if !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrAbsent) != c.absent {
			t.Errorf("cuInit %d: %v", c.code, err)
			continue
		}
		if e := asDriverError(t, err); e.Code != int(c.code) || e.Op != "cuInit" || !strings.Contains(e.Text, c.words) {
			t.Errorf("cuInit %d: %+v", c.code, e)
		}
	}
	dl.Call(f.initResult, 0)
	a := must(openAPI([]string{f.path}))(t)
	if _, err := a.open(1); !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "7.5") {
		t.Errorf("a card of compute capability 7.5: %v", err)
	}
	for _, n := range []int{-1, 3} {
		if _, err := a.open(n); !errors.Is(err, driver.ErrAbsent) {
			t.Errorf("GPU %d: %v", n, err)
		}
	}
}

func TestInfo(t *testing.T) {
	d := newFake(t).open(t)
	i := d.Info()
	if i.Name != "Fake GPU" || i.Arch != "sm_90" || i.SMs != 132 || i.SharedPerBlock != 232448 || i.TotalMemory != 64<<20 {
		t.Errorf("%+v", i)
	}
	if want := kernelDriver(); i.Driver != want && (want != "" || i.Driver != "CUDA 13.0") {
		t.Errorf("driver %q", i.Driver)
	}
	free, total, err := d.Memory()
	if err != nil || total != 64<<20 || free > total || free <= 0 {
		t.Errorf("memory %d of %d, %v", free, total, err)
	}
}

// The fake runs copies late, so a staging chunk that is written again too
// early shows as wrong data.
func TestCopies(t *testing.T) {
	f := newFake(t)
	d := f.open(t)
	s := stream1(t, d)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 255, 257, 4096, chunkBytes - 1, chunkBytes, chunkBytes + 1, 5*chunkBytes + 777} {
		p := must(d.Alloc(s, int64(n)))(t)
		in := make([]byte, n)
		for i := range in {
			in[i] = byte(rng.Uint32())
		}
		want := bytes.Clone(in)
		if err := s.CopyIn(p, in); err != nil {
			t.Fatal(err)
		}
		clear(in) // the caller may reuse it
		out := make([]byte, n)
		if err := s.CopyOut(out, p); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out, want) {
			t.Errorf("%d bytes differ", n)
		}
		if err := d.Free(s, p); err != nil {
			t.Error(err)
		}
	}
	// Many small copies, more than the ring holds, mixed with large ones.
	const pieces, size = 200, 200_003
	p := must(d.Alloc(s, pieces*size))(t)
	want := make([]byte, pieces*size)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	for i := range pieces {
		if err := s.CopyIn(p+driver.Ptr(i*size), bytes.Clone(want[i*size:(i+1)*size])); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, len(want))
	if err := s.CopyOut(got, p); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("small copies differ")
	}
	before := f.count(pinned)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = stream1(t, d)
	if err := s.CopyIn(p, want[:100]); err != nil {
		t.Fatal(err)
	}
	if f.count(pinned) != before {
		t.Error("a new stream does not reuse page-locked memory")
	}
	if err := d.Free(nil, p); err != nil {
		t.Error(err)
	}
}

func TestFillAndDeviceCopy(t *testing.T) {
	d := newFake(t).open(t)
	s := stream1(t, d)
	a, b := must(d.Alloc(s, 40))(t), must(d.Alloc(s, 40))(t)
	if err := errors.Join(s.Fill(a, 0x01020304, 40), s.CopyDevice(b+8, a, 32), s.Sync()); err != nil {
		t.Fatal(err)
	}
	if w := words(b, 10); w[2] != 0x01020304 || w[9] != 0x01020304 || w[0] == 0x01020304 {
		t.Errorf("%x", w)
	}
}

func TestLaunch(t *testing.T) {
	d := newFake(t).open(t)
	funcs := must(d.Load(unit))(t)
	s := stream1(t, d)
	p := must(d.Alloc(s, 64))(t)
	// Arguments are read at once: a second launch may overwrite the block.
	q := must(d.Alloc(s, 64))(t)
	store := func(p driver.Ptr, shared uint32, v, w uint64) error {
		return s.Launch(funcs["fake_store"], driver.Dim{X: 70000, Y: 2, Z: 3}, driver.Dim{X: 4, Y: 5, Z: 6}, shared, []uint64{uint64(p), v, w})
	}
	if err := errors.Join(store(p, 0, 0xfffffffe, 1<<63|5), store(q, 200<<10, 7, 9), s.Sync()); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][10]uint32{{70000, 2, 3, 4, 5, 6, 0, 0xfffffffe, 5, 1 << 31}, {70000, 2, 3, 4, 5, 6, 200 << 10, 7, 9, 0}} {
		if got := [10]uint32(words([]driver.Ptr{p, q}[i], 10)); got != want {
			t.Errorf("launch %d: %v, want %v", i, got, want)
		}
	}
	err := store(p, 240<<10, 0, 0)
	if !errors.Is(err, driver.ErrUsage) || !strings.Contains(err.Error(), "232448") {
		t.Errorf("too much shared memory: %v", err)
	}
	if err := s.Launch(funcs["fake_store"], driver.Dim{X: 1, Y: 1, Z: 1}, driver.Dim{X: 1, Y: 1, Z: 1}, 0, make([]uint64, maxArgs+1)); !errors.Is(err, driver.ErrUsage) {
		t.Errorf("too many arguments: %v", err)
	}
	if d.dead.Load() != nil {
		t.Error("a wrong call killed the device")
	}
}

func TestFault(t *testing.T) {
	f := newFake(t)
	d := f.open(t)
	funcs := must(d.Load(unit))(t)
	s, other := stream1(t, d), stream1(t, d)
	p := must(d.Alloc(s, 4096))(t)
	if err := errors.Join(d.Free(s, p)); err != nil {
		t.Fatal(err)
	}
	f.failNext(illegalAddress, 1)
	one := driver.Dim{X: 1, Y: 1, Z: 1}
	for range 3 {
		if err := s.Launch(funcs["fake_increment"], one, one, 0, []uint64{uint64(p), 1}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Sync()
	if e := asDriverError(t, err); !errors.Is(err, driver.ErrFault) || e.Code != 700 || e.Op != "synchronize" || !strings.Contains(e.Text, "illegal memory access") {
		t.Fatalf("%+v", e)
	}
	_, _, memory := d.Memory()
	_, alloc := d.Alloc(s, 4096) // the pool has such a block
	_, load := d.Load(unit)
	_, create := d.NewStream()
	for name, err := range map[string]error{
		"memory": memory, "alloc": alloc, "load": load, "create": create,
		"launch": other.Launch(funcs["fake_increment"], one, one, 0, []uint64{uint64(p), 1}),
		"copy":   other.CopyIn(p, []byte{1}),
		"back":   other.CopyOut(make([]byte, 4), p),
		"fill":   other.Fill(p, 0, 4),
		"sync":   other.Sync(),
	} {
		if !errors.Is(err, driver.ErrFault) || !strings.Contains(err.Error(), "failed earlier") {
			t.Errorf("%s after the fault: %v", name, err)
		}
	}
}

func TestMarks(t *testing.T) {
	d := newFake(t).open(t)
	s := stream1(t, d)
	p := must(d.Alloc(s, 4))(t)
	timer := s.(driver.Timer)
	a := must(timer.Mark())(t)
	if err := s.Fill(p, 1, 4); err != nil {
		t.Fatal(err)
	}
	b := must(timer.Mark())(t)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if e, err := timer.Elapsed(a, b); err != nil || e != 3*time.Millisecond { // two operations of 1.5 ms
		t.Errorf("%v, %v", e, err)
	}
	if err := errors.Join(timer.Drop(a), timer.Drop(a), timer.Drop(b)); err != nil {
		t.Error(err)
	}
}

// Goroutines move between threads; the fake refuses calls without a context.
func TestManyStreams(t *testing.T) {
	d := newFake(t).open(t)
	funcs := must(d.Load(unit))(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			s, err := d.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			for i := range 30 {
				n := 1000*g + 17*i + 1
				p, err := d.Alloc(s, int64(4*n))
				if err != nil {
					t.Error(err)
					return
				}
				in := make([]uint32, n)
				for j := range in {
					in[j] = uint32(g + i*j)
				}
				out := make([]uint32, n)
				err = errors.Join(
					s.CopyIn(p, asBytes(in)),
					s.Launch(funcs["fake_increment"], driver.Dim{X: 1, Y: 1, Z: 1}, driver.Dim{X: 1, Y: 1, Z: 1}, 0, []uint64{uint64(p), uint64(n)}),
					s.CopyOut(asBytes(out), p),
					d.Free([]driver.Stream{s, nil}[i%2], p))
				if err != nil {
					t.Error(err)
					return
				}
				for j := range in {
					if out[j] != in[j]+1 {
						t.Errorf("stream %d, round %d: wrong data", g, i)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func asBytes(w []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 4*len(w))
}

// A launch must not allocate: it is the hot path of every prover.
func TestLaunchAllocates(t *testing.T) {
	d := newFake(t).open(t)
	funcs := must(d.Load(unit))(t)
	s := stream1(t, d)
	p := must(d.Alloc(s, 64))(t)
	args := []uint64{uint64(p), 1, 2}
	one := driver.Dim{X: 1, Y: 1, Z: 1}
	if n := testing.AllocsPerRun(100, func() {
		if err := s.Launch(funcs["fake_store"], one, one, 0, args); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a launch", n)
	}
}
