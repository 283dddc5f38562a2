// Package conformance holds the kernels that compare m31.cuh with the Go
// permutations, and the test and benchmark that do so on every device.
package conformance

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

//go:embed conformance.cu
var text string

// Source holds the kernels.
var Source = &kernel.Source{
	Name:    "hash/poseidon2/conformance/conformance.cu",
	Text:    text,
	Headers: []*kernel.Source{poseidon2.Header},
}
