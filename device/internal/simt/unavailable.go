//go:build !((linux || darwin) && (amd64 || arm64))

package simt

import "github.com/zkwarp/zkwarp/device/internal/driver"

// Open says that the emulator does not run here.
func Open(Config) (driver.Driver, error) {
	return nil, &driver.Error{Op: "open", Text: "the SIMT emulator runs on Linux and macOS, amd64 and arm64", Class: driver.ErrAbsent}
}
