package blake3

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed blake3.cuh
var headerText string

// Header is blake3.cuh, the compression function in CUDA.
var Header = &kernel.Source{Name: "hash/blake3/blake3.cuh", Text: headerText, Headers: []*kernel.Source{kernel.PTX}}
