package sha256

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed sha256.cuh
var headerText string

// Header is sha256.cuh, the compression function in CUDA.
var Header = &kernel.Source{Name: "hash/sha256/sha256.cuh", Text: headerText, Headers: []*kernel.Source{kernel.PTX}}
