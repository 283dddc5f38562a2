//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/internal/cubin"
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
)

// Load returns the kernels of s: from the cache on disk, compiled by NVRTC, or
// from the PTX built into the program.
func (d *Device) Load(s *kernel.Source) (map[string]driver.Func, error) {
	module, err := d.module(s)
	if err != nil {
		return nil, err
	}
	entries, err := s.Kernels()
	if err != nil {
		return nil, err
	}
	out := make(map[string]driver.Func, len(entries))
	for _, e := range entries {
		f, err := d.function(module, e.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out[e.Name] = f
	}
	return out, nil
}

// module loads the best image there is of s.
func (d *Device) module(s *kernel.Source) (uintptr, error) {
	if d.compiler == nil {
		return d.builtin(s, d.noCompiler)
	}
	arch := d.compiler.Target(d.capability)
	key := cubin.Key{Name: s.Name, Digest: s.Digest(), Options: nvrtc.Options(arch), Compiler: d.compiler.String(), Arch: arch}
	if image, ok := d.cache.Get(key); ok {
		m, err := d.loadImage(s, image)
		if !errors.Is(err, driver.ErrUnavailable) {
			return m, err
		}
		_ = d.cache.Drop(key) // refused as an image; the cache is only a help
	}
	image, _, err := d.compiler.Compile(s, arch)
	if err != nil {
		return 0, &driver.Error{Op: "compile " + s.Name, Text: err.Error(), Class: driver.ErrUnavailable}
	}
	m, err := d.loadImage(s, image)
	if errors.Is(err, driver.ErrUnavailable) {
		// The driver does not know what this NVRTC makes.
		return d.builtin(s, err)
	}
	if err != nil {
		return 0, err
	}
	if err := d.cache.Put(key, image); err != nil {
		slog.Debug("kernel cache", "error", err)
	}
	return m, nil
}

// builtin loads the PTX of s that the program carries; why says what kept the
// better way from working.
func (d *Device) builtin(s *kernel.Source, why error) (uintptr, error) {
	image, err := d.builtinPTX(s)
	if err != nil {
		return 0, &driver.Error{Op: "load " + s.Name, Class: driver.ErrUnavailable, Text: fmt.Sprintf("%v; %v", why, err)}
	}
	return d.loadImage(s, image)
}

// loadImage loads a cubin, or PTX text, which the driver compiles.
func (d *Device) loadImage(s *kernel.Source, image []byte) (uintptr, error) {
	// CUjit_option values; each option's value lies in a pointer-sized slot.
	const (
		errorLogBuffer = 5
		errorLogBytes  = 6
	)
	var pin runtime.Pinner
	defer pin.Unpin()
	if len(image) == 0 || image[len(image)-1] != 0 {
		image = append(image[:len(image):len(image)], 0) // PTX is a C string
	}
	log := make([]byte, 8<<10)
	options := []uint32{errorLogBuffer, errorLogBytes}
	pin.Pin(&log[0])
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var module uintptr
	err := d.do("load "+s.Name, d.moduleLoadDataEx, uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&image[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])))
	if e := (*driver.Error)(nil); errors.As(err, &e) {
		if said := strings.TrimRight(string(log), "\x00\n "); said != "" {
			e.Text += ": " + said
		}
	}
	return module, err
}

// function looks one kernel up.
func (d *Device) function(module uintptr, name string) (driver.Func, error) {
	cname := append([]byte(name), 0)
	var f uintptr
	if err := d.do("find kernel "+name, d.moduleGetFunction, uintptr(unsafe.Pointer(&f)), module, uintptr(unsafe.Pointer(&cname[0]))); err != nil {
		return 0, err
	}
	var static int32
	if err := d.do("kernel "+name, d.funcGetAttribute, uintptr(unsafe.Pointer(&static)), attrSharedStatic, f); err != nil {
		return 0, err
	}
	k := &function{name: name}
	if static < sharedWithoutConsent {
		k.most = sharedWithoutConsent - uint32(static)
	}
	d.funcs.Store(driver.Func(f), k)
	return driver.Func(f), nil
}
