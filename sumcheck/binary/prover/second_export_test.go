package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// ProveTwoWindows proves on a device, with a second window, about two factors of any size; tr
// has absorbed the claim.
func ProveTwoWindows(q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element) (*binary.Proof, error) {
	state, err := newState(q, tr, in.Degree, value)
	if err != nil {
		return nil, err
	}
	defer state.Free()
	r, err := newWindows(q, in, state, largeWindows[secondDegree])
	if err != nil {
		return nil, err
	}
	defer r.free()
	if err := r.launch(); err != nil {
		return nil, err
	}
	return readState(q, state, in.Shape)
}
