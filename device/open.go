package device

import "github.com/zkwarp/zkwarp/device/internal/driver"

func openCUDA(int) (driver.Driver, error) {
	return nil, &Error{Device: "cuda", Op: "open", Text: "built without CUDA", Class: ErrUnavailable}
}
