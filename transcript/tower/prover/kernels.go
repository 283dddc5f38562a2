package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/hash/blake3"
)

//go:embed tower.cuh
var headerText string

//go:embed tower.cu
var sourceText string

// Header is the transcript as device functions, for kernels that absorb and draw
// challenges themselves.
var Header = &kernel.Source{Name: "transcript/tower/prover/tower.cuh", Text: headerText, Headers: []*kernel.Source{kernel.PTX, blake3.Header}}

// Source holds the transcript's own kernels.
var Source = &kernel.Source{Name: "transcript/tower/prover/tower.cu", Text: sourceText, Headers: []*kernel.Source{kernel.PTX, blake3.Header, Header}}

func operation(name string) device.Kernel { return device.Kernel{Source: Source, Name: name} }

// warp is the block of the kernels that go through the transcript.
var warp = device.D1(32)
