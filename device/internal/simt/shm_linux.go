//go:build amd64 || arm64

package simt

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// anonymousFile is a file without a name whose pages live in memory only.
func anonymousFile() (*os.File, error) {
	trap := uintptr(319) // memfd_create
	if runtime.GOARCH == "arm64" {
		trap = 279
	}
	name, err := syscall.BytePtrFromString("zkwarp-simt")
	if err != nil {
		return nil, err
	}
	const closeOnExec = 1
	fd, _, errno := syscall.Syscall(trap, uintptr(unsafe.Pointer(name)), closeOnExec, 0)
	if errno != 0 {
		return temporaryFile()
	}
	return os.NewFile(fd, "zkwarp-simt"), nil
}
