package gf2

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

var (
	//go:embed gf2.cuh
	headerText string
	//go:embed polyval.cuh
	polyvalText string
)

// Header is gf2.cuh, the same field in CUDA.
var Header = &kernel.Source{
	Name:    "field/gf2/gf2.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{kernel.PTX},
}

// PolyvalHeader is polyval.cuh, the field in POLYVAL's basis.
var PolyvalHeader = &kernel.Source{
	Name:    "field/gf2/polyval.cuh",
	Text:    polyvalText,
	Headers: []*kernel.Source{Header},
}
