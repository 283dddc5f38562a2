package prover

import (
	"context"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

func proveExtDevice(context.Context, *device.Queue, *tower.Transcript, Instance, gf2.Element) (*binary.Proof, error) {
	return nil, ErrNotOnDevice
}
