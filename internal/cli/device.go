package cli

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// openDevice opens what --device names, with the memory budget.
func (a *app) openDevice() (*device.Device, error) {
	dev, err := device.Open(a.device)
	if err != nil {
		return nil, withCode(ExitDevice, fmt.Errorf("--device %s: %w", a.device, err))
	}
	if a.memory > 0 {
		dev.SetBudget(int64(a.memory))
	}
	return dev, nil
}
