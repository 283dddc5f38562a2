package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	sumcheckprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
)

//go:embed places.cuh
var placesText string

//go:embed zkml.cu
var text string

//go:embed claims.cu
var claimsText string

//go:embed factors.cu
var factorsText string

//go:embed leaves.cu
var leavesText string

var places = &kernel.Source{Name: "zkml/prover/places.cuh", Text: placesText, Headers: []*kernel.Source{kernel.PTX}}

// Source is the kernels of the forward pass.
var Source = &kernel.Source{Name: "zkml/prover/zkml.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, m31.Header, places}}

// ClaimsSource is the kernels for evaluations and claims.
var ClaimsSource = &kernel.Source{Name: "zkml/prover/claims.cu", Text: claimsText, Headers: []*kernel.Source{kernel.PTX, m31.Header, places}}

// FactorsSource is the kernels for the factors of sum-checks.
var FactorsSource = &kernel.Source{Name: "zkml/prover/factors.cu", Text: factorsText, Headers: []*kernel.Source{kernel.PTX, m31.Header, places}}

// LeavesSource is the kernels for lookups.
var LeavesSource = &kernel.Source{Name: "zkml/prover/leaves.cu", Text: leavesText, Headers: []*kernel.Source{kernel.PTX, m31.Header, places}}

// preload compiles what a proof launches, all units at once: one after the
// other, as stages reach them, takes several times as long.
func preload(q *device.Queue) error {
	if err := whirprover.PreloadM31(q); err != nil {
		return err
	}
	units := append(sumcheckprover.Sources(), mleprover.Source, mleprover.RestrictSource, logupprover.Source, logupprover.TailSource)
	return q.Device().Preload(append(units, transcriptprover.Source, Source, ClaimsSource, FactorsSource, LeavesSource)...)
}

const threads = 256

// launch launches a thread for each of n things.
func (s *session) launch(unit *kernel.Source, name string, n int, args ...device.Arg) error {
	return s.blocks(unit, name, device.Blocks(n, threads), args...)
}

// blocks launches n blocks.
func (s *session) blocks(unit *kernel.Source, name string, n int, args ...device.Arg) error {
	return s.q.Launch(device.Kernel{Source: unit, Name: name}, device.D1(n), device.D1(threads), 0, args...)
}

// axesArg is the place of a shape's descriptor.
func (s *session) axesArg(a axesLayout) device.Arg {
	return s.key.desc.Slice(a.at, a.at+2*a.n).Arg()
}
