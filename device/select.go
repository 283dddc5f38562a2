package device

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// devices holds what is open, so that all users of a GPU share one context.
var devices struct {
	sync.Mutex
	open   map[string]*Device
	warned sync.Once
}

// Environment variables that choose among devices and say how they are used.
const (
	EnvDevice    = "ZKWARP_DEVICE"        // stands in for "auto"
	EnvBudget    = "ZKWARP_MEMORY_BUDGET" // of every device, "8GiB"
	EnvThreshold = "ZKWARP_GPU_THRESHOLD" // log2 of the size from which GPUs are used
	EnvSync      = "ZKWARP_SYNC"          // not empty: wait after every launch, so that a fault names its kernel
)

// resolve replaces "auto" by what the environment says; auto is true if the
// choice is still open.
func resolve(name string) (resolved string, auto bool) {
	if name == "" || name == "auto" {
		name = os.Getenv(EnvDevice)
	}
	return name, name == "" || name == "auto"
}

// Automatic says whether name leaves the choice of the device to the program.
func Automatic(name string) bool {
	_, auto := resolve(name)
	return auto
}

// Open returns the device called name: "cpu", "cuda:N", "simt", or "auto",
// which is the first GPU if there is a usable one and else the CPU. The
// environment variable ZKWARP_DEVICE, if set, stands in for "auto" and "".
func Open(name string) (*Device, error) {
	name, auto := resolve(name)
	if !auto {
		return open(name)
	}
	d, err := open("cuda:0")
	if err == nil && d.Info().Compiler == "" {
		err = &Error{Device: d.name, Op: "open", Class: ErrUnavailable,
			Text: "neither NVRTC nor built-in PTX to make kernels with (zkwarp doctor says where NVRTC was looked for)"}
	}
	if err == nil {
		return d, nil
	}
	if !errors.Is(err, driver.ErrAbsent) {
		devices.warned.Do(func() { slog.Warn("the GPU is not usable, using the CPU", "reason", err) })
	}
	return open("cpu")
}

// OpenList is Open for a name that may stand for several devices: "cuda:all"
// is every GPU.
func OpenList(name string) ([]*Device, error) {
	name, _ = resolve(name)
	if name != "cuda:all" {
		d, err := Open(name)
		if err != nil {
			return nil, err
		}
		return []*Device{d}, nil
	}
	n, err := countCUDA()
	if err == nil && n == 0 {
		err = &driver.Error{Op: "open", Text: "the driver sees no GPU", Class: driver.ErrAbsent}
	}
	if err != nil {
		return nil, (&Device{name: name}).wrap(err)
	}
	var out []*Device
	for i := range n {
		d, err := open(fmt.Sprintf("cuda:%d", i))
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// open returns the device of exactly that name.
func open(name string) (*Device, error) {
	if name == "cuda" {
		name = "cuda:0"
	}
	devices.Lock()
	defer devices.Unlock()
	if d, ok := devices.open[name]; ok {
		// An emulator that a kernel took down is replaced; a card is not.
		if mortal, ok := d.drv.(interface{ Dead() bool }); !ok || !mortal.Dead() {
			return d, nil
		}
		_ = d.drv.Close()
	}
	d := &Device{name: name, modules: map[[32]byte]*module{}}
	var err error
	var n int
	switch {
	case name == "cpu":
	case name == "simt":
		d.kind = SIMT
		d.drv, err = openSIMT()
	case scan(name, "cuda:%d", &n):
		d.kind = CUDA
		d.drv, err = openCUDA(n)
	case name == "cuda:all":
		err = usage(name, "open", "several devices where one is wanted; name one, such as cuda:0")
	default:
		err = usage(name, "open", "no such device; want auto, cpu, cuda:N, cuda:all or simt")
	}
	if err != nil {
		return nil, d.wrap(err)
	}
	if s := os.Getenv(EnvBudget); s != "" {
		bytes, err := ParseBytes(s)
		if err != nil {
			return nil, usage(name, "open", "%s: %v", EnvBudget, err)
		}
		d.SetBudget(bytes)
	}
	d.wait = os.Getenv(EnvSync) != ""
	if devices.open == nil {
		devices.open = map[string]*Device{}
	}
	devices.open[name] = d
	return d, nil
}

func scan(s, format string, n *int) bool {
	k, err := fmt.Sscanf(s, format, n)
	return err == nil && k == 1 && fmt.Sprintf(format, *n) == s
}

// Choose is Open for an operation of a given size (see Prefer): where the
// choice is the program's, small work goes to the CPU.
func Choose(name, op string, n int) (*Device, error) {
	if Automatic(name) && !Prefer(op, n) {
		return open("cpu")
	}
	return Open(name)
}

// Run runs body on the device that Choose chooses. Where the choice is the
// program's and the device runs out of memory, fails or cannot make its
// kernels, body runs once more, on the CPU, after a logged warning; a device
// that was asked for by name is never replaced. Body must therefore not leave
// anything behind when it fails.
func Run(name, op string, n int, body func(*Device) error) error {
	d, err := Choose(name, op, n)
	if err != nil {
		return err
	}
	err = body(d)
	if err == nil || d.kind == CPU || !Automatic(name) {
		return err
	}
	if !errors.Is(err, ErrNoMemory) && !errors.Is(err, ErrFault) && !errors.Is(err, ErrUnavailable) {
		return err
	}
	slog.Warn("the GPU failed, going on with the CPU", "operation", op, "reason", err)
	if d, err = open("cpu"); err != nil {
		return err
	}
	return body(d)
}
