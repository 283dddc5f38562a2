// Package conformance holds the kernels that compare gf2.cuh and polyval.cuh with package gf2,
// function by function, and the test that does so on every device.
package conformance

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
)

//go:embed conformance.cu
var text string

// Source holds the kernels.
var Source = &kernel.Source{
	Name:    "field/gf2/conformance/conformance.cu",
	Text:    text,
	Headers: []*kernel.Source{gf2.Header, gf2.PolyvalHeader},
}
