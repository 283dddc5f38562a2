package suite

import (
	"context"
	"io"

	"github.com/consensys/gnark/backend/groth16"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/zkwarp/zkwarp/device"
)

// keys are a circuit's, from randomness that is known.
func keys(_ context.Context, _ *device.Device, r1cs *cs.R1CS, random io.Reader) (pk groth16.ProvingKey, vk groth16.VerifyingKey, note string, err error) {
	withRandom(random, func() { pk, vk, err = groth16.Setup(r1cs) })
	return pk, vk, "gnark's, on the CPU", err
}
