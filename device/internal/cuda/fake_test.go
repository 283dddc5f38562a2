//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/cubin"
	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// fake is the driver of testdata/fakecuda.c. Tests that use it do not run in
// parallel: it has one state.
type fake struct {
	path                                                   string
	reset, initResult, total, mostPinned, fail, countWords uintptr
}

var fakeDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fakecuda")
	if err != nil {
		panic(err)
	}
	fakeDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{path: filepath.Join(fakeDir, "libfakecuda.so")}
	if _, err := os.Stat(f.path); err != nil {
		cc, err := exec.LookPath("gcc")
		if err != nil {
			if strings.Contains(os.Getenv("ZKWARP_REQUIRE"), "simt") {
				t.Fatal("no gcc to build the fake driver with")
			}
			t.Skip("no gcc to build the fake driver with")
		}
		out, err := exec.CommandContext(context.Background(), cc, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", f.path, "testdata/fakecuda.c", "-lpthread").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	l, err := dl.Open(f.path)
	if err != nil {
		t.Fatal(err)
	}
	err = l.Bind([]dl.Symbol{{Name: "fake_reset", To: &f.reset}, {Name: "fake_init_result", To: &f.initResult},
		{Name: "fake_total", To: &f.total}, {Name: "fake_most_pinned", To: &f.mostPinned}, {Name: "fake_fail", To: &f.fail}, {Name: "fake_count", To: &f.countWords}})
	if err != nil {
		t.Fatal(err)
	}
	dl.Call(f.reset)
	return f
}

// Counters of the fake driver.
const (
	allocs = iota
	frees
	pinned
	liveStreams
)

func (f *fake) count(what int) int { return int(dl.Call(f.countWords, uintptr(what))) }

// failNext makes the operation after n others fail with the code.
func (f *fake) failNext(r result, n int) { dl.Call(f.fail, uintptr(r), uintptr(n)) }

// open opens the fake's GPU, with a compiler that always succeeds.
func (f *fake) open(t *testing.T) *Device {
	t.Helper()
	a, err := openAPI([]string{f.path})
	if err != nil {
		t.Fatal(err)
	}
	d, err := a.open(0)
	if err != nil {
		t.Fatal(err)
	}
	d.cache = cubin.Cache{Dir: t.TempDir()}
	d.compiler = &fakeCompiler{image: "\x7fELF good"}
	t.Cleanup(func() {
		if d.dead.Load() != nil {
			return
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if n := f.count(liveStreams); n != 0 {
			t.Errorf("%d streams left open", n)
		}
		if f.count(allocs) != f.count(frees)+len(d.pool.live) {
			t.Errorf("%d allocations, %d freed, %d live", f.count(allocs), f.count(frees), len(d.pool.live))
		}
	})
	return d
}

type fakeCompiler struct {
	image string
	err   error
	calls int
}

func (c *fakeCompiler) String() string        { return "fake 1.0" }
func (c *fakeCompiler) Target(cap int) string { return fmt.Sprintf("sm_%d", cap) }

func (c *fakeCompiler) Compile(*kernel.Source, string, ...string) ([]byte, string, error) {
	c.calls++
	return []byte(c.image), "", c.err
}

var unit = &kernel.Source{Name: "fake.cu", Text: `
extern "C" __global__ void fake_store(u32* out, u32 v, u64 w) {}
extern "C" __global__ void fake_increment(u32* x, u32 n) {}
`}

func stream1(t *testing.T, d *Device) driver.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// words sees memory of the fake device as the host's.
func words(p driver.Ptr, n int) []uint32 {
	u := uintptr(p)
	return unsafe.Slice((*uint32)(*(*unsafe.Pointer)(unsafe.Pointer(&u))), n)
}

func asDriverError(t *testing.T, err error) *driver.Error {
	t.Helper()
	var e *driver.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a driver error: %v", err)
	}
	return e
}
