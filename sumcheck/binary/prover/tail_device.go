package prover

import (
	"context"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// proveExtDevice proves on a GPU where all tables are of elements, which leaves
// nothing but the rounds over elements. tr has absorbed the claim.
func proveExtDevice(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element) (*binary.Proof, error) {
	state, err := newState(q, tr, in.Degree, value)
	if err != nil {
		return nil, err
	}
	defer state.Free()
	t, err := newTail(q, tailStart{Shape: in.Shape, State: state, Ext: in.Ext})
	if err != nil {
		return nil, err
	}
	defer t.free()
	if err := t.launch(ctx); err != nil {
		return nil, err
	}
	return readState(q, state, in.Shape)
}
