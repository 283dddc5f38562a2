//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/cubin"
	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
	"github.com/zkwarp/zkwarp/internal/ptx"
)

// Device is one GPU. It implements driver.Driver.
type Device struct {
	*api
	ordinal    int32 // CUdevice
	ctx        uintptr
	ctxWords   []uintptr // ctx as an argument list; never written
	info       driver.Info
	capability int // 90 for 9.0
	cache      cubin.Cache
	compiler   compiler // nil: built-in PTX only
	noCompiler error    // why
	builtinPTX func(*kernel.Source) ([]byte, error)

	pool  *pool
	dead  atomic.Pointer[driver.Error] // the sticky failure
	funcs sync.Map                     // driver.Func -> *function

	mu      sync.Mutex
	streams map[*stream]bool
	chunks  []*chunk  // pinned memory not in use
	blocks  []*launch // launch blocks not in use
	events  []uintptr // events without timing, not in use
}

// compiler is what the device needs of NVRTC.
type compiler interface {
	String() string
	Target(capability int) string
	Compile(s *kernel.Source, arch string, extra ...string) (image []byte, log string, err error)
}

// Device attributes (CUdevice_attribute in cuda.h).
const (
	attrMultiprocessors  = 16
	attrCapabilityMajor  = 75
	attrCapabilityMinor  = 76
	attrSharedOptIn      = 97
	leastCapability      = 80 // mma.sync in the shapes that kernels use
	sharedWithoutConsent = 48 << 10
)

// Count is the number of GPUs.
func Count() (int, error) {
	a, err := open()
	if err != nil {
		return 0, err
	}
	return a.devices, nil
}

// Describe returns what the driver says of GPU n, without opening a context on it.
func Describe(n int) (driver.Info, error) {
	a, err := open()
	if err != nil {
		return driver.Info{}, err
	}
	d, err := a.describe(n)
	if err != nil {
		return driver.Info{}, err
	}
	return d.info, nil
}

// Open opens GPU n.
func Open(n int) (*Device, error) {
	a, err := open()
	if err != nil {
		return nil, err
	}
	return a.open(n)
}

func (a *api) describe(n int) (*Device, error) {
	op := "open"
	if n < 0 || n >= a.devices {
		return nil, &driver.Error{Op: op, Text: fmt.Sprintf("no GPU %d, the driver sees %d", n, a.devices), Class: driver.ErrAbsent}
	}
	d := &Device{api: a, streams: map[*stream]bool{}}
	if r := call(a.deviceGet, uintptr(unsafe.Pointer(&d.ordinal)), uintptr(n)); r != success {
		return nil, a.initFailure(op, r)
	}
	name := make([]byte, 256)
	if r := call(a.deviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d.ordinal)); r != success {
		return nil, a.initFailure(op, r)
	}
	var total uintptr // size_t
	if r := call(a.deviceTotalMem, uintptr(unsafe.Pointer(&total)), uintptr(d.ordinal)); r != success {
		return nil, a.initFailure(op, r)
	}
	var values [4]int32
	for i, attr := range []uintptr{attrMultiprocessors, attrCapabilityMajor, attrCapabilityMinor, attrSharedOptIn} {
		if r := call(a.deviceGetAttribute, uintptr(unsafe.Pointer(&values[i])), attr, uintptr(d.ordinal)); r != success {
			return nil, a.initFailure(op, r)
		}
	}
	d.capability = int(values[1])*10 + int(values[2])
	d.info = driver.Info{
		Name:           strings.TrimRight(string(name), "\x00"),
		Driver:         kernelDriver(),
		Arch:           fmt.Sprintf("sm_%d", d.capability),
		SMs:            int(values[0]),
		SharedPerBlock: int(values[3]),
		TotalMemory:    int64(total),
	}
	if d.info.Driver == "" {
		d.info.Driver = fmt.Sprintf("CUDA %d.%d", a.version/1000, a.version%1000/10)
	}
	return d, nil
}

// kernelDriver is the version of the driver's kernel module, "580.159.03".
func kernelDriver() string {
	b, err := os.ReadFile("/sys/module/nvidia/version")
	if err == nil {
		return strings.TrimSpace(string(b))
	}
	// NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue ...
	b, err = os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	for _, f := range strings.Fields(string(b)) {
		if strings.Count(f, ".") >= 1 && strings.Trim(f, "0123456789.") == "" {
			return f
		}
	}
	return ""
}

func (a *api) open(n int) (*Device, error) {
	d, err := a.describe(n)
	if err != nil {
		return nil, err
	}
	if d.capability < leastCapability {
		return nil, &driver.Error{Op: "open", Class: driver.ErrUnavailable,
			Text: fmt.Sprintf("%s has compute capability %d.%d, kernels need 8.0", d.info.Name, d.capability/10, d.capability%10)}
	}
	if r := call(a.primaryCtxRetain, uintptr(unsafe.Pointer(&d.ctx)), uintptr(d.ordinal)); r != success {
		return nil, a.initFailure("open a context", r)
	}
	d.ctxWords = []uintptr{d.ctx}
	d.pool = newPool((*deviceMemory)(d))
	d.cache = cubin.Default()
	d.builtinPTX = ptx.Lookup
	if c, err := nvrtc.FindFor(a.version / 1000); err == nil {
		d.compiler = c
		d.info.Compiler = c.String()
	} else if d.noCompiler = err; ptx.Units() > 0 {
		d.info.Compiler = "built-in PTX"
	}
	return d, nil
}

