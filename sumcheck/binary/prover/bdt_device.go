package prover

import (
	"context"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

func proveSeedDevice(context.Context, *device.Queue, *tower.Transcript, Instance, gf2.Element, Algorithm) (*binary.Proof, error) {
	return nil, ErrNotOnDevice
}
