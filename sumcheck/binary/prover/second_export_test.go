package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// ProveWindows proves on a device with windows of so many rounds, a second one if it is
// not zero; tr has absorbed the claim.
func ProveWindows(q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element, first, second int) (*binary.Proof, error) {
	state, err := newState(q, tr, in.Degree, value)
	if err != nil {
		return nil, err
	}
	defer state.Free()
	r, err := newWindows(q, in, state, windowPlan{first: first, second: second})
	if err != nil {
		return nil, err
	}
	defer r.free()
	if err := r.launch(); err != nil {
		return nil, err
	}
	return readState(q, state, in.Shape)
}

// SecondRounds is how many rounds a second window of a degree has.
func SecondRounds(degree int) int { return secondRounds[degree] }