// Info describes the GPU.
func (d *Device) Info() driver.Info { return d.info }

// enter binds the goroutine to a thread on which the GPU's context is current.
// leave undoes it.
func (d *Device) enter(op string) error {
	if d.dead.Load() != nil {
		return d.alive(op)
	}
	runtime.LockOSThread()
	if r := result(dl.CallWords(d.ctxSetCurrent, d.ctxWords)); r != success {
		runtime.UnlockOSThread()
		return d.fail(op+": set the context", r)
	}
	return nil
}

// alive is an error once the device has failed for good.
func (d *Device) alive(op string) error {
	e := d.dead.Load()
	if e == nil {
		return nil
	}
	return &driver.Error{Op: op, Code: e.Code, Class: driver.ErrFault, Text: "the device failed earlier: " + e.Op + ": " + e.Text}
}

func (d *Device) leave() { runtime.UnlockOSThread() }

// fail is r as an error; a sticky one marks the device dead.
func (d *Device) fail(op string, r result) error {
	err := failure(op, r, d.words)
	if e := (*driver.Error)(nil); r.sticky() && errors.As(err, &e) {
		d.dead.CompareAndSwap(nil, e)
	}
	return err
}

// do makes one call with the context current. It allocates.
//
//go:uintptrescapes
func (d *Device) do(op string, fn uintptr, args ...uintptr) error {
	if err := d.enter(op); err != nil {
		return err
	}
	defer d.leave()
	return d.fail(op, call(fn, args...))
}

// Memory returns free and total bytes.
func (d *Device) Memory() (free, total int64, err error) {
	var f, t uintptr // size_t
	err = d.do("memory", d.memGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

// Alloc returns memory for work on s.
func (d *Device) Alloc(s driver.Stream, bytes int64) (driver.Ptr, error) {
	if err := d.alive("alloc"); err != nil {
		return 0, err
	}
	return d.pool.alloc(s, bytes)
}

// Free takes memory back in stream order.
func (d *Device) Free(s driver.Stream, p driver.Ptr) error { return d.pool.free(s, p) }

// Cached is the number of bytes kept for reuse.
func (d *Device) Cached() int64 {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return d.pool.cached
}

// Trim gives cached memory back to the driver.
func (d *Device) Trim() error {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return d.pool.trim()
}

// Close waits for all work. The context stays until the process ends: other
// libraries in it may share it.
func (d *Device) Close() error {
	d.mu.Lock()
	var open []*stream
	for s := range d.streams {
		open = append(open, s)
	}
	d.mu.Unlock()
	var errs []error
	for _, s := range open {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, d.Trim())...)
}

// deviceMemory is where the device's pool gets memory.
type deviceMemory Device

func (m *deviceMemory) alloc(bytes int64) (driver.Ptr, error) {
	var p uint64 // CUdeviceptr
	err := (*Device)(m).do("alloc", m.memAlloc, uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	if e := (*driver.Error)(nil); errors.As(err, &e) {
		e.Bytes = bytes
	}
	return driver.Ptr(p), err
}

func (m *deviceMemory) free(p driver.Ptr) error {
	return (*Device)(m).do("free", m.memFree, uintptr(p))
}

// fence records an event on every stream.
func (m *deviceMemory) fence() (fence, error) {
	d := (*Device)(m)
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &events{d: d}
	for s := range d.streams {
		e, err := d.event()
		if err != nil {
			return nil, err
		}
		if err := d.do("record an event", d.eventRecord, e, s.handle); err != nil {
			return nil, err
		}
		f.list = append(f.list, e)
	}
	return f, nil
}

// events is a fence.
type events struct {
	d    *Device
	list []uintptr
}

func (f *events) passed() (bool, error) {
	for len(f.list) > 0 {
		if err := f.d.enter("query an event"); err != nil {
			return false, err
		}
		r := call(f.d.eventQuery, f.list[len(f.list)-1])
		f.d.leave()
		switch r {
		case success:
			f.d.mu.Lock()
			f.d.events = append(f.d.events, f.list[len(f.list)-1])
			f.d.mu.Unlock()
			f.list = f.list[:len(f.list)-1]
		case notReady:
			return false, nil
		default:
			return false, f.d.fail("query an event", r)
		}
	}
	return true, nil
}

// drop keeps the events; recording anew is allowed at any time.
func (f *events) drop() {
	f.d.mu.Lock()
	f.d.events = append(f.d.events, f.list...)
	f.d.mu.Unlock()
	f.list = nil
}

// event returns an event without timing. The caller holds d.mu.
func (d *Device) event() (uintptr, error) {
	if n := len(d.events); n > 0 {
		e := d.events[n-1]
		d.events = d.events[:n-1]
		return e, nil
	}
	const disableTiming = 2
	var e uintptr
	err := d.do("create an event", d.eventCreate, uintptr(unsafe.Pointer(&e)), disableTiming)
	return e, err
}

// Library is the path that the driver was opened under.
func Library() (string, error) {
	a, err := open()
	if err != nil {
		return "", err
	}
	return a.path, nil
}

// Version is the newest CUDA that the driver supports, 13000 for 13.0, or 0
// without a driver.
func Version() int {
	a, err := open()
	if err != nil {
		return 0
	}
	return a.version
}
