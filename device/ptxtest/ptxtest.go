// Package ptxtest compares every function of device/ptx.cuh with a reference on
// the host, on the SIMT device and on real cards.
package ptxtest

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed ptxtest.cu
var text string

// Source is the kernels that call the functions.
var Source = &kernel.Source{Name: "device/ptxtest/ptxtest.cu", Text: text, Headers: []*kernel.Source{kernel.PTX}}
