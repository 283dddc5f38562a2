// Package conformance holds the kernels that compare m31.cuh with package m31,
// function by function, and the test that does so on every device.
package conformance

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed conformance.cu
var text string

// Source holds the kernels.
var Source = &kernel.Source{
	Name:    "field/m31/conformance/conformance.cu",
	Text:    text,
	Headers: []*kernel.Source{m31.Header},
}
