//go:build linux && (amd64 || arm64) && !nogpu

package nvrtc

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/dl"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// Supported says whether this build can use NVRTC.
const Supported = true

// Compiler is an open NVRTC. It is safe for concurrent use.
type Compiler struct {
	Path         string // of the library, as it was opened
	Major, Minor int
	archs        []int // what it makes code for, ascending: 75, 80...

	version, createProgram, destroyProgram, compileProgram uintptr
	getCUBINSize, getCUBIN, getPTXSize, getPTX             uintptr
	getLogSize, getLog, getErrorString                     uintptr
	getNumArchs, getArchs                                  uintptr
}

// Open opens the NVRTC library at path.
func Open(path string) (*Compiler, error) {
	if strings.ContainsRune(path, filepath.Separator) {
		if p, err := filepath.Abs(path); err == nil {
			path = p
		}
	}
	preload(path)
	l, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	c := &Compiler{Path: l.Path}
	err = l.Bind([]dl.Symbol{
		{Name: "nvrtcVersion", To: &c.version},
		{Name: "nvrtcCreateProgram", To: &c.createProgram},
		{Name: "nvrtcDestroyProgram", To: &c.destroyProgram},
		{Name: "nvrtcCompileProgram", To: &c.compileProgram},
		{Name: "nvrtcGetCUBINSize", To: &c.getCUBINSize},
		{Name: "nvrtcGetCUBIN", To: &c.getCUBIN},
		{Name: "nvrtcGetPTXSize", To: &c.getPTXSize},
		{Name: "nvrtcGetPTX", To: &c.getPTX},
		{Name: "nvrtcGetProgramLogSize", To: &c.getLogSize},
		{Name: "nvrtcGetProgramLog", To: &c.getLog},
		{Name: "nvrtcGetErrorString", To: &c.getErrorString},
		{Name: "nvrtcGetNumSupportedArchs", To: &c.getNumArchs},
		{Name: "nvrtcGetSupportedArchs", To: &c.getArchs},
	})
	if err != nil {
		return nil, err
	}
	var major, minor int32
	if r := dl.Call(c.version, uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))); r != 0 {
		return nil, c.failure("nvrtcVersion", r)
	}
	c.Major, c.Minor = int(major), int(minor)
	var n int32
	if r := dl.Call(c.getNumArchs, uintptr(unsafe.Pointer(&n))); r != 0 || n <= 0 {
		return nil, c.failure("nvrtcGetNumSupportedArchs", r)
	}
	list := make([]int32, n)
	if r := dl.Call(c.getArchs, uintptr(unsafe.Pointer(&list[0]))); r != 0 {
		return nil, c.failure("nvrtcGetSupportedArchs", r)
	}
	for _, a := range list {
		c.archs = append(c.archs, int(a))
	}
	return c, nil
}

func (c *Compiler) failure(op string, r int32) error {
	return fmt.Errorf("%s: %s: %s (code %d)", c, op, dl.CallString(c.getErrorString, uintptr(uint32(r))), r)
}

// String is "NVRTC 13.0".
func (c *Compiler) String() string { return fmt.Sprintf("NVRTC %d.%d", c.Major, c.Minor) }

// Target is the architecture to compile for a card of the given compute
// capability (90 for 9.0): "sm_90" where c knows it, else the newest virtual
// one below it, whose PTX the driver translates.
func (c *Compiler) Target(capability int) string {
	best := 0
	for _, a := range c.archs {
		if a == capability {
			return fmt.Sprintf("sm_%d", a)
		}
		if a < capability {
			best = max(best, a)
		}
	}
	if best == 0 {
		best = capability // an error that names it
	}
	return fmt.Sprintf("compute_%d", best)
}

// Compile compiles s for arch; see the function Compile.
func (c *Compiler) Compile(s *kernel.Source, arch string, extra ...string) (image []byte, log string, err error) {
	// C strings and arrays of them, pinned while NVRTC reads them.
	var pin runtime.Pinner
	defer pin.Unpin()
	cstring := func(t string) unsafe.Pointer {
		b := append([]byte(t), 0)
		pin.Pin(&b[0])
		return unsafe.Pointer(&b[0])
	}
	array := func(list []unsafe.Pointer) unsafe.Pointer {
		if len(list) == 0 {
			return nil
		}
		pin.Pin(&list[0])
		return unsafe.Pointer(&list[0])
	}
	if i := strings.IndexByte(s.Text, 0); i >= 0 {
		return nil, "", fmt.Errorf("nvrtc: %s: NUL in the source", s.Name)
	}
	var texts, names, opts []unsafe.Pointer
	for _, h := range s.Closure() {
		texts = append(texts, cstring(h.Text))
		names = append(names, cstring(h.Name))
	}
	for _, o := range append(Options(arch), extra...) {
		opts = append(opts, cstring(o))
	}

	var prog uintptr
	r := dl.Call(c.createProgram, uintptr(unsafe.Pointer(&prog)), uintptr(cstring(s.Text)), uintptr(cstring(s.Name)),
		uintptr(len(texts)), uintptr(array(texts)), uintptr(array(names)))
	if r != 0 {
		return nil, "", c.failure("create program "+s.Name, r)
	}
	defer dl.Call(c.destroyProgram, uintptr(unsafe.Pointer(&prog)))
	status := dl.Call(c.compileProgram, prog, uintptr(len(opts)), uintptr(array(opts)))
	b, err := c.get(prog, c.getLogSize, c.getLog, "log")
	if err != nil {
		return nil, "", err
	}
	log = strings.TrimRight(string(b), "\x00\n")
	if status != 0 {
		return nil, log, &Error{Source: s.Name, Arch: arch, Log: log, Text: dl.CallString(c.getErrorString, uintptr(uint32(status)))}
	}
	if strings.HasPrefix(arch, "sm_") {
		image, err = c.get(prog, c.getCUBINSize, c.getCUBIN, "cubin")
	} else {
		image, err = c.get(prog, c.getPTXSize, c.getPTX, "ptx")
	}
	return image, log, err
}

// get reads one of the program's outputs: its size, then itself.
func (c *Compiler) get(prog, size, read uintptr, what string) ([]byte, error) {
	var n uintptr // size_t
	if r := dl.Call(size, prog, uintptr(unsafe.Pointer(&n))); r != 0 {
		return nil, c.failure("size of "+what, r)
	}
	b := make([]byte, n)
	if n == 0 {
		return b, nil
	}
	if r := dl.Call(read, prog, uintptr(unsafe.Pointer(&b[0]))); r != 0 {
		return nil, c.failure("read "+what, r)
	}
	return b, nil
}
