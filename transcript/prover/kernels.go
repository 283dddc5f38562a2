package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

//go:embed transcript.cuh
var headerText string

//go:embed transcript.cu
var sourceText string

// Header is transcript.cuh, for kernels that absorb and draw challenges
// themselves.
var Header = &kernel.Source{
	Name:    "transcript/prover/transcript.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{poseidon2.Header, tablesHeader},
}

// Source holds the kernels of this package.
var Source = &kernel.Source{
	Name:    "transcript/prover/transcript.cu",
	Text:    sourceText,
	Headers: []*kernel.Source{Header},
}

func kern(name string) device.Kernel { return device.Kernel{Source: Source, Name: name} }

// warp is the block of the kernels that go through the sponge.
var warp = device.D1(32)
