//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// api is the CUDA driver: the addresses of its functions.
type api struct {
	path    string
	version int // 13000 for CUDA 13.0
	devices int

	init, driverGetVersion, getErrorName, getErrorString     uintptr
	deviceGetCount, deviceGet, deviceGetName, deviceTotalMem uintptr
	deviceGetAttribute, primaryCtxRetain, ctxSetCurrent      uintptr
	memGetInfo, memAlloc, memFree, memHostAlloc, memFreeHost uintptr
	memcpyHtoD, memcpyDtoH, memcpyDtoD, memsetD32            uintptr
	streamCreate, streamDestroy, streamSynchronize           uintptr
	eventCreate, eventDestroy, eventRecord, eventQuery       uintptr
	eventSynchronize, eventElapsedTime, streamWaitEvent      uintptr
	moduleLoadDataEx, moduleUnload, moduleGetFunction        uintptr
	funcGetAttribute, funcSetAttribute, launchKernel         uintptr
	streamBeginCapture, streamEndCapture                     uintptr
	graphInstantiate, graphLaunch                            uintptr
	graphExecDestroy, graphDestroy                           uintptr
}

// symbols names the exported functions. The driver keeps old versions of many
// under the plain name, so the version that cuda.h maps to is spelled out.
func (a *api) symbols() []dl.Symbol {
	return []dl.Symbol{
		{Name: "cuInit", To: &a.init},
		{Name: "cuDriverGetVersion", To: &a.driverGetVersion},
		{Name: "cuGetErrorName", To: &a.getErrorName},
		{Name: "cuGetErrorString", To: &a.getErrorString},
		{Name: "cuDeviceGetCount", To: &a.deviceGetCount},
		{Name: "cuDeviceGet", To: &a.deviceGet},
		{Name: "cuDeviceGetName", To: &a.deviceGetName},
		{Name: "cuDeviceTotalMem_v2", To: &a.deviceTotalMem},
		{Name: "cuDeviceGetAttribute", To: &a.deviceGetAttribute},
		{Name: "cuDevicePrimaryCtxRetain", To: &a.primaryCtxRetain},
		{Name: "cuCtxSetCurrent", To: &a.ctxSetCurrent},
		{Name: "cuMemGetInfo_v2", To: &a.memGetInfo},
		{Name: "cuMemAlloc_v2", To: &a.memAlloc},
		{Name: "cuMemFree_v2", To: &a.memFree},
		{Name: "cuMemHostAlloc", To: &a.memHostAlloc},
		{Name: "cuMemFreeHost", To: &a.memFreeHost},
		{Name: "cuMemcpyHtoDAsync_v2", To: &a.memcpyHtoD},
		{Name: "cuMemcpyDtoHAsync_v2", To: &a.memcpyDtoH},
		{Name: "cuMemcpyDtoDAsync_v2", To: &a.memcpyDtoD},
		{Name: "cuMemsetD32Async", To: &a.memsetD32},
		{Name: "cuStreamCreate", To: &a.streamCreate},
		{Name: "cuStreamDestroy_v2", To: &a.streamDestroy},
		{Name: "cuStreamSynchronize", To: &a.streamSynchronize},
		{Name: "cuStreamWaitEvent", To: &a.streamWaitEvent},
		{Name: "cuEventCreate", To: &a.eventCreate},
		{Name: "cuEventDestroy_v2", To: &a.eventDestroy},
		{Name: "cuEventRecord", To: &a.eventRecord},
		{Name: "cuEventQuery", To: &a.eventQuery},
		{Name: "cuEventSynchronize", To: &a.eventSynchronize},
		{Name: "cuEventElapsedTime", To: &a.eventElapsedTime, Optional: true}, // for traces
		{Name: "cuModuleLoadDataEx", To: &a.moduleLoadDataEx},
		{Name: "cuModuleUnload", To: &a.moduleUnload},
		{Name: "cuModuleGetFunction", To: &a.moduleGetFunction},
		{Name: "cuFuncGetAttribute", To: &a.funcGetAttribute},
		{Name: "cuFuncSetAttribute", To: &a.funcSetAttribute},
		{Name: "cuLaunchKernel", To: &a.launchKernel},
		{Name: "cuStreamBeginCapture_v2", To: &a.streamBeginCapture, Optional: true}, // for graphs
		{Name: "cuStreamEndCapture", To: &a.streamEndCapture, Optional: true},
		{Name: "cuGraphInstantiateWithFlags", To: &a.graphInstantiate, Optional: true},
		{Name: "cuGraphLaunch", To: &a.graphLaunch, Optional: true},
		{Name: "cuGraphExecDestroy", To: &a.graphExecDestroy, Optional: true},
		{Name: "cuGraphDestroy", To: &a.graphDestroy, Optional: true},
	}
}

// libraries is where libcuda is looked for: the loader's path, the folders of
// the distributions, of containers, and of Windows' Linux. The unversioned
// name would find the linker's stub.
var libraries = []string{
	"libcuda.so.1",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/usr/lib/aarch64-linux-gnu/libcuda.so.1",
	"/usr/lib64/libcuda.so.1",
	"/usr/lib/libcuda.so.1",
	"/usr/local/nvidia/lib64/libcuda.so.1",
	"/usr/lib/wsl/lib/libcuda.so.1",
}

var system struct {
	once sync.Once
	api  *api
	err  error
}

// open returns the machine's driver, initialised once per process.
func open() (*api, error) {
	system.once.Do(func() { system.api, system.err = openAPI(libraries) })
	return system.api, system.err
}

func openAPI(paths []string) (*api, error) {
	l, err := dl.Open(paths...)
	if err != nil {
		return nil, &driver.Error{Op: "open the CUDA driver", Class: driver.ErrAbsent,
			Text: "libcuda.so.1 not found (install the NVIDIA driver, or pass the GPU into the container)"}
	}
	a := &api{path: l.Path}
	if err := l.Bind(a.symbols()); err != nil {
		return nil, &driver.Error{Op: "open the CUDA driver", Class: driver.ErrUnavailable, Text: err.Error() + " (driver too old)"}
	}
	var version, count int32
	if r := call(a.init, 0); r != success {
		return nil, a.initFailure("cuInit", r)
	}
	if r := call(a.driverGetVersion, uintptr(unsafe.Pointer(&version))); r != success {
		return nil, a.initFailure("cuDriverGetVersion", r)
	}
	if r := call(a.deviceGetCount, uintptr(unsafe.Pointer(&count))); r != success {
		return nil, a.initFailure("cuDeviceGetCount", r)
	}
	a.version, a.devices = int(version), int(count)
	return a, nil
}

// initFailure is an ErrUnavailable whatever the code: nothing has run yet.
func (a *api) initFailure(op string, r result) error {
	err := failure(op, r, a.words)
	if e := (*driver.Error)(nil); errors.As(err, &e) && !errors.Is(e.Class, driver.ErrUnavailable) {
		e.Class = driver.ErrUnavailable
	}
	return err
}

// words is the driver's name and description of r.
func (a *api) words(r result) string {
	read := func(fn uintptr) string {
		var p unsafe.Pointer // C memory
		if call(fn, uintptr(uint32(r)), uintptr(unsafe.Pointer(&p))) != success {
			return ""
		}
		return dl.String(p)
	}
	name, text := read(a.getErrorName), read(a.getErrorString)
	if name == "" || text == "" {
		return name + text
	}
	return name + ": " + text
}

// call is for everything but the hot path: it allocates.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) result { return result(dl.Call(fn, args...)) }
