//go:build !linux || !(amd64 || arm64) || nogpu

package device

import "github.com/zkwarp/zkwarp/device/internal/driver"

var errNoCUDA = &driver.Error{Op: "open", Class: driver.ErrAbsent,
	Text: "built without GPU support (GPUs are used on Linux, without the build tag nogpu)"}

func openCUDA(int) (driver.Driver, error) { return nil, errNoCUDA }

func countCUDA() (int, error) { return 0, errNoCUDA }

func describeCUDA(int) (driver.Info, error) { return driver.Info{}, errNoCUDA }

func libraryCUDA() (string, error) { return "", errNoCUDA }

func majorCUDA() int { return 0 }

// No kernels as PTX: nothing could run them, and pages for browsers stay small.
func builtInCUDA() int { return 0 }
