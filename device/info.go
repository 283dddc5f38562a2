package device

import (
	"fmt"
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// Info describes a device.
type Info struct {
	Device         string `json:"device"` // "cuda:0", as Open takes it
	Name           string `json:"name"`   // "NVIDIA H100 80GB HBM3"
	Driver         string `json:"driver,omitempty"`
	Compiler       string `json:"compiler,omitempty"` // makes its kernels: "NVRTC 13.0"
	Arch           string `json:"arch"`               // "sm_90", "amd64"
	Units          int    `json:"units"`              // multiprocessors, or threads of the CPU
	SharedPerBlock int    `json:"shared_per_block,omitempty"`
	Memory         int64  `json:"memory_bytes,omitempty"`
}

// String is one line about the device.
func (i Info) String() string {
	switch {
	case i.Compiler == "" && i.Driver == "":
		return fmt.Sprintf("%s, %d threads", i.Name, i.Units)
	case i.Driver == "":
		return fmt.Sprintf("%s (%s)", i.Name, i.Compiler)
	case i.Compiler == "":
		return fmt.Sprintf("%s (driver %s)", i.Name, i.Driver)
	}
	return fmt.Sprintf("%s (driver %s, %s)", i.Name, i.Driver, i.Compiler)
}

// Info describes d.
func (d *Device) Info() Info {
	if d.drv == nil {
		return cpuInfo()
	}
	v := d.drv.Info()
	return Info{Device: d.name, Name: v.Name, Driver: v.Driver, Compiler: v.Compiler, Arch: v.Arch,
		Units: v.SMs, SharedPerBlock: v.SharedPerBlock, Memory: v.TotalMemory}
}

func cpuInfo() Info {
	name := cpuid.CPU.BrandName
	if name == "" {
		name = "CPU (" + runtime.GOARCH + ")"
	}
	return Info{Device: "cpu", Name: name, Arch: runtime.GOARCH, Units: runtime.GOMAXPROCS(0)}
}

// List describes the devices of the machine that provers run on: its GPUs,
// then the CPU. No context is opened.
func List() []Info {
	var out []Info
	n, err := countCUDA()
	for i := 0; err == nil && i < n; i++ {
		v, err := describeCUDA(i)
		if err != nil {
			continue
		}
		out = append(out, Info{Device: fmt.Sprintf("cuda:%d", i), Name: v.Name, Driver: v.Driver, Compiler: v.Compiler,
			Arch: v.Arch, Units: v.SMs, SharedPerBlock: v.SharedPerBlock, Memory: v.TotalMemory})
	}
	return append(out, cpuInfo())
}
