//go:build linux && (amd64 || arm64) && !nogpu

package device

import (
	"github.com/zkwarp/zkwarp/device/internal/cuda"
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/internal/ptx"
)

func openCUDA(n int) (driver.Driver, error) {
	d, err := cuda.Open(n)
	if err != nil {
		return nil, err // not a nil *cuda.Device in an interface
	}
	return d, nil
}

func countCUDA() (int, error) { return cuda.Count() }

func describeCUDA(n int) (driver.Info, error) { return cuda.Describe(n) }

func libraryCUDA() (string, error) { return cuda.Library() }

func majorCUDA() int { return cuda.Version() / 1000 }

// builtInCUDA is the number of units of kernels that the program carries as PTX.
func builtInCUDA() int { return ptx.Units() }
