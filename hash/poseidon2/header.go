package poseidon2

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed m31.cuh
var headerText string

// Header is m31.cuh, the same permutations in CUDA.
var Header = &kernel.Source{
	Name:    "hash/poseidon2/m31.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{m31.Header, constantsHeader},
}
