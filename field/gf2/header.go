package gf2

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed gf2.cuh
var headerText string

// Header is gf2.cuh, the same field in CUDA.
var Header = &kernel.Source{
	Name:    "field/gf2/gf2.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{kernel.PTX},
}
