//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device/internal/cubin"
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
)

func key(d *Device) cubin.Key {
	return cubin.Key{Name: unit.Name, Digest: unit.Digest(), Options: nvrtc.Options("sm_90"), Compiler: "fake 1.0", Arch: "sm_90"}
}

func TestLoadCaches(t *testing.T) {
	f := newFake(t)
	d := f.open(t)
	c := d.compiler.(*fakeCompiler)
	funcs := must(d.Load(unit))(t)
	if len(funcs) != 2 || funcs["fake_store"] == 0 || funcs["fake_increment"] == 0 {
		t.Fatalf("%v", funcs)
	}
	must(d.Load(unit))(t)
	if c.calls != 1 {
		t.Errorf("compiled %d times", c.calls)
	}
	// An entry with the right check sum that the driver refuses is rebuilt.
	if err := d.cache.Put(key(d), []byte("\x7fELF of another time")); err != nil {
		t.Fatal(err)
	}
	must(d.Load(unit))(t)
	must(d.Load(unit))(t)
	if c.calls != 2 {
		t.Errorf("compiled %d times after a refused entry", c.calls)
	}
	// A changed header is another kernel.
	changed := &kernel.Source{Name: unit.Name, Text: unit.Text, Headers: []*kernel.Source{{Name: "h.cuh", Text: "x"}}}
	must(d.Load(changed))(t)
	if c.calls != 3 {
		t.Errorf("compiled %d times after a change", c.calls)
	}
}

func TestLoadBuiltin(t *testing.T) {
	d := newFake(t).open(t)
	ptxText, ptxErr := "PTX good", error(nil)
	d.builtinPTX = func(*kernel.Source) ([]byte, error) { return []byte(ptxText), ptxErr }

	d.compiler.(*fakeCompiler).image = "\x7fELF too new"
	must(d.Load(unit))(t) // the driver refuses the cubin
	if _, ok := d.cache.Get(key(d)); ok {
		t.Error("a refused image was kept")
	}
	d.compiler, d.noCompiler = nil, &nvrtc.NotFound{Looked: []string{"/here: not there"}}
	must(d.Load(unit))(t)

	ptxText = "PTX bad"
	_, err := d.Load(unit)
	if e := asDriverError(t, err); e.Code != 218 || e.Op != "load fake.cu" || !strings.Contains(e.Text, "ptxas fatal: line 7") {
		t.Errorf("%+v", e)
	}
	ptxErr = errors.New("no PTX built in for fake.cu")
	_, err = d.Load(unit)
	if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "NVRTC not found") || !strings.Contains(err.Error(), "no PTX built in") {
		t.Errorf("%v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	d := newFake(t).open(t)
	lost := &kernel.Source{Name: "lost.cu", Text: `extern "C" __global__ void lost(u32 n) {}`}
	_, err := d.Load(lost)
	if err == nil || !strings.Contains(err.Error(), "find kernel lost") {
		t.Errorf("a kernel that the image lacks: %v", err)
	}
	d.compiler.(*fakeCompiler).err = &nvrtc.Error{Source: "fake.cu", Arch: "sm_90", Text: "NVRTC_ERROR_COMPILATION", Log: "fake.cu(2): error"}
	_, err = d.Load(&kernel.Source{Name: "fake.cu", Text: "bad"})
	if err == nil || !strings.Contains(err.Error(), "fake.cu(2): error") {
		t.Errorf("a source that does not compile: %v", err)
	}
}

func TestNoMemory(t *testing.T) {
	d := newFake(t).open(t)
	s := stream1(t, d)
	_, err := d.Alloc(s, 65<<20)
	if e := asDriverError(t, err); !errors.Is(err, driver.ErrNoMemory) || e.Bytes < 65<<20 || !strings.Contains(e.Text, "out of memory") {
		t.Errorf("%+v", e)
	}
	if d.dead.Load() != nil {
		t.Error("running out of memory killed the device")
	}
	p := must(d.Alloc(s, 40<<20))(t)
	if err := d.Free(s, p); err != nil {
		t.Fatal(err)
	}
	if d.Cached() != 40<<20 {
		t.Errorf("%d bytes cached", d.Cached())
	}
	p = must(d.Alloc(s, 41<<20))(t)
	if err := d.Free(s, p); err != nil {
		t.Fatal(err)
	}
}
