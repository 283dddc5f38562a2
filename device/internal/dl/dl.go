//go:build linux && (amd64 || arm64) && !nogpu

// Package dl opens shared libraries and binds their functions.
package dl

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is an open shared library. It stays open for the process's life.
type Library struct {
	Path   string // as it was opened
	handle uintptr
}

// Open opens the first of paths that the loader takes. The error lists what
// the loader said about each.
func Open(paths ...string) (*Library, error) {
	var said []string
	for _, p := range paths {
		h, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &Library{Path: p, handle: h}, nil
		}
		said = append(said, err.Error())
	}
	return nil, fmt.Errorf("%s", strings.Join(said, "; "))
}

// Symbol is one function to bind: the address goes to *To. An optional one
// that the library lacks stays 0.
type Symbol struct {
	Name     string
	To       *uintptr
	Optional bool
}

// Bind looks all symbols up.
func (l *Library) Bind(symbols []Symbol) error {
	for _, s := range symbols {
		p, err := purego.Dlsym(l.handle, s.Name)
		if err != nil && !s.Optional {
			return fmt.Errorf("%s lacks %s", l.Path, s.Name)
		}
		*s.To = p
	}
	return nil
}

// Call calls the C function at fn, whose result is a 32-bit integer. Pointers
// are passed as uintptr(unsafe.Pointer(p)), written in the argument list.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return int32(r)
}

// CallWords is Call without a copy of the arguments: nothing is allocated when
// words is reused. Go memory that the words point to must be kept alive by the
// caller and never be on a stack.
func CallWords(fn uintptr, words []uintptr) int32 {
	r, _, _ := purego.SyscallN(fn, words...)
	return int32(r)
}

// CallString calls a function that returns a C string.
func CallString(fn uintptr, args ...uintptr) string {
	r, _, _ := purego.SyscallN(fn, args...)
	return String(*(*unsafe.Pointer)(unsafe.Pointer(&r)))
}

// String copies the C string at p; "" for nil.
func String(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
