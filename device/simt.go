package device

import (
	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/internal/simt"
)

// openSIMT starts the emulator as the ZKWARP_SIMT_ variables say.
func openSIMT() (driver.Driver, error) {
	c, err := simt.FromEnv()
	if err != nil {
		return nil, err
	}
	return simt.Open(c)
}
