package m31

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed m31.cuh
var headerText string

// Header is m31.cuh, the same fields in CUDA.
var Header = &kernel.Source{
	Name:    "field/m31/m31.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{kernel.PTX},
}
