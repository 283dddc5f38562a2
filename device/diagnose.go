package device

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/zkwarp/zkwarp/device/internal/cubin"
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/nvrtc"
)

// Diagnosis is what the machine has for proving on, and what it lacks.
type Diagnosis struct {
	Automatic string          `json:"automatic"` // the device that "auto" takes
	GPUs      []Info          `json:"gpus"`
	Driver    DriverDiagnosis `json:"driver"`
	NVRTC     NVRTCDiagnosis  `json:"nvrtc"`
	Cache     CacheDiagnosis  `json:"kernel_cache"`
	CPU       CPUDiagnosis    `json:"cpu"`
	// Thresholds are base-2 logarithms of sizes; see Thresholds.
	Thresholds        Thresholds `json:"thresholds"`
	ThresholdOverride *int       `json:"threshold_override,omitempty"`
	EmulatorCompiler  string     `json:"emulator_compiler"` // of the device "simt", "" if missing
	Advice            []string   `json:"advice"`
}

// DriverDiagnosis is about the CUDA driver.
type DriverDiagnosis struct {
	Library string `json:"library"` // as it was opened, "" if it was not
	Error   string `json:"error,omitempty"`
	absent  bool
}

// NVRTCDiagnosis is about the compiler of kernels.
type NVRTCDiagnosis struct {
	Library   string   `json:"library"`
	Version   string   `json:"version"`
	Looked    []string `json:"looked,omitempty"` // places without a usable one, if none was found
	BuiltIn   int      `json:"built_in_units"`   // translation units that work without NVRTC
	supported bool
}

// CacheDiagnosis is about the folder of compiled kernels.
type CacheDiagnosis struct {
	Folder  string `json:"folder"` // "" if there is no place for one
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
}

// CPUDiagnosis is about the host.
type CPUDiagnosis struct {
	Name     string   `json:"name"`
	Arch     string   `json:"arch"`
	Cores    int      `json:"cores"`   // physical, 0 if unknown
	Threads  int      `json:"threads"` // that the program may use
	Features []string `json:"features"`
	Memory   int64    `json:"memory_limit_bytes,omitempty"` // of the Go heap, if one is set
}

// features are those that tell how fast a CPU proves, or may one day; AVX2 is
// the only one that code asks for.
var features = []struct {
	id   cpuid.FeatureID
	name string
}{
	{cpuid.AVX2, "AVX2"}, {cpuid.BMI2, "BMI2"}, {cpuid.ADX, "ADX"},
	{cpuid.AVX512F, "AVX-512F"}, {cpuid.AVX512DQ, "AVX-512DQ"}, {cpuid.AVX512VL, "AVX-512VL"}, {cpuid.AVX512IFMA, "AVX-512IFMA"},
	{cpuid.GFNI, "GFNI"}, {cpuid.VPCLMULQDQ, "VPCLMULQDQ"}, {cpuid.SHA, "SHA"},
	{cpuid.ASIMD, "ASIMD"}, {cpuid.SVE, "SVE"}, {cpuid.PMULL, "PMULL"}, {cpuid.SHA2, "SHA2"},
}

// Diagnose looks at the machine. It opens the CUDA driver and NVRTC if they are
// there, and no device.
func Diagnose() Diagnosis {
	d := Diagnosis{Thresholds: DefaultThresholds(), GPUs: []Info{}, Advice: []string{}}
	d.CPU = CPUDiagnosis{Name: cpuInfo().Name, Arch: runtime.GOARCH, Cores: cpuid.CPU.PhysicalCores, Threads: runtime.GOMAXPROCS(0), Features: []string{}}
	for _, f := range features {
		if cpuid.CPU.Has(f.id) {
			d.CPU.Features = append(d.CPU.Features, f.name)
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < 1<<62 {
		d.CPU.Memory = limit
	}
	for _, i := range List() {
		if i.Device != "cpu" {
			d.GPUs = append(d.GPUs, i)
		}
	}
	library, err := libraryCUDA()
	d.Driver.Library = library
	if err != nil {
		d.Driver.Error, d.Driver.absent = err.Error(), errors.Is(err, driver.ErrAbsent)
	}
	d.NVRTC = diagnoseNVRTC()
	cache := cubin.Default()
	d.Cache.Folder = cache.Dir
	d.Cache.Entries, d.Cache.Bytes = cache.Size()
	if v, ok := override(); ok {
		d.ThresholdOverride = &v
	}
	if path, err := exec.LookPath("g++"); err == nil {
		d.EmulatorCompiler = path
	}
	d.Automatic = "cpu"
	if name, auto := resolve("auto"); !auto {
		d.Automatic = name
	} else if len(d.GPUs) > 0 && (d.NVRTC.Library != "" || d.NVRTC.BuiltIn > 0) {
		d.Automatic = d.GPUs[0].Device
	}
	d.Advice = append(d.Advice, d.advise()...)
	return d
}

func diagnoseNVRTC() NVRTCDiagnosis {
	n := NVRTCDiagnosis{BuiltIn: builtInCUDA(), supported: nvrtc.Supported}
	c, err := nvrtc.FindFor(majorCUDA())
	var missing *nvrtc.NotFound
	switch {
	case err == nil:
		n.Library, n.Version = c.Path, fmt.Sprintf("%d.%d", c.Major, c.Minor)
	case errors.As(err, &missing):
		n.Looked = missing.Looked
	default:
		n.Looked = []string{err.Error()}
	}
	return n
}

// advise is one line for each thing that is missing.
func (d *Diagnosis) advise() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case !d.NVRTC.supported:
		add("GPU: this build has none; GPUs are used on Linux (amd64, arm64), in builds without the tag nogpu")
	case d.Driver.Error != "" && d.Driver.absent && d.Driver.Library == "":
		add("GPU: no CUDA driver; install NVIDIA's (580 or newer for CUDA 13), or run the container with --gpus all")
	case d.Driver.Error != "":
		add("GPU: the driver does not work (%s); nvidia-smi shows more, reinstalling or rebooting after an update often helps", d.Driver.Error)
	case len(d.GPUs) == 0:
		add("GPU: the driver sees none; check CUDA_VISIBLE_DEVICES and nvidia-smi")
	}
	if d.NVRTC.supported && d.NVRTC.Library == "" {
		s := "NVRTC: not found; pip install nvidia-cuda-nvrtc, or set " + nvrtc.Env + " to libnvrtc.so.13"
		if d.NVRTC.BuiltIn > 0 {
			s += fmt.Sprintf(" (until then the PTX of %d units that is built in is used, and what is not among them cannot run on a GPU: multi-scalar multiplication, sum-checks over your own expressions)", d.NVRTC.BuiltIn)
		}
		add("%s", s)
	}
	if d.NVRTC.supported && d.Cache.Folder == "" {
		add("kernel cache: no place for it, so kernels are compiled anew each time; set HOME or XDG_CACHE_HOME")
	}
	if d.CPU.Arch == "amd64" && !strings.Contains(strings.Join(d.CPU.Features, " "), "AVX2") {
		add("CPU: without AVX2 hashing takes the slower code path")
	}
	return out
}
