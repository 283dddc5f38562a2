//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"sync"
	"testing"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/cubin"
	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// openTwo opens the fake's two usable GPUs.
func (f *fake) openTwo(t *testing.T) [2]*Device {
	t.Helper()
	a := must(openAPI([]string{f.path}))(t)
	var out [2]*Device
	for i, n := range []int{0, 2} {
		d := must(a.open(n))(t)
		d.cache = cubin.Cache{Dir: t.TempDir()}
		d.compiler = &fakeCompiler{image: "\x7fELF good"}
		out[i] = d
		t.Cleanup(func() {
			if err := d.Close(); err != nil && d.dead.Load() == nil {
				t.Error(err)
			}
		})
	}
	return out
}

// pin returns page-locked memory as words.
func pin(t *testing.T, d *Device, n int) []uint32 {
	t.Helper()
	p := must(d.AllocHost(int64(4 * n)))(t)
	t.Cleanup(func() {
		if err := d.FreeHost(p); err != nil && d.dead.Load() == nil {
			t.Error(err)
		}
	})
	return unsafe.Slice((*uint32)(p), n)
}

// The fake runs nothing before somebody waits, so that a stream which does not wait
// for another finds what was there before.
func TestAfter(t *testing.T) {
	f := newFake(t)
	two := f.openTwo(t)
	for _, devices := range [][2]*Device{{two[0], two[0]}, two} {
		a, b := stream1(t, devices[0]).(*stream), stream1(t, devices[1]).(*stream)
		from, to := must(devices[0].Alloc(a, 64))(t), must(devices[1].Alloc(b, 64))(t)
		host := pin(t, devices[0], 16)
		err := errors.Join(a.Fill(from, 7, 64), a.CopyOutPinned(asBytes(host), from))
		if ok, after := b.After(a); !ok || after != nil {
			t.Fatal(ok, after)
		}
		// What a does later is not waited for, though its event is recorded anew.
		err = errors.Join(err, b.CopyInPinned(to, asBytes(host)), a.Fill(from, 9, 64), a.CopyOutPinned(asBytes(host), from))
		if ok, after := a.After(b); !ok || after != nil {
			t.Fatal(ok, after)
		}
		if ok, after := a.After(a); !ok || after != nil {
			t.Fatal(ok, after)
		}
		if err := errors.Join(err, b.Sync()); err != nil {
			t.Fatal(err)
		}
		if got := words(to, 16); got[0] != 7 || got[15] != 7 {
			t.Errorf("the second stream copied %v", got)
		}
		if err := a.Sync(); err != nil || host[3] != 9 {
			t.Errorf("the first stream left %v, %v", host, err)
		}
		if n := len(devices[0].events) + len(devices[1].events); n == 0 || n > 4 {
			t.Errorf("%d events are kept", n)
		}
	}
}

func TestAfterOthers(t *testing.T) {
	f := newFake(t)
	d := f.openTwo(t)[0]
	s, gone := stream1(t, d).(*stream), stream1(t, d)
	if ok, err := s.After(nil); ok || err != nil {
		t.Error(ok, err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.After(gone); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestPinned(t *testing.T) {
	f := newFake(t)
	two := f.openTwo(t)
	before := f.count(pinned)
	a := stream1(t, two[0]).(*stream)
	made := f.count(pinned)
	p := must(two[0].AllocHost(4 << 20))(t)
	host := unsafe.Slice((*uint32)(p), 1<<20)
	for i := range host {
		host[i] = uint32(i)
	}
	// One device's memory serves the other.
	b := stream1(t, two[1]).(*stream)
	at := must(two[1].Alloc(b, 4<<20))(t)
	if err := errors.Join(b.CopyInPinned(at, asBytes(host)), b.CopyInPinned(at, nil), b.CopyOutPinned(nil, at)); err != nil {
		t.Fatal(err)
	}
	host[5] = 55 // nothing was copied so far
	if err := two[0].Drain(); err != nil {
		t.Fatal(err)
	}
	if w := words(at, 6); w[5] == 55 {
		t.Error("draining one device ran the other")
	}
	if err := errors.Join(two[1].Drain(), a.Sync()); err != nil {
		t.Fatal(err)
	}
	if w := words(at, 1<<20); w[5] != 55 || w[1<<20-1] != 1<<20-1 {
		t.Errorf("%v", w[:8])
	}
	if err := two[0].FreeHost(p); err != nil {
		t.Fatal(err)
	}
	if n := f.count(pinned); made <= before || n > made+1 {
		t.Errorf("page-locked pieces: %d, %d with a stream, %d at the end", before, made, n)
	}
}

// Goroutines that work on both devices in turn move between threads, each of which
// has one context at a time; the fake refuses calls with the wrong one.
func TestTwoDevices(t *testing.T) {
	f := newFake(t)
	two := f.openTwo(t)
	var funcs [2]map[string]driver.Func
	for i, d := range two {
		funcs[i] = must(d.Load(unit))(t)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			if err := both(two, funcs, uint32(1000*g+1)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := stream1(t, two[0])
	one := driver.Dim{X: 1, Y: 1, Z: 1}
	p := must(two[1].Alloc(stream1(t, two[1]), 64))(t)
	for what, err := range map[string]error{
		"the other's kernel": s.Launch(funcs[1]["fake_increment"], one, one, 0, []uint64{uint64(p), 1}),
		"the other's memory": s.Fill(p, 1, 64),
	} {
		if err == nil {
			t.Errorf("%s was taken", what)
		}
	}
}

// both passes numbers from one device to the other and back, in several rounds.
func both(two [2]*Device, funcs [2]map[string]driver.Func, first uint32) error {
	const n, rounds = 333, 20
	var s [2]*stream
	var at [2]driver.Ptr
	for i, d := range two {
		made, err := d.NewStream()
		if err != nil {
			return err
		}
		s[i] = made.(*stream)
		if at[i], err = d.Alloc(s[i], 4*n); err != nil {
			return err
		}
	}
	p, err := two[0].AllocHost(4 * n)
	if err != nil {
		return err
	}
	host := unsafe.Slice((*uint32)(p), n)
	for j := range host {
		host[j] = first + uint32(j)
	}
	one := driver.Dim{X: 1, Y: 1, Z: 1}
	for r := range 2 * rounds {
		i := r % 2
		_, err = s[i].After(s[1-i])
		err = errors.Join(err, s[i].CopyInPinned(at[i], asBytes(host)),
			s[i].Launch(funcs[i]["fake_increment"], one, one, 0, []uint64{uint64(at[i]), n}),
			s[i].CopyOutPinned(asBytes(host), at[i]))
		if err != nil {
			return err
		}
	}
	err = s[1].Sync()
	for j, v := range host {
		if err == nil && v != first+uint32(j)+2*rounds {
			err = errors.New("wrong data after both devices")
		}
	}
	for i, d := range two {
		err = errors.Join(err, s[i].Close(), d.Free(nil, at[i]))
	}
	return errors.Join(err, two[0].FreeHost(p))
}
