package m31

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
)

var (
	//go:embed m31.cuh
	headerText string
	//go:embed traits.cuh
	traitsText string
)

// Header is m31.cuh, the same fields in CUDA.
var Header = &kernel.Source{
	Name:    "field/m31/m31.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{kernel.PTX},
}

// KernelQM31 is the field with symbols in CM31 and challenges in QM31, by the
// names that kernels for several fields use.
var KernelQM31 = field.Kernel{Name: "m31", Header: &kernel.Source{
	Name:    "field/m31/traits.cuh",
	Text:    traitsText,
	Headers: []*kernel.Source{Header},
}}
